"""Real tokenizers: their ids are tiktoken's, and their history ends in these ids."""

import functools
import importlib.util
import lzma
import socket
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import regex
import splintr
import tiktoken
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public

import bpe.pretrained
import bpe.rank_tokenizer
from bpe.errors import SettingsError, SpecialTokenError, TokenIdError, UnavailableError, UnknownTokenizerError
from bpe.hub_tokenizer import HubTokenizer
from bpe.kernels.counting import SCANNED_SPLITS
from bpe.kernels.loader import load
from bpe.lifetimes import NEVER, History
from bpe.normalizing import Change
from bpe.pretokenize import split
from bpe.pretrained import (
    NO_PARENT,
    RankTokenizer,
    load_all,
    load_pretrained,
    pretrained_info,
    pretrained_names,
)
from bpe.samples import load_udhr
from bpe.vocabularies import load_ranks, packaged

NAMES = ("gpt2", "r50k_base", "p50k_base", "cl100k_base", "o200k_base")
PACKAGED = ("llama3", "qwen2.5", "mistral-tekken", "deepseek-v3")
ENCODINGS = tuple(name for name in NAMES if name != "r50k_base")
"""Each once: r50k_base is GPT-2's encoding under another name, and shares its tables."""

GENERATIONS = ("gpt2", "cl100k", "o200k")


def unpack_apart(table: str) -> dict[bytes, int]:
    """Read a packed table without the code under test."""
    path = bpe.vocabularies.resources.files("bpe.vocabularies") / f"{table}.xz"
    data = lzma.decompress(path.read_bytes())
    num_tokens = data.index(0)
    ranks: dict[bytes, int] = {}
    at = num_tokens + 1
    for token_id in range(num_tokens):
        ranks[data[at : at + data[token_id]]] = token_id
        at += data[token_id]
    return ranks


@pytest.fixture(scope="module")
def references() -> Iterator[dict[str, tiktoken.Encoding]]:
    """What tiktoken.get_encoding builds, with its download replaced by the packed tables."""

    def load_tiktoken_bpe(url: str, expected_hash: str) -> dict[bytes, int]:
        table = url.rsplit("/", 1)[1].split("_")[0]
        if table != "p50k":
            return unpack_apart(table)
        return unpack_apart("r50k") | {b" " * num_spaces: 50255 + num_spaces for num_spaces in range(2, 26)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", load_tiktoken_bpe)
        patch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", lambda **files: unpack_apart("r50k"))
        yield {
            name: tiktoken.Encoding(**build())
            for name, build in openai_public.ENCODING_CONSTRUCTORS.items()
            if name in NAMES
        }


def tokens(name: str, text: str) -> list[str]:
    tokenizer = load_pretrained(name)
    return [tokenizer.decode([token_id]) for token_id in tokenizer.encode(text)]


def test_two_names_of_one_encoding_share_their_tables() -> None:
    gpt2, r50k = load_pretrained("gpt2"), load_pretrained("r50k")

    assert (gpt2.name, r50k.name) == ("gpt2", "r50k_base")
    assert gpt2._ranks is r50k._ranks


def num_tokens(name: str, text: str) -> int:
    return len(load_pretrained(name).encode(text))


# ---------------------------------------------------------------------- values known from elsewhere


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("gpt2", " strawberry", [41236]),
        ("gpt2", "strawberry", [301, 1831, 8396]),
        ("cl100k", "strawberry", [496, 675, 15717]),
        ("cl100k", " strawberry", [73700]),
        ("o200k", "strawberry", [302, 1618, 19772]),
        ("o200k", " strawberry", [101830]),
        ("gpt2", "    x", [220, 220, 220, 2124]),
        ("cl100k", "    x", [262, 865]),
        ("gpt2", " SolidGoldMagikarp", [43453]),
        ("gpt2", " petertodd", [37444]),
        ("gpt2", "StreamerBot", [37574]),
        ("gpt2", " davidjl", [23282]),
        (
            "cl100k",
            "hello123!!!? (안녕하세요!) 😉",
            [15339, 4513, 12340, 30, 320, 31495, 230, 75265, 243, 92245, 16715, 57037],
        ),
    ],
)
def test_known_ids(name: str, text: str, ids: list[int]) -> None:
    assert load_pretrained(name).encode(text) == ids


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("gpt2", "2249", "2|249"),
        ("gpt2", "2250", "22|50"),
        ("gpt2", "2251", "225|1"),
        ("gpt2", "2252", "225|2"),
        ("gpt2", "1984", "1984"),
        ("gpt2", "1985", "1985"),
        ("gpt2", "2024", "20|24"),
        ("gpt2", "2025", "20|25"),
        ("gpt2", "521", "5|21"),
        ("gpt2", "unhappy", "un|happy"),
        ("cl100k", "1984", "198|4"),
        ("cl100k", "1985", "198|5"),
        ("cl100k", "2024", "202|4"),
        ("cl100k", "2025", "202|5"),
        ("cl100k", "1234567890", "123|456|789|0"),
        ("cl100k", "1,234,567", "1|,|234|,|567"),
        ("cl100k", "newest", "new|est"),
        ("cl100k", "lower", "lower"),
        ("cl100k", "lowest", "lowest"),
        ("cl100k", "strawberry", "str|aw|berry"),
        ("gpt2", "strawberry", "st|raw|berry"),
    ],
)
def test_known_cuts(name: str, text: str, expected: str) -> None:
    assert "|".join(tokens(name, text)) == expected


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("What is a quadratic equation?", (8, 6, 6)),
        ("380", (1, 1, 1)),
        ("381", (1, 1, 1)),
        ("because", (1, 1, 1)),
        (" because", (1, 1, 1)),
        ("こんにちは", (6, 1, 1)),
        ("supercalifragilistic", (6, 7, 6)),
        ("    ", (4, 1, 1)),
        ("Hello world! strawberry  strawberry 1234567890 안녕하세요 नमस्ते", (36, 22, 16)),
    ],
)
def test_known_token_counts(text: str, counts: tuple[int, int, int]) -> None:
    assert tuple(num_tokens(name, text) for name in GENERATIONS) == counts


