"""The race: byte-pair encoding, WordPiece and Unigram on one corpus, with a vocabulary of the same size."""

from __future__ import annotations

import streamlit as st

from ui import controls, state
from ui.algorithms.about import show_about
from ui.algorithms.charts import Curve, race_chart
from ui.algorithms.runners import NAMES, Race, Runner, race_key, races, run_race, tokens_of
from ui.compute import Corpus, clip_text
from ui.downloads import tokenizer_file
from ui.jobs import Job
from ui.quirks.strips import Strip, show_strips
from ui.text import count_of, markdown_literal
from ui.views import show_text_notices
from ui.waiting import awaited

__all__ = ["OWN_NAMES", "race_table", "show"]

OWN_NAMES = ("your BPE", "your WordPiece", "your Unigram")
"""What the three are called in the lists of other pages, in the order of `NAMES`."""

SMALLEST, LARGEST = 50, 10_000
_DEFAULT_SIZE = 500


def show() -> None:
    """Draw the race: corpus and size, then the same sentence, the curves and the figures of all three."""
    corpus, notices = controls.choose_corpus()
    corpus, clipped = _clip(corpus)
    vocab_size, min_pair_count = _choose_settings()
    race = _raced(corpus, vocab_size, min_pair_count)
    show_text_notices((*notices, *clipped))
    _make_own(race, race_key(corpus, vocab_size, min_pair_count), corpus.title)
    sentence = controls.enter_sentence()
    _show_tokens(race, sentence)
    _show_curves(race, vocab_size)
    _show_figures(race)
    _offer_files(race, race_key(corpus, vocab_size, min_pair_count))
    st.caption(
        "Try next: raise the least pair count and see WordPiece catch up; its score prefers rare pairs. All three "
        "stand on *Compare* and *Languages* now: " + ", ".join(f"*{name}*" for name in OWN_NAMES) + "."
    )
    show_about("bpe", "wordpiece", "unigram")


def _clip(corpus: Corpus) -> tuple[Corpus, tuple[str, ...]]:
    """Return what is trained on: three trainings of a very long text would be a long wait."""
    if corpus.text is None:
        return corpus, ()
    text = clip_text(corpus.text)
    if len(text) == len(corpus.text):
        return corpus, ()
    notice = f"All three learn from the first {count_of(len(text.encode()), 'byte')} of the corpus."
    return Corpus.of(corpus.title, text), (notice,)


def _choose_settings() -> tuple[int, int]:
    state.check_link_number(state.RACE_SIZE, SMALLEST, LARGEST, "as size of the vocabulary")
    state.check_link_number(state.RACE_LEAST, 1, 1_000, "as least pair count")
    first, second = st.columns(2)
    with first:
        size = st.number_input(
            "Size of the vocabulary",
            SMALLEST,
            LARGEST,
            _DEFAULT_SIZE,
            step=100,
            key=state.RACE_SIZE,
            bind=state.number_binding(state.RACE_SIZE),
        )
    with second:
        least = st.number_input(
            "Least pair count, for the two that merge",
            1,
            1_000,
            2,
            key=state.RACE_LEAST,
            bind=state.number_binding(state.RACE_LEAST),
            help="WordPiece's score is highest for symbols that only occur together, however rarely.",
        )
    return int(size or SMALLEST), int(least or 1)


