"""The four exports, read by the programs that own them: equal ids on every corpus that ships with the project.

Each corpus whole, or its first, middle and last part where it is long: at least 20 kB of it, if it has so much.
tiktoken and `tokenizers` (twice: tokenizer.json, vocab.json with merges.txt) read the files as they document it; minbpe
has no package, so the file is read and encoded by its own rule, written out here.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest
import regex
import tiktoken
import tokenizers

from bpe import Tokenizer, TrainSettings, train
from bpe.formats import save_tokenizer
from bpe.samples import list_samples, load_sample

PART_BYTES = 10_000
CORPORA = [sample.name for sample in list_samples() if sample.kind != "words"]

Encode = Callable[[str], list[int]]


@cache
def tokenizer() -> Tokenizer:
    """Trained on a piece of every corpus, so that each script has merges; GPT-2's pattern, which all four hold."""
    text = "\n".join(load_sample(name)[:1_500] for name in CORPORA)
    return train(text, TrainSettings(split="gpt2", num_merges=1_500)).tokenizer


def excerpt(name: str) -> str:
    data = load_sample(name).encode()
    if len(data) <= 3 * PART_BYTES:
        return data.decode()
    middle = len(data) // 2
    parts = (data[:PART_BYTES], data[middle : middle + PART_BYTES], data[-PART_BYTES:])
    return "\n".join(part.decode(errors="ignore") for part in parts)


# ---------------------------------------------------------------------------------------------- the owners


def by_tiktoken() -> Encode:
    files = save_tokenizer(tokenizer(), "tiktoken")
    ranks, settings = files["tokenizer.tiktoken"], json.loads(files["tokenizer.tiktoken.json"])
    table = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in ranks.splitlines())}
    return tiktoken.Encoding(mergeable_ranks=table, **settings).encode_ordinary


def by_tokenizer_json() -> Encode:
    (data,) = save_tokenizer(tokenizer(), "tokenizer-json").values()
    loaded = tokenizers.Tokenizer.from_str(data.decode())
    return lambda text: loaded.encode(text, add_special_tokens=False).ids


def by_vocab_and_merges() -> Encode:
    files = save_tokenizer(tokenizer(), "vocab-merges")
    merges = [tuple(line.split(" ")) for line in files["merges.txt"].decode().split("\n")[1:-1]]
    loaded = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=json.loads(files["vocab.json"]), merges=merges))
    loaded.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    return lambda text: loaded.encode(text, add_special_tokens=False).ids


def by_minbpe() -> Encode:
    """Read as minbpe/base.py does; encode a chunk as `RegexTokenizer._encode_chunk`: the lowest merge, everywhere."""
    (data,) = save_tokenizer(tokenizer(), "minbpe").values()
    lines = data.decode().split("\n")
    assert lines[0] == "minbpe v1"
    pattern, num_special = regex.compile(lines[1]), int(lines[2])
    merges = {}
    for line in lines[3 + num_special : -1]:
        left, right = map(int, line.split())
        merges[left, right] = 256 + len(merges)

    @cache
    def encode_chunk(chunk: bytes) -> list[int]:
        ids = list(chunk)
        while len(ids) >= 2:
            pair = min(pairwise(ids), key=lambda pair: merges.get(pair, float("inf")))
            if pair not in merges:
                break
            merged, i = [], 0
            while i < len(ids):
                is_pair = i < len(ids) - 1 and (ids[i], ids[i + 1]) == pair
                merged.append(merges[pair] if is_pair else ids[i])
                i += 2 if is_pair else 1
            ids = merged
        return ids

    return lambda text: [token for chunk in pattern.findall(text) for token in encode_chunk(chunk.encode())]


OWNERS = {
    "tiktoken": by_tiktoken,
    "tokenizer.json": by_tokenizer_json,
    "vocab.json + merges.txt": by_vocab_and_merges,
    "minbpe": by_minbpe,
}


# ---------------------------------------------------------------------------------------------- equal ids


@pytest.mark.parametrize("owner", OWNERS)
def test_every_corpus_has_the_same_ids_there(owner):
    encode = OWNERS[owner]()
    for name in CORPORA:
        text = excerpt(name)
        ids = tokenizer().encode(text)
        assert encode(text) == ids, name
        assert max(ids) >= 256, f"no merge acts on {name}: this would compare bytes"


def test_excerpts_are_as_long_as_they_are_said_to_be():
    for name in CORPORA:
        num_bytes = len(load_sample(name).encode())
        assert len(excerpt(name).encode()) >= min(num_bytes, 20_000), name
