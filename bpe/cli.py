"""What the commands of `python -m bpe` do: read files, call the package, lay out the answer.

Every command returns what goes to standard output, as bytes; __main__.py parses the arguments, prints, and turns
errors into one line. With `--json` the answer is one line of JSON in UTF-8, whatever the terminal's encoding;
without, a table for people, in which control characters and parts of characters are written as `\\x..`.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from bpe.corpus import decode_text, parse_word_counts
from bpe.counting import Tally, count_text
from bpe.errors import FormatError, SettingsError, UnknownTokenizerError
from bpe.formats import load_tokenizer, save_tokenizer
from bpe.formats.reading import parse_json, quote
from bpe.kernels.loader import Group, cache_folder, load, why_not_ready
from bpe.pretrained import load_pretrained, pretrained_info, pretrained_names
from bpe.progress_line import ProgressLine
from bpe.settings import TrainSettings
from bpe.tokenizer import Tokenizer, TokenizerLike
from bpe.trainer import train, train_counts, train_files, uses_compiled
from bpe.training import Merge, Training

__all__ = [
    "STOPPED",
    "as_json",
    "as_lines",
    "check_target",
    "compare_command",
    "decode_command",
    "encode_command",
    "lay_out_table",
    "read_text",
    "show_token",
    "text_or_none",
    "tokenizers_command",
    "train_command",
    "warm_command",
    "write_files",
]

MOST_BYTES_READ_WHOLE = 16 << 20

STOPPED = {
    "num_merges": "as many merges as were asked for",
    "vocab_size": "the vocabulary has the size that was asked for",
    "min_pair_count": "the pairs that are left are rarer than --min-pair-count",
    "no_pairs": "every pre-token is one token",
    "cancelled": "cancelled",
}


# ---------------------------------------------------------------------- train


def train_command(options: Namespace) -> bytes:
    """Learn merges from files; write the tokenizer if asked to."""
    settings = TrainSettings(
        base=options.base,
        end_of_word=options.end_of_word,
        split=options.split,
        tie_break=options.tie_break,
        num_merges=options.num_merges,
        vocab_size=options.vocab_size,
        min_pair_count=options.min_pair_count,
    )
    if options.out is not None:
        # Before the training, which may take long: can this be written at all, and there?
        check_target(Path(options.out))
        blank = Tokenizer.base_of([], base=settings.base, end_of_word=settings.end_of_word, split=settings.split)
        save_tokenizer(blank, options.format, name=Path(options.out).name)

    with ProgressLine() as line:
        training = _train(options, settings, line)
    why_not = why_not_ready("train")
    if why_not and options.engine == "auto":
        print(f"note: {why_not}", file=sys.stderr)

    if options.out is not None:
        target = Path(options.out)
        files = save_tokenizer(training.tokenizer, options.format, name=target.name)
        write_files({target.with_name(name): content for name, content in files.items()})
    return as_json(_training_record(training)) if options.json else _training_table(training, options.out)


def _train(options: Namespace, settings: TrainSettings, line: ProgressLine) -> Training:
    if options.word_counts:
        table: Counter[str] = Counter()
        for file in options.files:
            table.update(parse_word_counts(read_text(file)))
        return train(table, settings, engine=options.engine, progress=line.show_merges)
    if _goes_in_blocks(options):
        return train_files(
            options.files,
            settings,
            workers=options.workers,
            scheduler=options.scheduler,
            errors=options.errors or "strict",
            engine=options.engine,
            progress=line.show_merges,
            count_progress=line.show_bytes,
        )
    # Each file by itself: no pre-token reaches from one into the next.
    tally = Tally()
    for file in options.files:
        text = read_text(file)
        compiled = uses_compiled("count", options.engine, len(text))
        tally.add(count_text(text, settings.split, compiled=compiled))
    return train_counts(tally.result(), settings, engine=options.engine, progress=line.show_merges)


def _goes_in_blocks(options: Namespace) -> bool:
    """Tell whether files are read in blocks: large ones, and all where an option asks for what only that can do.

    Read whole, a file may be in any encoding; in blocks it must be UTF-8.
    """
    asks = options.workers != 1 or options.scheduler is not None or options.errors is not None
    if "-" in options.files:
        if asks:
            raise SettingsError(
                "--workers, --scheduler and --errors need files, but - is standard input; save it first"
            )
        return False
    # A file that is not there is told by whoever opens it.
    return asks or sum(os.path.getsize(file) for file in options.files if os.path.exists(file)) > MOST_BYTES_READ_WHOLE


def _training_record(training: Training) -> dict[str, object]:
    return {
        "stopped": training.stopped,
        "num_merges": training.num_merges,
        "num_base": training.num_base,
        "merges": [_merge_record(training.tokenizer, merge) for merge in training.merges],
    }


def _merge_record(tokenizer: Tokenizer, merge: Merge) -> dict[str, object]:
    """A token is given three times: its text (null for a part of a character), its bytes, its id."""
    record: dict[str, object] = {"rank": merge.rank}
    for name, token in (("left", merge.left), ("right", merge.right), ("token", merge.token)):
        raw = tokenizer.token_bytes(token)
        record |= {name: text_or_none(raw), f"{name}_hex": raw.hex(), f"{name}_id": token}
    return record | {
        "count": merge.pair_count,
        "num_tied": merge.num_tied,
        "num_replaced": merge.num_replaced,
        "num_tokens_after": merge.num_tokens,
    }


def text_or_none(raw: bytes) -> str | None:
    """Return the text of bytes; None where they are not whole characters."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _training_table(training: Training, out: str | None) -> bytes:
    name = training.tokenizer.token_bytes
    rows = [
        (
            f"{merge.rank:,}",
            f"{merge.pair_count:,}",
            f"{merge.num_tied:,}",
            f"{merge.num_replaced:,}",
            f"{merge.num_tokens:,}",
            f"{show_token(name(merge.left))} + {show_token(name(merge.right))} -> {show_token(name(merge.token))}",
        )
        for merge in training.merges
    ]
    lines = [
        f"{training.num_merges:,} merges on {training.num_base:,} base tokens; "
        f"stopped: {training.stopped} ({STOPPED[training.stopped]})"
    ]
    lines += lay_out_table(("rank", "count", "tied", "replaced", "tokens", "merge"), rows)
    if out is not None:
        lines.append(f"written to {out}")
    return as_lines(lines)


