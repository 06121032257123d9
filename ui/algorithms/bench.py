"""The textbook bench: a small table of words, trained by one algorithm, every number on screen computable by hand."""

from __future__ import annotations

from collections.abc import Callable
from math import isinf
from typing import cast

import streamlit as st

from bpe import (
    UNKNOWN_ID,
    TokenizerLike,
    Training,
    TrainSettings,
    UnigramSettings,
    UnigramTraining,
    WordPieceSettings,
    WordPieceTraining,
    train,
    train_unigram,
    train_wordpiece,
)
from bpe.bench import BenchRound, BenchStep, PairRow, WordCut, lay_out_round, lay_out_step
from bpe.corpus import clean_text, parse_word_counts
from bpe.errors import CorpusError
from bpe.quirks import TextToken
from bpe.samples import load_word_counts
from bpe.settings import EndOfWord, TieBreak
from ui import frame, state
from ui.algorithms.about import show_about
from ui.kept import kept
from ui.quirks.controls import short_text
from ui.quirks.strips import Strip, show_strips
from ui.text import count_of, markdown_literal, show_token
from ui.text_area import text_area

__all__ = ["KINDS", "pair_sentence", "pair_table", "round_sentence", "show", "token_table", "word_strips"]

KINDS = {"byte-pair encoding": "bpe", "WordPiece": "wordpiece", "Unigram": "unigram"}
"""Name in the control and in links -> short name."""

TABLES = {"lowest": "lowest", "hug-pug": "bug", "low-look": "lows"}
"""Word tables among the samples, each with a word that is not in it."""

_END_MARKS = ("none", "separate", "attached")
_TIE_BREAKS = ("first-seen", "lowest-ids", "greatest-pair")
_TIE_RULES = {
    "first-seen": "stands first in the table",
    "lowest-ids": "has the lowest token ids",
    "greatest-pair": "comes last in the alphabet",
}
MOST_WORDS = 60
MOST_SYMBOLS = 1_000
_MOST_MERGES = 500
_PLAY_SECONDS = 1.5

Words = tuple[tuple[str, int], ...]
AnyTraining = Training | WordPieceTraining | UnigramTraining


def show() -> None:
    """Draw the bench: controls, then the step with all its numbers."""
    first, second = st.columns(2)
    with first:
        kind = _choose_kind()
    with second:
        name = _choose_table()
    words = _edit_table(name)
    training = _train(kind, words)
    _player(training)
    st.caption(
        "Try next: press *next* until the words are whole, then choose the other algorithms on the same table, and "
        "watch which pair each takes first."
    )
    show_about(kind)


# ---------------------------------------------------------------------------------------------- controls


def _choose_kind() -> str:
    state.check_link(state.BENCH_KIND, list(KINDS), "algorithm of the bench")
    name = st.segmented_control(
        "Train by", list(KINDS), default=next(iter(KINDS)), required=True, key=state.BENCH_KIND, bind="query-params"
    )
    return KINDS[str(name)]


def _choose_table() -> str:
    names = list(TABLES)
    state.check_link(state.TABLE, names, "word table")
    name = st.segmented_control(
        "Words and counts",
        names,
        default=names[0],
        required=True,
        key=state.TABLE,
        bind="query-params",
        on_change=_begin_anew,
    )
    return str(name)


def _begin_anew() -> None:
    """Another table: step 0, and a word that fits."""
    st.session_state[state.BENCH_SLIDER] = 0
    state.put(state.BENCH_WORD, _word_for_table())


def _word_for_table() -> str:
    """Return a word that fits the chosen table. The browser may not have told which that is: then it is the first."""
    return TABLES[str(st.session_state.get(state.TABLE, next(iter(TABLES))))]


def _edit_table(name: str) -> Words:
    """Draw the table, to be edited, and return it.

    Raises:
        CorpusError: it is no table, or too large to be read step by step.
    """
    counts = load_word_counts(name)
    listed = ", ".join(f"{markdown_literal(word)} {count:,}" for word, count in counts.items())
    key = f"{state.WORD_COUNTS}-{name}"
    state.offer_text(key, "".join(f"{word}\t{count}\n" for word, count in counts.items()))
    with st.expander(f"Edit the table: {listed}"):
        written = text_area("Word, tab, count: one a line", key, height=160, max_chars=20_000)
    table = parse_word_counts(clean_text(written)[0])
    num_symbols = sum(map(len, table))
    if len(table) > MOST_WORDS or num_symbols > MOST_SYMBOLS:
        raise CorpusError(
            f"the bench takes at most {MOST_WORDS} words of {MOST_SYMBOLS:,} characters together, but this table has "
            f"{len(table):,} words of {num_symbols:,} characters: shorten it, or open it on the page Train"
        )
    return tuple(table.items())


