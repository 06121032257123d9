"""The same merges as other trainers, on real text."""

from __future__ import annotations

import io

import pytest
import rustbpe
import tokenizers
from subword_nmt import learn_bpe

from bpe import SPLIT_PATTERNS, TrainSettings, train
from bpe.pretokenize import count_pre_tokens
from bpe.samples import load_sample, udhr_languages

NUM_MERGES = 1_500


@pytest.fixture(scope="module")
def text():
    parts = [load_sample("kjv-genesis")[:60_000], load_sample("python-source")[:30_000]]
    return "\n".join(parts + [load_sample(f"udhr-{language.code}")[:1_000] for language in udhr_languages()])


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_lowest_ids_on_bytes_is_rustbpe(text, engine):
    peer = rustbpe.Tokenizer()
    peer.train_from_iterator([text], vocab_size=256 + NUM_MERGES, pattern=SPLIT_PATTERNS["gpt2"])
    theirs = [bytes(token) for token, _id in sorted(peer.get_mergeable_ranks(), key=lambda entry: entry[1])][256:]
    tokenizer = train(text, TrainSettings(num_merges=NUM_MERGES, tie_break="lowest-ids"), engine=engine).tokenizer
    assert [tokenizer.token_bytes(256 + rank) for rank in range(NUM_MERGES)] == theirs


def byte_characters():
    """GPT-2's characters for bytes: printable ones stand for themselves, the others follow from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_lowest_ids_in_its_alphabet_is_hugging_face(text, engine):
    """Its base ids follow the characters that stand for bytes, so ours do too when these are the corpus."""
    peer = tokenizers.Tokenizer(tokenizers.models.BPE())
    peer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=256 + NUM_MERGES, initial_alphabet=alphabet, show_progress=False
    )
    peer.train_from_iterator([text], trainer)
    names = sorted(peer.get_vocab().items(), key=lambda entry: entry[1])
    theirs = [name for name, token_id in names if token_id >= 256]

    char_of = byte_characters()
    table = {
        "".join(char_of[byte] for byte in pre_token.encode()): count
        for pre_token, count in count_pre_tokens(text, "gpt2").items()
    }
    settings = TrainSettings(base="chars", num_merges=NUM_MERGES, tie_break="lowest-ids")
    training = train(table, settings, engine=engine)
    assert [training.tokenizer.token_bytes(merge.token).decode() for merge in training.merges] == theirs


@pytest.mark.filterwarnings("ignore")  # of the peer's own making
def test_greatest_pair_is_subword_nmt(text):
    words = {word: count for word, count in count_pre_tokens(text, "whitespace").items() if not word.isspace()}
    table = io.StringIO("".join(f"{word} {count}\n" for word, count in words.items()))
    learned = io.StringIO()
    learn_bpe.learn_bpe(table, learned, NUM_MERGES, min_frequency=2, is_dict=True)
    theirs = [tuple(line.split(" ")) for line in learned.getvalue().splitlines()[1:]]
    settings = TrainSettings("chars", "attached", num_merges=NUM_MERGES, tie_break="greatest-pair")
    for engine in ("compiled", "python"):
        training = train(words, settings, engine=engine)
        name = training.tokenizer.token_bytes
        assert [(name(merge.left).decode(), name(merge.right).decode()) for merge in training.merges] == theirs, engine
