"""The compiled loops as they are written: Python for numba, read by the build (bpe/kernels/build.py).

Nothing of the package imports these modules at run time unless the built bitcode cannot be used and numba is
installed. Read declare.py first; then scan.py beside bpe/pretokenize.py, count.py beside its count, merge.py
beside `_incremental` of bpe/trainer.py, and encode.py beside bpe/encoder.py: each must equal its twin.

Rules for a kernel: it allocates nothing, raises nothing and calls nothing outside itself, so that it compiles to
machine code without a run-time library. Where it needs room it stops and says so; its driver grows the arrays
and calls it again.
"""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

__all__ = ["sources_digest"]


def sources_digest() -> str:
    """Return a digest of the code of all sources, without their comments and docstrings."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
                del node.body[0]
        digest.update(f"{path.name} {ast.unparse(tree)}".encode())
    return digest.hexdigest()
