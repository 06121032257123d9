"""Joins the stage's files into what a component is made of: one page fragment, one style sheet, one script.

The scripts in `js/` are ES modules, so that they can be read, tested and edited one by one. A component takes its
script inline, and an inline script cannot import its neighbours; so imports are followed here and dropped, and
the modules share one scope. A name that two modules define at top level would silently win over the other: it is
refused.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from bpe.errors import FormatError
from ui.palette import token_colours

__all__ = ["join_modules", "stage_css", "stage_html", "stage_js"]

_FOLDER = Path(__file__).parent
_ENTRY = "component.js"

_IMPORT = re.compile(r'^import\s[^;]*?from\s+"\./(?P<module>[\w.]+)";[ \t]*\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?:export )?(?:default )?(?:async )?(?:const|let|class|function\*?) +(\w+)", re.MULTILINE)


def stage_html() -> str:
    """Return the elements of the stage."""
    return (_FOLDER / "stage.html").read_text(encoding="utf-8")


@cache
def stage_css() -> str:
    """Return the style sheet, with the token colours of both themes from palette.json."""
    return (_FOLDER / "stage.css").read_text(encoding="utf-8") + "\n" + token_colours("fill", "background")


@cache
def stage_js(entry: str = _ENTRY) -> str:
    """Return all scripts as one module whose default export mounts the stage in Streamlit.

    With the entry `standalone.js` it mounts the stage in a page of its own instead.
    """
    sources = {path.name: path.read_text(encoding="utf-8") for path in (_FOLDER / "js").glob("*.js")}
    return join_modules(sources, entry)


def join_modules(sources: dict[str, str], entry: str) -> str:
    """Return the modules that `entry` needs as one script, each after those it imports.

    Raises:
        FormatError: a module is missing, modules import each other in a circle, or two define the same name.

    >>> sources = {"a.js": 'import { b } from "./b.js";\\nb();\\n', "b.js": "export function b() {}\\n"}
    >>> print(join_modules(sources, "a.js"))
    // b.js
    function b() {}
    <BLANKLINE>
    // a.js
    b();
    <BLANKLINE>
    """
    order: list[str] = []
    _visit(entry, sources, order, ())
    _check_names(order, sources)
    parts = [f"// {name}\n" + _EXPORT.sub("", _IMPORT.sub("", sources[name])).lstrip("\n") for name in order]
    return "\n".join(parts)


def _visit(name: str, sources: dict[str, str], order: list[str], path: tuple[str, ...]) -> None:
    if name in path:
        raise FormatError(f"modules must not import each other in a circle, got {' -> '.join((*path, name))}")
    if name in order:
        return
    if name not in sources:
        raise FormatError(f"every imported module must be in js/, got {name!r}; correct the import or add the file")
    for match in _IMPORT.finditer(sources[name]):
        _visit(match["module"], sources, order, (*path, name))
    order.append(name)


def _check_names(order: list[str], sources: dict[str, str]) -> None:
    owner: dict[str, str] = {}
    for module in order:
        for name in _TOP_LEVEL.findall(sources[module]):
            if name in owner:
                raise FormatError(
                    f"a name may be defined at top level once, got {name!r} in {owner[name]} and {module}; rename one"
                )
            owner[name] = module
