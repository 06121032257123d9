"""Tokenizing what the reader gave, as work that shows how far it is and can be stopped."""

from __future__ import annotations

from bpe.tokenizer import Special
from ui import compute, state
from ui.choosing import Chosen
from ui.compute import Tokenized
from ui.text import count_of
from ui.waiting import awaited

__all__ = ["tokenized"]


def tokenized(chosen: Chosen, text: str, special: Special) -> Tokenized:
    """Return the text under a tokenizer, known or tokenized now; a long one shows how far it is and can be stopped."""
    mine = None if chosen.is_real else chosen.tokenizer
    return awaited(
        state.TOKENIZE_JOB,
        compute.tokenizings(),
        compute.tokenize_key(chosen.name, text, special, chosen.key),
        lambda job: compute.tokenize(chosen.name, text, special, mine, job.report),
        label=lambda job: f"Tokenizing {count_of(len(text), 'character')}, {job.seconds_so_far:.0f} s so far",
    )
