"""tokenizer.json of WordPiece and Unigram: equal ids from `tokenizers`, read back whole, refused with a sentence."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache

import pytest
import tokenizers
from format_cases import CORPUS, library_of
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from bpe import (
    TrainSettings,
    UnigramSettings,
    UnigramTokenizer,
    WordPieceSettings,
    WordPieceTokenizer,
    load_pretrained,
    load_tokenizer,
    save_tokenizer,
    train,
    train_unigram,
    train_wordpiece,
)
from bpe.errors import BpeError, FormatError
from bpe.hub_tokenizer import HubTokenizer
from bpe.samples import load_sample
from bpe.wordpiece import WordPiece

TEXT = load_sample("udhr-eng")
SPLITS = ("gpt2", "cl100k", "o200k", "llama3", "digits", "whitespace", "none", r"[a-z]+|\d")


@cache
def wordpiece():
    return train_wordpiece(TEXT + CORPUS, WordPieceSettings(vocab_size=700)).tokenizer


@cache
def unigram(split="gpt2", base="chars"):
    return train_unigram(TEXT + CORPUS, UnigramSettings(vocab_size=800, split=split, base=base)).tokenizer


def file_of(tokenizer):
    return save_tokenizer(tokenizer, "tokenizer-json")["tokenizer.json"]


def changed(data, **changes):
    """Return a file with values replaced: model__unk_token="x" stands for document["model"]["unk_token"]."""
    document = json.loads(data)
    for path, value in changes.items():
        *folders, name = path.split("__")
        place = document
        for folder in folders:
            place = place[folder]
        place[name] = value
    return json.dumps(document).encode()


# ------------------------------------------------------------------------------------------- written here


def test_wordpiece_comes_back_whole():
    again = load_tokenizer(file_of(wordpiece()))
    assert isinstance(again, WordPieceTokenizer)
    assert again.vocabulary == wordpiece().vocabulary
    assert (again.split, again.special_tokens) == (wordpiece().split, wordpiece().special_tokens)
    assert again.max_input_chars_per_word == 100


@pytest.mark.parametrize("base", ["chars", "bytes"])
@pytest.mark.parametrize("split", SPLITS)
def test_unigram_comes_back_whole(split, base):
    again = load_tokenizer(file_of(unigram(split, base)))
    assert isinstance(again, UnigramTokenizer)
    assert (again.tokens, again.scores) == (unigram(split, base).tokens, unigram(split, base).scores)
    assert (again.base, again.split) == (base, split)


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.sampled_from([*sorted(set(TEXT)), "#", "[", "é", "日", "\u0301", "\t"]), max_size=60))
def test_wordpiece_is_what_the_library_makes_of_the_file(text):
    library = library_of(file_of(wordpiece()))
    assert wordpiece().encode(text) == library.encode(text, add_special_tokens=False).ids


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs", "Cn"], max_codepoint=0x2FFF), max_size=40))
def test_unigram_of_bytes_is_what_the_library_makes_of_the_file(text):
    library = library_of(file_of(unigram("whitespace", "bytes")))
    assert unigram("whitespace", "bytes").encode(text) == library.encode(text).ids


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.sampled_from(sorted(set(TEXT))), max_size=60))
def test_unigram_of_characters_is_what_the_library_makes_of_the_file(text):
    library = library_of(file_of(unigram()))
    assert unigram().encode(text) == library.encode(text).ids


def test_the_library_writes_the_text_back():
    text = "the rights of men and the duties of all"
    for tokenizer in (wordpiece(), unigram(), unigram("gpt2", "bytes")):
        library = library_of(file_of(tokenizer))
        assert library.decode(library.encode(text, add_special_tokens=False).ids) == text


def test_the_piece_for_what_is_unknown_is_never_a_token_of_the_text():
    tokenizer = UnigramTokenizer.of_probabilities(dict.fromkeys("<unk> a", 1e-9) | {" a": 0.9}, split="none")
    data = file_of(tokenizer)
    assert json.loads(data)["model"]["vocab"][-1] == ["<unk>", -1e9]
    assert library_of(data).encode("<unk> a").ids == tokenizer.encode("<unk> a")
    taken = UnigramTokenizer.of_probabilities({"<unk>": 0.5, "a": 0.5}, split="none")
    assert json.loads(file_of(taken))["model"]["vocab"][-1][0] == "<unk1>"


def test_a_split_pattern_that_lets_the_mark_into_words_is_refused():
    tokenizer = train_wordpiece(TEXT, WordPieceSettings(vocab_size=300, split="whitespace")).tokenizer
    with pytest.raises(FormatError, match="may begin with ##"):
        save_tokenizer(tokenizer, "tokenizer-json")


def test_tokens_that_are_written_alike_are_refused():
    pieces = (WordPiece("[UNK]", False), WordPiece("##a", False), WordPiece("a", True))
    with pytest.raises(FormatError, match="both written '##a'"):
        save_tokenizer(WordPieceTokenizer(pieces, {"[UNK]": 0}), "tokenizer-json")
    double = UnigramTokenizer((b"a", b"a"), (-1.0, -2.0))
    with pytest.raises(FormatError, match="two tokens are 'a'"):
        save_tokenizer(double, "tokenizer-json")


@pytest.mark.parametrize("format", ["bpe-json", "tiktoken", "vocab-merges", "minbpe"])
@pytest.mark.parametrize("kind", ["WordPiece", "Unigram"])
def test_formats_of_merges_say_that_there_are_none(kind, format):
    with pytest.raises(FormatError, match=f"a {kind} tokenizer has none; choose tokenizer-json"):
        save_tokenizer({"WordPiece": wordpiece(), "Unigram": unigram()}[kind], format)


# ------------------------------------------------------------------------------------------- written elsewhere


@cache
def bert_file():
    tokenizer = tokenizers.BertWordPieceTokenizer()
    tokenizer.train_from_iterator([TEXT, CORPUS], vocab_size=600, show_progress=False)
    return tokenizer._tokenizer.to_str().encode()


@cache
def t5_file(**parts):
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=600, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator([TEXT, CORPUS], trainer)
    return tokenizer.to_str().encode()


@pytest.mark.parametrize("make", [bert_file, t5_file])
def test_files_of_the_library_give_its_ids(make):
    tokenizer, library = load_tokenizer(make()), library_of(make())
    assert isinstance(tokenizer, HubTokenizer)
    for text in (TEXT, "Café ﬁne 日本 the  rights\n", "", " ", "12,345 don't"):
        assert tokenizer.encode(text) == library.encode(text, add_special_tokens=False).ids
        assert b"".join(tokenizer.history(text).tokens(0)) in (text.encode(), b"")


def test_special_tokens_of_a_file_are_found_when_asked_for():
    tokenizer = load_tokenizer(bert_file())
    mask = tokenizer.special_tokens["[MASK]"]
    assert mask in tokenizer.encode("men [MASK] women", special="special")
    assert mask not in tokenizer.encode("men [MASK] women")


def test_what_bert_does_to_a_text_is_told():
    assert [change.what for change in load_tokenizer(bert_file()).changes("Né")] == ["lower-cased", "accents dropped"]


def test_the_real_bert_from_a_file_of_the_library():
    bert = load_pretrained("bert-uncased")
    ids = {bert.token_name(token): token for token in range(bert.vocab_size)}
    library = tokenizers.BertWordPieceTokenizer(ids)
    again = load_tokenizer(library._tokenizer.to_str().encode())
    assert again.encode(TEXT) == bert.encode(TEXT)


# ------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("make", "changes", "place"),
    [
        (bert_file, {"model__unk_token": "nothing"}, "model.unk_token"),
        (bert_file, {"model__vocab": {"[UNK]": 0, "a": 0}}, "model.vocab"),
        (bert_file, {"model__vocab": {"[UNK]": 0, "a": 7}}, "model.vocab"),
        (bert_file, {"model__vocab": []}, "model.vocab"),
        (bert_file, {"pre_tokenizer": None}, "pre_tokenizer"),
        (bert_file, {"pre_tokenizer": {"type": "Punctuation"}}, "pre_tokenizer"),
        (bert_file, {"decoder": None}, "decoder"),
        (bert_file, {"added_tokens": [{"id": 700, "content": "x", "special": False}]}, "added_tokens[0]"),
        (bert_file, {"added_tokens": [{"id": 3, "content": "the", "special": True}]}, "added_tokens[0].id"),
        (t5_file, {"model__vocab": []}, "model.vocab"),
        (t5_file, {"model__vocab": [["a", "x"]]}, "model.vocab[0]"),
        (t5_file, {"model__vocab": [["a", -1.0], ["a", -2.0]]}, "model.vocab[1]"),
        (t5_file, {"model__vocab": [["", -1.0]]}, "model.vocab[0]"),
        (t5_file, {"model__vocab": [["a", True]]}, "model.vocab[0]"),
        (t5_file, {"model__vocab": "text"}, "model.vocab"),
        (t5_file, {"model__unk_id": 10**6}, "model.unk_id"),
        (t5_file, {"model__byte_fallback": True}, "model.byte_fallback"),
        (t5_file, {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}}, "pre_tokenizer"),
        (t5_file, {"normalizer": {"type": "Nonsense"}}, "tokenizers reads"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_by_its_key(make, changes, place):
    with pytest.raises(FormatError) as caught:
        load_tokenizer(changed(make(), **changes))
    assert place in str(caught.value)


@settings(max_examples=40, deadline=None)
@given(cut=st.floats(0, 1), at=st.floats(0, 1), byte=st.binary(min_size=1, max_size=1))
def test_cut_and_damaged_files_never_raise_anything_else(cut, at, byte):
    for data in (file_of(wordpiece()), file_of(unigram())):
        place = int(at * (len(data) - 1))
        for damaged in (data[: int(cut * len(data))], data[:place] + byte + data[place + 1 :]):
            with suppress(BpeError):
                load_tokenizer(damaged)


def test_byte_pair_encoding_is_still_read_as_such():
    tokenizer = train(CORPUS, TrainSettings(num_merges=30)).tokenizer
    assert load_tokenizer(file_of(tokenizer)).num_merges == 30
