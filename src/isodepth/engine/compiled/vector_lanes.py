"""Vector instructions on tiles of 64 bytes, for loops that a compiler does not vectorise itself.

These few operations on whole tiles stay in registers; LLVM maps them to whatever vectors the
processor has. `plain_lanes` has the same operations as loops. Types of what is loaded and stored
are given with every instruction: pointers of LLVM no longer know what they point to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

#: The size of a tile.
TILE_BYTES = 64
_INDEX = types.int64


def _check_arrays(name: str, *arrays: Any, index: Any = None) -> None:
    """Refuse, while compiling, arrays whose numbers do not lie as the instructions take them."""
    real = arrays[0].dtype if isinstance(arrays[0], types.Array) else None
    for array in arrays:
        if not isinstance(array, types.Array) or array.layout != "C":
            raise TypingError(f"{name} takes C-contiguous arrays, got {array}")
        if array.dtype != real or not isinstance(real, types.Float):
            raise TypingError(f"{name} takes arrays of one float dtype, got {real} and {array}")
    if index is not None and not (
        isinstance(index, types.Array) and index.layout == "C" and index.dtype == _INDEX
    ):
        raise TypingError(f"{name} takes a C-contiguous array of int64 numbers, got {index}")


class _Lanes:
    """Writes operations on tiles of one kind of float."""

    def __init__(self, context: Any, builder: Any, kind: Any) -> None:
        self.builder = builder
        self.context = context
        self.size = kind.dtype.bitwidth // 8
        self.width = TILE_BYTES // self.size
        self.number = context.get_value_type(kind.dtype)
        self.type = ir.VectorType(self.number, self.width)
        self.zero = ir.Constant(self.type, [0.0] * self.width)

    def array(self, kind: Any, value: Any) -> Any:
        return self.context.make_array(kind)(self.context, self.builder, value)

    def times(self, number: Any, factor: int) -> Any:
        return self.builder.mul(number, ir.Constant(number.type, factor))

    def _tile(self, array: Any, place: Any) -> Any:
        """Where the tile begins that starts at the flat `place` of an array."""
        start = self.builder.gep(array.data, [place], source_etype=self.number)
        return self.builder.bitcast(start, self.type.as_pointer())

    def load(self, array: Any, place: Any) -> Any:
        return self.builder.load(self._tile(array, place), align=self.size, typ=self.type)

    def store(self, vector: Any, array: Any, place: Any) -> None:
        self.builder.store(vector, self._tile(array, place), align=self.size)

    def repeat(self, number: Any) -> Any:
        nothing = ir.Constant(self.type, ir.Undefined)
        index = ir.IntType(32)
        first = self.builder.insert_element(nothing, number, ir.Constant(index, 0))
        everywhere = ir.Constant(ir.VectorType(index, self.width), [0] * self.width)
        return self.builder.shuffle_vector(first, nothing, everywhere)

    def call(self, name: str, result: Any, *arguments: Any, fastmath: tuple[str, ...] = ()) -> Any:
        kind = ir.FunctionType(result, [a.type for a in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, arguments, fastmath=fastmath)

    def float_call(self, name: str, *arguments: Any) -> Any:
        full_name = f"llvm.{name}.v{self.width}f{8 * self.size}"
        return self.call(full_name, self.type, *arguments)

    def larger(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.exceeds(a, b), a, b)

    def smaller(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.exceeds(b, a), a, b)

    def exceeds(self, a: Any, b: Any) -> Any:
        return self.builder.fcmp_ordered(">", a, b, flags=("nnan", "nsz"))

    def distance(self, a: Any, b: Any) -> Any:
        return self.float_call("fabs", self.builder.fsub(a, b))

    def any(self, mask: Any) -> Any:
        """1 where any lane of a mask is set, else 0."""
        wide = ir.VectorType(ir.IntType(8 * self.size), self.width)
        name = f"llvm.vector.reduce.umax.v{self.width}i{8 * self.size}"
        found = self.call(name, wide.element, self.builder.sext(mask, wide))
        some = self.builder.icmp_unsigned("!=", found, ir.Constant(found.type, 0))
        return self.builder.zext(some, ir.IntType(64))

    def largest(self, vector: Any) -> Any:
        return self._extreme_float("fmax", vector)

    def smallest(self, vector: Any) -> Any:
        return self._extreme_float("fmin", vector)

    def _extreme_float(self, which: str, vector: Any) -> Any:
        name = f"llvm.vector.reduce.{which}.v{self.width}f{8 * self.size}"
        return self.call(name, self.type.element, vector, fastmath=("nnan", "nsz"))

    def products(self, tiles: Any, tile: Any, rows: Any, row: Any, height: int) -> list[Any]:
        """Products of one tile with `height` rows, summed over the columns in their order."""
        builder = self.builder
        d = builder.extract_value(tiles.shape, 1)
        tile_start = self.times(builder.mul(tile, d), self.width)
        starts = [
            builder.gep(
                rows.data,
                [builder.mul(builder.add(row, ir.Constant(row.type, k)), d)],
                source_etype=self.number,
            )
            for k in range(height)
        ]
        sums = [cgutils.alloca_once(builder, self.type) for _ in range(height)]
        for total in sums:
            builder.store(self.zero, total)
        with cgutils.for_range(builder, d) as loop:
            side = self.load(tiles, builder.add(tile_start, self.times(loop.index, self.width)))
            for start, total in zip(starts, sums, strict=True):
                at = builder.gep(start, [loop.index], source_etype=self.number)
                number = builder.load(at, typ=self.number)
                before = builder.load(total, typ=self.type)
                builder.store(self.float_call("fmuladd", self.repeat(number), side, before), total)
        return [builder.load(total, typ=self.type) for total in sums]


def _multiplier(height: int) -> Callable[..., None]:
    """`multiply(tiles, tile, rows, row, out, place, stride)`.

    Writes the products of one tile with `height` rows, from `row` on, to the flat places `place`,
    `place + stride`, ... of `out`.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        vectors = _Lanes(context, builder, kinds[0])
        tiles, rows, out = (vectors.array(kinds[i], args[i]) for i in (0, 2, 4))
        _, tile, _, row, _, place, stride = args
        for k, vector in enumerate(vectors.products(tiles, tile, rows, row, height)):
            vectors.store(vector, out, builder.add(place, vectors.times(stride, k)))
        return context.get_dummy_value()

    def multiply(typingctx, tiles, tile, rows, row, out, place, stride):  # type: ignore[no-untyped-def]
        _check_arrays("multiply", tiles, rows, out)
        arguments = (tiles, _INDEX, rows, _INDEX, out, _INDEX, _INDEX)
        return types.void(*arguments), codegen

    return intrinsic(multiply)


