"""Asking the processor for memory ahead of its use, for loops that jump through arrays larger than its caches."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from lcgnn.compute.kernels.compiled.lanes import operation

# Entries to look ahead: far enough to hide the memory's latency, near enough to be in the cache still.
AHEAD = 32
# Floats in a cache line.
LINE = 16


@operation
def prefetch(array: Any, position: Any) -> Any:  # noqa: ARG001
    """Fetch the cache line of a contiguous float32 array's element, counted in row-major order."""

    def generate(builder: Any, values: Any) -> Any:
        address, number = ir.PointerType(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address], kind)
        pointer = builder.gep(values[0], [values[1]], source_etype=ir.FloatType())
        # To read, to be kept in all caches, data and not code.
        builder.call(function, [pointer, number(0), number(3), number(1)])

    return types.void, generate
