"""The page Compare, through AppTest: rows, figures equal to those of `bpe`, the own tokenizer's step, odd inputs."""

from __future__ import annotations

import base64
import io
import threading
import zlib
from itertools import count, pairwise

import numpy as np
import pytest
import sentencepiece
from pagetest import finished, head_of, open_page, page_at, payload_of, plain, said

from bpe import TrainSettings, train
from bpe.agreement import compare_cuts, first_step_below
from bpe.byte_axis import place_tokens
from bpe.errors import StoppedError, UnavailableError
from bpe.formats import load_tokenizer, save_tokenizer
from bpe.pretrained import load_pretrained
from ui import state
from ui.brought import BROUGHT_NAME
from ui.choosing import Chosen, Mine, find
from ui.compare import controls
from ui.compare.charts import agreement_map, merge_curve, spread
from ui.compare.compute import Row, compare, comparison_key, own_at_step, row_of, rows_of
from ui.compare.contenders import example_tokenizer
from ui.compare.loading import Loader
from ui.compare.payload import MOST_DRAWN_BYTES, build_rows
from ui.compare.presets import PRESETS
from ui.compare.views import passing_sentences, places_of, table_of
from ui.jobs import Job
from ui.links import pack_text
from ui.stage.payload import read_head

PAGE = "pages/2_Compare.py"
TEXT = PRESETS["First look"]
FEW = ["gpt2", "cl100k_base"]


def opened(names=FEW, **params):
    app = page_at(PAGE, **params)
    app.query_params[state.COMPARED] = names
    return finished(app.run())


def with_text(text: str, names=FEW, **params):
    return opened(names, z=pack_text(text), **params)


def warnings(app) -> str:
    return "\n".join(plain(warning.value) for warning in app.warning)


def sections(payload: bytes) -> dict[str, np.ndarray]:
    head = read_head(payload)
    body = 4 + int.from_bytes(payload[:4], "little")
    types = {"u1": np.uint8, "i4": np.int32}
    return {
        name: np.frombuffer(payload[body + offset : body + offset + length], types[kind])
        for name, (offset, length, kind) in head["sections"].items()
    }


def drawn_cuts(payload: bytes, number: int) -> list[int]:
    """Where the browser sees a row cut."""
    bits = np.unpackbits(sections(payload)[f"cuts{number}"], bitorder="little")
    return (np.flatnonzero(bits) + 1).tolist()


# ---------------------------------------------------------------------------------------------- the page


def test_it_opens_on_rows_and_says_where_yours_passes():
    app = open_page(PAGE)
    names = [row["name"] for row in head_of(app)["rows"]]
    assert names[:3] == ["yours", "gpt2", "cl100k_base"]
    own = example_tokenizer().training.tokenizer.history(TEXT).num_tokens
    step = first_step_below(own, len(load_pretrained("gpt2").encode(TEXT)))
    assert f"Yours passes gpt2 on this text at merge {step:,}" in said(app).replace("**", "")
    assert not app.error
    assert not app.warning


def test_drawn_cuts_and_the_table_are_the_tokens_of_the_package():
    app = opened()
    table = app.dataframe[0].value.set_index("tokenizer")
    for number, name in enumerate(FEW):
        ids = load_pretrained(name).encode(TEXT)
        assert table.loc[name, "tokens"] == len(ids)
        assert table.loc[name, "bytes per token"] == pytest.approx(len(TEXT.encode()) / len(ids))
        assert table.loc[name, "characters per token"] == pytest.approx(len(TEXT) / len(ids))
        assert drawn_cuts(payload_of(app), number) == place_tokens(load_pretrained(name), TEXT).cuts.tolist()
        assert sections(payload_of(app))[f"ids{number}"].tolist() == ids
    agreement = compare_cuts([place_tokens(load_pretrained(name), TEXT).cuts for name in FEW])
    assert table.loc["cl100k_base", "Jaccard with gpt2"] == pytest.approx(agreement.jaccard[0, 1])
    assert table.loc["cl100k_base", "F1 with gpt2"] == pytest.approx(agreement.f1[0, 1])
    assert f"{len(agreement.shared)} of {len(agreement.places)} cuts shared by all 2 rows" in said(app)


def test_window_and_price_are_the_readers():
    app = opened(holds="100", rate="2.5")
    table = app.dataframe[0].value.set_index("tokenizer")
    num_tokens = len(load_pretrained("gpt2").encode(TEXT))
    assert table.loc["gpt2", "share of the window"] == pytest.approx(num_tokens / 100)
    assert table.loc["gpt2", "price"] == pytest.approx(num_tokens * 2.5 / 1e6)


