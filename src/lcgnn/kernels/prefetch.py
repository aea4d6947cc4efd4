"""Asking the processor for memory ahead of its use, for loops that jump through arrays larger than its caches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

# Entries to look ahead: far enough to hide the memory's latency, near enough to be in the cache still.
AHEAD = 16
# Floats in a cache line.
LINE = 16


def _prefetch(typing_context: Any, array: Any, position: Any) -> Any:  # noqa: ARG001
    """Inside compiled code: fetch the cache line of a contiguous array's element, counted in row-major order."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), address)
        # To read, to be kept in all caches, data and not code.
        builder.call(function, [pointer, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, position), generate


# The compiled code calls it without the first argument, which is numba's own.
prefetch: Callable[[Any, Any], None] = cast(Any, intrinsic(_prefetch))
