"""Vocabularies as columns: kinds, scripts, searching, counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe import BpeError, Tokenizer, TrainSettings, train
from bpe.errors import SettingsError, TokenIdError
from bpe.pretrained import load_pretrained
from bpe.vocabulary import (
    MIXED,
    NO_SCRIPT,
    NO_TEXT,
    SCRIPTS,
    TokenFilter,
    TokenKind,
    Vocabulary,
    count_lengths,
    count_scripts,
    find_tokens,
    list_vocabulary,
)

SEPARATORS = "\x1c\x1d\x1e\x1f"  # white space for Python, not for Unicode


@pytest.fixture(scope="module")
def gpt2() -> Vocabulary:
    return list_vocabulary(load_pretrained("gpt2"))


@pytest.fixture(scope="module")
def cl100k() -> Vocabulary:
    return list_vocabulary(load_pretrained("cl100k"))


def found(vocabulary: Vocabulary, *args: object, **options: object) -> list[str]:
    return [vocabulary.texts[row] for row in find_tokens(vocabulary, TokenFilter(*args, **options))]


def trained(**options) -> Vocabulary:
    return list_vocabulary(train("low lower lowest 12 Ж中", TrainSettings(num_merges=20, **options)).tokenizer)


# ---------------------------------------------------------------------------------------------- columns


def test_every_token_is_a_row_with_its_bytes(gpt2):
    tokenizer = load_pretrained("gpt2")
    assert len(gpt2) == tokenizer.vocab_size == 50_257
    for row in range(0, len(gpt2), 997):
        assert gpt2.names[row] == tokenizer.token_bytes(int(gpt2.ids[row]))
        assert gpt2.num_bytes[row] == len(gpt2.names[row])


def test_unused_ids_have_no_row(cl100k):
    assert cl100k.vocab_size == 100_277
    assert len(cl100k) == 100_261
    with pytest.raises(TokenIdError, match="100,262 is not; next to it are 100,260 and 100,276"):
        cl100k.row_of(100_262)


@pytest.mark.parametrize("token_id", [-1, 50_257, 10**12])
def test_an_id_out_of_range_is_refused_with_the_range(gpt2, token_id):
    with pytest.raises(TokenIdError, match="from 0 to 50,256"):
        gpt2.row_of(token_id)


def test_ranks_count_the_merges(gpt2):
    assert gpt2.ranks[gpt2.row_of(41_236)] == 41_236 - 256
    assert gpt2.ranks.max() == load_pretrained("gpt2").num_merges - 1
    assert gpt2.ranks[gpt2.row_of(50_256)] == -1


@pytest.mark.parametrize(
    ("kind", "num_tokens"),
    [(TokenKind.SPECIAL, 1), (TokenKind.BASE, 256)],
)
def test_kinds_of_gpt2_that_are_known(gpt2, kind, num_tokens):
    assert np.count_nonzero(gpt2.is_kind(kind)) == num_tokens


def test_kinds_say_what_the_bytes_say(cl100k):
    for row in range(len(cl100k)):
        name, text = cl100k.names[row], cl100k.texts[row]
        kinds = TokenKind(int(cl100k.kinds[row]))
        is_partial = name.decode(errors="ignore").encode() != name
        assert (TokenKind.PARTIAL in kinds) == is_partial
        assert (TokenKind.BLANK in kinds) == (text.isspace() and text not in SEPARATORS)
        assert (TokenKind.DIGITS in kinds) == any(char.isdecimal() for char in text)
        spaced = text.startswith(" ") and len(text) > 1 and not text.isspace()
        assert (TokenKind.LEADING_SPACE in kinds) == spaced


@pytest.mark.parametrize(
    ("text", "script"),
    [
        (" the", "Latin"),
        (" 123", NO_SCRIPT),
        ("\n\n", NO_SCRIPT),
        ("の", "Hiragana"),
        ("こんにちは", "Hiragana"),
        (" Москва", "Cyrillic"),
        ("한국", "Hangul"),
    ],
)
def test_scripts(cl100k, text, script):
    row = find_tokens(cl100k, TokenFilter(text.encode().hex(), by="hex"))
    shown = {cl100k.texts[r]: SCRIPTS[cl100k.scripts[r]] for r in row}
    assert shown.get(text, script) == script


def test_scripts_of_a_small_vocabulary_one_by_one():
    vocabulary = list_vocabulary(
        Tokenizer(base="chars", base_symbols=tuple(name.encode() for name in ("a", "ا", "中", "1", "\u0301", "😀")))
    )
    assert [SCRIPTS[script] for script in vocabulary.scripts] == ["Latin", "Arabic", "Han", *[NO_SCRIPT] * 3]
    both = list_vocabulary(Tokenizer(base="chars", base_symbols=(b"a", "中".encode()), merges=((0, 1),)))
    assert SCRIPTS[both.scripts[2]] == MIXED


def test_no_letter_of_a_real_vocabulary_is_of_a_script_without_a_name(gpt2, cl100k):
    for vocabulary in (gpt2, cl100k):
        assert count_scripts(vocabulary, np.arange(len(vocabulary)))[SCRIPTS.index("Other")] == 0


def test_a_part_of_a_character_has_no_text_and_no_script(gpt2):
    rows = np.flatnonzero(gpt2.is_kind(TokenKind.PARTIAL))
    assert {SCRIPTS[script] for script in gpt2.scripts[rows]} == {NO_TEXT}
    assert {gpt2.texts[row] for row in rows} == {""}


@pytest.mark.parametrize("options", [{}, {"base": "chars"}, {"base": "chars", "end_of_word": "separate"}])
def test_a_trained_vocabulary_lists_base_and_merges(options):
    vocabulary = trained(**options)
    assert vocabulary.ids.tolist() == list(range(len(vocabulary)))
    num_base = np.count_nonzero(vocabulary.is_kind(TokenKind.BASE))
    assert vocabulary.ranks.tolist() == [-1] * num_base + list(range(len(vocabulary) - num_base))


def test_an_empty_vocabulary_works():
    vocabulary = list_vocabulary(Tokenizer(base="chars", base_symbols=()))
    assert len(vocabulary) == 0
    assert find_tokens(vocabulary, TokenFilter()).tolist() == []
    assert count_lengths(vocabulary, np.zeros(0, dtype=np.int64)).tolist() == [0]


# ---------------------------------------------------------------------------------------------- searching


def test_text_is_found_inside_tokens_and_is_no_pattern(gpt2):
    assert found(gpt2, "Magikarp") == ["Magikarp", "GoldMagikarp", " SolidGoldMagikarp"]
    assert all(".*" in text for text in found(gpt2, ".*"))


def test_text_finds_parts_of_characters_by_their_bytes(gpt2):
    rows = find_tokens(gpt2, TokenFilter("e3 81", by="hex"))
    assert all(b"\xe3\x81" in gpt2.names[row] for row in rows)
    assert len(rows) > len(find_tokens(gpt2, TokenFilter("の")))


def test_regex_searches_the_text(gpt2):
    assert found(gpt2, "^ straw.*y$", by="regex") == [" strawberry"]


@pytest.mark.parametrize(("query", "ids"), [("41236", [41_236]), (" 41,236 ", [41_236]), ("5-7", [5, 6, 7])])
def test_ids_and_ranges(gpt2, query, ids):
    assert gpt2.ids[find_tokens(gpt2, TokenFilter(query, by="id"))].tolist() == ids


@pytest.mark.parametrize(
    ("query", "by", "says"),
    [
        ("(", "regex", "does not compile: missing"),
        ("a{99999999999}", "regex", "regular expression"),
        ("zz", "hex", "pairs of the digits"),
        ("abc", "hex", "pairs of the digits"),
        ("50257", "id", "from 0 to 50,256"),
        ("9" * 60, "id", "from 0 to 50,256"),
        ("9-2", "id", "must ascend"),
        ("2-99999999", "id", "within 0 to 50,256"),
        ("one", "id", "an id must be a number"),
        ("-1", "id", "an id must be a number"),
    ],
)
def test_a_bad_query_is_refused_with_a_sentence(gpt2, query, by, says):
    with pytest.raises(BpeError, match=says):
        find_tokens(gpt2, TokenFilter(query, by=by))


def test_a_regex_that_runs_away_in_one_token_is_stopped(gpt2):
    # There are some ten trillion ways to try in a token of 64 hyphens: too many for any machine.
    with pytest.raises(
        SettingsError, match=r"within 0\.25 s in one token, .* still running after token [\d,]+ of 50,257"
    ):
        find_tokens(gpt2, TokenFilter(r"^(-|--)+[+*]$", by="regex"))


def test_a_regex_that_is_slow_in_every_token_is_stopped(gpt2, monkeypatch):
    monkeypatch.setattr("bpe.vocabulary._SEARCH_SECONDS", 0.001)
    with pytest.raises(SettingsError, match=r"within 0\.001 s, .* still running after token [\d,]+ of 50,257"):
        find_tokens(gpt2, TokenFilter("o", by="regex"))


def test_filters_hold_together(gpt2):
    wanted = TokenFilter(
        "0",
        scripts=(SCRIPTS.index(NO_SCRIPT),),
        kinds=TokenKind.DIGITS | TokenKind.LEADING_SPACE,
        min_bytes=3,
        max_bytes=4,
    )
    rows = find_tokens(gpt2, wanted)
    assert len(rows)
    for row in rows:
        text = gpt2.texts[row]
        assert "0" in text
        assert text.startswith(" ")
        assert 3 <= len(text.encode()) <= 4
    by_hand = [
        t for t in gpt2.texts if t.startswith(" ") and "0" in t and 3 <= len(t) <= 4 and not any(map(str.isalpha, t))
    ]
    assert sorted(gpt2.texts[row] for row in rows) == sorted(by_hand)


def test_orders(gpt2):
    lengths = gpt2.num_bytes[find_tokens(gpt2, TokenFilter("a", order="longest"))]
    assert np.all(np.diff(lengths) <= 0)
    assert np.all(np.diff(gpt2.num_bytes[find_tokens(gpt2, TokenFilter("a", order="shortest"))]) >= 0)
    names = [gpt2.names[row] for row in find_tokens(gpt2, TokenFilter("a", order="text"))]
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"by": "sound"}, "by must be one of text, regex, hex, id"),
        ({"order": "chaos"}, "order must be one of"),
        ({"min_bytes": 5, "max_bytes": 2}, "at least the smallest, 5 bytes"),
    ],
)
def test_impossible_filters_are_refused(options, says):
    with pytest.raises(SettingsError, match=says):
        TokenFilter(**options)


@settings(deadline=None)
@given(query=st.text(max_size=4))
def test_a_text_search_finds_what_a_substring_test_finds(query):
    vocabulary = trained()
    rows = set(find_tokens(vocabulary, TokenFilter(query)).tolist())
    whole = {row for row, text in enumerate(vocabulary.texts) if query in text and not vocabulary.kinds[row] & 2}
    assert whole <= rows
    assert all(query.encode(errors="replace") in vocabulary.names[row] for row in rows)


@pytest.mark.parametrize(
    "part", [b"e", b" ", b" the", b"\x00", b"\xa0", b"ing", b"strawberry", b"a" * 400, b"th" * 9, b""]
)
def test_bytes_are_found_inside_a_token_and_never_across_two(gpt2, part):
    rows = find_tokens(gpt2, TokenFilter(part.hex() or "  ", by="hex"))
    assert rows.tolist() == [row for row, name in enumerate(gpt2.names) if part in name]


@settings(deadline=None)
@given(names=st.lists(st.binary(max_size=4), min_size=1), part=st.binary(min_size=1, max_size=3))
def test_a_search_of_bytes_finds_what_a_substring_test_finds(names, part):
    tokens = len(names)
    vocabulary = Vocabulary(
        vocab_size=tokens,
        ids=np.arange(tokens),
        names=names,
        texts=[""] * tokens,
        num_bytes=np.array([len(name) for name in names], dtype=np.int32),
        scripts=np.zeros(tokens, dtype=np.uint8),
        kinds=np.zeros(tokens, dtype=np.uint16),
        ranks=np.full(tokens, -1),
    )
    rows = find_tokens(vocabulary, TokenFilter(part.hex(), by="hex"))
    assert rows.tolist() == [row for row, name in enumerate(names) if part in name]


# ---------------------------------------------------------------------------------------------- counting


def test_counts_add_up(gpt2):
    rows = find_tokens(gpt2, TokenFilter("a"))
    lengths = count_lengths(gpt2, rows)
    assert lengths.sum() == count_scripts(gpt2, rows).sum() == len(rows)
    assert lengths[3] == sum(len(gpt2.names[row]) == 3 for row in rows)
    assert len(lengths) == max(map(len, gpt2.names)) + 1
