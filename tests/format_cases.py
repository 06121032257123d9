"""Tokenizers for the tests of files: trained here, and trained by the `tokenizers` library as models use it."""

from __future__ import annotations

from functools import cache

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from bpe import SPLIT_PATTERNS, Tokenizer, TrainSettings, train
from bpe.formats import load_tokenizer
from bpe.pretrained import NO_PARENT

CORPUS = "the cat sat on the mat 1234 times, don't the rat's naïve 日本 日本 low lower newest widest\n\n  x  = 1;\n" * 4
OWN_SPLIT = r"[a-z]+|\d"
MINBPE = b"minbpe v1\n\n1\n<|end|> 300\n97 97\n256 98\n"


def trained(corpus=CORPUS, special_tokens=None, **options):
    tokenizer = train(corpus, TrainSettings(**{"num_merges": 40, "min_pair_count": 1, **options})).tokenizer
    if special_tokens is None:
        return tokenizer
    first = tokenizer.vocab_size
    return Tokenizer(
        tokenizer.base,
        tokenizer.end_of_word,
        tokenizer.split,
        tokenizer.base_symbols,
        tokenizer.merges,
        {text: first + i for i, text in enumerate(special_tokens)},
    )


def same_fields(one, other):
    names = ("base", "end_of_word", "split", "base_symbols", "merges", "special_tokens")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def library_of(data):
    tokenizer = tokenizers.Tokenizer.from_str(data.decode())
    tokenizer.encode_special_tokens = True
    return tokenizer


def learn(model=None, trainer=None, **parts):
    """Train a tokenizer with the library itself and return its tokenizer.json."""
    tokenizer = tokenizers.Tokenizer(model or models.BPE())
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    options = {"vocab_size": 400, "show_progress": False, **(trainer or {})}
    tokenizer.train_from_iterator([CORPUS, CORPUS.upper()], trainers.BpeTrainer(**options))
    return tokenizer.to_str().encode()


BYTES = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False)
NO_REGEX = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def split_step(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(tokenizers.Regex(pattern), behavior, invert)


def sequence(*steps):
    return pre_tokenizers.Sequence(list(steps))


FOREIGN = {
    "gpt2": learn(trainer=BYTES, pre_tokenizer=BYTE_LEVEL, decoder=decoders.ByteLevel()),
    "roberta special tokens": learn(
        trainer={**BYTES, "special_tokens": ["<s>", "</s>", "<mask>"]}, pre_tokenizer=BYTE_LEVEL
    ),
    "llama3 pattern": learn(trainer=BYTES, pre_tokenizer=sequence(split_step(SPLIT_PATTERNS["llama3"]), NO_REGEX)),
    "removed and inverted": learn(
        trainer=BYTES, pre_tokenizer=sequence(split_step(r"\S+\s?|\s", "removed", True), NO_REGEX)
    ),
    "qwen: NFC": learn(trainer=BYTES, normalizer=normalizers.NFC(), pre_tokenizer=BYTE_LEVEL),
    "starcoder: digits": learn(trainer=BYTES, pre_tokenizer=sequence(pre_tokenizers.Digits(True), BYTE_LEVEL)),
    "groups of digits": learn(trainer=BYTES, pre_tokenizer=sequence(pre_tokenizers.Digits(False), NO_REGEX)),
    "deepseek: three splits": learn(
        trainer=BYTES,
        pre_tokenizer=sequence(split_step(r"\p{N}{1,3}"), split_step("[一-龥぀-ゟ゠-ヿ]+"), NO_REGEX),
    ),
    "no byte alphabet, no unknown token": learn(pre_tokenizer=BYTE_LEVEL),
    "words with an unknown token": learn(
        models.BPE(unk_token="[UNK]"),
        {"special_tokens": ["[UNK]", "[PAD]"]},
        pre_tokenizer=pre_tokenizers.Whitespace(),
    ),
    "fused unknown": learn(
        models.BPE(unk_token="[UNK]", fuse_unk=True),
        {"special_tokens": ["[UNK]"], "limit_alphabet": 12},
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
    ),
    "clip: lower case and end of word": learn(
        models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"),
        {"special_tokens": ["<|endoftext|>"], "end_of_word_suffix": "</w>"},
        normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()]),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
    ),
    "a string to split at": learn(
        trainer=BYTES, pre_tokenizer=sequence(pre_tokenizers.Split("t", "removed"), NO_REGEX)
    ),
    "nothing to split by": learn(models.BPE(unk_token="<unk>"), {"special_tokens": ["<unk>"]}),
}


@cache
def imported(kind):
    return load_tokenizer(FOREIGN[kind])


def assert_history_is_true(tokenizer, text):
    history = tokenizer.history(text)
    ids = history.final_ids.tolist()
    assert ids == tokenizer.encode(text)
    assert history.num_tokens[-1] == len(ids)
    assert b"".join(history.tokens(0)) == history.text
    rows = tokenizer.merge_rows()
    assert len(rows.rank) == tokenizer.num_merges
    for left, right, token in zip(rows.left.tolist(), rows.right.tolist(), rows.token.tolist(), strict=True):
        if left != NO_PARENT:
            assert tokenizer.token_bytes(token) == tokenizer.token_bytes(left) + tokenizer.token_bytes(right)