@pytest.mark.parametrize(
    ("name", "first_ids"),
    [
        ("gpt2", [15496, 995, 0, 41236]),
        ("cl100k", [9906, 1917, 0, 73700]),
        ("o200k", [13225, 2375, 0, 101830]),
    ],
)
def test_first_ids(name: str, first_ids: list[int]) -> None:
    assert load_pretrained(name).encode("Hello world! strawberry  strawberry")[:4] == first_ids


def test_glitch_token_of_gpt2_is_five_tokens_later() -> None:
    assert num_tokens("cl100k", " SolidGoldMagikarp") == 5


def test_integers_that_are_one_token() -> None:
    single = {name: [number for number in range(10_000) if num_tokens(name, str(number)) == 1] for name in GENERATIONS}

    assert len(single["gpt2"]) == 907
    assert single["gpt2"][:521] == list(range(521))
    assert 521 not in single["gpt2"]
    assert single["cl100k"] == list(range(1000))


@pytest.mark.parametrize(
    ("language", "counts"),
    [
        ("eng", (33, 33, 33)),
        ("deu", (60, 44, 38)),
        ("fra", (61, 50, 41)),
        ("rus", (172, 74, 41)),
        ("cmn_hans", (82, 52, 37)),
        ("jpn", (117, 93, 72)),
        ("hin", (296, 182, 54)),
        ("mya", (726, 512, 134)),
    ],
)
def test_first_article_of_human_rights(language: str, counts: tuple[int, int, int]) -> None:
    article = " ".join(unicodedata.normalize("NFC", load_udhr(language)[0]).split())

    assert tuple(num_tokens(name, article) for name in GENERATIONS) == counts


# ---------------------------------------------------------------------- against tiktoken

SPECIALS = ("<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", "<|", "|>")
# Runs of one character, white space, contractions, digits, scripts of several bytes, half characters.
FRAGMENTS = (
    *SPECIALS, " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "'s", "'LL", "ſ", "a", "aaaa", "The", " the",
    "ß", "DŽ", "ǅ", "0", "12345", "٣", "½", ".", "//", "!!", "ü", "u\u0308", "日本", "ไทย", "नमस्ते", "한", "😉",
    "👩‍👩‍👧", "\u200d", "\ud83d", "\x00", "\u0378",
)  # fmt: skip
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join))
a_few = settings(max_examples=40)
"""For properties that are tried with every tokenizer: there are many of these, and their code is shared."""


@pytest.mark.parametrize("name", NAMES)
def test_table_pattern_and_special_tokens_are_tiktokens(name: str, references: dict[str, tiktoken.Encoding]) -> None:
    tokenizer, reference = load_pretrained(name), references[name]

    assert tokenizer.mergeable_ranks == reference._mergeable_ranks
    assert tokenizer.special_tokens == reference._special_tokens
    assert tokenizer.vocab_size == reference.n_vocab
    if name.endswith("00k_base"):  # GPT-2's is written otherwise in tiktoken, to the same effect
        assert pretrained_info(name).split_pattern == reference._pat_str


