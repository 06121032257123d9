"""One offer of tokenizers on every page: the real ones, and what the reader trained or brought."""

from __future__ import annotations

import pytest
from pagetest import finished, open_page, page_at, plain, said

from bpe import TrainSettings, WordPieceSettings, train, train_wordpiece
from bpe.errors import StoppedError
from bpe.formats import save_tokenizer
from bpe.pretrained import pretrained_info, pretrained_names
from ui import compute, state
from ui.brought import BROUGHT_NAME, BroughtTokenizer
from ui.choosing import Mine, find, of_own
from ui.state import OWN_NAME, OwnNeighbour, OwnTokenizer

PAGES = ["app.py", "pages/5_Quirks.py", "pages/6_Vocabulary.py", "pages/7_Costs.py"]
TEXT = "low lower lowest newest widest " * 9
REAL = [name for name in pretrained_names() if pretrained_info(name).available]
WORDPIECE = "your WordPiece"


@pytest.fixture(scope="module")
def mine() -> Mine:
    training = train(TEXT, TrainSettings(num_merges=12))
    wordpiece = train_wordpiece(TEXT, WordPieceSettings(vocab_size=40)).tokenizer
    return Mine(
        OwnTokenizer(training, "digest", "a corpus", 7),
        BroughtTokenizer("m.model", "minbpe model", "file-digest", training.tokenizer),
        {WORDPIECE: OwnNeighbour(wordpiece, "wordpiece-digest", "WordPiece, 40 tokens learned on a corpus")},
    )


def with_mine(page: str, mine: Mine, **params: str):
    app = page_at(page, **params)
    app.session_state["own-tokenizer"] = mine.own
    app.session_state["own-neighbours"] = mine.neighbours
    app.session_state[state.OWN_FILES] = save_tokenizer(mine.own.training.tokenizer, "minbpe")
    return finished(app.run())


@pytest.mark.parametrize("page", PAGES)
def test_every_page_offers_the_same(page, mine):
    app = with_mine(page, mine)
    assert app.selectbox(key=state.TOKENIZER).options == [*REAL, OWN_NAME, BROUGHT_NAME, WORDPIECE]
    assert open_page(page).selectbox(key=state.TOKENIZER).options == REAL


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", [OWN_NAME, BROUGHT_NAME, WORDPIECE])
def test_what_is_the_readers_can_be_linked_to_and_is_described(page, name, mine):
    app = with_mine(page, mine, tokenizer=name)
    assert not app.warning
    assert not app.error
    assert app.selectbox(key=state.TOKENIZER).value == name
    about = {
        OWN_NAME: "Trained here on a corpus, ",
        BROUGHT_NAME: "268 ids",
        WORDPIECE: "40 tokens learned on a corpus",
    }
    assert about[name] in said(app)


def test_the_own_tokenizer_is_at_its_step_where_a_page_shows_one_step(mine):
    at_step, whole = find(OWN_NAME, mine), find(OWN_NAME, mine, all_steps=True)
    assert (at_step.tokenizer.num_merges, whole.tokenizer.num_merges) == (7, 12)
    assert at_step.about.endswith("7 merges")
    assert whole.about.endswith("12 merges")
    assert at_step.key != whole.key
    assert at_step == of_own(mine.own)
    assert at_step != whole


def test_names_of_what_is_there_and_real_ones_by_their_cards(mine):
    assert mine.names == [OWN_NAME, BROUGHT_NAME, WORDPIECE]
    assert Mine().names == []
    gpt2 = find("gpt2", Mine())
    assert gpt2.is_real
    assert gpt2.special_tokens == {"<|endoftext|>": 50256}
    assert "50,257 ids" in gpt2.about
    assert {find(name, mine).is_real for name in mine.names} == {False}


def test_special_tokens_are_listed_where_there_are_any(mine):
    assert "Known: <|endoftext|>" in said(open_page("app.py", tokenizer="gpt2"))
    assert "This tokenizer has none." in said(with_mine("app.py", mine, tokenizer=OWN_NAME))


def test_tokenizing_a_long_text_stops_between_its_pieces(mine):
    seen = []

    def progress(done: int, asked: int) -> bool:
        seen.append((done, asked))
        return done == 0

    long = "some words and more of them " * 100_000
    with pytest.raises(StoppedError):
        compute.tokenize(OWN_NAME, long, "text", mine.own.training.tokenizer, progress)
    (start, stopped) = seen
    assert start == (0, len(long))
    assert 0 < stopped[0] < len(long)


def test_a_rank_file_alone_asks_for_its_split_pattern(mine):
    tokenizer = train(TEXT, TrainSettings(num_merges=12, split="whitespace")).tokenizer
    (name, ranks), _settings = save_tokenizer(tokenizer, "tiktoken").items()
    app = open_page("app.py")
    app.get("file_uploader")[1].upload(name, ranks, "application/octet-stream").run()
    assert f"{name} holds ranks only" in plain(app.warning[0].value)
    assert not app.error
    assert BROUGHT_NAME not in app.selectbox(key=state.TOKENIZER).options

    app.selectbox(key=state.BROUGHT_SPLIT).set_value("whitespace").run()
    finished(app.selectbox(key=state.TOKENIZER).set_value(BROUGHT_NAME).run())
    text = app.text_area(key=state.TEXT_AREA).value
    assert app.code[0].value == " ".join(map(str, tokenizer.encode(text)))

    app.selectbox(key=state.BROUGHT_SPLIT).set_value("own").run()
    finished(app.text_input(key=state.BROUGHT_PATTERN).set_value("(a").run())
    assert "does not compile" in plain(app.error[0].value)


def test_the_sidebar_names_all_that_the_reader_has(mine):
    app = with_mine("pages/7_Costs.py", mine)
    beside = "\n".join(block.value for block in app.sidebar.markdown)
    assert "a corpus" in beside
    assert "your file" in beside
    assert "40 tokens learned on a corpus" in beside
    assert "Your tokenizers" in [caption.value for caption in app.sidebar.caption]
