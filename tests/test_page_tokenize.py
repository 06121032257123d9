"""The page Tokenize, through AppTest: figures, switches, links, and inputs that break such pages."""

from __future__ import annotations

import pytest
from pagetest import finished, head_of, open_page, page_at, payload_of, plain, said

from bpe import TrainSettings, train
from bpe.formats import save_tokenizer
from bpe.pretrained import load_pretrained
from ui import state
from ui.brought import BROUGHT_NAME
from ui.controls import EXAMPLES
from ui.links import pack_text

DEFAULT_TEXT = next(iter(EXAMPLES.values()))


def opened(**params):
    return open_page("app.py", **params)


def summary(app):
    return next(block.value for block in app.markdown if "joined token bytes" in block.value)


def type_text(app, text: str):
    return finished(app.text_area(key=state.TEXT_AREA).set_value(text).run())


def test_it_opens_on_a_worked_example_with_figures_that_are_counted():
    app = opened()
    ids = load_pretrained("gpt2").encode(DEFAULT_TEXT)
    num_bytes = len(DEFAULT_TEXT.encode())
    line = summary(app)
    assert f"**{len(ids)} tokens**" in line
    assert f"{num_bytes} bytes" in line
    assert f"{len(DEFAULT_TEXT)} characters" in line
    assert f"{num_bytes / len(ids):.2f} bytes per token" in line
    assert "equal the text: **yes**" in line
    assert app.code[0].value == " ".join(map(str, ids))


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_every_example_button_fills_the_text(name):
    app = opened()
    next(button for button in app.button if button.label == name).click().run()
    assert not app.exception
    assert app.text_area(key=state.TEXT_AREA).value == EXAMPLES[name]
    assert f"**{len(load_pretrained('gpt2').encode(EXAMPLES[name]))} tokens**" in summary(app)


@pytest.mark.parametrize("tokenizer", ["gpt2", "r50k_base", "p50k_base", "cl100k_base", "o200k_base"])
def test_tokenizers_and_links_to_them(tokenizer):
    app = opened(tokenizer=tokenizer, z=pack_text("four    spaces, 1234567 안녕"))
    ids = load_pretrained(tokenizer).encode("four    spaces, 1234567 안녕")
    assert app.code[0].value == " ".join(map(str, ids))
    assert head_of(app)["num_merges"] == load_pretrained(tokenizer).num_merges


def test_a_link_restores_text_tokenizer_and_step():
    app = opened(tokenizer="cl100k_base", z=pack_text("hello again"), step="300")
    assert app.text_area(key=state.TEXT_AREA).value == "hello again"
    assert head_of(app)["step"] == 300
    assert not app.warning


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"tokenizer": "gpt9"}, "tokenizer 'gpt9'"),
        ({"step": "50001"}, "only 50,000 merges"),
        ({"step": "abc"}, "no number"),
        ({"step": "-3"}, "no number"),
        ({"z": "1nonsense!"}, "changed on its way"),
        ({"special": "maybe"}, "meaning of special tokens"),
    ],
)
def test_a_bad_link_opens_the_nearest_view_and_says_so(params, says):
    app = opened(**params)
    assert any(says in plain(warning.value) for warning in app.warning)
    assert "equal the text: **yes**" in summary(app)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "\u200b",
        "<script>alert(1)</script><img onerror=alert(1) src=x></span><style>",
        "$a$ :red[x] `code` **b** [link](http://example.org)",
        "\u202eabc אבג 123",
        "NUL\x00 ESC\x1b BEL\x07",
        "a\r\nb\u2028c\td ",
        "caf\u0065\u0301 Z\u0338\u0353\u0315a",
        "a" * 100_000,
        " " * 100_000,
        "汉字没有空格" * 5_000,
    ],
)
def test_odd_texts_are_counted_and_kept(text):
    app = type_text(opened(), text)
    ids = load_pretrained("gpt2").encode(text)
    assert summary(app).startswith(f"**{len(ids):,} token")
    assert "equal the text: **yes**" in summary(app)
    assert text.encode() in payload_of(app)


def test_a_byte_order_mark_at_the_start_is_dropped_with_a_notice():
    app = type_text(opened(), "\ufeffabc\ufeff")
    assert summary(app).startswith("**")
    assert any("byte order mark" in caption.value.lower() for caption in app.caption)
    assert "6 bytes" in summary(app)  # abc and the mark at the end, which stays


