"""SentencePiece BPE out of a package: equal to sentencepiece, cut in bytes of the original text."""

import functools

import numpy as np
import pytest
import sentencepiece
import splintr
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from bpe.errors import SpecialTokenError, TokenIdError
from bpe.lifetimes import NEVER
from bpe.mergeless import SPACE_MARK
from bpe.normalizing import Change, whole_characters
from bpe.piece_tokenizer import PieceTokenizer
from bpe.pretrained import load_pretrained
from bpe.samples import load_udhr, udhr_languages
from bpe.vocabularies.packaged import PACKAGED_PIECES

TABLES = {table.name: table for table in PACKAGED_PIECES}
EVERY_SCRIPT = "Hello world! strawberry  strawberry 1234567890 안녕하세요 नमस्ते"
FRAGMENTS = (
    "the", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\t\t", "hello", " world", "1", "234", "é", "e\u0301", "日本",
    "안녕", "😉", "👩‍👩‍👧", SPACE_MARK, "\x00", "ﬁ", "नमस्ते", ".", "'s", "//", "<", ">", "<h1>", "</b>", "<unused9>",
    "<0x41>", "[multimodal]", "[toxicity=0]", "<mask>", "<start_of_turn>", "<s>", "<bos>", "\ud83d",
)  # fmt: skip
texts = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join))
a_few = settings(max_examples=40)
"""For properties that are tried with every tokenizer: there are many of these, and their code is shared."""


@functools.cache
def open_sentencepiece(name: str) -> sentencepiece.SentencePieceProcessor:
    """Build the model that sentencepiece would load: pieces, kinds, and scores in order of the ids.

    A score says which merge comes first, and all of these vocabularies number their pieces in that order. Only
    pieces of nothing but spaces come last in Llama's and Mistral's, as their published scores say.
    """
    table, tokenizer = TABLES[name], load_pretrained(name)
    in_any_text = {token_id for ids in table.symbols for token_id in ids}
    special = {token_id: text for text, token_id in table.special_tokens.items()}
    control = {"<s>", "</s>", "<pad>", "<bos>", "<eos>"}
    kinds = sentencepiece_model_pb2.ModelProto.SentencePiece
    model = sentencepiece_model_pb2.ModelProto()
    for token_id in range(tokenizer.vocab_size):
        piece = model.pieces.add()
        piece.piece = tokenizer.token_name(token_id)
        piece.score = -1e9 if not piece.piece.strip(SPACE_MARK) and table.adds_space else -float(token_id)
        if special.get(token_id) == "<unk>":
            piece.type = kinds.UNKNOWN
            model.trainer_spec.unk_id = token_id
        elif token_id in range(table.first_byte, table.first_byte + 256):
            piece.type = kinds.BYTE
        elif special.get(token_id) in control:
            piece.type = kinds.CONTROL
        elif token_id in in_any_text:
            piece.type = kinds.USER_DEFINED
    model.trainer_spec.model_type = 2
    model.trainer_spec.byte_fallback = True
    model.trainer_spec.bos_id = table.special_tokens.get("<s>", table.special_tokens.get("<bos>", 0))
    model.trainer_spec.eos_id = table.special_tokens.get("</s>", table.special_tokens.get("<eos>", 0))
    model.trainer_spec.pad_id = table.special_tokens.get("<pad>", -1)
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = table.adds_space
    model.normalizer_spec.remove_extra_whitespaces = False
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model.SerializeToString())
    return processor


@pytest.mark.parametrize(
    ("name", "count", "first_ids"),
    [
        ("llama2", 36, [15043, 3186, 29991]),
        ("mistral-v1", 34, [22557, 1526, 28808]),
        ("gemma2", 24, [4521, 2134, 235341]),
        ("gemma3", 19, [9259, 1902, 236888]),
    ],
)
def test_first_ids(name: str, count: int, first_ids: list[int]) -> None:
    ids = load_pretrained(name).encode(EVERY_SCRIPT)

    assert len(ids) == count
    assert ids[: len(first_ids)] == first_ids


def without_markers(name: str, text: str) -> str:
    """Remove what is a special token here and a symbol there."""
    for marker in TABLES[name].special_tokens:
        text = text.replace(marker, "")
    return text


@pytest.mark.parametrize("name", TABLES)
@a_few
@given(text=texts)
def test_ids_are_sentencepieces(name: str, text: str) -> None:
    text = without_markers(name, text)
    if any(marker in text for marker in TABLES[name].special_tokens):
        return  # removing one made another

    assert load_pretrained(name).encode(text) == open_sentencepiece(name).encode(whole_characters(text))


