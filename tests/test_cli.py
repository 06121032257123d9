"""The command line: answers equal to the package's, errors of one line with status 2, files whole or not at all."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bpe import TrainSettings, train
from bpe.__main__ import main
from bpe.cli import show_token, write_files
from bpe.formats import FORMATS, load_tokenizer
from bpe.pretrained import load_pretrained, pretrained_names

ROOT = Path(__file__).resolve().parents[1]
LOWEST = "low\t5\nlower\t2\nnewest\t6\nwidest\t3\n"
TEXT = "the cat sat on the mat, the rat's naïve 日本 日本\r\n" * 3
HARD_TEXT = "a,b ## Ġ ▁ </w> <script> \x00\x1b[0m \u202e\u00a0\u200b 👨‍👩‍👧 नमस्ते\r\n\t  <|endoftext|>  "


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """Run a command in an empty folder; return (exit status, standard output in bytes, standard error)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return status, captured.out, captured.err

    return run


def ok(result):
    status, out, err = result
    assert (status, err) == (0, "")
    return out


def record(result):
    out = ok(result)
    assert out.count("\n") == 1
    return json.loads(out)


def command(*arguments, stdin=b"", environment=None):
    return subprocess.run(
        [sys.executable, "-m", "bpe", *map(str, arguments)],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        timeout=60,
        env={**os.environ, **(environment or {})},
        check=False,
    )


# ------------------------------------------------------------------------------------------- train


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"base": "chars", "end_of_word": "attached", "split": "whitespace", "tie_break": "greatest-pair"},
        {"base": "chars", "split": "none", "tie_break": "lowest-ids", "min_pair_count": 3},
        {"split": r"\p{L}+|\d"},
    ],
)
@pytest.mark.parametrize("engine", ["auto", "python", "reference"])
def test_train_prints_the_training(run, tmp_path, options, engine):
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    training = train(TEXT, TrainSettings(num_merges=20, **options))
    flags = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
    found = record(run("train", "text.txt", "--num-merges", 20, "--engine", engine, "--json", *flags))

    assert list(found) == ["stopped", "num_merges", "num_base", "merges"]
    assert (found["stopped"], found["num_merges"]) == (training.stopped, training.num_merges)
    assert found["num_base"] == training.num_base
    name = training.tokenizer.token_bytes
    for merge, row in zip(training.merges, found["merges"], strict=True):
        assert row["rank"] == merge.rank
        for key, token in (("left", merge.left), ("right", merge.right), ("token", merge.token)):
            assert bytes.fromhex(row[f"{key}_hex"]) == name(token)
            assert row[f"{key}_id"] == token
            if row[key] is None:
                assert "\ufffd" in name(token).decode(errors="replace")
            else:
                assert row[key].encode() == name(token)
        assert row["count"] == merge.pair_count
        assert row["num_tied"] == merge.num_tied
        assert row["num_replaced"] == merge.num_replaced
        assert row["num_tokens_after"] == merge.num_tokens


def test_a_part_of_a_character_has_hex_and_no_text(run):
    found = record(run("train", "-", "--num-merges", 1, "--split", "none", "--json", stdin="日日日".encode()))
    merge = found["merges"][0]
    assert (merge["left"], merge["left_hex"]) == (None, "e6")
    assert (merge["token"], merge["token_hex"]) == (None, "e697")


def test_the_table_for_people(run):
    out = ok(
        run(
            *("train", "-", "--word-counts", "--num-merges", 4, "--base", "chars", "--end-of-word", "separate"),
            stdin=LOWEST.encode(),
        )
    )
    assert out == (
        "4 merges on 11 base tokens; stopped: num_merges (as many merges as were asked for)\n"
        "rank  count  tied  replaced  tokens  merge\n"
        "   0      9     2         9      86  'e' + 's' -> 'es'\n"
        "   1      9     1         9      77  'es' + 't' -> 'est'\n"
        "   2      9     0         9      68  'est' + '</w>' -> 'est</w>'\n"
        "   3      7     1         7      61  'l' + 'o' -> 'lo'\n"
    )


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (b"the", "'the'"),
        (" né".encode(), "' né'"),
        (b"\xe6\x97", r"'\xe6\x97'"),
        ("a日".encode() + b"\xe6", r"'a日\xe6'"),
        (b"\x1b[0m\n\x00", r"'\x1b[0m\x0a\x00'"),
        ("\u202e\u200b\u00a0".encode(), r"'\xe2\x80\xae\xe2\x80\x8b\xc2\xa0'"),
        (b"\\n", r"'\\n'"),
    ],
)
def test_a_token_is_shown_so_that_it_cannot_harm_a_terminal(token, shown):
    assert show_token(token) == shown


