"""What every tokenizer of this package can be asked, whichever kind it is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bpe import (
    TokenizerLike,
    TrainSettings,
    UnigramSettings,
    WordPieceSettings,
    load_pretrained,
    load_tokenizer,
    save_tokenizer,
    train,
    train_unigram,
    train_wordpiece,
)
from bpe.errors import TokenIdError

TEXT = "low lower lowest newest, 12 é"


def imported() -> TokenizerLike:
    trained = train(TEXT, TrainSettings(num_merges=5)).tokenizer
    return load_tokenizer(save_tokenizer(trained, "vocab-merges"))


KINDS = {
    "bytes": lambda: train(TEXT, TrainSettings(num_merges=5)).tokenizer,
    "characters": lambda: train(TEXT, TrainSettings(base="chars", num_merges=5)).tokenizer,
    "WordPiece": lambda: train_wordpiece(TEXT, WordPieceSettings(vocab_size=40)).tokenizer,
    "Unigram": lambda: train_unigram(TEXT, UnigramSettings(vocab_size=40)).tokenizer,
    "from a file": imported,
    "rank table": lambda: load_pretrained("gpt2"),
    "SentencePiece BPE": lambda: load_pretrained("llama2"),
    "BERT": lambda: load_pretrained("bert-uncased"),
    "XLM-R": lambda: load_pretrained("xlm-r"),
}


@pytest.fixture(params=list(KINDS))
def tokenizer(request: pytest.FixtureRequest) -> TokenizerLike:
    return KINDS[request.param]()


def test_special_tokens_are_texts_with_ids_of_the_vocabulary(tokenizer):
    assert isinstance(tokenizer.special_tokens, Mapping)
    for text, token in tokenizer.special_tokens.items():
        assert tokenizer.token_bytes(token) == text.encode()
        assert tokenizer.encode(text, special="special") == [token]


def test_what_is_unknown_has_the_token_for_it_or_no_token_at_all(tokenizer):
    history = tokenizer.history("ꙮ")
    unknown = tokenizer.unknown_id
    if unknown is not None:
        assert unknown in history.final_ids
        assert tokenizer.token_name(unknown) in ("[UNK]", "<unk>")
    else:
        is_known = tokenizer.decode(history.final_ids.tolist()) == "ꙮ"
        assert is_known or -1 in history.final_ids


def test_changes_are_what_keeps_decoding_from_giving_the_text_back(tokenizer):
    for text in ("low", "ﬁ É", TEXT):
        changes = tokenizer.changes(text)
        assert all(text.encode()[change.start : change.end] == change.before.encode() for change in changes)
    assert tokenizer.changes("") == []


def test_names_are_written_for_every_token_and_refused_for_others(tokenizer):
    names = {tokenizer.token_name(token) for token in tokenizer.encode("low")}
    assert "low" in "".join(names).replace("##", "").replace("▁", "")
    with pytest.raises(TokenIdError):
        tokenizer.token_name(tokenizer.vocab_size)