def _train(kind: str, words: Words) -> AnyTraining:
    if kind == "unigram":
        num_single = len({char for word, _count in words for char in word})
        state.check_link_number(state.BENCH_SIZE, 1, MOST_SYMBOLS, "as size of the vocabulary")
        size = st.number_input(
            "Size of the vocabulary at the end",
            1,
            MOST_SYMBOLS,
            num_single + 3,
            key=state.BENCH_SIZE,
            bind=state.number_binding(state.BENCH_SIZE),
            help="The single characters always stay.",
        )
        return _unigram(words, int(size or 1))
    first, second = st.columns(2)
    state.check_link(state.TIE_BREAK, _TIE_BREAKS, "tie rule")
    with second:
        tie_break = st.selectbox("Ties", _TIE_BREAKS, key=state.TIE_BREAK, bind="query-params")
    if kind == "wordpiece":
        with first:
            st.caption("`##` marks a symbol that goes on inside a word: it takes the place of an end-of-word mark.")
        return _wordpiece(words, tie_break)
    state.check_link(state.END_OF_WORD, _END_MARKS, "end-of-word mark")
    with first:
        mark = st.selectbox("End-of-word mark", _END_MARKS, key=state.END_OF_WORD, bind="query-params")
    return _bpe(words, mark, tie_break)


@kept(num_kept=24)
def _bpe(words: Words, mark: str, tie_break: str) -> Training:
    settings = TrainSettings(
        base="chars",
        end_of_word=cast(EndOfWord, mark),
        split="whitespace",
        tie_break=cast(TieBreak, tie_break),
        num_merges=_MOST_MERGES,
        min_pair_count=1,
    )
    return train(dict(words), settings)


@kept(num_kept=24)
def _wordpiece(words: Words, tie_break: str) -> WordPieceTraining:
    settings = WordPieceSettings(num_merges=_MOST_MERGES, min_pair_count=1, tie_break=cast(TieBreak, tie_break))
    return train_wordpiece(dict(words), settings)


@kept(num_kept=24)
def _unigram(words: Words, vocab_size: int) -> UnigramTraining:
    return train_unigram(dict(words), UnigramSettings(vocab_size=vocab_size, split="whitespace"))


# ---------------------------------------------------------------------------------------------- steps


def _player(training: AnyTraining) -> None:
    """Draw previous, next, play and the step. While it plays, this part runs again by itself."""
    last = _last_step(training)
    state.follow_link_number(state.BENCH_STEP, state.BENCH_SLIDER, last, "as step")
    is_playing = bool(st.session_state.get(state.BENCH_PLAYING)) and last > 0
    # Only what is inside a fragment runs again on its own clock, so the clock is chosen here, outside.
    st.fragment(_step_and_play, run_every=_PLAY_SECONDS if is_playing else None)(training, last, is_playing)


def _last_step(training: AnyTraining) -> int:
    return len(training.rounds) - 1 if isinstance(training, UnigramTraining) else training.num_merges


def _step_and_play(training: AnyTraining, last: int, has_clock: bool) -> None:
    state.put_back()
    is_playing = bool(st.session_state.get(state.BENCH_PLAYING)) and last > 0
    if has_clock != is_playing:
        st.rerun()  # a button was pressed, or the end is reached: the whole page runs once more, to change the clock
    step = int(st.session_state.get(state.BENCH_SLIDER, 0))
    if has_clock:
        step += 1
        st.session_state[state.BENCH_SLIDER] = min(step, last)
        if step >= last:
            st.session_state[state.BENCH_PLAYING] = False
    noun = "Round" if isinstance(training, UnigramTraining) else "Merges made"
    buttons, slider = st.columns([2, 3], vertical_alignment="bottom")
    with slider:
        if last == 0:
            step = 0
            st.caption("There is nothing to step through: every word is a single symbol, or nothing can go.")
        else:
            held = st.session_state[state.BENCH_SLIDER]  # the default as well, for the reason that text_area gives
            step = st.slider(noun, 0, last, held, key=state.BENCH_SLIDER)
    state.link_number(state.BENCH_STEP, state.BENCH_SLIDER, step)
    with buttons, st.container(horizontal=True, gap="small"):
        _button("Previous", ":material/skip_previous:", _go, step - 1, step == 0)
        _button("Next", ":material/skip_next:", _go, step + 1, step == last)
        if is_playing and step < last:
            _button("Pause", ":material/pause:", _play, step, False)
        else:
            _button("Play", ":material/play_arrow:", _play, 0 if step == last else step, last == 0)
    with frame.readable_part():
        if isinstance(training, UnigramTraining):
            _show_round(lay_out_round(training, step), training)
        else:
            _show_step(lay_out_step(training, step), training)


