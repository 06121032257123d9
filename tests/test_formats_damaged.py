"""Damaged and foreign files: each is refused with the line or the key at fault, none is read wrong."""

from __future__ import annotations

import json

import pytest
from format_cases import CORPUS, FOREIGN, MINBPE, imported, trained

from bpe.errors import FormatError
from bpe.formats import load_tokenizer, recognise_format, save_tokenizer
from bpe.formats.reading import MAX_BYTES

# ------------------------------------------------------------------------------------------- rank files

RANKS = save_tokenizer(trained(), "tiktoken")["tokenizer.tiktoken"]
RANK_LINES = RANKS.splitlines(keepends=True)


def changed_line(number, line):
    return b"".join([*RANK_LINES[: number - 1], line, *RANK_LINES[number:]])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (RANKS[:-8], "line 296 must be base64, a space and a rank"),
        (RANKS[:1000], r"line 123 must be base64, a space and a rank, but is 'eg=='|may be cut"),
        (b"".join(RANK_LINES[:100]), "all 256 single bytes, but ends at line 100 without byte 0x64"),
        (changed_line(98, b""), "line 98: the rank must be 97, one more than the line before, but is 98"),
        (changed_line(98, RANK_LINES[96] * 2), "line 98: a token must stand once, but b'`' has rank 96 already"),
        (changed_line(98, b"YWFh 96\n"), "line 98: the rank must be 97, .* but is 96"),
        (changed_line(98, b"YQ= 97\n"), "line 98 must start with base64, but 'YQ=' is not"),
        (changed_line(98, b"Y*== 97\n"), "line 98 must be base64, a space and a rank"),
        (changed_line(98, b"YQ== 097\n"), "line 98 must be base64"),
        (changed_line(98, b"YQ==  97\n"), "line 98 must be base64"),
        (changed_line(98, b"\n"), "line 98 must be base64"),
        (changed_line(98, b"\xff\xfe 97\n"), r"byte 0xFF at offset \d+ \(line 98\) is not"),
        (changed_line(98, b"YWFh 97\n"), "without byte 0x61"),
        (b"Y*== 0\nYg== 1\n", "line 1 must be base64"),
    ],
)
def test_a_damaged_rank_file_is_refused_by_its_line(data, sentence):
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"my.tiktoken": data}, split="gpt2")


def test_a_rank_file_wants_its_split_pattern():
    with pytest.raises(FormatError, match=r"does not hold its split pattern; give my.tiktoken.json .* or say"):
        load_tokenizer({"my.tiktoken": RANKS})
    assert load_tokenizer({"my.tiktoken": RANKS}, split="gpt2").encode(CORPUS) == trained().encode(CORPUS)
    with pytest.raises(FormatError, match=r"split pattern '\(' cannot be used"):
        load_tokenizer({"my.tiktoken": RANKS}, split="(")


def test_windows_line_ends_are_taken():
    data = RANKS.replace(b"\n", b"\r\n")
    assert load_tokenizer({"x": data}, split="gpt2").encode(CORPUS) == trained().encode(CORPUS)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"special_tokens": {"<|end|>": 5}}, r"'<\|end\|>' must have an id of its own, but rank 5 is b'\\x05'"),
        ({"special_tokens": {"": 500}}, "must not be empty"),
        ({"special_tokens": {"a": 500, "b": 500}}, "id 500 must belong to one token"),
        ({"special_tokens": []}, "special_tokens must be an object"),
        ({"pat_str": "("}, "cannot be used"),
        ({"pat_str": 3}, "pat_str must be a string, but is 3"),
        ({"explicit_n_vocab": 300}, "must hold 300 ranks, as its settings say, but holds 296"),
    ],
)
def test_damaged_settings_of_a_rank_file_are_refused(change, sentence):
    files = save_tokenizer(trained(), "tiktoken")
    document = json.loads(files["tokenizer.tiktoken.json"]) | change
    files["tokenizer.tiktoken.json"] = json.dumps(document).encode()
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer(files)


