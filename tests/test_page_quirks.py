"""The page Quirks, through AppTest: each quirk opens on figures that are counted, and takes what breaks pages."""

from __future__ import annotations

import doctest
import json

import pytest
from pagetest import open_page, plain, said

from bpe import TrainSettings, train
from bpe.pretrained import load_pretrained
from bpe.quirks import TextToken, integers_under, price_code
from ui import state
from ui.quirks import numbers, spelling
from ui.quirks import strips as strips_module
from ui.quirks.byte_names import byte_table
from ui.quirks.charts import TOKEN_COUNT_COLOURS, integer_map
from ui.quirks.menu import QUIRKS
from ui.quirks.strips import MOST_TOKENS, Strip, build_strips
from ui.quirks.unicode import code_point_table
from ui.quirks.white_space import EXAMPLE_CODE

PAGE = "pages/5_Quirks.py"


def opened(**params):
    return open_page(PAGE, **params)


def strips(app, number: int = 0):
    """Return what the page handed to its rows of tokens: one list of labels a row."""
    data = json.loads(app.get("bidi_component")[number].proto.json)
    return ["|".join("".join(text for text, _ in token["runs"]) for token in row["tokens"]) for row in data["strips"]]


def warnings(app) -> str:
    return "\n".join(plain(warning.value) for warning in app.warning)


@pytest.mark.parametrize("tokenizer", ["gpt2", "cl100k_base", "o200k_base"])
@pytest.mark.parametrize("quirk", list(QUIRKS))
def test_every_quirk_opens_under_every_generation(quirk, tokenizer):
    app = opened(quirk=quirk, tokenizer=tokenizer)
    assert not app.error
    assert not app.warning
    assert len(app.get("bidi_component")) >= 1
    assert app.subheader


# ---------------------------------------------------------------------------------------------- each quirk


def test_spelling_opens_on_strawberry():
    app = opened()
    assert "3 × r in 3 tokens: 0 + 1 + 2." in said(app).replace("**", "")
    assert strips(app) == ["st|raw|berry", "·strawberry"]


def test_a_link_opens_word_letter_and_tokenizer():
    app = opened(word="Mississippi", letter="s", tokenizer="cl100k_base")
    assert "4 × s" in said(app)
    assert strips(app)[0].replace("|", "") == "Mississippi"


def test_an_example_button_fills_the_word():
    app = opened()
    next(button for button in app.button if button.label == "Mississippi").click().run()
    assert not app.exception
    assert app.text_input(key=state.WORD).value == "Mississippi"


@pytest.mark.parametrize(("tokenizer", "single", "first"), [("gpt2", "907", "521"), ("cl100k_base", "1,000", "1,000")])
def test_numbers_are_counted(tokenizer, single, first):
    app = opened(quirk="Numbers", tokenizer=tokenizer)
    text = said(app)
    assert f"{single} are single tokens" in text
    assert f"{first} is the first that is not" in text


def test_the_neighbours_of_an_integer_are_shown():
    app = opened(quirk="Numbers", integer="2250")
    assert strips(app)[2:6] == ["2|249", "22|50", "225|1", "225|2"]


def test_integers_after_a_space():
    app = opened(quirk="Numbers", stands="after a space")
    count = integers_under(load_pretrained("gpt2"), prefix=" ").num_single
    assert f"{count:,} are single tokens" in said(app)


def test_a_sum_in_four_rules():
    app = opened(quirk="Numbers", first="999", second="1")
    assert [strips(app, number)[2] for number in range(1, 5)] == ["1000", "100|0", "1|0|0|0", "1|000"]
    assert "Of 3 carries 1 passes" in said(app)


def test_every_tokenizer_is_counted_when_asked():
    app = opened(quirk="Numbers")
    app.toggle[0].set_value(True).run()
    assert not app.exception
    table = app.dataframe[0].value.set_index("tokenizer")
    assert table.loc["gpt2", "single tokens"] == 907
    assert table.loc["cl100k_base", "first that is not"] == 1000


def test_white_space_prices_are_counted():
    app = opened(quirk="White space", tokenizer="cl100k_base")
    prices = {price.name: price.num_tokens for price in price_code(load_pretrained("cl100k"), EXAMPLE_CODE)}
    assert f"{prices['as it is']} tokens" in said(app)
    extra = prices["as it is"] - prices["not indented"]
    assert f"{extra} tokens of them for indentation" in said(app)


def test_the_chosen_way_to_write_code_is_shown():
    app = opened(quirk="White space", variant="tabs", tokenizer="cl100k_base")
    assert "→" in strips(app, 1)[0]
    assert warnings(app) == ""


def test_unicode_forms_are_counted():
    app = opened(quirk="Unicode", phrase="é")
    assert "Composed (NFC) it is 1 token, decomposed (NFD) 3 tokens" in said(app).replace("**", "")


def test_bytes_of_the_reader_are_in_the_table():
    app = opened(quirk="Bytes as characters", bytes="é é")
    assert app.code[0].value == "Ã©ĠÃ©"
    assert "Of the 5 bytes of your text, 1 read as a stand-in" in said(app)


def test_own_tokenizer_is_taken_at_its_step():
    app = opened()
    training = train("strawberry " * 3, TrainSettings(num_merges=9))
    app.session_state["own-tokenizer"] = state.OwnTokenizer(training, "key", "berries", 2)
    app.run()
    app.selectbox(key=state.TOKENIZER).set_value("yours").run()
    assert not app.exception
    history = training.tokenizer.at_step(2).history("strawberry")
    assert strips(app)[0] == "|".join(name.decode() for name in history.tokens(2))


