"""What Python cannot say: unaligned loads, prefetches, 64 bytes compared at once.

LLVM picks the vector instructions of the machine that the code runs on. All of it assumes little-endian bytes,
as x86-64 and aarch64 have.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["load_bytes", "prefetch", "range_mask", "trailing_zeros"]

_I8 = ir.IntType(8)
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_BYTES64 = ir.VectorType(_I8, 64)


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic  # type: ignore[misc]
def load_bytes(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Return the 8 bytes of a uint8 array from `index` on as one uint64. All 8 must be inside the array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, signature.args[0], *arguments)
        return builder.load(builder.bitcast(address, _I64.as_pointer()), align=1)

    return types.uint64(array, types.int64), generate


@intrinsic  # type: ignore[misc]
def prefetch(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Ask for the cache line of an element that is needed soon. Any index is safe."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = builder.bitcast(_address(context, builder, signature.args[0], *arguments), _I8.as_pointer())
        shape = ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, shape, "llvm.prefetch.p0")
        read, keep, is_data = (ir.Constant(_I32, value) for value in (0, 3, 1))
        builder.call(function, [address, read, keep, is_data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic  # type: ignore[misc]
def trailing_zeros(typing_context, bits):  # type: ignore[no-untyped-def]
    """Return how many zero bits a uint64 has below its lowest one; 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[misc]
def range_mask(typing_context, array, index, fold, low, span):  # type: ignore[no-untyped-def]
    """Return a uint64: bit q says whether byte index+q, or-ed with `fold`, is from `low` to `low + span`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def everywhere(value: Any) -> Any:
            one = builder.insert_element(ir.Constant(_BYTES64, ir.Undefined), value, ir.Constant(_I32, 0))
            lanes = ir.Constant(ir.VectorType(_I32, 64), [0] * 64)
            return builder.shuffle_vector(one, ir.Constant(_BYTES64, ir.Undefined), lanes)

        array_value, index_value, fold_value, low_value, span_value = arguments
        address = _address(context, builder, signature.args[0], array_value, index_value)
        window = builder.load(builder.bitcast(address, _BYTES64.as_pointer()), align=1)
        shifted = builder.sub(builder.or_(window, everywhere(fold_value)), everywhere(low_value))
        return builder.bitcast(builder.icmp_unsigned("<=", shifted, everywhere(span_value)), _I64)

    return types.uint64(array, types.int64, types.uint8, types.uint8, types.uint8), generate