multiply_four = _multiplier(4)
multiply_one = _multiplier(1)


def _follower(height: int) -> Callable[..., int]:
    """`follow(tiles, tile, rows, row, range_, tops, lows, moves, place)`.

    Widens `range_` (2, lanes), the lowest and highest products so far with each lane of a tile, to
    `height` more rows, from `row` on. For every row that widens it anywhere, `moves[place]` is its
    number, `place` rises by one, and that row of `lows` and `tops` (., lanes) is the new range.
    Returns the new place; what comes after it may be overwritten.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        vectors = _Lanes(context, builder, kinds[0])
        tiles, rows, range_, tops, lows, moves = (
            vectors.array(kinds[i], args[i]) for i in (0, 2, 4, 5, 6, 7)
        )
        tile, row, place = args[1], args[3], args[8]
        products = vectors.products(tiles, tile, rows, row, height)
        ends = [ir.Constant(place.type, k * vectors.width) for k in range(2)]
        low, top = (vectors.load(range_, end) for end in ends)
        highest = functools.reduce(vectors.larger, products)
        lowest = functools.reduce(vectors.smaller, products)
        result = cgutils.alloca_once(builder, place.type)
        builder.store(place, result)
        wider = builder.or_(vectors.exceeds(highest, top), vectors.exceeds(low, lowest))
        with builder.if_then(builder.trunc(vectors.any(wider), ir.IntType(1))):
            for k, product in enumerate(products):
                wider = builder.or_(vectors.exceeds(product, top), vectors.exceeds(low, product))
                low, top = vectors.smaller(product, low), vectors.larger(product, top)
                number = builder.add(row, ir.Constant(row.type, k))
                at = builder.gep(moves.data, [place], source_etype=number.type)
                builder.store(number, at)
                after = vectors.times(builder.add(place, ir.Constant(place.type, 1)), vectors.width)
                vectors.store(low, lows, after)
                vectors.store(top, tops, after)
                place = builder.add(place, vectors.any(wider))
            for vector, end in zip((low, top), ends, strict=True):
                vectors.store(vector, range_, end)
            builder.store(place, result)
        return builder.load(result, typ=place.type)

    def follow(typingctx, tiles, tile, rows, row, range_, tops, lows, moves, place):  # type: ignore[no-untyped-def]
        _check_arrays("follow", tiles, rows, range_, tops, lows, index=moves)
        arguments = (tiles, _INDEX, rows, _INDEX, range_, tops, lows, moves, _INDEX)
        return _INDEX(*arguments), codegen

    return intrinsic(follow)


follow_four = _follower(4)
follow_one = _follower(1)


def _widest_gap() -> Callable[..., float]:
    """`widest_gap(tops, lows, one, other, gaps)`.

    The largest distance of two tops or two lows, those in rows `one` and `other` of `tops` and
    `lows` (., lanes); the largest of each lane go to `gaps` (lanes,).
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        vectors = _Lanes(context, builder, kinds[0])
        tops, lows, gaps = (vectors.array(kinds[i], args[i]) for i in (0, 1, 4))
        one, other = (vectors.times(args[i], vectors.width) for i in (2, 3))
        above, below = (
            vectors.distance(vectors.load(array, one), vectors.load(array, other))
            for array in (tops, lows)
        )
        gap = vectors.larger(above, below)
        vectors.store(gap, gaps, ir.Constant(args[2].type, 0))
        return vectors.largest(gap)

    def widest_gap(typingctx, tops, lows, one, other, gaps):  # type: ignore[no-untyped-def]
        _check_arrays("widest_gap", tops, lows, gaps)
        return tops.dtype(tops, lows, _INDEX, _INDEX, gaps), codegen

    return intrinsic(widest_gap)


widest_gap = _widest_gap()


def _nearest(folded: bool) -> Callable[..., float]:
    """`nearest(values, place, center, target)`.

    The smallest distance to `target` of the tile of `values` (n,) that starts at `place`, or if
    `folded`, of their distances to `center`.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        vectors = _Lanes(context, builder, kinds[0])
        _, place, center, target = args
        tile = vectors.load(vectors.array(kinds[0], args[0]), place)
        if folded:
            tile = vectors.distance(tile, vectors.repeat(center))
        return vectors.smallest(vectors.distance(tile, vectors.repeat(target)))

    def nearest(typingctx, values, place, center, target):  # type: ignore[no-untyped-def]
        _check_arrays("nearest", values)
        real = values.dtype
        return real(values, _INDEX, real, real), codegen

    return intrinsic(nearest)


nearest = _nearest(False)
nearest_folded = _nearest(True)