def test_settings_notice_a_rank_file_that_was_cut_between_lines():
    files = save_tokenizer(trained(), "tiktoken")
    files["tokenizer.tiktoken"] = b"".join(RANK_LINES[:-3])
    with pytest.raises(FormatError, match="must hold 296 ranks, as its settings say, but holds 293; the file may be"):
        load_tokenizer(files)


# ------------------------------------------------------------------------------------------- bpe-json

BPE_JSON = json.loads(save_tokenizer(trained(special_tokens=["<|end|>"]))["tokenizer.bpe.json"])
CHARS_JSON = json.loads(save_tokenizer(trained("ab ba", base="chars", end_of_word="attached"))["tokenizer.bpe.json"])
MARK_JSON = json.loads(save_tokenizer(trained("ab ba", base="chars", end_of_word="separate"))["tokenizer.bpe.json"])


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ({**BPE_JSON, "version": 2}, "version must be 1, the version this program knows, but is 2"),
        ({**BPE_JSON, "colour": 1}, "a key must be one of .* but is 'colour'"),
        ({key: BPE_JSON[key] for key in BPE_JSON if key != "merges"}, "the key merges must be there"),
        ({**BPE_JSON, "base": "words"}, "base must be one of bytes, chars, but is 'words'"),
        ({**BPE_JSON, "end_of_word": "attached"}, "end_of_word must be none where base is bytes"),
        ({**BPE_JSON, "split": "("}, "does not compile"),
        ({**BPE_JSON, "split": ""}, "but is empty"),
        ({**BPE_JSON, "base_symbols": ["a"]}, "base_symbols must be null where base is bytes"),
        ({**BPE_JSON, "merges": [[97, 97], [256]]}, r"merges\[1\] must be a pair of ids, but is \[256\]"),
        ({**BPE_JSON, "merges": [[97, 256]]}, r"merges\[0\] must be a pair of ids below 256"),
        ({**BPE_JSON, "merges": [[97, -1]]}, r"merges\[0\]\[1\] must be a whole number"),
        ({**BPE_JSON, "merges": [[97, True]]}, r"merges\[0\]\[1\] must be a whole number"),
        ({**BPE_JSON, "merges": [[97, 97], [97, 97]]}, r"merges\[1\] must be .* merges\[0\] is the same"),
        ({**BPE_JSON, "merges": {}}, "merges must be a list of pairs"),
        ({**BPE_JSON, "special_tokens": {"<|end|>": 3}}, r"'<\|end\|>' must be at least 296, .* but is 3"),
        ({**BPE_JSON, "special_tokens": {"": 900}}, "token texts that are not empty"),
        ({**BPE_JSON, "special_tokens": {"\ud800": 900}}, "lone surrogate"),
        ({**CHARS_JSON, "base_symbols": ["b", "a", "a</w>"]}, "single characters, each once, in code point order"),
        ({**CHARS_JSON, "base_symbols": ["a", "bb"]}, "then of characters with </w>"),
        ({**CHARS_JSON, "base_symbols": "ab"}, "base_symbols must be a list"),
        ({**MARK_JSON, "base_symbols": ["a", "b"]}, "ends with </w>"),
        ({**MARK_JSON, "base_symbols": ["a", "a", "</w>"]}, "each once"),
    ],
)
def test_a_damaged_bpe_json_is_refused_by_its_key(document, sentence):
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"my.json": json.dumps(document).encode()})


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (json.dumps(BPE_JSON).encode()[:-20], r"must be JSON, but is not from line 1, column \d+ on .* may be cut"),
        (b'{"format": "bpe-json", "format": "bpe-json"}', "the key 'format' must stand once"),
        (b'{"model":' * 100_000, "nested too deeply"),
        (b'{"format": "bpe-json", "version": ' + b"9" * 5000 + b"}", "cannot be read"),
        (b'{"format": "bpe-json", "version": "\xff"}', r"byte 0xFF at offset 35 \(line 1\) is not"),
        (b'\xef\xbb\xbf{"format": "bpe-json", "version": "\xff"}', r"byte 0xFF at offset 38 \(line 1\) is not"),
        (b"[1, 2]", "must be one of bpe-json, .* but starts with b'.1, 2.'"),
    ],
)
def test_what_is_not_json_of_a_tokenizer_is_refused(data, sentence):
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"my.json": data})


