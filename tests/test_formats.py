"""Tokenizer files: equal ids from the library that owns each format, and a sentence for whatever is not right."""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise

import numpy as np
import pytest
import regex
import tiktoken
import tokenizers
from format_cases import CORPUS, MINBPE, OWN_SPLIT, assert_history_is_true, library_of, same_fields, trained
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bpe import SPLIT_PATTERNS, Tokenizer, TrainSettings, train
from bpe.errors import (
    FormatError,
    SettingsError,
    SpecialTokenError,
    UnavailableError,
    UnknownSymbolError,
)
from bpe.formats import (
    FORMATS,
    load_tokenizer,
    needs_split,
    rank_files,
    recognise_format,
    save_tokenizer,
    verify_export,
)
from bpe.formats.byte_alphabet import to_bytes, to_chars
from bpe.formats.verify import PROBE_TEXT
from bpe.pretrained import load_pretrained
from bpe.vocabularies import load_ranks, rank_file
from bpe.vocabularies.packaged import PACKAGED_RANKS, read_ranks

# ------------------------------------------------------------------------------------------- the owners, as documented


def tiktoken_ids(files, text):
    names = sorted(files)
    ranks = {base64.b64decode(a): int(b) for a, b in (line.split() for line in files[names[0]].splitlines())}
    encoding = tiktoken.Encoding(mergeable_ranks=ranks, **json.loads(files[names[1]]))
    return encoding.encode_ordinary(text)


def hugging_face_ids(files, text):
    return library_of(files["tokenizer.json"]).encode(text, add_special_tokens=False).ids


def gpt2_ids(files, text):
    merges = [tuple(line.split(" ")) for line in files["merges.txt"].decode().split("\n")[1:-1]]
    tokenizer = tokenizers.implementations.ByteLevelBPETokenizer(json.loads(files["vocab.json"]), merges)
    return tokenizer.encode(text).ids


def minbpe_ids(files, text):
    """The loop of minbpe, over what its reader reads."""
    lines = files["tokenizer.model"].decode().split("\n")
    pattern, num_special = lines[1], int(lines[2])
    merges = {}
    for line in lines[3 + num_special : -1]:
        left, right = map(int, line.split())
        merges[left, right] = 256 + len(merges)
    ids = []
    for chunk in regex.findall(pattern, text) if pattern else [text]:
        symbols = list(chunk.encode())
        while len(symbols) > 1:
            pair = min(pairwise(symbols), key=lambda pair: merges.get(pair, 10**9))
            if pair not in merges:
                break
            i = 0
            merged = []
            while i < len(symbols):
                whole = tuple(symbols[i : i + 2]) == pair
                merged.append(merges[pair] if whole else symbols[i])
                i += 2 if whole else 1
            symbols = merged
        ids += symbols
    return ids


def own_ids(files, text):
    return load_tokenizer(files).encode(text)


OWNERS = {
    "bpe-json": own_ids,
    "tiktoken": tiktoken_ids,
    "tokenizer-json": hugging_face_ids,
    "vocab-merges": gpt2_ids,
    "minbpe": minbpe_ids,
}


def test_every_format_has_its_owner_here():
    assert OWNERS.keys() == FORMATS.keys()


# ------------------------------------------------------------------------------------------- round trips

ALPHABET = "ab 1é\n'sA日"


@st.composite
def tokenizers_of_all_kinds(draw):
    base = draw(st.sampled_from(["bytes", "chars"]))
    return trained(
        draw(st.text(alphabet=ALPHABET, min_size=1, max_size=60)),
        special_tokens=draw(st.sampled_from([None, ["<|end|>"], ["<|b|>", "<|a|>"]])),
        base=base,
        end_of_word=draw(st.sampled_from(["none", "separate", "attached"])) if base == "chars" else "none",
        split=draw(st.sampled_from([*SPLIT_PATTERNS, OWN_SPLIT])),
        tie_break=draw(st.sampled_from(["first-seen", "lowest-ids", "greatest-pair"])),
        num_merges=draw(st.integers(0, 25)),
    )


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tokenizer=tokenizers_of_all_kinds(), text=st.text(alphabet=ALPHABET + "x\t,", max_size=30))
def test_an_export_gives_the_same_ids_in_its_own_library(format, tokenizer, text):
    expected = refused_because(format, tokenizer)
    if expected is not None:
        assert re.search(expected, refusal(tokenizer, format))
        return
    files = save_tokenizer(tokenizer, format)
    assert recognise_format(files) == format
    try:
        ids = tokenizer.encode(text)
    except UnknownSymbolError:
        assume(False)
    assert OWNERS[format](files, text) == ids
    again = load_tokenizer(files)
    assert again.encode(text) == ids
    assert again.decode_bytes(ids) == tokenizer.decode_bytes(ids)
    assert again.base_names().items() >= tokenizer.base_names().items()
    assert_history_is_true(again, text)


