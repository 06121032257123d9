"""Times vocabularies as columns, and checks them whole: `python benchmarks/vocabulary.py [NAME ...]`.

list       making the columns from a loaded tokenizer
payload    packing all rows for the page's list, and what is sent
search     the slowest of a text, a regular expression, bytes in hex and an order by text
analysis   what becomes of each token's own text, as processor time
equal      that analysis, token by token, against encode(decode(token)) of the tokenizer itself

Without names: every real tokenizer that is available here. Exit status 1 if any verdict differs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bpe.pretrained import load_pretrained, pretrained_info, pretrained_names  # noqa: E402
from bpe.reachability import Reachability, Reason, find_unproduced  # noqa: E402
from bpe.tokenizer import TokenizerLike  # noqa: E402
from bpe.vocabulary import TokenFilter, Vocabulary, find_tokens, list_vocabulary  # noqa: E402
from ui.vocabulary.listing import build_listing  # noqa: E402

SEARCHES = (
    TokenFilter("a"),
    TokenFilter(r"^ ?\p{Lu}+$", by="regex"),
    TokenFilter("e2 80", by="hex"),
    TokenFilter(order="text"),
)
Result = TypeVar("Result")


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the processor time of a call, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def num_different(tokenizer: TokenizerLike, vocabulary: Vocabulary, found: Reachability) -> int:
    """Return how many verdicts are not those of encode(decode(token))."""
    different = 0
    for token_id, reason in zip(vocabulary.ids.tolist(), found.reasons.tolist(), strict=True):
        text = tokenizer.decode([token_id])
        has_text = text.encode() == tokenizer.decode_bytes([token_id])
        is_produced = has_text and tokenizer.encode(text) == [token_id]
        different += is_produced != (reason in (Reason.PRODUCED, Reason.WHOLE))
    return different


def measure(name: str) -> bool:
    """Print the line of a vocabulary; return whether every verdict is right."""
    tokenizer = load_pretrained(name)
    listing, vocabulary = timed(lambda: list_vocabulary(tokenizer))
    packing, payload = timed(lambda: build_listing(vocabulary, np.arange(len(vocabulary))))
    searching = max(timed(lambda wanted=wanted: find_tokens(vocabulary, wanted))[0] for wanted in SEARCHES)  # type: ignore[misc]
    analysing, found = timed(lambda: find_unproduced(tokenizer, vocabulary))
    different = num_different(tokenizer, vocabulary, found)
    reasons = ", ".join(f"{found.count(reason):,} {reason.name}" for reason in Reason if found.count(reason))
    print(
        f"{name:14} {len(vocabulary):8,} {listing:7.2f} {packing:8.2f} {len(payload) / 1e6:6.2f} {searching:7.2f} "
        f"{analysing:9.2f}  {'yes' if not different else f'{different:,} differ'}  {reasons}",
        flush=True,
    )
    return not different


def main(names: list[str]) -> int:
    """Measure each named vocabulary."""
    names = names or [name for name in pretrained_names() if pretrained_info(name).available]
    print(f"{'':14} {'tokens':>8} {'list s':>7} {'pack s':>8} {'MB':>6} {'find s':>7} {'analyse s':>9}  equal  reasons")
    verdicts = [measure(name) for name in names]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
