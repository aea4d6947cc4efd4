"""Several numbers side by side, computed on at once: vectors of the processor as values inside compiled code.

The compiler makes vectors of simple loops by itself, but not where sums have to stay in registers from one edge to
the next. Here a kernel says what it wants: ``load(array, position, 8)`` are eight floats, arithmetic works lane by
lane, and what is longer than a register becomes several of them. The number of lanes can be any that is a constant
where the kernel is compiled. Inside, it is rounded up to a power of two, for which the compiler's code is far
better; what is in the lanes beyond does not matter.

As in ``jit`` the compiler may reorder and contract, and NaN and infinity keep their meaning.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any, cast

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from lcgnn.compute.kernels.compiled.jit import MATH

_FLOAT, _INT = ir.FloatType(), ir.IntType(32)
_FLAGS = tuple(sorted(MATH))


class Lanes(types.Type):
    """The type of so many float32 side by side."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"Lanes({count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, _floats(kind.count))  # type: ignore[no-untyped-call]


def _define_arithmetic(operation: Callable[[Any, Any], Any], instruction: str) -> None:
    @infer_global(operation)  # type: ignore[no-untyped-call]
    class LaneByLane(AbstractTemplate):
        def generic(self, arguments: Sequence[Any], keywords: Any) -> Any:  # noqa: ARG002
            same = len(arguments) == 2 and arguments[0] == arguments[1]
            if not (same and isinstance(arguments[0], Lanes)):
                return None
            return signature(arguments[0], *arguments)  # type: ignore[no-untyped-call]

    @lower_builtin(operation, Lanes, Lanes)  # type: ignore[no-untyped-call,untyped-decorator]
    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return getattr(builder, instruction)(*arguments, flags=_FLAGS)


_define_arithmetic(operator.add, "fadd")
_define_arithmetic(operator.sub, "fsub")
_define_arithmetic(operator.mul, "fmul")
_define_arithmetic(operator.truediv, "fdiv")


def operation(define: Callable[..., tuple[Any, Callable[[Any, Any], Any]]]) -> Callable[..., Any]:
    """What compiled code calls, from a function of the arguments' types to the result's and a code generator."""

    def typed(typing_context: Any, *given: Any) -> Any:  # noqa: ARG001
        result, generate = define(*given)

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values = [
                context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
                for kind, value in zip(signature.args, arguments, strict=True)
            ]
            return generate(builder, values)

        return result(*given), code

    # numba looks the arguments' names up, and has the first one to itself.
    names = ["typing_context", *Signature.from_callable(define).parameters]
    typed.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_ONLY) for name in names])  # type: ignore[attr-defined]
    return cast(Callable[..., Any], intrinsic(prefer_literal=True)(typed))


@operation
def load(array: Any, position: Any, count: Any) -> Any:  # noqa: ARG001
    """So many elements of a contiguous float32 array, from one on that is counted in row-major order."""
    lanes = Lanes(count.literal_value)

    def generate(builder: Any, values: Any) -> Any:
        loaded = ir.Constant(_floats(lanes.count), ir.Undefined)
        for start, length in _pieces(lanes.count):
            kind = ir.VectorType(_FLOAT, length)
            place = _place(builder, values[0], values[1], start, kind)
            piece = builder.load(place, align=4, typ=kind)
            loaded = _with_piece(builder, loaded, piece, start)
        return loaded

    return lanes, generate


@operation
def store(array: Any, position: Any, lanes: Any) -> Any:  # noqa: ARG001
    """Write the lanes where ``load`` reads them."""

    def generate(builder: Any, values: Any) -> Any:
        for start, length in _pieces(lanes.count):
            piece = _chosen(builder, values[2], range(start, start + length))
            builder.store(piece, _place(builder, values[0], values[1], start, piece.type), align=4)

    return types.void, generate


@operation
def spread(number: Any, count: Any) -> Any:  # noqa: ARG001
    """One float32 in every lane."""
    lanes = Lanes(count.literal_value)
    return lanes, lambda builder, values: _spread(builder, values[0], lanes.count)


