"""The controls of the page, from top to bottom; together they make a frozen question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from bpe import SPLIT_PATTERNS, TrainSettings
from bpe.metrics import MEASURES
from bpe.parallel import ParallelText, load_parallel, parse_numbers
from ui import frame, state
from ui.brought import bring_tokenizer, brought_tokenizer
from ui.choosing import Mine, mine_now
from ui.languages import upload
from ui.languages.compute import Answer, answer, answers, shelf
from ui.languages.contenders import TRAINED, contender_names, find_contender
from ui.languages.question import Question, ask
from ui.text import count_of, markdown_literal
from ui.waiting import awaited

__all__ = ["FLIP_MEASURES", "VIEWS", "Choice", "answered", "choose"]

VIEWS = ("bars", "heat map", "rank flips", "table", "bill")
FLIP_MEASURES = (
    "premium",
    "tokens per character",
    "tokens per grapheme",
    "tokens per byte",
    "fertility",
    "fertility by white space",
)
_OWN_TEXT = "your own"
_TEXTS = {"human rights": "declaration", "interface strings": "interface", _OWN_TEXT: ""}
_MOST_CONTENDERS = 8
_DEFAULT_CONTENDERS = ("o200k_base", "cl100k_base", "gpt2")
_DEFAULT_REFERENCE = "English"
_FIRST_LOOK = [
    *("English", "German", "Spanish", "Finnish", "Turkish", "Vietnamese", "Swahili", "Yoruba", "Russian", "Greek"),
    *("Hebrew", "Arabic", "Hindi", "Tamil", "Burmese", "Thai", "Chinese (Simplified)", "Japanese", "Korean"),
    "Amharic",
]
_LEARNED_SPLITS = ("o200k", "cl100k", "gpt2", "whitespace", "none")


@dataclass(frozen=True, eq=False)
class Choice:
    """The question, how to look at the answer, and what was decided on the way."""

    question: Question
    view: str
    notices: tuple[str, ...]


def choose() -> Choice:
    """Draw the controls and return what was chosen."""
    _offer_examples()
    first, second = st.columns(2)
    with first:
        name = _choose_text()
    with second:
        view = _choose_view()
    text, notices = _open_text(name)
    known = {language.name: language.code for language in text.languages}
    first, second, third = st.columns([1, 2, 1])
    with first:
        reference = known[_choose_reference(text, list(known))]
    with second:
        chosen, mine = _choose_contenders()
    with third:
        measures = _choose_measures(view)
    settings = _choose_training() if any(one in TRAINED for one in chosen) else TrainSettings(num_merges=0)
    with st.expander(_expander_label(text)):
        languages, left_out = _choose_languages(text)
        numbers = _choose_units(text)
        st.markdown("**Bring a tokenizer**")
        bring_tokenizer()
    if (brought_tokenizer() is None) != (mine.brought is None):
        st.rerun()  # the list of tokenizers was drawn before the file came or went
    if not languages or not chosen:
        st.info("Choose at least one language and one tokenizer.")
        frame.end()
        st.stop()
    codes = tuple(language.code for language in text.languages if language.name in languages)
    contenders = tuple(find_contender(one, mine, settings, (*codes, reference)) for one in chosen)
    return Choice(ask(text, codes, reference, contenders, numbers, measures), view, (*notices, *left_out))


def answered(question: Question) -> Answer:
    """Return the answer, known, or counted now with progress shown."""
    return awaited(
        state.LANGUAGES_JOB,
        answers(),
        question.key,
        lambda job: answer(question, job, shelf()),
        label=lambda job: (
            f"Counting {count_of(len(question.codes), 'language')} under "
            f"{count_of(len(question.contenders), 'tokenizer')}: {job.done:,} of {job.asked:,} steps"
        ),
    )


# ---------------------------------------------------------------------------------------------- what is counted


def _offer_examples() -> None:
    examples: dict[str, dict[str, str | Sequence[str]]] = {
        "Three generations": {state.CONTENDERS: _DEFAULT_CONTENDERS, state.MEASURE: "premium"},
        "What if it had learned Hindi?": {state.CONTENDERS: tuple(TRAINED), state.MEASURE: "premium"},
        "The usual chart": {state.MEASURE: "fertility by white space"},
        "Why it is wrong": {state.LANGUAGES_VIEW: "rank flips"},
        "The bill": {state.LANGUAGES_VIEW: "bill"},
    }
    with st.container(horizontal=True, gap="small"):
        for label, values in examples.items():
            st.button(
                label, key=f"languages-{label}", on_click=_take, args=({state.LANGUAGES_VIEW: VIEWS[0], **values},)
            )


def _take(values: Mapping[str, str | Sequence[str]]) -> None:
    for key, value in values.items():
        state.put(key, value if isinstance(value, str) else list(value))


def _choose_text() -> str:
    state.check_link(state.PARALLEL, list(_TEXTS), "parallel text")
    names = list(_TEXTS)
    name = st.segmented_control(
        "Parallel text", names, default=names[0], required=True, key=state.PARALLEL, bind="query-params"
    )
    return str(name)


def _open_text(name: str) -> tuple[ParallelText, tuple[str, ...]]:
    if name == _OWN_TEXT:
        return upload.own_parallel_text()
    text = load_parallel(_TEXTS[name])
    st.caption(f"{text.title}, {count_of(text.num_units, text.unit)} · {text.source}")
    return text, ()


def _is_own(text: ParallelText) -> bool:
    """Whether the reader brought the text: its languages are others with every upload, so no link holds them."""
    return text.unit == "line"


def _expander_label(text: ParallelText) -> str:
    key = f"{state.OWN_LANGUAGES}-{text.key}" if _is_own(text) else state.LANGUAGES
    default = [language.name for language in text.languages] if _is_own(text) else _FIRST_LOOK
    chosen = st.session_state.get(key, st.query_params.get_all(key) or default)
    units = st.session_state.get(state.UNITS, st.query_params.get(state.UNITS)) or "all"
    listed = markdown_literal(units[:60])
    return f"{count_of(len(chosen), 'language')} · {text.unit}s: {listed} · bring a tokenizer"


def _choose_languages(text: ParallelText) -> tuple[list[str], tuple[str, ...]]:
    """Return names of languages that the text has, and a notice for those that it does not."""
    names = [language.name for language in text.languages]
    if _is_own(text):
        key = f"{state.OWN_LANGUAGES}-{text.key}"
        return st.multiselect("Languages", names, default=names, key=key), ()

    every = load_parallel("declaration").languages
    known = [language.name for language in every]
    one_a_script = list({language.script: language.name for language in reversed(every)}.values())
    state.check_link_each(state.LANGUAGES, known, "languages")
    presets = {"Twenty": _FIRST_LOOK, f"One a script ({len(one_a_script)})": one_a_script, f"All {len(known)}": known}
    with st.container(horizontal=True, gap="small"):
        for label, preset in presets.items():
            st.button(label, key=f"preset-{label}", on_click=_take, args=({state.LANGUAGES: preset},))
    chosen = st.multiselect("Languages", known, default=_FIRST_LOOK, key=state.LANGUAGES, bind="query-params")
    missing = [name for name in chosen if name not in names]
    notices = (f"Left out, because this text is not there in them: {', '.join(missing)}.",) if missing else ()
    return [name for name in chosen if name in names], notices


def _choose_reference(text: ParallelText, names: list[str]) -> str:
    if _is_own(text):
        at = names.index(_DEFAULT_REFERENCE) if _DEFAULT_REFERENCE in names else 0
        return st.selectbox("Reference", names, index=at, key=f"{state.OWN_REFERENCE}-{text.key}")
    state.check_link(state.REFERENCE, names, "reference language")
    state.drop_unknown(state.REFERENCE, names)
    return st.selectbox(
        "Reference",
        names,
        index=names.index(_DEFAULT_REFERENCE),
        key=state.REFERENCE,
        bind="query-params",
        help="The language that counts as 1.",
    )


def _choose_units(text: ParallelText) -> tuple[int, ...]:
    written = st.text_input(
        f"{text.unit.capitalize()}s: numbers and ranges from 1 to {text.num_units:,}, such as 1, 3-5; empty for all",
        key=state.UNITS,
        max_chars=300,
        bind="query-params",
    )
    return parse_numbers(written or "", text.num_units)


# ---------------------------------------------------------------------------------------------- tokenizers


def _choose_contenders() -> tuple[list[str], Mine]:
    mine = mine_now()
    names = contender_names(mine)
    state.check_link_each(state.CONTENDERS, names, "tokenizers")
    state.drop_unknown(state.CONTENDERS, names)
    chosen = st.multiselect(
        "Tokenizers",
        names,
        default=[name for name in _DEFAULT_CONTENDERS if name in names],
        max_selections=_MOST_CONTENDERS,
        key=state.CONTENDERS,
        bind="query-params",
        help="The first one sorts the chart.",
    )
    return chosen, mine


def _choose_training() -> TrainSettings:
    state.check_link_number(state.LEARNED_MERGES, 0, 5_000, "merges")
    state.check_link(state.LEARNED_SPLIT, _LEARNED_SPLITS, "split pattern")
    first, second = st.columns(2)
    with first:
        num_merges = st.number_input(
            "Merges to learn",
            0,
            5_000,
            1_000,
            step=100,
            key=state.LEARNED_MERGES,
            bind=state.number_binding(state.LEARNED_MERGES),
        )
    with second:
        split = st.selectbox("Split pattern", _LEARNED_SPLITS, key=state.LEARNED_SPLIT, bind="query-params")
    st.caption(
        "The same settings on each text: the odd articles of the declaration in English, in Hindi, and in all chosen "
        "languages. Try *gpt2* as split pattern: it cuts Hindi words at every vowel sign."
    )
    assert split in SPLIT_PATTERNS
    return TrainSettings(num_merges=int(num_merges or 0), split=split)


def _choose_view() -> str:
    state.check_link(state.LANGUAGES_VIEW, VIEWS, "view")
    view = st.segmented_control(
        "View", VIEWS, default=VIEWS[0], required=True, key=state.LANGUAGES_VIEW, bind="query-params"
    )
    return str(view)


def _choose_measures(view: str) -> tuple[str, ...]:
    """Return the measures to count: one that the reader chooses, where the view does not say which."""
    state.check_link(state.MEASURE, list(MEASURES), "measure")
    fixed = {"rank flips": FLIP_MEASURES, "bill": ("premium",)}.get(view)
    measure = st.selectbox(
        "Measure", list(MEASURES), key=state.MEASURE, bind="query-params", disabled=fixed is not None
    )
    return fixed or (measure,)
