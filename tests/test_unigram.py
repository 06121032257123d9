"""Unigram: arithmetic by hand, brute force over all segmentations, `sentencepiece` and `tokenizers` on their models."""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import pairwise
from math import exp, inf, log

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as HuggingFace
from tokenizers import models, trainers

from bpe.errors import BpeError, CorpusError, SettingsError, TokenIdError, UnknownSymbolError
from bpe.lifetimes import NEVER
from bpe.samples import load_sample
from bpe.tokenizer import UNKNOWN_ID
from bpe.unigram import UnigramTokenizer
from bpe.unigram_training import UnigramSettings, train_unigram

# The counts of the Hugging Face course, chapter 6: substrings of hug 10, pug 5, pun 12, bun 4, hugs 5. Sum 210.
COURSE = {
    "h": 15, "u": 36, "g": 20, "hu": 15, "ug": 20, "p": 17, "pu": 17, "n": 16,
    "un": 16, "b": 4, "bu": 4, "s": 5, "hug": 15, "gs": 5, "ugs": 5,
}  # fmt: skip
HUG = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}

TABLES = st.dictionaries(st.text(alphabet="abc", min_size=1, max_size=8), st.integers(1, 5), min_size=1, max_size=8)
VOCABULARIES = st.dictionaries(
    st.text(alphabet="abé", min_size=1, max_size=4), st.integers(1, 9), min_size=1, max_size=12
).map(lambda weights: {"a": 1, "b": 2, **weights})


def course():
    return UnigramTokenizer.of_probabilities({token: count / 210 for token, count in COURSE.items()})


def shown(tokenizer, ids):
    return [tokenizer.decode([token]) for token in ids]


def all_segmentations(tokenizer, word):
    """Brute force: every way to cut a word, as ids -> score."""
    if not word:
        return {(): 0.0}
    names = {name.decode(): token for token, name in enumerate(tokenizer.tokens)}
    found = {}
    for end in range(1, len(word) + 1):
        token = names.get(word[:end])
        score = tokenizer.scores[token] if token is not None else None
        if token is None and end == 1:
            token, score = UNKNOWN_ID, min(tokenizer.scores) - 10
        if token is not None:
            for rest, rest_score in all_segmentations(tokenizer, word[end:]).items():
                found[(token, *rest)] = score + rest_score
    return found


# ------------------------------------------------------------------------------------------- by hand


def test_the_course():
    # pug:  p u g = 17/210 36/210 20/210 = 0.00132167
    #       p ug  = 17/210 20/210        = 0.00770975
    #       pu g  = 17/210 20/210        = 0.00770975, the same; together 0.01674117
    tokenizer = course()
    found = tokenizer.n_best("pug", 10)
    assert {tuple(shown(tokenizer, cut.ids)): round(exp(cut.score), 8) for cut in found} == {
        ("p", "u", "g"): 0.00132167,
        ("p", "ug"): 0.00770975,
        ("pu", "g"): 0.00770975,
    }
    assert [round(cut.probability, 4) for cut in found] == [0.4605, 0.4605, 0.0789]
    # Of the two best, the one with the longer last token.
    assert shown(tokenizer, tokenizer.encode("pug")) == ["p", "ug"]
    # unhug: un hug = 16/210 15/210 = 0.00544218.
    assert shown(tokenizer, tokenizer.encode("unhug")) == ["un", "hug"]
    assert exp(tokenizer.lattice("unhug").best_score) == pytest.approx(0.00544218, rel=1e-5)


def test_one_step_of_expectation_maximization():
    # ab twice. Seeds by count times length: a 2, b 2, ab 4; probabilities 1/4, 1/4, 1/2.
    # The word: ab 1/2, a b 1/16, together 9/16: ab with 8/9, a b with 1/9.
    # Expected counts: ab 16/9, a 2/9, b 2/9, so the new probabilities are 0.8, 0.1, 0.1.
    # Without ab the word is a b = 0.01: a loss of 16/9 log(0.8 / 0.01).
    training = train_unigram({"ab": 2}, UnigramSettings(vocab_size=2, num_em_steps=1))
    first = training.rounds[0]
    assert first.tokens == (b"a", b"b", b"ab")
    assert first.log_likelihoods == (pytest.approx(2 * log(9 / 16)),)
    assert first.expected_counts.tolist() == pytest.approx([2 / 9, 2 / 9, 16 / 9])
    assert [exp(score) for score in first.scores] == pytest.approx([0.1, 0.1, 0.8])
    assert first.losses.tolist() == [inf, inf, pytest.approx(16 / 9 * log(80))]
    assert first.removed.tolist() == [2]
    assert training.rounds[1].tokens == (b"a", b"b")
    assert training.log_likelihood == pytest.approx(2 * log(1 / 4))


