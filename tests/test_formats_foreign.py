"""tokenizer.json of others: the ids of the `tokenizers` library, and histories that end in them."""

from __future__ import annotations

import json

import pytest
import tiktoken
import tokenizers
from format_cases import CORPUS, FOREIGN, assert_history_is_true, imported, library_of, trained
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bpe import SPLIT_PATTERNS, UNKNOWN_ID
from bpe.errors import SettingsError, TokenIdError, UnknownSymbolError
from bpe.formats import load_tokenizer, save_tokenizer
from bpe.formats.byte_alphabet import to_chars
from bpe.formats.verify import PROBE_TEXT
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


def test_normalized_and_dropped_text_is_shown_as_it_was_encoded():
    tokenizer = imported("clip: lower case and end of word")
    assert tokenizer.history(" The  cat\n").text == b"the</w> cat</w>\n"
    assert tokenizer.decode(tokenizer.encode("The  cat")) == "the cat"
    assert imported("qwen: NFC").history("e\u0301").text == "é".encode()


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
