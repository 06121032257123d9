"""Controls that turn what the reader does into plain values: a text, a tokenizer, a corpus, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe import SPLIT_PATTERNS, TrainSettings
from bpe.corpus import clean_text, decode_text, encoding_candidates, parse_word_counts
from bpe.errors import CorpusError
from bpe.samples import Sample, list_samples, load_sample, load_word_counts
from bpe.settings import Base, EndOfWord, TieBreak
from bpe.tokenizer import Special
from ui import choosing, frame, state
from ui.choosing import Chosen
from ui.compute import Corpus
from ui.limits import LIMITS
from ui.saved_view import reopened
from ui.text import count_of, markdown_literal
from ui.text_area import text_area

__all__ = [
    "EXAMPLES",
    "choose_corpus",
    "choose_sample",
    "choose_settings",
    "choose_tokenizer",
    "enter_sentence",
    "enter_text",
]

MOST_UPLOAD_BYTES = LIMITS.upload_mb * 10**6
MOST_TYPED_CHARS = LIMITS.typed_chars
MOST_MERGES = 50_000
_DEFAULT_MERGES = 500
_MOST_SPECIAL = 12

EXAMPLES = {
    "First look": ("How many r's are in strawberry? Count them in 안녕하세요, 1,234,567 and 👩‍👩‍👧‍👦."),
    "Spelling": "strawberry Strawberry  strawberry STRAWBERRY. supercalifragilistic, unhappy, lowest",
    "Code": (
        "def fizz(n: int) -> str:\n    for i in range(1, n + 1):\n        if i % 15 == 0:\n"
        '            print("FizzBuzz")  # four spaces a level\n\treturn "a tab instead"\n'
    ),
    "Digits": (
        "1 12 123 1234 12345 1234567890\n1,234,567 + 765,432 = 1,999,999\n2249 2250 2251 2252, 3.14159, 2024-02-29"
    ),
    "Languages": (
        "All human beings are born free and equal.\nTodos los seres humanos nacen libres e iguales.\n"
        "人人生而自由。\nすべての人間は、生まれながらにして自由である。\nसभी मनुष्य जन्म से स्वतन्त्र हैं।\n"
        "يولد جميع الناس أحرارا متساوين.\nมนุษย์ทั้งหลายเกิดมามีอิสระ\nმოქალაქე თავისუფალია.\n"
    ),
    "Emoji": "👍 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 🇯🇵 1️⃣ ❤️‍🔥 ☕︎ e\u0301 é Z̸͓̕a̴l̷g̶o",
}
"""Example name -> text. The first one is what the app opens on."""


# ---------------------------------------------------------------------------------------------- text


@dataclass(frozen=True)
class TextChoice:
    """The text to look at and what was done to it on the way in."""

    text: str
    notices: tuple[str, ...]


def enter_text(examples: Mapping[str, str] = EXAMPLES) -> TextChoice:
    """Draw examples, a text area and an upload; return the text of whichever was used last.

    An uploaded file stands in for the text area as long as it is there; the typed text is kept. The first example
    is what the page opens on.
    """
    default = next(iter(examples.values()))
    state.open_linked_text(default)
    with st.container(horizontal=True, gap="small"):
        for name, text in examples.items():
            st.button(name, key=f"example-{name}", on_click=_take_example, args=(text,))
    typed = text_area(
        "Text",
        state.TEXT_AREA,
        height=120,
        max_chars=MOST_TYPED_CHARS,
        help=f"Up to {count_of(MOST_TYPED_CHARS, 'character')}; longer texts as a file. Ctrl+Enter applies.",
    )
    with st.expander("Or open a text file", expanded=False):
        uploaded = _upload(state.UPLOAD)
    if uploaded is not None:
        return uploaded
    choice = TextChoice(*clean_text(typed))
    if not state.link_text(choice.text, default):
        st.caption("This text is too long for the link in the address bar; everything else is in it.")
    return choice


def _take_example(text: str) -> None:
    state.put(state.TEXT_AREA, text)


def _upload(key: str) -> TextChoice | None:
    """Draw an upload and return its text, None without a file. Unreadable files end in a sentence."""
    file: UploadedFile | state.ReopenedFile | None = st.file_uploader(
        f"A text file of at most {MOST_UPLOAD_BYTES // 10**6} MB, in any common encoding",
        key=key,
        max_upload_size=MOST_UPLOAD_BYTES // 10**6,
    )
    if file is None:
        file = next(iter(reopened(key)), None)
    if file is None:
        return None
    data = file.getvalue()
    try:
        decoded = decode_text(data, max_bytes=MOST_UPLOAD_BYTES, name=file.name)
    except CorpusError as error:
        candidates = encoding_candidates(data) if len(data) <= MOST_UPLOAD_BYTES else ()
        if not candidates:
            raise
        st.warning(markdown_literal(str(error)))
        encoding = st.selectbox("Encoding of this file", candidates, key=f"{key}-{state.ENCODING}")
        decoded = decode_text(data, encoding=encoding, max_bytes=MOST_UPLOAD_BYTES, name=file.name)
    notices = (f"Showing the file {file.name} ({count_of(len(data), 'byte')}, {decoded.encoding}).", *decoded.notices)
    return TextChoice(decoded.text, notices)


# ---------------------------------------------------------------------------------------------- tokenizer


def choose_tokenizer() -> tuple[Chosen, Special]:
    """Draw the choice of a tokenizer, the own one with all its steps, and of what special tokens mean."""
    choosing.bring()
    left, right = st.columns(2)
    with left:
        chosen = choosing.pick(all_steps=True)
        choosing.show_about(chosen)
    with right:
        special = choosing.choose_special()
        st.caption(_known_in_words(list(chosen.special_tokens)))
    return chosen, special


def _known_in_words(tokens: Sequence[str]) -> str:
    if not tokens:
        return "This tokenizer has none."
    more = len(tokens) - _MOST_SPECIAL
    listed = ", ".join(markdown_literal(token) for token in tokens[:_MOST_SPECIAL])
    return f"Known: {listed}" + (f" and {more:,} more" if more > 0 else "")


# ---------------------------------------------------------------------------------------------- corpus

_DEFAULT_CORPUS = "udhr-eng"
_SOURCES = ("sample", "upload", "paste", "word counts")


def choose_corpus() -> tuple[Corpus, tuple[str, ...]]:
    """Draw the choice of a corpus; return it with what was done to it on the way in."""
    state.check_link(state.SOURCE, _SOURCES, "kind of corpus")
    source = st.segmented_control(
        "Corpus", _SOURCES, default=_SOURCES[0], required=True, key=state.SOURCE, bind="query-params"
    )
    if source == "upload":
        choice = _upload(state.CORPUS_UPLOAD)
        if choice is None:
            st.info("Choose a file to train on. Until then nothing is trained.")
            frame.end()
            st.stop()
        return _checked(Corpus.of("Your file", choice.text)), choice.notices
    if source == "paste":
        state.offer_text(state.CORPUS_PASTE, load_sample("emoji-chat"))
        text = text_area("Text to train on", state.CORPUS_PASTE, height=160, max_chars=MOST_TYPED_CHARS)
        cleaned, notices = clean_text(text)
        return _checked(Corpus.of("Your text", cleaned)), notices
    if source == "word counts":
        return _word_table(), ()
    sample = choose_sample(_DEFAULT_CORPUS)
    return Corpus.of(sample.title, load_sample(sample.name)), ()


def _checked(corpus: Corpus) -> Corpus:
    """Return the corpus.

    Raises:
        CorpusError: it is larger than what this server trains on.
    """
    megabytes = corpus.num_bytes / 10**6
    if megabytes > LIMITS.training_mb:
        raise CorpusError(
            f"a corpus must have at most {LIMITS.training_mb:,} MB here, but this one has {megabytes:,.1f} MB: "
            "take a part of it, or run the app on your own machine, where BPE_TRAINING_MB sets the limit"
        )
    return corpus


def choose_sample(default: str) -> Sample:
    """Draw the choice of a running text that ships with the app, and say what it is."""
    samples = {sample.name: sample for sample in list_samples() if sample.kind != "words"}
    names = sorted(samples, key=lambda name: (samples[name].kind == "parallel", name))
    state.check_link(state.CORPUS, names, "sample")
    name = st.selectbox("Sample", names, index=names.index(default), key=state.CORPUS, bind="query-params")
    sample = samples[name]
    st.caption(
        f"{markdown_literal(sample.title)} · {sample.language_name} · {count_of(sample.num_bytes, 'byte')} · "
        f"{markdown_literal(sample.source)} · {markdown_literal(sample.licence)}"
    )
    return sample


def _word_table() -> Corpus:
    tables = {sample.name: sample for sample in list_samples() if sample.kind == "words"}
    state.check_link(state.TABLE, list(tables), "word table")
    name = st.segmented_control(
        "Textbook table", list(tables), default="lowest", required=True, key=state.TABLE, bind="query-params"
    )
    key = f"{state.WORD_COUNTS}-{name}"
    state.offer_text(key, "".join(f"{word}\t{count}\n" for word, count in load_word_counts(name).items()))
    text = text_area(
        "Word, tab, count: one a line",
        key,
        height=160,
        max_chars=MOST_TYPED_CHARS,
        help="Words are pre-tokens as they stand: they are not split again.",
    )
    return Corpus.of(tables[name].title, parse_word_counts(clean_text(text)[0]))


# ---------------------------------------------------------------------------------------------- settings

_SPLIT_NOTES = {
    "gpt2": "GPT-2's: words with their leading space, runs of digits, runs of other signs.",
    "cl100k": "GPT-4's: digits in groups of three, contractions in any case.",
    "o200k": "GPT-4o's: also splits where a small letter is followed by a capital.",
    "llama3": "Llama 3's: much like GPT-4's.",
    "digits": "GPT-2's, but every digit stands alone.",
    "whitespace": "Words and runs of white space.",
    "none": "The whole text is one pre-token: merges may cross spaces and lines.",
    "own": "Your regular expression; what it does not match becomes pre-tokens of its own.",
}
_MARK_NOTES = {
    "none": "Words end where the next pre-token begins; white space belongs to the text.",
    "separate": "The mark </w> is a symbol of its own, as in the first paper's example.",
    "attached": "The last character of a word carries the mark, as in subword-nmt.",
}
_TIE_NOTES = {
    "first-seen": "Among equal counts, the pair that occurs first in the corpus.",
    "lowest-ids": "Among equal counts, the pair with the lowest token ids (Hugging Face, rustbpe).",
    "greatest-pair": "Among equal counts, the pair last in the alphabet (subword-nmt).",
}
_BASE_NOTES = {
    "bytes": "256 bytes: any text can be encoded, and a rare character may be split.",
    "chars": "The characters of the corpus: nothing is split inside, new characters are unknown.",
}


def choose_settings(is_table: bool) -> TrainSettings:
    """Draw the training settings, each with its one sentence, and return them."""
    for name, notes, what in (
        (state.BASE, _BASE_NOTES, "base"),
        (state.END_OF_WORD, _MARK_NOTES, "end-of-word mark"),
        (state.SPLIT, _SPLIT_NOTES, "split pattern"),
        (state.TIE_BREAK, _TIE_NOTES, "tie rule"),
    ):
        state.check_link(name, list(notes), what)
    state.check_link_number(state.NUM_MERGES, 0, MOST_MERGES, "merges")
    state.check_link_number(state.MIN_PAIR_COUNT, 1, 1000, "as least pair count")

    first, second, third = st.expander(f"Settings: {_settings_in_words()}").columns(3)
    with first:
        num_merges = st.number_input(
            "Merges at most",
            0,
            MOST_MERGES,
            _DEFAULT_MERGES,
            step=100,
            key=state.NUM_MERGES,
            bind=state.number_binding(state.NUM_MERGES),
        )
        st.caption("Each merge adds one token to the vocabulary.")
        min_pair_count = st.number_input(
            "Least pair count", 1, 1000, 2, key=state.MIN_PAIR_COUNT, bind=state.number_binding(state.MIN_PAIR_COUNT)
        )
        st.caption("Training stops when no pair occurs so often.")
        st.caption(_limits_in_words())
    with second:
        base = _select("Start from", _BASE_NOTES, state.BASE)
        mark = _select("End-of-word mark", _MARK_NOTES, state.END_OF_WORD) if base == "chars" else "none"
    with third:
        split = "whitespace" if is_table else _select("Split pattern", _SPLIT_NOTES, state.SPLIT)
        if split == "own":
            split = st.text_input(
                "Regular expression", SPLIT_PATTERNS["gpt2"], key=state.PATTERN, max_chars=500, bind="query-params"
            )
        tie_break = _select("Ties", _TIE_NOTES, state.TIE_BREAK)
    return TrainSettings(
        base=cast(Base, base),
        end_of_word=cast(EndOfWord, mark),
        split=split or "",
        tie_break=cast(TieBreak, tie_break),
        num_merges=int(num_merges or 0),
        min_pair_count=int(min_pair_count or 1),
    )


def _limits_in_words() -> str:
    return (
        f"This server trains on up to {LIMITS.training_mb:,} MB, for up to "
        f"{count_of(LIMITS.job_seconds, 'second')}, {count_of(LIMITS.jobs_at_once, 'training')} at a time."
    )


def _select(label: str, notes: dict[str, str], key: str) -> str:
    value = st.selectbox(label, list(notes), key=key, bind="query-params")
    st.caption(markdown_literal(notes[value]))
    return value


def enter_sentence() -> str:
    """Draw the reader's own sentence, which the stage shows under the merges of the step."""
    sentence = st.text_input(
        "Your own sentence under these merges",
        "the lowest and the newest tokenizers",
        key=state.SENTENCE,
        max_chars=300,
        bind="query-params",
    )
    return clean_text(sentence or "")[0]


def _settings_in_words() -> str:
    """Return the settings of the last run in a line, to stand on the closed box."""

    def chosen(name: str, default: str) -> str:
        return str(st.session_state.get(name, st.query_params.get(name, default)))

    parts = [f"at most {chosen(state.NUM_MERGES, str(_DEFAULT_MERGES))} merges", chosen(state.BASE, "bytes")]
    if chosen(state.BASE, "bytes") == "chars" and (mark := chosen(state.END_OF_WORD, "none")) != "none":
        parts.append(f"{mark} end-of-word mark")
    parts.append(f"split {chosen(state.SPLIT, 'gpt2')}")
    parts.append(f"ties {chosen(state.TIE_BREAK, 'first-seen')}")
    return " · ".join(markdown_literal(part[:60]) for part in parts)
