"""How a kernel is declared: types by annotation, compiled by numba at import.

Scalars are `int` (int64), `UInt` (uint64), `Byte` (uint8) or `bool`; a helper may return a pair of `UInt`. Arrays are
one-dimensional and contiguous. A `kernel` takes arrays only, because that is what the built library passes; scalars
that change between calls live in a state array, under names defined beside the kernel.

An index is never negative here. So what numba does about negative ones, a comparison, a mask and an addition at each
access, is left out: a tenth of the time of all kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, get_type_hints

import numba
import numpy as np
from numba import types
from numba.np import arrayobj
from numpy.typing import NDArray

__all__ = ["KERNELS", "Byte", "Bytes", "Int32s", "Int64s", "UInt", "UInt64s", "UIntPair", "helper", "kernel"]

UInt = np.uint64
Byte = np.uint8
Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
UInt64s = NDArray[np.uint64]
UIntPair = tuple[np.uint64, np.uint64]

_NUMBA_TYPE: dict[Any, Any] = {
    int: types.int64,
    bool: types.boolean,
    type(None): types.void,
    UInt: types.uint64,
    Byte: types.uint8,
    Bytes: types.uint8[::1],
    Int32s: types.int32[::1],
    Int64s: types.int64[::1],
    UInt64s: types.uint64[::1],
    UIntPair: types.UniTuple(types.uint64, 2),
}

Function = TypeVar("Function", bound=Callable[..., Any])

KERNELS: dict[str, Any] = {}
"""Every kernel by name: what the build exports."""


@contextmanager
def _indices_as_they_are() -> Iterator[None]:
    """Compile without the handling of negative indices, for as long as this is open."""
    usual = arrayobj.fix_integer_index

    def cast_only(context: Any, builder: Any, index_type: Any, index: Any, _size: Any) -> Any:
        return context.cast(builder, index, index_type, types.intp)

    arrayobj.fix_integer_index = cast_only
    try:
        yield
    finally:
        arrayobj.fix_integer_index = usual


def helper(function: Function) -> Function:
    """Compile a function that kernels call."""
    hints = get_type_hints(function)
    returned = _NUMBA_TYPE[hints.pop("return")]
    signature = returned(*(_NUMBA_TYPE[hint] for hint in hints.values()))
    with _indices_as_they_are():
        return numba.njit(signature, nogil=True, error_model="numpy")(function)


def kernel(function: Function) -> Function:
    """Compile a function that drivers call, and enter it into `KERNELS`. It takes arrays and returns an int."""
    compiled = helper(function)
    KERNELS[function.__name__] = compiled
    return compiled
