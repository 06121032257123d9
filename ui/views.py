"""What the reader sees below the controls: drawn from plain data, deciding nothing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from bpe import TokenizerLike, Training
from bpe.kernels.loader import why_not_ready
from bpe.training import Contest
from ui import frame, state
from ui.changes import changes_in_words
from ui.charts import contest_chart, training_curve
from ui.compute import Corpus, Tokenized
from ui.stage.component import stage
from ui.stage.export import export_html
from ui.stage.payload import with_head
from ui.text import chart_literal, count_of, markdown_literal, show_token

__all__ = [
    "show_contest",
    "show_curve",
    "show_drawn_part",
    "show_ids",
    "show_slower",
    "show_summary",
    "show_text_notices",
    "show_unknown",
    "step_stage",
    "stop_sentence",
]

_MOST_LISTED_IDS = 5_000


def show_text_notices(notices: Sequence[str]) -> None:
    """Say what was done to a text on its way in."""
    for notice in notices:
        st.caption(":material/info: " + markdown_literal(notice))


def show_summary(result: Tokenized) -> None:
    """One line of counts, and the proof that nothing was lost."""
    num_tokens = len(result.ids)
    parts = [
        f"**{count_of(num_tokens, 'token')}**",
        count_of(result.num_bytes, "byte"),
        count_of(result.num_chars, "character"),
    ]
    if num_tokens:
        parts.append(f"{result.num_bytes / num_tokens:.2f} bytes per token")
    parts.append(f"joined token bytes equal the text: **{'yes' if result.is_exact else 'no'}**")
    st.markdown(" · ".join(parts))
    if result.changes:
        st.markdown(f"This tokenizer changed the text before it cut it: {changes_in_words(result.changes)}")
    show_drawn_part(result.num_drawn_bytes, result.num_bytes)


def show_drawn_part(num_drawn_bytes: int, num_bytes: int) -> None:
    """Say when the stage draws less than was counted."""
    if num_drawn_bytes < num_bytes:
        st.caption(
            f"Everything is counted over the whole text; the first {num_drawn_bytes:,} of its {num_bytes:,} bytes are "
            "drawn, and the places in the table are of these."
        )


def show_unknown(num_unknown: int) -> None:
    """Say when the sentence holds what a character tokenizer never saw."""
    if num_unknown:
        st.caption(
            f":material/help: {count_of(num_unknown, 'symbol')} of your sentence never occurred in the corpus: "
            "unknown, without a token id. A tokenizer that starts from bytes knows every text."
        )


def step_stage(payload: bytes, *, key: str, num_merges: int) -> int:
    """Draw the stage, keep its step and what it shows in the URL, and return the step."""
    payload = with_head(payload, step=state.linked_step(num_merges), options=asdict(state.linked_options()))
    drawn = stage(
        payload,
        key=key,
        on_step=lambda step: state.link_step(step, num_merges),
        on_options=state.link_options,
        height=None if frame.is_embedded() else 400,
    )
    if frame.is_embedded():
        return drawn.step
    st.download_button(
        "This view as a file that plays offline",
        lambda: export_html(with_head(payload, step=drawn.step, options=asdict(drawn.options)), "Tokens, step by step"),
        "tokens.html",
        "text/html",
        on_click="ignore",
        key=f"{key}-file",
        icon=":material/download:",
        help="One HTML file with the text, every merge and the slider; it asks no server for anything.",
    )
    return drawn.step


def show_ids(result: Tokenized) -> None:
    """The token ids, to copy and to download."""
    ids = result.ids.tolist()
    listed = ids[:_MOST_LISTED_IDS]
    with st.expander(f"Token ids ({len(ids):,})", expanded=len(ids) <= 200):
        if len(listed) < len(ids):
            st.caption(f"The first {len(listed):,} are listed; the downloads hold all.")
        st.code(" ".join(map(str, listed)) or "no tokens", language=None, wrap_lines=True)
        with st.container(horizontal=True):
            st.download_button("JSON", json.dumps(ids), "token_ids.json", "application/json", on_click="ignore")
            st.download_button("CSV", _ids_csv(ids, result.names), "tokens.csv", "text/csv", on_click="ignore")


def _ids_csv(ids: Sequence[int], names: dict[int, bytes]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["position", "id", "bytes_hex", "text"])
    for position, token in enumerate(ids):
        name = names[token]
        writer.writerow([position, token, name.hex(), show_token(name)])
    return out.getvalue()


# ---------------------------------------------------------------------------------------------- training

_STOPS = {
    "num_merges": "Learned the {merges} that were asked for.",
    "vocab_size": "Reached the vocabulary size that was asked for, after {merges}.",
    "no_pairs": "Stopped after {merges}: every pre-token is one token, no pair is left.",
    "cancelled": "Cancelled after {merges}; what was learned up to then is shown.",
}


def stop_sentence(training: Training) -> str:
    """Return the sentence that says why training ended.

    >>> from bpe import TrainSettings, train
    >>> stop_sentence(train("abab", TrainSettings(num_merges=50)))
    'Stopped after 1 merge: no pair occurs twice any more.'
    """
    merges = count_of(training.num_merges, "merge")
    if training.stopped == "min_pair_count":
        least = training.settings.min_pair_count
        often = {1: "at all", 2: "twice"}.get(least, f"{least:,} times")
        return f"Stopped after {merges}: no pair occurs {often} any more."
    return _STOPS[training.stopped].format(merges=merges)


def show_slower() -> None:
    """Say when the compiled kernels cannot be had here: results are the same, waits are longer."""
    reason = why_not_ready("train")
    if reason is not None:
        st.caption(":material/speed: " + markdown_literal(reason))


def show_contest(training: Training, step: int, contest: Contest) -> None:
    """The leading pairs after `step` merges: who would be merged next, who tied, and which rule decided."""
    st.markdown(f"**The contest after {count_of(step, 'merge')}**")
    if contest.num_pairs == 0:
        st.markdown("No pair is left: every pre-token is one token.")
        return
    labels = [
        _pair_label(training.tokenizer, int(left), int(right))
        for left, right in zip(contest.left, contest.right, strict=True)
    ]
    st.markdown(_contest_sentence(training, step, contest, labels))
    figure = contest_chart([chart_literal(label) for label in labels], contest.count.tolist(), contest.num_tied)
    st.plotly_chart(
        figure,
        key="contest",
        config={"displayModeBar": False},
        alt="Leading pairs and their counts: "
        + "; ".join(f"{label} {count:,}" for label, count in zip(labels, contest.count.tolist(), strict=True)),
    )


def _pair_label(tokenizer: TokenizerLike, left: int, right: int) -> str:
    return " + ".join(show_token(tokenizer.token_bytes(token)[:24], isolate=True) for token in (left, right))


def _contest_sentence(training: Training, step: int, contest: Contest, labels: Sequence[str]) -> str:
    winner = markdown_literal(labels[0])
    most = int(contest.count[0])
    if most < training.settings.min_pair_count:
        return f"The best pair, {winner}, occurs {_times(most)}: too seldom to be merged."
    lead = "would come next" if step == training.num_merges else "comes next"
    if contest.num_tied == 1:
        if contest.num_pairs == 1:
            return f"{winner} {lead}: it is the only pair, and occurs {_times(most)}."
        return f"{winner} {lead}: it occurs {_times(most)}, more often than any other of {contest.num_pairs:,} pairs."
    others = [markdown_literal(label) for label in labels[1 : min(contest.num_tied, 6)]]
    more = contest.num_tied - 1 - len(others)
    tied = ", ".join(others) + (f" and {more:,} more" if more else "")
    rule = {
        "first-seen": "it occurs first in the corpus",
        "lowest-ids": "its token ids are the lowest",
        "greatest-pair": "its text comes last in the alphabet",
    }[training.settings.tie_break]
    return (
        f"{winner} {lead}: it occurs {_times(most)}. As often occur: {tied}. "
        f"The rule *{training.settings.tie_break}* decides: {rule}."
    )


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def show_curve(training: Training, corpus: Corpus, step: int) -> None:
    """Tokens of the corpus against merges, with this step marked."""
    num_bytes = corpus.num_bytes
    now = int(training.num_tokens[step])
    st.markdown(f"**The curve: {count_of(now, 'token')} after {count_of(step, 'merge')}**")
    if now:
        start = int(training.num_tokens[0])
        st.markdown(
            f"{num_bytes / now:.2f} bytes per token; {100 * (1 - now / start):.0f} % fewer tokens than the "
            f"{start:,} base symbols."
        )
    st.plotly_chart(
        training_curve(training.num_tokens, num_bytes, step),
        key="curve",
        config={"displayModeBar": False},
        alt=f"Tokens of the corpus against merges: {int(training.num_tokens[0]):,} at the start, {now:,} at this "
        f"step, {int(training.num_tokens[-1]):,} after all {training.num_merges:,} merges.",
    )
