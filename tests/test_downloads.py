"""Files of the reader's own tokenizer: each is read by its library again and gives equal ids on the corpora."""

from __future__ import annotations

import io
import zipfile

import pytest
from pagetest import open_page, said

from bpe import TrainSettings, train
from bpe.formats import FORMATS, load_tokenizer
from bpe.samples import load_sample
from ui import state
from ui.downloads import tokenizer_files

PAGE = "pages/1_Train.py"
SAMPLES = ("udhr-eng", "udhr-hin", "emoji-chat")


def contents(offer) -> dict[str, bytes]:
    name, data = offer
    if not name.endswith(".zip"):
        return {name: data}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {entry: archive.read(entry) for entry in archive.namelist()}


def test_every_format_of_a_byte_tokenizer_gives_equal_ids_on_the_corpora():
    tokenizer = train(load_sample("udhr-eng"), TrainSettings(num_merges=200)).tokenizer
    seen = []
    offers = tokenizer_files("bytes", 200, tokenizer, lambda done, title: seen.append((done, title)))
    assert list(offers) == [file_format.title for file_format in FORMATS.values()] == [title for _done, title in seen]
    for title, offer in offers.items():
        assert not isinstance(offer, str), (title, offer)
        again = load_tokenizer(contents(offer))
        for sample in SAMPLES:
            text = load_sample(sample)[:20_000]
            assert again.encode(text) == tokenizer.encode(text), (title, sample)


def test_what_a_format_cannot_hold_is_said():
    settings = TrainSettings(base="chars", end_of_word="separate", split="whitespace", num_merges=20)
    offers = tokenizer_files("marks", 20, train("low lower lowest low", settings).tokenizer)
    refused = {title for title, offer in offers.items() if isinstance(offer, str)}
    assert refused == {file_format.title for file_format in FORMATS.values()} - {"bpe JSON"}
    assert "end-of-word mark that is a symbol of its own" in offers["Hugging Face tokenizer.json"]


def offered(app) -> list[str]:
    """The files of the tokenizer that can be downloaded; the stage has its own."""
    labels = [button.proto.label for button in app.get("download_button")]
    return [label for label in labels if "plays offline" not in label]


def test_files_are_made_when_asked_for_and_again_at_another_step():
    app = open_page(PAGE, merges="20", step="7")
    assert not offered(app)
    app.button(key=state.MAKE_FILES).click().run()
    assert not app.exception
    assert offered(app) == [*(file_format.title for file_format in FORMATS.values()), "Merges as CSV"]
    assert "the tokenizer after 7 merges" in said(app)
    assert app.session_state[state.FILES_ASKED][1] == 7


@pytest.mark.parametrize("mark", ["separate", "attached"])
def test_the_page_says_which_formats_are_out(mark):
    app = open_page(PAGE, source="word counts", base="chars", mark=mark, merges="10")
    app.button(key=state.MAKE_FILES).click().run()
    assert not app.exception
    assert "Not as tiktoken ranks" in said(app)
    assert ("Not as Hugging Face tokenizer.json" in said(app)) == (mark == "separate")
