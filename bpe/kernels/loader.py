"""From bitcode to machine code: the kernels of a group as Python functions, without numba.

llvmlite compiles the shipped bitcode for this CPU, about half a second a group, and keeps the object code in a
cache folder, from which it comes back in a few hundredths. Where the folder cannot be written, nothing is kept and
nothing else changes. Where llvmlite is missing or the bitcode does not fit it, numba compiles the sources, if it
is there; if not, `load` says why, and the readable twins do the work.

Nobody has to wait for any of that: `start_loading` does it in a thread, `is_ready` tells whether it is done.

A kernel is called through ctypes, which lets other threads run meanwhile.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import importlib.util
import json
import os
import platform
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bpe.errors import UnavailableError

__all__ = [
    "BUILT",
    "SOURCES",
    "Group",
    "Kernel",
    "cache_folder",
    "cache_line_zeros",
    "is_quick",
    "is_ready",
    "is_work_for_kernels",
    "load",
    "start_loading",
    "why_not_ready",
]

Group = Literal["count", "train", "encode"]

BUILT = Path(__file__).parent / "built"

SOURCES: dict[Group, tuple[str, ...]] = {"count": ("count",), "train": ("texts", "merge"), "encode": ("encode",)}
"""Which modules of source/ hold the kernels of each group."""

_FASTER_MACHINE_CODE = 2  # LLVM's level for machine code; the bitcode itself was optimised when it was built

_lock = threading.RLock()
_loaded: dict[str, dict[str, Kernel]] = {}
_failed: dict[str, str] = {}
_threads: dict[str, threading.Thread] = {}
_engines: list[Any] = []  # owns the machine code


class Kernel:
    """A compiled function of arrays. `bind` fixes the arrays, for loops that call it again and again."""

    def __init__(self, name: str, function: Callable[..., int], num_arrays: int, takes_pointers: bool) -> None:
        self.name = name
        self._function = function
        self._num_arrays = num_arrays
        self._takes_pointers = takes_pointers

    def __call__(self, *arrays: NDArray[Any]) -> int:
        return self.bind(*arrays)()

    def bind(self, *arrays: NDArray[Any]) -> Callable[[], int]:
        """Return a function without arguments. It sees later changes inside the arrays, and keeps them alive."""
        assert len(arrays) == self._num_arrays, f"{self.name} takes {self._num_arrays} arrays, got {len(arrays)}"
        assert all(array.flags.c_contiguous for array in arrays)
        function = self._function
        if not self._takes_pointers:
            return lambda: int(function(*arrays))
        table = np.array([value for array in arrays for value in (array.ctypes.data, array.size)], dtype=np.uint64)
        address = table.ctypes.data
        kept = arrays, table

        def call() -> int:
            assert kept[1] is table
            return function(address)

        return call


def load(group: Group) -> MappingProxyType[str, Kernel]:
    """Return the kernels of a group by name, compiling them if that was not done yet. Safe from several threads.

    Raises:
        UnavailableError: neither llvmlite nor numba can make them on this machine.
    """
    with _lock:
        if group not in _loaded:
            if group in _failed:
                raise UnavailableError(_failed[group])
            try:
                _loaded[group] = _load_bitcode(group)
            except Exception as bitcode_error:
                try:
                    _loaded[group] = _load_sources(group)
                except Exception as source_error:
                    _failed[group] = _say_why(bitcode_error, source_error)
                    raise UnavailableError(_failed[group]) from None
        return MappingProxyType(_loaded[group])


def start_loading(*groups: Group) -> None:
    """Load groups in the background, all of them when none is named. Costs the caller nothing."""
    for group in groups or get_args(Group):
        with _lock:
            if group in _threads or group in _loaded or group in _failed:
                continue
            # Python waits for the thread before it exits, a second at most: a thread that is stopped inside LLVM
            # aborts the process. numba's half a minute is not waited for; it has no callbacks to be stopped in.
            thread = threading.Thread(
                target=_load_quietly, args=(group,), name=f"load {group} kernels", daemon=not is_quick()
            )
            _threads[group] = thread
        thread.start()


def is_ready(group: Group) -> bool:
    """Tell whether a group is loaded. Does not wait, not even for a thread that is loading it."""
    return group in _loaded


@lru_cache(maxsize=1)
def is_quick() -> bool:
    """Tell whether loading takes about a second: the bitcode is there, and llvmlite is. numba takes half a minute."""
    try:
        _index()
        return importlib.util.find_spec("llvmlite") is not None
    except (OSError, ValueError):
        return False


# Below so many symbols Python is through before a driver has laid out its arrays.
_WORTH_A_CALL = 4_000


def is_work_for_kernels(group: Group, num_symbols: int) -> bool:
    """Tell whether a piece of work should go to a group that is ready. Where it is not, it is loaded for the next."""
    if num_symbols < _WORTH_A_CALL:
        return False
    if group not in _loaded:
        start_loading(group)
    return group in _loaded


def why_not_ready(group: Group) -> str | None:
    """Return one line on why a group cannot be had on this machine; None while it can or may."""
    return _failed.get(group)


def _load_quietly(group: Group) -> None:
    try:
        load(group)
    except UnavailableError:
        return  # kept for `why_not_ready`


def _say_why(bitcode_error: Exception, source_error: Exception) -> str:
    return (
        "the compiled kernels cannot be loaded, so everything runs on the slower Python engine: install llvmlite "
        f"as pinned in requirements.txt ({_short(bitcode_error)}), or numba ({_short(source_error)})"
    )


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:120]


# ---------------------------------------------------------------------------------------------- bitcode


@lru_cache(maxsize=1)
def _index() -> dict[str, Any]:
    index: dict[str, Any] = json.loads((BUILT / "kernels.json").read_text())
    return index


@lru_cache(maxsize=1)
def _llvm() -> Any:
    llvm: Any = importlib.import_module("llvmlite.binding")
    for name in ("initialize", "initialize_native_target", "initialize_native_asmprinter"):
        with contextlib.suppress(RuntimeError):  # newer versions initialize themselves and refuse to be asked
            getattr(llvm, name)()
    return llvm


def _load_bitcode(group: Group) -> dict[str, Kernel]:
    if sys.byteorder != "little" or platform.architecture()[0] != "64bit":
        raise OSError(f"the bitcode is for 64-bit little-endian machines, not for {platform.machine()}")
    llvm = _llvm()
    bitcode = (BUILT / f"{group}.bc").read_bytes()
    cpu = llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features().flatten()
    module = llvm.parse_bitcode(bitcode)
    module.triple = llvm.get_process_triple()
    module.name = group  # the same in every process, or the object cache would never hit
    machine = llvm.Target.from_triple(module.triple).create_target_machine(
        cpu=cpu, features=features, opt=_FASTER_MACHINE_CODE, jit=True
    )
    module.data_layout = str(machine.target_data)
    engine = llvm.create_mcjit_compiler(module, machine)
    key = hashlib.sha256(bitcode + f"{cpu} {features} {llvm.llvm_version_info} {module.triple}".encode()).hexdigest()
    _keep_objects(engine, key)
    engine.finalize_object()
    _engines.append(engine)

    kernels: dict[str, Kernel] = {}
    for name, num_arrays in _index()["groups"][group].items():
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
        function = prototype(engine.get_function_address(f"bpe_{name}"))
        kernels[name] = Kernel(name, function, num_arrays, takes_pointers=True)
    return kernels


def cache_folder() -> Path:
    """Return where object code is kept: $BPE_CACHE_DIR, or the user's cache folder, or a temporary one.

    The temporary one is for an absent home, and for a read-only one that holds no objects; it belongs to the user
    alone.
    """
    chosen = os.environ.get("BPE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if base and not base.startswith("~"):
        folder = Path(base) / "bpe-kernels"
        if _can_write(folder) or any(folder.glob("*.o")):
            return folder
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"bpe-kernels-{user}"


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _keep_objects(engine: Any, key: str) -> None:
    """Let the engine take object code from the cache folder, and put it there. Failures only cost time.

    Object code is run, so a folder or file that belongs to somebody else is not trusted. Each file begins with a
    digest of the rest: a cut file, from a full disk, is made again.
    """
    folder = cache_folder()
    path = folder / f"{key[:32]}.o"

    def put(_module: Any, code: bytes) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_own(folder):
                return
            scratch = folder / f"{path.name}.{os.getpid()}.{threading.get_ident()}"
            try:
                scratch.write_bytes(hashlib.sha256(code).digest() + code)
                os.replace(scratch, path)
            finally:
                scratch.unlink(missing_ok=True)
        except OSError:
            return

    def get(_module: Any) -> bytes | None:
        try:
            if not _is_own(folder) or not _is_own(path):
                return None
            data = path.read_bytes()
        except OSError:
            return None
        digest, code = data[:32], data[32:]
        return code if hashlib.sha256(code).digest() == digest else None

    engine.set_object_cache(put, get)


def _is_own(path: Path) -> bool:
    """Tell whether a path belongs to this user, and only this user may write to it."""
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


# ---------------------------------------------------------------------------------------------- numba


def _load_sources(group: Group) -> dict[str, Kernel]:
    """Compile the sources with numba: some ten seconds a group."""
    declare = importlib.import_module("bpe.kernels.source.declare")
    modules = SOURCES[group]
    for module in modules:
        importlib.import_module(f"bpe.kernels.source.{module}")
    names = [n for n, k in declare.KERNELS.items() if k.py_func.__module__.rsplit(".", 1)[1] in modules]
    return {
        name: Kernel(name, declare.KERNELS[name], len(declare.KERNELS[name].nopython_signatures[0].args), False)
        for name in names
    }


def cache_line_zeros(size: int, dtype: Any) -> NDArray[Any]:
    """Return zeros that begin on a cache line: numpy's begin on 16 bytes, so half of the rows would cross one."""
    kind = np.dtype(dtype)
    raw = np.zeros(size * kind.itemsize + 64, dtype=np.uint8)
    skip = -raw.ctypes.data % 64
    return raw[skip : skip + size * kind.itemsize].view(kind)