def refused_because(format, tokenizer):
    """What a refusal says about something that the tokenizer has and the format has not; None for no refusal."""
    if tokenizer.base == "chars" and format in ("tiktoken", "vocab-merges", "minbpe"):
        return "over characters"
    if tokenizer.end_of_word == "separate" and format == "tokenizer-json":
        return "no end-of-word mark that is a symbol of its own"
    if tokenizer.split != "gpt2" and format == "vocab-merges":
        return "always means the split pattern gpt2"
    names = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size - len(tokenizer.special_tokens))]
    if len(set(names)) < len(names) and format in ("tiktoken", "tokenizer-json", "vocab-merges"):
        return "knows a token by its text"
    return None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tokenizer=tokenizers_of_all_kinds())
def test_bpe_json_keeps_every_setting(tokenizer):
    assert same_fields(load_tokenizer(save_tokenizer(tokenizer, "bpe-json")), tokenizer)


def test_minbpe_keeps_merges_pattern_and_special_tokens():
    tokenizer = trained(special_tokens=["<|a|>", "<|a|><|b|>"], split=OWN_SPLIT)
    again = load_tokenizer(save_tokenizer(tokenizer, "minbpe"))
    assert same_fields(again, tokenizer)


def test_the_minbpe_file_is_what_minbpe_writes():
    tokenizer = train("aaabdaaabac", TrainSettings(split="none", num_merges=3)).tokenizer
    assert save_tokenizer(tokenizer, "minbpe") == {"tokenizer.model": b"minbpe v1\n\n0\n97 97\n256 97\n257 98\n"}


@pytest.mark.parametrize("format", ["bpe-json", "tiktoken", "tokenizer-json", "minbpe"])
@pytest.mark.parametrize("split", [*SPLIT_PATTERNS, OWN_SPLIT, r"(?i)[a-z]+", r"\p{L}+| ?\d{1,2}"])
def test_every_split_pattern_goes_through(format, split):
    tokenizer = trained(split=split)
    files = save_tokenizer(tokenizer, format)
    assert load_tokenizer(files).encode(PROBE_TEXT) == tokenizer.encode(PROBE_TEXT)
    assert OWNERS[format](files, PROBE_TEXT) == tokenizer.encode(PROBE_TEXT)


@given(digits=st.text(alphabet="0123456789 \n\t٣", max_size=40))
def test_cl100k_is_rewritten_for_oniguruma(digits):
    tokenizer = trained(split="cl100k")
    assert hugging_face_ids(EXPORTED_CL100K, digits) == tokenizer.encode(digits)


EXPORTED_CL100K = save_tokenizer(trained(split="cl100k"), "tokenizer-json")


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "vocab-merges"])
def test_special_tokens_keep_text_and_id(format):
    tokenizer = trained(special_tokens=["<|end|>", "<|start|>"])
    again = load_tokenizer(save_tokenizer(tokenizer, format))
    text = "a<|end|>b<|start|>"
    assert again.encode(text, special="special") == tokenizer.encode(text, special="special")
    assert again.encode(text) == tokenizer.encode(text)
    assert again.decode(again.encode(text, special="special")) == text
    with pytest.raises(SpecialTokenError):
        again.encode(text, special="reject")


def test_a_step_of_a_training_can_be_exported():
    tokenizer = trained(special_tokens=["<|end|>"]).at_step(7)
    for format in FORMATS:
        assert load_tokenizer(save_tokenizer(tokenizer, format)).encode(CORPUS) == tokenizer.encode(CORPUS)


