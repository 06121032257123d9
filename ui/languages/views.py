"""What the page shows of an answer: sentences, charts, tables, and the text behind a bar."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from bpe.costs import MODEL_SHAPES, PRECISIONS, kv_cache_bytes
from bpe.metrics import MEASURES, Measure, icu_version, writes_spaces
from ui import frame, state
from ui.languages.bill import BillRow, Workload, charge
from ui.languages.charts import Axis, bars, flips, heat_map, moving_most, ranks, write_value
from ui.languages.compute import COMPARABLE_UNKNOWN, Answer, Grid, reading_payload, shelf
from ui.languages.controls import Choice
from ui.languages.question import Question
from ui.text import NOT_TO_BE_HAD, count_of, markdown_literal
from ui.units import in_bytes
from ui.views import step_stage

__all__ = ["show"]

_PLAIN = {"displayModeBar": False}
_OWN_SHAPE = "own numbers"


def show(choice: Choice, answer: Answer) -> None:
    """Draw the view that was chosen, and below it the text that was counted."""
    question = choice.question
    _warn_unknown(question, answer)
    st.caption(f"{_units_sentence(question)} {_contenders_sentence(question, answer)}")
    if choice.view == "rank flips":
        _show_flips(question, answer)
    elif choice.view == "bill":
        _show_bill(question, answer)
    else:
        _show_measure(choice, answer)
    st.divider()
    _read(question, answer)


def _names(question: Question) -> tuple[str, ...]:
    return tuple(question.text.language(code).name for code in question.codes)


def _axis(question: Question, measure: Measure) -> Axis:
    reference = question.text.language(question.reference).name
    return Axis(
        languages=_names(question),
        contenders=tuple(contender.name for contender in question.contenders),
        title=measure.axis.format(reference=reference, words=_word_splitter(question)),
        is_share=measure.is_share,
    )


def _word_splitter(question: Question) -> str:
    """Return how words were found, in words."""
    unspaced = [code for code in question.codes if not writes_spaces(question.text.units[code])]
    if not unspaced:
        return "between white space"
    version = icu_version()
    return (
        f"white space, ICU {version} where there is none"
        if version
        else "between white space; scripts without it left out"
    )


def _units_sentence(question: Question) -> str:
    text = question.text
    counted = len(question.numbers)
    sentence = f"Counted over {count_of(counted, text.unit)} of {text.num_units:,}"
    if question.is_held_out:
        sentence += ": the even ones, because a tokenizer trained here has learned the odd ones by heart"
    elif counted < text.num_units:
        fewest = min(question.codes, key=lambda code: sum(map(bool, text.units[code])))
        num_fewest = sum(map(bool, text.units[fewest]))
        if num_fewest < text.num_units:
            sentence += f": those that all chosen languages have ({text.language(fewest).name} has {num_fewest:,})"
    interval = "Lines are 95 % intervals over them" if counted > 1 else "One alone has no interval"
    return f"{sentence}. {interval}."


def _contenders_sentence(question: Question, answer: Answer) -> str:
    told = []
    for contender, num_merges in zip(question.contenders, answer.num_merges, strict=True):
        learned = f"{count_of(num_merges, 'merge')} learned from " if contender.is_trained_here else ""
        told.append(f"**{markdown_literal(contender.name)}**: {learned}{markdown_literal(contender.about)}")
    return " · ".join(told) + "."


def _warn_unknown(question: Question, answer: Answer) -> None:
    rows, columns = np.nonzero(answer.unknown > COMPARABLE_UNKNOWN)
    if not len(rows):
        return
    names = _names(question)
    told = [
        f"{names[row]} under {question.contenders[column].name} ({100 * answer.unknown[row, column]:.0f} %)"
        for row, column in zip(rows[:4].tolist(), columns[:4].tolist(), strict=True)
    ]
    more = f" and {len(rows) - 4} more" if len(rows) > 4 else ""
    st.warning(
        markdown_literal(f"Not comparable, more than a tenth of the tokens is unknown: {', '.join(told)}{more}.")
        + " An unknown token is cheap and says nothing. These bars are hatched.",
        icon=":material/help:",
    )


# ---------------------------------------------------------------------------------------------- one measure


def _show_measure(choice: Choice, answer: Answer) -> None:
    question = choice.question
    ((name, grid),) = answer.grids.items()
    if np.isnan(grid.value).all():
        st.info(
            "This measure has no value here: the chosen languages write no spaces, and ICU, which would find their "
            "words, is not installed (package icu4py). Tokens per grapheme need no words."
        )
        return
    measure = MEASURES[name]
    axis = _axis(question, measure)
    st.markdown(_headline(grid, axis, question))
    if choice.view == "table":
        _show_table(question, answer, grid, axis)
    elif choice.view == "heat map":
        st.plotly_chart(heat_map(grid, answer, axis), key="languages-heat", config=_PLAIN, alt=_alt(grid, axis))
    else:
        st.plotly_chart(
            bars(grid, answer, axis, 1.0 if name == "premium" else None),
            key=state.LANGUAGES_CHART,
            config=_PLAIN,
            on_select=lambda: _follow_click(question),
            selection_mode="points",
            alt=_alt(grid, axis),
        )
        st.caption("Try next: click a bar to read its text in tokens below, or ask what if it had learned Hindi.")
    st.markdown(
        f"**{name[0].upper() + name[1:]}.** {measure.definition}  \n**Misleads when:** {measure.misleads}  \n"
        f"*Source: {measure.source}.*"
    )


def _headline(grid: Grid, axis: Axis, question: Question) -> str:
    """Return who pays most and least under the first tokenizer, in a sentence."""
    order = [row for row in grid.order() if not np.isnan(grid.value[row, 0])]
    missing = len(question.codes) - len(order)
    without = (
        f" {count_of(missing, 'language')} without a value: no words without ICU; tokens per grapheme need none."
        if missing
        else ""
    )
    if not order:
        return f"**{markdown_literal(axis.contenders[0])}** has no value.{without}"
    most, least = (f"{axis.languages[row]} (**{_value(grid, row, axis)}**)" for row in (order[0], order[-1]))
    worst, best = ("pays most", "least") if grid.measure.more_is_worse else ("fares worst", "best")
    compared = f"{most} {worst}, {least} {best}" if len(order) > 1 else most
    return f"With **{markdown_literal(axis.contenders[0])}**, {compared}: {markdown_literal(axis.title)}.{without}"


def _value(grid: Grid, row: int, axis: Axis) -> str:
    return write_value(grid.value[row, 0], axis.is_share)


def _alt(grid: Grid, axis: Axis) -> str:
    rows = [
        f"{axis.languages[row]} " + ", ".join(write_value(value, axis.is_share) for value in grid.value[row])
        for row in grid.order()
    ]
    return f"{axis.title}, under {', '.join(axis.contenders)}: " + "; ".join(rows)


def _follow_click(question: Question) -> None:
    """Make the reading below follow the bar that was clicked."""
    selection = st.session_state[state.LANGUAGES_CHART].selection
    points = selection.points if selection else []
    if points:
        row, column = points[0]["customdata"][:2]
        state.put(state.READ_LANGUAGE, _names(question)[int(row)])
        state.put(state.READ_CONTENDER, question.contenders[int(column)].name)


def _show_table(question: Question, answer: Answer, grid: Grid, axis: Axis) -> None:
    order = grid.order()
    scale = 100 if axis.is_share else 1
    frame = pd.DataFrame(grid.value[order] * scale, columns=list(axis.contenders))
    frame.insert(0, "script", [question.text.language(question.codes[row]).script for row in order])
    frame.insert(0, "language", [axis.languages[row] for row in order])
    shown = "%.0f %%" if axis.is_share else "%.2f"
    st.dataframe(
        frame,
        hide_index=True,
        height=_table_height(len(order)),
        placeholder=NOT_TO_BE_HAD,
        column_config={
            "language": st.column_config.TextColumn(width="medium"),
            **{name: st.column_config.NumberColumn(format=shown) for name in axis.contenders},
        },
        alt=_alt(grid, axis),
    )
    st.download_button(
        "All figures as CSV", table_csv(question, answer, grid), "languages.csv", "text/csv", on_click="ignore"
    )


def _table_height(num_rows: int) -> int:
    """Return the height in pixels of a table that shows all its rows: 35 a row and for the head, 3 for the frame."""
    return 35 * (num_rows + 1) + 3


def table_csv(question: Question, answer: Answer, grid: Grid) -> str:
    """Return the grid as CSV: a line for each language and tokenizer, with interval and token count."""
    out = io.StringIO()
    writer = csv.writer(out)
    head = ["language", "tag", "script", "tokenizer", "measure", "value", "low", "high", "tokens", "unknown_share"]
    writer.writerow([*head, "reference", "units"])
    reference = question.text.language(question.reference).name
    for row in grid.order():
        language = question.text.language(question.codes[row])
        for column, contender in enumerate(question.contenders):
            figures = [f"{each[row, column]:.6g}" for each in (grid.value, grid.low, grid.high)]
            counts = [answer.num_tokens[row, column], f"{answer.unknown[row, column]:.6g}"]
            about = [language.name, language.tag, language.script, contender.name, grid.measure.name]
            writer.writerow([*about, *figures, *counts, reference, len(question.numbers)])
    return out.getvalue()


# ---------------------------------------------------------------------------------------------- rank flips


def _show_flips(question: Question, answer: Answer) -> None:
    grids = list(answer.grids.values())
    names = _names(question)
    places = ranks(grids)
    followed = moving_most(places, 1)
    st.markdown(_flip_sentence(places, names, grids, followed))
    figure = flips(places, names, [grid.measure.short for grid in grids])
    alt = "Places, 1 pays most. " + "; ".join(
        f"{name} " + ", ".join(NOT_TO_BE_HAD if np.isnan(place) else f"{place:.0f}" for place in row)
        for name, row in zip(names, places, strict=True)
    )
    st.plotly_chart(figure, key="languages-flips", config=_PLAIN, alt=alt)
    st.caption(
        f"Under {markdown_literal(question.contenders[0].name)}; the top place pays most. In colour: what moves most. "
        f"Words: {markdown_literal(_word_splitter(question))}."
    )
    st.markdown("Tokens of the same text, divided by something else each time. Where that misleads:")
    st.markdown("\n".join(f"- **{grid.measure.short}**: {grid.measure.misleads}" for grid in grids))


def _flip_sentence(places: np.ndarray, names: tuple[str, ...], grids: list[Grid], followed: list[int]) -> str:
    if not followed:
        return "Every measure puts these languages in the same order."
    row = followed[0]
    away = np.nan_to_num(np.abs(places[row] - places[row, 0]))
    other = len(away) - 1 - int(np.argmax(away[::-1]))  # of equally far ones the last: the usual chart
    return (
        f"{names[row]} moves most: by *{grids[0].measure.name}* it pays **{_ordinal(places[row, 0])}** most of "
        f"{len(names)}, by *{grids[other].measure.name}* **{_ordinal(places[row, other])}** most."
    )


def _ordinal(place: float) -> str:
    number = int(place)
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


# ---------------------------------------------------------------------------------------------- bill


def _show_bill(question: Question, answer: Answer) -> None:
    names = [contender.name for contender in question.contenders]
    state.check_link(state.BILL_CONTENDER, names, "tokenizer")
    state.drop_unknown(state.BILL_CONTENDER, names)
    unit, workload = _choose_workload(question, answer)
    chosen = st.selectbox("Tokenizer of the model", names, key=state.BILL_CONTENDER, bind="query-params")
    column = names.index(chosen)
    per_unit = answer.reference_tokens[column] / (answer.reference_words if unit == "words" else answer.reference_chars)
    grid = answer.grids["premium"]
    order = grid.order(column)
    rows = {row: charge(per_unit * grid.value[row, column], workload) for row in order}
    reference = question.text.language(question.reference).name
    st.markdown(_bill_sentence(question, rows, order, unit, workload, reference))
    axis = _axis(question, MEASURES["premium"])
    frame = pd.DataFrame(
        {
            "language": [axis.languages[row] for row in order],
            "premium": [grid.value[row, column] for row in order],
            "tokens a month": [rows[row].num_tokens for row in order],
            "price a month": [rows[row].price for row in order],
            f"{unit} that fit": [rows[row].fits for row in order],
            "cache of a document": [rows[row].cached_bytes / 1e6 for row in order],
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        height=_table_height(len(order)),
        column_config={
            "language": st.column_config.TextColumn(width="medium"),
            "premium": st.column_config.NumberColumn(format="%.2f"),
            "tokens a month": st.column_config.NumberColumn(format="localized"),
            "price a month": st.column_config.ProgressColumn(
                format="%.2f", min_value=0, max_value=max(frame["price a month"].max(), 0.01)
            ),
            f"{unit} that fit": st.column_config.NumberColumn(format="localized"),
            "cache of a document": st.column_config.NumberColumn("cache of a document (MB)", format="%.1f"),
        },
    )
    st.download_button("The bill as CSV", frame.to_csv(index=False), "bill.csv", "text/csv", on_click="ignore")
    st.caption(
        f"{unit.capitalize()} are counted in {reference}; every language carries the same content, at the tokens per "
        f"token of {reference} measured above. Prices are yours to enter: the same for input and output."
    )


def _choose_workload(question: Question, answer: Answer) -> tuple[str, Workload]:
    units = ["words", "characters"] if answer.reference_words else ["characters"]
    for key, most in ((state.BILL_AMOUNT, 10**12), (state.BILL_DOCUMENT, 10**9), (state.BILL_WINDOW, 10**8)):
        state.check_link_number(key, 1, most, "in the workload")
    state.check_link_amount(state.BILL_PRICE, 0, 10**6, "as price")
    state.check_link(state.BILL_UNIT, units, "unit")
    state.check_link(state.BILL_SHAPE, [*MODEL_SHAPES, _OWN_SHAPE], "model shape")
    state.check_link(state.BILL_PRECISION, list(PRECISIONS), "precision")
    state.drop_unknown(state.BILL_UNIT, units)
    first, second, third = st.columns(3)
    with first:
        unit = st.selectbox("Counted in", units, key=state.BILL_UNIT, bind="query-params")
        amount = st.number_input(
            f"{unit.capitalize()} a month",
            1,
            10**12,
            1_000_000,
            key=state.BILL_AMOUNT,
            bind=state.number_binding(state.BILL_AMOUNT),
        )
        document = st.number_input(
            f"{unit.capitalize()} of a document",
            1,
            10**9,
            1_000,
            key=state.BILL_DOCUMENT,
            bind=state.number_binding(state.BILL_DOCUMENT),
        )
    with second:
        price = st.number_input(
            "Price per million tokens",
            0.0,
            1e6,
            1.0,
            step=0.1,
            key=state.BILL_PRICE,
            bind=state.number_binding(state.BILL_PRICE),
        )
        window = st.number_input(
            "Context window, tokens",
            1,
            10**8,
            32_000,
            key=state.BILL_WINDOW,
            bind=state.number_binding(state.BILL_WINDOW),
        )
    with third:
        cached_bytes = _choose_cache()
    return unit, Workload(
        amount=int(amount or 1),
        document=int(document or 1),
        price=float(price or 0),
        window=int(window or 1),
        cached_bytes=cached_bytes,
    )


def _choose_cache() -> float:
    """Return bytes of key-value cache a token: layers x KV heads x head size x bytes, twice for key and value."""
    names = [*MODEL_SHAPES, _OWN_SHAPE]
    name = st.selectbox(
        "Model shape", names, index=names.index("Llama 3 70B"), key=state.BILL_SHAPE, bind="query-params"
    )
    shape = MODEL_SHAPES["Llama 3 70B" if name == _OWN_SHAPE else name]
    if name == _OWN_SHAPE:
        for key in (state.BILL_LAYERS, state.BILL_HEADS, state.BILL_HEAD_SIZE):
            state.check_link_number(key, 1, 10_000, "in the model shape")
        layers = st.number_input(
            "Layers", 1, 10_000, shape.num_layers, key=state.BILL_LAYERS, bind=state.number_binding(state.BILL_LAYERS)
        )
        heads = st.number_input(
            "KV heads", 1, 10_000, shape.num_kv_heads, key=state.BILL_HEADS, bind=state.number_binding(state.BILL_HEADS)
        )
        size = st.number_input(
            "Head size",
            1,
            10_000,
            shape.head_size,
            key=state.BILL_HEAD_SIZE,
            bind=state.number_binding(state.BILL_HEAD_SIZE),
        )
        shape = replace(shape, num_layers=int(layers or 1), num_kv_heads=int(heads or 1), head_size=int(size or 1))
    precision = st.selectbox(
        "Numbers of the cache", list(PRECISIONS), index=1, key=state.BILL_PRECISION, bind="query-params"
    )
    cached_bytes = kv_cache_bytes(shape, PRECISIONS[precision])
    st.caption(
        f"2 × {shape.num_layers} layers × {shape.num_kv_heads} KV heads × {shape.head_size} × "
        f"{PRECISIONS[precision]:g} bytes = {cached_bytes:,.0f} bytes a token"
    )
    return cached_bytes


def _bill_sentence(
    question: Question, rows: dict[int, BillRow], order: list[int], unit: str, workload: Workload, reference: str
) -> str:
    names = _names(question)
    row = order[0]
    dear = rows[row]
    return (
        f"What {count_of(workload.amount, unit[:-1])} of {reference} say costs **{dear.price:,.2f}** a month in "
        f"{names[row]} ({count_of(dear.num_tokens, 'token')}); a window of {workload.window:,} tokens holds the "
        f"content of **{count_of(dear.fits, unit[:-1])}**, and a document occupies "
        f"**{in_bytes(dear.cached_bytes)}** of cache."
    )


# ---------------------------------------------------------------------------------------------- reading


@st.fragment
def _read(question: Question, answer: Answer) -> None:
    """One unit in a language and in the reference, as tokens. Only this part runs again when its controls change."""
    text = question.text
    st.markdown("**Read the text behind the bar**")
    order = next(iter(answer.grids.values())).order()  # opens on the language that pays most
    names = {text.language(question.codes[row]).name: question.codes[row] for row in order}
    contenders = {contender.name: contender for contender in question.contenders}
    labels = [str(number + 1) for number in question.numbers]
    for key, allowed, what in (
        (state.READ_LANGUAGE, list(names), "language to read"),
        (state.READ_CONTENDER, list(contenders), "tokenizer to read with"),
        (state.READ_UNIT, labels, text.unit),
    ):
        state.check_link(key, allowed, what)
        state.drop_unknown(key, allowed)
    first, second, third = st.columns(3)
    with first:
        name = st.selectbox("Language", list(names), key=state.READ_LANGUAGE, bind="query-params")
    with second:
        contender = st.selectbox("Tokenizer", list(contenders), key=state.READ_CONTENDER, bind="query-params")
    with third:
        label = st.selectbox(text.unit.capitalize(), labels, key=state.READ_UNIT, bind="query-params")
    with frame.readable_part():
        payload, num_merges = reading_payload(
            contenders[contender], text, names[name], question.reference, int(label) - 1, shelf()
        )
        step_stage(payload, key=state.READING_STAGE, num_merges=num_merges)