def test_seeds_leave_out_what_a_longer_one_covers():
    training = train_unigram(HUG, UnigramSettings(vocab_size=1000))
    # hu 15 always goes on as hug 15, bu 4 as bun 4; ug 20 goes on as ugs only 5 times.
    assert {token.decode() for token in training.rounds[0].tokens} == {
        *"hugpnbs", "ug", "un", "pu", "gs", "hug", "pug", "pun", "bun", "ugs", "hugs",
    }  # fmt: skip
    assert training.stopped == "too_few_substrings"


# --------------------------------------------------------------------------- against brute force


@settings(deadline=None)
@given(VOCABULARIES, st.text(alphabet="abéx", max_size=7), st.integers(1, 40))
def test_n_best_are_the_best_of_all(vocabulary, word, n):
    tokenizer = UnigramTokenizer.of_probabilities(vocabulary)
    everything = all_segmentations(tokenizer, word)
    found = tokenizer.n_best(word, n)
    assert len(found) == min(n, len(everything))
    assert len({cut.ids for cut in found}) == len(found)
    total = sum(map(exp, everything.values()))
    for cut, score in zip(found, sorted(everything.values(), reverse=True), strict=False):
        assert cut.score == pytest.approx(score)
        assert cut.score == pytest.approx(everything[cut.ids])
        assert cut.probability == pytest.approx(exp(cut.score) / total)


@settings(deadline=None)
@given(VOCABULARIES, st.text(alphabet="abéx", max_size=7))
def test_viterbi_is_the_best_of_all(vocabulary, word):
    tokenizer = UnigramTokenizer.of_probabilities(vocabulary)
    ids = tuple(tokenizer._best_path(word))
    everything = all_segmentations(tokenizer, word)
    assert everything[ids] == pytest.approx(max(everything.values()))


@settings(deadline=None)
@given(VOCABULARIES, st.text(alphabet="abéx", max_size=7))
def test_the_lattice_holds_all_segmentations(vocabulary, word):
    tokenizer = UnigramTokenizer.of_probabilities(vocabulary)
    lattice = tokenizer.lattice(word)
    everything = all_segmentations(tokenizer, word)
    total = sum(map(exp, everything.values()))
    assert lattice.log_total == pytest.approx(log(total))
    assert lattice.forward[-1] == pytest.approx(lattice.backward[0])
    assert [lattice.text[a:b].decode() for a, b in pairwise(lattice.offsets)] == list(word)

    used = defaultdict(float)
    for ids, score in everything.items():
        start = 0
        for token in ids:
            end = start + (1 if token == UNKNOWN_ID else len(tokenizer.decode([token])))
            used[start, end, token] += exp(score) / total
            start = end
    assert {(arc.start, arc.end, arc.token): pytest.approx(arc.probability) for arc in lattice.arcs} == used
    assert [arc.text.decode() for arc in lattice.arcs] == [word[arc.start : arc.end] for arc in lattice.arcs]

    best = [lattice.arcs[place] for place in lattice.best]
    assert [arc.token for arc in best] == tokenizer._best_path(word)
    assert [arc for arc in lattice.arcs if arc.on_best_path] == best
    assert "".join(arc.text.decode() for arc in best) == word
    assert lattice.best_score == pytest.approx(sum(arc.score for arc in best))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, 2.0])
def test_samples_follow_the_posterior(alpha):
    # Chi-square of 20,000 seeded samples; outcomes with an expected count below 5 are left out. For up to 60 degrees
    # of freedom 99.6 is exceeded with probability 0.001.
    tokenizer = course()
    everything = all_segmentations(tokenizer, "hugspun")
    weights = {ids: exp(alpha * score) for ids, score in everything.items()}
    total = sum(weights.values())
    num_samples = 20_000
    counts = dict(tokenizer.count_samples("hugspun", num_samples=num_samples, alpha=alpha, seed=5))
    assert sum(counts.values()) == num_samples
    assert counts.keys() <= everything.keys()
    expected = {
        ids: weight / total * num_samples for ids, weight in weights.items() if weight / total * num_samples >= 5
    }
    assert 5 <= len(expected) <= 61
    squares = sum((counts.get(ids, 0) - count) ** 2 / count for ids, count in expected.items())
    assert squares < 99.6