def test_characters_beyond_the_corpus_are_unknown_in_tokenizer_json_as_here():
    tokenizer = trained("abc abd", base="chars", split="none")
    files = save_tokenizer(tokenizer, "tokenizer-json")
    again = load_tokenizer(files)
    unknown = again.vocab["<unk>"]
    assert unknown == tokenizer.vocab_size
    ids = again.encode("abxyc")
    assert ids == hugging_face_ids(files, "abxyc")
    assert ids.count(unknown) == 2


def test_the_name_of_the_unknown_token_gives_way():
    tokenizer = trained("<unk> " * 3, base="chars", split="whitespace", num_merges=10)
    again = load_tokenizer(save_tokenizer(tokenizer, "tokenizer-json"))
    assert again.unknown_id == again.vocab["<unk1>"]
    assert again.encode("<unk>") == tokenizer.encode("<unk>")


# ------------------------------------------------------------------------------------------- what cannot be exported


def refusal(tokenizer, format):
    with pytest.raises(FormatError) as raised:
        save_tokenizer(tokenizer, format)
    return str(raised.value)


def test_two_tokens_of_equal_bytes_are_refused_by_their_ids():
    # a+b, then (ab)+c and, from a corpus of its own, a+(bc): the same three bytes twice.
    merges = ((97, 98), (98, 99), (256, 99), (97, 257))
    message = refusal(Tokenizer(split="none", merges=merges), "tiktoken")
    assert "tokens 258 and 259 are both b'abc'" in message
    assert "before merge 3" in message
    assert "tokens 258 and 259" in refusal(Tokenizer(split="none", merges=merges), "tokenizer-json")
    assert same_fields(
        load_tokenizer(save_tokenizer(Tokenizer(split="none", merges=merges), "minbpe")),
        Tokenizer(split="none", merges=merges),
    )


def test_merges_that_a_rank_table_would_not_follow_are_refused():
    # abc is made from ab+c only, but bc comes first: a text abc is a|bc here, and the table would join it.
    tokenizer = Tokenizer(split="none", merges=((98, 99), (97, 98), (257, 99)))
    assert tokenizer.encode("abc") == [97, 256]
    assert "the table would make it otherwise" in refusal(tokenizer, "tiktoken")
    assert load_tokenizer(save_tokenizer(tokenizer, "tokenizer-json")).encode("abc") == [97, 256]


@st.composite
def any_merges(draw):
    """Merges over a, b, c in an order that no training has to give."""
    merges = []
    for rank in range(draw(st.integers(1, 7))):
        known = st.sampled_from([97, 98, 99, *range(256, 256 + rank)])
        pair = (draw(known), draw(known))
        if pair not in merges:
            merges.append(pair)
    return Tokenizer(split="none", merges=tuple(merges))


@settings(max_examples=150, deadline=None)
@given(tokenizer=any_merges(), texts=st.lists(st.text(alphabet="abc", max_size=20), max_size=5))
def test_a_rank_table_that_is_written_merges_like_the_tokenizer(tokenizer, texts):
    assume(all(left < 256 + rank and right < 256 + rank for rank, (left, right) in enumerate(tokenizer.merges)))
    try:
        files = rank_files.write(tokenizer, "x.tiktoken")  # without the probe: the proof alone has to do
    except FormatError:
        assume(False)
    for text in texts:
        assert tiktoken_ids(files, text) == tokenizer.encode(text)


def test_end_marks_and_characters_are_refused_where_the_format_has_none():
    separate = trained(base="chars", end_of_word="separate", split="whitespace")
    assert "train with end_of_word='attached'" in refusal(separate, "tokenizer-json")
    for format in ("tiktoken", "vocab-merges", "minbpe"):
        assert "over bytes, but this one is over characters" in refusal(separate, format)


def test_split_patterns_that_a_format_cannot_hold_are_refused():
    assert "always means the split pattern gpt2" in refusal(trained(split="cl100k"), "vocab-merges")
    for format in ("tiktoken", "minbpe"):
        assert "without groups that capture, but '(a)|b' has 1" in refusal(trained(split="(a)|b"), format)
        assert "never matches the empty text" in refusal(trained(split="a*"), format)
    assert "on one line" in refusal(trained(split="a\n|b"), "minbpe")
    # The regex module knows fuzzy matching; the Rust engine of tiktoken and Oniguruma do not.
    assert "tiktoken does not take the split pattern" in refusal(trained(split="(?>a)(?R)?b"), "tiktoken")