def _button(label: str, icon: str, call: Callable[[int], None], step: int, is_off: bool) -> None:
    st.button(label, icon=icon, on_click=call, args=(step,), disabled=is_off, key=f"bench-{label}")


def _go(step: int) -> None:
    st.session_state[state.BENCH_SLIDER] = step
    st.session_state[state.BENCH_PLAYING] = False


def _play(step: int) -> None:
    st.session_state[state.BENCH_SLIDER] = step
    st.session_state[state.BENCH_PLAYING] = not st.session_state.get(state.BENCH_PLAYING, False)


# ---------------------------------------------------------------------------------------------- one step


def _show_step(bench: BenchStep, training: Training | WordPieceTraining) -> None:
    by_score = isinstance(training, WordPieceTraining)
    st.markdown(pair_sentence(bench, by_score=by_score, tie_break=training.settings.tie_break))
    left, right = st.columns([3, 2])
    with left:
        st.markdown(f"**Every pair** ({len(bench.pairs):,})")
        if bench.pairs:
            st.dataframe(pair_table(bench, by_score=by_score), hide_index=True, height=_height(len(bench.pairs)))
        else:
            st.caption("No pair is left: every word is one symbol.")
        tokenizer: TokenizerLike
        if isinstance(training, WordPieceTraining):
            tokenizer = training.tokenizer_at(bench.step)
        else:
            tokenizer = training.tokenizer.at_step(bench.step)
        own_word = _own_word(tokenizer)
    with right:
        st.markdown(f"**The words as they are cut now**: {count_of(bench.num_tokens, 'symbol')} in all")
        name = training.tokenizer.token_bytes
        learned = [
            TextToken(merge.token, name(merge.token)) for merge in training.merges[max(bench.step - 40, 0) : bench.step]
        ]
        rows = word_strips(bench.words)
        if learned:
            rows.append(Strip("Learned so far", count_of(bench.step, "merge"), learned, [""] * len(learned)))
        show_strips([*rows, *own_word], key=state.BENCH_ROWS)


def pair_sentence(bench: BenchStep, *, by_score: bool, tie_break: str) -> str:
    """Return what is merged next and why, as Markdown.

    >>> training = train({"ab": 3, "bc": 3}, TrainSettings(base="chars", num_merges=1))
    >>> sentence = pair_sentence(lay_out_step(training, 0), by_score=False, tie_break="first-seen")
    >>> print(sentence.replace("\u2068", "").replace("\u2069", ""))
    Next: **a + b**, which occurs 3 times. As high: b + c. The rule *first-seen* decides: it stands first in the table.
    """
    if not bench.pairs:
        return "**Done.** Every word is one symbol: there is no pair to merge."
    best = bench.pairs[0]
    number = _score_in_words(best) if by_score else f"occurs {_times(best.pair_count)}"
    sentence = f"{'Would be next' if bench.is_last else 'Next'}: **{_pair(best)}**, which {number}"
    if bench.num_tied == 1:
        return sentence + f", more than any other of {count_of(len(bench.pairs), 'pair')}."
    others = [_pair(pair) for pair in bench.pairs[1 : min(bench.num_tied, 6)]]
    more = bench.num_tied - 1 - len(others)
    listed = ", ".join(others) + (f" and {more:,} more" if more else "")
    return f"{sentence}. As high: {listed}. The rule *{tie_break}* decides: it {_TIE_RULES[tie_break]}."


def _score_in_words(pair: PairRow) -> str:
    return f"scores {pair.pair_count:,} / ({pair.left_count:,} × {pair.right_count:,}) = {float(pair.score):.4g}"


def _pair(pair: PairRow) -> str:
    return " + ".join(markdown_literal(show_token(symbol, isolate=True)) for symbol in (pair.left, pair.right))


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def pair_table(bench: BenchStep, *, by_score: bool) -> dict[str, list[str | int | float]]:
    """Return all pairs as columns, the one that is merged next first."""
    verdicts = [""] * len(bench.pairs)
    for rank in range(bench.num_tied):
        verdicts[rank] = "ties"
    if bench.pairs:
        verdicts[0] = "wins the tie" if bench.num_tied > 1 else "wins"
    columns: dict[str, list[str | int | float]] = {
        "left": [show_token(pair.left) for pair in bench.pairs],
        "right": [show_token(pair.right) for pair in bench.pairs],
        "": list(verdicts),
        "pair count": [pair.pair_count for pair in bench.pairs],
    }
    scores: dict[str, list[str | int | float]] = {
        "left count": [pair.left_count for pair in bench.pairs],
        "right count": [pair.right_count for pair in bench.pairs],
        "score": [float(f"{float(pair.score):.6g}") for pair in bench.pairs],
    }
    return columns | scores if by_score else columns | {"WordPiece would say": scores["score"]}