# ------------------------------------------------------------------------------------------- minbpe


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (MINBPE.replace(b"v1", b"v2"), "line 1 must be 'minbpe v1', the only version there is"),
        (b"minbpe v1\n", "ends at line 1"),
        (MINBPE.replace(b"\n1\n", b"\none\n"), "line 3 must be the number of special tokens, but is 'one'"),
        (MINBPE.replace(b"\n1\n", b"\n9\n"), "must hold 9 special tokens, but ends at line 6"),
        (MINBPE.replace(b"v1\n\n", b"v1\n(\n"), "line 2: .* does not compile"),
        (MINBPE.replace(b" 300", b""), "line 4 must be a special token, a space and its id"),
        (MINBPE.replace(b"300", b"257"), "line 4 must be a special token with an id of at least 258"),
        (MINBPE.replace(b"256 98", b"257 98"), "line 6 must be a pair of ids below 257, made before it, but is"),
        (MINBPE.replace(b"256 98", b"97 97"), "line 6 must be a pair that was not merged before; line 5 is the same"),
        (MINBPE.replace(b"256 98", b"256"), "line 6 must be two token ids, but is '256'; the file may be cut"),
        (
            MINBPE.replace(b"\n1\n<|end|> 300", b"\n2\n<|end|> 300\n<|end|> 301"),
            "line 5 must be a special token with a text and an id of its own",
        ),
    ],
)
def test_a_damaged_minbpe_model_is_refused_by_its_line(data, sentence):
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"my.model": data})


def test_minbpe_as_its_program_writes_it():
    tokenizer = load_tokenizer(MINBPE)
    assert tokenizer.encode("aab") == [257]
    assert tokenizer.encode("<|end|>", special="special") == [300]
    assert tokenizer.split == "none"


# ------------------------------------------------------------------------------------------- vocab.json + merges.txt

GPT2_STYLE = save_tokenizer(trained(special_tokens=["<|end|>"]), "vocab-merges")
VOCAB, MERGES = GPT2_STYLE["vocab.json"], GPT2_STYLE["merges.txt"]


@pytest.mark.parametrize(
    ("vocab", "merges", "sentence"),
    [
        (VOCAB, MERGES + b"t h\n", r"line 42: a merge must stand once, but 't h' is on line \d+ too"),
        (VOCAB, MERGES + b"q q\n", "line 42: 'qq' must be in vocab.json, but is not"),
        (VOCAB, MERGES + b"q\n", "line 42 must be two tokens and a space between them, but is 'q'"),
        (VOCAB, MERGES + b"q  q\n", "line 42 must be two tokens"),
        (VOCAB, MERGES + b"\n", "line 42 must be two tokens"),
        (
            VOCAB.replace(b'"a": 97, ', b""),
            MERGES,
            "line .* 'a' must be in vocab.json|byte alphabet, but 'a' is missing",
        ),
        (VOCAB.replace(b'"~": 126, ', b""), MERGES, "256 characters of the byte alphabet, but '~' is missing"),
        (VOCAB.replace(b'"a": 97', b'"a": 98'), MERGES, "id 98 must belong to one token, but 'a' and 'b' both have it"),
        (VOCAB.replace(b'"a": 97', b'"a": -1'), MERGES, "the id of 'a' must be a whole number from 0 on, but is -1"),
        (VOCAB.replace(b'"a": 97', b'"a": true'), MERGES, "the id of 'a' must be a whole number"),
        (VOCAB.replace(b'"a": 97', b'"b": 97'), MERGES, "the key 'b' must stand once"),
        (VOCAB.replace(b'"<|end|>"', b'""'), MERGES, "a token must not be empty"),
    ],
)
def test_damaged_gpt2_files_are_refused_by_line_or_key(vocab, merges, sentence):
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"vocab.json": vocab, "merges.txt": merges})