def test_a_pattern_that_another_engine_reads_differently_is_caught_by_the_probe():
    # To Oniguruma $ is the end of every line, to the regex module the end of the text.
    message = refusal(trained(split=r"[^\n]+$|\s+|\S"), "tokenizer-json")
    assert "tokenizers must give the same ids, but for" in message


def test_special_tokens_that_a_format_cannot_hold_are_refused():
    assert "without white space, but one is 'a b'" in refusal(trained(special_tokens=["a b"]), "minbpe")
    assert "'<a><b>' begins with '<a>'" in refusal(trained(special_tokens=["<a>", "<a><b>"]), "tiktoken")
    assert "are both b'a'" in refusal(trained(special_tokens=["a"]), "tokenizer-json")
    # The byte alphabet writes a space as Ġ.
    assert "special token 'Ġ' is written like token 32" in refusal(trained(special_tokens=["Ġ"]), "tokenizer-json")


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_no_unicode_is_refused(format):
    assert "holds a lone surrogate" in refusal(trained(special_tokens=["<\ud800>"]), format)
    assert "holds a lone surrogate" in refusal(trained(split="\ud800+|a"), format)


def test_a_merge_that_looks_like_a_heading_is_refused():
    tokenizer = Tokenizer(merges=tuple(zip([35, 256, 257, 258, 259, 260, 261], b"version", strict=True)))
    assert tokenizer.token_bytes(262) == b"#version"
    tokenizer = tokenizer.with_merges((*tokenizer.merges, (262, 120)))
    assert "a line that begins with #version" in refusal(tokenizer, "vocab-merges")


def test_a_format_is_one_of_five():
    with pytest.raises(SettingsError, match=r"format must be one of bpe-json, tiktoken, .* but is 'json'"):
        save_tokenizer(Tokenizer(), "json")
    with pytest.raises(FormatError, match=r"must end with vocab.json"):
        save_tokenizer(Tokenizer(), "vocab-merges", name="x.json")


def test_an_export_that_was_changed_does_not_pass():
    tokenizer = trained()
    for format, old, new in (("minbpe", b"116 104\n", b"116 105\n"), ("bpe-json", b"[116, 104]", b"[116, 105]")):
        files = save_tokenizer(tokenizer, format)
        changed = {name: data.replace(old, new) for name, data in files.items()}
        assert changed != files
        with pytest.raises(FormatError, match="must give the same ids"):
            verify_export(tokenizer, changed, format)
    with pytest.raises(FormatError, match="must be tiktoken, but are minbpe"):
        verify_export(tokenizer, save_tokenizer(tokenizer, "minbpe"), "tiktoken")


def test_a_missing_library_is_said(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UnavailableError, match="pip install tokenizers"):
        save_tokenizer(trained(), "tokenizer-json")


def test_what_was_read_from_a_tokenizer_json_is_not_written_again():
    imported = load_tokenizer(save_tokenizer(trained(), "tokenizer-json"))
    assert "was read from another kind of file" in refusal(imported, "tiktoken")


# ------------------------------------------------------------------------------------------- real tables


@pytest.mark.parametrize("format", ["tiktoken", "tokenizer-json", "vocab-merges"])
def test_gpt2_goes_through(format):
    gpt2 = load_pretrained("gpt2")
    again = load_tokenizer(save_tokenizer(gpt2, format))
    assert again.encode(" strawberry") == [41236]
    assert again.encode("strawberry") == [301, 1831, 8396]
    assert again.encode("a<|endoftext|>", special="special") == [64, 50256]
    assert again.vocab_size == 50257
    assert again.encode(PROBE_TEXT) == gpt2.encode(PROBE_TEXT)
    ours, theirs = again.history(PROBE_TEXT), gpt2.history(PROBE_TEXT)
    assert np.array_equal(ours.lifetimes, theirs.lifetimes)
    assert np.array_equal(ours.offsets, theirs.offsets)
    assert np.array_equal(ours.walls, theirs.walls)