def word_strips(words: tuple[WordCut, ...]) -> list[Strip]:
    """Return the words as rows, the pair that is merged next underlined."""
    rows = []
    for cut in words:
        ends = [0]
        for symbol in cut.symbols:
            ends.append(ends[-1] + len(symbol))
        spans = [(ends[place], ends[place + 2]) for place in cut.merging]
        tokens = [TextToken(place, symbol) for place, symbol in enumerate(cut.symbols)]
        rows.append(Strip(cut.word, f"× {cut.num_times:,}", tokens, [""] * len(tokens), spans))
    return rows


def _own_word(tokenizer: TokenizerLike) -> list[Strip]:
    """Draw the line for the reader's own word, and return it as a row under this step."""
    default = _word_for_table()
    word = short_text("Your own word under this step", default, state.BENCH_WORD).strip()
    if not word:
        return []
    history = tokenizer.history(word)
    ids = history.final_ids.tolist()
    shown = history.tokens(tokenizer.num_merges)
    tokens = [
        TextToken(token, text if token == UNKNOWN_ID else tokenizer.token_bytes(token))
        for token, text in zip(ids, shown, strict=True)
    ]
    num_unknown = ids.count(UNKNOWN_ID)
    note = count_of(len(ids), "token") + (f", {num_unknown:,} unknown" if num_unknown else "")
    under = ["unknown" if token == UNKNOWN_ID else "" for token in ids]
    return [Strip(f"Your word: {word}", note, tokens, under)]


def _height(num_rows: int) -> int:
    return min(38 + 35 * num_rows, 460)


# ---------------------------------------------------------------------------------------------- one round


def _show_round(bench: BenchRound, training: UnigramTraining) -> None:
    st.markdown(round_sentence(bench))
    left, right = st.columns([3, 2])
    with left:
        st.markdown(f"**Every token** ({len(bench.tokens):,})")
        numbers = st.column_config.NumberColumn(format="%.3g")
        st.dataframe(
            token_table(bench),
            hide_index=True,
            height=_height(len(bench.tokens)),
            column_config={"expected count": numbers, "probability": numbers, "loss": numbers},
        )
        own_word = _own_word(training.tokenizer_at(bench.number))
    with right:
        st.markdown(f"**The words, cut the likeliest way**: {count_of(bench.num_tokens, 'token')} in all")
        show_strips([*word_strips(bench.words), *own_word], key=state.BENCH_ROWS)


def round_sentence(bench: BenchRound) -> str:
    """Return what a round did, as Markdown.

    >>> training = train_unigram({"ab": 3, "abc": 2}, UnigramSettings(vocab_size=4))
    >>> print(round_sentence(lay_out_round(training, len(training.rounds) - 1)))
    **Done:** 4 tokens are left. Log likelihood of the table before each EM step: -6.99 → -4.19.
    """
    likelihoods = " → ".join(f"{value:,.2f}" for value in bench.log_likelihoods)
    ending = f"Log likelihood of the table before each EM step: {likelihoods}."
    going = [row for row in bench.tokens if row.goes]
    if bench.is_last:
        return f"**Done:** {count_of(len(bench.tokens), 'token')} are left. {ending}"
    listed = ", ".join(markdown_literal(show_token(row.token, isolate=True)) for row in going[:8])
    more = f" and {len(going) - 8:,} more" if len(going) > 8 else ""
    return (
        f"{count_of(len(bench.tokens), 'token')}. The {len(going):,} whose loss hurts least go next: "
        f"**{listed}**{more}. {ending}"
    )


def token_table(bench: BenchRound) -> dict[str, list[str | float | None]]:
    """Return all tokens as columns, those that go first."""
    return {
        "token": [show_token(row.token) for row in bench.tokens],
        "": ["goes" if row.goes else "" for row in bench.tokens],
        "expected count": [row.expected_count for row in bench.tokens],
        "probability": [row.probability for row in bench.tokens],
        "best other way": ["|".join(map(show_token, row.other)) or "none: stays" for row in bench.tokens],
        "loss": [None if isinf(row.loss) else row.loss for row in bench.tokens],
    }
