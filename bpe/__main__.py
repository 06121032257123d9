"""The command line: `python -m bpe train|encode|decode|compare|tokenizers|warm`.

Only arguments, printing and errors; cli.py says what the commands do. An error is one line on standard error that
says what to do, and exit status 2. Ctrl-C is status 130, a closed pipe (`| head`) 141, as shells have it.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from typing import NoReturn, get_args

from bpe import cli, cli_neighbours
from bpe.errors import BpeError, SettingsError
from bpe.file_parts import ByteErrors
from bpe.formats import FORMATS
from bpe.pretokenize import SPLIT_PATTERNS
from bpe.settings import Base, EndOfWord, TieBreak
from bpe.trainer import Engine

__all__ = ["main"]

WRONG, INTERRUPTED, PIPE_CLOSED = 2, 130, 141

SPLIT_HELP = f"split pattern: {', '.join(SPLIT_PATTERNS)}, or a regular expression"


_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


class Parser(argparse.ArgumentParser):
    """argparse, with the one line of an error and without the usage before it."""

    def error(self, message: str) -> NoReturn:
        raise SettingsError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        options = _parser().parse_args(arguments)
        output: bytes = options.command(options)
        sys.stdout.buffer.write(output)
        sys.stdout.flush()
    except BpeError as error:
        return _fail(str(error))
    except BrokenPipeError:
        # Nobody reads on. Python would flush once more on its way out, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        return _fail(_explain(error))
    except KeyboardInterrupt:
        _print_error("interrupted")
        return INTERRUPTED
    return 0


def _explain(error: OSError) -> str:
    """Return a sentence for a file that cannot be read or written."""
    if error.errno in _NO_ROOM:
        place = error.filename or "the output"
        return f"{place} must fit on its disk, but does not ({error.strerror}): make room, or write somewhere else"
    advice = {
        FileNotFoundError: "does not exist; check the path",
        IsADirectoryError: "is a folder; name the files in it",
        PermissionError: "may not be opened; change its permissions or choose another file",
    }.get(type(error), f"cannot be used: {error.strerror or error}")
    return f"{error.filename or 'a file'} {advice}"


def _fail(message: str) -> int:
    _print_error(message)
    return WRONG


def _print_error(message: str) -> None:
    """Print one line, whatever the message quotes."""
    line = "".join(char if char.isprintable() else repr(char)[1:-1] for char in message)
    print(f"python -m bpe: {line}", file=sys.stderr)


def _parser() -> Parser:
    parser = Parser(
        prog="python -m bpe",
        description="Byte-pair encoding: learn merges, encode, decode, compare tokenizers.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_train(commands.add_parser("train", help="learn merges from files", allow_abbrev=False))

    encode = commands.add_parser("encode", help="text to token ids", allow_abbrev=False)
    encode.add_argument("file", nargs="?", default="-", metavar="FILE", help="a text; - is standard input")
    encode.set_defaults(command=cli.encode_command)
    decode = commands.add_parser("decode", help="token ids to text", allow_abbrev=False)
    decode.add_argument("file", nargs="?", default="-", metavar="FILE", help="ids, or the JSON of encode --json")
    decode.set_defaults(command=cli.decode_command)
    compare = commands.add_parser("compare", help="count tokens under several tokenizers", allow_abbrev=False)
    compare.add_argument("files", nargs="+", metavar="FILE")
    compare.set_defaults(command=cli.compare_command)
    for command in (encode, decode, compare):
        command.add_argument(
            "--tokenizer",
            required=True,
            action="append" if command is compare else "store",
            metavar="NAME|FILE",
            help="a name that `tokenizers` lists, or a tokenizer file",
        )
        command.add_argument(
            "--split", metavar="NAME|REGEX", help="for a rank file without settings beside it: its " + SPLIT_HELP
        )

    warm = commands.add_parser("warm", help="get the compiled kernels ready ahead", allow_abbrev=False)
    warm.set_defaults(command=cli.warm_command)
    listing = commands.add_parser("tokenizers", help="list the real tokenizers", allow_abbrev=False)
    listing.set_defaults(command=cli.tokenizers_command)
    for command in (encode, compare, listing):
        command.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _add_train(command: argparse.ArgumentParser) -> None:
    command.add_argument("files", nargs="+", metavar="FILE", help="texts; - is standard input")
    stop = command.add_mutually_exclusive_group(required=True)
    stop.add_argument("--num-merges", type=int, metavar="N")
    stop.add_argument("--vocab-size", type=int, metavar="N", help="base tokens and merges")
    # No defaults here: what is left out depends on the model, and what means nothing for it is refused.
    command.add_argument("--model", choices=cli_neighbours.MODELS, default="bpe", help="what to train; default: bpe")
    command.add_argument("--base", choices=get_args(Base), help="default: bytes, with unigram chars")
    command.add_argument("--end-of-word", choices=get_args(EndOfWord), help="default: none")
    split_help = f"{SPLIT_HELP}; default: gpt2, with wordpiece BERT's"
    command.add_argument("--split", metavar="NAME|REGEX", help=split_help.replace("%", "%%"))
    command.add_argument("--tie-break", choices=get_args(TieBreak), help="default: first-seen")
    command.add_argument("--min-pair-count", type=int, metavar="N", help="default: 2")
    command.add_argument("--word-counts", action="store_true", help="the files are tables: word, TAB, count")
    command.add_argument("--engine", choices=get_args(Engine), help="default: auto")
    command.add_argument("--workers", type=int, metavar="N", help="count on so many processes; default: 1")
    command.add_argument("--scheduler", metavar="ADDRESS", help="count on the Dask cluster of this scheduler")
    command.add_argument("--errors", choices=get_args(ByteErrors), help="what to do about bytes that are not UTF-8")
    command.add_argument("--out", metavar="FILE", help="write the tokenizer to this file")
    format_help = "how to write it; default: bpe-json, with wordpiece and unigram tokenizer-json"
    command.add_argument("--format", choices=list(FORMATS), help=format_help)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(command=cli_neighbours.train_command)


if __name__ == "__main__":
    sys.exit(main())
