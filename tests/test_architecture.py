"""Dependencies point one way: pages -> ui -> bpe. Read from the imports, and tried in a fresh process."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bpe

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted([*ROOT.glob("bpe/**/*.py"), *ROOT.glob("ui/**/*.py")])


def imported(path: Path) -> set[str]:
    """Top-level names of all imports of a module, also those inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path):
    forbidden = {"streamlit", "ui", "pages", "app"} if "bpe" in path.relative_to(ROOT).parts[:1] else {"pages", "app"}
    assert not imported(path) & forbidden


def test_bpe_loads_without_streamlit():
    code = "import bpe, bpe.pretrained, bpe.samples, sys; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_public_names_are_sorted_and_there():
    assert list(bpe.__all__) == sorted(bpe.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name))
    for name in bpe.__all__:
        assert hasattr(bpe, name), name


def test_session_state_has_one_home():
    """Only ui/state.py names URL parameters; other modules go through it."""
    offenders = [
        str(path.relative_to(ROOT))
        for path in [*ROOT.glob("ui/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
        if path.name != "state.py" and 'query_params["' in path.read_text(encoding="utf-8")
    ]
    assert offenders == []