@operation
def larger(first: Any, second: Any) -> Any:  # noqa: ARG001
    """Lane by lane the larger one, and the second where either is NaN."""
    return first, lambda builder, values: _larger(builder, *values)


@operation
def where_positive(condition: Any, yes: Any, no: Any) -> Any:  # noqa: ARG001
    """Lane by lane ``yes`` where the condition is above 0, otherwise ``no``."""

    def generate(builder: Any, values: Any) -> Any:
        zero = ir.Constant(values[0].type, None)
        return builder.select(builder.fcmp_ordered(">", values[0], zero), values[1], values[2])

    return yes, generate


@operation
def repeated(lanes: Any, times: Any) -> Any:
    """Every lane so many times: a b -> a a b b."""
    chosen = [lane for lane in range(lanes.count) for _ in range(times.literal_value)]
    return Lanes(len(chosen)), lambda builder, values: _chosen(builder, values[0], chosen)


@operation
def sums(lanes: Any, width: Any) -> Any:
    """The sum of every so many neighbouring lanes."""
    count, each = lanes.count // width.literal_value, width.literal_value

    def generate(builder: Any, values: Any) -> Any:
        lanes, left = values[0], each
        if count == 1:
            lanes, left = _with_zeros(builder, lanes, each), _padded(each)
        while left % 2 == 0:
            left //= 2
            halves = [_chosen(builder, lanes, range(start, 2 * count * left, 2)) for start in (0, 1)]
            lanes = builder.fadd(*halves, flags=_FLAGS)
        total = _chosen(builder, lanes, range(0, count * left, left))
        for start in range(1, left):
            total = builder.fadd(total, _chosen(builder, lanes, range(start, count * left, left)), flags=_FLAGS)
        return total

    return Lanes(count), generate


@operation
def single(lanes: Any) -> Any:  # noqa: ARG001
    """The first lane as a number."""
    return types.float32, lambda builder, values: builder.extract_element(values[0], _INT(0))


@operation
def exponential(lanes: Any) -> Any:
    """e^x as ``jit.exp`` has it."""

    def generate(builder: Any, values: Any) -> Any:
        def number(value: float) -> Any:
            return ir.Constant(values[0].type, [value] * values[0].type.count)

        def multiplied(first: Any, second: Any, added: Any) -> Any:
            return builder.fadd(builder.fmul(first, second, flags=_FLAGS), added, flags=_FLAGS)

        x = _larger(builder, number(-87.0), values[0])
        floor = _library_function(builder, "floor", lanes.count)
        n = builder.call(floor, [multiplied(x, number(1.4426950408889634), number(0.5))])
        r = multiplied(n, number(-0.693359375), x)
        r = multiplied(n, number(2.12194440e-4), r)
        p = number(_POLYNOMIAL[0])
        for coefficient in _POLYNOMIAL[1:]:
            p = multiplied(p, r, number(coefficient))
        p = multiplied(builder.fmul(p, r, flags=_FLAGS), r, builder.fadd(r, number(1.0), flags=_FLAGS))
        exponent = builder.add(builder.fptosi(n, _integers(lanes.count)), _constant(127, lanes.count))
        power = builder.bitcast(builder.shl(exponent, _constant(23, lanes.count)), values[0].type)
        return builder.fmul(p, power, flags=_FLAGS)

    return lanes, generate


@operation
def kept(key: Any, first: Any, step: Any, threshold: Any, scale: Any, count: Any) -> Any:  # noqa: ARG001
    """The masks of the elements numbered ``first``, ``first + step``, ...: the scale, or 0 for what is dropped.

    An element is kept if its ``jit.random_bits`` are at least the threshold.
    """
    lanes = count.literal_value

    def generate(builder: Any, values: Any) -> Any:
        def spread(value: Any) -> Any:
            narrow = value if value.type == _INT else builder.trunc(value, _INT)
            return _spread(builder, narrow, lanes)

        def shifted(bits: Any, places: int) -> Any:
            return builder.xor(bits, builder.lshr(bits, _constant(places, lanes)))

        key, first, step, threshold = (spread(value) for value in values[:4])
        order = ir.Constant(_integers(lanes), list(range(_padded(lanes))))
        number = builder.add(first, builder.mul(step, order))
        bits = shifted(builder.add(builder.mul(number, _constant(0x9E3779B1, lanes)), key), 16)
        bits = shifted(builder.mul(bits, _constant(0x7FEB352D, lanes)), 15)
        bits = shifted(builder.mul(bits, _constant(0x846CA68B, lanes)), 16)
        scale = _spread(builder, values[4], lanes)
        return builder.select(builder.icmp_unsigned(">=", bits, threshold), scale, ir.Constant(scale.type, None))

    return Lanes(lanes), generate