def test_a_high_alpha_samples_the_best():
    tokenizer = course()
    text = "hug unhug bugs"
    assert tokenizer.encode_sampled(text, alpha=500, unknown="mark") == tokenizer.encode(text, unknown="mark")


def test_sampling_is_seeded_and_cuts_every_occurrence_anew():
    tokenizer = UnigramTokenizer.of_probabilities({**COURSE, " ": 20})
    text = "hugs " * 30
    ids = tokenizer.encode_sampled(text, seed=1)
    assert tokenizer.decode(ids) == text
    assert ids == tokenizer.encode_sampled(text, seed=1)
    assert ids != tokenizer.encode_sampled(text, seed=2)
    words = "|".join(shown(tokenizer, ids)).split(" ")
    assert len({word.strip("|") for word in words}) > 3


# --------------------------------------------------------------- against sentencepiece and tokenizers


@lru_cache
def corpus():
    return load_sample("kjv-genesis")[:60_000].splitlines()


@lru_cache
def sentencepiece_model():
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()),
        model_writer=written,
        model_type="unigram",
        vocab_size=800,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=False,
        minloglevel=2,
    )
    peer = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    scores = [(peer.id_to_piece(i), peer.get_score(i)) for i in range(peer.get_piece_size()) if not peer.is_control(i)]
    known = [(piece.replace("▁", " "), score) for piece, score in scores if piece != "<unk>"]
    return peer, unigram_of(known)


@lru_cache
def tokenizers_model():
    peer = HuggingFace(models.Unigram())
    trainer = trainers.UnigramTrainer(vocab_size=800, show_progress=False, special_tokens=["<unk>"], unk_token="<unk>")
    # Without a pre-tokenizer: words with the space before them, as the gpt2 split would give.
    peer.train_from_iterator([" " + word for line in corpus() for word in line.split()], trainer)
    model = json.loads(peer.to_str())["model"]
    return peer, unigram_of([(piece, score) for piece, score in model["vocab"] if piece != "<unk>"])


def unigram_of(scores):
    """A tokenizer with the scores of a peer, which cuts a text as a whole, as the peers do."""
    names, values = zip(*scores, strict=True)
    return UnigramTokenizer(tuple(name.encode() for name in names), values, split="none")


WORDS = st.lists(st.sampled_from(sorted({word for line in corpus() for word in line.split()})), max_size=12).map(
    " ".join
)
TEXTS = st.one_of(WORDS, st.text(alphabet=sorted(set("".join(corpus()))), max_size=60))


def joined(tokenizer, text):
    """The tokens of a text, neighbouring unknown characters joined, as the peers do."""
    parts = []
    at = 0
    data = text.encode()
    history = tokenizer.history(text)
    for shown_bytes, token in zip(history.tokens(0), history.final_ids.tolist(), strict=True):
        if token == UNKNOWN_ID and parts and parts[-1][1]:
            parts[-1] = (parts[-1][0] + shown_bytes.decode(), True)
        else:
            parts.append((shown_bytes.decode(), token == UNKNOWN_ID))
        at += len(shown_bytes)
    assert at == len(data)
    return [part for part, _unknown in parts]


def score_of(tokenizer, parts):
    names = {name.decode(): score for name, score in zip(tokenizer.tokens, tokenizer.scores, strict=True)}
    return sum(names.get(part, len(part) * (min(tokenizer.scores) - 10)) for part in parts)


def assert_same_cut(tokenizer, ours, theirs):
    """Equal, or of scores that differ by no more than a peer's 32-bit floats can tell."""
    assert "".join(ours) == "".join(theirs)
    if ours != theirs:
        ours_score, theirs_score = score_of(tokenizer, ours), score_of(tokenizer, theirs)
        assert theirs_score == pytest.approx(ours_score, rel=2e-6)