def test_the_step_of_the_link_rules_the_own_row():
    app = opened(["yours", "gpt2"], step="100")
    history = example_tokenizer().training.tokenizer.history(TEXT)
    assert head_of(app)["step"] == 100
    assert app.dataframe[0].value.set_index("tokenizer").loc["yours", "tokens"] == history.num_tokens[100]


def test_own_tokenizer_of_the_session_stands_at_its_step():
    app = page_at(PAGE)
    app.query_params[state.COMPARED] = ["yours", "gpt2"]
    training = train("all human beings " * 20, TrainSettings(num_merges=30))
    app.session_state["own-tokenizer"] = state.OwnTokenizer(training, "key", "beings", 4)
    finished(app.run())
    table = app.dataframe[0].value.set_index("tokenizer")
    assert table.loc["yours", "tokens"] == len(training.tokenizer.at_step(4).encode(TEXT))
    assert "You have trained none yet" not in said(app)


def test_normalizing_tokenizers_show_what_they_changed():
    app = with_text("Größe Naïve  ﬁ", ["bert-uncased", "xlm-r", "gpt2"])
    text = said(app)
    assert "What they changed before they cut" in [header.value for header in app.subheader]
    assert "lower-cased" in text
    assert "NFKC" in text
    assert "ﬁ → fi" in text


def test_unknown_tokens_are_said():
    assert "does not know" in said(with_text("plain 𒀀𒀁 text", ["bert-uncased", "gpt2"]))


def test_cards_say_source_and_licence_and_what_cannot_be_had():
    text = said(opened(["gpt2", "bert-uncased"]))
    assert "50,257 ids" in text
    assert "Licence: Apache License 2.0" in text
    assert "t5" in text


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_is_shown(name):
    app = with_text(PRESETS[name], ["yours", "gpt2", "bert-uncased"])
    assert not app.error
    assert b"".join([sections(payload_of(app))["text"].tobytes()]).decode() == PRESETS[name]


def test_the_measure_can_be_changed():
    app = opened(score="F1", against="cl100k_base")
    assert "F1 with cl100k_base" in app.dataframe[0].value.columns


def test_a_link_keeps_its_reference_while_that_one_is_still_loading(monkeypatch):
    may_go = threading.Event()
    slow = Loader(lambda name: name == "gpt2" or may_go.wait(60))
    monkeypatch.setattr(controls, "loader", lambda: slow)
    app = page_at(PAGE, against="cl100k_base")
    app.query_params[state.COMPARED] = FEW
    app.run()
    assert list(app.dataframe[0].value["tokenizer"]) == ["gpt2"]
    may_go.set()
    finished(app)
    assert list(app.dataframe[0].value["tokenizer"]) == FEW
    assert "F1 with cl100k_base" in app.dataframe[0].value.columns
    assert not app.warning


# ---------------------------------------------------------------------------------------------- inputs that break pages


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"names": ["gpt2", "gpt9"]}, "tokenizer 'gpt9'"),
        ({"holds": "0"}, "from 1 to 100,000,000"),
        ({"against": "gpt9"}, "'gpt9'"),
        ({"score": "Dice"}, "'Dice'"),
        ({"special": "maybe"}, "'maybe'"),
        ({"step": "x", "names": ["yours", "gpt2"]}, "step 'x'"),
    ],
)
def test_a_bad_link_opens_the_nearest_view_and_says_so(params, says):
    app = opened(params.pop("names", FEW), **params)
    assert says in warnings(app)
    assert app.get("bidi_component")


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n", "<b>x</b> $a$ :red[x] `y`", "שלום 123 עולם", "a\u0301\u202eb", "👩‍👩‍👧‍👦", "\x00\x1b", "a" * 3000],
)
def test_odd_texts_are_shown(text):
    app = with_text(text, ["yours", "gpt2", "gemma3", "bert-uncased", "xlm-r"])
    assert not app.error
    assert sections(payload_of(app))["text"].tobytes().decode() == text


def test_a_lone_surrogate_in_a_link_is_said():
    packed = zlib.compress("a\ud800b".encode("utf-8", "surrogatepass"))
    app = opened(z="1" + base64.urlsafe_b64encode(packed).decode().rstrip("="))
    assert "changed on its way here" in warnings(app)
    assert sections(payload_of(app))["text"].tobytes().decode() == TEXT


