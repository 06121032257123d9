"""Unicode: one look, several encodings; characters that take several tokens, and tokens that hold part of one."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bpe.quirks import TextToken, decode_prefixes, normal_forms, tokens_of
from ui import state
from ui.choosing import Chosen
from ui.quirks.controls import example_buttons, short_text
from ui.quirks.strips import Strip, counts_of, show_strips
from ui.stage.names import code_point_name
from ui.text import count_of, show_token

__all__ = ["code_point_table", "show"]

_EXAMPLES = {
    "accents": "Café naïve ﬁancé",
    "family": "👩‍👩‍👧‍👦",
    "flags and skin": "🇩🇪 👍🏽 🏳️‍🌈 1️⃣",
    "Hangul": "안녕하세요",
    "Devanagari": "नमस्ते",
    "width": "ＡＢＣ ABC ①②",
}


def show(chosen: Chosen) -> None:
    """Draw the normal forms, the partial characters and the code points of a text."""
    st.subheader("Is what looks the same the same?")
    example_buttons(state.PHRASE, _EXAMPLES)
    text = short_text("Text", _EXAMPLES["accents"] + " 👩‍👩‍👧‍👦", state.PHRASE)
    if not text:
        st.info("There is no text yet: type some, or take an example.")
        return
    _show_forms(chosen, text)
    st.divider()
    tokens = tokens_of(chosen.tokenizer, text)
    _show_partial(tokens)
    with st.expander("Code points, and the tokens that hold them"):
        st.dataframe(code_point_table(text, tokens), hide_index=True, width="stretch")


def _show_forms(chosen: Chosen, text: str) -> None:
    forms = normal_forms(text)
    names: dict[str, list[str]] = {}
    for name, form in {"as typed": text, **forms}.items():
        names.setdefault(form, []).append(name)
    strips = []
    for form, same in names.items():
        tokens = tokens_of(chosen.tokenizer, form)
        strips.append(Strip(" = ".join(same), f"{counts_of(tokens)} · {count_of(len(form), 'code point')}", tokens))
    composed, decomposed = (len(tokens_of(chosen.tokenizer, forms[form])) for form in ("NFC", "NFD"))
    st.markdown(
        f"Composed (NFC) it is **{count_of(composed, 'token')}**, decomposed (NFD) **{count_of(decomposed, 'token')}**"
        + (", though both look alike." if forms["NFC"] != forms["NFD"] else "; here the two are the same text.")
    )
    show_strips(strips, key="form-strips")
    st.caption("Byte-level BPE does not normalize: two files that look alike can be different to a model.")


def _show_partial(tokens: list[TextToken]) -> None:
    st.subheader("Can a text be cut after any token?")
    if not tokens:
        st.info("This tokenizer makes no token of this text: there is nothing to cut.")
        return
    partial = sum(token.is_partial for token in tokens)
    st.markdown(
        f"{partial:,} of {count_of(len(tokens), 'token')} hold part of a character, shown as bytes. "
        "Decode the first tokens only:"
    )
    shown = 1
    if len(tokens) > 1:  # a slider needs two ends
        shown = st.slider("Tokens to decode", 1, len(tokens), len(tokens) // 2)
    decoded, num_lost = decode_prefixes(tokens)[shown - 1]
    st.code(decoded, language=None, wrap_lines=True)
    if num_lost:
        st.markdown(
            f"The last {count_of(num_lost, 'byte')} are part of a character: as text they become U+FFFD, and "
            "what they were cannot be told from it. Keep token ids, or bytes, when you cut."
        )
    else:
        st.markdown(f"After {count_of(shown, 'token')} the text ends between two characters: nothing is lost.")


def code_point_table(text: str, tokens: list[TextToken]) -> pd.DataFrame:
    """Return a row for each code point: what it is, its bytes, and which tokens (from 1) hold them.

    With a tokenizer that changes the text first, the tokens are told only as far as both agree.
    """
    owner = [place for place, (_, name) in enumerate(tokens, start=1) for _ in name]
    rows = []
    start = 0
    for char in text:
        data = char.encode()
        places = sorted(set(owner[start : start + len(data)]))
        rows.append(
            {
                "character": show_token(data),
                "code point": f"U+{ord(char):04X}",
                "name": code_point_name(char),
                "bytes": data.hex(" "),
                "tokens": ", ".join(map(str, places)),
            }
        )
        start += len(data)
    return pd.DataFrame(rows, columns=["character", "code point", "name", "bytes", "tokens"])
