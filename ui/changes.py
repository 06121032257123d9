"""What a normalizing tokenizer did to a text, in words: every page that counts its tokens has to say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bpe.normalizing import Change
from ui.text import markdown_literal, show_token

__all__ = ["changes_in_words"]

_MOST_EXAMPLES = 8


def changes_in_words(changes: Sequence[Change]) -> str:
    """Return Markdown: what was done how often, and some examples.

    >>> changes_in_words([Change(0, 1, "A", "a", "lower-cased")]).replace("\\u2068", "").replace("\\u2069", "")
    'lower\\\\-cased 1 ×. For example A → a.'
    """
    counts = Counter(change.what for change in changes)
    kinds = ", ".join(f"{what} {count:,} ×" for what, count in counts.most_common())
    examples = dict.fromkeys(f"{_label(change.before)} → {_label(change.after)}" for change in changes)
    return f"{markdown_literal(kinds)}. For example {', '.join(list(examples)[:_MOST_EXAMPLES])}."


def _label(text: str) -> str:
    return markdown_literal(show_token(text[:24].encode(), isolate=True)) if text else "nothing"
