"""What is said about tokens, checked: each claim with its source and a function that computes what holds.

A claim is data. To add one, write a function that returns a `Finding` and put `@claim(...)` on it:

    @claim("emoji-one-token", "An emoji is one token.", topic="Unicode", source=COMMON,
           play=Play("tokenize", "gpt2", text="👍"))
    def _emoji() -> Finding: ...

A verdict is `true` or `false` where the computation leaves no choice, and `depends` where it holds for some
tokenizers or texts and not for others; the answer then says for which. Nothing is looked up: a figure that is
not in the claim itself comes from the tokenizers and the sample texts. Claims on tokenizers that are not to be
had here raise `UnavailableError`, which says what is missing.

Read base.py (what a claim is), helpers.py, then any topic.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from bpe.claims import digits, english, languages, spelling, unicode, vocabularies, white_space  # noqa: F401
from bpe.claims.base import REGISTRY, Claim, Finding, Play, Topic, Verdict
from bpe.errors import SettingsError

__all__ = ["CLAIMS", "Claim", "Finding", "Play", "Verdict", "find_claim"]

CLAIMS: Mapping[str, Claim] = MappingProxyType(
    {name: claim for topic in get_args(Topic) for name, claim in REGISTRY.items() if claim.topic == topic}
)
"""Name -> claim, topic by topic, in the order in which they are shown."""


def find_claim(name: str) -> Claim:
    """Return a claim by name.

    Raises:
        SettingsError: there is no such claim.

    >>> find_claim("integers-to-521").check().answer
    'In GPT-2 0 to 520 are single tokens; 521 is 5|21.'
    """
    if name not in CLAIMS:
        raise SettingsError(f"a claim must be one of {', '.join(CLAIMS)}, but is {name[:60]!r}")
    return CLAIMS[name]
