"""Measures of a tokenizer on a language, each with its definition, its source and where it misleads.

Nearly all are a ratio of two totals over aligned units: tokens over tokens of the reference, tokens over
words, bytes over tokens. Two look at a distribution instead: Rényi efficiency at that of the tokens, words kept
whole at the distinct words.

Read tokens.py (and what is unknown), words.py (what a word is), counting.py (quantities, unit by unit),
estimates.py (values and intervals), measures.py (the table of measures). The texts are in parallel.py.
"""

from bpe.metrics.counting import Quantity, count_quantity
from bpe.metrics.estimates import (
    CONFIDENCE,
    RENYI_ORDER,
    Estimate,
    ratio_of_totals,
    renyi_efficiency,
    token_distribution,
    whole_words,
)
from bpe.metrics.measures import MEASURES, Measure
from bpe.metrics.tokens import TokenCounts, count_tokens, unknown_id
from bpe.metrics.words import icu_version, words_of, writes_spaces

__all__ = [
    "CONFIDENCE",
    "MEASURES",
    "RENYI_ORDER",
    "Estimate",
    "Measure",
    "Quantity",
    "TokenCounts",
    "count_quantity",
    "count_tokens",
    "icu_version",
    "ratio_of_totals",
    "renyi_efficiency",
    "token_distribution",
    "unknown_id",
    "whole_words",
    "words_of",
    "writes_spaces",
]
