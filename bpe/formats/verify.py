"""The check behind every export, and behind the import of a tokenizer.json: equal ids from the owner's library.

A file is worth something when the program that owns its format makes the same token ids of it. So the files are
read by that library (tiktoken, tokenizers; for minbpe, which has no package, by its own way of reading), and
texts are encoded by both. The texts are a probe of what breaks split patterns (scripts, digits, runs of white
space, contractions, emoji, control characters) and the tokens of the tokenizer itself, joined, so that merges
are exercised whatever it was trained on. Letters that Unicode added after 2015 are left out of the probe: the
libraries carry different Unicode tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise, zip_longest

from bpe.errors import FormatError, UnknownSymbolError
from bpe.formats.imported import ImportedTokenizer
from bpe.formats.reading import quote
from bpe.tokenizer import END_OF_WORD, Special, Tokenizer, TokenizerLike

__all__ = ["PROBE_TEXT", "LibraryEncode", "check_equal_ids"]

LibraryEncode = Callable[[str, bool], list[int]]
"""(text, whether special tokens count) -> ids."""

PROBE_TEXT = (
    "Hello world! It's we'll I'VE DON'T 'S’s a'b\n"
    "newest lowest widest; unhappy, unbelievable... (strawberry)  straw berry\n"
    "1 12 123 1234 12345 1234567890 1,234.56 2024 ٣٤٥٦ ½ Ⅻ\n"
    "  two  three   four    x\t\ttab \r\n\r\n \n \n  end of blank lines   \n"
    "camelCase HTTPServer snake_case __init__ a/b//c http://x.y/?q=1&r=%20 == != -> /* x */\n"
    "naïve café cafe\u0301 Größe ŁÓDŹ ſtraſſe İı Ǆǅǆ ΑΣΣ ός\n"
    "안녕하세요 こんにちは 世界 日本語の文。नमस्ते ไทยแลนด์ עברית العَرَبِيَّة Привет ᎠᎡ\n"
    "👍🏽 👨‍👩‍👧 🇩🇪 1️⃣ a\u00a0b\u200bc\u200dd\u00ad\u2028e\u3000f\x85g\x1cA\x00B\x1b[0m\ufeff\ufffd\n"
    "</w> Ġ ▁ ## <unk> <|endoftext|> [a-z] $a$ `x` \\ aaa aaaaa ababab\n"
    "   "
)

MOST_TOKENS = 500
"""Tokens of the tokenizer that are put into the probe, spread over all ids."""


def check_equal_ids(tokenizer: TokenizerLike, library: LibraryEncode, who: str, probe_text: str = PROBE_TEXT) -> None:
    """Encode probes with a tokenizer and with a library, and demand the same ids.

    Raises:
        FormatError: the first text where they differ.
    """
    for text, ids in _probes(tokenizer, probe_text):
        _compare(ids, library(text, False), text, who)
    for special in tokenizer.special_tokens:
        # A character tokenizer may not know these letters, bare or at this place; then the token stands alone.
        for text in (f"ab{special}{special} c", special * 2):
            with_special = _encode(tokenizer, text, special="special")
            if with_special is not None:
                _compare(with_special, library(text, True), text, who)
                break


def _compare(ours: list[int], theirs: list[int], text: str, who: str) -> None:
    if ours == theirs:
        return
    at = next(i for i, (one, other) in enumerate(zip_longest(ours, theirs)) if one != other)
    raise FormatError(
        f"{who} must give the same ids, but for {quote(text, 60)} token {at:,} is "
        f"{theirs[at] if at < len(theirs) else 'missing'} there and {ours[at] if at < len(ours) else 'missing'} here"
    )


def _probes(tokenizer: TokenizerLike, probe_text: str) -> Iterator[tuple[str, list[int]]]:
    """Yield texts that the tokenizer can encode, with their ids. A character tokenizer knows only some texts."""
    yield from _known(tokenizer, probe_text, [*probe_text.splitlines(keepends=True), *probe_text.split()])
    step = max(tokenizer.vocab_size // MOST_TOKENS, 1)
    every = (_text_of(tokenizer, token) for token in range(0, tokenizer.vocab_size, step))
    texts = [text for text in every if text]
    yield from _known(tokenizer, "".join(texts), [*texts, *map("".join, pairwise(texts))])
    for joiner in (" ", "\n"):
        yield from _known(tokenizer, joiner.join(texts), map(joiner.join, pairwise(texts)))
    special_tokens = list(tokenizer.special_tokens)
    yield from _known(tokenizer, " ".join(special_tokens), special_tokens)


def _known(tokenizer: TokenizerLike, whole: str, pieces: Iterable[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the whole text if the tokenizer knows all of it, else those pieces that it knows."""
    ids = _encode(tokenizer, whole)
    if ids is not None:
        yield whole, ids
        return
    for text in pieces:
        ids = _encode(tokenizer, text)
        if ids is not None:
            yield text, ids


def _text_of(tokenizer: TokenizerLike, token: int) -> str | None:
    """Return the text of a token without its end-of-word mark; None for a part of a character or an unused id."""
    try:
        text = tokenizer.token_bytes(token).decode()
    except (KeyError, UnicodeDecodeError):
        return None
    if isinstance(tokenizer, Tokenizer) and tokenizer.end_of_word != "none":
        return text.removesuffix(END_OF_WORD)
    if isinstance(tokenizer, ImportedTokenizer):
        return text.removesuffix(tokenizer.end_of_word)
    return text


def _encode(tokenizer: TokenizerLike, text: str, special: Special = "text") -> list[int] | None:
    """Return the ids of a text; None where the tokenizer does not know a character."""
    try:
        return tokenizer.encode(text, special=special)
    except UnknownSymbolError:
        return None
