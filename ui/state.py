"""The one home of widget keys, URL names and session state.

A widget that is bound to the URL has its URL name as key; the names here are what links consist of, so
they never change meaning. Everything else that outlives a rerun is a `_Session` entry.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException

from bpe import TokenizerLike, Training
from bpe.corpus import clean_text
from ui.links import LinkError, pack_text, unpack_text, unpack_texts
from ui.stage.payload import SPEEDS, SWITCHES, StageOptions
from ui.text import as_sentence
from ui.view_file import View

# URL names, which are the keys of bound widgets
TOKENIZER = "tokenizer"
SPECIAL = "special"
SOURCE = "source"
CORPUS = "corpus"
TABLE = "table"
BASE = "base"
END_OF_WORD = "mark"
SPLIT = "split"
PATTERN = "pattern"
TIE_BREAK = "tie"
NUM_MERGES = "merges"
MIN_PAIR_COUNT = "least"
SENTENCE = "sentence"
STEP = "step"
SHOWN = "shown"
SPEED = "speed"
TEXT = "z"
QUIRK = "quirk"
WORD = "word"
LETTER = "letter"
PREFIX = "stands"
INTEGER = "integer"
FIRST = "first"
SECOND = "second"
SPACED = "spaced"
VARIANT = "variant"
CASED = "cased"
PHRASE = "phrase"
STAND_IN = "bytes"
VERDICT = "verdict"
TOPIC = "topic"

PARALLEL = "parallel"
LANGUAGES = "languages"
REFERENCE = "reference"
CONTENDERS = "tokenizers"
MEASURE = "measure"
UNITS = "units"
LANGUAGES_VIEW = "view"
LEARNED_MERGES = "learned"
LEARNED_SPLIT = "learnedsplit"
READ_LANGUAGE = "read"
READ_CONTENDER = "with"
READ_UNIT = "unit"
BILL_CONTENDER = "biller"
BILL_UNIT = "per"
BILL_AMOUNT = "amount"
BILL_DOCUMENT = "document"
BILL_PRICE = "price"
BILL_WINDOW = "window"
BILL_SHAPE = "shape"
BILL_PRECISION = "precision"
BILL_LAYERS = "layers"
BILL_HEADS = "heads"
BILL_HEAD_SIZE = "headsize"
COMPARED = "compare"
COMPARE_AGAINST = "against"
COMPARE_SCORE = "score"
COMPARE_WINDOW = "holds"
COMPARE_PRICE = "rate"
ALGORITHM = "algorithm"
BENCH_KIND = "trains"
BENCH_STEP = "at"
BENCH_SIZE = "keeps"
BENCH_WORD = "try"
RACE_SIZE = "ids"
RACE_LEAST = "rarest"
LATTICE_WORD = "cutting"
NUM_BEST = "best"
ALPHA = "alpha"
SEED = "seed"
NUM_SAMPLES = "samples"
LEARNED_FROM = "learnedfrom"
LEARNED_IDS = "learnedids"
DROPOUT_TEXT = "dropped"
DROPOUT_MERGES = "mergesof"
DROP_SHARE = "p"
GREEDY_VOCABULARY = "vocabulary"
GAGE_TEXT = "data"
GAGE_LEAST = "pays"
TRIAD_NUMBER = "number"
SEARCH = "find"
SEARCH_BY = "by"
SCRIPT = "script"
KIND = "kind"
SHORTEST = "shortest"
LONGEST = "longest"
ORDER = "order"
TOKEN = "token"
COSTS_TEXT = "from"
MODEL = "model"
STORED_AS = "numbers"
TOKEN_PRICE = "permillion"
MODEL_WIDTH = "width"
MODEL_LAYERS = "depth"
MODEL_HEADS = "queryheads"
MODEL_KV_HEADS = "kvheads"
MODEL_HEAD_SIZE = "headwidth"
MODEL_MILLIONS = "millions"
MODEL_CONTEXT = "contextsize"
MODEL_TIED = "tied"

OWN_NAME = "yours"
"""What the session's own tokenizer is called in lists and links."""