def test_one_file_of_two_is_not_enough():
    with pytest.raises(FormatError, match=r"v.json is one file of two; give the merges.txt"):
        load_tokenizer({"v.json": VOCAB})
    with pytest.raises(FormatError, match=r"m.txt is one file of two; give the vocab.json"):
        load_tokenizer({"m.txt": MERGES})
    with pytest.raises(FormatError, match="give the rank file"):
        load_tokenizer({"s.json": save_tokenizer(trained(), "tiktoken")["tokenizer.tiktoken.json"]})
    with pytest.raises(FormatError, match=r"a.txt and b.txt are the same kind"):
        load_tokenizer({"a.txt": MERGES, "b.txt": MERGES})
    with pytest.raises(FormatError, match=r"v.json and m.model are parts of different formats"):
        load_tokenizer({"v.json": VOCAB, "m.model": MINBPE})
    with pytest.raises(FormatError, match="at least one file"):
        load_tokenizer({})


# ------------------------------------------------------------------------------------------- tokenizer.json
def altered(**changes):
    """The tokenizer.json of a GPT-2 kind with keys changed; `model.x` is written `model__x`."""
    document = json.loads(FOREIGN["gpt2"])
    for key, value in changes.items():
        *outer, last = key.split("__")
        holder = document
        for name in outer:
            holder = holder[name]
        holder[last] = value
    return json.dumps(document).encode()


ADDED = {"id": 900, "content": "<a>", "single_word": False, "lstrip": False, "rstrip": False, "special": True}
THE = imported("gpt2").vocab["the"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (altered(model__type="WordLevel"), "model.type must be one of BPE, WordPiece, Unigram, .* but is WordLevel"),
        (altered(model__type="WordPiece"), "model.unk_token must be a string"),
        (altered(model__type="Unigram"), "model.vocab must be a list of pieces and scores"),
        (altered(model__byte_fallback=True), "model.byte_fallback must be false: sentencepiece-like"),
        (altered(model__dropout=0.1), "model.dropout must be null"),
        (altered(model__continuing_subword_prefix="##"), "model.continuing_subword_prefix must be null"),
        (altered(model__end_of_word_suffix="</w>"), "model.end_of_word_suffix must be null where"),
        (altered(model__unk_token="[UNK]"), "model.unk_token must be a token of model.vocab, but is '.UNK.'"),
        (altered(model__vocab=[]), "model.vocab must be an object"),
        (altered(model__vocab={"a": 0, "b": 0}), "model.vocab: id 0 must belong to one token"),
        (altered(model__merges={}), "model.merges must be a list"),
        (
            altered(model__merges=[["t", "he"], ["t", "he"]]),
            r"model.merges\[1\] must be .* model.merges\[0\] is the same",
        ),
        (altered(model__merges=[["t"]]), r"model.merges\[0\] must be two token texts"),
        (altered(model__merges=["t h e"]), r"model.merges\[0\] must be two token texts"),
        (altered(model__merges=[["q", "q"]]), r"model.merges\[0\]: 'qq' must be in model.vocab"),
        (altered(model__ignore_merges="yes"), "model.ignore_merges must be true or false, but is 'yes'"),
        (altered(normalizer={"type": "Nmt"}), "normalizer.type must be one of NFC, .* but is 'Nmt'"),
        (altered(pre_tokenizer={"type": "Metaspace"}), "pre_tokenizer.type must be one of .* but is 'Metaspace'"),
        (altered(pre_tokenizer__add_prefix_space=True), "pre_tokenizer.add_prefix_space must be false"),
        (
            altered(
                pre_tokenizer={"type": "Sequence", "pretokenizers": [json.loads(FOREIGN["gpt2"])["pre_tokenizer"]] * 2}
            ),
            "pre_tokenizer must be a sequence that ends with ByteLevel",
        ),
        (
            altered(pre_tokenizer={"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"}),
            "pre_tokenizer.pattern: .* does not compile",
        ),
        (
            altered(pre_tokenizer={"type": "Split", "pattern": {"String": "a"}, "behavior": "MergedWithNext"}),
            "pre_tokenizer.behavior must be Isolated or Removed",
        ),
        (
            altered(added_tokens=[ADDED | {"content": ""}]),
            r"added_tokens\[0\].content must be a text that is not empty",
        ),
        (altered(added_tokens=[ADDED | {"id": THE}]), r"added_tokens\[0\].id must be the id of '<a>' alone"),
        (altered(added_tokens=[ADDED, ADDED]), r"added_tokens\[1\].id must be"),
        (altered(added_tokens=[ADDED | {"single_word": True}]), r"added_tokens\[0\].single_word must be false"),
        (altered(added_tokens=[ADDED | {"lstrip": True}, ADDED | {"id": 901, "content": " x"}]), "as '<a>' takes it"),
        (altered(added_tokens=[{"id": 1}]), r"the key added_tokens\[0\].content must be there"),
        (altered(model=None), "model must be an object"),
        (FOREIGN["gpt2"][:-30], "must be JSON, but is not from line"),
    ],
)
def test_a_tokenizer_json_that_cannot_be_replayed_is_refused_by_its_key(data, sentence):
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"tokenizer.json": data})