def test_a_text_of_which_a_tokenizer_leaves_nothing_has_an_empty_row():
    app = with_text(" \n", ["gpt2", "bert-uncased"])
    assert app.dataframe[0].value.set_index("tokenizer").loc["bert-uncased", "tokens"] == 0
    assert [row["num_tokens"] for row in head_of(app)["rows"]][1] == 0


def test_a_figure_that_cannot_be_had_is_a_dash():
    table = with_text("", ["gpt2", "bert-uncased"]).dataframe[0]
    assert table.value["bytes per token"].isna().all()
    assert table.proto.placeholder == "–"


def test_special_tokens_are_refused_a_row_at_a_time():
    text = "a<|endoftext|>b"
    app = with_text(text, ["gpt2", "bert-uncased"], special="reject")
    assert "the text must not hold special tokens" in warnings(app)
    assert [row["name"] for row in head_of(app)["rows"]] == ["bert-uncased"]
    app = with_text(text, ["gpt2", "bert-uncased"], special="as special tokens")
    assert app.dataframe[0].value.set_index("tokenizer").loc["gpt2", "tokens"] == 3


def test_nothing_chosen_is_said():
    app = opened()
    app.multiselect(key=state.COMPARED).set_value([]).run()
    assert not app.exception
    assert "at least one tokenizer" in app.info[0].value


# ---------------------------------------------------------------------------------------------- files


def test_a_brought_tokenizer_stands_in_a_row():
    training = train("low lower lowest " * 9, TrainSettings(num_merges=12))
    app = page_at(PAGE)
    app.session_state[state.OWN_FILES] = save_tokenizer(training.tokenizer, "tokenizer-json")
    app.query_params[state.COMPARED] = [BROUGHT_NAME, "gpt2"]
    finished(app.run())
    assert not app.warning
    table = app.dataframe[0].value.set_index("tokenizer")
    assert table.loc[BROUGHT_NAME, "tokens"] == len(training.tokenizer.encode(TEXT))
    assert f"Hugging Face tokenizer.json, {training.tokenizer.vocab_size} ids" in said(app)


def sentencepiece_file() -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["low lower lowest"] * 9), model_writer=written, vocab_size=14, minloglevel=2
    )
    return written.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "title", "num_ids"),
    [
        ("spiece.model", sentencepiece_file(), "SentencePiece model", 14),
        ("vocab.txt", b"[PAD]\n[UNK]\nl\n##o\n##w\nlow\n", "BERT vocab.txt", 6),
    ],
    ids=["sentencepiece", "vocab-txt"],
)
def test_a_file_that_is_only_read_can_be_uploaded_and_stands_in_a_row(name, data, title, num_ids):
    app = opened(["gpt2"])
    uploader = app.file_uploader(key=state.TOKENIZER_UPLOAD)
    assert title in uploader.label
    uploader.upload(name, data)
    finished(app.run())
    app.multiselect(key=state.COMPARED).set_value([BROUGHT_NAME, "gpt2"])
    finished(app.run())
    assert not app.error
    assert f"{name}: {title}, {num_ids} ids" in said(app).replace("*", "")
    table = app.dataframe[0].value.set_index("tokenizer")
    assert table.loc[BROUGHT_NAME, "tokens"] == len(load_tokenizer(data).encode(TEXT))


GOOD = save_tokenizer(train("low lower", TrainSettings(num_merges=3)).tokenizer, "tiktoken")["tokenizer.tiktoken"]


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"a.tiktoken": GOOD[:-3]}, "a.tiktoken"),
        ({"a.tiktoken": GOOD + GOOD.splitlines(keepends=True)[-1]}, "a.tiktoken"),
        ({"a.tiktoken": b"".join(GOOD.splitlines(keepends=True)[1:])}, "a.tiktoken"),
        ({"a.png": b"\x89PNG\r\n\x1a\n" + bytes(100)}, "a.png"),
        ({"empty.json": b""}, "empty"),
        ({"tokenizer.json": b'{"model": {'}, "tokenizer.json"),
        ({"vocab.json": b'{"a": 0}'}, "merges.txt"),
    ],
)
def test_an_unreadable_file_is_a_sentence_and_the_page_goes_on(files, says):
    app = opened()
    uploader = app.file_uploader(key=state.TOKENIZER_UPLOAD)
    for name, data in files.items():
        uploader.upload(name, data)
    app.run()
    finished(app)
    assert says in plain(app.error[0].value)
    assert app.get("bidi_component")
    assert state.OWN_FILES not in app.session_state


# ---------------------------------------------------------------------------------------------- parts