def test_no_pair_to_merge_is_a_result(run):
    out = ok(run("train", "-", "--num-merges", 5, stdin=b"a"))
    assert out.startswith("0 merges on 256 base tokens; stopped: no_pairs (every pre-token is one token)\n")


def test_vocab_size_counts_base_tokens(run):
    assert record(run("train", "-", "--vocab-size", 258, "--json", stdin=TEXT.encode()))["num_merges"] == 2


def test_no_pre_token_reaches_from_one_file_into_the_next(run, tmp_path):
    (tmp_path / "one").write_text("ab")
    (tmp_path / "two").write_text("cab")
    options = ("--split", "none", "--min-pair-count", 1, "--num-merges", 9, "--json")
    found = record(run("train", "one", "two", *options))
    assert [merge["token"] for merge in found["merges"]] == ["ab", "cab"]
    tables = record(run("train", "one", "two", "one", *options))
    assert [merge["count"] for merge in tables["merges"]] == [3, 1]


def test_word_tables_add_up(run, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).write_text("hug\t10\npug\t5\n")
    found = record(run("train", "one", "two", "--word-counts", "--base", "chars", "--num-merges", 1, "--json"))
    assert (found["merges"][0]["token"], found["merges"][0]["count"]) == ("ug", 30)


# ------------------------------------------------------------------------------------------- --out


