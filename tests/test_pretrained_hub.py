"""BERT and XLM-R: equal to the libraries that own them, in bytes of the original text, honest about what they change.

The tokenizer of `tokenizers` that reads XLM-R as well is HubTokenizer's other kind: with a space in front of a text.
"""

import functools
import unicodedata

import numpy as np
import pytest
import sentencepiece
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from bpe.errors import SpecialTokenError, TokenIdError
from bpe.hub_tokenizer import HubTokenizer, cuts_of_spans
from bpe.lifetimes import NEVER
from bpe.mergeless import SPACE_MARK
from bpe.model_tokenizer import ModelTokenizer
from bpe.normalizing import Change, whole_characters, write_out_added
from bpe.pretrained import load_pretrained, pretrained_info
from bpe.samples import load_udhr, udhr_languages
from bpe.vocabularies.pieces import load_bert, load_xlmr

NAMES = ("bert-uncased", "xlm-r")
EVERY_SCRIPT = "Hello world! strawberry  strawberry 1234567890 안녕하세요 नमस्ते"
FRAGMENTS = (
    "the", "The", " ", "  ", "\n", "\t", "\u3000", "\u00a0", "ing", "1", "12345", "É", "e\u0301", "\u0301", "日本",
    "カナ", "안녕", "😉", "👩‍👩‍👧", "\u200d", "\u200b", "\u00ad", "\x00", "\x01", "\ufffd", "ﬁ", "½", "㎞", "ﷺ", "ß",
    "İ", "नमस्ते", ".", "'s", "##", "▁", "[CLS]", "[MASK]", "<s>", "<mask>", "\ud83d",
)  # fmt: skip
texts = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(FRAGMENTS), max_size=20).map("".join))
a_few = settings(max_examples=40)
"""For properties that are tried with every tokenizer: there are many of these, and their code is shared."""


@functools.cache
def open_tokenizers(name: str) -> tokenizers.Tokenizer:
    """Build what the models' own tokenizer.json files hold, without special tokens, from the data alone."""
    if name == "bert-uncased":
        ids = {token: token_id for token_id, token in enumerate(load_bert())}
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(ids, unk_token="[UNK]"))
        tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        return tokenizer
    model = load_xlmr()
    special = set(pretrained_info(name).special_tokens.values())
    pieces = [f"\n{piece}" if i in special else piece for i, piece in enumerate(model.pieces)]
    scored = list(zip(pieces, model.scores.tolist(), strict=True))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(scored, unk_id=3))
    tokenizer.normalizer = tokenizers.normalizers.Precompiled(model.charsmap)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [tokenizers.pre_tokenizers.WhitespaceSplit(), tokenizers.pre_tokenizers.Metaspace()]
    )
    tokenizer.decoder = tokenizers.decoders.Metaspace()
    return tokenizer


@functools.cache
def open_sentencepiece() -> sentencepiece.SentencePieceProcessor:
    """Build XLM-R's model file with the classes of the protobuf library, not with the code under test."""
    vocabulary = load_xlmr()
    kinds = sentencepiece_model_pb2.ModelProto.SentencePiece
    model = sentencepiece_model_pb2.ModelProto()
    special = {0: kinds.CONTROL, 1: kinds.CONTROL, 2: kinds.CONTROL, 3: kinds.UNKNOWN, 250_001: kinds.CONTROL}
    for token_id, (text, score) in enumerate(zip(vocabulary.pieces, vocabulary.scores.tolist(), strict=True)):
        piece = model.pieces.add(piece=text, score=score)
        piece.type = special.get(token_id, kinds.NORMAL)
    model.trainer_spec.model_type = 1
    model.trainer_spec.unk_id, model.trainer_spec.bos_id = 3, 0
    model.trainer_spec.eos_id, model.trainer_spec.pad_id = 2, 1
    model.normalizer_spec.precompiled_charsmap = vocabulary.charsmap
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(model.SerializeToString())
    return processor


@pytest.mark.parametrize(
    ("name", "count", "first_ids"),
    [("bert-uncased", 27, [7592, 2088, 999]), ("xlm-r", 16, [35378, 8999, 38])],
)
def test_first_ids(name: str, count: int, first_ids: list[int]) -> None:
    ids = load_pretrained(name).encode(EVERY_SCRIPT)

    assert len(ids) == count
    assert ids[: len(first_ids)] == first_ids


