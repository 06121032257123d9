"""Files that are only read: SentencePiece models and BERT's vocab.txt, held to the libraries that own them."""

from __future__ import annotations

import io
from functools import cache
from itertools import product

import pytest
import sentencepiece
from format_cases import CORPUS
from sentencepiece.sentencepiece_model_pb2 import ModelProto
from tokenizers.implementations import BertWordPieceTokenizer

from bpe.byte_axis import place_tokens
from bpe.errors import FormatError
from bpe.formats import FORMATS, PROBE_TEXT, READABLE_FORMATS, load_tokenizer, recognise_format
from bpe.hub_tokenizer import HubTokenizer
from bpe.model_tokenizer import ModelTokenizer
from bpe.normalizing import whole_characters

TEXTS = [
    "",
    " ",
    "low lower, lowest",
    "  10 ﬁsh  and\n\n👍🏽 naïve cafe\u0301 ",
    "The CAT [UNK] <s> </s> <unk> [SEP]",
    "a\u2581b \u2581",
    *PROBE_TEXT.splitlines(keepends=True),
    PROBE_TEXT,
]


# ---------------------------------------------------------------------------------------------- sentencepiece


@cache
def trained_model(**options) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS.splitlines()),
        model_writer=written,
        hard_vocab_limit=False,
        minloglevel=2,
        **{"vocab_size": 330 if options.get("byte_fallback") else 70, **options},
    )
    return written.getvalue()


CASES = [
    {"model_type": model_type, "byte_fallback": byte_fallback, "add_dummy_prefix": prefix, **handling}
    for model_type, byte_fallback, prefix, handling in product(
        ("unigram", "bpe"),
        (False, True),
        (False, True),
        (
            {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},  # Llama
            {"normalization_rule_name": "nmt_nfkc_cf", "pad_id": 0, "unk_id": 2, "bos_id": -1, "eos_id": 1},  # ALBERT
        ),
    )
]


@pytest.mark.parametrize("options", CASES, ids=lambda options: " ".join(map(str, options.values())))
def test_a_model_has_the_ids_of_sentencepiece(options):
    data = trained_model(**options)
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    tokenizer = load_tokenizer({"spiece.model": data})
    assert isinstance(tokenizer, ModelTokenizer)
    assert tokenizer.vocab_size == peer.vocab_size()
    for text in TEXTS:
        ids = tokenizer.encode(text)
        assert ids == peer.encode(text), text
        assert [tokenizer.token_name(token_id) for token_id in ids] == [peer.id_to_piece(token_id) for token_id in ids]
        assert tokenizer.unknown_share(text) == (ids.count(peer.unk_id()) / len(ids) if ids else 0)
        history = tokenizer.history(text)
        assert history.final_ids.tolist() == ids
        assert place_tokens(tokenizer, text).num_tokens == len(ids)
        if ids:
            assert history.text == text.encode()


@pytest.mark.parametrize("options", CASES, ids=lambda options: " ".join(map(str, options.values())))
def test_what_changed_is_what_sentencepiece_normalizes(options):
    data = trained_model(**options)
    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    tokenizer = load_tokenizer(data)
    for text in TEXTS:
        units = tokenizer._units(text)
        assert "".join(before for before, _after in units) == text
        assert "".join(after for _before, after in units) == peer.normalize(text).replace("\u2581", " ")


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("adds_space", [False, True])
def test_bytes_stand_for_what_is_unknown_and_decode_gives_the_text_back(model_type, adds_space):
    data = trained_model(
        model_type=model_type,
        byte_fallback=True,
        add_dummy_prefix=adds_space,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )
    tokenizer = load_tokenizer(data)
    assert tokenizer.adds_space == adds_space
    assert tokenizer.token_bytes(tokenizer.encode("low 👍")[-1]) == "👍".encode()[-1:]
    assert [change.what for change in tokenizer.changes("low 👍")] == ["added"] * adds_space
    for text in TEXTS:
        if "\u2581" not in text:
            assert tokenizer.decode(tokenizer.encode(text)) == text
    # Every token covers its own bytes, but for the space in front, which covers none.
    text = "low 👍 ﬁsh  lower"
    for token_id, token in zip(tokenizer.encode(text), tokenizer.history(text).tokens(0), strict=True):
        assert tokenizer.token_bytes(token_id).lstrip() == token.lstrip()


def test_special_tokens_of_a_model_count_when_they_are_asked_for():
    tokenizer = load_tokenizer(trained_model(model_type="bpe"))
    assert tokenizer.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert 1 not in tokenizer.encode("<s>low")
    assert tokenizer.encode("<s>low", special="special") == [1, *tokenizer.encode("low")]


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.9])
def test_a_cut_model_is_refused_by_where_it_ends(share):
    data = trained_model(model_type="unigram")
    cut = data[: int(len(data) * share)]
    with pytest.raises(FormatError, match=r"^spiece.model must go on .* the file is cut, get it again"):
        load_tokenizer({"spiece.model": cut})


def test_no_cut_of_a_model_is_read_as_a_smaller_one():
    data = trained_model(model_type="unigram", normalization_rule_name="identity")  # small: no table of characters
    specs = ModelProto.FromString(data)
    end_of_normalizer = data.index(specs.normalizer_spec.SerializeToString()) + specs.normalizer_spec.ByteSize()
    for end in range(1, end_of_normalizer):
        with pytest.raises(FormatError):
            load_tokenizer({"spiece.model": data[:end]})


@pytest.mark.parametrize(
    ("lost", "sentence"),
    [
        (("trainer_spec", "normalizer_spec"), r"must hold the training of a sentencepiece model \(field 2\)"),
        (("normalizer_spec",), r"must hold the normalization of a sentencepiece model \(field 3\)"),
    ],
)
def test_a_model_cut_between_two_parts_is_refused(lost, sentence):
    model = ModelProto.FromString(trained_model(model_type="bpe"))
    for name in (*lost, "denormalizer_spec"):
        model.ClearField(name)
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"spiece.model": model.SerializeToString()})


