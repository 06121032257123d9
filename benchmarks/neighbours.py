"""WordPiece and Unigram against their peers: `python benchmarks/neighbours.py [--num-bytes N] [--vocab-size N]`.

Prints CPU seconds, ratios (own time / peer's), the tokens that the text takes, and peak memory. One thread, on the
beginning of the King James Bible, or on `--file`. The peers are compiled; this package is Python and numpy, and
records every step.

Not the same work: `tokenizers` trains WordPiece by pair counts, as for BPE, and not by score.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sentencepiece
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bpe.samples import load_sample
from bpe.unigram_training import UnigramSettings, train_unigram
from bpe.wordpiece_training import WordPieceSettings, train_wordpiece

# What the peers do: a space begins a pre-token, nothing else ends one but the end of a line.
SPACE_FIRST = r" ?[^ \n]+|\n| "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-bytes", type=int, default=1_000_000)
    parser.add_argument("--vocab-size", type=int, default=8_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    text = options.file.read_text(encoding="utf-8") if options.file else load_sample("kjv")
    text = text.encode()[: options.num_bytes].decode(errors="ignore")
    print(f"{len(text.encode()):,} bytes, vocabulary {options.vocab_size:,}, median of {options.repeat} (CPU seconds)")
    compare_wordpiece(text, options.vocab_size, options.repeat)
    compare_unigram(text, options.vocab_size, options.repeat)
    print(f"peak memory of everything: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB")


def timed(run: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Return the median CPU time of a function, and what it returned."""
    seconds = []
    for _ in range(repeat):
        start = time.process_time()
        result = run()
        seconds.append(time.process_time() - start)
    return median(seconds), result


def report(what: str, rows: list[tuple[str, float]]) -> None:
    own = rows[0][1]
    for name, seconds in rows:
        print(f"  {what:<8} {name:<28} {seconds:8.3f} s   ratio {own / seconds:6.1f}")


def compare_wordpiece(text: str, vocab_size: int, repeat: int) -> None:
    def train_peer() -> Tokenizer:
        peer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=vocab_size, special_tokens=["[UNK]"], show_progress=False)
        peer.train_from_iterator(text.splitlines(), trainer)
        return peer

    own_seconds, training = timed(lambda: train_wordpiece(text, WordPieceSettings(vocab_size=vocab_size)), repeat)
    peer_seconds, peer = timed(train_peer, repeat)
    print("WordPiece")
    report("train", [("bpe.wordpiece", own_seconds), ("tokenizers (by pair count)", peer_seconds)])
    own_seconds, own_ids = timed(lambda: training.tokenizer.encode(text), repeat)
    peer_seconds, peer_encoding = timed(lambda: peer.encode(text), repeat)
    report("encode", [("bpe.wordpiece", own_seconds), ("tokenizers", peer_seconds)])
    print(f"  tokens   bpe.wordpiece {len(own_ids):,} (by score)   tokenizers {len(peer_encoding.ids):,} (by count)")


def compare_unigram(text: str, vocab_size: int, repeat: int) -> None:
    lines = text.splitlines()

    def train_sentencepiece() -> sentencepiece.SentencePieceProcessor:
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=written,
            model_type="unigram",
            vocab_size=vocab_size,
            hard_vocab_limit=False,  # it keeps fewer where it finds no use for more
            normalization_rule_name="identity",
            add_dummy_prefix=False,
            character_coverage=1.0,
            max_sentence_length=1 << 20,
            num_threads=1,
            minloglevel=2,
        )
        return sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())

    def train_tokenizers() -> Tokenizer:
        peer = Tokenizer(models.Unigram())
        peer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
        trainer = trainers.UnigramTrainer(
            vocab_size=vocab_size, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
        )
        peer.train_from_iterator(lines, trainer)
        return peer

    settings = UnigramSettings(vocab_size=vocab_size, split=SPACE_FIRST)
    own_seconds, training = timed(lambda: train_unigram(text, settings), repeat)
    spm_seconds, spm = timed(train_sentencepiece, repeat)
    peer_seconds, peer = timed(train_tokenizers, repeat)
    names = ("bpe.unigram", "sentencepiece", "tokenizers")
    print("Unigram")
    report("train", list(zip(names, (own_seconds, spm_seconds, peer_seconds), strict=True)))
    own_seconds, own_ids = timed(lambda: training.tokenizer.encode(text), repeat)
    spm_seconds, spm_ids = timed(lambda: [spm.encode(line) for line in lines], repeat)
    peer_seconds, peer_ids = timed(lambda: [peer.encode(line).ids for line in lines], repeat)
    report("encode", list(zip(names, (own_seconds, spm_seconds, peer_seconds), strict=True)))
    # The peers were given lines without their ends; here an end is a token.
    counts = (len(own_ids) - text.count("\n"), sum(map(len, spm_ids)), sum(map(len, peer_ids)))
    sizes = (training.tokenizer.vocab_size, spm.get_piece_size(), peer.get_vocab_size())
    for name, count, size in zip(names, counts, sizes, strict=True):
        print(f"  tokens   {name:<28} {count:8,} with a vocabulary of {size:,}")


if __name__ == "__main__":
    main()