@pytest.mark.parametrize("name", ENCODINGS)
@a_few
@given(text=texts)
def test_ids_are_tiktokens(name: str, references: dict[str, tiktoken.Encoding], text: str) -> None:
    tokenizer, reference = load_pretrained(name), references[name]
    ordinary = reference.encode(text, disallowed_special=())
    with_special = reference.encode(text, allowed_special="all")

    assert tokenizer.encode(text) == ordinary
    assert tokenizer.encode(text, special="special") == with_special
    if any(special in text for special in reference.special_tokens_set):
        with pytest.raises(SpecialTokenError):
            tokenizer.encode(text, special="reject")
    else:
        assert tokenizer.encode(text, special="reject") == ordinary


@pytest.mark.parametrize("name", ENCODINGS)
@a_few
@given(text=texts)
def test_decoding_gives_back_the_text(name: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    whole_characters = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    for special in ("text", "special"):
        assert tokenizer.decode(tokenizer.encode(text, special=special)) == whole_characters


# ---------------------------------------------------------------------- out of a package

SPLINTR = {"llama3": "llama3", "qwen2.5": "qwen3", "mistral-tekken": "mistral_v3", "deepseek-v3": "deepseek_v3"}
EVERY_SCRIPT = "Hello world! strawberry  strawberry 1234567890 안녕하세요 नमस्ते"


@functools.cache
def open_splintr(name: str) -> splintr.AnyTokenizer:
    return splintr.Tokenizer.from_pretrained(SPLINTR[name])


@pytest.mark.parametrize(
    ("name", "count", "first_ids"),
    [
        ("llama3", 18, [9906, 1917, 0, 73700]),
        ("qwen2.5", 27, [9707, 1879, 0, 72600]),
        ("mistral-tekken", 27, [22177, 4304, 1033]),
        ("deepseek-v3", 20, [19923, 2058, 3]),
    ],
)
def test_first_ids_of_packaged_tables(name: str, count: int, first_ids: list[int]) -> None:
    ids = load_pretrained(name).encode(EVERY_SCRIPT)

    assert len(ids) == count
    assert ids[: len(first_ids)] == first_ids


@pytest.mark.parametrize("name", PACKAGED)
@a_few
@given(text=texts)
def test_ids_are_those_of_the_package(name: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    whole_characters = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if name == "qwen2.5":  # the package does not compose; Qwen does
        whole_characters = unicodedata.normalize("NFC", whole_characters)

    assert tokenizer.encode(text) == open_splintr(name).encode_ordinary(whole_characters)
    assert tokenizer.decode(tokenizer.encode(text)) == whole_characters


@pytest.mark.parametrize("name", PACKAGED)
@pytest.mark.parametrize("special", ["text", "special"])
@a_few
@given(text=texts)
def test_history_of_packaged_tables_ends_in_the_encoding(name: str, special: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    text = unicodedata.normalize("NFC", text)

    check_history(tokenizer, tokenizer.history(text, special=special), tokenizer.encode(text, special=special))


# Digits, runs of Chinese and Japanese with signs among them, unassigned code points, white space before each.
PIECES = (
    "the", "A", "Aa", "aB", " ", "  ", "\n", "\r\n", "\t", "1", "12345", "٣", "½", "é", "e\u0301", "\u0301",
    "日本", "カナ", "\u3099", "\u309b", "・", "゠", "ー", "龥", "\u3040", "\u3097", "안녕", "😉", "\u200d", "\x00",
    "\x01", "\u00ad", "नमस्ते", ".", "'s", "'LL", "//", "__", "-x", "\u3000", "\u00a0", "ﬁ",
)  # fmt: skip
DEEPSEEK = (
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)
"""As DeepSeek publishes them, applied one after the other."""


@settings(max_examples=300)
@given(text=st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_deepseeks_patterns_are_one(text: str) -> None:
    steps = [tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated") for pattern in DEEPSEEK]
    published = tokenizers.pre_tokenizers.Sequence(steps)

    assert split(text, load_pretrained("deepseek-v3").split) == [
        piece for piece, _span in published.pre_tokenize_str(text)
    ]


def test_text_is_composed_for_qwen() -> None:
    qwen = load_pretrained("qwen")
    text = "cafe\u0301 \u0958"
    history = qwen.history(text)

    assert qwen.encode(text) == qwen.encode(unicodedata.normalize("NFC", text))
    assert qwen.decode(qwen.encode(text)) == unicodedata.normalize("NFC", text)
    assert qwen.changes(text) == [
        Change(3, 6, "e\u0301", "é", "NFC"),
        Change(7, 10, "\u0958", "\u0915\u093c", "NFC"),
    ]
    assert qwen.changes("café") == []
    assert history.text == text.encode()
    assert b"".join(history.tokens(qwen.num_merges)) == text.encode()
    assert history.final_ids.tolist() == qwen.encode(text)


@given(text=st.text(alphabet="e\u0301\u0958\u0915\u093c 1\u1100\u1161\u212bab", max_size=20))
def test_history_behind_a_normalizer_keeps_text_and_counts(text: str) -> None:
    qwen = load_pretrained("qwen2.5")
    history = qwen.history(text)

    assert history.text == text.encode()
    assert np.all(np.diff(history.offsets) >= 0)
    assert (history.offsets[0], history.offsets[-1]) == (0, len(history.text))
    assert history.num_tokens[-1] == len(qwen.encode(text))
    for step in (0, 1000, qwen.num_merges):
        shown = history.token_offsets(step)
        inner = {place for place in shown.tolist() if 0 < place < len(history.text)}
        assert set((np.flatnonzero(history.byte_lifetimes() >= step) + 1).tolist()) == inner


def test_special_token_is_not_composed_with_what_follows() -> None:
    qwen = load_pretrained("qwen2.5")
    ids = qwen.encode("e\u0301<think>\u0301", special="special")

    assert ids == [*qwen.encode("é"), 151_667, *qwen.encode("\u0301")]
    assert qwen.history("e\u0301<think>\u0301", special="special").final_ids.tolist() == ids


@pytest.mark.parametrize("name", PACKAGED)
def test_special_tokens_are_those_of_the_package(name: str) -> None:
    package = open_splintr(name)
    num_ids = splintr.base_vocab_size(SPLINTR[name])  # it adds tokens of its own above

    assert load_pretrained(name).special_tokens == {
        text: token_id for text, token_id in package.special_tokens().items() if token_id < num_ids
    }
    assert load_pretrained(name).vocab_size == num_ids


def test_id_kept_free_is_no_token() -> None:
    llama3 = load_pretrained("llama3")

    assert llama3.vocab_size == 128_256
    with pytest.raises(TokenIdError, match="from 0 to 128,255 and in use, but is 128,200"):
        llama3.token_bytes(128_200)


def test_tokens_that_llama3_finds_only_as_whole_words() -> None:
    llama3 = load_pretrained("llama3")
    no_merge = llama3.merge_rows(np.arange(127_000, llama3.num_merges)).left == NO_PARENT
    token_id = next(i for i in range(256, 128_000) if llama3.token_bytes(i) == " việc".encode())

    assert llama3.encode(" việc") == [token_id]
    assert llama3.merge_rows(np.array([token_id - 256])).left.tolist() == [NO_PARENT]
    assert no_merge.any()


# ---------------------------------------------------------------------- special tokens


def test_special_token_is_text_by_default() -> None:
    gpt2 = load_pretrained("gpt2")

    assert gpt2.encode("<|endoftext|>") == [27, 91, 437, 1659, 5239, 91, 29]
    assert gpt2.encode("a<|endoftext|>b", special="special") == [64, 50256, 65]


def test_rejected_special_token_is_named_with_its_place() -> None:
    with pytest.raises(SpecialTokenError, match=r"<\|endoftext\|> at character 3"):
        load_pretrained("gpt2").encode("été<|endoftext|>", special="reject")


def test_special_mode_must_be_known() -> None:
    with pytest.raises(SettingsError, match="text, special, reject"):
        load_pretrained("gpt2").encode("a", special="all")  # type: ignore[arg-type]


def test_special_token_is_one_base_symbol_of_a_history() -> None:
    history = load_pretrained("gpt2").history("ab<|endoftext|>cd", special="special")

    assert history.tokens(0) == [b"a", b"b", b"<|endoftext|>", b"c", b"d"]
    assert history.tokens(history.num_merges) == [b"ab", b"<|endoftext|>", b"cd"]
    assert history.walls.tolist() == [False, True, True, False]
    assert history.final_ids.tolist() == [397, 50256, 10210]


# ---------------------------------------------------------------------- decoding


def test_part_of_a_character_decodes_to_a_replacement() -> None:
    gpt2 = load_pretrained("gpt2")
    ids = gpt2.encode("😉")

    assert len(ids) > 1
    assert gpt2.decode(ids[:1]) == "\ufffd"
    assert b"".join(gpt2.token_bytes(token_id) for token_id in ids) == "😉".encode()


@pytest.mark.parametrize("token_id", [-1, 100_256, 100_277, 2**40, 2**80])
def test_id_that_no_token_has_is_named(token_id: int) -> None:
    cl100k = load_pretrained("cl100k")

    with pytest.raises(TokenIdError, match=f"from 0 to 100,276 and in use, but is {token_id:,}"):
        cl100k.decode([1, token_id])
    with pytest.raises(TokenIdError):
        cl100k.token_bytes(token_id)


def test_every_id_decodes_or_is_refused() -> None:
    cl100k = load_pretrained("cl100k")
    used = set(cl100k.mergeable_ranks.values()) | set(cl100k.special_tokens.values())
    by_token = {token_id: token for token, token_id in cl100k.mergeable_ranks.items()}

    for token_id in range(cl100k.vocab_size):
        if token_id in by_token:
            assert cl100k.token_bytes(token_id) == by_token[token_id]
        elif token_id not in used:
            with pytest.raises(TokenIdError):
                cl100k.token_bytes(token_id)
    assert cl100k.vocab_size - len(used) == 16


# ---------------------------------------------------------------------- history


def merge_below(piece: bytes, ranks: Mapping[bytes, int], limit: int) -> list[bytes]:
    """Merge the lowest-ranked pair again and again, using only tokens whose id is below the limit."""
    parts = [piece[i : i + 1] for i in range(len(piece))]
    while True:
        candidates = [
            (ranks[left + right], i)
            for i, (left, right) in enumerate(pairwise(parts))
            if ranks.get(left + right, limit) < limit
        ]
        if not candidates:
            return parts
        i = min(candidates)[1]
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def check_history(tokenizer: RankTokenizer, history: History, ids: list[int]) -> None:
    """Check what must hold of every history, however the text was split."""
    assert history.final_ids.tolist() == ids
    assert history.tokens(history.num_merges) == [tokenizer.token_bytes(token_id) for token_id in ids]
    assert history.num_tokens[-1] == len(ids)
    assert history.num_merges == tokenizer.num_merges
    assert len(history.num_tokens) == tokenizer.num_merges + 1
    assert len(history.lifetimes) == len(history.walls) == max(history.num_symbols - 1, 0)
    assert np.all(history.lifetimes[history.walls] == NEVER)
    assert np.all((history.lifetimes < tokenizer.num_merges) | (history.lifetimes == NEVER))
    for end in history.offsets[1:-1][history.walls].tolist():
        history.text[:end].decode()  # a wall never lies inside a character


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("special", ["text", "special"])
@a_few
@given(text=texts)
def test_history_ends_in_the_encoding(name: str, special: str, text: str) -> None:
    tokenizer = load_pretrained(name)

    check_history(tokenizer, tokenizer.history(text, special=special), tokenizer.encode(text, special=special))


@pytest.mark.parametrize("name", ENCODINGS)
@settings(max_examples=40)
@given(text=st.text(alphabet="aest '\n1日é ", max_size=16))
def test_history_at_every_step_is_merging_with_fewer_ranks(name: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    ranks = tokenizer.mergeable_ranks
    history = tokenizer.history(text)
    steps = {0, 1, tokenizer.num_merges, *history.lifetimes[history.lifetimes != NEVER].tolist()}

    for step in steps | {min(step + 1, tokenizer.num_merges) for step in steps}:
        if step < tokenizer.num_merges:
            limit = int(tokenizer.merge_rows(np.array([step])).token[0])
        else:
            limit = tokenizer.vocab_size
        expected = [
            token for piece in split(text, tokenizer.split) for token in merge_below(piece.encode(), ranks, limit)
        ]
        assert history.tokens(step) == expected
        assert history.num_tokens[step] == len(expected)


def test_lifetimes_worked_by_hand() -> None:
    # GPT-2's first merges are " t", " a", "he", "in", "re", "on", " the": 0 makes " t", 2 "he", 6 joins both.
    gpt2 = load_pretrained("gpt2")
    history = gpt2.history(" the")

    assert history.lifetimes.tolist() == [0, 6, 2]
    assert history.num_tokens[:8].tolist() == [4, 3, 3, 2, 2, 2, 2, 1]
    assert history.tokens(3) == [b" t", b"he"]


def test_empty_text() -> None:
    gpt2 = load_pretrained("gpt2")
    history = gpt2.history("")

    assert gpt2.encode("") == []
    assert gpt2.decode([]) == ""
    check_history(gpt2, history, [])
    assert history.num_tokens.tolist() == [0] * (gpt2.num_merges + 1)


@pytest.mark.parametrize("name", GENERATIONS)
@pytest.mark.parametrize("letter", ["\u088f", "\ua7ce", "\ua7cf", "\U00016ea0", "\U00011de1"])
def test_recently_added_letters_follow_tiktoken(name: str, letter: str) -> None:
    tokenizer = load_pretrained(name)
    text = f"some text ab{letter}cd and {letter}'s, ab{letter}'s\n"

    check_history(tokenizer, tokenizer.history(text), tokenizer.encode(text))


@pytest.mark.parametrize("name", GENERATIONS)
def test_recently_added_letters_are_split_differently(name: str) -> None:
    # Keeps the test above from becoming empty: replace U+088F by a newer letter when this fails.
    tokenizer = load_pretrained(name)
    ranks = tokenizer.mergeable_ranks
    text = "\u088f's"
    by_piece = [
        ranks[token]
        for piece in split(text, tokenizer.split)
        for token in merge_below(piece.encode(), ranks, tokenizer.vocab_size)
    ]

    assert regex.fullmatch(r"\p{L}", "\u088f")
    assert by_piece != tokenizer.encode(text)


@pytest.mark.parametrize("other_split", ["none", "whitespace", "digits", r"(?s:..?)", "o200k"])
@a_few
@given(text=texts.filter(bool))
def test_history_follows_tiktoken_however_wrong_the_pre_tokens(other_split: str, text: str) -> None:
    tokenizer = load_pretrained("cl100k")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe.rank_tokenizer, "split", lambda text, pattern: split(text, other_split))
        history = tokenizer.history(text)

    check_history(tokenizer, history, tokenizer.encode(text))


@pytest.mark.parametrize("name", ENCODINGS)
@a_few
@given(text=st.lists(st.sampled_from([" ", "  ", "\n", "\t", "a", "é", ".", "1", "\ud83d"]), max_size=25).map("".join))
def test_without_tiktoken_the_ids_are_the_same(name: str, text: str) -> None:
    tokenizer = load_pretrained(name)
    expected = tokenizer.encode(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe.rank_tokenizer, "_TOO_MUCH_SPACE", 2)
        assert tokenizer.encode(text) == expected
        check_history(tokenizer, tokenizer.history(text), expected)


def test_a_million_equal_characters() -> None:
    gpt2 = load_pretrained("gpt2")
    history = gpt2.history("a" * 1_000_000)

    assert history.num_tokens[-1] == len(gpt2.encode("a" * 1_000_000)) == 250_000


def test_a_million_spaces_over_which_tiktoken_panics() -> None:
    o200k = load_pretrained("o200k")
    text = " " * 1_000_000 + "x"
    ids = o200k.encode(text)

    assert o200k.decode(ids) == text
    # 999,999 spaces are 7,812 tokens of 128 spaces and one of 63; the last space belongs to " x".
    assert len(ids) == 7812 + 1 + 1


# ---------------------------------------------------------------------- the table


@pytest.mark.parametrize("name", NAMES)
def test_base_names_and_merges_are_the_vocabulary(name: str) -> None:
    tokenizer = load_pretrained(name)
    base = tokenizer.base_names()
    num_single = sum(len(text) == 1 for text in base.values())

    assert num_single == 256
    assert len(base) == 256 + len(tokenizer.special_tokens)
    assert all(tokenizer.token_bytes(token_id) == text for token_id, text in base.items())
    assert tokenizer.num_merges == len(tokenizer.mergeable_ranks) - 256


def test_merge_ranks_have_no_gap_where_ids_have_one() -> None:
    p50k = load_pretrained("p50k")
    rows = p50k.merge_rows(np.array([49_998, 49_999, 50_000, 50_023]))

    assert rows.token.tolist() == [50_254, 50_255, 50_257, 50_280]
    assert p50k.token_bytes(50_280) == b" " * 25
    assert p50k.lifetimes("  ").tolist() == [50_000]


def test_merges_that_act_build_the_tokens_of_a_text() -> None:
    gpt2 = load_pretrained("gpt2")
    history = gpt2.history(" strawberry fields forever")
    ranks = np.unique(history.lifetimes[history.lifetimes != NEVER]).astype(np.int64)
    rows = gpt2.merge_rows(ranks)
    names = gpt2.base_names()
    for left, right, token in zip(rows.left.tolist(), rows.right.tolist(), rows.token.tolist(), strict=True):
        names[token] = names[left] + names[right]

    assert rows.rank.tolist() == ranks.tolist()
    assert [names[token_id] for token_id in history.final_ids] == history.tokens(gpt2.num_merges)


def test_token_that_no_merge_makes() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abcd": 257}
    tokenizer = RankTokenizer("odd", ranks, "gpt2", {})
    rows = tokenizer.merge_rows()

    assert tokenizer.encode("abcd") == [257]
    assert tokenizer.encode("abcde") == [256, 99, 100, 101]
    assert tokenizer.lifetimes("abcd").tolist() == [0, 1, 1]
    assert rows.left.tolist() == [97, NO_PARENT]
    assert rows.right.tolist() == [98, NO_PARENT]


def test_no_rows_asked_for() -> None:
    assert [len(column) for column in load_pretrained("gpt2").merge_rows(np.arange(0)).columns()] == [0] * 4


# ---------------------------------------------------------------------- by name


def test_every_tokenizer_has_one_name() -> None:
    names = pretrained_names()

    assert names[: len(NAMES)] == NAMES
    assert len(set(names)) == len(names)


AVAILABLE = tuple(name for name in pretrained_names() if pretrained_info(name).available)


@pytest.mark.parametrize("name", AVAILABLE)
def test_info_says_what_loading_gives(name: str) -> None:
    info, tokenizer = pretrained_info(name), load_pretrained(name)

    assert (info.name, info.vocab_size) == (tokenizer.name, tokenizer.vocab_size) == (name, tokenizer.vocab_size)
    assert info.special_tokens == tokenizer.special_tokens
    assert info.title
    assert info.source
    assert "Lic" in info.licence or "Terms" in info.licence
    assert (info.kind == "byte-level BPE") == isinstance(tokenizer, RankTokenizer) == (tokenizer.num_merges > 0)
    assert bool(info.split_pattern) == isinstance(tokenizer, (RankTokenizer, HubTokenizer))
    assert (info.normalizer == "none") == (tokenizer.changes("1ÀE\u0301 ㎞") == [])


def test_fifteen_tokenizers_are_available_with_every_package_installed() -> None:
    assert len(AVAILABLE) == 15
    assert [name for name in pretrained_names() if name not in AVAILABLE] == ["t5", "albert"]


@pytest.mark.parametrize("name", ["t5", "albert"])
def test_tokenizer_that_is_not_shipped_says_what_to_bring(name: str) -> None:
    info = pretrained_info(name)

    assert not info.available
    assert "bring its file, spiece.model or tokenizer.json" in info.why_not
    with pytest.raises(UnavailableError, match="bring its file"):
        load_pretrained(name)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("splintr", ("llama2", "gemma2", "gemma3", "mistral-v1", *PACKAGED)),
        ("tokenizers", ("bert-uncased",)),
        ("sentencepiece", ("xlm-r",)),
    ],
)
def test_missing_package_is_named(module: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else find(name))
    monkeypatch.setattr(bpe.pretrained, "_LOADED", {})

    assert tuple(name for name in AVAILABLE if not pretrained_info(name).available) == names
    for name in names:
        package = pretrained_info(name).package
        assert pretrained_info(name).why_not.endswith(f"python -m pip install {package}")
        with pytest.raises(UnavailableError, match=f"needs the package {package}, which is not installed"):
            load_pretrained(name)


def test_packages_are_the_ones_that_requirements_pin() -> None:
    pinned = (Path(bpe.__file__).parents[1] / "requirements.txt").read_text().split()

    assert {pretrained_info(name).package for name in pretrained_names()} - {""} <= set(pinned)


@pytest.mark.parametrize("name", ["llama3", "gemma2"])
def test_another_version_of_the_package_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = packaged.open_package(name)

    class Changed:
        def decode_token_bytes(self, token_id: int) -> bytes:
            return b"changed" if token_id == 1000 else package.decode_token_bytes(token_id)

    monkeypatch.setattr(bpe.pretrained, "_LOADED", {})
    monkeypatch.setattr(packaged, "open_package", lambda key: Changed())
    with pytest.raises(UnavailableError, match=r"must be the one of splintr-rs==0\.22\.0, but the installed package"):
        load_pretrained(name)


def test_loading_all_reports_progress_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bpe.pretrained, "_LOADED", {})
    seen: list[tuple[int, int]] = []

    def progress(done: int, asked: int) -> bool:
        seen.append((done, asked))
        return done < 1

    assert load_all(["gpt2", "cl100k", "o200k"], progress=progress) == {}
    assert seen == [(0, 3), (1, 3)]
    assert list(bpe.pretrained._LOADED) == ["gpt2"]
    assert list(load_all(["t5", "gpt2"])) == ["t5"]
    with pytest.raises(UnknownTokenizerError):
        load_all(["nobody"])


@pytest.mark.parametrize("alias", ["r50k", "p50k", "cl100k", "o200k"])
def test_alias_is_the_same_object(alias: str) -> None:
    assert load_pretrained(alias) is load_pretrained(f"{alias}_base")


def test_unknown_name_is_answered_with_near_and_all_names() -> None:
    with pytest.raises(UnknownTokenizerError) as caught:
        load_pretrained("cl1000k")

    message = str(caught.value)
    assert "did you mean cl100k" in message
    assert all(name in message for name in NAMES)
    with pytest.raises(UnknownTokenizerError, match="but is 'zzz'"):
        pretrained_info("zzz")


def test_loaded_once_without_network_and_without_tiktokens_cache(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*args: object, **kwargs: object) -> None:
        raise AssertionError("a tokenizer must load without the network")

    num_loads = []

    def counted_load(name: str) -> dict[bytes, int]:
        num_loads.append(name)
        return load_ranks(name)

    monkeypatch.setattr(socket, "socket", no_network)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(bpe.pretrained, "_LOADED", {})
    monkeypatch.setattr(bpe.pretrained, "load_ranks", counted_load)
    start = threading.Barrier(4)
    loaded = []

    def load() -> None:
        start.wait()
        loaded.append(load_pretrained("gpt2"))

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert num_loads == ["r50k"]
    assert len(loaded) == 4
    assert len(set(map(id, loaded))) == 1
    assert not list(tmp_path.iterdir())


def test_nothing_of_it_can_be_changed() -> None:
    gpt2 = load_pretrained("gpt2")

    with pytest.raises(TypeError):
        gpt2.special_tokens["<|mine|>"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        gpt2.mergeable_ranks[b"mine"] = 1  # type: ignore[index]


# Imported as by the app, then loaded in two steps, the peak after each: what a server needs from its start on.
MEASURE_MEMORY = """
from pathlib import Path
import pandas, plotly.graph_objects, streamlit
from bpe.pretrained import load_all

for names in ((), ("gpt2", "cl100k", "o200k"), None):
    assert load_all(names) == {}
    print(Path("/proc/self/status").read_text())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
def test_all_tokenizers_fit_into_the_memory_of_a_small_server() -> None:
    finished = subprocess.run([sys.executable, "-c", MEASURE_MEMORY], capture_output=True, text=True, check=True)
    peaks = [int(kibibytes) / 1024 for kibibytes in regex.findall(r"VmHWM:\s+(\d+) kB", finished.stdout)]
    imported, with_three, with_all = peaks

    # MiB, with the versions that requirements.txt pins: 182 for the imports, 318 with three, 762 with all fifteen.
    assert with_three - imported < 180
    assert with_all < 850


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base", "qwen2.5", "mistral-tekken"])
def test_many_short_texts_together_have_the_ids_of_each_alone(monkeypatch, name):
    tokenizer = load_pretrained(name)
    texts = [article for language in ("eng", "hin", "kor", "vie") for article in load_udhr(language)] + [
        "",
        " ",
        "<|endoftext|>",
        "\ud800",
        "e\u0301",
        " " * 50,
    ]
    alone = [tokenizer.encode(text) for text in texts]
    load("encode")
    assert list(tokenizer.encode_each(texts)) == alone  # too few to make an encoder for them
    monkeypatch.setattr(bpe.rank_tokenizer, "_WORTH_AN_ENCODER_FOR_IDS", 1)
    one_by_one = []
    encode = tokenizer.encode
    monkeypatch.setattr(tokenizer, "encode", lambda text: one_by_one.append(text) or encode(text))
    assert list(tokenizer.encode_each(texts)) == alone
    assert one_by_one == ([] if tokenizer.split in SCANNED_SPLITS else texts)