@pytest.mark.parametrize(("table", "name"), [("r50k", "gpt2"), ("p50k", "p50k_base"), ("cl100k", "cl100k_base")])
def test_a_published_rank_file_is_known_by_its_hash(table, name):
    tokenizer = load_tokenizer(rank_file(load_ranks(table)))
    assert tokenizer.name == name
    assert tokenizer.special_tokens == load_pretrained(name).special_tokens
    assert tokenizer.encode(PROBE_TEXT) == load_pretrained(name).encode(PROBE_TEXT)


@pytest.mark.parametrize("name", ["llama3", "qwen2.5"])
def test_a_rank_file_that_others_published_is_known_by_its_hash_too(name):
    table = next(table for table in PACKAGED_RANKS if table.name == name)
    tokenizer = load_tokenizer({"tokenizer.model": rank_file(read_ranks(table))})
    real = load_pretrained(name)
    assert (tokenizer.name, tokenizer.vocab_size) == (name, real.vocab_size)
    assert tokenizer.special_tokens == real.special_tokens
    for text in (PROBE_TEXT, "e\u0301 안녕 12345"):
        assert tokenizer.encode(text) == real.encode(text)
        assert tokenizer.changes(text) == real.changes(text)


@pytest.mark.parametrize("split", ["none", "cl100k", r"[a-z]+|\d"])
def test_a_rank_file_alone_asks_for_its_split_pattern_and_takes_it_as_a_second_file(split):
    tokenizer = trained(split=split)
    (name, ranks), _settings = save_tokenizer(tokenizer, "tiktoken").items()
    assert needs_split({name: ranks})
    with pytest.raises(FormatError, match="does not hold its split pattern"):
        load_tokenizer({name: ranks})
    files = {name: ranks} | rank_files.settings_file(name, split)
    assert not needs_split(files)
    assert load_tokenizer(files).encode(CORPUS) == tokenizer.encode(CORPUS)
    assert load_tokenizer({name: ranks}, split=split).encode(CORPUS) == tokenizer.encode(CORPUS)


def test_only_a_rank_file_that_nobody_knows_needs_a_split_pattern():
    assert not needs_split({"gpt2.tiktoken": rank_file(load_ranks("r50k"))})
    assert not needs_split({"my.model": MINBPE})


def test_ids_of_its_own_are_refused_where_ids_are_implied():
    for format in ("bpe-json", "minbpe"):
        assert "has ids of its own" in refusal(load_pretrained("gpt2"), format)


# ------------------------------------------------------------------------------------------- paths


@pytest.mark.parametrize("format", FORMATS)
def test_a_path_finds_its_second_file(format, tmp_path):
    tokenizer = trained()
    name = {"vocab-merges": "my-vocab.json"}.get(format, "my.file")
    files = save_tokenizer(tokenizer, format, name=name)
    for file, data in files.items():
        (tmp_path / file).write_bytes(data)
    assert next(iter(files)) == name
    assert load_tokenizer(tmp_path / name).encode(CORPUS) == tokenizer.encode(CORPUS)
    assert load_tokenizer(str(tmp_path / name)).encode(CORPUS) == tokenizer.encode(CORPUS)
    if format == "vocab-merges":
        assert load_tokenizer(tmp_path / "my-merges.txt").encode(CORPUS) == tokenizer.encode(CORPUS)


def test_a_neighbour_that_does_not_belong_is_left_alone(tmp_path):
    (tmp_path / "my.model").write_bytes(MINBPE)
    (tmp_path / "my.model.json").write_text('{"something": "else"}')
    assert load_tokenizer(tmp_path / "my.model").encode("aab") == [257]


def test_a_missing_path_is_an_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_tokenizer(tmp_path / "none.json")


@given(raw=st.binary(max_size=40))
def test_the_byte_alphabet_is_one_to_one(raw):
    chars = to_chars(raw)
    assert len(chars) == len(raw)
    assert not any(char.isspace() for char in chars)
    assert to_bytes(chars) == raw


def test_a_character_outside_the_byte_alphabet_is_no_byte():
    assert to_bytes("日") is None
    assert to_bytes(" ") is None
