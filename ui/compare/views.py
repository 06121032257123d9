"""What the reader sees: the rows, the table, agreement, the curve, what was changed, and a card a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from bpe.agreement import Agreement, first_step_below
from bpe.pretrained import pretrained_info, pretrained_names
from ui import state
from ui.changes import changes_in_words
from ui.choosing import find, real_names
from ui.compare.charts import agreement_map, merge_curve
from ui.compare.component import aligned_rows
from ui.compare.compute import Comparison, Row
from ui.compare.controls import Choice
from ui.compare.payload import MOST_DRAWN_BYTES, build_rows, drawn_bytes
from ui.state import OWN_NAME
from ui.text import NOT_TO_BE_HAD, count_of, markdown_literal, show_token

__all__ = ["show_agreement", "show_cards", "show_changes", "show_curve", "show_rows", "show_table"]

_MOST_PLACES = 1_000
_CONTEXT_BYTES = 16
_DEFAULT_WINDOW = 8_192
_SCORES = ("Jaccard", "F1")


def show_rows(comparison: Comparison, step: int, on_step: Callable[[int], None]) -> None:
    """The text, a row a tokenizer; and which could not be put on its axis."""
    for row in comparison.rows:
        if row.problem:
            st.warning(f"{markdown_literal(row.name)}: {markdown_literal(row.problem)}.", icon=":material/block:")
        elif not row.has_cuts:
            st.caption(
                f":material/info: {markdown_literal(row.name)} reads another text than this one after its "
                "normalization: it is counted, but its tokens have no place on this axis."
            )
    if comparison.on_axis:
        st.markdown(_headline(comparison))
        aligned_rows(build_rows(comparison.text, comparison.on_axis, step), key=state.COMPARE_ROWS, on_step=on_step)
    if drawn_bytes(comparison.text) < comparison.num_bytes:
        st.caption(
            f"Everything below is counted over all {count_of(comparison.num_bytes, 'byte')}; the first "
            f"{MOST_DRAWN_BYTES:,} are drawn."
        )


def _headline(comparison: Comparison) -> str:
    counted = [row for row in comparison.rows if not row.problem]
    fewest = min(counted, key=lambda row: row.placed.num_tokens)
    most = max(counted, key=lambda row: row.placed.num_tokens)
    parts = [count_of(comparison.num_bytes, "byte"), count_of(comparison.num_chars, "character")]
    if fewest is not most:
        parts.append(
            f"fewest tokens: **{markdown_literal(fewest.name)}** with {fewest.placed.num_tokens:,}, most: "
            f"**{markdown_literal(most.name)}** with {most.placed.num_tokens:,}"
        )
    agreement = comparison.agreement
    if agreement is not None and agreement.num_rows > 1 and len(agreement.places):
        parts.append(
            f"{len(agreement.shared):,} of {count_of(len(agreement.places), 'cut')} shared by all "
            f"{agreement.num_rows} rows"
        )
    return " · ".join(parts)


# ---------------------------------------------------------------------------------------------- table


def show_table(comparison: Comparison, names: Sequence[str]) -> None:
    """Tokens, and what follows from them at the reader's figures; `names` are all that were chosen."""
    st.subheader("What it costs")
    state.check_link_number(state.COMPARE_WINDOW, 1, 100_000_000, "tokens of context")
    first, second, third = st.columns(3)
    with first:
        window = st.number_input(
            "Context window, tokens",
            1,
            100_000_000,
            _DEFAULT_WINDOW,
            step=1024,
            key=state.COMPARE_WINDOW,
            bind=state.number_binding(state.COMPARE_WINDOW),
        )
    with second:
        price = st.number_input(
            "Your price per million tokens",
            0.0,
            1_000_000.0,
            1.0,
            step=0.1,
            key=state.COMPARE_PRICE,
            bind=state.number_binding(state.COMPARE_PRICE),
            help="In whatever currency you pay. No price list here: it would be stale tomorrow.",
        )
    off_axis = {row.name for row in comparison.rows} - {row.name for row in comparison.on_axis}
    with third:
        against = _choose_reference([name for name in names if name not in off_axis])
    st.dataframe(
        table_of(comparison, int(window), float(price), against),
        hide_index=True,
        placeholder=NOT_TO_BE_HAD,
        column_config={
            "bytes per token": st.column_config.NumberColumn(format="%.2f"),
            "characters per token": st.column_config.NumberColumn(format="%.2f"),
            "share of the window": st.column_config.NumberColumn(format="percent"),
            "price": st.column_config.NumberColumn(format="%.6f"),
            f"Jaccard with {against}": st.column_config.NumberColumn(format="%.3f"),
            f"F1 with {against}": st.column_config.NumberColumn(format="%.3f"),
            "unknown": st.column_config.NumberColumn(format="percent"),
        },
    )


