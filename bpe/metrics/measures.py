"""The measures as a reader meets them: definition, source, and when each misleads.

How the quantities are counted is in counting.py, how they become a value with an interval in estimates.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bpe.metrics.counting import Quantity
from bpe.metrics.estimates import RENYI_ORDER

__all__ = ["MEASURES", "Measure"]


@dataclass(frozen=True)
class Measure:
    """A measure as a reader should meet it.

    axis           name and unit, for an axis
    short          the same in one or two words
    numerator, denominator
                   the quantities whose totals are divided; both None for a measure of a distribution.
                   `reference tokens` are the tokens of the reference language
    more_is_worse  the direction: True where a larger value means that the language pays more
    is_share       whether it is shown in per cent
    """

    name: str
    axis: str
    short: str
    numerator: Quantity | None
    denominator: Quantity | Literal["reference tokens"] | None
    more_is_worse: bool
    definition: str
    source: str
    misleads: str
    is_share: bool = False


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            name="premium",
            axis="tokens per token of the same text in {reference}",
            short="same content",
            numerator="tokens",
            denominator="reference tokens",
            more_is_worse=True,
            definition="Tokens of the text divided by tokens of the same text in the reference language, totals "
            "over all units, not a mean of ratios.",
            source="Petrov et al. 2023, arXiv 2305.15425",
            misleads="Translations differ in length by themselves: some of a premium is the translator's.",
        ),
        Measure(
            name="tokens per character",
            axis="tokens per character",
            short="character",
            numerator="tokens",
            denominator="characters",
            more_is_worse=True,
            definition="Tokens divided by code points.",
            source="The inverse of characters per token, as vendors quote it",
            misleads="A Chinese character says as much as several letters, so scripts of few characters look worse "
            "than they fare.",
        ),
        Measure(
            name="tokens per grapheme",
            axis="tokens per grapheme cluster",
            short="grapheme",
            numerator="tokens",
            denominator="graphemes",
            more_is_worse=True,
            definition="Tokens divided by extended grapheme clusters, what a reader sees as one character.",
            source="Unicode Standard Annex 29",
            misleads="As with characters: a cluster of Chinese or Korean says more than one of Latin.",
        ),
        Measure(
            name="tokens per byte",
            axis="tokens per byte of UTF-8",
            short="byte",
            numerator="tokens",
            denominator="bytes",
            more_is_worse=True,
            definition="Tokens divided by bytes of UTF-8. 1 means that no merge was of any use.",
            source="The inverse of bytes per token",
            misleads="UTF-8 gives a Burmese letter three bytes and an English one a single byte, so costly scripts "
            "look cheap.",
        ),
        Measure(
            name="bytes per token",
            axis="bytes of UTF-8 per token",
            short="compression",
            numerator="bytes",
            denominator="tokens",
            more_is_worse=False,
            definition="Bytes of UTF-8 divided by tokens; more is better. The usual measure of compression.",
            source="Used since GPT-2 (Radford et al. 2019) to compare models over one text",
            misleads="Fine for two tokenizers on one text; between scripts it flatters those of three bytes a letter.",
        ),
        Measure(
            name="fertility",
            axis="tokens per word ({words})",
            short="word",
            numerator="tokens",
            denominator="words",
            more_is_worse=True,
            definition="Tokens divided by words: between white space where the script writes spaces, else from ICU.",
            source="Rust et al. 2021, arXiv 2012.15613",
            misleads="Words carry different amounts of meaning: Finnish and Turkish say in one word what English says "
            "in four.",
        ),
        Measure(
            name="fertility by white space",
            axis="tokens per stretch between white space",
            short="white space",
            numerator="tokens",
            denominator="space words",
            more_is_worse=True,
            definition="Tokens divided by stretches between white space, whatever the script: the usual chart.",
            source="Shown here for what it gets wrong",
            misleads="Thai, Khmer, Lao, Burmese, Chinese, Japanese and Tibetan put no space between words: a whole "
            "clause counts as one word.",
        ),
        Measure(
            name="continued words",
            axis="share of running words of two or more tokens ({words})",
            short="split words",
            numerator="continued words",
            denominator="words",
            more_is_worse=True,
            is_share=True,
            definition="Share of the running words that take two tokens or more, each encoded by itself, after a "
            "space where the script writes spaces.",
            source="Rust et al. 2021, arXiv 2012.15613",
            misleads="A word of two pieces counts like one of twelve; languages of long words look bad at once.",
        ),
        Measure(
            name="words kept whole",
            axis="share of distinct words that are one token ({words})",
            short="whole words",
            numerator=None,
            denominator=None,
            more_is_worse=False,
            is_share=True,
            definition="Share of the distinct words of the text that are one token, encoded as for continued words.",
            source="Single token retention rate, Nayeem et al. 2025, arXiv 2510.09947, on this text's words instead of "
            "a list",
            misleads="It depends on the length of the text (rare words come late) and on the form of words.",
        ),
        Measure(
            name="Rényi efficiency",
            axis=f"Rényi efficiency (order {RENYI_ORDER}) of the tokens, 0 to 1",
            short="Rényi",
            numerator=None,
            denominator=None,
            more_is_worse=False,
            definition="Rényi entropy of the token frequencies divided by the logarithm of the vocabulary size.",
            source="Zouhar et al. 2023, arXiv 2306.16842",
            misleads="Made to compare tokenizers trained for one language on much text. A short text uses "
            "few of a large vocabulary, so large vocabularies score low here.",
        ),
    )
}
"""Name -> measure; the first one is the default."""