def warm_command(options: Namespace) -> bytes:
    """Get the compiled kernels ready, so that no later command has to."""
    lines = []
    for group in get_args(Group):
        started = time.perf_counter()
        load(group)
        lines.append(f"{group} kernels ready in {time.perf_counter() - started:.2f} s")
    return as_lines([*lines, f"machine code is kept in {cache_folder()}"])


# ---------------------------------------------------------------------- encode, decode


def encode_command(options: Namespace) -> bytes:
    """Encode one text."""
    tokenizer = _find_tokenizer(options.tokenizer, options.split)
    # An empty text is a text of no tokens here, though a corpus must not be empty.
    data = _read_bytes(options.file)
    text = _decode(data, options.file) if data else ""
    ids = tokenizer.encode(text)
    if not options.json:
        return as_lines([" ".join(map(str, ids))])
    tokens = [tokenizer.token_bytes(token).hex() for token in ids]
    return as_json({"ids": ids, "tokens_hex": tokens, "num_bytes": len(text.encode())})


def decode_command(options: Namespace) -> bytes:
    """Decode ids to exactly the bytes of their tokens; no line break is added."""
    tokenizer = _find_tokenizer(options.tokenizer, options.split)
    return tokenizer.decode_bytes(_parse_ids(_read_bytes(options.file), _shown(options.file)))


def _parse_ids(data: bytes, name: str) -> list[int]:
    """Return the ids of a file: numbers with white space or commas between, a JSON list, or `encode --json`."""
    if data.lstrip()[:1] in (b"{", b"["):
        document = parse_json(data, name)
        listed = document if isinstance(document.value, list) else document.get("ids")
        return [item.integer() for item in listed.items()]
    words = re.split(rb"[\s,]+", data.strip()) if data.strip() else []
    for number, word in enumerate(words, start=1):
        if not re.fullmatch(rb"[0-9]{1,10}", word):
            shown = quote(word.decode("utf-8", "backslashreplace"))
            raise FormatError(f"{name} must hold token ids, whole numbers, but number {number:,} is {shown}")
    return [int(word) for word in words]


# ---------------------------------------------------------------------- compare, tokenizers


def compare_command(options: Namespace) -> bytes:
    """Count the tokens of each file under each tokenizer."""
    tokenizers = {name: _find_tokenizer(name, options.split) for name in options.tokenizer}
    records: list[dict[str, object]] = []
    rows = []
    for file in options.files:
        text = read_text(file)
        num_bytes = len(text.encode())
        for name, tokenizer in tokenizers.items():
            num_tokens = len(tokenizer.encode(text))
            # A text of white space has no tokens under a tokenizer that only encodes words.
            bytes_per_token = num_bytes / num_tokens if num_tokens else None
            records.append(
                {
                    "file": file,
                    "tokenizer": name,
                    "num_tokens": num_tokens,
                    "num_bytes": num_bytes,
                    "num_chars": len(text),
                    "bytes_per_token": bytes_per_token,
                }
            )
            shown = "-" if bytes_per_token is None else f"{bytes_per_token:.3f}"
            rows.append((f"{num_tokens:,}", f"{num_bytes:,}", f"{len(text):,}", shown, f"{name}  {file}"))
    if options.json:
        return as_json(records)
    return as_lines(lay_out_table(("tokens", "bytes", "characters", "bytes/token", "tokenizer, file"), rows))