# Keys of widgets that are not in the URL
TEXT_AREA = "text"
UPLOAD = "upload"
CORPUS_UPLOAD = "corpus-upload"
CORPUS_PASTE = "corpus-paste"
WORD_COUNTS = "word-counts"
ENCODING = "encoding"
TOKENIZE_STAGE = "tokenize-stage"
TRAIN_STAGE = "train-stage"
TOKEN_LIST = "token-list"
CODE = "code"
MAKE_FILES = "make-files"
PUT_AWAY = "put-away"
HUB_ID = "hub-id"
HUB_FETCH = "hub-fetch"
BROUGHT_SPLIT = "brought-split"
BROUGHT_PATTERN = "brought-pattern"
BENCH_SLIDER = "bench-slider"
BENCH_PLAYING = "bench-playing"
BENCH_ROWS = "bench-rows"
RACE_ROWS = "race-rows"
RACE_FILES = "race-files"
RACE_FILES_ASKED = "race-files-asked"
DROPOUT_ROWS = "dropout-rows"
GREEDY_ROWS = "greedy-rows"
GAGE_ROWS = "gage-rows"
TRIAD_ROWS = "triad-rows"
COMPARE_ROWS = "compare-rows"

PARALLEL_UPLOAD = "parallel-upload"
TOKENIZER_UPLOAD = "tokenizer-upload"
OWN_LANGUAGES = "own-languages"
OWN_REFERENCE = "own-reference"
LANGUAGES_CHART = "languages-chart"
READING_STAGE = "reading-stage"

TRAIN_JOB = "training-job"
ANALYSIS_JOB = "analysis-job"
COSTS_JOB = "costs-job"
COMPARE_JOB = "compare-job"
LANGUAGES_JOB = "languages-job"
CLAIMS_JOB = "claims-job"
RACE_JOB = "race-job"
SMALL_MODEL_JOB = "small-model-job"
LONGEST_MATCH_JOB = "longest-match-job"
OWN_PARALLEL = "own-parallel-text"
OWN_FILES = "own-tokenizer-files"
FILES_ASKED = "tokenizer-files-asked"
TOKENIZE_JOB = "tokenizing-job"
OWN_PLACE = "own-tokenizer-place"
LINK_FRAGMENT = "link-fragment"
SHARE_BUTTON = "share"
SHARE_LINK = "share-link"
SHARE_FILE = "share-file"
OPEN_FILE = "open-file"
VIEW_ERROR = "view-error"
WAY_OUT = "way-out"
CHART_PICTURES = "chart-pictures"

_OWN = "own-tokenizer"
_OWN_NEIGHBOURS = "own-neighbours"
_NOTICES = "link-notices"
_OPENED_LINK = "opened-link"
_OPENED_FRAGMENT = "opened-fragment"
_FIRST_TEXTS = "first-texts"
_KEPT_TEXTS = "kept-texts"
_SEEN_TEXTS = "seen-texts"
_LEFT_TEXTS = "left-texts"
_REOPENED = "reopened-files"
_OPENED_VIEW = "opened-view"
_JOURNEYS = "journeys"
_PAGE = "page"
_STEP_IN_ADDRESS = "step-in-address"
_PUT = "put"

_SLOWEST_LINE_SECONDS = 2.0  # from a click until the browser knows what it has set

_AMOUNT = r"-?[0-9]{1,15}(\.[0-9]{1,15})?"

# Text areas whose text a link brings along, and lines that the address holds as they are typed
_TEXT_AREAS = (TEXT_AREA, CORPUS_PASTE, CODE, GAGE_TEXT)
_TYPED_LINES = (
    *(SENTENCE, PATTERN, WORD, LETTER, PREFIX, INTEGER, FIRST, SECOND, SPACED, VARIANT, CASED, PHRASE),
    *(BENCH_WORD, LATTICE_WORD, DROPOUT_TEXT, GAGE_TEXT, TRIAD_NUMBER, SEARCH),
)


@dataclass(frozen=True)
class OwnTokenizer:
    """The tokenizer of this session.

    training   what was trained;   key   its digest;   corpus   what on;   step   where its reader looks
    """

    training: Training
    key: str
    corpus: str
    step: int


def own_tokenizer() -> OwnTokenizer | None:
    """Return the session's own tokenizer, if one was trained."""
    return st.session_state.get(_OWN)


def set_own_tokenizer(own: OwnTokenizer) -> None:
    """Make a tokenizer the session's own: every page can use it from now on."""
    st.session_state[_OWN] = own


@dataclass(frozen=True)
class OwnNeighbour:
    """A tokenizer of another algorithm that this session has trained. It has no steps.

    tokenizer   with the verbs of every tokenizer;   key   its digest;   about   one line on what it learned from
    """

    tokenizer: TokenizerLike
    key: str
    about: str


def own_neighbours() -> dict[str, OwnNeighbour]:
    """Return the session's tokenizers of other algorithms, by the name that lists and links have for them."""
    return st.session_state.get(_OWN_NEIGHBOURS, {})


