"""The arithmetic of vocabularies: parameters, KV cache, context, operations, units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe import TrainSettings, train
from bpe.costs import (
    MODEL_SHAPES,
    PRECISIONS,
    USUAL_ENTRIES,
    ModelShape,
    attention_work,
    compare_units,
    embedding_parameters,
    forward_work,
    kv_cache_bytes,
    sweet_spot,
    text_costs,
)
from bpe.errors import SettingsError
from bpe.pretrained import load_pretrained
from bpe.samples import load_sample

LLAMA3_70B = MODEL_SHAPES["Llama 3 70B"]
TINY = ModelShape("tiny", 10, 4, 1, 1, 1, 4, True, 140, 64)

# Width of the feed-forward layer and what the architecture adds to its four attention and two or three feed-forward
# matrices: learned positions and biases (GPT-2), biases of query, key and value (Qwen), four norms a layer (Gemma).
FEED_FORWARD = {
    "GPT-2 small": 3_072,
    "GPT-2 XL": 6_400,
    "Llama 2 7B": 11_008,
    "Llama 2 70B": 28_672,
    "Llama 3 8B": 14_336,
    "Llama 3 70B": 28_672,
    "Qwen 2.5 0.5B": 4_864,
    "Qwen 2.5 3B": 11_008,
    "Qwen 2.5 7B": 18_944,
    "Gemma 2 2B": 9_216,
    "Gemma 2 9B": 14_336,
    "Gemma 2 27B": 36_864,
}


def parameters_by_architecture(shape: ModelShape, feed_forward: int) -> int:
    """Count every matrix and vector of the model."""
    width = shape.width
    queries = shape.num_heads * shape.head_size
    keys = shape.num_kv_heads * shape.head_size
    attention = width * (queries + 2 * keys) + queries * width
    family = shape.name.split()[0]
    if family == "GPT-2":
        layer = attention + 4 * width + 2 * width * feed_forward + feed_forward + width + 4 * width
        return shape.num_vocabulary_parameters + shape.context * width + shape.num_layers * layer + 2 * width
    norms = 4 * width if family == "Gemma" else 2 * width
    biases = queries + 2 * keys if family == "Qwen" else 0
    layer = attention + biases + 3 * width * feed_forward + norms
    return shape.num_vocabulary_parameters + shape.num_layers * layer + width


# ---------------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("name", MODEL_SHAPES)
def test_the_size_of_each_model_follows_from_its_shape(name):
    shape = MODEL_SHAPES[name]
    assert parameters_by_architecture(shape, FEED_FORWARD[name]) == shape.num_parameters
    assert shape.source


@pytest.mark.parametrize(
    ("name", "vocab_size"),
    [
        ("GPT-2 small", 50_257),
        ("Llama 2 7B", 32_000),
        ("Llama 3 8B", 128_256),
        ("Qwen 2.5 3B", 151_936),
        ("Gemma 2 9B", 256_000),
    ],
)
def test_vocabulary_sizes_of_published_models(name, vocab_size):
    assert MODEL_SHAPES[name].vocab_size == vocab_size


def test_the_embedding_of_llama_3_70b():
    num_parameters = embedding_parameters(128_256, 8_192, tied=True)
    assert num_parameters == 1_050_673_152
    assert round(num_parameters * PRECISIONS["bfloat16"] / 1e9, 2) == 2.10
    assert LLAMA3_70B.num_vocabulary_parameters == 2 * num_parameters  # the output has a matrix of its own


def test_another_vocabulary_leaves_the_body():
    shape = MODEL_SHAPES["Llama 3 8B"].with_vocabulary(200_019)
    assert shape.num_body_parameters == MODEL_SHAPES["Llama 3 8B"].num_body_parameters
    assert shape.num_vocabulary_parameters == 2 * 200_019 * 4_096


def test_orders_of_magnitude_of_vocabularies():
    """Characters, subwords and words: what the real ones hold lies in the stated range."""
    least, most = USUAL_ENTRIES["subwords"]
    for shape in MODEL_SHAPES.values():
        assert least <= shape.vocab_size <= most * 1.1
    assert USUAL_ENTRIES["characters"] == (256, 1_000)
    assert USUAL_ENTRIES["words"] == (10**6, 10**7)


# ---------------------------------------------------------------------------------------------- cache and context


def test_the_kv_cache_of_a_token_of_llama_3_70b():
    assert kv_cache_bytes(LLAMA3_70B, PRECISIONS["bfloat16"]) == 2 * 8 * 128 * 2 * 80 == 327_680


def test_seven_tokens_for_unhappy_instead_of_one():
    assert attention_work(7) == 49 * attention_work(1)
    assert text_costs(7, LLAMA3_70B).kv_bytes == 7 * text_costs(1, LLAMA3_70B).kv_bytes
    gpt2 = load_pretrained("gpt2")
    assert [gpt2.decode([token]) for token in gpt2.encode("unhappy")] == ["un", "happy"]


def test_context_and_price_of_a_text():
    costs = text_costs(3_000, MODEL_SHAPES["Llama 3 8B"], price_per_million=5)
    assert costs.context_share == 3_000 / 8_192
    assert costs.num_that_fit == 2
    assert costs.price == pytest.approx(0.015)
    assert text_costs(0, LLAMA3_70B).num_that_fit == 0
    assert text_costs(9_000, MODEL_SHAPES["Llama 3 8B"]).num_that_fit == 0


# ---------------------------------------------------------------------------------------------- sweet spot


def test_operations_by_hand():
    """100 body parameters and width 4: 50 tokens with 12 entries cost 50 (2 (100 + 48) + 2*1*4*50) = 34,800."""
    assert TINY.num_body_parameters == 100
    assert forward_work(np.array([50]), np.array([12]), TINY).tolist() == [50 * (2 * (100 + 12 * 4) + 2 * 4 * 50)]


def test_attention_reaches_no_further_than_the_context():
    assert forward_work(np.array([100]), np.array([10]), TINY).tolist() == [100 * (2 * 140 + 2 * 4 * 64)]


def test_a_larger_body_wants_a_larger_vocabulary():
    training = train(load_sample("kjv-genesis"), TrainSettings(num_merges=3_000))
    spots = []
    for body in (1_000_000, 1_000_000_000):
        shape = replace(MODEL_SHAPES["GPT-2 small"], num_parameters=body + 50_257 * 768)
        spots.append(sweet_spot(training.num_tokens, 256, shape))
    assert spots == sorted(spots)
    assert 0 < spots[0] < spots[-1] == training.num_merges


@given(counts=st.lists(st.integers(1, 1_000), min_size=1, max_size=20), body=st.integers(1, 10_000))
def test_no_vocabulary_costs_less_than_the_sweet_spot(counts, body):
    num_tokens = np.array(sorted(counts, reverse=True))
    shape = replace(TINY, num_parameters=body + 40)
    work = forward_work(num_tokens, 10 + np.arange(len(counts)), shape)
    spot = sweet_spot(num_tokens, 10, shape)
    assert work[spot] == work.min()
    assert np.all(work[:spot] > work[spot])


# ---------------------------------------------------------------------------------------------- units


def test_a_text_in_four_units():
    text = load_sample("kjv-genesis")
    rows = {row.unit: row for row in compare_units(text, load_pretrained("gpt2"))}
    assert rows["bytes"].num_units == len(text.encode())
    assert rows["characters"].num_entries == len(set(text))
    assert rows["words"].num_units == len(text.split())
    assert rows["subwords"].num_units == len(load_pretrained("gpt2").encode(text))
    assert rows["words"].num_units < rows["subwords"].num_units < rows["characters"].num_units
    assert 0 < rows["words"].unknown_share < 0.5
    assert rows["subwords"].unknown_share == rows["bytes"].unknown_share == 0


def test_unknown_words_by_hand():
    """Ten words: the last two are `new` and `b`; only `b` stood before."""
    words = compare_units("a b c d e f g h new b", load_pretrained("gpt2"))[2]
    assert (words.num_entries, words.num_units, words.unknown_share) == (9, 10, 0.5)


def test_unknown_subwords_are_counted():
    tokenizer = train("abcabc", TrainSettings(num_merges=1, base="chars", split="none")).tokenizer
    subwords = compare_units("abxx", tokenizer)[3]
    assert (subwords.num_units, subwords.unknown_share) == (3, 2 / 3)


@pytest.mark.parametrize("text", ["", "a", " ", "\n\n"])
def test_texts_without_a_last_fifth(text):
    for row in compare_units(text, load_pretrained("gpt2")):
        assert row.unknown_share == 0


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"width": 0}, "the width of a model must be at least 1, but is 0"),
        ({"num_parameters": 0}, "the model size of a model must be at least 1"),
        ({"num_kv_heads": -1}, "number of KV heads"),
        ({"context": 0}, "context window"),
        ({"num_parameters": 40}, "larger than the matrices of its vocabulary, 40 parameters"),
    ],
)
def test_an_impossible_model_is_refused(changes, says):
    with pytest.raises(SettingsError, match=says):
        replace(TINY, **changes)


def test_a_negative_price_and_an_empty_matrix_are_refused():
    with pytest.raises(SettingsError, match="price must not be negative"):
        text_costs(1, TINY, price_per_million=-1)
    with pytest.raises(SettingsError, match="at least 1, but are 0 and 8"):
        embedding_parameters(0, 8, tied=True)