@settings(deadline=None)
@given(TEXTS)
def test_viterbi_equals_sentencepiece(text):
    peer, tokenizer = sentencepiece_model()
    theirs = [piece.replace("▁", " ") for piece in peer.encode(text, out_type=str)]
    assert_same_cut(tokenizer, joined(tokenizer, text), theirs)


@settings(deadline=None)
@given(st.text(alphabet="the sonßλ", max_size=40))
def test_unknown_characters_are_cut_as_sentencepiece_cuts_them(text):
    peer, tokenizer = sentencepiece_model()
    theirs = [piece.replace("▁", " ") for piece in peer.encode(text, out_type=str)]
    assert_same_cut(tokenizer, joined(tokenizer, text), theirs)


@settings(deadline=None)
@given(TEXTS)
def test_viterbi_equals_tokenizers(text):
    peer, tokenizer = tokenizers_model()
    text = "".join(char for char in text if char.encode() in tokenizer.tokens)
    assert joined(tokenizer, text) == peer.encode(text).tokens


def test_a_whole_sample_is_cut_as_the_peers_cut_it():
    for make in (sentencepiece_model, tokenizers_model):
        peer, tokenizer = make()
        for line in corpus():
            line = "".join(char for char in line if char.encode() in tokenizer.tokens)
            if make is tokenizers_model:
                theirs = peer.encode(line).tokens
            else:
                theirs = [piece.replace("▁", " ") for piece in peer.encode(line, out_type=str)]
            assert_same_cut(tokenizer, joined(tokenizer, line), theirs)


# ---------------------------------------------------------------------------------------------- training


@settings(deadline=None)
@given(TABLES, st.integers(1, 8), st.sampled_from(["chars", "bytes"]))
def test_the_likelihood_never_falls_within_a_round(table, num_em_steps, base):
    options = UnigramSettings(vocab_size=256 if base == "bytes" else 3, num_em_steps=num_em_steps, base=base)
    for step in train_unigram({**table, "abc": 2}, options).rounds:
        assert len(step.log_likelihoods) == num_em_steps
        for earlier, later in pairwise(step.log_likelihoods):
            assert later >= earlier - 1e-9 * abs(earlier)


def test_the_likelihood_never_falls_on_a_real_text():
    options = UnigramSettings(vocab_size=500, num_em_steps=10)
    training = train_unigram(load_sample("kjv-genesis")[:50_000], options)
    assert len(training.rounds) > 5
    for step in training.rounds:
        assert all(later >= earlier - 1e-6 for earlier, later in pairwise(step.log_likelihoods))
    assert training.log_likelihood >= training.rounds[-1].log_likelihoods[-1]


@settings(deadline=None)
@given(TABLES)
def test_expected_counts_and_losses_equal_the_lattices(table):
    table = {**table, "abcabc": 2}
    training = train_unigram(table, UnigramSettings(vocab_size=3, num_em_steps=2))
    first = training.rounds[0]
    # The second step of the round estimates from the scores that the first one left: replay the first.
    one_step = train_unigram(table, UnigramSettings(vocab_size=3, num_em_steps=1)).rounds[0]
    names = tuple(first.tokens)
    before = UnigramTokenizer(names, tuple(one_step.scores.tolist()))
    expected = Counter()
    log_likelihood = 0.0
    for word, count in table.items():
        lattice = before.lattice(word)
        log_likelihood += count * lattice.log_total
        for arc in lattice.arcs:
            expected[arc.token] += count * arc.probability
    assert first.log_likelihoods[1] == pytest.approx(log_likelihood)
    assert first.expected_counts.tolist() == pytest.approx([expected[i] for i in range(len(names))], abs=1e-9)

    after = UnigramTokenizer(names, tuple(first.scores.tolist()))
    for token, name in enumerate(names):
        others = [score for ids, score in all_segmentations(after, name.decode()).items() if ids != (token,)]
        if not others:
            assert first.losses[token] == inf if len(first.losses) else True
        elif len(first.losses):
            expected_loss = first.expected_counts[token] * (first.scores[token] - max(others))
            assert first.losses[token] == pytest.approx(expected_loss, abs=1e-9)