def contender(name: str) -> Chosen:
    return find(name, Mine())


def test_a_comparison_of_a_long_text_stops_inside_a_row():
    seen = []

    class Impatient(Job):
        def report(self, done: int, asked: int) -> bool:
            seen.append(done / asked)
            return len(seen) < 4

    text = "some words and more of them " * 100_000
    with pytest.raises(StoppedError):
        rows_of(text, "text", [contender("gpt2"), contender("cl100k_base")], Impatient("test"))
    assert seen[:2] == [0, 0]  # before the row, and before its first piece
    assert 0 < seen[2] < seen[3] < 0.5


def test_no_text_has_the_key_of_another_comparison():
    """A key is shared by all visitors, and a text may hold any character."""
    one, two = contender("gpt2"), contender("cl100k_base")
    for between in ("\0", " ", "', '", "'), ('"):
        assert comparison_key(f"{two.name} {two.key}{between}hello", "text", [one]) != comparison_key(
            "hello", "text", [one, two]
        )
    assert comparison_key("\ud800", "text", [one]) != comparison_key("\ud801", "text", [one])


numbers = count()


def own_row(training, text: str) -> Row:
    """Return a row under a key of its own: rows are kept by key, and the `id` of an object may be given again."""
    tokenizer = training.tokenizer
    return row_of(text, "text", Chosen("yours", "", f"own {next(numbers)}", "", {}, lambda: tokenizer))


@pytest.mark.parametrize("mark", ["none", "separate", "attached"])
def test_the_own_row_at_every_step_is_the_tokenizer_at_that_step(mark):
    text = "low lower  lowest\nlow"
    settings = TrainSettings(base="chars", end_of_word=mark, split="whitespace", num_merges=9, min_pair_count=1)
    training = train(text, settings)
    row = own_row(training, text)
    for step in range(training.num_merges + 1):
        expected = place_tokens(training.tokenizer.at_step(step), text)
        assert own_at_step(row, step).placed.cuts.tolist() == expected.cuts.tolist()
        assert own_at_step(row, step).placed.num_tokens == expected.num_tokens


def test_own_lifetimes_in_the_payload_cut_where_the_history_does():
    training = train("low lower lowest " * 3, TrainSettings(num_merges=9))
    row = own_row(training, "slow lower")
    lifetimes = sections(build_rows("slow lower", [row], 0))["lifetimes0"]
    for step in range(training.num_merges + 1):
        assert (np.flatnonzero(lifetimes >= step) + 1).tolist() == own_at_step(row, step).placed.cuts.tolist()


def test_long_texts_are_drawn_in_part_and_counted_whole():
    text = "한국어 " * 40_000
    rows = [row_of(text, "text", contender("gpt2"))]
    comparison = compare(text, rows, 0)
    payload = build_rows(text, comparison.on_axis, 0)
    drawn = sections(payload)["text"].tobytes()
    assert len(drawn) <= MOST_DRAWN_BYTES
    assert text.startswith(drawn.decode())
    assert read_head(payload)["is_clipped"]
    assert table_of(comparison, 100, 1.0, "gpt2")["tokens"] == [rows[0].placed.num_tokens]
    cuts = rows[0].placed.cuts
    assert drawn_cuts(payload, 0) == cuts[cuts < len(drawn)].tolist()


def test_places_are_listed_with_text_and_who_cuts():
    text = "안녕 hello"
    rows = [row_of(text, "text", contender(name)) for name in ("gpt2", "o200k_base")]
    comparison = compare(text, rows, 0)
    agreement = comparison.agreement
    table = places_of(comparison, agreement)
    assert table["byte"] == agreement.contested.tolist()
    assert set(table["cut by"]) <= {"gpt2", "o200k_base"}
    assert "�" not in "".join(table["before"] + table["after"])


def test_passing_is_said_in_order_of_merges():
    sentences = passing_sentences(np.array([9, 8, 8, 5, 4]), [("a", 6), ("b", 9), ("c", 4)])
    assert plain(sentences[0]) == (
        "Yours passes **b** on this text at merge 1 (8 tokens against 9), "
        "**a** on this text at merge 3 (5 tokens against 6)."
    )
    assert plain(sentences[1]) == "It does not pass **c** (4) in its 4 merges, which leave 4 tokens."


def test_curve_labels_stand_apart_and_inside():
    figure = merge_curve(np.array([90, 40, 20, 10]), 2, [("a", 30), ("b", 30), ("<c>", 29), ("d", 28)])
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["a +1", "&lt;c&gt;", "d"]
    heights = [note.y for note in figure.layout.annotations]
    span = figure.layout.yaxis.range[1] - figure.layout.yaxis.range[0]
    gaps = [one - two for one, two in pairwise(heights)]
    assert min(gaps) >= span * 16 / 440 - 1e-9


