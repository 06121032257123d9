"""What the reader sees of a vocabulary: the list, one token and its tree, histograms, tokens no text leads to."""

from __future__ import annotations

import unicodedata

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bpe import UNKNOWN_ID, RankTokenizer
from bpe.errors import TokenIdError
from bpe.in_pieces import encode_marked
from bpe.merge_tree import merge_tree
from bpe.reachability import GLITCH_EXAMPLES, Reachability, Reason
from bpe.vocabulary import SCRIPTS, TokenFilter, TokenKind, Vocabulary, count_lengths, count_scripts
from ui import state, waiting
from ui.choosing import Chosen
from ui.jobs import Job
from ui.text import as_sentence, count_of, markdown_literal, show_token
from ui.vocabulary import compute
from ui.vocabulary.charts import MOST_LENGTHS, length_chart, script_chart, script_order, tree_chart
from ui.vocabulary.controls import choose_token, pick_token
from ui.vocabulary.listing import token_list
from ui.vocabulary.words import KIND_WORDS, REASON_SENTENCES, REASON_WORDS

__all__ = ["show_histograms", "show_list", "show_sources", "show_unproduced"]

_MOST_LISTED = 1_000
_MOST_CONTEXTS = 60
_MOST_CHARACTERS = 12
_CHART = {"displayModeBar": False}
_STRANGE = (Reason.SPLIT, Reason.MERGE, Reason.OTHERS)
_BY_DESIGN = (Reason.NORMALIZED, Reason.INSIDE_WORD)
_CUT_ELSEWHERE = (*_STRANGE, Reason.NORMALIZED)


def show_list(
    chosen: Chosen, vocabulary: Vocabulary, wanted: TokenFilter, rows: NDArray[np.int64], found: Reachability | None
) -> None:
    """The tokens that were found, and the one picked out beside them."""
    st.markdown(f"**{count_of(len(rows), 'token')}** of {len(vocabulary):,}")
    left, right = st.columns([3, 2])
    with right:
        token = choose_token(vocabulary)
        _show_token(chosen, vocabulary, token, found)
    with left:
        payload = compute.listing_of(chosen.key, wanted, found is not None, vocabulary, rows, found)
        token_list(payload, token, key=state.TOKEN_LIST, on_pick=pick_token, height=560)
        st.caption("Click a row, or move with the arrow keys, to see what the token is made of.")


def _show_token(chosen: Chosen, vocabulary: Vocabulary, token: int, found: Reachability | None) -> None:
    """One token: text, bytes, characters, how it was made, and what its own text leads to."""
    try:
        row = vocabulary.row_of(token)
    except TokenIdError as error:
        st.error(markdown_literal(as_sentence(str(error))))
        return
    name, rank = vocabulary.names[row], int(vocabulary.ranks[row])
    kinds = [words for kind, words in KIND_WORDS.items() if TokenKind(int(vocabulary.kinds[row])) & kind]
    script = SCRIPTS[vocabulary.scripts[row]].replace("_", " ")
    st.markdown(f"### {markdown_literal(show_token(name[:200], isolate=True))}")
    facts = [f"id {token:,}", count_of(len(name), "byte"), script, *kinds]
    st.markdown(" · ".join(facts))
    st.code(name[:400].hex(" "), language=None, wrap_lines=True)
    if characters := _characters(vocabulary.texts[row]):
        st.caption(markdown_literal(characters))

    tree = merge_tree(chosen.tokenizer, vocabulary, token)
    if len(tree) > 1:
        left, right = (node for node in tree if node.depth == 1)
        made_of = " + ".join(markdown_literal(show_token(part.name[:60], isolate=True)) for part in (left, right))
        st.markdown(f"Made by merge {rank:,}: {made_of}")
        figure = tree_chart(tree)
        spoken = ", ".join(f"{show_token(node.name[:60])} from byte {node.start}" for node in tree[:40])
        st.plotly_chart(figure, key="merge-tree", config=_CHART, alt=f"Merge tree, from the top: {spoken}")
    elif rank >= 0:
        st.markdown("No two tokens merge into it: it is found only as a whole pre-token.")
    elif chosen.tokenizer.num_merges:
        st.markdown("No merge makes it: it is there from the start.")
    else:
        st.markdown("This tokenizer has no merges: its tokens were chosen whole, so there is no tree.")
    _show_own_text(chosen, vocabulary, row, found)


def _characters(text: str) -> str:
    """Return the code points of a token by name, without those that every keyboard has."""
    characters = dict.fromkeys(char for char in text if not " " <= char <= "~")
    names = [
        f"{show_token(char.encode())} U+{ord(char):04X} {unicodedata.name(char, '')}".strip() for char in characters
    ]
    more = len(names) - _MOST_CHARACTERS
    return ", ".join(names[:_MOST_CHARACTERS]) + (f", and {more:,} more" if more > 0 else "")