def set_own_neighbours(neighbours: Mapping[str, OwnNeighbour]) -> None:
    """Make tokenizers of other algorithms the session's own, instead of those before."""
    st.session_state[_OWN_NEIGHBOURS] = dict(neighbours)


# ---------------------------------------------------------------------------------------------- put into widgets


class _Put(NamedTuple):
    """What was put into a widget, what that held before, and until when an old message may bring that back."""

    value: object
    before: object
    until: float


def put(key: str, value: object) -> None:
    """Set a widget for the reader, who has pressed something else, or opened a link."""
    before = st.session_state.get(key)
    st.session_state[key] = value
    if value == before:
        _values_put().pop(key, None)
    else:
        _values_put()[key] = _Put(value, before, time.monotonic() + _SLOWEST_LINE_SECONDS)


def put_back() -> None:
    """Set again what was put and an older message has undone.

    Call it first in each run, also in those of parts with a clock of their own. With every run the browser tells what
    all its widgets hold; a message that it sent before it heard of the value that was put would bring the old one back.
    """
    values = _values_put()
    for key, (value, before, until) in list(values.items()):
        if time.monotonic() > until:
            del values[key]
        elif key in st.session_state and st.session_state[key] == before:
            with suppress(StreamlitAPIException):  # drawn already with that value: the back button's address rules
                st.session_state[key] = value


def _values_put() -> dict[str, _Put]:
    values: dict[str, _Put] = st.session_state.setdefault(_PUT, {})
    return values


# ---------------------------------------------------------------------------------------------- links


def check_link(name: str, allowed: Sequence[str], what: str) -> None:
    """Note when the link asks for a value that there is none of; the widget then takes its default.

    Call it before the widget is drawn: a bound widget drops such a value from the URL without a word.
    """
    asked = st.query_params.get(name)
    if asked is not None and asked not in allowed:
        note(f"The link asks for the {what} {asked[:40]!r}, which is not to be had here.")
        if not asked:  # a segmented control would take it for "none chosen", even where one is required
            _leave_out(name)


def _leave_out(name: str) -> None:
    """Run the page again without this part of the link: a bound widget would fail on it, or take half of it."""
    with suppress(StreamlitAPIException):  # a widget is bound to it already: that one keeps the URL right itself
        st.query_params.pop(name, None)
        st.rerun()


def check_link_each(name: str, allowed: Sequence[str], what: str) -> None:
    """Note which of several values in the link there are none of; the others are taken."""
    missing = [asked for asked in st.query_params.get_all(name) if asked not in allowed]
    if missing:
        listed = ", ".join(repr(asked[:40]) for asked in missing[:3]) + (" and more" if len(missing) > 3 else "")
        note(f"The link asks for the {what} {listed}, not to be had here: left out.")


def drop_unknown(key: str, allowed: Sequence[str]) -> None:
    """Forget what a widget was set to where that is no longer on offer; the widget then takes its default.

    Call it before the widget is drawn, where its options depend on other controls.
    """
    value = st.session_state.get(key)
    if isinstance(value, list):
        if any(one not in allowed for one in value):
            st.session_state[key] = [one for one in value if one in allowed]
    elif value is not None and value not in allowed:
        del st.session_state[key]


def check_link_number(name: str, least: int, most: int, what: str) -> None:
    """Note when the link asks for a number out of range; the widget then takes its default.

    For whole numbers. Of 5.7 the widget would take the 5, so it never sees it.
    """
    asked = st.query_params.get(name)
    if asked is None:
        return
    number = _number(asked)
    if number is None or not least <= number <= most:
        note(f"The link asks for {asked[:20]!r} {what}; it must be a whole number from {least:,} to {most:,}.")
        _leave_out(name)


def _number(asked: str) -> int | None:
    """Return the number that a link asks for; None for what is none, or longer than any number of this app."""
    return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 16 else None


def number_binding(name: str) -> Literal["query-params"] | None:
    """Return the `bind` of a number input: none while the link holds what is no number of sensible length.

    Streamlit turns a bound value into a number before it looks at the range, and `inf` or three hundred digits end
    in an error there. Such a value is dropped from the link, and the next run binds again.
    """
    asked = st.query_params.get(name)
    if asked is None or re.fullmatch(_AMOUNT, asked):
        return "query-params"
    note(f"The link asks for {asked[:20]!r} where a number belongs; the default is shown.")
    st.query_params.pop(name, None)
    return None