def test_spread_keeps_order_and_gap():
    rng = np.random.default_rng(7)
    for _ in range(50):
        places = sorted(rng.random(12).tolist(), reverse=True)
        spaced = spread(places, 0.05)
        assert all(one - two >= 0.05 - 1e-8 for one, two in pairwise(spaced))


def test_agreement_map_shows_every_pair():
    score = np.array([[1, 0.25], [0.25, 1]])
    figure = agreement_map(["a", "<b>"], score, score, ("Jaccard", "F1"))
    written = {
        (x, y): text for trace in figure.data[1:] for x, y, text in zip(trace.x, trace.y, trace.text, strict=True)
    }
    assert written == {(0, 0): "1", (0, 1): ".25", (1, 0): ".25", (1, 1): "1"}
    assert figure.layout.xaxis.ticktext == ("a", "&lt;b&gt;")


# ---------------------------------------------------------------------------------------------- loading


def test_the_loader_loads_each_once_and_the_latest_wish_first():
    may_go = threading.Event()
    loaded = []

    def load(name):
        may_go.wait(10)
        loaded.append(name)

    work = Loader(load)
    work.want(["a", "b", "c"])
    work.want(["d"])
    may_go.set()
    while not work.wait(["a", "b", "c", "d"], 10):
        pass
    assert sorted(loaded) == ["a", "b", "c", "d"]
    assert loaded.index("d") < loaded.index("c")
    work.want(["a", "d"])
    assert work.ready(["d", "x", "a"]) == ["d", "a"]
    assert len(loaded) == 4


def test_a_tokenizer_that_cannot_be_had_is_said_and_the_others_go_on():
    def load(name):
        if name == "bad":
            raise UnavailableError("not here; install it")
        if name == "worse":
            raise RuntimeError("secret path")

    work = Loader(load)
    work.want(["bad", "worse", "good"])
    while not work.wait(["bad", "worse", "good"], 10):
        pass
    assert work.ready(["bad", "worse", "good"]) == ["good"]
    assert work.failures(["bad", "worse", "good"]) == {
        "bad": "not here; install it",
        "worse": "loading it failed (RuntimeError)",
    }


def test_tokenizers_of_other_algorithms_stand_in_a_row():
    app = page_at(PAGE)
    neighbour = state.OwnNeighbour(load_pretrained("bert-uncased"), "digest", "WordPiece, learned on a book")
    app.session_state["own-neighbours"] = {"your WordPiece": neighbour}
    app.query_params[state.COMPARED] = ["your WordPiece", "gpt2"]
    finished(app.run())
    assert not app.warning
    num_tokens = len(load_pretrained("bert-uncased").encode(TEXT))
    assert app.dataframe[0].value.set_index("tokenizer").loc["your WordPiece", "tokens"] == num_tokens
    assert "WordPiece, learned on a book" in said(app)


def test_a_hub_id_without_a_network_is_a_sentence_and_the_page_goes_on(monkeypatch):
    def refuse(hub_id):
        raise UnavailableError(f"the hub cannot be reached from this machine ({hub_id}); open it as a file")

    monkeypatch.setattr("ui.brought.fetch_tokenizer_file", refuse)
    app = opened()
    app.text_input(key=state.HUB_ID).set_value("openai-community/gpt2").run()
    app.button(key=state.HUB_FETCH).click().run()
    finished(app)
    assert "cannot be reached from this machine (openai-community/gpt2)" in plain(app.error[0].value)
    assert app.get("bidi_component")


def test_a_tokenizer_of_the_hub_stands_in_a_row(monkeypatch):
    training = train("low lower lowest " * 9, TrainSettings(num_merges=12))
    monkeypatch.setattr("ui.brought.fetch_tokenizer_file", lambda hub_id: save_tokenizer(training.tokenizer, "minbpe"))
    app = opened()
    app.text_input(key=state.HUB_ID).set_value("own/model").run()
    app.button(key=state.HUB_FETCH).click().run()
    app.multiselect(key=state.COMPARED).set_value([BROUGHT_NAME, "gpt2"]).run()
    finished(app)
    num_tokens = len(training.tokenizer.encode(TEXT))
    assert app.dataframe[0].value.set_index("tokenizer").loc[BROUGHT_NAME, "tokens"] == num_tokens
