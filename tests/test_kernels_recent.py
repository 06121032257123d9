"""Only the compiled encoders that were used last are kept, whoever asks, and ids stay the same."""

from __future__ import annotations

import pytest

from bpe.kernels import load, recent
from bpe.pretrained import load_pretrained
from bpe.samples import load_sample

NAMES = ("gpt2", "p50k_base", "cl100k_base", "o200k_base")
TEXT = load_sample("kjv-genesis")[:40_000]


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    load("encode")
    monkeypatch.setattr(recent, "_kept", type(recent._kept)())


def test_no_more_than_three_are_kept():
    for name in NAMES * 2:
        load_pretrained(name).history(TEXT)
        assert recent.num_kept() <= recent.MOST_KEPT == 3
    assert recent.num_kept() == 3


def test_the_one_used_last_is_found_again_and_the_oldest_goes():
    tables = [{bytes([byte]): byte for byte in range(256)} for _ in range(4)]
    first, second, third = (recent.recent_encoder(table, "gpt2") for table in tables[:3])
    assert recent.recent_encoder(tables[0], "gpt2") is first
    recent.recent_encoder(tables[3], "gpt2")
    assert recent.recent_encoder(tables[1], "gpt2", make=False) is None
    assert recent.recent_encoder(tables[0], "gpt2", make=False) is first
    assert recent.recent_encoder(tables[2], "gpt2", make=False) is third
    assert second is not None


def test_a_table_is_told_apart_from_others_and_by_its_split():
    table = {bytes([byte]): byte for byte in range(256)}
    assert recent.recent_encoder(table, "gpt2") is not recent.recent_encoder(table, "cl100k")
    assert recent.recent_encoder(table, "gpt2") is not recent.recent_encoder(dict(table), "gpt2")


def test_ids_and_histories_are_the_same_without_a_kept_encoder():
    tokenizer = load_pretrained("cl100k_base")
    history = tokenizer.history(TEXT)
    for name in NAMES:
        load_pretrained(name).history(TEXT)
    assert tokenizer.history(TEXT).final_ids.tolist() == history.final_ids.tolist() == tokenizer.encode(TEXT)
