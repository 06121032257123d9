"""tokenizer.json of others: the ids of the `tokenizers` library, and histories that end in them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tiktoken
import tokenizers
from format_cases import (
    BYTE_LEVEL,
    BYTES,
    CORPUS,
    FOREIGN,
    assert_history_is_true,
    imported,
    learn,
    library_of,
    trained,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import normalizers

from bpe import SPLIT_PATTERNS, UNKNOWN_ID
from bpe.byte_axis import place_tokens
from bpe.errors import SettingsError, TokenIdError, UnknownSymbolError
from bpe.formats import load_tokenizer, save_tokenizer
from bpe.formats.byte_alphabet import to_chars
from bpe.formats.verify import PROBE_TEXT
from bpe.normalizing import AlignedHistory, Change
from bpe.pretrained import NO_PARENT


@pytest.mark.parametrize("kind", FOREIGN)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=st.one_of(
        st.text(alphabet="thecat 1234é日Ǆ\u0301'sX\n\t<>/s|", max_size=40), st.sampled_from([PROBE_TEXT, ""])
    )
)
def test_ids_are_those_of_the_library(kind, text):
    tokenizer = imported(kind)
    theirs = library_of(FOREIGN[kind]).encode(text, add_special_tokens=False).ids
    ours = tokenizer.encode(text, unknown="mark")
    # Without an unknown token the library drops characters; here that is an error (next test).
    assert UNKNOWN_ID in ours or ours == theirs
    history = tokenizer.history(text)
    assert history.final_ids.tolist() == tokenizer.encode(text, unknown="mark")
    assert history.num_tokens[-1] == len(history.final_ids)


def test_a_symbol_without_unknown_token_is_said():
    tokenizer = imported("no byte alphabet, no unknown token")
    with pytest.raises(UnknownSymbolError, match="only characters that the file knows"):
        tokenizer.encode("\x00")
    assert tokenizer.decode(tokenizer.encode("\x00", unknown="mark")) == "\ufffd"


def test_dropped_text_is_shown_as_it_was_encoded():
    tokenizer = imported("clip: lower case and end of word")
    assert tokenizer.history(" the  cat\n").text == b"the</w> cat</w>\n"
    assert tokenizer.decode(tokenizer.encode("The  cat")) == "the cat"


LOWER = learn(trainer=BYTES, normalizer=normalizers.Lowercase(), pre_tokenizer=BYTE_LEVEL)


def test_lower_cased_text_is_placed_in_the_text_of_the_reader():
    tokenizer = load_tokenizer(LOWER)
    text = "The CAT sat ON the NAÏVE mat"
    history = tokenizer.history(text)
    assert isinstance(history, AlignedHistory)
    assert history.text == text.encode()
    assert b"".join(history.tokens(0)) == text.encode()

    placed = place_tokens(tokenizer, text)
    encoding = library_of(LOWER).encode(text, add_special_tokens=False)
    assert placed.ids.tolist() == encoding.ids == tokenizer.encode(text)
    assert len(set(encoding.offsets)) == len(encoding.ids)  # no token shares its characters with another
    assert placed.ends.tolist() == [len(text[:end].encode()) for _start, end in encoding.offsets]


def test_what_a_normalizer_did_is_named():
    lower, composed = load_tokenizer(LOWER), imported("qwen: NFC")
    assert lower.changes("The É <s>") == [Change(0, 1, "T", "t", "lower-cased"), Change(4, 6, "É", "é", "lower-cased")]
    assert lower.changes("the é") == []
    assert [change.what for change in composed.changes("The e\u0301")] == ["NFC"]
    assert imported("gpt2").changes("The É") == []


def test_a_character_that_was_composed_is_shown_as_the_two_it_was():
    history = imported("qwen: NFC").history("ae\u0301b")
    assert history.text == "ae\u0301b".encode()
    assert history.offsets.tolist() == [0, 1, 2, 4, 5]  # é is two bytes: the first one half of three, rounded down


def test_normalized_words_without_what_stood_between_are_placed():
    # The mark at the end of a word covers no byte; white space belongs to the word before it, or starts the first.
    tokenizer = imported("clip: lower case and end of word")
    text = "  The  CAT\n"
    placed = place_tokens(tokenizer, text)
    assert [tokenizer.token_bytes(token) for token in placed.ids.tolist()] == [b"the</w>", b"cat</w>"]
    assert placed.ends.tolist() == [7, 11]
    assert [change.after for change in tokenizer.changes(text)] == ["t", "cat"]


def test_added_tokens_are_not_normalized():
    tokenizer = imported("clip: lower case and end of word")
    text = "THE<|endoftext|> Cat"
    history = tokenizer.history(text, special="special")
    assert history.final_ids.tolist() == tokenizer.encode(text, special="special")
    assert history.text == text.encode()
    assert history.tokens(history.num_merges) == [b"THE", b"<|endoftext|> ", b"Cat"]


@pytest.mark.parametrize("kind", [kind for kind in FOREIGN if "NFC" in kind or "lower" in kind])
@given(text=st.text(alphabet="ThecAT É日Ǆ\u0301\u1100\u1161İ\n", max_size=30))
def test_every_history_of_changed_text_covers_it_once(kind, text):
    tokenizer = imported(kind)
    history = tokenizer.history(text)
    assert np.all(np.diff(history.offsets) >= 0)
    assert history.offsets[0] == 0
    assert history.offsets[-1] == len(history.text)
    if tokenizer.changes(text) and len(history.final_ids):
        assert history.text == text.encode()
        assert place_tokens(tokenizer, text).num_tokens == len(history.final_ids)


def test_lone_surrogates_become_the_replacement_character():
    tokenizer = imported("gpt2")
    assert tokenizer.encode("a\ud800") == tokenizer.encode("a\ufffd")
    assert tokenizer.encode("\ud83d\ude00") == tokenizer.encode("😀")


def converted_like_llama3():
    """A rank table as the usual converter writes it: every way to make each token, and whole pre-tokens first."""
    training = trained(CORPUS, split="llama3", num_merges=60)
    ranks = {training.token_bytes(token): token for token in range(training.vocab_size)}
    # Second ways to make the, low, rat; and a token that no merge makes: it is only found as a whole.
    for token in (b"he", b"ow", b"at", b"zebra"):
        ranks.setdefault(token, len(ranks))
    merges = []
    for token in ranks:
        ways = [(token[:i], token[i:]) for i in range(1, len(token)) if {token[:i], token[i:]} <= ranks.keys()]
        merges += sorted(ways, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    document = json.loads(save_tokenizer(training, "tokenizer-json")["tokenizer.json"])
    document["model"] |= {
        "ignore_merges": True,
        "vocab": {to_chars(token): rank for token, rank in ranks.items()},
        "merges": [[to_chars(left), to_chars(right)] for left, right in merges],
    }
    return json.dumps(document).encode(), ranks


def test_several_ways_to_make_a_token_and_whole_pre_tokens():
    data, ranks = converted_like_llama3()
    tokenizer = load_tokenizer(data)
    made = tokenizer.merge_rows().token.tolist()
    assert len(made) > len(set(made))
    assert tokenizer.encode("zebra") == [ranks[b"zebra"]]
    assert tokenizer.encode("zebra")[0] not in tokenizer.encode("zebras")
    library = library_of(data)
    encoding = tiktoken.Encoding("x", pat_str=SPLIT_PATTERNS["llama3"], mergeable_ranks=ranks, special_tokens={})
    for text in (CORPUS, PROBE_TEXT, "zebra zebra's\n"):
        assert tokenizer.encode(text) == library.encode(text).ids == encoding.encode_ordinary(text)
        assert_history_is_true(tokenizer, text)
    rows = tokenizer.merge_rows()
    assert (rows.left[-1], rows.right[-1]) == (NO_PARENT, NO_PARENT)
    assert ranks[b"zebra"] not in tokenizer.base_names()


def test_added_tokens_are_found_as_the_library_finds_them():
    library = library_of(FOREIGN["qwen: NFC"])
    library.add_tokens(
        [tokenizers.AddedToken("b c", normalized=False), tokenizers.AddedToken("caf\u00e9", normalized=True)]
    )
    library.add_special_tokens([tokenizers.AddedToken("<m>", lstrip=True), tokenizers.AddedToken("<m>x", rstrip=True)])
    tokenizer = load_tokenizer(library.to_str().encode())
    for text in ("a b c", "cafe\u0301 café   <m> y <m>x\tz", "  <m><m>x\n<m>", "x"):
        for special in (False, True):
            library.encode_special_tokens = not special
            mode = "special" if special else "text"
            assert tokenizer.encode(text, special=mode) == library.encode(text, add_special_tokens=False).ids
            assert tokenizer.history(text, special=mode).final_ids.tolist() == tokenizer.encode(text, special=mode)


def test_a_pattern_that_runs_for_ever_is_stopped(monkeypatch):
    # Neither here nor there does it hang on what the import probes.
    document = json.loads(FOREIGN["removed and inverted"])
    document["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": r"(?:q|q)+[!#]|[^q]|q"}
    tokenizer = load_tokenizer(json.dumps(document).encode())
    monkeypatch.setattr("bpe.formats.pipeline.MOST_SECONDS", 0.05)
    with pytest.raises(SettingsError, match="must finish, but the file's"):
        tokenizer.encode("q" * 60)


def test_merges_may_be_written_as_strings():
    document = json.loads(FOREIGN["gpt2"])
    document["model"]["merges"] = [" ".join(pair) for pair in document["model"]["merges"]]
    del document["model"]["type"]
    assert load_tokenizer(json.dumps(document).encode()).encode(CORPUS) == imported("gpt2").encode(CORPUS)


def test_an_id_that_is_not_there_is_refused():
    tokenizer = imported("gpt2")
    with pytest.raises(TokenIdError, match=f"from 0 to {tokenizer.vocab_size - 1} and in use, but is 400"):
        tokenizer.token_bytes(400)