@pytest.mark.parametrize("name", TABLES)
def test_ids_are_sentencepieces_in_seventy_languages(name: str) -> None:
    processor, tokenizer = open_sentencepiece(name), load_pretrained(name)
    for language in udhr_languages():
        text = "\n".join(load_udhr(language.code))
        assert tokenizer.encode(text) == processor.encode(text), language.code


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("special", ["text", "special"])
@a_few
@given(text=texts)
def test_history_is_the_original_text(name: str, special: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    whole = whole_characters(text)
    history = tokenizer.history(text, special=special)
    ids = tokenizer.encode(text, special=special)

    assert history.text == whole.encode()
    assert history.final_ids.tolist() == ids
    assert b"".join(history.tokens(0)) == whole.encode()
    assert history.num_tokens.tolist() == [len(ids)]
    assert np.all(history.lifetimes == NEVER)
    for token, token_id in zip(history.tokens(0), ids, strict=True):
        name_of_it = tokenizer.token_bytes(token_id)
        assert token in (name_of_it, name_of_it.removeprefix(b" ")) or SPACE_MARK.encode() in token


@pytest.mark.parametrize("name", TABLES)
@a_few
@given(text=texts)
def test_decoding_gives_back_the_text_with_spaces_for_marks(name: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    expected = whole_characters(text).replace(SPACE_MARK, " ")

    assert tokenizer.decode(tokenizer.encode(text)) == expected
    assert tokenizer.decode(tokenizer.encode(text, special="special")) == expected


def test_added_space_covers_no_byte() -> None:
    llama2 = load_pretrained("llama2")
    history = llama2.history("10")

    assert [llama2.token_name(token_id) for token_id in history.final_ids] == ["▁", "1", "0"]
    assert history.tokens(0) == [b"", b"1", b"0"]
    assert llama2.history("Hi").tokens(0) == [b"Hi"]
    assert llama2.changes("Hi") == [Change(0, 0, "", " ", "added")]
    assert load_pretrained("gemma2").changes("Hi") == []


def test_space_mark_in_the_text_is_taken_for_a_space() -> None:
    gemma2 = load_pretrained("gemma2")

    assert gemma2.encode("a▁b") == gemma2.encode("a b")
    assert gemma2.history("a▁b").tokens(0) == [b"a", "▁b".encode()]
    assert gemma2.changes("a▁b") == [Change(1, 4, "▁", " ", "replaced")]


def test_character_without_a_piece_is_its_bytes() -> None:
    llama2 = load_pretrained("llama2")
    ids = llama2.encode("😉")

    assert [llama2.token_name(token_id) for token_id in ids] == ["▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x89>"]
    assert llama2.history("😉").tokens(0) == [b"", b"\xf0", b"\x9f", b"\x98", b"\x89"]
    assert llama2.unknown_share("😉") == 0


@pytest.mark.parametrize(
    ("name", "text", "pieces"),
    [
        ("gemma2", "<h1>Hi</h1>", ["<h1>", "Hi", "</h1>"]),
        ("gemma2", "a<<b>>[toxicity=0]", ["a", "<", "<b>", ">", "[toxicity=0]"]),
        ("gemma3", "<div>\n\n\n[multimodal]", ["<div>", "\n\n\n", "[multimodal]"]),
        ("gemma2", "<start_of_turn>", ["<", "start", "_", "of", "_", "turn", ">"]),
    ],
)
def test_symbols_are_found_in_any_text_and_special_tokens_are_not(name: str, text: str, pieces: list[str]) -> None:
    tokenizer = load_pretrained(name)

    assert [tokenizer.token_name(token_id) for token_id in tokenizer.encode(text)] == pieces


def test_special_tokens_when_asked_for() -> None:
    llama2, gemma3 = load_pretrained("llama2"), load_pretrained("gemma3")

    assert llama2.encode("<s>Hello", special="special") == [1, 15043]
    assert llama2.decode([1, 15043]) == "<s>Hello"
    assert gemma3.encode("<start_of_turn>Hello", special="special") == [105, 9259]
    assert gemma3.history("a<bos>", special="special").tokens(0) == [b"a", b"<bos>"]
    with pytest.raises(SpecialTokenError, match="<s> at character 1"):
        llama2.encode("a<s>", special="reject")


@pytest.mark.parametrize("name", TABLES)
def test_no_merges_and_every_token_named(name: str) -> None:
    tokenizer = load_pretrained(name)
    names = tokenizer.base_names()

    assert isinstance(tokenizer, PieceTokenizer)
    assert tokenizer.num_merges == 0
    assert len(tokenizer.merge_rows().rank) == 0
    assert list(names) == list(range(TABLES[name].vocab_size))
    package = splintr.Tokenizer.from_pretrained(TABLES[name].key)
    special = set(tokenizer.special_tokens.values())
    for token_id in range(0, tokenizer.vocab_size, 101):
        if token_id not in special:
            assert names[token_id] == tokenizer.token_bytes(token_id) == package.decode_token_bytes(token_id)
    with pytest.raises(TokenIdError, match=f"from 0 to {tokenizer.vocab_size - 1:,}, but is -1"):
        tokenizer.decode([5, -1])


def test_empty_text() -> None:
    for name in TABLES:
        tokenizer = load_pretrained(name)
        assert tokenizer.encode("") == tokenizer.history("").final_ids.tolist() == []
        assert tokenizer.history("").num_tokens.tolist() == [0]
        assert tokenizer.changes("") == []
        assert tokenizer.decode([]) == ""


@pytest.mark.parametrize(
    ("name", "char", "count"),
    [
        *((name, char, 100_000) for name in TABLES for char in "a \n안"),
        ("llama2", "a", 1_000_000),  # with a space in front
        ("gemma2", "안", 1_000_000),  # without one, with symbols
    ],
)
def test_long_runs(name: str, char: str, count: int) -> None:
    tokenizer = load_pretrained(name)
    history = tokenizer.history(char * count)

    assert history.num_tokens[-1] == len(history.final_ids)
    assert tokenizer.decode(history.final_ids.tolist()) == char * count