def check_link_amount(name: str, least: float, most: float, what: str) -> None:
    """Note when the link asks for an amount, whole or not, that is none or out of range.

    Call it before a bound slider or number input, which takes its default without a word.
    """
    asked = st.query_params.get(name)
    if asked is None:
        return
    try:
        is_allowed = re.fullmatch(_AMOUNT, asked) is not None and least <= float(asked) <= most
    except ValueError:
        is_allowed = False
    if not is_allowed:
        note(f"The link asks for {asked[:20]!r} {what}; it must be a number from {least:,} to {most:,}.")
        _leave_out(name)


def check_link_switch(name: str, what: str) -> None:
    """Note when the link sets a check box to anything but on or off: the box would drop it without a word."""
    asked = st.query_params.get(name)
    if asked is not None and asked.lower() not in ("true", "false"):
        note(f"The link asks for {asked[:20]!r} as {what}; it must be true or false.")
        _leave_out(name)


def note(notice: str) -> None:
    """Keep a sentence on what could not be taken; the page shows it where it shows such sentences."""
    notices = st.session_state.setdefault(_NOTICES, [])
    if notice not in notices:
        notices.append(notice)


def take_notices(*, keep: bool = False) -> list[str]:
    """Return what was wrong with the link, once; with `keep`, next time again."""
    return st.session_state.get(_NOTICES, []) if keep else st.session_state.pop(_NOTICES, [])


def open_linked_text(default: str) -> None:
    """Fill the text area at the first visit: from the link, else with what was typed before, else the default."""
    st.session_state.setdefault(_FIRST_TEXTS, {})[TEXT_AREA] = default
    if not _opens_anew(TEXT_AREA):
        return
    st.session_state[TEXT_AREA] = _kept_texts().get(TEXT_AREA, default)
    if TEXT in st.query_params:
        try:
            st.session_state[TEXT_AREA] = unpack_text(st.query_params[TEXT])
        except LinkError as error:
            note_link_error(error)


def has_linked_text() -> bool:
    """Whether the link brings a text along."""
    return TEXT in st.query_params


def link_text(text: str, default: str) -> bool:
    """Put the text into the URL and return True, or return False when it is too long for a link."""
    packed = "" if text == default else pack_text(text)
    if packed:
        st.query_params[TEXT] = packed
    else:
        st.query_params.pop(TEXT, None)
    return packed is not None


# ---------------------------------------------------------------------------------------------- sharing


def open_linked_texts() -> None:
    """Fill the text areas of a link that brings several texts; once, so that the reader can change them."""
    packed = st.query_params.get(TEXT)
    if packed is None or st.session_state.get(_OPENED_LINK) == packed:
        return
    st.session_state[_OPENED_LINK] = packed
    try:
        _fill(unpack_texts(packed), without=TEXT_AREA)
    except LinkError as error:
        note_link_error(error)


def offer_text(key: str, default: str) -> None:
    """Fill a text area with its default where neither the link nor the reader has given it a text."""
    st.session_state.setdefault(_FIRST_TEXTS, {})[key] = default
    if _opens_anew(key):
        st.session_state[key] = _kept_texts().get(key, default)


def enter_page(page: str) -> None:
    """Let the text areas of this page open anew when the reader comes from another one.

    In the first run here Streamlit still has what the other page's text areas held, but gives it to no widget of the
    same key: that one would be empty.
    """
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state[_LEFT_TEXTS] = dict(st.session_state.get(_SEEN_TEXTS, {}))


def _opens_anew(key: str) -> bool:
    """Whether the session holds nothing for a text area, or only what another page had in one of the same key."""
    left: dict[str, str] = st.session_state.get(_LEFT_TEXTS, {})
    other = left.pop(key, None)
    if key not in st.session_state or st.session_state[key] == other:
        return True
    if other is not None:  # typed just when the page changed: without this the new widget would show nothing
        st.session_state[key] = st.session_state[key]
    return False


def keep_text(key: str) -> None:
    """Keep what a text area holds: Streamlit forgets it when the reader goes to another page.

    Call it after the widget. What the page opens on is not kept: other pages with this text area open on their own.
    """
    text = st.session_state.get(key)
    st.session_state.setdefault(_SEEN_TEXTS, {})[key] = text
    if text is None or text == st.session_state.get(_FIRST_TEXTS, {}).get(key):
        _kept_texts().pop(key, None)
    else:
        _kept_texts()[key] = text


