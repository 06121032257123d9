"""The compiled loops: counting, training and encoding, each beside the readable twin that it must equal.

    source/     the kernels, written for numba; read by the build only
    build.py    makes built/: LLVM bitcode for any 64-bit machine, 310 kB
    loader.py   bitcode -> machine code on the reader's machine, with llvmlite alone
    counting.py training.py encoding.py     the drivers: they own the arrays, grow them and call the kernels
    recent.py   the encoders that were used last

`start_loading()` gets everything ready in the background; until then the twins answer, with the same results.
"""

from bpe.kernels.loader import is_ready, load, start_loading, why_not_ready

__all__ = ["is_ready", "load", "start_loading", "why_not_ready"]
