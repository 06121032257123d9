"""vocab.txt, the WordPiece vocabulary of BERT: one token a line, its id the number of the line from 0.

The file says nothing about the text handling, so that of BERT is taken, as `BertWordPieceTokenizer` of the
`tokenizers` library has it: control characters and white space are cleaned, punctuation and Chinese characters stand
alone. Whether a text is lower-cased, and with that loses its accents, is decided by the vocabulary: a vocabulary in
which no token has an upper-case letter was made of lower-cased text, and could spell no other. Tokens in square
brackets are special and do not count.

This module leaves out how WordPiece works (wordpiece.py) and how the library is shown (hub_tokenizer.py).

Source: github.com/huggingface/tokenizers, bindings/python/py_src/tokenizers/implementations/bert_wordpiece.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bpe.errors import FormatError, UnavailableError
from bpe.formats.reading import decode_lines, quote
from bpe.formats.recognise import File, Files
from bpe.hub_tokenizer import HubTokenizer

__all__ = ["is_lower_cased", "read", "tokenizer_of"]

UNKNOWN = "[UNK]"
SPECIAL_TOKENS = ("[PAD]", UNKNOWN, "[CLS]", "[SEP]", "[MASK]")

MAX_WORD_CHARS = 100
"""Longer words are unknown, as in BERT."""


def read(files: Files, split: str | None = None) -> HubTokenizer:
    """Return the tokenizer of a vocabulary file; `split` is for formats that do not hold it, and not used here.

    Raises:
        FormatError: the line at fault.
        UnavailableError: `tokenizers` is not installed.
    """
    file = files["vocab-txt"]
    return tokenizer_of(file.name, _read_tokens(file))


def tokenizer_of(name: str, tokens: Sequence[str]) -> HubTokenizer:
    """Return the tokenizer of a vocabulary, `[UNK]` in it, that handles texts as BERT does.

    Raises:
        UnavailableError: `tokenizers` is not installed.
    """
    try:
        from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
    except ImportError:
        raise UnavailableError(
            f"{name} is a WordPiece vocabulary, which needs the package tokenizers: pip install tokenizers"
        ) from None
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token=UNKNOWN, max_input_chars_per_word=MAX_WORD_CHARS))
    normalizer = normalizers.BertNormalizer(lowercase=is_lower_cased(tokens))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return HubTokenizer(
        name,
        tokens,
        tokenizer,
        special_tokens={token: ids[token] for token in SPECIAL_TOKENS if token in ids},
        unknown_id=ids[UNKNOWN],
        normalize=normalizer.normalize_str,
        adds_space=False,
    )


def is_lower_cased(tokens: Iterable[str]) -> bool:
    """Tell whether a vocabulary was made of lower-cased text: no token but those in brackets has an upper-case letter.

    >>> is_lower_cased(["[UNK]", "the", "##s"]), is_lower_cased(["[UNK]", "The", "##s"])
    (True, False)
    """
    return not any(token != token.lower() for token in tokens if not _is_bracketed(token))


def _is_bracketed(token: str) -> bool:
    return len(token) > 2 and token.startswith("[") and token.endswith("]")


def _read_tokens(file: File) -> Sequence[str]:
    # Every line counts, so a lost end would go unnoticed; its missing line break is the only trace.
    if not file.data.endswith(b"\n"):
        raise FormatError(
            f"{file.name} must end with a line break behind its last token, but ends with "
            f"{quote(file.data[-20:])}; the file may be cut: get it again, or add the line break if it is whole"
        )
    line_of: dict[str, int] = {}
    for number, token in decode_lines(file.data, file.name):
        if not token or any(char.isspace() for char in token):
            raise FormatError(
                f"{file.name}: line {number:,} must be one token without white space, but is {quote(token)}; "
                "the file may be altered, or another kind of text"
            )
        if token in line_of:
            raise FormatError(
                f"{file.name}: line {number:,} must be a token of its own, but {quote(token)} is on line "
                f"{line_of[token]:,} already"
            )
        line_of[token] = number
    if UNKNOWN not in line_of:
        raise FormatError(f"{file.name} must have a line {UNKNOWN}, the token for unknown words, but has none")
    return list(line_of)