def _kept_texts() -> dict[str, str]:
    kept: dict[str, str] = st.session_state.setdefault(_KEPT_TEXTS, {})
    return kept


def open_fragment(texts: Mapping[str, str]) -> None:
    """Fill the text areas with what stands behind the # of the link."""
    st.session_state[_OPENED_FRAGMENT] = dict(texts)
    _fill(texts)


def fragment_is_outdated() -> bool:
    """Whether the reader has changed what stands behind the # of the address."""
    opened: Mapping[str, str] = st.session_state.get(_OPENED_FRAGMENT, {})
    return any(st.session_state.get(key, text) != text for key, text in opened.items())


def _fill(texts: Mapping[str, str], without: str = "") -> None:
    """Put texts into text areas. A link is written by anybody: other keys are left alone."""
    for key, text in texts.items():
        if _is_text_area(key) and key != without:
            put(key, text)


def _is_text_area(key: object) -> bool:
    return isinstance(key, str) and (key in _TEXT_AREAS or key.startswith(f"{WORD_COUNTS}-"))


def note_link_error(error: LinkError) -> None:
    """Note why a text of the link could not be opened."""
    note(as_sentence(str(error)))


def texts_beside_address() -> dict[str, str]:
    """Return the texts of this page that the address does not hold, by the keys of their text areas."""
    defaults: Mapping[str, str] = st.session_state.get(_FIRST_TEXTS, {})
    texts = {
        str(key): clean_text(text)[0]
        for key, text in st.session_state.items()
        if _is_text_area(key) and isinstance(text, str) and text != defaults.get(str(key))
    }
    first = texts.get(TEXT_AREA)
    if first is not None and (TEXT in st.query_params or pack_text(first) is not None):
        # The address follows the first text area: without a text in it, what is shown is what the page opens on.
        del texts[TEXT_AREA]
    return texts


def address_holds_text() -> bool:
    """Whether the address holds anything that was typed as a text."""
    return any(name in st.query_params for name in (TEXT, *_TYPED_LINES))


def has_uploads() -> bool:
    """Whether this page shows a file that the reader opened."""
    return bool(uploaded_files()) or bool(st.session_state.get(TOKENIZER_UPLOAD))


def brought_files() -> dict[str, bytes]:
    """Return the files of the tokenizer that the reader has brought: name -> content."""
    return dict(st.session_state.get(OWN_FILES) or {})


_UPLOADS = (UPLOAD, CORPUS_UPLOAD, PARALLEL_UPLOAD)


@dataclass(frozen=True)
class ReopenedFile:
    """A file that came with a view: what stands in for one that the reader opens, with the same names."""

    name: str
    data: bytes

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.data)

    @property
    def file_id(self) -> str:
        """A digest of the content: another file is another id."""
        return hashlib.sha256(self.data).hexdigest()

    def getvalue(self) -> bytes:
        """Return the content."""
        return self.data


def uploaded_files() -> dict[str, dict[str, bytes]]:
    """Return the files that this session's uploads show: key of the upload -> name -> content."""
    shown: dict[str, dict[str, bytes]] = {}
    for key in _UPLOADS:
        files = st.session_state.get(key) or reopened_files(key)
        listed = files if isinstance(files, list) else [files]
        if listed:
            shown[key] = {file.name: file.getvalue() for file in listed}
    return shown


def reopened_files(key: str) -> list[ReopenedFile]:
    """Return the files that a view brought for an upload."""
    brought: Mapping[str, Mapping[str, bytes]] = st.session_state.get(_REOPENED, {})
    return [ReopenedFile(name, data) for name, data in brought.get(key, {}).items()]


def close_reopened(key: str) -> None:
    """Put away what a view brought for an upload."""
    st.session_state.get(_REOPENED, {}).pop(key, None)


def open_texts_and_files(texts: Mapping[str, str], files: Mapping[str, Mapping[str, bytes]]) -> None:
    """Take over the texts and files of a view. A view is written by anybody: other keys are left alone."""
    _fill(texts)
    _kept_texts().update({key: text for key, text in texts.items() if _is_text_area(key)})
    st.session_state[_REOPENED] = {key: dict(files[key]) for key in _UPLOADS if key in files}
    if OWN_FILES in files:
        st.session_state[OWN_FILES] = dict(files[OWN_FILES])


def set_opened_view(view: View | None) -> None:
    """Keep a view until the page has taken it over."""
    st.session_state[_OPENED_VIEW] = view


def opened_view() -> View | None:
    """Return the view that the page has to take over, if there is one."""
    return st.session_state.get(_OPENED_VIEW)