def _show_own_text(chosen: Chosen, vocabulary: Vocabulary, row: int, found: Reachability | None) -> None:
    """What encoding the token's own text gives, and where else the token occurs."""
    reason = Reason.UNCHECKED if found is None else Reason(int(found.reasons[row]))
    if reason is Reason.UNCHECKED:
        return
    st.markdown(REASON_SENTENCES[reason])
    token = int(vocabulary.ids[row])
    if reason in _CUT_ELSEWHERE:
        parts = _encoded(chosen, vocabulary.texts[row])
        st.markdown(f"It becomes {markdown_literal(parts)}.")
    if reason in (*_CUT_ELSEWHERE, Reason.PARTIAL):
        st.markdown(_context_sentence(chosen, token))


def _encoded(chosen: Chosen, text: str) -> str:
    """Return the tokens of a text, as a reader reads them."""
    name = chosen.tokenizer.token_bytes
    ids = encode_marked(chosen.tokenizer, text)
    return " | ".join("unknown" if token == UNKNOWN_ID else show_token(name(token), isolate=True) for token in ids)


def _context_sentence(chosen: Chosen, token: int) -> str:
    context = compute.context_of(chosen.key, token, chosen.tokenizer)
    if context is None:
        return "None of some thousand short texts that hold these bytes has it either."
    return (
        f"Inside a longer text it does occur: {markdown_literal(show_token(context.encode(), isolate=True))} becomes "
        f"{markdown_literal(_encoded(chosen, context))}."
    )


# ---------------------------------------------------------------------------------------------- histograms


def show_histograms(vocabulary: Vocabulary, rows: NDArray[np.int64]) -> None:
    """Lengths and scripts of what was found, in front of all tokens."""
    every = np.arange(len(vocabulary))
    left, right = st.columns(2)
    with left:
        lengths, found = count_lengths(vocabulary, every), count_lengths(vocabulary, rows)
        st.markdown("**How long are tokens?**")
        mean = float(vocabulary.num_bytes[rows].mean()) if len(rows) else 0.0
        st.markdown(
            f"{mean:.2f} bytes on average over the {count_of(len(rows), 'token')} found; "
            f"{int(found[MOST_LENGTHS + 1 :].sum()):,} are longer than {MOST_LENGTHS} bytes."
        )
        st.plotly_chart(
            length_chart(lengths, found),
            key="lengths",
            config=_CHART,
            alt="Tokens found by length in bytes: "
            + ", ".join(f"{length}: {count:,}" for length, count in enumerate(found.tolist()) if count),
        )
    with right:
        scripts, found = count_scripts(vocabulary, every), count_scripts(vocabulary, rows)
        st.markdown("**What are they written in?**")
        shown, folded = script_order(scripts)
        st.markdown(_script_sentence(found))
        st.plotly_chart(
            script_chart(scripts, found),
            key="scripts",
            config=_CHART,
            alt="Tokens found by script: " + ", ".join(f"{SCRIPTS[i]}: {int(found[i]):,}" for i in [*shown, *folded]),
        )


def _script_sentence(found: NDArray[np.int64]) -> str:
    most = int(np.argmax(found))
    total = int(found.sum())
    if not total:
        return "Nothing was found, so there is nothing to count."
    num_scripts = int(np.count_nonzero(found[3:]))
    return (
        f"{100 * found[most] / total:.1f} % of those found: {SCRIPTS[most].replace('_', ' ')}. "
        f"{count_of(num_scripts, 'script')} in all."
    )


# ---------------------------------------------------------------------------------------------- reachability


def show_unproduced(chosen: Chosen, vocabulary: Vocabulary) -> None:
    """Tokens that their own text does not produce, by reason; the candidates for glitch tokens; published ones."""
    st.subheader("Which tokens does their own text not give back?")
    st.markdown(
        "Each token's bytes are read as a text and encoded again. Mostly the token comes back; where not, it can be "
        "met only inside longer texts, or never."
    )
    found = _analysed(chosen, vocabulary)
    _show_reasons(found, vocabulary)
    _show_rows(chosen, vocabulary, found)
    _show_glitches(chosen, found, vocabulary)