@pytest.mark.parametrize("format", FORMATS)
def test_what_train_writes_encodes_like_the_training(run, tmp_path, format):
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    name = "my-vocab.json" if format == "vocab-merges" else "my.tokenizer"
    out = ok(run("train", "text.txt", "--num-merges", 20, "--out", name, "--format", format))
    assert out.endswith(f"written to {name}\n")
    tokenizer = train(TEXT, TrainSettings(num_merges=20)).tokenizer
    (tmp_path / "hard.txt").write_bytes(HARD_TEXT.encode())
    found = record(run("encode", "--tokenizer", name, "hard.txt", "--json"))
    assert found["ids"] == tokenizer.encode(HARD_TEXT)
    assert b"".join(map(bytes.fromhex, found["tokens_hex"])) == HARD_TEXT.encode()
    assert found["num_bytes"] == len(HARD_TEXT.encode())
    leftovers = [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert leftovers == []


def test_what_cannot_be_written_is_said_before_training(run, tmp_path, monkeypatch):
    monkeypatch.setattr("bpe.cli.train", lambda *arguments, **options: pytest.fail("trained first"))
    common = ("train", "-", "--num-merges", 3, "--base", "chars", "--format", "tiktoken")
    status, _, err = run(*common, "--out", "x", stdin=b"abab")
    assert (status, err.count("\n")) == (2, 1)
    assert "over characters; choose bpe-json" in err
    (tmp_path / "folder").mkdir()
    for target, sentence in (
        ("folder", "is a folder or a device"),
        ("none/x", "must be in a folder that exists, but none is none"),
        (os.devnull, "is a folder or a device"),
    ):
        status, _, err = run("train", "-", "--num-merges", 3, "--out", target, stdin=b"abab")
        assert (status, err.count("\n")) == (2, 1)
        assert sentence in err
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("broken", ["os.replace", "os.fsync"])
@pytest.mark.parametrize(("failure", "status"), [(KeyboardInterrupt, 130), (OSError(28, "No space left"), 2)])
def test_an_interrupted_write_leaves_the_old_file(run, tmp_path, monkeypatch, broken, failure, status):
    (tmp_path / "old.json").write_text("old")

    def fail(*arguments):
        raise failure

    monkeypatch.setattr(broken, fail)
    found, out, err = run("train", "-", "--num-merges", 3, "--out", "old.json", stdin=b"abab")
    assert (found, out, err.count("\n")) == (status, "", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"


def test_files_are_written_through_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_files({tmp_path / "link": b"new"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


# ------------------------------------------------------------------------------------------- encode, decode


def test_encode_prints_ids(run):
    assert ok(run("encode", "--tokenizer", "gpt2", stdin=b" strawberry")) == "41236\n"
    assert ok(run("encode", "--tokenizer", "cl100k", "-", stdin=b"strawberry")) == "496 675 15717\n"
    found = record(run("encode", "--tokenizer", "gpt2", "--json", stdin=b"strawberry"))
    assert found == {"ids": [301, 1831, 8396], "tokens_hex": ["7374", "726177", "6265727279"], "num_bytes": 10}


def test_an_empty_text_has_no_tokens(run):
    assert record(run("encode", "--tokenizer", "gpt2", "--json")) == {"ids": [], "tokens_hex": [], "num_bytes": 0}
    assert ok(run("decode", "--tokenizer", "gpt2")) == ""


def test_decode_takes_ids_as_encode_prints_them(run):
    gpt2 = load_pretrained("gpt2")
    ids = gpt2.encode("low, é!")
    for written in (" ".join(map(str, ids)), ",\n".join(map(str, ids)), json.dumps(ids), json.dumps({"ids": ids})):
        assert ok(run("decode", "--tokenizer", "gpt2", stdin=written.encode())) == "low, é!"


def test_bytes_go_through_the_pipe_unchanged():
    ids = command("encode", "--tokenizer", "gpt2", "--json", stdin=HARD_TEXT.encode())
    assert (ids.returncode, ids.stderr) == (0, b"")
    back = command("decode", "--tokenizer", "gpt2", stdin=ids.stdout)
    assert (back.returncode, back.stdout) == (0, HARD_TEXT.encode())
    part = command("decode", "--tokenizer", "gpt2", stdin=b"162 245")
    assert part.stdout == load_pretrained("gpt2").decode_bytes([162, 245])
    with pytest.raises(UnicodeDecodeError):
        part.stdout.decode()


def test_a_narrow_terminal_gets_escapes_in_tables_and_utf8_in_json():
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    common = ("train", "-", "--num-merges", 1, "--base", "chars", "--split", "none")
    table = command(*common, stdin="éé éé".encode(), environment=ascii_only)
    assert rb"'\xe9' + '\xe9'" in table.stdout
    found = command(*common, "--json", stdin="éé éé".encode(), environment=ascii_only)
    assert json.loads(found.stdout)["merges"][0]["token"] == "éé"


def test_a_byte_order_mark_is_a_note(run):
    status, out, err = run("encode", "--tokenizer", "gpt2", stdin=b"\xef\xbb\xbf strawberry")
    assert (status, out) == (0, "41236\n")
    assert err.startswith("note: standard input: A byte order mark")


def test_a_file_wins_over_no_name_and_a_name_over_a_file(run, tmp_path):
    ok(run("train", "-", "--num-merges", 2, "--out", "gpt2", stdin=b"abab"))
    assert ok(run("encode", "--tokenizer", "gpt2", stdin=b"ab")) == "397\n"
    assert ok(run("encode", "--tokenizer", "./gpt2", stdin=b"ab")) == "256\n"
    assert load_tokenizer(tmp_path / "gpt2").encode("ab") == [256]


def test_a_rank_file_alone_takes_its_split_pattern_from_the_option(run, tmp_path):
    ok(run("train", "-", "--num-merges", 9, "--out", "x.tiktoken", "--format", "tiktoken", stdin=TEXT.encode()))
    (tmp_path / "x.tiktoken.json").unlink()
    status, _, err = run("encode", "--tokenizer", "x.tiktoken", stdin=b"the cat")
    assert status == 2
    assert "does not hold its split pattern" in err
    expected = train(TEXT, TrainSettings(num_merges=9)).tokenizer.encode("the cat")
    out = ok(run("encode", "--tokenizer", "x.tiktoken", "--split", "gpt2", stdin=b"the cat"))
    assert list(map(int, out.split())) == expected


# ------------------------------------------------------------------------------------------- compare, tokenizers


def test_compare_counts_each_file_under_each_tokenizer(run, tmp_path):
    (tmp_path / "a.txt").write_text("strawberry")
    (tmp_path / "b.txt").write_text("こんにちは")
    found = record(run("compare", "a.txt", "b.txt", "--tokenizer", "gpt2", "--tokenizer", "cl100k", "--json"))
    assert [(row["file"], row["tokenizer"], row["num_tokens"]) for row in found] == [
        ("a.txt", "gpt2", 3),
        ("a.txt", "cl100k", 3),
        ("b.txt", "gpt2", 6),
        ("b.txt", "cl100k", 1),
    ]
    assert found[2] | {} == {
        "file": "b.txt",
        "tokenizer": "gpt2",
        "num_tokens": 6,
        "num_bytes": 15,
        "num_chars": 5,
        "bytes_per_token": 2.5,
    }
    table = ok(run("compare", "b.txt", "--tokenizer", "gpt2"))
    assert table.splitlines()[1].split() == ["6", "15", "5", "2.500", "gpt2", "b.txt"]


def test_a_text_without_tokens_has_no_ratio(run, tmp_path):
    options = ("--base", "chars", "--end-of-word", "attached", "--split", "whitespace", "--out", "words.json")
    ok(run("train", "-", "--num-merges", 2, *options, stdin=b"low low"))
    (tmp_path / "spaces").write_text("   \n")
    found = record(run("compare", "spaces", "--tokenizer", "words.json", "--json"))
    assert (found[0]["num_tokens"], found[0]["bytes_per_token"]) == (0, None)
    assert "-" in ok(run("compare", "spaces", "--tokenizer", "words.json"))


def test_every_tokenizer_is_listed(run):
    found = record(run("tokenizers", "--json"))
    assert [row["name"] for row in found] == list(pretrained_names())
    keys = {"name", "title", "vocab_size", "kind", "source", "licence", "available", "why_not"}
    assert all(row.keys() == keys for row in found)
    gpt2 = next(row for row in found if row["name"] == "gpt2")
    assert (gpt2["vocab_size"], gpt2["available"], gpt2["why_not"]) == (50257, True, None)
    assert len(ok(run("tokenizers")).splitlines()) == len(found)


# ------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "stdin", "sentence"),
    [
        ((), b"", "the following arguments are required: COMMAND (see python -m bpe --help)"),
        (("train",), b"", "required: FILE (see python -m bpe train --help)"),
        (("train", "-"), b"", "one of the arguments --num-merges --vocab-size is required"),
        (("train", "-", "--num-merges", "1", "--vocab-size", "300"), b"", "not allowed with argument"),
        (("train", "-", "--num-merges", "many"), b"", "invalid int value: 'many'"),
        (("train", "-", "--num", "3"), b"", "one of the arguments --num-merges"),
        (("train", "-", "--num-merges", "-1"), b"ab", "num_merges must be a whole number from 0 to"),
        (("train", "-", "--vocab-size", "9"), b"ab", "vocab_size must be at least the 256 base tokens"),
        (("train", "-", "--num-merges", "1", "--split", "("), b"ab", "does not compile"),
        (("train", "-", "--num-merges", "1", "--end-of-word", "separate"), b"ab", "needs base='chars'"),
        (("train", "-", "--num-merges", "1", "--engine", "fast"), b"ab", "invalid choice: 'fast'"),
        (("train", "-", "--num-merges", "1"), b"", "standard input is empty (0 bytes)"),
        (("train", "-", "--num-merges", "1"), b"ab\xffcd", "byte 0xFF at offset 2 (line 1) is not"),
        (("train", "-", "--num-merges", "1"), b"\x1f\x8b\x08\x00", "is compressed (gzip)"),
        (("train", "-", "--num-merges", "1", "--word-counts"), b"low five\n", "line 1: the count of 'low'"),
        (("train", "none.txt", "--num-merges", "1"), b"", "none.txt does not exist; check the path"),
        (("train", ".", "--num-merges", "1"), b"", ". is a folder; name the files in it"),
        (("train", "-", "--num-merges", "1", "--out", "x", "--format", "vocab-merges"), b"ab", "must end with vocab"),
        (("encode",), b"", "required: --tokenizer"),
        (("encode", "--tokenizer", "gpt-2"), b"a", "did you mean gpt2? There is no file of that name either"),
        (("encode", "--tokenizer", "."), b"a", ". is a folder"),
        (("encode", "--tokenizer", "gpt2", "none.txt"), b"", "none.txt does not exist"),
        (("decode", "--tokenizer", "gpt2"), b"1 two 3", "whole numbers, but number 2 is 'two'"),
        (("decode", "--tokenizer", "gpt2"), b"1 -2", "but number 2 is '-2'"),
        (("decode", "--tokenizer", "gpt2"), b"50257", "must be from 0 to 50,256 and in use, but is 50,257"),
        (("decode", "--tokenizer", "gpt2"), b'{"ids": "1"}', "ids must be a list, but is '1'"),
        (("decode", "--tokenizer", "gpt2"), b"[1, 2", "must be JSON"),
        (("compare", "none.txt", "--tokenizer", "gpt2"), b"", "none.txt does not exist"),
        (("tokenizers", "--jsonx"), b"", "unrecognized arguments: --jsonx"),
    ],
)
def test_an_error_is_one_line_that_says_what_to_do(run, arguments, stdin, sentence):
    status, out, err = run(*arguments, stdin=stdin)
    assert (status, out) == (2, "")
    assert err.startswith("python -m bpe: ")
    assert err.count("\n") == 1
    assert sentence in err


def test_an_unreadable_file_is_said(run, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", "secret.txt")

    # Not by its mode: tests may run as root, who may read everything.
    monkeypatch.setattr(Path, "read_bytes", refuse)
    status, _, err = run("train", "secret.txt", "--num-merges", 1)
    assert (status, err) == (
        2,
        "python -m bpe: secret.txt may not be opened; change its permissions or choose another file\n",
    )


def test_a_character_that_was_never_seen_is_said(run):
    ok(run("train", "-", "--num-merges", 2, "--base", "chars", "--out", "chars.json", stdin=b"abab"))
    status, _, err = run("encode", "--tokenizer", "chars.json", stdin=b"abx")
    assert (status, err.count("\n")) == (2, 1)
    assert "holds x (U+0078)" in err


def test_a_damaged_tokenizer_file_is_said(run, tmp_path):
    (tmp_path / "cut.json").write_text('{"format": "bpe-json", ')
    status, _, err = run("encode", "--tokenizer", "cut.json", stdin=b"abx")
    assert (status, err.count("\n")) == (2, 1)
    assert "cut.json must be JSON, but is not from line 1, column 2" in err


def test_what_a_message_quotes_stays_on_one_line(run):
    status, _, err = run("encode", "--tokenizer", "a\nb\x1b[0m", stdin=b"a")
    assert (status, err.count("\n"), "\x1b" in err) == (2, 1, False)


def test_help_is_not_an_error(capsys):
    with pytest.raises(SystemExit) as raised:
        main(["train", "--help"])
    assert raised.value.code == 0
    assert "--word-counts" in capsys.readouterr().out


def test_an_error_in_a_process_has_status_2_and_no_traceback():
    found = command("train", "no-such-file.txt", "--num-merges", 3)
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr.decode().splitlines() == ["python -m bpe: no-such-file.txt does not exist; check the path"]


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_ctrl_c_has_status_130_and_leaves_no_file(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "bpe", "train", "-", "--num-merges", "3", "--out", str(tmp_path / "x.json")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    # More than a pipe holds: when this returns, the program has been reading, and now waits for the end.
    process.stdin.write(b"low lower " * 50_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert err == b"python -m bpe: interrupted\n"
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error():
    words = "".join(f"{word}\t2\n" for word in (f"w{i}" for i in range(3000)))
    process = subprocess.Popen(
        [sys.executable, "-m", "bpe", "train", "-", "--word-counts", "--num-merges", "4000", "--min-pair-count", "1"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(words.encode())
    process.stdin.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 141
