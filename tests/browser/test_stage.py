"""The token stage in a real browser: what is drawn is what Python says, and nothing else moves."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocket, expect

from bpe import History, TrainSettings, train
from bpe.pretrained import load_pretrained

from .conftest import at_rest, settled

APPS = Path(__file__).parent / "apps"
SCRIPT = APPS / "stage_app.py"
sys.path.insert(0, str(APPS))
from stage_texts import make_text  # noqa: E402

pytestmark = pytest.mark.browser

NUM_MERGES = 2000
# Two frames: the stage draws in one, and a script that waited for one might run before it.
NEXT_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"

Open = Callable[..., Page]


@cache
def history_of(kind: str, size: int) -> History:
    """The history that stage_app.py draws."""
    text = make_text(kind, size)
    min_pair_count = 1 if size < 5000 else 2
    return train(text, TrainSettings(num_merges=NUM_MERGES, min_pair_count=min_pair_count)).history(text)


@pytest.fixture
def open_stage(app_server: Callable[[Path], str], page: Page) -> Open:
    """Call it with the parameters of stage_app.py: a page on which the stage has drawn."""
    base = app_server(SCRIPT)

    def open_with(target: Page = page, **query: object) -> Page:
        parameters = "&".join(f"{name}={value}" for name, value in query.items())
        target.goto(f"{base}/?{parameters}")
        target.wait_for_selector(".stage[data-step]", timeout=60_000)
        settled(target)
        target.evaluate(NEXT_FRAMES)
        return target

    return open_with


def stage(page: Page, expression: str, argument: Any = None) -> Any:
    """Evaluate an expression of `stage` (the mounted Stage), `view` (its main view) and `argument`."""
    script = f"(element, argument) => {{ const stage = element.stage, view = stage.views[0]; return ({expression}); }}"
    return page.locator(".stage").evaluate(script, argument)


def set_step(page: Page, step: int) -> None:
    stage(page, "stage.setStep(argument)", step)
    page.evaluate(NEXT_FRAMES)


def drawn_tokens(page: Page, view: int = 0) -> list[tuple[int, int]]:
    """Tokens that are drawn, as byte ranges in text order."""
    boxes = stage(page, f"stage.views[{view}].boxes.map((box) => [box.start, box.end])")
    return sorted({(start, end) for start, end in boxes})


def assert_drawn_as(page: Page, history: History, step: int) -> None:
    drawn = drawn_tokens(page)
    offsets = history.token_offsets(step).tolist()
    first, last = drawn[0][0], drawn[-1][1]
    wanted = [(start, end) for start, end in pairwise(offsets) if start >= first and end <= last]
    assert drawn == wanted, f"step {step}"
    assert len(drawn) > 5
    label = page.locator(".main .count").inner_text()
    assert label == f"{history.num_tokens[step]:,} tokens"


# ----------------------------------------------------------------------------------------------------- scrubbing


def test_dragging_the_slider_draws_what_python_says_and_sends_nothing(open_stage: Open, page: Page) -> None:
    sent: list[bool] = []
    received: list[int] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda _: sent.append(True))
        socket.on("framereceived", lambda frame: received.append(len(frame)))

    page.on("websocket", listen)
    open_stage(text="mixed", size=200_000, merges=NUM_MERGES)
    assert sent, "the websocket is not observed"
    history = history_of("mixed", 200_000)
    at_rest(page.locator(".slider"))
    box = page.locator(".slider").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 9, middle)
    page.mouse.down()
    page.evaluate(NEXT_FRAMES)
    num_sent = len(sent)
    steps = []
    for i in range(20):
        page.mouse.move(box["x"] + 9 + (box["width"] - 18) * (i + 1) / 20, middle, steps=3)
        page.evaluate(NEXT_FRAMES)
        steps.append(int(page.locator(".stage").get_attribute("data-step") or -1))
        assert_drawn_as(page, history, steps[-1])
    page.wait_for_timeout(600)  # longer than the stage waits after a change: holding still sends nothing either
    assert len(sent) == num_sent
    assert steps == sorted(set(steps)), "the slider did not follow the mouse"
    assert steps[-1] == history.num_merges

    num_received = len(received)
    page.mouse.up()
    expect(page.get_by_text(f"step on the server: {steps[-1]}")).to_be_visible()
    settled(page)
    assert len(sent) > num_sent
    assert sum(received[num_received:]) < 20_000, "the whole text was sent again for one number"
    assert page.locator(".stage").get_attribute("data-step") == str(steps[-1])


def test_every_drawn_token_has_its_rectangle_and_its_cut(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES)
    for step in (0, 40, 150):
        set_step(page, step)
        paths = stage(
            page,
            """[...view.content.children].filter((block) => block.drawing).map((block) => ({
                fills: block.drawing.fills.map((path) => path.getAttribute("d") ?? "").join(""),
                cuts: block.drawing.cuts.getAttribute("d"),
                boxes: view.boxes.filter((box) => box.block === block)
                    .map(({ x0, line, start }) => [x0, view.metrics.boxTop(line), start]),
            }))""",
        )
        for block in paths:
            assert block["fills"].count("M") == len(block["boxes"])
            cuts = {tuple(map(float, cut)) for cut in re.findall(r"M([\d.]+) ([\d.]+)v", block["cuts"])}
            first_boxes: dict[int, tuple[float, float]] = {}
            for x, y, start in block["boxes"]:
                first_boxes.setdefault(start, (x + 0.5, y))
            # The first box can belong to a token that began above what is drawn.
            assert set(list(first_boxes.values())[1:]) <= cuts
            assert len(cuts) <= len(first_boxes)


@pytest.mark.parametrize("kind", ["arabic", "hindi", "thai", "chinese", "emoji", "code", "controls"])
def test_scrubbing_touches_no_text_and_moves_no_character(open_stage: Open, page: Page, kind: str) -> None:
    open_stage(text=kind, size=4000, merges=NUM_MERGES, marks="")
    history = history_of(kind, 4000)
    positions = """
        (() => {
            const range = document.createRange();
            const places = [];
            for (const chunk of view.chunks.slice(0, 4)) {
                for (const { node } of chunk.parts) {
                    for (let i = 0; i + 2 < node.length; i += 3) {
                        range.setStart(node, i);
                        range.setEnd(node, i + 1);
                        const { left, top } = range.getBoundingClientRect();
                        places.push([left, top]);
                    }
                }
            }
            return places;
        })()"""
    stage(
        page,
        """(() => {
            window.textChanges = 0;
            const count = (records) => {
                for (const { target, type, addedNodes, removedNodes } of records) {
                    const isText = (node) => node.nodeType === Node.TEXT_NODE;
                    const inDrawing = target.closest?.("svg") ?? target.parentElement?.closest("svg");
                    const touched = type === "characterData" || [...addedNodes, ...removedNodes].some(isText);
                    if (touched && !inDrawing) window.textChanges++;
                }
            };
            new MutationObserver(count).observe(view.content, { childList: true, characterData: true, subtree: true });
        })()""",
    )
    before = stage(page, positions)
    assert len(before) > 100
    for step in (1, history.num_merges // 4, history.num_merges // 2, history.num_merges, 0):
        set_step(page, step)
        assert_drawn_as(page, history, step)
        assert stage(page, positions) == before
    assert page.evaluate("window.textChanges") == 0


def test_both_texts_follow_one_step(open_stage: Open, page: Page) -> None:
    own = "They walk towards conscience"
    open_stage(text="english", size=20_000, merges=NUM_MERGES, own=own.replace(" ", "%20"))
    text = make_text("english", 20_000)
    training = train(text, TrainSettings(num_merges=NUM_MERGES))
    history = training.tokenizer.history(own)
    for step in (0, 30, training.num_merges):
        set_step(page, step)
        wanted = list(pairwise(history.token_offsets(step).tolist()))
        assert drawn_tokens(page, view=1) == wanted
        count = page.locator(".own .count").inner_text()
        assert count == f"{len(wanted)} token{'s' if len(wanted) != 1 else ''}"
        assert_drawn_as(page, training.history(text), step)


def test_long_text_is_drawn_wherever_the_reader_scrolls(open_stage: Open, page: Page) -> None:
    open_stage(text="mixed", size=200_000, merges=NUM_MERGES, step=700)
    history = history_of("mixed", 200_000)
    for part in (0.3, 0.9, 1, 0.5):
        stage(page, "(view.element.scrollTop = view.element.scrollHeight * argument)", part)
        page.evaluate(NEXT_FRAMES)
        page.evaluate(NEXT_FRAMES)
        assert_drawn_as(page, history, 700)


def test_ids_under_the_tokens_are_those_of_the_tokenizer(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=300, tokenizer="gpt2", step=-1, ids="")
    ids = load_pretrained("gpt2").encode(make_text("english", 300))
    drawn = stage(page, "view.boxes.map(({ start, end }) => [start, view.model.idOf(start, end, stage.step)])")
    by_start = dict(drawn)
    assert [by_start[start] for start in sorted(by_start)] == ids
    glyphs = "".join(page.locator(".main .glyphs").all_text_contents())
    assert sorted(glyphs) == sorted("".join(map(str, ids))), "an id is missing under the text"
    assert page.locator(".label").inner_text().startswith("merges used: 50,000 of 50,000 · ")


def test_steps_of_a_real_tokenizer_go_by_merges_that_act(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=100, tokenizer="gpt2", step=0)
    history = load_pretrained("gpt2").history(make_text("english", 100))
    ranks = sorted({int(rank) for rank in history.lifetimes if rank < history.num_merges})
    visited = []
    for _ in range(4):
        page.locator(".next").click()
        visited.append(stage(page, "stage.step"))
    assert visited == [rank + 1 for rank in ranks[:4]]
    page.locator(".back").click()
    assert stage(page, "stage.step") == ranks[2] + 1


# ---------------------------------------------------------------------------------------------- server and browser


def test_page_can_move_the_stage_and_its_echo_does_not(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES)
    set_step(page, 33)
    expect(page.get_by_text("step on the server: 33")).to_be_visible()
    page.get_by_role("button", name="Back to step 5").click()
    expect(page.locator(".stage")).to_have_attribute("data-step", "5")
    expect(page.get_by_text("step on the server: 5")).to_be_visible()
    # The same step as before the move: the report must not be taken for the old one.
    set_step(page, 33)
    expect(page.get_by_text("step on the server: 33")).to_be_visible()
    settled(page)
    expect(page.locator(".stage")).to_have_attribute("data-step", "33")
    page.get_by_role("button", name="Back to step 5").click()
    expect(page.locator(".stage")).to_have_attribute("data-step", "5")


def test_answer_from_the_server_does_not_disturb_a_drag(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES)
    at_rest(page.locator(".slider"))
    box = page.locator(".slider").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 9, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.evaluate(NEXT_FRAMES)
    held = stage(page, "stage.step")
    # What a page does that asks for another step meanwhile.
    stage(page, "stage.moveTo(5)")
    page.evaluate(NEXT_FRAMES)
    assert stage(page, "stage.step") == held > 5
    page.mouse.up()
    expect(page.get_by_text(f"step on the server: {held}")).to_be_visible()


def test_switches_are_reported_and_stay(open_stage: Open, page: Page) -> None:
    open_stage(text="code", size=4000, merges=NUM_MERGES, walls="")
    expect(page.locator("input[name=walls]")).to_be_checked()
    page.locator("input[name=marks]").check()
    expect(page.get_by_text("StageOptions(marks=True, walls=True, bytes=False, ids=False, speed=15)")).to_be_visible()
    set_step(page, 3)
    expect(page.get_by_text("step on the server: 3")).to_be_visible()
    expect(page.locator("input[name=marks]")).to_be_checked()
    marks = stage(page, "view.chunks[0].block.drawing.marks.getAttribute('d')")
    assert marks.count("M") > 20
    walls = stage(page, "view.chunks[0].block.drawing.walls.getAttribute('d')")
    assert walls.count("M") > 20


# ------------------------------------------------------------------------------------------------ copy and keyboard


@pytest.mark.parametrize("kind", ["english", "arabic", "emoji", "controls", "code"])
def test_select_all_and_copy_give_the_source(open_stage: Open, page: Page, kind: str) -> None:
    open_stage(text=kind, size=20_000, merges=NUM_MERGES, marks="", bytes="", ids="")
    page.focus(".main .cursor")
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == make_text(kind, 20_000)


def test_part_of_the_text_is_copied_as_its_source(open_stage: Open, page: Page) -> None:
    open_stage(text="controls", size=1000, merges=NUM_MERGES)
    copied = stage(
        page,
        """(() => {
            const { node } = view.chunks[0].parts[0];
            getSelection().setBaseAndExtent(node, 2, node, 60);
            const data = new DataTransfer();
            const event = new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true });
            view.element.dispatchEvent(event);
            return [event.defaultPrevented, data.getData("text/plain")];
        })()""",
    )
    assert copied == [True, make_text("controls", 1000)[2:60]]


def test_arrows_walk_the_tokens_and_home_and_end_the_line(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES, step=100)
    offsets = history_of("english", 20_000).token_offsets(100).tolist()
    page.focus(".main .cursor")
    press_and_read(page, "Control+Home")
    for i in range(1, 8):
        assert press_and_read(page, "ArrowRight") == offsets[i : i + 2]
    assert press_and_read(page, "ArrowLeft") == offsets[6:8]
    below = press_and_read(page, "ArrowDown")
    assert below[0] > offsets[8]
    assert press_and_read(page, "ArrowUp")[0] < below[0]
    assert press_and_read(page, "Home") == offsets[:2]
    end_of_line = press_and_read(page, "End")
    assert end_of_line[0] > offsets[7]
    assert press_and_read(page, "Control+End")[1] == offsets[-1]
    assert press_and_read(page, "ArrowRight")[1] == offsets[-1]
    assert press_and_read(page, "PageUp")[1] < offsets[-1]
    assert press_and_read(page, "Control+Home") == offsets[:2]
    assert press_and_read(page, "ArrowLeft") == offsets[:2]


def press_and_read(page: Page, key: str) -> list[int]:
    page.keyboard.press(key)
    page.evaluate(NEXT_FRAMES)
    cursor: list[int] = stage(page, "view.cursor")
    return cursor


def test_arrows_go_with_the_direction_of_the_letters(open_stage: Open, page: Page) -> None:
    open_stage(text="arabic", size=4000, merges=NUM_MERGES, step=30)
    page.focus(".main .cursor")
    start = press_and_read(page, "Control+Home")
    forward = press_and_read(page, "ArrowLeft")
    assert forward[0] == start[1]
    assert press_and_read(page, "ArrowRight") == start


def test_steps_and_places_by_key(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES, step=20)
    history = history_of("english", 20_000)
    page.focus(".main .cursor")
    page.keyboard.press(".")
    assert stage(page, "stage.step") == 21
    page.keyboard.press(",")
    page.keyboard.press(",")
    assert stage(page, "stage.step") == 19
    places = (history.byte_lifetimes() == 18).nonzero()[0].tolist()
    page.evaluate(NEXT_FRAMES)
    press_and_read(page, "Control+Home")
    first = press_and_read(page, "n")
    assert first[0] <= places[0] < first[1]
    second = press_and_read(page, "n")
    assert second[0] <= places[1] < second[1]
    assert page.locator(".note").inner_text() == f"Place 2 of {len(places)}."
    assert press_and_read(page, "p") == first
    last = press_and_read(page, "p")
    assert last[0] <= places[-1] < last[1]


def test_enter_goes_to_the_step_that_made_the_token_and_says_when_it_is_there(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES, step=150)
    history = history_of("english", 20_000)
    page.focus(".main .cursor")
    start, end = press_and_read(page, "Control+Home")
    rank = int(history.byte_lifetimes()[start : end - 1].max())
    page.keyboard.press("Enter")
    assert stage(page, "stage.step") == rank + 1
    page.evaluate(NEXT_FRAMES)
    page.keyboard.press("Enter")
    expect(page.locator(".note")).to_contain_text("This is the step that made")
    page.locator(".slider").focus()
    page.keyboard.press("Home")
    page.evaluate(NEXT_FRAMES)
    page.focus(".main .cursor")
    page.keyboard.press("Enter")
    expect(page.locator(".note")).to_contain_text("is a base symbol")


def test_slider_and_table_answer_their_keys(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES, step=50)
    num_merges = history_of("english", 20_000).num_merges
    wanted = {"ArrowRight": 51, "ArrowLeft": 50, "PageUp": 60, "PageDown": 50, "Home": 0, "End": num_merges}
    page.locator(".slider").focus()
    for key, step in wanted.items():
        page.keyboard.press(key)
        assert stage(page, "stage.step") == step, key
    page.locator(".table").focus()
    for key, step in {"Home": 0, "ArrowDown": 1, "PageDown": 11, "ArrowUp": 10, "End": num_merges}.items():
        page.keyboard.press(key)
        assert stage(page, "stage.step") == step, key
    last = f"merge-0-{num_merges - 1}"
    expect(page.locator(".row.is-current")).to_have_attribute("id", last)
    expect(page.locator(f"#{last}")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".table")).to_have_attribute("aria-activedescendant", last)
    assert page.locator(".rows .row").count() < 40


def test_click_in_the_table_goes_to_that_merge(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES)
    page.locator(".rows .row").nth(4).click()
    assert stage(page, "stage.step") == 5
    expect(page.locator(".row.is-current > :first-child")).to_have_text("4")


def test_play_runs_through_the_merges_and_pauses(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES)
    page.locator(".speed select").select_option("60")
    page.get_by_role("button", name="Play the merges").click()
    expect(page.locator(".stage")).to_have_attribute("data-step", re.compile(r"^([4-9]|\d\d+)$"))
    page.get_by_role("button", name="Pause").click()
    stopped = stage(page, "stage.step")
    expect(page.get_by_text(f"step on the server: {stopped}")).to_be_visible()
    assert stage(page, "stage.step") == stopped


# --------------------------------------------------------------------------------------------------- accessibility


def test_one_sentence_is_spoken_when_things_have_settled(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=20_000, merges=NUM_MERGES)
    stage(
        page,
        """(() => {
            window.spoken = [];
            const note = () => window.spoken.push(stage.status.textContent);
            new MutationObserver(note).observe(stage.status, { childList: true, characterData: true, subtree: true });
        })()""",
    )
    for _ in range(12):
        page.locator(".next").click()
    page.wait_for_function("() => window.spoken.length > 0")
    page.wait_for_timeout(700)
    spoken = page.evaluate("window.spoken")
    assert len(spoken) == 1
    assert spoken[0].startswith("Step 12: ")
    assert page.locator(".slider").get_attribute("aria-valuetext") == spoken[0]


def test_cursor_describes_its_token(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=300, tokenizer="gpt2", step=-1)
    page.focus(".main .cursor")
    press_and_read(page, "ArrowRight")
    page.wait_for_function("() => true")
    cursor = page.get_by_role("slider", name="Token")
    expect(cursor).to_have_attribute("aria-valuetext", re.compile(r"^·human, bytes 20 68 .+, merge [\d]+, id 1692$"))


def test_pointer_shows_a_token_in_the_panel(open_stage: Open, page: Page) -> None:
    open_stage(text="english", size=300, tokenizer="gpt2", step=-1)
    at_rest(page.locator(".main .view"))
    box = page.locator(".main .view").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 20)
    expect(page.locator(".panel")).to_contain_text("human")
    expect(page.locator(".panel")).to_contain_text("1692")
    page.mouse.move(box["x"] + 60, box["y"] - 60)
    expect(page.locator(".panel")).to_contain_text("3237")  # back to the cursor: "All"


def test_tab_arrow_points_where_the_text_runs(open_stage: Open, page: Page) -> None:
    to_left, to_right = "l-4 3l4 3", "l4 3l-4 3"
    open_stage(text="arabic", size=1000, merges=20, marks="")
    marks = "".join(
        path or "" for path in stage(page, "[...view.content.querySelectorAll('.marks')].map((p) => p.data)")
    )
    assert to_left in marks
    assert to_right not in marks
    open_stage(text="code", size=1000, merges=20, marks="")
    marks = "".join(
        path or "" for path in stage(page, "[...view.content.querySelectorAll('.marks')].map((p) => p.data)")
    )
    assert to_right in marks
    assert to_left not in marks


# ---------------------------------------------------------------------------------------------- states and layouts


def test_text_that_is_empty_says_what_to_do(open_stage: Open, page: Page) -> None:
    open_stage(text="empty")
    expect(page.locator(".main .empty")).to_be_visible()
    expect(page.locator(".main .count")).to_have_text("0 tokens")
    expect(page.locator(".slider")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_palette_follows_the_theme(page_with: Callable[..., Page], open_stage: Open, scheme: str) -> None:
    target = open_stage(page_with(color_scheme=scheme), text="english", size=1000)
    assert stage(target, "stage.element.dataset.theme") == scheme
    fill = stage(target, "getComputedStyle(view.content.querySelector('.t0')).fill")
    assert fill == {"light": "rgb(247, 210, 180)", "dark": "rgb(149, 80, 92)"}[scheme]


@pytest.mark.parametrize("query", [{"text": "mixed", "merges": 300}, {"text": "emoji", "bytes": "", "ids": ""}])
def test_nothing_scrolls_sideways_on_a_phone(
    page_with: Callable[..., Page], open_stage: Open, query: dict[str, object]
) -> None:
    phone = page_with(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    target = open_stage(phone, size=4000, own="They%20walk", **query)
    assert target.evaluate("document.documentElement.scrollWidth") <= 390
    too_wide = stage(
        target,
        """[...stage.element.querySelectorAll("*")]
            .filter((part) => !part.closest(".content") && getComputedStyle(part).position !== "absolute")
            .filter((part) => part.getBoundingClientRect().right > 390.5)
            .map((part) => part.className)""",
    )
    assert too_wide == []
    small = stage(
        target,
        """[...stage.element.querySelectorAll(".bar button, .switches label, .speed select")]
            .map((part) => part.getBoundingClientRect())
            .filter(({ width, height }) => width < 43.5 || height < 43.5).length""",
    )
    assert small == 0


def test_forced_colours_keep_boundaries_without_fills(page_with: Callable[..., Page], open_stage: Open) -> None:
    target = open_stage(page_with(forced_colors="active"), text="english", size=1000)
    styles = stage(
        target,
        """["fill", "lines", "cuts"].map((name) => getComputedStyle(view.content.querySelector("." + name)))
            .map(({ fill, display, stroke }) => [fill, display, stroke])""",
    )
    assert styles[0][0] == "none"
    assert styles[1][1] == "inline"
    assert styles[2][2] != "none"


@pytest.mark.parametrize("kind", ["spaces", "one-line"])
def test_a_megabyte_without_a_line_break_stays_alive(open_stage: Open, page: Page, kind: str) -> None:
    open_stage(text=kind, size=1_000_000, merges=10)
    milliseconds = stage(
        page,
        """(async () => {
            const start = performance.now();
            for (const step of [1, 5, 10, 3]) {
                stage.setStep(step);
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            }
            view.element.scrollTop = view.element.scrollHeight / 2;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            return performance.now() - start;
        })()""",
    )
    assert milliseconds < 5000
    assert len(drawn_tokens(page)) > 5