@given(text=texts)
def test_ids_of_bert_are_tokenizers(text: str) -> None:
    expected = open_tokenizers("bert-uncased").encode(whole_characters(text), add_special_tokens=False).ids

    assert load_pretrained("bert-uncased").encode(text) == expected


@given(text=texts)
def test_ids_of_xlmr_are_sentencepieces(text: str) -> None:
    assert load_pretrained("xlm-r").encode(text) == open_sentencepiece().encode(whole_characters(text))


def test_xlmr_is_sentencepieces_and_tokenizers_in_seventy_languages() -> None:
    xlmr, model, hub = load_pretrained("xlm-r"), open_sentencepiece(), open_tokenizers("xlm-r")
    for language in udhr_languages():
        paragraphs = list(load_udhr(language.code)[:12])
        ids = [xlmr.encode(paragraph) for paragraph in paragraphs]
        of_hub = [encoding.ids for encoding in hub.encode_batch(paragraphs, add_special_tokens=False)]
        assert ids == model.encode(paragraphs) == of_hub, language.code


@pytest.mark.parametrize(
    ("text", "after", "in_tokenizers"),
    [
        ("e\u0301\u0302", "é\u0302", "é"),  # a mark that has no precomposed letter stays
        ("½\u0301", "1\u20442\u0301", "1\u20442"),
        ("\uff76\uff9e", "ガ", "カ\u3099"),  # half-width kana with a voiced sound mark are one letter in NFKC
        ("\u1112\u1161\u11ab", "한", "\u1112\u1161\u11ab"),
    ],
)
def test_where_tokenizers_normalizes_otherwise_sentencepiece_counts(text: str, after: str, in_tokenizers: str) -> None:
    xlmr = load_pretrained("xlm-r")

    assert xlmr.decode(xlmr.encode(f"x {text}")) == f"x {after}"
    assert open_tokenizers("xlm-r").normalizer.normalize_str(text) == in_tokenizers


# ---------------------------------------------------------------------- histories


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("special", ["text", "special"])
@a_few
@given(text=texts)
def test_history_is_the_original_text(name: str, special: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    whole = whole_characters(text).encode()
    ids = tokenizer.encode(text, special=special)
    history = tokenizer.history(text, special=special)

    assert history.final_ids.tolist() == ids
    assert history.num_tokens.tolist() == [len(ids)]
    assert history.text == b"".join(history.tokens(0)) == (whole if ids else b"")
    assert np.all(np.diff(history.offsets) >= 0)
    assert len(history.byte_lifetimes()) == max(len(history.text) - 1, 0)


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("bert-uncased", "  Café, naïve\n", ["  Café", ",", " naïve\n"]),
        ("bert-uncased", "unaffable", ["una", "ffa", "ble"]),
        ("bert-uncased", "日本 x", ["日", "本", " x"]),
        ("bert-uncased", "a\x00\x01b", ["a\x00\x01b"]),
        ("xlm-r", "Hello  world ", ["Hello", "  world "]),
        ("xlm-r", "日本語", ["", "日本語"]),
        ("xlm-r", " 日本語", [" ", "日本語"]),
        ("xlm-r", "ﬁsh ㎞h", ["ﬁsh", " ㎞", "h"]),
        ("xlm-r", "a ꙮꙮ b", ["a", " ", "ꙮꙮ", " b"]),
    ],
)
def test_tokens_are_shown_as_the_original_has_them(name: str, text: str, shown: list[str]) -> None:
    history = load_pretrained(name).history(text)

    assert [token.decode() for token in history.tokens(0)] == shown


def test_tokens_of_one_character_divide_its_bytes() -> None:
    bert, xlmr = load_pretrained("bert-uncased"), load_pretrained("xlm-r")

    assert [bert.token_name(token_id) for token_id in bert.encode("안")] == ["ᄋ", "##ᅡ", "##ᆫ"]
    assert bert.history("안").tokens(0) == [b"\xec", b"\x95", b"\x88"]
    # U+FDFA becomes four words: more tokens than the three bytes it has.
    assert xlmr.history("ﷺ").tokens(0) == [b"", b"\xef", b"\xb7", b"\xba"]
    # Behind a letter there are five, and none of them shares it.
    assert xlmr.history("aﷺ").tokens(0) == [b"a", b"", b"\xef", b"\xb7", b"\xba"]