def _raced(corpus: Corpus, vocab_size: int, min_pair_count: int) -> Race:
    def label(job: Job[Race]) -> str:
        at = min(job.done * len(NAMES) // job.asked, len(NAMES) - 1)
        return f"Training {NAMES[at]}, {at + 1} of {len(NAMES)}: {job.seconds_so_far:,.0f} s so far"

    return awaited(
        state.RACE_JOB,
        races(),
        race_key(corpus, vocab_size, min_pair_count),
        lambda job: run_race(corpus, vocab_size, min_pair_count, job),
        label=label,
    )


def _make_own(race: Race, key: str, title: str) -> None:
    state.set_own_neighbours(
        {
            name: state.OwnNeighbour(
                tokenizer=runner.tokenizer,
                key=f"{key}-{name}",
                about=f"{runner.name}, {count_of(runner.tokenizer.vocab_size, 'token')} learned on {title}",
            )
            for name, runner in zip(OWN_NAMES, race.runners, strict=True)
        }
    )


# ---------------------------------------------------------------------------------------------- views


def _show_tokens(race: Race, sentence: str) -> None:
    rows = []
    for runner in race.runners:
        tokens = tokens_of(runner.tokenizer, sentence)
        rows.append(Strip(runner.name, count_of(len(tokens), "token"), tokens))
    for runner in race.runners:
        rank = "likeliest" if runner.name == "Unigram" else "first learned"
        rows.append(Strip(f"{runner.name}: {rank}", "", runner.first, [""] * len(runner.first)))
    show_strips(rows, key=state.RACE_ROWS)


def _show_curves(race: Race, vocab_size: int) -> None:
    st.markdown("**Tokens of the corpus while each vocabulary takes shape**")
    curves = [Curve(runner.name, runner.sizes, runner.num_tokens) for runner in race.runners]
    said = "; ".join(
        f"{curve.name} from {int(curve.num_tokens[0]):,} tokens at {int(curve.sizes[0]):,} to "
        f"{int(curve.num_tokens[-1]):,} at {int(curve.sizes[-1]):,}"
        for curve in curves
    )
    st.plotly_chart(
        race_chart(curves, vocab_size),
        key="race-chart",
        config={"displayModeBar": False},
        alt=f"Tokens of the corpus against the size of the vocabulary: {said}.",
    )
    st.caption(
        "The two that merge come from the left, from single characters; Unigram comes from the right, from all "
        "substrings that repeat. The dotted line is the size that was asked for."
    )


def _show_figures(race: Race) -> None:
    st.dataframe(
        race_table(race),
        hide_index=True,
        column_config={
            "corpus, tokens": st.column_config.NumberColumn(format="localized"),
            "bytes per token": st.column_config.NumberColumn(format="%.2f"),
            "trained in, s": st.column_config.NumberColumn(format="%.2f"),
            "encodes, MB/s": st.column_config.NumberColumn(format="%.2f"),
        },
    )
    st.caption(
        f"Of the corpus, {count_of(race.num_bytes, 'byte')}. WordPiece drops the white space, so its tokens stand for "
        "less text than the others'. Times are of this machine, in this run; each distinct word is encoded once. The "
        "merges of byte-pair encoding may be found by compiled code, the other two are Python and numpy."
    )
    for runner in race.runners:
        if runner.fell_short:
            st.caption(
                f":material/info: {runner.name} stopped at {count_of(runner.tokenizer.vocab_size, 'token')}: "
                f"{markdown_literal(runner.fell_short)}."
            )


def _offer_files(race: Race, key: str) -> None:
    """Each as a tokenizer.json, once the reader asks: each is read back by its own library first."""
    if st.session_state.get(state.RACE_FILES_ASKED) != key:
        st.button(
            "Make a tokenizer.json of each",
            on_click=_ask_for_files,
            args=(key,),
            icon=":material/save:",
            key=state.RACE_FILES,
            help="Each is read back by the library tokenizers and must give the same ids.",
        )
        return
    with st.container(horizontal=True):
        offers = {
            name: tokenizer_file(f"{key}-{name}", 0, "tokenizer-json", runner.tokenizer)
            for name, runner in zip(OWN_NAMES, race.runners, strict=True)
        }
        for name, offer in offers.items():
            if not isinstance(offer, str):
                file_name = f"{name.removeprefix('your ').lower()}.tokenizer.json"
                st.download_button(
                    name.removeprefix("your ") + " as tokenizer.json", offer[1], file_name, on_click="ignore"
                )
    for name, offer in offers.items():
        if isinstance(offer, str):
            st.caption(f":material/block: Not {name}: {markdown_literal(offer)}.")


def _ask_for_files(key: str) -> None:
    st.session_state[state.RACE_FILES_ASKED] = key


def race_table(race: Race) -> dict[str, list[str | int | float]]:
    """Return the figures of all three as columns."""

    def speed(runner: Runner) -> float:
        return race.num_bytes / 1e6 / max(runner.encoding_seconds, 1e-9)

    runners = race.runners
    return {
        "algorithm": [runner.name for runner in runners],
        "vocabulary": [runner.tokenizer.vocab_size for runner in runners],
        "corpus, tokens": [runner.num_encoded for runner in runners],
        "bytes per token": [race.num_bytes / max(runner.num_encoded, 1) for runner in runners],
        "unknown": [runner.num_unknown for runner in runners],
        "trained in, s": [runner.training_seconds for runner in runners],
        "encodes, MB/s": [speed(runner) for runner in runners],
    }