def _analysed(chosen: Chosen, vocabulary: Vocabulary) -> Reachability:
    """Return the analysis, known or new; a long one shows how far it is and can be stopped."""

    def label(job: Job[Reachability]) -> str:
        left = job.seconds_left
        pace = f", about {left:,.0f} s left" if left is not None else ""
        return f"Encoding each token's own text: {job.done:,} of {count_of(job.asked, 'token')}{pace}"

    return waiting.awaited(
        state.ANALYSIS_JOB,
        compute.analyses(),
        chosen.key,
        lambda job: compute.analyse(chosen.tokenizer, vocabulary, job.report),
        label=label,
        stop="Stop here and show what was found",
        gives_part=True,
        keep=lambda found: found.num_checked == len(vocabulary),
    )


def _show_reasons(found: Reachability, vocabulary: Vocabulary) -> None:
    if found.num_checked < len(vocabulary):
        st.info(f"Stopped: {found.num_checked:,} of {len(vocabulary):,} tokens were checked.")
    counts = {reason: found.count(reason) for reason in Reason if reason is not Reason.UNCHECKED}
    lines = [f"- **{count:,}** · {REASON_SENTENCES[reason]}" for reason, count in counts.items() if count]
    st.markdown("\n".join(lines))


def _show_rows(chosen: Chosen, vocabulary: Vocabulary, found: Reachability) -> None:
    rows = np.concatenate([found.rows(*reasons) for reasons in (_STRANGE, _BY_DESIGN)])
    if not len(rows):
        st.markdown("Every token that has a text of its own comes back from it.")
        return
    listed = rows[:_MOST_LISTED].tolist()
    contexts = [
        compute.context_of(chosen.key, int(vocabulary.ids[row]), chosen.tokenizer) for row in listed[:_MOST_CONTEXTS]
    ]
    shown_contexts = ["" if context is None else show_token(context.encode()) for context in contexts]
    table = pd.DataFrame(
        {
            "id": vocabulary.ids[listed],
            "token": [show_token(vocabulary.names[row]) for row in listed],
            "why": [REASON_WORDS[Reason(int(found.reasons[row]))] for row in listed],
            "its own text becomes": [_encoded(chosen, vocabulary.texts[row]) for row in listed],
            "but it occurs in": shown_contexts + [""] * (len(listed) - len(contexts)),
        }
    )
    st.markdown(f"**{count_of(len(rows), 'token')} that their own text never gives:**")
    st.dataframe(table, hide_index=True, key="unproduced")
    if len(listed) < len(rows):
        st.caption(f"The first {len(listed):,} are listed.")


def _show_glitches(chosen: Chosen, found: Reachability, vocabulary: Vocabulary) -> None:
    """Candidates computed here, and examples published by others, kept apart."""
    # A space put in front of a text spares the inside of words; a composed text never holds what is not composed.
    composes = isinstance(chosen.tokenizer, RankTokenizer) and chosen.tokenizer.normalizer != "none"
    num_candidates = len(found.rows(*_STRANGE, Reason.NOT_UTF8, *([Reason.NORMALIZED] if composes else [])))
    st.subheader("Candidates for glitch tokens")
    st.markdown(
        f"A model can only learn a token that its training text produced. **{count_of(num_candidates, 'token')}** of "
        "this vocabulary are candidates for never having been seen: no text gives them, or only texts in which "
        "something else stands beside them. A vocabulary shows that a token exists, not how a model behaves on it: "
        "that takes the model."
    )
    examples = [example for example in GLITCH_EXAMPLES if example.text]
    ids = [chosen.tokenizer.encode(example.text) if _is_encodable(chosen, example.text) else [] for example in examples]
    table = pd.DataFrame(
        {
            "published example": [show_token(example.text.encode()) for example in examples],
            "in this vocabulary": [f"one token, id {got[0]:,}" if len(got) == 1 else _many(len(got)) for got in ids],
            "published for": [example.tokenizer for example in examples],
            "source": [example.source for example in examples],
        }
    )
    st.dataframe(table, hide_index=True, key="glitches")
    st.caption("The examples are quoted from their sources; that they are one token or several is computed here.")


def _is_encodable(chosen: Chosen, text: str) -> bool:
    return bool((chosen.tokenizer.history(text).final_ids >= 0).all())


def _many(num_tokens: int) -> str:
    return f"{num_tokens:,} tokens" if num_tokens else "unknown characters"


def show_sources() -> None:
    """Where the ideas come from."""
    with st.expander("Sources"):
        st.markdown(
            "- Under-trained tokens, and finding them from vocabulary and model: Land and Bartolo (2024), "
            "*Fishing for Magikarp*, arXiv 2405.05417.\n"
            "- The first published list: Rumbelow and Watkins (2023), *SolidGoldMagikarp*, LessWrong.\n"
            "- Scripts: the Unicode property *Script*; a token is of a script if all its letters are."
        )