def altered_model(change, **options) -> bytes:
    model = ModelProto.FromString(trained_model(**options))
    change(model)
    return model.SerializeToString()


def swap_bytes(model: ModelProto) -> None:
    first = next(i for i, piece in enumerate(model.pieces) if piece.piece == "<0x00>")
    model.pieces[first].piece, model.pieces[first + 1].piece = "<0x01>", "<0x00>"


def repeat_piece(model: ModelProto) -> None:
    model.pieces[-1].piece = model.pieces[-2].piece


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (altered_model(repeat_piece, model_type="bpe"), "must be a model that sentencepiece can load, but it answers"),
        (
            altered_model(swap_bytes, model_type="bpe", byte_fallback=True),
            "must have its 256 pieces for bytes in order",
        ),
        (trained_model(model_type="bpe", treat_whitespace_as_suffix=True), "must write spaces as .* in front of words"),
        (
            trained_model(model_type="bpe").replace(b"<unk>", b"<\xffnk>", 1),
            "must hold its pieces as UTF-8, but one is",
        ),
        (trained_model(model_type="unigram")[:200] + b"\x00" * 99, "may be altered|is cut"),
    ],
)
def test_a_model_of_another_make_is_refused(data, sentence):
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"spiece.model": data})


# ---------------------------------------------------------------------------------------------- vocab.txt


@cache
def trained_vocabulary(*, lower_cased: bool) -> bytes:
    trained = BertWordPieceTokenizer(lowercase=lower_cased)
    trained.train_from_iterator([CORPUS, CORPUS.upper()], vocab_size=160, min_frequency=1, show_progress=False)
    ids = trained.get_vocab()
    return "".join(f"{token}\n" for token in sorted(ids, key=ids.__getitem__)).encode()


def library_of(data: bytes, path, *, lower_cased: bool) -> BertWordPieceTokenizer:
    path.write_bytes(data)
    return BertWordPieceTokenizer(str(path), lowercase=lower_cased)


@pytest.mark.parametrize("lower_cased", [True, False])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_a_vocabulary_has_the_ids_of_tokenizers(tmp_path, lower_cased, line_end):
    data = trained_vocabulary(lower_cased=lower_cased).replace(b"\n", line_end)
    peer = library_of(data, tmp_path / "vocab.txt", lower_cased=lower_cased)
    peer._tokenizer.encode_special_tokens = True  # here special tokens in a text are text, until they are asked for
    tokenizer = load_tokenizer(tmp_path / "vocab.txt")
    assert isinstance(tokenizer, HubTokenizer)
    assert tokenizer.vocab_size == peer.get_vocab_size()
    for text in map(whole_characters, TEXTS):
        ids = tokenizer.encode(text)
        assert ids == peer.encode(text, add_special_tokens=False).ids, text
        assert tokenizer.history(text).final_ids.tolist() == ids
        assert place_tokens(tokenizer, text).num_tokens == len(ids)


def test_the_vocabulary_decides_whether_text_is_lower_cased():
    cased = load_tokenizer(trained_vocabulary(lower_cased=False))
    uncased = load_tokenizer(trained_vocabulary(lower_cased=True))
    assert cased.changes("The naïve") == []
    assert [change.what for change in uncased.changes("The naïve")] == ["lower-cased", "accents dropped"]
    assert uncased.encode("THE") == uncased.encode("the")
    assert cased.encode("THE") != cased.encode("the")


def test_special_tokens_of_a_vocabulary_count_when_they_are_asked_for():
    tokenizer = load_tokenizer(trained_vocabulary(lower_cased=True))
    assert tokenizer.special_tokens == {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
    assert 3 not in tokenizer.encode("low [SEP]")
    assert tokenizer.encode("low [SEP]", special="special") == [*tokenizer.encode("low"), 3]
    assert tokenizer.encode("👍") == [tokenizer.unknown_id]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"[PAD]\n[UNK]\nlow\n##e", r"must end with a line break behind its last token, but ends with .*##e'"),
        (b"[PAD]\n[UNK]\nlow\n\xc3", "must end with a line break"),
        (b"[PAD]\n[UNK]\n\xc3\n", r"byte 0xC3 at offset 12 \(line 3\) is not"),
        (b"[PAD]\n[UNK]\n\nlow\n", "line 3 must be one token without white space, but is ''"),
        (b"Read me\n[UNK]\nis a line.\n", "line 1 must be one token without white space, but is 'Read me'"),
        (b"[PAD]\n[UNK]\nlow\nlow\n", "line 4 must be a token of its own, but 'low' is on line 3 already"),
        (b"[PAD]\n[CLS]\nlow\n", r"must be one of .*, vocab.txt of BERT, but starts with"),
    ],
)
def test_a_damaged_vocabulary_is_refused_by_its_line(data, sentence):
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"vocab.txt": data})


# ---------------------------------------------------------------------------------------------- both


def test_both_are_recognised_whatever_their_name():
    assert recognise_format({"x.json": trained_model(model_type="bpe")}) == "sentencepiece"
    assert recognise_format({"x.model": trained_vocabulary(lower_cased=True)}) == "vocab-txt"
    with pytest.raises(FormatError, match="are parts of different formats"):
        recognise_format({"a": trained_model(model_type="bpe"), "b": trained_vocabulary(lower_cased=True)})


def test_formats_that_are_only_read_are_not_offered_for_writing():
    assert READABLE_FORMATS.keys() - FORMATS.keys() == {"sentencepiece", "vocab-txt"}