# Of e^x - 1 - x over x^2 near 0, the highest power first (Cephes).
_POLYNOMIAL = (
    1.9875691500e-4,
    1.3981999507e-3,
    8.3334519073e-3,
    4.1665795894e-2,
    1.6666665459e-1,
    5.0000001201e-1,
)


def _padded(count: int) -> int:
    """The next power of two."""
    return 1 << (count - 1).bit_length()


def _pieces(count: int) -> list[tuple[int, int]]:
    """First lane and length of every piece in memory, each a power of two, the longest first."""
    lengths = [1 << bit for bit in reversed(range(count.bit_length())) if count >> bit & 1]
    return [(sum(lengths[:place]), length) for place, length in enumerate(lengths)]


def _floats(count: int) -> ir.VectorType:
    return ir.VectorType(_FLOAT, _padded(count))


def _integers(count: int) -> ir.VectorType:
    return ir.VectorType(_INT, _padded(count))


def _constant(value: int, count: int) -> ir.Constant:
    return ir.Constant(_integers(count), [value] * _padded(count))


def _place(builder: Any, array: Any, position: Any, start: int, kind: ir.Type) -> Any:
    """Where that kind of value is, so many floats behind a position of an array."""
    first = builder.gep(array, [position], source_etype=_FLOAT)
    place = builder.gep(first, [_INT(start)], source_etype=_FLOAT)
    # LLVM's pointers have no type. While llvmlite's have one, it must be that of what is stored.
    return builder.bitcast(place, ir.PointerType(kind)) if hasattr(place.type, "pointee") else place


def _spread(builder: Any, number: Any, count: int) -> Any:
    empty = ir.Constant(ir.VectorType(number.type, _padded(count)), ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(empty, number, _INT(0)), empty, _constant(0, count))


def _chosen(builder: Any, lanes: Any, numbers: Sequence[int]) -> Any:
    """The lanes of those numbers, in their order."""
    padding = _padded(len(numbers)) - len(numbers)
    undefined = ir.Constant(lanes.type, ir.Undefined)
    return builder.shuffle_vector(lanes, undefined, _constant_list([*numbers, *[0] * padding]))


def _with_piece(builder: Any, lanes: Any, piece: Any, start: int) -> Any:
    """The lanes with a piece in place of some of them."""
    total, length = lanes.type.count, piece.type.count
    undefined = ir.Constant(piece.type, ir.Undefined)
    wide = builder.shuffle_vector(piece, undefined, _constant_list([n % length for n in range(total)]))
    places = [total + n - start if start <= n < start + length else n for n in range(total)]
    return builder.shuffle_vector(lanes, wide, _constant_list(places))


def _with_zeros(builder: Any, lanes: Any, count: int) -> Any:
    """The lanes with 0 in those beyond the count."""
    places = [number if number < count else lanes.type.count for number in range(lanes.type.count)]
    return builder.shuffle_vector(lanes, ir.Constant(lanes.type, None), _constant_list(places))


def _constant_list(numbers: Sequence[int]) -> ir.Constant:
    return ir.Constant(ir.VectorType(_INT, len(numbers)), list(numbers))


def _larger(builder: Any, first: Any, second: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", first, second), first, second)


def _library_function(builder: Any, name: str, count: int) -> Any:
    """One of LLVM's functions of a vector."""
    kind = _floats(count)
    full = f"llvm.{name}.v{kind.count}f32"
    known = builder.module.globals.get(full)
    return known or ir.Function(builder.module, ir.FunctionType(kind, [kind]), full)