def _choose_reference(names: list[str]) -> str:
    """Draw the choice among all that can be on the axis, those that are still loading too: a link may ask for one."""
    if not names:
        return ""
    state.check_link(state.COMPARE_AGAINST, names, "tokenizer to compare with")
    state.drop_unknown(state.COMPARE_AGAINST, names)
    default = next((place for place, name in enumerate(names) if name != OWN_NAME), 0)
    return st.selectbox("Agreement with", names, index=default, key=state.COMPARE_AGAINST, bind="query-params")


def table_of(comparison: Comparison, window: int, price: float, against: str) -> dict[str, list[object]]:
    """Return the table, a list a column; None where a figure cannot be had."""
    names = [row.name for row in comparison.on_axis]
    table: dict[str, list[object]] = {}

    def put(column: str, value: object) -> None:
        table.setdefault(column, []).append(value)

    for row in comparison.rows:
        num_tokens = row.placed.num_tokens
        is_counted = num_tokens > 0 and not row.problem
        place = names.index(row.name) if row.name in names else None
        agreement = comparison.agreement if place is not None else None
        put("tokenizer", row.name)
        put("tokens", None if row.problem else num_tokens)
        put("bytes per token", comparison.num_bytes / num_tokens if is_counted else None)
        put("characters per token", comparison.num_chars / num_tokens if is_counted else None)
        put("share of the window", None if row.problem else num_tokens / window)
        put("price", None if row.problem else num_tokens * price / 10**6)
        put("unknown", row.num_unknown / num_tokens if is_counted else None)
        put("cuts of it alone", None if agreement is None or place is None else len(agreement.alone(place)))
        if against in names:
            reference = names.index(against)
            put(f"Jaccard with {against}", None if agreement is None else float(agreement.jaccard[place, reference]))
            put(f"F1 with {against}", None if agreement is None else float(agreement.f1[place, reference]))
    return table


# ---------------------------------------------------------------------------------------------- agreement


def show_agreement(comparison: Comparison) -> None:
    """How alike any two rows are, and the list of places where they part."""
    agreement = comparison.agreement
    if agreement is None or agreement.num_rows < 2:
        return
    st.subheader("Who agrees with whom")
    state.check_link(state.COMPARE_SCORE, list(_SCORES), "measure of agreement")
    score = st.segmented_control(
        "Measure", _SCORES, default=_SCORES[0], required=True, key=state.COMPARE_SCORE, bind="query-params"
    )
    st.caption(
        "Jaccard: cuts that both make, of the cuts that either makes. F1: twice the cuts that both make, of the cuts "
        "of both counted together. 1 means the same cuts; start and end of the text are not counted."
    )
    values = {"Jaccard": agreement.jaccard, "F1": agreement.f1}
    other = _SCORES[1 - _SCORES.index(score)]
    names = [row.name for row in comparison.on_axis]
    st.plotly_chart(
        agreement_map(names, values[score], values[other], (score, other)),
        key="agreement-map",
        config={"displayModeBar": False},
        alt=_spoken_map(names, values[score], score),
    )
    with st.expander(f"The places where they part ({len(agreement.contested):,})"):
        if len(agreement.contested) > _MOST_PLACES:
            st.caption(f"The first {_MOST_PLACES:,} are listed.")
        st.dataframe(places_of(comparison, agreement), hide_index=True)


def _spoken_map(names: list[str], values: np.ndarray, score: str) -> str:
    pairs = [
        (float(values[one, two]), f"{names[one]} and {names[two]}")
        for one in range(len(names))
        for two in range(one + 1, len(names))
    ]
    said = "; ".join(f"{pair} {value:.2f}" for value, pair in sorted(pairs, reverse=True))
    return f"{score} of any two tokenizers, most alike first: {said}"


def places_of(comparison: Comparison, agreement: Agreement) -> dict[str, list[object]]:
    """Return the first places where rows part, with the text around and who cuts there."""
    raw = comparison.text.encode()
    names = np.array([row.name for row in comparison.on_axis])
    differing = np.flatnonzero(agreement.votes < agreement.num_rows)[:_MOST_PLACES]
    table: dict[str, list[object]] = {"byte": [], "before": [], "after": [], "cut by": []}
    for number in differing.tolist():
        place = int(agreement.places[number])
        table["byte"].append(place)
        table["before"].append(show_token(_whole(raw[max(place - _CONTEXT_BYTES, 0) : place], from_start=True)))
        table["after"].append(show_token(_whole(raw[place : place + _CONTEXT_BYTES], from_start=False)))
        table["cut by"].append(", ".join(names[agreement.is_cut[:, number]].tolist()))
    return table


def _whole(part: bytes, *, from_start: bool) -> bytes:
    """Drop what the window has cut off a character at its far end; a cut at the place itself is shown in hex."""
    for dropped in range(4):
        trimmed = part[dropped:] if from_start else part[: len(part) - dropped]
        try:
            trimmed.decode()
        except UnicodeDecodeError:
            continue
        return trimmed
    return part[-4:] if from_start else part[:4]


# ---------------------------------------------------------------------------------------------- the own tokenizer


