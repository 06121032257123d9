"""`train --model`: byte-pair encoding, or one of its neighbours, from the command line.

Options that are left out get the defaults of the model; those that mean nothing for it are refused, not passed over.
Read cli.py first, whose ways of reading, writing and laying out are used here.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from bpe import cli
from bpe.corpus import parse_word_counts
from bpe.errors import SettingsError
from bpe.formats import save_tokenizer
from bpe.normalizing import whole_characters
from bpe.pretokenize import count_pre_tokens
from bpe.progress_line import ProgressLine
from bpe.tokenizer import TokenizerLike
from bpe.unigram import UnigramTokenizer
from bpe.unigram_training import UnigramSettings, UnigramTraining, train_unigram
from bpe.wordpiece import BERT_SPLIT, UNKNOWN, WordPiece, WordPieceTokenizer, split_words
from bpe.wordpiece_training import WordPieceMerge, WordPieceSettings, WordPieceTraining, train_wordpiece

__all__ = ["MODELS", "train_command"]

MODELS = ("bpe", "wordpiece", "unigram")

_BPE_DEFAULTS: Mapping[str, object] = {
    "base": "bytes",
    "end_of_word": "none",
    "split": "gpt2",
    "tie_break": "first-seen",
    "min_pair_count": 2,
    "engine": "auto",
    "workers": 1,
    "format": "bpe-json",
}

_FORMAT = "tokenizer-json"
"""The one format for vocabularies without merges."""

_STOPPED = cli.STOPPED | {"too_few_substrings": "there are no more substrings that occur twice"}


def train_command(options: Namespace) -> bytes:
    """Learn a tokenizer of the model asked for; write it if asked to."""
    if options.model == "wordpiece":
        return _train_wordpiece(options)
    if options.model == "unigram":
        return _train_unigram(options)
    for name, value in _BPE_DEFAULTS.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return cli.train_command(options)


# ---------------------------------------------------------------------- what both share


def _refuse(options: Namespace, *names: str) -> None:
    """Refuse options that mean nothing for the model."""
    for name in ("engine", "workers", "scheduler", "errors", *names):
        if getattr(options, name) is not None:
            raise SettingsError(
                f"--{name.replace('_', '-')} must be left out with --model {options.model}, which has no use for it"
            )
    if options.format not in (None, _FORMAT):
        raise SettingsError(
            f"--format must be {_FORMAT} with --model {options.model}, but is {options.format}, which holds merges"
        )


def _count(options: Namespace, count_text: Callable[[str], Mapping[str, int]]) -> Counter[str]:
    """Count the pre-tokens of all files. Each file by itself: no pre-token reaches from one into the next."""
    counts: Counter[str] = Counter()
    for file in options.files:
        text = cli.read_text(file)
        counts.update(parse_word_counts(text) if options.word_counts else count_text(whole_characters(text)))
    return counts


def _check_export(out: str | None, blank: TokenizerLike) -> None:
    """Before the training, which may take long: can this be written at all, and there?"""
    if out is not None:
        cli.check_target(Path(out))
        save_tokenizer(blank, _FORMAT, name=Path(out).name)


def _export(out: str | None, tokenizer: TokenizerLike) -> None:
    if out is not None:
        target = Path(out)
        files = save_tokenizer(tokenizer, _FORMAT, name=target.name)
        cli.write_files({target.with_name(name): content for name, content in files.items()})


def _written(out: str | None) -> list[str]:
    return [] if out is None else [f"written to {out}"]


# ---------------------------------------------------------------------- WordPiece


def _train_wordpiece(options: Namespace) -> bytes:
    _refuse(options, "base", "end_of_word")
    settings = WordPieceSettings(
        num_merges=options.num_merges,
        vocab_size=options.vocab_size,
        min_pair_count=2 if options.min_pair_count is None else options.min_pair_count,
        tie_break=options.tie_break or "first-seen",
        split=BERT_SPLIT if options.split is None else options.split,
    )
    _check_export(options.out, WordPieceTokenizer((WordPiece(UNKNOWN, False),), {UNKNOWN: 0}, settings.split))
    counts = _count(options, lambda text: Counter(word for _, word, _ in split_words(text, settings.split)))
    with ProgressLine() as line:
        training = train_wordpiece(counts, settings, progress=line.show_merges)
    _export(options.out, training.tokenizer)
    return cli.as_json(_wordpiece_record(training)) if options.json else _wordpiece_table(training, options.out)


def _wordpiece_record(training: WordPieceTraining) -> dict[str, object]:
    return {
        "model": "wordpiece",
        "stopped": training.stopped,
        "num_merges": training.num_merges,
        "num_base": training.num_base,
        "merges": [_merge_record(training.tokenizer, merge) for merge in training.merges],
    }


def _merge_record(tokenizer: WordPieceTokenizer, merge: WordPieceMerge) -> dict[str, object]:
    """Tokens are given as written, with ##; the score as a fraction of whole numbers, and as a number."""
    record: dict[str, object] = {"rank": merge.rank}
    for name, token in (("left", merge.left), ("right", merge.right), ("token", merge.token)):
        record |= {name: tokenizer.vocabulary[token].written, f"{name}_id": token}
    return record | {
        "count": merge.pair_count,
        "left_count": merge.left_count,
        "right_count": merge.right_count,
        "score": str(merge.score),
        "score_value": float(merge.score),
        "num_tied": merge.num_tied,
        "num_replaced": merge.num_replaced,
        "num_tokens_after": merge.num_tokens,
    }