def test_special_tokens_three_ways():
    text = "a<|endoftext|>b"
    app = type_text(opened(), text)
    assert app.code[0].value == " ".join(map(str, load_pretrained("gpt2").encode(text)))
    app.selectbox(key=state.SPECIAL).set_value("as special tokens").run()
    assert app.code[0].value == "64 50256 65"
    app.selectbox(key=state.SPECIAL).set_value("reject").run()
    assert not app.exception
    assert any("endoftext" in error.value for error in app.error)
    assert app.text_area(key=state.TEXT_AREA).value == text


def test_an_upload_in_another_encoding_is_asked_about():
    app = opened()
    app.file_uploader(key=state.UPLOAD).set_value(("notes.txt", "Grüße aus Köln".encode("cp1252"), "text/plain")).run()
    assert not app.exception
    assert any("UTF-8" in plain(warning.value) for warning in app.warning)
    encoding = next(box for box in app.selectbox if "Encoding" in box.label)
    encoding.set_value("cp1252").run()
    assert "Grüße aus Köln".encode() in payload_of(app)


def test_an_upload_that_is_no_text_is_refused_and_the_typed_text_kept():
    import gzip

    app = type_text(opened(), "my own words")
    app.file_uploader(key=state.UPLOAD).set_value(("notes.txt", gzip.compress(b"hello"), "text/plain")).run()
    assert not app.exception
    assert any("gzip" in error.value for error in app.error)
    app.file_uploader(key=state.UPLOAD).set_value(None).run()
    assert app.text_area(key=state.TEXT_AREA).value == "my own words"
    assert b"my own words" in payload_of(app)


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7 of it", b"SQLite format 3\0", b"\x7fELF\2\1\1"])
def test_a_file_that_is_no_text_in_any_encoding_is_refused_without_a_choice_of_one(data):
    app = opened()
    app.file_uploader(key=state.UPLOAD).set_value(("notes.txt", data, "text/plain")).run()
    assert not app.exception
    assert len(app.error) == 1
    assert not app.warning
    assert not [box for box in app.selectbox if "Encoding" in box.label]


def test_a_long_text_shows_progress_and_can_be_given_up(monkeypatch):
    import threading

    from ui import compute

    may_go_on = threading.Event()
    tokenize = compute.tokenize

    def slowly(*args):
        may_go_on.wait(30)
        return tokenize(*args)

    monkeypatch.setattr(compute, "tokenize", slowly)
    app = page_at(z=pack_text("a text that nobody else has")).run()
    assert not app.exception
    assert "Tokenizing 27 characters" in app.get("progress")[0].proto.text
    app.button[[button.label for button in app.button].index("Stop")].click().run()
    assert not app.exception
    assert "Stopped" in app.info[0].value
    may_go_on.set()
    app.button[[button.label for button in app.button].index("Start again")].click().run()
    finished(app)
    assert b"a text that nobody else has" in payload_of(app)


def test_a_tokenizer_from_a_file_can_be_chosen():
    training = train("low lower lowest " * 9, TrainSettings(num_merges=12))
    app = page_at("app.py", tokenizer=BROUGHT_NAME)
    app.session_state[state.OWN_FILES] = save_tokenizer(training.tokenizer, "tiktoken")
    finished(app.run())
    assert not app.warning
    ids = training.tokenizer.encode(DEFAULT_TEXT)
    assert " ".join(map(str, ids)) == app.code[0].value
    assert "tiktoken ranks" in said(app)


def test_a_tokenizer_that_changes_the_text_says_what_it_changed():
    app = opened(tokenizer="bert-uncased", z=pack_text("Caf\u00e9 au lait"))
    assert "equal the text: **no**" in summary(app)
    assert "changed the text before it cut it" in said(app)
    assert "lower-cased" in said(app)


@pytest.mark.parametrize("tokenizer", ["llama2", "gemma2", "xlm-r", "mistral-v1"])
def test_tokenizers_without_merges_draw_every_token_and_little_else(tokenizer):
    text = "10 \u4f60\u597d tokens"
    app = opened(tokenizer=tokenizer, z=pack_text(text))
    ids = load_pretrained(tokenizer).encode(text)
    assert app.code[0].value == " ".join(map(str, ids))
    assert summary(app).startswith(f"**{len(ids)} tokens**")
    assert len(payload_of(app)) < 5_000


def test_a_file_keeps_its_name_in_an_error():
    app = opened()
    app.get("file_uploader")[0].upload("notes.txt", b"", "text/plain").run()
    assert plain(app.error[0].value).startswith("notes.txt is empty")
