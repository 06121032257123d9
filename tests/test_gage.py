"""Gage's compression: the textbook examples by hand, nothing lost, every number against a recount."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe.errors import CorpusError, FormatError, SettingsError
from bpe.gage import compress_pairs, expand_pairs

DATA = st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(b"ab"), max_size=60).map(bytes))


def shown(compressed):
    """The passes with codes as letters: 255 is Z, 254 is Y, 253 is X."""
    letter = {255: "Z", 254: "Y", 253: "X"}

    def name(byte):
        return letter.get(byte, chr(byte))

    passes = [(name(p.code), name(p.left) + name(p.right), p.num_replaced, p.num_bytes) for p in compressed.passes]
    return passes, "".join(map(name, compressed.data))


def test_aaabdaaabac():
    # aaabdaaabac: aa can be replaced twice (aa|a|b d aa|a|b a c), ab twice; aa is first.
    # Z = aa: ZabdZabac, 9 bytes. Za 2, ab 2; Za is first.   Y = Za: YbdYbac, 7 bytes.
    # Yb 2 and no other pair repeats.                         X = Yb: XdXac, 5 bytes. Nothing repeats.
    compressed = compress_pairs(b"aaabdaaabac")
    assert shown(compressed) == ([("Z", "aa", 2, 9), ("Y", "Za", 2, 7), ("X", "Yb", 2, 5)], "XdXac")
    assert compressed.stopped == "no_gain"
    # Each row of three bytes saves two: the data shrinks by 6, the table costs 9.
    assert [step.num_saved for step in compressed.passes] == [-1, -1, -1]
    assert compressed.num_bytes == 5 + 9
    assert compress_pairs(b"aaabdaaabac", min_replaced=4).passes == ()


def test_ababcabcd():
    # AB 3, BA 1, BC 2, CA 1, CD 1.   Z = AB: ZZCZCD, 6 bytes. ZZ 1, ZC 2.   Y = ZC: ZYYD, 4 bytes.
    compressed = compress_pairs(b"ABABCABCD")
    assert shown(compressed) == ([("Z", "AB", 3, 6), ("Y", "ZC", 2, 4)], "ZYYD")
    assert [step.num_saved for step in compressed.passes] == [0, -1]


def test_tied_pairs_are_counted():
    # abab: ab 2, ba 1. cdcd after it: cd 2 ties with ab.
    assert compress_pairs(b"abab.cdcd").passes[0].num_tied == 1


@settings(deadline=None)
@given(DATA, st.integers(1, 5))
def test_lossless(data, min_replaced):
    compressed = compress_pairs(data, min_replaced=min_replaced)
    assert expand_pairs(compressed.data, compressed.table) == data


@settings(deadline=None)
@given(DATA)
def test_every_pass_takes_the_pair_that_saves_most(data):
    num_bytes = len(data)
    now = data
    for step in compress_pairs(data).passes:
        saved = {bytes(pair): now.count(bytes(pair)) for pair in pairwise(now)}
        pair = bytes([step.left, step.right])
        assert step.num_replaced == saved[pair] == max(saved.values())
        assert pair == min((p for p in saved if saved[p] == saved[pair]), key=now.find)
        assert step.num_tied == sum(count == saved[pair] for count in saved.values()) - 1
        assert step.code not in now
        now = now.replace(pair, bytes([step.code]))
        num_bytes -= step.num_replaced
        assert step.num_bytes == num_bytes == len(now)


def test_without_a_free_byte_nothing_happens():
    data = bytes(range(256)) * 3
    compressed = compress_pairs(data)
    assert (compressed.data, compressed.passes, compressed.stopped) == (data, (), "no_free_byte")


@pytest.mark.parametrize("data", [b"", b"a", b"ab"])
def test_nothing_to_replace(data):
    assert compress_pairs(data).data == data


def test_a_million_equal_bytes():
    compressed = compress_pairs(b"a" * 1_000_000)
    # Halving 1,000,000: 500000 ... 15625 is odd after six passes; the pairs stay in one run with a rest.
    assert compressed.passes[0].num_bytes == 500_000
    assert len(compressed.data) < 40
    assert expand_pairs(compressed.data, compressed.table) == b"a" * 1_000_000


def test_text_is_refused():
    with pytest.raises(CorpusError, match="must be bytes, but is str"):
        compress_pairs("text")


def test_min_replaced_below_one_is_refused():
    with pytest.raises(SettingsError, match="at least 1"):
        compress_pairs(b"abab", min_replaced=0)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (((256, 1, 2),), "three byte values"),
        (((255, 1, 2), (255, 3, 4)), "stands twice"),
        (tuple((code, code - 1, code - 1) for code in range(98, 140)), "at most"),  # doubles 42 times
    ],
)
def test_a_table_that_cannot_be_is_refused(table, message):
    with pytest.raises(FormatError, match=message):
        expand_pairs(bytes([139]), table)