def show_curve(comparison: Comparison, step: int) -> None:
    """Tokens of this text against merges of the own tokenizer, and where it passes the others."""
    own = next((row for row in comparison.rows if row.history is not None), None)
    if own is None or own.history is None or own.history.num_symbols == 0:
        return
    others = [(row.name, row.placed.num_tokens) for row in comparison.rows if row is not own and not row.problem]
    num_tokens = own.history.num_tokens
    st.subheader("Yours at every step")
    for sentence in passing_sentences(num_tokens, others):
        st.markdown(sentence)
    st.plotly_chart(
        merge_curve(num_tokens, step, others),
        key="compare-curve",
        config={"displayModeBar": False},
        alt=f"Tokens of this text against merges of yours: {int(num_tokens[0]):,} without any, "
        f"{int(num_tokens[step]):,} at this step, {int(num_tokens[-1]):,} after all {len(num_tokens) - 1:,}. "
        + "; ".join(f"{name} {count:,}" for name, count in others),
    )


def passing_sentences(num_tokens: np.ndarray, others: list[tuple[str, int]]) -> list[str]:
    """Return at which merge the own tokenizer passes each of the others, the earliest first.

    >>> passing_sentences(np.array([9, 7, 7, 5]), [("gpt2", 7), ("o200k_base", 4)])
    ['Yours passes **gpt2** on this text at merge 3 (5 tokens against 7).',
     'It does not pass **o200k\\\\_base** (4) in its 3 merges, which leave 5 tokens.']
    """
    passed: list[tuple[int, str]] = []
    never: list[tuple[int, str]] = []
    for name, count in others:
        shown = f"**{markdown_literal(name)}**"
        step = first_step_below(num_tokens, count)
        if step is None:
            never.append((count, shown))
        else:
            now = int(num_tokens[step])
            passed.append((step, f"{shown} on this text at merge {step:,} ({now:,} tokens against {count:,})"))
    sentences = []
    if passed:
        sentences.append(f"Yours passes {', '.join(text for _step, text in sorted(passed))}.")
    if never:
        listed = ", ".join(f"{name} ({count:,})" for count, name in never)
        merges, left = count_of(len(num_tokens) - 1, "merge"), count_of(int(num_tokens[-1]), "token")
        sentences.append(f"It does not pass {listed} in its {merges}, which leave {left}.")
    return sentences


# ---------------------------------------------------------------------------------------------- normalization, cards


def show_changes(comparison: Comparison) -> None:
    """What normalizing tokenizers did to the text, instead of a round trip that is none."""
    changing = [row for row in comparison.rows if row.changes]
    lossy = [row for row in comparison.rows if row.num_unknown and not row.problem]
    if not changing and not lossy:
        return
    st.subheader("What they changed before they cut")
    for row in changing:
        st.markdown(_change_sentence(row))
    for row in lossy:
        share = row.num_unknown / max(row.placed.num_tokens, 1)
        st.markdown(
            f"**{markdown_literal(row.name)}** does not know {count_of(row.num_unknown, 'token')} of this text "
            f"({share:.1%}): what stood there cannot be read back."
        )


def _change_sentence(row: Row) -> str:
    unseen = row.placed.num_unseen
    added = f" {count_of(unseen, 'token')} of it cover no byte of your text." if unseen else ""
    return f"**{markdown_literal(row.name)}**: {changes_in_words(row.changes)}{added}"


def show_cards(choice: Choice) -> None:
    """A card a tokenizer that was chosen, and why others cannot be had here."""
    with st.expander("What these tokenizers are: size, algorithm, split pattern, normalizer, source, licence"):
        for name in choice.names:
            if name in real_names():
                _card(name)
            else:
                st.markdown(f"**{markdown_literal(name)}** · {_about_mine(name, choice)}")
        missing = [pretrained_info(name) for name in pretrained_names() if not pretrained_info(name).available]
        for info in missing:
            st.caption(
                f":material/block: {markdown_literal(info.name)} ({markdown_literal(info.kind)}): "
                f"{markdown_literal(info.why_not)}."
            )


def _about_mine(name: str, choice: Choice) -> str:
    if name != OWN_NAME:
        return markdown_literal(find(name, choice.mine).about)
    settings = choice.own.training.settings
    return (
        f"BPE on {settings.base} · {choice.own.training.tokenizer.vocab_size:,} ids · learned from "
        f"{markdown_literal(choice.own.corpus)} · split {markdown_literal(settings.split[:80])}"
    )


def _card(name: str) -> None:
    info = pretrained_info(name)
    with st.container(border=True):
        st.markdown(
            f"**{markdown_literal(name)}** · {markdown_literal(info.title)} · {info.vocab_size:,} ids · "
            f"{markdown_literal(info.kind)}  \nNormalizer: {markdown_literal(info.normalizer)}  \n"
            f"Source: {markdown_literal(info.source)} · Licence: {markdown_literal(info.licence)}"
        )
        if info.split_pattern:
            st.code(info.split_pattern, language=None, wrap_lines=True)
