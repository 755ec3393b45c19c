"""Expressions of Python, written as instructions of LLVM."""

from __future__ import annotations

import ast
import builtins
import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from isodepth.engine.compiled.lite.kinds import (
    ELEMENTS,
    FLOATS,
    SAME,
    Array,
    Fixed,
    Group,
    LiteError,
    Number,
    Record,
    RecordType,
    join,
)
from isodepth.engine.compiled.lite.writer import Writer

_BINARY: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("div", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("rem", operator.mod),
    ast.LShift: ("shl", operator.lshift),
    ast.RShift: ("shr", operator.rshift),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
}
_COMPARE: dict[type, str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
#: Functions of two or one double, and their names: those of LLVM, or of the library of C.
_FUNCTIONS = {
    math.hypot: "_hypot" if sys.platform == "win32" else "hypot",
    math.exp: "llvm.exp.f64",
    math.expm1: "expm1",
    math.log: "llvm.log.f64",
    math.log1p: "log1p",
}


class Expressions:
    """Evaluates expressions with the variables of one function.

    Parameters
    ----------
    out : Writer
    names : the globals of the function, for what is no variable
    call : `call(loop, values)` writes the call of another translated function
    """

    def __init__(self, out: Writer, names: dict[str, Any], call: Callable[..., Any]) -> None:
        self.out = out
        self._names = names
        self._call_loop = call
        #: Types of the variables, and where they are kept; what is known while translating.
        self.types: dict[str, Any] = {}
        self.places: dict[str, list[str]] = {}
        self.known: dict[str, Any] = {}
        #: Whether a variable turned out to be wider than what was written so far took it for.
        self.widened = False

    def value(self, node: ast.expr) -> Any:
        """Write an expression, and return its value."""
        return getattr(self, f"_{type(node).__name__}", self._unknown)(node)

    def truth(self, node: ast.expr) -> Number:
        """A condition."""
        return self.out.cast(self.out.number(self.value(node)), "i1")

    def assign(self, name: str, value: Any) -> None:
        """Let a variable be a value."""
        if isinstance(value, Fixed) and isinstance(value.value, (bool, int, float)):
            value = self.out.number(value)
        if isinstance(value, (Fixed, Group, Record)):
            self.known[name] = value
            return
        before = self.types.get(name, value.type)
        kind = self.types[name] = join(before, value.type)
        self.widened |= kind != before
        if name not in self.places:
            self.places[name] = self.out.places_for(kind)
        if len(self.places[name]) and kind == before:
            self.out.keep(value, kind, self.places[name])

    def _unknown(self, node: ast.expr) -> Any:
        raise LiteError(f"line {node.lineno}: {type(node).__name__} is not translated")

    def _Constant(self, node: ast.Constant) -> Any:
        return Fixed(node.value)

    def _Name(self, node: ast.Name) -> Any:
        if node.id in self.known:
            return self.known[node.id]
        if node.id in self.places:
            return self.out.kept(self.types[node.id], self.places[node.id])
        if node.id in self._names:
            return Fixed(self._names[node.id])
        if hasattr(builtins, node.id):
            return Fixed(getattr(builtins, node.id))
        raise LiteError(f"line {node.lineno}: {node.id} is not known here")

    def _Tuple(self, node: ast.Tuple) -> Group:
        return Group(tuple(self.value(one) for one in node.elts))

    def _Attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Fixed):
            return Fixed(getattr(owner.value, node.attr))
        if isinstance(owner, Record):
            return owner.values[owner.type.names.index(node.attr)]
        if isinstance(owner, Array):
            if node.attr == "shape":
                return Group(tuple(Number("i64", text) for text in owner.shape))
            if node.attr in ("dtype", "itemsize"):
                return Fixed(getattr(np.empty(0, owner.type.element), node.attr))
        raise LiteError(f"line {node.lineno}: .{node.attr} is not translated")

    def _Subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            start = self.value(node.slice.lower) if node.slice.lower else Fixed(0)
            length = Number("i64", owner.shape[0])
            return self.out.part(
                owner, start, self.value(node.slice.upper) if node.slice.upper else length
            )
        index = self.value(node.slice)
        if isinstance(owner, Group):
            return owner.values[index.value]
        if isinstance(owner, Fixed):
            return Fixed(owner.value[index.value])
        return self.out.item(owner, self.indices(index))

    def indices(self, index: Any) -> list[Any]:
        """One index or several."""
        return list(index.values) if isinstance(index, Group) else [index]

    def _BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Pow):
            return self._power(left, right)
        return self.combined(type(node.op), left, right)

    def _power(self, base: Any, exponent: Any) -> Any:
        if isinstance(exponent, Fixed) and exponent.value == 2:
            return self.out.binary("mul", base, base)
        if isinstance(base, Fixed) and isinstance(exponent, Fixed):
            return Fixed(base.value**exponent.value)
        given = [("double", self.out.cast(one, "double").text) for one in (base, exponent)]
        return Number("double", self.out.call("llvm.pow.f64", "double", *given))

    def combined(self, operation: type, left: Any, right: Any) -> Any:
        """The result of an operation of two values."""
        name, function = _BINARY[operation]
        if isinstance(left, Fixed) and isinstance(right, Fixed):
            return Fixed(function(left.value, right.value))
        return self.out.binary(name, left, right)

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return Number("i1", self.out.set(f"xor i1 {self.truth(node.operand).text}, true"))
        if isinstance(node.op, ast.USub):
            return self.out.negative(self.value(node.operand))
        if isinstance(node.op, ast.Invert):
            value = self.value(node.operand)
            return Fixed(~value.value) if isinstance(value, Fixed) else (
                self.out.binary("xor", self.out.cast(value, "i64"), Fixed(-1))
            )  # fmt: skip
        return self._unknown(node)

    def _Compare(self, node: ast.Compare) -> Number:
        values = [self.value(one) for one in (node.left, *node.comparators)]
        found = None
        for operation, left, right in zip(node.ops, values, values[1:], strict=False):
            here = self.out.compare(_COMPARE[type(operation)], left, right)
            found = here if found is None else self.out.binary("and", found, here)
        assert found is not None
        return found

    def _BoolOp(self, node: ast.BoolOp) -> Number:
        place = [self.out.place("i1")]
        done = self.out.label()
        for one in node.values:
            truth = self.truth(one)
            self.out.keep(truth, "i1", place)
            more = self.out.label()
            yes, no = (more, done) if isinstance(node.op, ast.And) else (done, more)
            self.out.branch(truth.text, yes, no)
            self.out.begin(more)
        self.out.go(done)
        self.out.begin(done)
        return self.out.kept("i1", place)  # type: ignore[no-any-return]

    def _IfExp(self, node: ast.IfExp) -> Any:
        out = self.out
        condition = self.truth(node.test)
        yes, no, done = out.label(), out.label(), out.label()
        out.branch(condition.text, yes, no)
        # The kind is known once both sides are written: each ends at a block that stores it.
        sides = []
        for label, side in ((yes, node.body), (no, node.orelse)):
            out.begin(label)
            value = self.value(side)
            value = out.number(value) if isinstance(value, Fixed) else value
            store = out.label()
            out.go(store)
            sides.append((store, value))
        kind = join(sides[0][1].type, sides[1][1].type)
        places = out.places_for(kind)
        for store, value in sides:
            out.begin(store)
            out.keep(value, kind, places)
            out.go(done)
        out.begin(done)
        return out.kept(kind, places)

    def _Call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        if not isinstance(function, Fixed) or node.keywords:
            raise LiteError(f"line {node.lineno}: this call is not translated")
        called = function.value
        values = [self.value(one) for one in node.args]
        if hasattr(called, "write_call"):
            # An operation on tiles, which has a text of its own.
            return called.write_call(self.out, *values)
        if hasattr(called, "lite_source"):
            return self._call_loop(called, values)
        if isinstance(called, type) and issubclass(called, np.generic):
            return self._converted(np.dtype(called).char, values[0])
        if isinstance(called, type) and issubclass(called, tuple):
            kinds = tuple(one.type for one in values)
            return Record(RecordType(called._fields, kinds), tuple(values))  # type: ignore[attr-defined]
        if called is abs:
            return self.out.absolute(values[0])
        if called in (min, max):
            return self._extreme("lt" if called is min else "gt", *values)
        if called in (math.sqrt, np.sqrt):
            number = self.out.number(values[0])
            if called is math.sqrt or number.kind not in FLOATS:
                number = self.out.cast(number, "double")
            suffix = "f64" if number.kind == "double" else "f32"
            text = self.out.call(f"llvm.sqrt.{suffix}", number.kind, (number.kind, number.text))
            return Number(number.kind, text)
        if called in _FUNCTIONS:
            given = [("double", self.out.cast(one, "double").text) for one in values]
            return Number("double", self.out.call(_FUNCTIONS[called], "double", *given))
        raise LiteError(f"line {node.lineno}: {called} is not translated")

    def _converted(self, dtype: str, value: Any) -> Number:
        element = ELEMENTS[SAME.get(dtype, dtype)]
        number = self.out.cast(value, element.kind)
        if element.kind == "i64" and element.size < 8:
            narrow = self.out.set(f"trunc i64 {number.text} to {element.memory}")
            return Number("i64", self.out.set(f"zext {element.memory} {narrow} to i64"))
        return number

    def _extreme(self, which: str, first: Any, second: Any) -> Any:
        """min(first, second) or max, in the order in which Python compares."""
        if isinstance(first, Fixed) and isinstance(second, Fixed):
            return Fixed(
                min(first.value, second.value) if which == "lt" else max(first.value, second.value)
            )
        first, second = self.out.number(first), self.out.number(second)
        kind = join(first.kind, second.kind)
        first, second = self.out.cast(first, kind), self.out.cast(second, kind)
        return self.out.choose(self.out.compare(which, second, first), second, first)