# ---------------------------------------------------------------------------------------------- inputs that break pages


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"quirk": "Nothing"}, "quirk 'Nothing'"),
        ({"tokenizer": "gpt9"}, "tokenizer 'gpt9'"),
        ({"quirk": "Numbers", "integer": "10000"}, "from 0 to 9,999"),
        ({"quirk": "Numbers", "integer": "-1"}, "from 0 to 9,999"),
        ({"quirk": "Numbers", "stands": "upside down"}, "'upside down'"),
        ({"quirk": "White space", "variant": "nine spaces"}, "'nine spaces'"),
    ],
)
def test_a_bad_link_opens_the_nearest_view_and_says_so(params, says):
    app = opened(**params)
    assert says in warnings(app)
    assert app.get("bidi_component")


@pytest.mark.parametrize(
    ("quirk", "key"),
    [
        ("Spelling", state.WORD),
        ("Spelling", state.LETTER),
        ("White space", state.SPACED),
        ("Case and spelling", state.CASED),
        ("Unicode", state.PHRASE),
        ("Bytes as characters", state.STAND_IN),
    ],
)
@pytest.mark.parametrize("text", ["", " ", "<b>x</b> $a$ :red[x] `y`", "שלום 123", "a\u0301\u202eb", "👩‍👩‍👧‍👦"])
def test_odd_texts_are_shown(quirk, key, text):
    app = opened(quirk=quirk)
    app.text_input(key=key).set_value(text).run()
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("key", [state.WORD, state.LETTER])
def test_a_word_of_100_kb_is_refused_with_a_sentence(key):
    app = opened()
    app.text_input(key=key).set_value("x" * 100_000).run()
    assert not app.exception
    assert "must be at most 300 characters, but has 2,000 or more" in plain(app.error[0].value)


def test_code_that_is_too_long_is_refused_with_a_sentence():
    app = opened(quirk="White space")
    app.text_area(key=state.CODE).set_value("x\n" * 20_000).run()
    assert "must be at most 20,000 characters, but has 40,000" in plain(app.error[0].value)


def test_no_code_is_said():
    app = opened(quirk="White space")
    app.text_area(key=state.CODE).set_value("").run()
    assert not app.exception
    assert "no code yet" in app.info[0].value


@pytest.mark.parametrize("number", ["", "abc", "-1", "1.5", "٣", "9" * 31, "1e5"])
def test_what_is_no_number_is_refused_with_a_sentence(number):
    app = opened(quirk="Numbers")
    app.text_input(key=state.FIRST).set_value(number).run()
    assert not app.exception
    assert "must be a whole number of at most 30 digits" in plain(app.error[0].value)


def test_a_number_may_be_written_with_commas():
    app = opened(quirk="Numbers", first="1,234", second="0")
    assert strips(app, 2)[0] == "123|4"


# ---------------------------------------------------------------------------------------------- parts


@pytest.mark.parametrize("module", [strips_module, spelling, numbers], ids=lambda module: module.__name__)
def test_examples_in_docstrings_hold(module):
    tried = doctest.testmod(module)
    assert tried.attempted
    assert not tried.failed


def test_strips_cut_long_rows_and_say_so():
    tokens = [TextToken(1, b"a")] * (MOST_TOKENS + 3)
    row = build_strips([Strip("a", "", tokens)])["strips"][0]
    assert (len(row["tokens"]), row["more"]) == (MOST_TOKENS, "and 3 tokens more")


def test_strips_mark_a_letter_that_lies_in_two_tokens():
    tokens = [TextToken(1, b"a\xc3"), TextToken(2, b"\xa9b")]
    row = build_strips([Strip("aéb", "", tokens, spans=[(1, 3)])])["strips"][0]
    assert [token["runs"] for token in row["tokens"]] == [[["⟨61 c3⟩", True]], [["⟨a9 62⟩", True]]]


def test_a_token_of_no_text_has_a_label():
    assert build_strips([Strip("x", "", [TextToken(9, b"")])])["strips"][0]["tokens"][0]["runs"] == [["∅", False]]


def test_the_map_has_a_colour_a_count_and_every_split():
    integers = integers_under(load_pretrained("gpt2"))
    heat = integer_map(integers, 2250).data[0]
    assert heat.z.shape == (100, 100)
    assert heat.z[22, 50] == 2
    assert heat.customdata[22, 49] == "2|249"
    assert {colour for _, colour in heat.colorscale} == set(TOKEN_COUNT_COLOURS[:3])


def test_code_points_name_the_tokens_that_hold_them():
    tokens = [TextToken(1, b"a\xc3"), TextToken(2, b"\xa9"), TextToken(3, b"b")]
    table = code_point_table("aéb", tokens)
    assert table["tokens"].tolist() == ["1", "1, 2", "3"]
    assert table["name"].tolist()[1] == "LATIN SMALL LETTER E WITH ACUTE"


def test_the_byte_table_escapes_and_outlines():
    table = byte_table(frozenset(b" <"))
    assert '<td class="moved used" title="byte 20 = 32">Ġ</td>' in table
    assert '<td class="used" title="byte 3c = 60">&lt;</td>' in table
    assert table.count("<td") == 257
    assert table.count("moved") == 68


@pytest.mark.parametrize("quirk", [name for name in QUIRKS if name != "Numbers"])
@pytest.mark.parametrize("text", [" ", "\u200b", "\x85\u2029"])
def test_a_text_without_any_token_is_no_error(quirk, text):
    app = opened(quirk=quirk, tokenizer="bert-uncased")
    for key in [line.key for line in app.text_input]:
        app.text_input(key=key).set_value(text)
    app.run()
    assert not app.exception
