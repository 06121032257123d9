"""The payload: what is packed is what is read back, for texts of every kind."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bpe import MergeRows, TrainSettings, train
from bpe.errors import SettingsError
from bpe.lifetimes import INSIDE, NEVER, WALL, History
from ui.stage.names import pack_names
from ui.stage.payload import StageOptions, StageView, build_payload, read_head, with_head

TEXTS = ["low low lower", "a", "", "na\u00efve \u5b57\u5b57 \ud55c\ud55c \U0001f469\u200d\U0001f680", "aaaa\r\n\taaaa"]
SETTINGS = [
    TrainSettings(num_merges=20, min_pair_count=1),
    TrainSettings(num_merges=20, min_pair_count=1, base="chars"),
    TrainSettings(num_merges=20, min_pair_count=1, base="chars", split="whitespace", end_of_word="separate"),
    TrainSettings(num_merges=20, min_pair_count=1, base="chars", split="whitespace", end_of_word="attached"),
]


def sections_of(payload: bytes) -> dict[str, np.ndarray]:
    """Read every section as the browser does."""
    head = read_head(payload)
    body = 4 + int.from_bytes(payload[:4], "little")
    arrays = {}
    for name, (offset, length, kind) in head["sections"].items():
        start = body + offset
        assert start % 8 == 0, f"section {name} is not aligned"
        arrays[name] = np.frombuffer(payload[start : start + length], dtype=f"<{kind}")
    return arrays


def payload_of(text: str, settings: TrainSettings, **changes: object) -> tuple[bytes, History]:
    training = train(text, settings)
    history = training.history(text)
    arguments = {"num_merges": training.num_merges, "step": 0} | changes
    names = training.tokenizer.base_names()
    return build_payload([StageView(history)], training.rows, names, **arguments), history


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: f"{s.base}-{s.end_of_word}")
@pytest.mark.parametrize("text", TEXTS)
def test_cuts_in_the_payload_are_the_tokens_of_the_history(text: str, settings: TrainSettings) -> None:
    payload, history = payload_of(text, settings)
    sections = sections_of(payload)
    assert sections["text0"].tobytes() == history.text
    assert sections["final_ids0"].tolist() == history.final_ids.tolist()
    for step in range(history.num_merges + 1):
        cuts = np.flatnonzero(sections["lifetimes0"] >= step) + 1
        assert [0, *cuts.tolist(), len(history.text)][: len(cuts) + 2 if history.text else 1] == (
            history.token_offsets(step).tolist()
        )


def test_lifetimes_take_two_bytes_until_the_ranks_no_longer_fit() -> None:
    lifetimes = np.array([0, NEVER, 31_998, 5], dtype=np.int32)
    history = History(
        text="aébcd".encode(),
        offsets=np.array([0, 1, 3, 4, 5, 6]),
        lifetimes=lifetimes,
        walls=lifetimes == NEVER,
        num_merges=31_999,
        final_ids=np.zeros(2, dtype=np.int64),
    )
    none = np.zeros(0, dtype=np.int64)
    rows = MergeRows(none, none, none, none)
    small = build_payload([StageView(history)], rows, {}, num_merges=31_999, step=0)
    large = build_payload([StageView(replace(history, num_merges=50_000))], rows, {}, num_merges=50_000, step=0)
    assert sections_of(small)["lifetimes0"].tolist() == [0, INSIDE, 32_766, 31_998, 5]
    assert sections_of(small)["lifetimes0"].dtype == np.int16
    assert sections_of(large)["lifetimes0"].tolist() == [0, INSIDE, WALL, 31_998, 5]


def test_counts_above_32_bits_survive_and_unknown_ones_are_left_out() -> None:
    rows = MergeRows(*(np.array([column]) for column in (0, 97, 97, 256, 2**40)))
    history = train("aa", TrainSettings(num_merges=1, min_pair_count=1)).history("aa")
    sections = sections_of(build_payload([StageView(history)], rows, {97: b"a"}, num_merges=1, step=0))
    assert sections["count"].tolist() == [2**40]
    assert "num_tied" not in sections


def test_names_of_tokens_keep_their_ids() -> None:
    names = {300: b"<|end|>", 0: b"!", 5: "é".encode()}
    empty = train("", TrainSettings(num_merges=1))
    history = empty.history("")
    sections = sections_of(build_payload([StageView(history)], empty.rows, names, num_merges=0, step=0))
    ends = sections["base_ends"].tolist()
    joined = sections["base_bytes"].tobytes()
    read = {
        token_id: joined[start:end]
        for token_id, start, end in zip(sections["base_ids"].tolist(), [0, *ends], ends, strict=False)
    }
    assert read == names


def test_id_is_of_the_drawing_not_of_the_step_or_the_options() -> None:
    payload, _ = payload_of(TEXTS[0], SETTINGS[0])
    other_step, _ = payload_of(TEXTS[0], SETTINGS[0], step=3, options=StageOptions(marks=True))
    other_text, _ = payload_of(TEXTS[0] + "!", SETTINGS[0])
    assert read_head(payload)["id"] == read_head(other_step)["id"]
    assert read_head(payload)["id"] != read_head(other_text)["id"]
    assert read_head(other_step)["step"] == 3
    shown = {"marks": True, "walls": False, "bytes": False, "ids": False, "speed": 15}
    assert read_head(other_step)["options"] == shown


def test_id_tells_titles_apart() -> None:
    training = train(TEXTS[0], SETTINGS[0])
    names = training.tokenizer.base_names()
    ids = [
        read_head(
            build_payload(
                [StageView(training.history(TEXTS[0]), title)],
                training.rows,
                names,
                num_merges=training.num_merges,
                step=0,
            )
        )["id"]
        for title in ("one", "two")
    ]
    assert ids[0] != ids[1]


def test_with_head_changes_only_the_head() -> None:
    payload, _ = payload_of(TEXTS[3], SETTINGS[0])
    changed = with_head(payload, step=2, turn=7)
    assert read_head(changed) == read_head(payload) | {"step": 2, "turn": 7}
    for name, values in sections_of(payload).items():
        assert np.array_equal(sections_of(changed)[name], values)


@pytest.mark.parametrize("step", [-1, 21])
def test_step_outside_the_merges_is_refused(step: int) -> None:
    with pytest.raises(SettingsError, match="step must be 0 to"):
        payload_of(TEXTS[0], SETTINGS[0], step=step)


def test_history_of_another_tokenizer_is_refused() -> None:
    with pytest.raises(SettingsError, match="every history must come from"):
        payload_of(TEXTS[0], SETTINGS[0], num_merges=4)


@pytest.mark.parametrize("num_views", [0, 3])
def test_other_than_one_or_two_views_are_refused(num_views: int) -> None:
    training = train(TEXTS[0], SETTINGS[0])
    view = StageView(training.history(TEXTS[0]))
    with pytest.raises(SettingsError, match="one or two views"):
        build_payload([view] * num_views, training.rows, {}, num_merges=training.num_merges, step=0)


def test_head_is_plain_ascii_json_whatever_the_title() -> None:
    training = train("", TrainSettings(num_merges=1))
    view = StageView(training.history(""), title="\u202e\u00e9\U0001f600 </script>")
    payload = build_payload([view], training.rows, {}, num_merges=0, step=0)
    length = int.from_bytes(payload[:4], "little")
    head = payload[4 : 4 + length]
    assert head.isascii()
    assert json.loads(head)["views"] == [{"title": view.title}]


def test_names_are_one_line_each_and_computed_ones_are_left_out() -> None:
    lines = pack_names(["b\na\u4e2d\ud55c"]).decode().split("\n")
    assert lines == ["a LINE FEED", "57 LATIN SMALL LETTER A", "1 LATIN SMALL LETTER B"]