def tokenizers_command(options: Namespace) -> bytes:
    """List the real tokenizers."""
    infos = [pretrained_info(name) for name in pretrained_names()]
    if options.json:
        return as_json(
            [
                {
                    "name": info.name,
                    "title": info.title,
                    "vocab_size": info.vocab_size,
                    "kind": info.kind,
                    "source": info.source,
                    "licence": info.licence,
                    "available": info.available,
                    "why_not": info.why_not or None,
                }
                for info in infos
            ]
        )
    lines = []
    for info in infos:
        here = "available" if info.available else f"not available: {info.why_not}"
        lines.append(f"{info.name:<14} {info.vocab_size:>9,}  {info.kind}; {info.source}; {info.licence}; {here}")
    return as_lines(lines)


# ---------------------------------------------------------------------- reading


def _find_tokenizer(name: str, split: str | None) -> TokenizerLike:
    """Return a tokenizer by name, else from a file. `./name` is always a file."""
    try:
        return load_pretrained(name)
    except UnknownTokenizerError as error:
        if os.path.lexists(name):
            return load_tokenizer(name, split=split)
        raise UnknownTokenizerError(f"{error} There is no file of that name either") from None


def _read_bytes(file: str) -> bytes:
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def _shown(file: str) -> str:
    return "standard input" if file == "-" else file


def read_text(file: str) -> str:
    """Return the text of a file in any common encoding; notices go to standard error."""
    return _decode(_read_bytes(file), file)


def _decode(data: bytes, file: str) -> str:
    decoded = decode_text(data, name=_shown(file))
    for notice in decoded.notices:
        print(f"note: {_shown(file)}: {notice}", file=sys.stderr)
    return decoded.text


# ---------------------------------------------------------------------- writing


def check_target(path: Path) -> None:
    """Refuse a target that cannot become a file, or that is something else than one (a device would be replaced)."""
    if not path.parent.is_dir():
        raise SettingsError(f"--out {path} must be in a folder that exists, but {path.parent} is none; make it first")
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise SettingsError(
            f"--out {path} must be a file or not exist, but is a folder or a device; choose another name"
        )
    if not os.access(path.parent, os.W_OK):
        raise SettingsError(f"--out {path} must be in a folder that may be written to, but {path.parent} is read-only")


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write files so that each is there whole or not at all, whatever interrupts.

    Each goes to a temporary file beside its place and, once all are on the disk, is moved there in one step.
    """
    # Through a symbolic link to its file, or the link would be replaced.
    targets = {Path(os.path.realpath(path)): content for path, content in files.items()}
    temporaries = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in targets}
    try:
        for path, content in targets.items():
            check_target(path)
            try:
                with temporaries[path].open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:  # an error of writing does not name the file
                raise OSError(error.errno, error.strerror, str(path)) from error
        for path, temporary in temporaries.items():
            os.replace(temporary, path)
    finally:
        for temporary in temporaries.values():
            temporary.unlink(missing_ok=True)


def show_token(token: bytes) -> str:
    """Return a token as a line of text can hold it, in quotes.

    Control characters, invisible ones, and bytes that are no whole character are written as `\\x..`.

    >>> print(show_token(" né".encode()), show_token(b"\\xc3"), show_token(b"a\\n"), show_token(b"\\\\n"))
    ' né' '\\xc3' 'a\\x0a' '\\\\n'
    """
    shown = []
    for char in token.decode("utf-8", "surrogateescape"):
        if char == "\\":
            shown.append("\\\\")
        elif char.isprintable():
            shown.append(char)
        else:
            shown += [f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape")]
    return f"'{''.join(shown)}'"


def lay_out_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with every column but the last aligned to the right; the last may hold wide characters."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return [
        "  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True)), row[-1]])
        for row in (heads, *rows)
    ]


def as_lines(lines: Sequence[str]) -> bytes:
    """Return lines in the encoding of the terminal, what it lacks written as an escape."""
    return "".join(line + "\n" for line in lines).encode(sys.stdout.encoding or "utf-8", "backslashreplace")


def as_json(value: object) -> bytes:
    """Return one line of JSON."""
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()
