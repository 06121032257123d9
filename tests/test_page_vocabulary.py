"""The page Vocabulary through AppTest, and its parts: list payload, charts, what the browser reports."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
import pytest
from pagetest import finished, open_page, page_at, plain, said

from bpe import Tokenizer, TrainSettings, train
from bpe.formats import save_tokenizer
from bpe.merge_tree import merge_tree
from bpe.pretrained import load_pretrained
from bpe.reachability import Reason, find_unproduced
from bpe.vocabulary import SCRIPTS, TokenFilter, TokenKind, count_lengths, count_scripts, find_tokens, list_vocabulary
from ui import state
from ui.brought import BROUGHT_NAME
from ui.vocabulary.charts import length_chart, script_chart, tree_chart
from ui.vocabulary.compute import default_token
from ui.vocabulary.listing import Given, build_listing, listing_js, next_given, picked_token
from ui.vocabulary.words import KIND_WORDS, REASON_SENTENCES

PAGE = "pages/6_Vocabulary.py"


def opened(**params):
    return open_page(PAGE, **params)


def unpacked(payload: bytes) -> tuple[dict, dict[str, np.ndarray], bytes]:
    """Read a payload the way the browser does."""
    length = struct.unpack_from("<I", payload)[0]
    head = json.loads(payload[4 : 4 + length])
    body = zlib.decompress(payload[4 + length :])
    n = head["num_rows"]
    columns = {
        "ids": np.cumsum(np.frombuffer(body, "<i4", n)),
        "lengths": np.frombuffer(body, "<u4", n, 4 * n),
        "scripts": np.frombuffer(body, np.uint8, n, 8 * n),
        "kinds": np.frombuffer(body, np.uint8, n, 9 * n),
        "reasons": np.frombuffer(body, np.uint8, n, 10 * n),
    }
    return head, columns, body[11 * n :]


def listing_of(app) -> tuple[dict, dict[str, np.ndarray], bytes]:
    payloads = [component.proto.bytes for component in app.get("bidi_component")]
    return unpacked(next(filter(None, payloads)))


# ---------------------------------------------------------------------------------------------- the page


def test_it_opens_on_gpt2_and_a_famous_token():
    app = opened()
    assert "50,257 tokens of 50,257" in said(app).replace("**", "")
    assert "·SolidGoldMagikarp" in said(app)
    assert "id 43,453 · 18 bytes · Latin · leading space" in said(app)
    head, columns, _names = listing_of(app)
    assert (head["num_rows"], head["token"]) == (50_257, 43_453)
    assert columns["ids"].tolist() == list(range(50_257))


def test_the_analysis_says_what_bpe_says():
    app = opened()
    gpt2 = load_pretrained("gpt2")
    found = find_unproduced(gpt2, list_vocabulary(gpt2))
    for reason in (Reason.PRODUCED, Reason.PARTIAL, Reason.NOT_UTF8, Reason.SPECIAL):
        assert f"{found.count(reason):,}** · {REASON_SENTENCES[reason]}" in said(app)
    assert "Every token that has a text of its own comes back from it." in said(app)
    assert "not how a model behaves" in said(app)


def test_o200k_shows_the_tokens_that_its_split_pattern_cuts():
    app = opened(tokenizer="o200k_base", token="193819")
    assert "12 tokens that their own text never gives" in said(app).replace("**", "")
    table = app.dataframe[0].value
    row = table[table["id"] == 193_819].iloc[0]
    assert row["token"] == "亚洲AV"
    assert row["why"] == "cut by the split pattern"
    assert "亚洲AV" in row["but it occurs in"]
    assert "the split pattern cuts that text" in said(app)


def test_published_examples_are_marked_and_looked_up():
    table = opened().dataframe[-1].value
    first = table.iloc[0]
    assert first["published example"] == "·SolidGoldMagikarp"
    assert first["in this vocabulary"] == "one token, id 43,453"
    assert "LessWrong" in first["source"]


@pytest.mark.parametrize(
    ("params", "wanted"),
    [
        ({"find": "berry"}, TokenFilter("berry")),
        ({"find": r"^ ?\d{3}$", "by": "regex"}, TokenFilter(r"^ ?\d{3}$", by="regex")),
        ({"find": "e3 81", "by": "hex"}, TokenFilter("e3 81", by="hex")),
        ({"find": "100-120", "by": "id"}, TokenFilter("100-120", by="id")),
        ({"order": "longest", "find": "the"}, TokenFilter("the", order="longest")),
        ({"script": "Greek"}, TokenFilter(scripts=(SCRIPTS.index("Greek"),))),
        ({"kind": "digits"}, TokenFilter(kinds=TokenKind.DIGITS)),
        ({"shortest": "30", "longest": "40"}, TokenFilter(min_bytes=30, max_bytes=40)),
    ],
)
def test_search_and_filters_of_the_link_choose_the_rows(params, wanted):
    vocabulary = list_vocabulary(load_pretrained("gpt2"))
    rows = find_tokens(vocabulary, wanted)
    assert 0 < len(rows) < len(vocabulary)
    app = opened(**params)
    _head, columns, names = listing_of(app)
    assert columns["ids"].tolist() == vocabulary.ids[rows].tolist()
    assert names == b"".join(vocabulary.names[row] for row in rows)
    assert f"{len(rows):,} token" in said(app)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"find": "(", "by": "regex"}, "does not compile"),
        ({"find": "xyz", "by": "hex"}, "pairs of the digits"),
        ({"find": "50257", "by": "id"}, "from 0 to 50,256"),
        ({"find": "nine", "by": "id"}, "An id must be a number"),
        ({"shortest": "9", "longest": "3"}, "at least the smallest, 9 bytes"),
    ],
)
def test_a_bad_search_is_one_sentence(params, sentence):
    app = opened(**params)
    assert len(app.error) == 1
    assert sentence in plain(app.error[0].value)


def test_a_regex_that_runs_away_is_one_sentence():
    app = opened(find="^(-|--)+[+*]$", by="regex")
    assert len(app.error) == 1
    assert "still running" in plain(app.error[0].value)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"tokenizer": "gpt9"}, "tokenizer 'gpt9'"),
        ({"token": "50257"}, "must be a whole number from 0 to 50,256"),
        ({"token": "magikarp"}, "'magikarp' as token id"),
        ({"by": "smell"}, "kind of search 'smell'"),
        ({"order": "random"}, "order 'random'"),
    ],
)
def test_a_bad_link_opens_the_nearest_view_and_says_so(params, says):
    app = opened(**params)
    assert any(says in plain(warning.value) for warning in app.warning)
    assert listing_of(app)[0]["num_rows"] == 50_257


def test_an_unused_id_is_said():
    app = opened(tokenizer="cl100k_base", token="100262")
    assert "100,262 is not" in plain(app.error[0].value)


def test_nothing_found_is_no_error():
    app = opened(find="\u2603\u2603\u2603")
    assert "0 tokens" in said(app)
    assert "Nothing was found" in said(app)
    assert not app.error


def test_another_vocabulary_keeps_a_token_that_it_has_and_drops_one_that_it_has_not():
    app = opened(tokenizer="o200k_base", token="193819")
    app.selectbox(key=state.TOKENIZER).set_value("gpt2").run()
    finished(app)
    assert "·SolidGoldMagikarp" in said(app)


def test_markup_in_tokens_stays_text():
    app = opened(find="<script", token="12048")
    raw = "\n".join(block.value for block in app.markdown)
    assert "<script" not in raw.replace("\\<script", "")


def test_a_tokenizer_trained_here_is_a_vocabulary():
    app = page_at("pages/1_Train.py", merges="40")
    app.run()
    app.switch_page(PAGE).run()
    app.selectbox(key=state.TOKENIZER).set_value(state.OWN_NAME).run()
    finished(app)
    assert listing_of(app)[0]["num_rows"] == 296
    assert "English, 40 merges" in said(app)


def test_a_file_of_the_reader_is_a_vocabulary():
    tokenizer = train("low lower lowest", TrainSettings(num_merges=5)).tokenizer
    (name, content), *_rest = save_tokenizer(tokenizer, "minbpe").items()
    app = opened()
    app.get("file_uploader")[0].upload(name, content, "application/octet-stream").run()
    app.selectbox(key=state.TOKENIZER).set_value(BROUGHT_NAME).run()
    finished(app)
    assert listing_of(app)[0]["num_rows"] == tokenizer.vocab_size
    assert f"{name} · {tokenizer.vocab_size} ids" in said(app)


def test_a_file_that_is_no_tokenizer_is_one_sentence():
    app = opened()
    app.get("file_uploader")[0].upload("a.json", b"{}", "application/json").run()
    finished(app)
    assert len(app.error) == 1
    assert listing_of(app)[0]["num_rows"] == 50_257


@pytest.mark.parametrize("name", ["bert-uncased", "llama2"])
def test_a_vocabulary_without_merges_has_no_tree_and_is_searched_the_same(name):
    app = opened(tokenizer=name, find="berry")
    assert "This tokenizer has no merges" in said(app)
    assert listing_of(app)[0]["num_rows"] > 0
    assert "that their own text never gives" in said(app)


# ---------------------------------------------------------------------------------------------- parts


def test_the_list_holds_what_the_columns_hold():
    vocabulary = list_vocabulary(load_pretrained("gpt2"))
    found = find_unproduced(load_pretrained("gpt2"), vocabulary)
    rows = find_tokens(vocabulary, TokenFilter("a", order="longest"))
    head, columns, names = unpacked(build_listing(vocabulary, rows, found.reasons))
    assert columns["ids"].tolist() == vocabulary.ids[rows].tolist()
    assert columns["lengths"].tolist() == [len(vocabulary.names[row]) for row in rows]
    assert columns["scripts"].tolist() == vocabulary.scripts[rows].tolist()
    assert columns["kinds"].tolist() == vocabulary.kinds[rows].tolist()
    assert columns["reasons"].tolist() == found.reasons[rows].tolist()
    assert len(names) == head["num_name_bytes"] == columns["lengths"].sum()


def test_an_empty_list_can_be_sent():
    vocabulary = list_vocabulary(Tokenizer())
    assert unpacked(build_listing(vocabulary, np.zeros(0, dtype=np.int64)))[0]["num_rows"] == 0


def test_the_same_rows_have_the_same_id_and_others_another():
    vocabulary = list_vocabulary(Tokenizer())
    ids = [unpacked(build_listing(vocabulary, np.array(rows)))[0]["id"] for rows in ([1, 2], [1, 2], [2, 1])]
    assert ids[0] == ids[1] != ids[2]


def test_every_kind_has_words_and_fits_the_column():
    assert set(KIND_WORDS) == set(TokenKind)
    assert sum(TokenKind) < 256
    assert set(REASON_SENTENCES) == set(Reason)


def test_a_pick_of_the_reader_is_not_sent_back_and_a_link_is():
    given = Given("a", 5)
    report = {"picked": {"of": "a", "token": 9}}
    assert picked_token(given, report) == 9
    assert next_given("a", 9, given, report) is given
    assert next_given("a", 5, given, report) is given
    assert next_given("a", 7, given, report) == Given("a", 7)
    assert next_given("b", 9, given, report) == Given("b", 9)


@pytest.mark.parametrize("token", [True, -1, "9", 9.5, None])
def test_a_report_that_makes_no_sense_is_no_pick(token):
    assert picked_token(Given("a", 5), {"picked": {"of": "a", "token": token}}) is None


@pytest.mark.parametrize("report", [None, 3, {}, {"picked": None}, {"picked": {"of": "b", "token": 1}}])
def test_a_report_about_something_else_is_no_pick(report):
    assert picked_token(Given("a", 5), report) is None


def test_the_scripts_of_the_list_are_joined():
    script = listing_js()
    assert "export default function mountListing" in script
    assert "import " not in script.replace("imported", "")


def test_charts_count_every_token_once():
    vocabulary = list_vocabulary(load_pretrained("gpt2"))
    every = np.arange(len(vocabulary))
    rows = find_tokens(vocabulary, TokenFilter("a"))
    lengths = length_chart(count_lengths(vocabulary, every), count_lengths(vocabulary, rows))
    assert [sum(trace.customdata) for trace in lengths.data] == [len(every), len(rows)]
    scripts = script_chart(count_scripts(vocabulary, every), count_scripts(vocabulary, rows))
    assert [sum(x for x in trace.x if x) for trace in scripts.data] == [len(every), len(rows)]
    assert len(length_chart(count_lengths(vocabulary, every), count_lengths(vocabulary, every)).data) == 1


def test_the_drawn_tree_is_the_tree():
    gpt2 = load_pretrained("gpt2")
    tree = merge_tree(gpt2, list_vocabulary(gpt2), 41_236)
    trace = tree_chart(tree).data[0]
    assert len(trace.ids) == sum(node.depth <= 7 for node in tree)
    assert trace.labels[0] == "·strawberry"
    assert trace.values[0] == 11
    assert trace.sort is False


def test_the_token_that_the_page_opens_on():
    assert default_token(list_vocabulary(load_pretrained("o200k"))) == 101_830  # " strawberry"
    assert default_token(list_vocabulary(Tokenizer(merges=((97, 98), (256, 99))))) == 257
    assert default_token(list_vocabulary(Tokenizer(base="chars", base_symbols=()))) == 0