@settings(deadline=None)
@given(TABLES, st.integers(3, 20), st.floats(0.1, 0.95))
def test_rounds_shrink_to_the_size_asked_for(table, vocab_size, shrink):
    training = train_unigram({**table, "abc": 1}, UnigramSettings(vocab_size=vocab_size, shrink=shrink))
    rounds = training.rounds
    for step, following in pairwise(rounds):
        gone = set(step.removed.tolist())
        assert following.tokens == tuple(name for i, name in enumerate(step.tokens) if i not in gone)
        left = [loss for i, loss in enumerate(step.losses) if i not in gone]
        assert max(step.losses[step.removed]) <= min(left)
        assert len(following.tokens) == max(vocab_size, int(len(step.tokens) * shrink), 3)
    assert len(rounds[-1].removed) == 0
    assert {b"a", b"b", b"c"} <= set(training.tokenizer.tokens)
    assert (training.stopped == "vocab_size") == (training.tokenizer.vocab_size == vocab_size)
    assert sum(map(exp, training.tokenizer.scores)) == pytest.approx(1)
    assert list(training.tokenizer.scores) == sorted(training.tokenizer.scores, reverse=True)


def test_tokenizer_at_a_round():
    training = train_unigram(HUG, UnigramSettings(vocab_size=8))
    assert training.tokenizer_at(len(training.rounds) - 1).tokens == training.tokenizer.tokens
    assert shown(training.tokenizer_at(0), training.tokenizer_at(0).encode("hugs")) == ["hugs"]
    with pytest.raises(SettingsError, match="round must be from 0"):
        training.tokenizer_at(99)


def test_progress_can_cancel():
    asked = []
    training = train_unigram(
        HUG, UnigramSettings(vocab_size=7), progress=lambda *at: asked.append(at) or len(asked) < 2
    )
    assert training.stopped == "cancelled"
    assert training.tokenizer.vocab_size == len(training.rounds[1].tokens)
    assert asked == [(0, 10), (17 - len(training.rounds[1].tokens), 10)]


def test_compresses_about_as_well_as_sentencepiece():
    peer, _tokenizer = sentencepiece_model()
    text = "\n".join(corpus())
    # The same cuts between pre-tokens: a space begins one, nothing else does.
    ours = train_unigram(text, UnigramSettings(vocab_size=800, split=r" ?[^ \n]+|\n")).tokenizer
    num_theirs = sum(len(peer.encode(line)) for line in corpus())
    num_ours = len(ours.encode(text)) - text.count("\n")
    assert num_ours <= 1.02 * num_theirs


# ------------------------------------------------------------------------------------------- the verbs


@settings(deadline=None)
@given(st.text(max_size=40))
def test_bytes_lose_nothing(text):
    tokenizer = bytes_tokenizer()
    whole = text.encode("utf-8", "replace")
    ids = tokenizer.encode(text)
    assert tokenizer.decode_bytes(ids) == whole
    history = tokenizer.history(text)
    assert (history.text, history.final_ids.tolist()) == (whole, ids)
    assert history.tokens(0) == [tokenizer.token_bytes(token) for token in ids]
    assert (history.lifetimes == NEVER).all()


@lru_cache
def bytes_tokenizer():
    return train_unigram(
        "hug pug pun bun hugs 안녕하세요 " * 5, UnigramSettings(vocab_size=280, base="bytes")
    ).tokenizer


def test_a_character_never_seen():
    tokenizer = course()
    with pytest.raises(UnknownSymbolError, match=r"holds X \(U\+0058\), é \(U\+00E9\)"):
        tokenizer.encode("hXé")
    with pytest.raises(UnknownSymbolError):
        tokenizer.encode_sampled("hX")
    marked = tokenizer.encode("hXé", unknown="mark")
    assert shown(tokenizer, marked) == ["h", "\ufffd", "\ufffd"]
    assert tokenizer.history("hXé").tokens(0) == [b"h", b"X", "é".encode()]
    assert tokenizer.history("hXé").final_ids.tolist() == marked


def test_the_verbs_of_a_tokenizer():
    tokenizer = course()
    assert (tokenizer.num_merges, tokenizer.vocab_size) == (0, len(COURSE))
    assert tokenizer.base_names()[3] == b"hu"
    assert len(tokenizer.merge_rows().rank) == 0
    assert tokenizer.history("hug pun").walls.tolist().count(True) == 1
    for token in (-2, len(COURSE)):
        with pytest.raises(TokenIdError, match="from 0 to 14"):
            tokenizer.decode([token])