def test_a_pattern_that_is_read_differently_here_is_noticed_on_import():
    # {1,3}+ is possessive to the regex module, and any number of threes to Oniguruma.
    step = {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}+|\P{N}+"}, "behavior": "Isolated", "invert": False}
    merges = [["1", "2"], ["12", "3"], ["123", "4"]]
    vocab = {char: i for i, char in enumerate(sorted(set(map(chr, range(33, 127))) | {"Ġ", "Ċ", "12", "123", "1234"}))}
    data = altered(
        model__vocab=vocab,
        model__merges=merges,
        added_tokens=[],
        pre_tokenizer={"type": "Sequence", "pretokenizers": [step, json.loads(FOREIGN["gpt2"])["pre_tokenizer"]]},
    )
    data = data.replace(b'"use_regex": true', b'"use_regex": false')
    with pytest.raises(FormatError, match="cannot be replayed exactly here, so it is not read: tokenizers must give"):
        load_tokenizer({"tokenizer.json": data})


# ------------------------------------------------------------------------------------------- recognising


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", r"must hold a tokenizer, but is empty \(0 bytes\)"),
        (b" \n\n", "but is empty"),
        (b"\x1f\x8b\x08\x00", "is compressed; unpack it first"),
        (b"PK\x03\x04rest", "is compressed"),
        (b"GGUF\x03\x00", "is a GGUF model"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is a pointer of Git LFS"),
        (b"\x80\x04\x95", "is a Python pickle"),
        (b"<!DOCTYPE html><html>", "is a web page"),
        (b"e n 52708\ne r 51024\n", "is a list of merges with counts"),
        (b"Just some text.", "must be one of bpe-json, .* but starts with b'Just some text.'"),
        (b'{"tokenizer_class": "GPT2Tokenizer"}', "is a tokenizer_config.json"),
        (b'{"a": "b"}', "is JSON with the keys a"),
        (b"{}", "is JSON with the keys none"),
    ],
)
def test_other_files_are_named(data, sentence):
    with pytest.raises(FormatError, match=sentence):
        load_tokenizer({"upload": data})


def test_a_file_is_told_by_what_it_holds():
    assert recognise_format({"x.txt": FOREIGN["gpt2"]}) == "tokenizer-json"
    assert recognise_format({"x.json": RANKS}) == "tiktoken"
    # The vocabulary of GPT-2 holds the tokens `model`, `format` and `version`.
    tricky = {"format": 0, "model": 1, "version": 2, "pat_str": 3}
    with pytest.raises(FormatError, match=r"give the merges.txt"):
        recognise_format(json.dumps(tricky).encode())


def test_a_file_that_is_too_large_is_refused_with_both_sizes(tmp_path):
    with pytest.raises(FormatError, match=r"at most 100,000,000 bytes, but this one has 100,000,001"):
        load_tokenizer({"x": bytes(MAX_BYTES + 1)})
    big = tmp_path / "model.json"
    with big.open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(FormatError, match=r"model.json: .* at most 100,000,000 bytes, but this one has 200,000,000"):
        load_tokenizer(big)