@given(
    spans=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=8),
    text=st.text("a안😉 ", min_size=6, max_size=6),
)
def test_cuts_rise_and_end_with_the_text(spans: list[tuple[int, int]], text: str) -> None:
    cuts = cuts_of_spans([(min(span), max(span)) for span in sorted(spans)], text)

    assert len(cuts) == len(spans)
    assert np.all(np.diff(cuts) >= 0)
    assert cuts[-1] == len(text.encode())
    assert cuts[0] >= 0


def test_more_tokens_than_bytes_leave_the_first_ones_empty() -> None:
    assert cuts_of_spans([(0, 1)] * 5, "안").tolist() == [0, 0, 1, 2, 3]
    assert cuts_of_spans([(0, 2), (0, 2), (2, 3)], "ab c").tolist() == [1, 2, 4]


@pytest.mark.parametrize("name", NAMES)
@a_few
@given(text=texts)
def test_written_out_every_token_has_bytes(name: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    history = tokenizer.history(text)
    drawn = write_out_added(history, tokenizer.token_bytes)

    assert all(drawn.tokens(0))
    assert drawn.num_tokens.tolist() == history.num_tokens.tolist()
    assert np.count_nonzero(drawn.byte_lifetimes() == NEVER) == max(len(drawn.final_ids) - 1, 0)
    drawn.text.decode()  # what is written in never lies inside a character


def test_cuts_of_no_tokens() -> None:
    assert cuts_of_spans([], "  ").tolist() == []


# ---------------------------------------------------------------------- what is changed


def test_what_bert_changes() -> None:
    assert load_pretrained("bert-uncased").changes(" Café\tÀ la\x01  日") == [
        Change(0, 1, " ", "", "dropped"),
        Change(1, 2, "C", "c", "lower-cased"),
        Change(4, 6, "é", "e", "accents dropped"),
        Change(6, 7, "\t", " ", "white space"),
        Change(7, 9, "À", "a", "lower-cased, accents dropped"),
        Change(12, 13, "\x01", "", "dropped"),
        Change(13, 15, "  ", " ", "white space"),
    ]


def test_what_xlmr_changes() -> None:
    assert load_pretrained("xlm-r").changes("ﬁ  ㎞ ") == [
        Change(0, 0, "", " ", "added"),
        Change(0, 3, "ﬁ", "fi", "NFKC"),
        Change(3, 5, "  ", " ", "white space"),
        Change(5, 8, "㎞", "km", "NFKC"),
        Change(8, 9, " ", "", "dropped"),
    ]


@pytest.mark.parametrize("name", NAMES)
@a_few
@given(text=texts)
def test_changes_lie_in_the_text_one_after_the_other(name: str, text: str) -> None:
    whole = whole_characters(text).encode()
    changes = load_pretrained(name).changes(text)

    for change in changes:
        assert whole[change.start : change.end] == change.before.encode()
        assert change.before != change.after
    assert [change.start for change in changes] == sorted(change.start for change in changes)


@given(text=texts)
def test_changes_of_xlmr_make_the_normalized_text(text: str) -> None:
    whole = whole_characters(text).encode()
    normalized, at = b"", 0
    for change in load_pretrained("xlm-r").changes(text):
        normalized += whole[at : change.start] + change.after.encode()
        at = change.end
    normalized += whole[at:]

    assert normalized.decode() == open_sentencepiece().normalize(whole.decode()).replace(SPACE_MARK, " ")


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (" x", []),  # the space in front is there already
        ("  x", [Change(0, 2, "  ", " ", "white space")]),
        (" ", [Change(0, 1, " ", "", "dropped")]),
        ("\x01a", [Change(0, 0, "", " ", "added"), Change(0, 1, "\x01", "", "dropped")]),
        ("a\x01b", [Change(0, 0, "", " ", "added"), Change(1, 2, "\x01", "", "dropped")]),
    ],
)
def test_what_xlmr_adds_and_drops(text: str, changes: list[Change]) -> None:
    assert load_pretrained("xlm-r").changes(text) == changes


@pytest.mark.parametrize("name", NAMES)
def test_normalized_text_changes_nothing_but_the_space_in_front(name: str) -> None:
    added = [Change(0, 0, "", " ", "added")] if name == "xlm-r" else []

    assert load_pretrained(name).changes("plain words 日本") == added


def test_hangul_is_decomposed_by_bert_and_loses_no_accent() -> None:
    (change,) = load_pretrained("bert-uncased").changes("안녕")

    assert (change.before, change.what) == ("안녕", "decomposed (NFD)")
    assert change.after == unicodedata.normalize("NFD", "안녕")