class Journey(NamedTuple):
    """Where the browser has to go: the page's place below the app's root, from which one, and what the address asks."""

    number: int
    path: str
    leaves: str
    query: str


def next_journey(path: str, leaves: str, query: Sequence[tuple[str, str]]) -> Journey:
    """Return the way to another page and address, with a number that no journey of this session had."""
    number = st.session_state[_JOURNEYS] = st.session_state.get(_JOURNEYS, 0) + 1
    return Journey(number, path, leaves, urlencode(query))


def names_own_tokenizer() -> bool:
    """Whether the address asks for the session's own tokenizer."""
    return own_tokenizer() is not None and any(
        OWN_NAME in st.query_params.get_all(name) for name in (TOKENIZER, COMPARED, CONTENDERS)
    )


# ---------------------------------------------------------------------------------------------- step


def linked_step(num_merges: int, default: int | None = None) -> int:
    """Return the step that the URL asks for, at most num_merges; without one, the default, or all merges.

    Of a step that is too large only a link is told: one that stood here before, or that the reader went to, is
    clipped without a word when there are fewer merges now.
    """
    asked = st.query_params.get(STEP)
    if asked is None:
        return num_merges if default is None else default
    step = _number(asked)
    if step is not None and step <= num_merges:
        st.session_state[_STEP_IN_ADDRESS] = asked
        return step
    is_known = st.session_state.pop(_STEP_IN_ADDRESS, None) == asked
    if step is None:
        note(f"The link asks for step {asked[:20]!r}, which is no number: all merges are shown.")
    elif not is_known:
        note(f"The link asks for step {step:,}, but there are only {num_merges:,} merges: the last is shown.")
    st.query_params.pop(STEP, None)
    return num_merges


def link_step(step: int, num_merges: int) -> None:
    """Put the step into the URL; the last one, which is the default, leaves it out."""
    if step == num_merges:
        st.query_params.pop(STEP, None)
    else:
        st.query_params[STEP] = st.session_state[_STEP_IN_ADDRESS] = str(step)


# ---------------------------------------------------------------------------------------------- what the stage shows


def check_stage_link(num_merges: int) -> None:
    """Note what of a link's step and options cannot be had: before the notices are shown, which the stage follows."""
    linked_step(num_merges)
    linked_options()


def linked_options() -> StageOptions:
    """Return what the link wants shown on the stage besides the coloured text, and how fast it plays."""
    check_link_each(SHOWN, SWITCHES, "marks on the stage")
    check_link(SPEED, [str(speed) for speed in SPEEDS], "speed")
    shown = st.query_params.get_all(SHOWN)
    speed = _number(st.query_params.get(SPEED, str(StageOptions().speed)))
    options = StageOptions(**{name: name in shown for name in SWITCHES})
    if speed in SPEEDS:
        options = replace(options, speed=speed)
    if not set(shown) <= set(SWITCHES) or speed != options.speed:
        link_options(options)  # what is not to be had leaves the address: it is said once
    return options


def link_options(options: StageOptions) -> None:
    """Put what the stage shows into the URL; what it opens with is left out."""
    shown = [name for name in SWITCHES if getattr(options, name)]
    if shown:
        st.query_params[SHOWN] = shown
    else:
        st.query_params.pop(SHOWN, None)
    if options.speed == StageOptions().speed:
        st.query_params.pop(SPEED, None)
    else:
        st.query_params[SPEED] = str(options.speed)


# ---------------------------------------------------------------------------------------------- numbers in links


def follow_link_number(name: str, key: str, most: int, what: str) -> None:
    """Set the widget `key` to the number from 0 to `most` that the link asks for, where the link is new.

    For a slider whose range changes: bound to the URL, it would take its old number again with every new range. A
    link is new at the first visit, and when the reader goes back; what `link_number` wrote is not.
    """
    record = f"{key}-linked"
    asked = st.query_params.get(name)
    is_new = key not in st.session_state or asked != st.session_state.get(record)
    if is_new and asked is not None:
        check_link_number(name, 0, most, what)
    if is_new:
        st.session_state[key] = (None if asked is None else _number(asked)) or 0
    if st.session_state[key] > most:
        st.session_state[key] = 0 if is_new else most


def link_number(name: str, key: str, number: int) -> None:
    """Put a number into the URL; 0, which is the default, leaves it out."""
    asked = str(number) if number else None
    st.session_state[f"{key}-linked"] = asked
    if asked is None:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = asked