def test_empty_text():
    tokenizer = course()
    assert tokenizer.encode("") == tokenizer.encode_sampled("") == []
    assert tokenizer.history("").num_symbols == 0
    assert tokenizer.n_best("", 3) == [((), 0.0, 1.0)]
    assert tokenizer.lattice("").arcs == ()


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "at least one word"),
        ("", "at least one character"),
        ({"": 1}, "must not be empty"),
        ({"a": 0}, "count of 'a' must be a whole number of at least 1, but is 0"),
        ({"a": -3}, "but is -3"),
    ],
)
def test_a_bad_corpus_is_refused(source, message):
    with pytest.raises(CorpusError, match=message):
        train_unigram(source, UnigramSettings(vocab_size=10))


def test_a_vocabulary_smaller_than_the_alphabet_is_refused():
    with pytest.raises(SettingsError, match="at least the 7 single chars"):
        train_unigram(HUG, UnigramSettings(vocab_size=6))
    with pytest.raises(SettingsError, match="at least the 256 single bytes"):
        train_unigram(HUG, UnigramSettings(vocab_size=255, base="bytes"))


@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 0},
        {"base": "words"},
        {"split": "("},
        {"max_token_length": 0},
        {"seed_size": 0},
        {"shrink": 1.0},
        {"shrink": float("nan")},
        {"num_em_steps": 0},
    ],
)
def test_bad_settings_are_refused(options):
    with pytest.raises(BpeError):
        UnigramSettings(**{"vocab_size": 10, **options})


@pytest.mark.parametrize("alpha", [-0.1, float("nan"), inf])
def test_a_bad_alpha_is_refused(alpha):
    with pytest.raises(SettingsError, match="alpha must be from 0"):
        course().encode_sampled("hug", alpha=alpha)


def test_bad_numbers_are_refused():
    with pytest.raises(SettingsError, match="n must be from 1"):
        course().n_best("hug", 0)
    with pytest.raises(SettingsError, match="num_samples must be at least 1"):
        course().count_samples("hug", num_samples=0)


@pytest.mark.parametrize("probability", [0.0, -0.5, inf, float("nan")])
def test_a_bad_probability_is_refused(probability):
    with pytest.raises(SettingsError, match="probability of 'a' must be above 0"):
        UnigramTokenizer.of_probabilities({"a": probability})


@pytest.mark.parametrize(
    ("tokens", "scores"), [((), ()), ((b"a",), ()), ((b"",), (0.0,)), ((b"a",), (-inf,)), ((b"\xff",), (0.0,))]
)
def test_a_bad_vocabulary_is_refused(tokens, scores):
    with pytest.raises(SettingsError):
        UnigramTokenizer(tokens, scores)


def test_a_million_characters():
    word = "hugs" * 250_000
    tokenizer = course()
    assert tokenizer.decode(tokenizer.encode(word)) == word
    assert tokenizer.decode(tokenizer.encode_sampled(word, alpha=0.5)) == word
    with pytest.raises(SettingsError, match="at most 1,000 symbols"):
        tokenizer.n_best(word, 2)
    with pytest.raises(SettingsError, match="at most 1,000 symbols"):
        tokenizer.lattice(word)
    training = train_unigram({word: 1}, UnigramSettings(vocab_size=12))
    assert training.tokenizer.vocab_size == 12


def test_half_a_surrogate_pair_is_replaced():
    tokenizer = UnigramTokenizer.of_probabilities({"h": 1, "\ufffd": 1})
    assert tokenizer.encode("h\ud800") == [0, 1]
    assert tokenizer.history("h\ud800").text == "h\ufffd".encode()
    assert tokenizer.n_best("h\ud800", 1)[0].ids == tokenizer.count_samples("h\ud800")[0][0] == (0, 1)
    assert [arc.token for arc in tokenizer.lattice("h\ud800").arcs] == [0, 1]
    with pytest.raises(UnknownSymbolError, match=r"U\+FFFD"):
        course().encode("h\ud800")


def test_tokens_of_a_round_are_those_of_its_tokenizer():
    text = load_sample("udhr-eng")
    training = train_unigram(text, UnigramSettings(vocab_size=300))
    for number in range(len(training.rounds)):
        assert training.count_tokens(number) == len(training.tokenizer_at(number).encode(text))