def test_share_of_unknown_tokens() -> None:
    bert, xlmr = load_pretrained("bert-uncased"), load_pretrained("xlm-r")

    assert bert.unknown_id == bert.encode("😉")[0] == 100
    assert bert.unknown_share("a 😉 b ꙮ") == 0.5
    assert xlmr.unknown_id == 3
    assert xlmr.unknown_share("a ꙮ") == pytest.approx(1 / 3)
    assert bert.unknown_share("") == bert.unknown_share(" ") == 0


# ---------------------------------------------------------------------- tokens


@pytest.mark.parametrize(
    ("name", "text", "decoded"),
    [
        ("bert-uncased", "Hello,  World!", "hello, world!"),
        ("bert-uncased", "Tokenizing", "tokenizing"),
        ("xlm-r", " Hello,\n World! ", "Hello, World!"),
        ("xlm-r", "ﬁsh", "fish"),
        ("xlm-r", "a ꙮ b", "a <unk> b"),
    ],
)
def test_decoding_gives_the_normalized_text(name: str, text: str, decoded: str) -> None:
    tokenizer = load_pretrained(name)

    assert tokenizer.decode(tokenizer.encode(text)) == decoded


def test_special_tokens_are_text_unless_asked_for() -> None:
    bert, xlmr = load_pretrained("bert-uncased"), load_pretrained("xlm-r")

    assert [bert.token_name(token_id) for token_id in bert.encode("[MASK]")] == ["[", "mask", "]"]
    assert bert.encode("a [MASK]", special="special") == [1037, 103]
    assert [xlmr.token_name(token_id) for token_id in xlmr.encode("<s>")] == ["▁<", "s", ">"]
    assert xlmr.encode("<mask>", special="special") == [250_001]
    assert xlmr.history("a<mask>b", special="special").tokens(0) == [b"a", b"<mask>", b"b"]
    assert xlmr.decode(xlmr.encode("a<mask>b", special="special")) == "a<mask>b"
    with pytest.raises(SpecialTokenError, match=r"\[SEP\] at character 2"):
        bert.encode("a [SEP]", special="reject")


@pytest.mark.parametrize(
    ("name", "kind", "piece", "token_id"),
    [("bert-uncased", HubTokenizer, "##ing", 2075), ("xlm-r", ModelTokenizer, "▁world", 8999)],
)
def test_names_and_bytes_of_tokens(name: str, kind: type, piece: str, token_id: int) -> None:
    tokenizer = load_pretrained(name)
    names = tokenizer.base_names()

    assert isinstance(tokenizer, kind)
    assert tokenizer.token_name(token_id) == piece
    assert tokenizer.token_bytes(token_id) == names[token_id] == piece.replace("▁", " ").encode()
    assert len(names) == tokenizer.vocab_size
    assert tokenizer.num_merges == len(tokenizer.merge_rows().rank) == 0
    with pytest.raises(TokenIdError, match=f"from 0 to {tokenizer.vocab_size - 1:,}"):
        tokenizer.token_name(tokenizer.vocab_size)


# ---------------------------------------------------------------------- through `tokenizers`, with a space in front


@functools.cache
def hub_xlmr() -> HubTokenizer:
    tokenizer = open_tokenizers("xlm-r")
    return HubTokenizer(
        "XLM-R through tokenizers",
        load_xlmr().pieces,
        tokenizer,
        special_tokens={"<mask>": 250_001},
        unknown_id=3,
        normalize=tokenizer.normalizer.normalize_str,
        adds_space=True,
    )


@pytest.mark.parametrize(
    "text", ["Hello  world ", " 日本語", "ﬁsh ㎞h", "ﷺ", "a ꙮꙮ b", "", " ", "a<mask>b", "일 1,234.5"]
)
def test_hub_tokenizer_of_xlmr_cuts_alike(text: str) -> None:
    hub, xlmr = hub_xlmr().history(text, special="special"), load_pretrained("xlm-r").history(text, special="special")

    assert hub.final_ids.tolist() == xlmr.final_ids.tolist()
    assert hub.tokens(0) == xlmr.tokens(0)
    assert hub_xlmr().changes("ﬁ x") == load_pretrained("xlm-r").changes("ﬁ x")
    assert hub_xlmr().decode([35378, 8999]) == "Hello world"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["a" * 1_000_000, " " * 1_000_000, "안" * 100_000])
def test_long_runs(name: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    history = tokenizer.history(text)

    assert history.num_tokens[-1] == len(history.final_ids) == len(tokenizer.encode(text))
