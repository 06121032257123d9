"""`train --model wordpiece|unigram`: what the package learns, written so that it can be used, refused in one line."""

from __future__ import annotations

import json

import pytest
import tokenizers

from bpe import UnigramSettings, WordPieceSettings, load_tokenizer, train_unigram, train_wordpiece
from bpe.__main__ import main
from bpe.samples import load_sample

HUG = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
TEXT = load_sample("udhr-eng")


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "hug.tsv"
    file.write_text("".join(f"{word}\t{count}\n" for word, count in HUG.items()))
    return str(file)


@pytest.fixture
def corpus(tmp_path):
    file = tmp_path / "corpus.txt"
    file.write_text(TEXT)
    return str(file)


def run(capsysbinary, *arguments) -> str:
    assert main([str(argument) for argument in arguments]) == 0
    return capsysbinary.readouterr().out.decode()


def refused(capsysbinary, *arguments) -> str:
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsysbinary.readouterr()
    assert captured.out == b""
    (line,) = captured.err.decode().splitlines()
    return line


def test_wordpiece_of_a_table(capsysbinary, table):
    train = ("train", table, "--word-counts", "--model", "wordpiece", "--num-merges", 3)
    record = json.loads(run(capsysbinary, *train, "--json"))
    training = train_wordpiece(HUG, WordPieceSettings(num_merges=3))
    assert [merge["token"] for merge in record["merges"]] == ["##gs", "hu", "hugs"]
    assert [merge["score"] for merge in record["merges"]] == [str(merge.score) for merge in training.merges]
    assert [merge["num_tokens_after"] for merge in record["merges"]] == training.num_tokens[1:].tolist()
    assert (record["stopped"], record["num_base"]) == ("num_merges", training.num_base)
    shown = run(capsysbinary, *train)
    assert "'##g' + '##s' -> '##gs'" in shown
    assert "0.05" in shown


def test_unigram_of_a_table(capsysbinary, table):
    train = ("train", table, "--word-counts", "--model", "unigram", "--vocab-size", 10)
    record = json.loads(run(capsysbinary, *train, "--json"))
    training = train_unigram(HUG, UnigramSettings(vocab_size=10))
    assert [entry["token"].encode() for entry in record["tokens"]] == list(training.tokenizer.tokens)
    assert [entry["score"] for entry in record["tokens"]] == list(training.tokenizer.scores)
    assert [step["num_tokens"] for step in record["rounds"]] == [17, 12, 10]
    assert "10 tokens (17 -> 12 -> 10)" in run(capsysbinary, *train)


@pytest.mark.parametrize(
    ("model", "size", "options", "trained"),
    [
        ("wordpiece", 400, (), lambda: train_wordpiece(TEXT, WordPieceSettings(vocab_size=400))),
        (
            "wordpiece",
            400,
            ("--min-pair-count", 5, "--tie-break", "lowest-ids"),
            lambda: train_wordpiece(TEXT, WordPieceSettings(vocab_size=400, min_pair_count=5, tie_break="lowest-ids")),
        ),
        ("unigram", 400, (), lambda: train_unigram(TEXT, UnigramSettings(vocab_size=400))),
        (
            "unigram",
            400,
            ("--base", "bytes", "--split", "o200k"),
            lambda: train_unigram(TEXT, UnigramSettings(vocab_size=400, base="bytes", split="o200k")),
        ),
    ],
)
def test_what_is_written_encodes_as_what_was_trained(capsysbinary, corpus, tmp_path, model, size, options, trained):
    out = tmp_path / "tokenizer.json"
    run(capsysbinary, "train", corpus, "--model", model, "--vocab-size", size, *options, "--out", out)
    ids = trained().tokenizer.encode(TEXT)
    assert load_tokenizer(out).encode(TEXT) == ids
    assert tokenizers.Tokenizer.from_file(str(out)).encode(TEXT, add_special_tokens=False).ids == ids
    encoded = json.loads(run(capsysbinary, "encode", "--tokenizer", out, corpus, "--json"))
    assert encoded["ids"] == ids
    assert f"{len(ids):,}" in run(capsysbinary, "compare", corpus, "--tokenizer", out)


def test_files_are_counted_each_by_itself(capsysbinary, corpus):
    options = ("--model", "wordpiece", "--num-merges", 5, "--min-pair-count", 1, "--json")
    one = json.loads(run(capsysbinary, "train", corpus, *options))["merges"]
    two = json.loads(run(capsysbinary, "train", corpus, corpus, *options))["merges"]
    assert [merge["token"] for merge in two] == [merge["token"] for merge in one]
    assert [merge["count"] for merge in two] == [2 * merge["count"] for merge in one]


def test_byte_pair_encoding_is_the_model_that_goes_without_saying(capsysbinary, corpus):
    plain = run(capsysbinary, "train", corpus, "--num-merges", 20, "--json")
    assert run(capsysbinary, "train", corpus, "--num-merges", 20, "--model", "bpe", "--json") == plain


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--model", "unigram", "--num-merges", 5), "takes --vocab-size, not --num-merges"),
        (("--model", "unigram", "--vocab-size", 50, "--tie-break", "first-seen"), "--tie-break must be left out"),
        (("--model", "unigram", "--vocab-size", 50, "--min-pair-count", 2), "--min-pair-count must be left out"),
        (("--model", "unigram", "--vocab-size", 3), "at least the"),
        (("--model", "wordpiece", "--vocab-size", 3), "vocab_size must be at least"),
        (("--model", "wordpiece", "--num-merges", 5, "--base", "bytes"), "--base must be left out"),
        (("--model", "wordpiece", "--num-merges", 5, "--end-of-word", "none"), "--end-of-word must be left out"),
        (("--model", "wordpiece", "--num-merges", 5, "--engine", "auto"), "--engine must be left out"),
        (("--model", "wordpiece", "--num-merges", 5, "--workers", 2), "--workers must be left out"),
        (("--model", "wordpiece", "--num-merges", 5, "--format", "minbpe"), "--format must be tokenizer-json"),
        (("--model", "morfessor", "--num-merges", 5), "invalid choice"),
    ],
)
def test_what_means_nothing_for_a_model_is_refused(capsysbinary, corpus, options, sentence):
    assert sentence in refused(capsysbinary, "train", corpus, *options)


def test_what_cannot_be_written_is_refused_before_the_training(capsysbinary, corpus, tmp_path):
    train = ("train", corpus, "--model", "wordpiece", "--num-merges", 5, "--split", "whitespace")
    out = tmp_path / "x.json"
    assert "may begin with ##" in refused(capsysbinary, *train, "--out", out)
    assert not out.exists()
    assert "in a folder that exists" in refused(capsysbinary, *train, "--out", tmp_path / "none" / "x.json")
