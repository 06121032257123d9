"""A dozen modules of the Python standard library, one after the other.

Taken from the npm package `pyodide`, because it pins one version of CPython (3.12.7) for every machine that
builds this; the chosen modules are pure Python and as CPython ships them.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

from .download import npm_package
from .entries import Entry

__all__ = ["MODULES", "build"]

VERSION = "0.27.7"
SHA256 = "89d5d952675eb08e11286e52c7238f1248ce71726e896db9703e73bef23dc343"
MODULES = (
    "bisect",
    "contextlib",
    "csv",
    "fnmatch",
    "functools",
    "glob",
    "graphlib",
    "heapq",
    "queue",
    "shlex",
    "string",
    "textwrap",
)


def build(folder: Path) -> list[Entry]:
    """Return the modules as one text, two blank lines between them."""
    with tarfile.open(npm_package("pyodide", VERSION, folder, SHA256)) as archive:
        member = archive.extractfile("package/python_stdlib.zip")
        assert member is not None
        with zipfile.ZipFile(io.BytesIO(member.read())) as library:
            modules = [library.read(f"{name}.py").decode("utf-8") for name in MODULES]
    return [
        Entry(
            name="python-source",
            title="Python source: a dozen standard library modules",
            language="zxx",
            language_name="Program source",
            script="Latn",
            kind="text",
            source=f"CPython 3.12.7 (npm pyodide@{VERSION}): {', '.join(MODULES)}",
            licence="PSF-2.0, see licences/PSF-2.0.txt; copyright Python Software Foundation",
            file="texts/python-source.txt",
            text="\n\n".join(module.strip("\n") + "\n" for module in modules),
        )
    ]
