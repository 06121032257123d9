"""The compiled encoder against the Python one and against tiktoken: ids, lifetimes, long inputs, a full cache."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from test_kernels_scan import AWKWARD, strings

from bpe import NEVER, TrainSettings, rank_lifetimes, train
from bpe.encoder import encode
from bpe.kernels import loader
from bpe.kernels.counting import SCANNED_SPLITS
from bpe.kernels.encoding import CompiledEncoder, CompiledMerges
from bpe.lifetimes import WALL
from bpe.pretokenize import SPLIT_PATTERNS, split
from bpe.pretrained import load_pretrained
from bpe.samples import load_sample, udhr_languages
from bpe.vocabularies import load_ranks

small = st.text(alphabet="ab c", max_size=40)
REAL = {"cl100k": "cl100k", "o200k": "o200k", "gpt2": "r50k"}


@pytest.fixture(scope="module", params=REAL)
def real(request):
    """(split, ranks, tiktoken's encoding, compiled encoder) of a real vocabulary."""
    ranks = load_ranks(REAL[request.param])
    encoding = tiktoken.Encoding(
        request.param, pat_str=SPLIT_PATTERNS[request.param], mergeable_ranks=ranks, special_tokens={}
    )
    return request.param, ranks, encoding, CompiledEncoder.from_ranks(ranks, request.param)


def python_lifetimes(text, pattern, ranks):
    """What `record` must say: in ids, WALL at the end of each pre-token."""
    after = []
    for piece in split(text, pattern):
        data = piece.encode()
        inside = rank_lifetimes(data, ranks)
        inside[inside == NEVER] = ranks.get(data, NEVER)
        after += [*inside.tolist(), WALL]
    return after


def test_real_vocabularies_on_real_text(real):
    _split, _ranks, encoding, encoder = real
    texts = [load_sample(name) for name in ("kjv-genesis", "python-source", "emoji-chat", "generated-log")]
    texts += [load_sample(f"udhr-{language.code}") for language in udhr_languages()]
    for text in texts:
        assert encoder.encode(text) == encoding.encode_ordinary(text)
        assert encoder.record(text.encode()).ids.tolist() == encoder.encode_array(text.encode()).tolist()


@hypothesis_settings(deadline=None)
@given(text=strings)
def test_real_vocabularies_on_any_string(real, text):
    _split, _ranks, encoding, encoder = real
    assert encoder.encode(text) == encoding.encode_ordinary(text)


@hypothesis_settings(deadline=None)
@given(text=st.lists(st.sampled_from(AWKWARD), max_size=12).map("".join))
def test_lifetimes_of_real_vocabularies(real, text):
    pattern, ranks, _encoding, encoder = real
    assert encoder.record(text.encode()).lifetimes().tolist() == python_lifetimes(text, pattern, ranks)


def test_lifetimes_can_be_copied_out_in_part(real):
    _split, _ranks, _encoding, encoder = real
    data = load_sample("kjv-genesis").encode()
    recorded = encoder.record(data)
    whole = recorded.lifetimes()
    assert len(whole) == len(data)
    assert recorded.piece_ends.tolist() == (np.flatnonzero(whole == WALL) + 1).tolist()
    start, end = recorded.piece_ends[9], recorded.piece_ends[499]
    assert recorded.lifetimes(10, 500).tolist() == whole[start:end].tolist()
    assert recorded.lifetimes(5, 5).tolist() == []


@pytest.mark.parametrize("piece", ["a", "ab", "abcdefghijklmnop", "aaaaabaaaa", "é中"])
def test_long_pre_tokens_equal_tiktoken(real, piece):
    _split, ranks, encoding, encoder = real
    text = piece * (20_000 // len(piece))
    assert encoder.encode(text) == encoding.encode_ordinary(text)
    short = piece * 60
    assert encoder.record(short.encode()).lifetimes().tolist() == python_lifetimes(short, real[0], ranks)


def test_a_full_cache_changes_nothing():
    ranks = load_ranks("r50k")
    tiny = CompiledEncoder.from_merges([(97, 98), (256, 99)], "gpt2", cache_rows=32)
    roomy = CompiledEncoder.from_merges([(97, 98), (256, 99)], "gpt2")
    random_ = random.Random(3)
    text = " ".join("".join(random_.choice("abc") for _ in range(random_.randint(1, 70))) for _ in range(2_000))
    for _ in range(2):
        one, other = tiny.record(text.encode()), roomy.record(text.encode())
        assert one.ids.tolist() == other.ids.tolist()
        assert one.lifetimes().tolist() == other.lifetimes().tolist()
    assert tiny.num_cached <= 16 < roomy.num_cached
    assert len(ranks) > 50_000


@pytest.mark.parametrize("pattern", SCANNED_SPLITS)
@hypothesis_settings(deadline=None, max_examples=50)
@given(corpus=small, text=small)
def test_merge_lists_equal_the_python_encoder(pattern, corpus, text):
    trained = train(corpus, TrainSettings(split=pattern, num_merges=20, min_pair_count=1)).tokenizer
    for tokenizer in (trained, trained.with_merges(trained.merges[::-1])):  # reversed: tokens before their parts
        encoder = CompiledEncoder.from_merges(tokenizer.merges, pattern)
        ids, lifetimes = [], []
        for piece in split(text, pattern):
            piece_ids, inside = encode(tokenizer.symbols(piece), tokenizer.ranks, 256)
            ids += piece_ids
            lifetimes += [*(256 + rank if rank != NEVER else NEVER for rank in inside), WALL]
        recorded = encoder.record(text.encode())
        assert encoder.encode(text) == recorded.ids.tolist() == ids
        assert recorded.lifetimes().tolist() == lifetimes


symbols = st.lists(st.integers(-1, 3), min_size=1, max_size=90)


@hypothesis_settings(deadline=None)
@given(pieces=st.lists(symbols, max_size=6), data=st.data())
def test_symbols_equal_the_python_encoder(pieces, data):
    merges = []
    for rank in range(data.draw(st.integers(0, 12))):
        any_id = st.integers(0, 3 + rank)
        merges.append((data.draw(any_id), data.draw(any_id)))
    if data.draw(st.booleans()):
        merges.reverse()
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    starts = np.cumsum([0, *map(len, pieces)])
    flat = np.array([symbol for piece in pieces for symbol in piece], dtype=np.int32)
    ids, ends, lifetimes = CompiledMerges(merges, 4).replay(flat, starts)
    expected = [encode(piece, ranks, 4) for piece in pieces]
    assert ids.tolist() == [token for piece_ids, _inside in expected for token in piece_ids]
    assert ends.tolist() == np.cumsum([len(piece_ids) for piece_ids, _inside in expected]).tolist()
    assert lifetimes.tolist() == [n for _piece_ids, inside in expected for n in (*inside, NEVER)]


def test_threads_take_turns(real):
    _split, _ranks, encoding, encoder = real
    texts = [load_sample(f"udhr-{language.code}") for language in udhr_languages()[:12]]
    expected = [encoding.encode_ordinary(text) for text in texts]
    results = [None] * 12

    def run(i):
        results[i] = [encoder.encode(texts[i]) for _ in range(3)]

    threads = [threading.Thread(target=run, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[ids] * 3 for ids in expected]


# ------------------------------------------------------------------------------------------- behind the tokenizers


@pytest.fixture
def without_kernels(monkeypatch):
    """A function that runs another one as on a machine without kernels."""

    def run(function, *arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(loader, "_loaded", {})
            patch.setattr(loader, "start_loading", lambda *groups: None)
            return function(*arguments, **options)

    return run


def assert_same_history(one, other):
    assert one.text == other.text
    assert one.offsets.tolist() == other.offsets.tolist()
    assert one.lifetimes.tolist() == other.lifetimes.tolist()
    assert one.walls.tolist() == other.walls.tolist()
    assert one.final_ids.tolist() == other.final_ids.tolist()
    assert one.num_merges == other.num_merges


LONG = load_sample("kjv-genesis")[:6_000] + "<|end|>" + load_sample("udhr-cmn_hans") + load_sample("emoji-chat")


@pytest.mark.parametrize("pattern", [*SCANNED_SPLITS, "whitespace", "[a-z]+"])
@pytest.mark.parametrize("mode", [("bytes", "none"), ("chars", "none"), ("chars", "separate"), ("chars", "attached")])
def test_trained_tokenizers_are_the_same_with_kernels_and_without(without_kernels, pattern, mode):
    base, end_of_word = mode
    training = train(LONG[:3_000], TrainSettings(base, end_of_word, pattern, num_merges=300))
    for tokenizer in (training.tokenizer, training.tokenizer.at_step(40)):
        with_kernels = tokenizer.encode(LONG, unknown="mark"), tokenizer.history(LONG)
        fresh = tokenizer.at_step(tokenizer.num_merges)
        without = without_kernels(fresh.encode, LONG, unknown="mark"), without_kernels(fresh.history, LONG)
        assert with_kernels[0] == without[0]
        assert_same_history(with_kernels[1], without[1])


def test_special_tokens_are_the_same_with_kernels_and_without(without_kernels):
    from dataclasses import replace

    trained = train(LONG[:3_000], TrainSettings(num_merges=100)).tokenizer
    tokenizer = replace(trained, special_tokens={"<|end|>": trained.vocab_size})
    text = "<|end|>" + LONG + "<|end|><|end|>"
    history = tokenizer.history(text, special="special")
    assert_same_history(history, without_kernels(replace(tokenizer).history, text, special="special"))
    assert history.final_ids.tolist() == tokenizer.encode(text, special="special")


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_real_tokenizers_are_the_same_with_kernels_and_without(without_kernels, name):
    tokenizer = load_pretrained(name)
    text = (LONG + "<|endoftext|>" + load_sample("python-source"))[:60_000]
    newer = text + "\U00016ebb"  # a letter for `regex`, not yet for tiktoken
    for sample in (text, newer):
        history = tokenizer.history(sample, special="special")
        assert_same_history(history, without_kernels(tokenizer.history, sample, special="special"))
        assert history.final_ids.tolist() == tokenizer.encode(sample, special="special")