def _wordpiece_table(training: WordPieceTraining, out: str | None) -> bytes:
    def shown(token: int) -> str:
        return cli.show_token(training.tokenizer.token_bytes(token))

    rows = [
        (
            f"{merge.rank:,}",
            f"{float(merge.score):.6g}",
            f"{merge.pair_count:,}",
            f"{merge.num_tied:,}",
            f"{merge.num_tokens:,}",
            f"{shown(merge.left)} + {shown(merge.right)} -> {shown(merge.token)}",
        )
        for merge in training.merges
    ]
    head = (
        f"{training.num_merges:,} merges on {training.num_base:,} base tokens; "
        f"stopped: {training.stopped} ({_STOPPED[training.stopped]})"
    )
    table = cli.lay_out_table(("rank", "score", "count", "tied", "tokens", "merge"), rows)
    return cli.as_lines([head, *table, *_written(out)])


# ---------------------------------------------------------------------- Unigram


def _train_unigram(options: Namespace) -> bytes:
    _refuse(options, "end_of_word", "tie_break", "min_pair_count")
    if options.vocab_size is None:
        raise SettingsError(
            "--model unigram takes --vocab-size, not --num-merges: it takes tokens away, it merges none"
        )
    settings = UnigramSettings(
        vocab_size=options.vocab_size,
        base=options.base or "chars",
        split="gpt2" if options.split is None else options.split,
    )
    _check_export(options.out, UnigramTokenizer((b"a",), (0.0,), settings.base, settings.split))
    counts = _count(options, lambda text: count_pre_tokens(text, settings.split))
    with ProgressLine() as line:
        training = train_unigram(counts, settings, progress=line.show_removed)
    _export(options.out, training.tokenizer)
    return cli.as_json(_unigram_record(training)) if options.json else _unigram_table(training, options.out)


def _unigram_record(training: UnigramTraining) -> dict[str, object]:
    tokenizer = training.tokenizer
    return {
        "model": "unigram",
        "stopped": training.stopped,
        "vocab_size": tokenizer.vocab_size,
        "log_likelihood": training.log_likelihood,
        "rounds": [
            {"num_tokens": len(step.tokens), "log_likelihoods": list(step.log_likelihoods)} for step in training.rounds
        ],
        "tokens": [
            {"token": cli.text_or_none(name), "token_hex": name.hex(), "token_id": token, "score": score}
            for token, (name, score) in enumerate(zip(tokenizer.tokens, tokenizer.scores, strict=True))
        ],
    }


def _unigram_table(training: UnigramTraining, out: str | None) -> bytes:
    tokenizer = training.tokenizer
    sizes = " -> ".join(f"{len(step.tokens):,}" for step in training.rounds)
    head = (
        f"{tokenizer.vocab_size:,} tokens ({sizes}); log likelihood {training.log_likelihood:,.2f}; "
        f"stopped: {training.stopped} ({_STOPPED[training.stopped]})"
    )
    rows = [
        (f"{token:,}", f"{score:.4f}", cli.show_token(name))
        for token, (name, score) in enumerate(zip(tokenizer.tokens, tokenizer.scores, strict=True))
    ]
    return cli.as_lines([head, *cli.lay_out_table(("id", "score", "token"), rows), *_written(out)])
