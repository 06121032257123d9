"""The joined script, and the palette: contrast is computed again from the colours that are used."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

import ui.stage.bundle as bundle
from bpe.errors import FormatError

FOLDER = Path(bundle.__file__).parent
PALETTE = json.loads((FOLDER / "palette.json").read_text())
# The text colours of Streamlit's themes, now and in the releases before.
TEXT_COLOURS = {"light": ["#2f2d2b", "#31333f"], "dark": ["#edebe8", "#fafafa"]}


def test_bundle_holds_every_module_and_no_import() -> None:
    script = bundle.stage_js()
    alone = bundle.stage_js("standalone.js")
    for module in sorted((FOLDER / "js").glob("*.js")):
        assert f"// {module.name}\n" in script + alone, f"{module.name} is used by nobody"
    assert not re.search(r"^(?:import|export)\b", alone, re.MULTILINE)
    assert not re.search(r"^import\b", script, re.MULTILINE)
    assert re.findall(r"^export .*$", script, re.MULTILINE) == [
        "export default function mountStage({ data, parentElement, setStateValue }) {"
    ]


@pytest.mark.parametrize("entry", ["component.js", "standalone.js"])
def test_modules_come_after_those_they_import(entry: str) -> None:
    script = bundle.stage_js(entry)
    for name in re.findall(r"^// ([\w.]+\.js)$", script, re.MULTILINE):
        module = FOLDER / "js" / name
        for imported in re.findall(r'from "\./([\w.]+)"', module.read_text()):
            assert script.index(f"// {imported}\n") < script.index(f"// {module.name}\n")


def test_name_defined_twice_is_refused() -> None:
    sources = {"a.js": 'import { b } from "./b.js";\nconst same = b;\n', "b.js": "export const same = 1;\n"}
    with pytest.raises(FormatError, match=r"'same' in b\.js and a\.js"):
        bundle.join_modules(sources, "a.js")


def test_missing_module_is_refused() -> None:
    with pytest.raises(FormatError, match=r"got 'gone.js'"):
        bundle.join_modules({"a.js": 'import { b } from "./gone.js";\n'}, "a.js")


def test_circle_is_refused() -> None:
    sources = {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'}
    with pytest.raises(FormatError, match=r"a.js -> b.js -> a.js"):
        bundle.join_modules(sources, "a.js")


def test_imports_over_several_lines_are_followed() -> None:
    sources = {"a.js": 'import {\n  b,\n  c,\n} from "./b.js";\nb(c);\n', "b.js": "export const b = 1, c = 2;\n"}
    assert bundle.join_modules(sources, "a.js") == "// b.js\nconst b = 1, c = 2;\n\n// a.js\nb(c);\n"


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_readable_on_every_colour(theme: str) -> None:
    colours = [shade for hue in PALETTE[theme] for shade in hue]
    assert len(colours) == 12
    for colour in colours:
        for text in TEXT_COLOURS[theme]:
            assert contrast(colour, text) >= 4.5, f"{text} on {colour}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_style_sheet_gives_each_colour_its_class(theme: str) -> None:
    colours = [shade for hue in PALETTE[theme] for shade in hue]
    found = re.findall(rf'\[data-theme="{theme}"\] \.t(\d+) \{{ fill: (#\w+);', bundle.stage_css())
    assert found == [(str(number), colour) for number, colour in enumerate(colours)]


def test_as_many_hues_as_the_script_counts_on() -> None:
    declared = re.search(r"NUM_HUES = (\d+)", (FOLDER / "js" / "colour.js").read_text())
    assert declared is not None
    assert {len(PALETTE[theme]) for theme in PALETTE} == {int(declared[1])}


def test_the_two_shades_of_a_hue_differ() -> None:
    for hues in PALETTE.values():
        for light, dark in hues:
            assert contrast(light, dark) > 1.3


def test_page_fragment_has_what_the_script_looks_for() -> None:
    """Every class or name that the scripts look up is in stage.html."""
    html = bundle.stage_html()
    classes = {name for names in re.findall(r'class="([^"]+)"', html) for name in names.split()}
    script = (FOLDER / "js" / "stage.js").read_text() + (FOLDER / "js" / "view.js").read_text()
    looked_up = re.findall(r'(?:find|querySelector)\("\.([\w-]+)', script)
    assert len(looked_up) > 10
    assert set(looked_up) <= classes


def test_elements_of_the_fragment_are_closed() -> None:
    void = {"input", "path"}
    stack: list[str] = []
    for closing, name, self_closing in re.findall(r"<(/?)([a-z]+)[^>]*?(/?)>", bundle.stage_html()):
        if closing:
            assert stack.pop() == name
        elif not self_closing and name not in void:
            stack.append(name)
    assert stack == []


def test_pairs_of_neighbouring_hues_are_not_one_colour() -> None:
    for hues in PALETTE.values():
        shades = [shade for hue in hues for shade in hue]
        assert all(one != other for one, other in pairwise(shades))
        assert len(set(shades)) == len(shades)
