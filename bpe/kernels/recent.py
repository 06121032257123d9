"""The compiled encoders of rank tables that were used last. Each holds 50 to 120 MB of tables, so few are kept.

A reader who compares all vocabularies on a long text uses each once; one who works with a few finds them ready.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from bpe.kernels.encoding import CompiledEncoder

__all__ = ["MOST_KEPT", "num_kept", "recent_encoder"]

MOST_KEPT = 3
"""How many encoders are kept."""

_lock = threading.Lock()
_kept: OrderedDict[tuple[int, str], tuple[Mapping[bytes, int], CompiledEncoder]] = OrderedDict()


def recent_encoder(ranks: Mapping[bytes, int], split: str, *, make: bool = True) -> CompiledEncoder | None:
    """Return the encoder of a rank table: the one that is kept, or a new one if `make` says so, or None.

    Tables are told apart by identity: they are large, and not changed once they are in use. Making an encoder takes
    0.1 s for 100,000 tokens. The caller sees to it that no two threads make the same one.
    """
    key = (id(ranks), split)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key][1]
    if not make:
        return None
    encoder = CompiledEncoder.from_ranks(ranks, split)
    with _lock:
        _kept[key] = (ranks, encoder)  # with the table, or another one might get its id
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return encoder


def num_kept() -> int:
    """Return how many encoders are kept now."""
    return len(_kept)
