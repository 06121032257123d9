"""Every error that this package raises on purpose.

    BpeError
    ├── SettingsError         (ValueError)    a training or encoding option out of its range
    ├── CorpusError           (ValueError)    text that cannot be read as text
    ├── FormatError           (ValueError)    a tokenizer file that is cut, inconsistent or of another kind
    ├── SpecialTokenError     (ValueError)    a special token in a text that was said to hold none
    ├── UnknownSymbolError    (ValueError)    a character that a character-level tokenizer never saw
    ├── TokenIdError          (KeyError)      a token id outside the vocabulary
    ├── UnknownTokenizerError (KeyError)      a name that no tokenizer goes by
    ├── StoppedError          (RuntimeError)  work that its progress function stopped before there was a result
    └── UnavailableError      (RuntimeError)  something that exists, but cannot be had on this machine

A message says what must hold, what was given, and what to do about it. The app shows it as it stands.
"""

__all__ = [
    "BpeError",
    "CorpusError",
    "FormatError",
    "SettingsError",
    "SpecialTokenError",
    "StoppedError",
    "TokenIdError",
    "UnavailableError",
    "UnknownSymbolError",
    "UnknownTokenizerError",
]


class BpeError(Exception):
    """Root of the tree: catch this to catch everything this package raises on purpose."""

    def __str__(self) -> str:
        # KeyError shows its argument with repr(); a message for people is shown as it stands.
        return str(self.args[0]) if self.args else ""


class SettingsError(BpeError, ValueError):
    """An option is out of its range, or two options exclude each other."""


class CorpusError(BpeError, ValueError):
    """A corpus cannot be read: not text, wrong encoding, empty, too large, a malformed table."""


class FormatError(BpeError, ValueError):
    """A tokenizer file is cut, inconsistent, or of another kind than it claims."""


class SpecialTokenError(BpeError, ValueError):
    """The text holds a special token although special tokens were to be rejected."""


class UnknownSymbolError(BpeError, ValueError):
    """The text holds characters that a character-level tokenizer never saw in training."""


class TokenIdError(BpeError, KeyError):
    """A token id is outside the vocabulary."""


class UnknownTokenizerError(BpeError, KeyError):
    """No tokenizer goes by that name."""


class StoppedError(BpeError, RuntimeError):
    """The progress function asked to stop, and there is no part to give."""


class UnavailableError(BpeError, RuntimeError):
    """The thing exists, but cannot be had on this machine (a missing package, no network)."""
