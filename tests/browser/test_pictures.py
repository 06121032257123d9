"""Pictures of the stage: SVG, PNG and the animation, read back by other programs and held against Python's history."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from bpe import TrainSettings, load_pretrained, train
from bpe.samples import load_sample
from ui.controls import EXAMPLES
from ui.links import pack_text
from ui.stage.export import export_html
from ui.stage.payload import StageView, build_payload

from .conftest import ROOT, press, settled

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
TEXT = "low lower lowest 안녕 👩‍👩‍👧‍👦 (السلام عليكم) 12 क्षेत्र é"


def opened(page: Page, url: str) -> None:
    page.goto(url)
    page.wait_for_selector(".stage[data-step]", timeout=60_000)
    settled(page)


def saved(page: Page, kind: str) -> tuple[str, bytes]:
    """Save a picture: its file name and its bytes."""
    menu = page.locator(".pictures")
    if menu.get_attribute("open") is None:
        press(menu.locator("summary"))
    with page.expect_download(timeout=60_000) as download:
        press(menu.locator(f"button[name={kind}]"))
    expect(menu.locator(".said")).to_contain_text(download.value.suggested_filename)
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def num_boxes(svg: ElementTree.Element) -> int:
    """Rectangles of tokens: each is a subpath of a filled path."""
    paths = (path for path in svg.iter(f"{SVG}path") if path.get("fill") != "none")
    return sum(path.attrib["d"].count("M") for path in paths)


def pixels_of(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def coarse(data: bytes) -> np.ndarray:
    """A picture without its captions in cells of about a letter: what remains where fonts differ."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    width, height = image.size
    below = image.crop((0, height // 2, width, height))
    return np.asarray(below.resize((60, 8), Image.Resampling.BOX)).astype(int)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_holds_text_tokens_and_colours(app_server: Callable[[Path], str], page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    history = load_pretrained("gpt2").history(TEXT)
    step = 300
    opened(page, f"{app_server(ROOT / 'app.py')}/?step={step}&z={pack_text(TEXT)}")
    name, data = saved(page, "svg")
    assert name == f"tokens-step-{step}.svg"
    svg = ElementTree.fromstring(data)
    words = [text.text for text in svg.iter(f"{SVG}text") if text.get("textLength")]
    for word in ("lowest", "안녕", "👩‍👩‍👧‍👦", "السلام", "عليكم", "क्षेत्र", "é"):
        assert word in words
    assert num_boxes(svg) >= history.num_tokens[step]
    assert {element.tag for element in svg.iter()} <= {
        f"{SVG}{tag}" for tag in ("svg", "title", "rect", "g", "path", "text")
    }
    rtl = {text.text for text in svg.iter(f"{SVG}text") if text.get("direction") == "rtl"}
    assert rtl == {"السلام", "عليكم"}

    name, png = saved(page, "png")
    assert name == f"tokens-step-{step}.png"
    pixels = pixels_of(png)
    height, width = pixels.shape[:2]
    assert (width, height) == tuple(round(2 * float(svg.attrib[side])) for side in ("width", "height"))
    page_colour = pixels[0, 0]
    assert (page_colour.mean() < 60) == (scheme == "dark")
    seen = {tuple(colour) for colour in pixels.reshape(-1, 3)[::7]}
    fills = {path.attrib["fill"] for path in svg.iter(f"{SVG}path") if path.get("fill") != "none"}
    drawn = {fill for fill in fills if tuple(bytes.fromhex(fill[1:])) in seen}
    assert len(drawn) >= len(fills) - 2

    # The SVG on its own in a browser: the same picture, without a request.
    viewer = page.context.new_page()
    viewer.set_viewport_size({"width": width // 2, "height": height // 2})
    requests: list[str] = []
    viewer.on("request", lambda request: requests.append(request.url))
    viewer.set_content(f"<style>body {{ margin: 0; line-height: 0 }}</style>{data.decode()}")
    shot = viewer.screenshot()
    assert not requests
    difference = np.abs(coarse(shot) - coarse(png))
    assert difference.mean() < 5, difference.mean()
    assert np.abs(coarse(shot) - coarse(png)[::-1]).mean() > 3 * difference.mean()
    viewer.close()


def test_of_a_long_text_the_lines_in_sight_are_drawn_and_it_is_said(
    app_server: Callable[[Path], str], page: Page
) -> None:
    opened(page, f"{app_server(ROOT / 'app.py')}/Train?merges=100&sentence=")
    page.locator(".main .view").evaluate("(view) => (view.scrollTop = 900)")
    name, data = saved(page, "svg")
    assert name == "tokens-step-100.svg"
    said = page.locator(".said").inner_text()
    found = re.search(r"the lines in sight, bytes ([\d,]+) to ([\d,]+) of ([\d,]+)", said)
    assert found is not None, said
    start, end, total = (int(number.replace(",", "")) for number in found.groups())
    text = load_sample("udhr-eng").encode()
    assert total == len(text)
    assert 0 < start < end < total
    svg = ElementTree.fromstring(data)
    words = [element.text or "" for element in svg.iter(f"{SVG}text") if element.get("textLength")]
    seen = text[start:end].decode().split()
    assert set(seen[1:-1]) <= {part for word in words for part in word.split()}
    assert len(data) < 200_000


def test_the_animation_has_a_frame_for_every_merge_that_changes_the_text(
    app_server: Callable[[Path], str], page: Page
) -> None:
    text = "strawberry (السلام) क्षेत्र 👍🏽"
    history = load_pretrained("gpt2").history(text)
    merging = np.unique(history.lifetimes[history.lifetimes < history.num_merges])
    opened(page, f"{app_server(ROOT / 'app.py')}/?z={pack_text(text)}")
    name, data = saved(page, "apng")
    assert name == "tokens-merging.png"
    film = Image.open(io.BytesIO(data))
    assert film.n_frames == len(merging) + 1
    frames, durations = [], []
    for number in range(film.n_frames):
        film.seek(number)
        frames.append(np.asarray(film.convert("RGB")).astype(int))
        durations.append(film.info["duration"])
    assert durations[0] == 1000
    assert durations[-1] == 3000
    assert all(120 <= duration <= 700 for duration in durations[1:-1])
    for before, after in pairwise(frames):
        assert np.abs(before - after).max() > 50
    # The last frame is the stage at the last merge that changes the text, the first one the stage at step 0.
    page.locator(".slider").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".stage")).to_have_attribute("data-step", str(merging[-1] + 1))
    assert np.abs(frames[-1] - pixels_of(saved(page, "png")[1])).mean() < 1
    page.locator(".slider").focus()
    page.keyboard.press("Home")
    expect(page.locator(".stage")).to_have_attribute("data-step", "0")
    press(page.locator(".pictures summary"))
    assert np.abs(frames[0] - pixels_of(saved(page, "png")[1])).mean() < 1


def test_a_text_too_long_for_an_animation_gets_a_sentence(app_server: Callable[[Path], str], page: Page) -> None:
    opened(page, f"{app_server(ROOT / 'app.py')}/?z={pack_text(EXAMPLES['Languages'] * 3)}")
    press(page.locator(".pictures summary"))
    expect(page.locator(".pictures .limit")).to_contain_text("up to 500 characters")
    press(page.get_by_role("button", name="an animation"))
    expect(page.locator(".said")).to_contain_text(f"{3 * len(EXAMPLES['Languages'])} characters, too many")
    page.keyboard.press("Escape")
    expect(page.locator(".pictures")).not_to_have_attribute("open", "")


def test_a_saved_page_makes_pictures_without_a_network(page: Page, tmp_path: Path) -> None:
    text = "low lower lowest"
    training = train(text, TrainSettings(num_merges=5))
    payload = build_payload(
        [StageView(training.history(text))],
        training.rows,
        training.tokenizer.base_names(),
        num_merges=training.num_merges,
        step=1,
    )
    path = tmp_path / "tokens.html"
    path.write_bytes(export_html(payload, "Tokens"))
    page.context.set_offline(True)
    page.goto(path.as_uri())
    page.wait_for_selector(".stage[data-step]")
    svg = ElementTree.fromstring(saved(page, "svg")[1])
    assert num_boxes(svg) == training.num_tokens[1]
    film = Image.open(io.BytesIO(saved(page, "apng")[1]))
    assert film.n_frames == training.num_merges + 1
