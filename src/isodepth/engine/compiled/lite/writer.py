"""The text of one function in the language of LLVM: registers, places, blocks and numbers."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from isodepth.engine.compiled.lite.kinds import (
    ELEMENTS,
    FLOATS,
    Array,
    ArrayType,
    Fixed,
    LiteError,
    Number,
    arithmetic_kind,
    assembled,
    parts,
    texts_of,
)


def number_text(kind: str, value: Any) -> str:
    """A constant; floats by their bits, so that nothing is rounded on the way."""
    if kind in FLOATS:
        if kind == "float":
            value = struct.unpack("f", struct.pack("f", value))[0]
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    return str(int(value))


class Writer:
    """Writes instructions, one after the other.

    `flags` are the liberties of arithmetic with floats, "" for none; `declarations` collects the
    functions that are called and not defined.
    """

    def __init__(self, flags: str, declarations: dict[str, str]) -> None:
        self.flags = flags
        self.declarations = declarations
        self.places: list[str] = []
        self.lines: list[str] = []
        self._count = 0
        self.ended = False

    # -- text ----------------------------------------------------------------------------------

    def fresh(self) -> str:
        """A name that is not in use."""
        self._count += 1
        return f"%t{self._count}"

    def set(self, expression: str) -> str:
        """Write an instruction that gives a value, and return its name."""
        name = self.fresh()
        self.do(f"{name} = {expression}")
        return name

    def do(self, instruction: str) -> None:
        """Write an instruction."""
        if self.ended:
            # What follows a return or a break is never reached, but must be in a block.
            self.begin(self.label())
        self.lines.append("  " + instruction)

    def label(self) -> str:
        """A name for a block."""
        self._count += 1
        return f"b{self._count}"

    def begin(self, label: str) -> None:
        """Begin a block, reached from the one before where that has not ended."""
        if not self.ended:
            self.lines.append(f"  br label %{label}")
        self.lines.append(f"{label}:")
        self.ended = False

    def go(self, label: str) -> None:
        """End the block by a jump."""
        self.do(f"br label %{label}")
        self.ended = True

    def branch(self, condition: str, yes: str, no: str) -> None:
        """End the block by a choice."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        self.ended = True

    def call(self, name: str, result: str, *arguments: tuple[str, str], flags: str = "") -> str:
        """Call a function that is defined elsewhere, or an instruction that has a name."""
        kinds = ", ".join(kind for kind, _ in arguments)
        self.declarations[name] = f"declare {result} @{name}({kinds})"
        given = ", ".join(f"{kind} {text}" for kind, text in arguments)
        return self.set(f"call {flags} {result} @{name}({given})")

    @contextmanager
    def loop(self, count: str) -> Iterator[str]:
        """Repeat what is written inside; gives the number of the turn."""
        place = self.place("i64")
        self.do(f"store i64 0, ptr {place}")
        head, body, done = self.label(), self.label(), self.label()
        self.begin(head)
        turn = self.set(f"load i64, ptr {place}")
        self.branch(self.set(f"icmp slt i64 {turn}, {count}"), body, done)
        self.begin(body)
        yield turn
        self.do(f"store i64 {self.set(f'add nsw i64 {turn}, 1')}, ptr {place}")
        self.go(head)
        self.begin(done)

    # -- places of variables -------------------------------------------------------------------

    def place(self, memory: str) -> str:
        """Room for a number, which LLVM turns into registers."""
        name = self.fresh()
        self.places.append(f"  {name} = alloca {memory}")
        return name

    def places_for(self, kind: Any) -> list[str]:
        return [self.place(part) for part in parts(kind)]

    def keep(self, value: Any, kind: Any, places: list[str]) -> None:
        """Store a value, converted to a kind where it is a number."""
        if isinstance(kind, str):
            value = self.cast(value, kind)
        for part, text, place in zip(parts(kind), texts_of(value), places, strict=True):
            self.do(f"store {part} {text}, ptr {place}")

    def kept(self, kind: Any, places: list[str]) -> Any:
        """The value that was stored."""
        texts = [
            self.set(f"load {part}, ptr {place}")
            for part, place in zip(parts(kind), places, strict=True)
        ]
        return assembled(kind, texts)

    # -- numbers -------------------------------------------------------------------------------

    def number(self, value: Any) -> Number:
        """A value as a number in a register."""
        if isinstance(value, Number):
            return value
        if isinstance(value, Fixed) and isinstance(value.value, (bool, int, float)):
            kind = {bool: "i1", int: "i64", float: "double"}[type(value.value)]
            return Number(kind, number_text(kind, value.value))
        raise LiteError(f"a number is needed, got {value}")

    def cast(self, value: Any, kind: str) -> Number:
        """A number as one of another kind."""
        if isinstance(value, Fixed) and kind != "i1":
            return Number(kind, number_text(kind, value.value))
        value = self.number(value)
        if value.kind == kind:
            return value
        if kind == "i1":
            if value.kind in FLOATS:
                return Number("i1", self.set(f"fcmp une {value.kind} {value.text}, 0.0"))
            return Number("i1", self.set(f"icmp ne {value.kind} {value.text}, 0"))
        if value.kind in FLOATS:
            name = ("fpext" if kind == "double" else "fptrunc") if kind in FLOATS else "fptosi"
        elif kind in FLOATS:
            name = "uitofp" if value.kind == "i1" else "sitofp"
        elif value.kind == "i1":
            name = "zext"
        else:
            name = "sext" if kind == "i64" else "trunc"
        return Number(kind, self.set(f"{name} {value.kind} {value.text} to {kind}"))

    def binary(self, operation: str, left: Any, right: Any) -> Number:
        """A sum, difference, product, quotient, remainder, shift or combination of bits."""
        left, right = self.number(left), self.number(right)
        if operation in ("and", "or", "xor") and left.kind == right.kind == "i1":
            return Number("i1", self.set(f"{operation} i1 {left.text}, {right.text}"))
        kind = arithmetic_kind(left.kind, right.kind)
        if operation == "div":
            kind = kind if kind in FLOATS else "double"
        a, b = self.cast(left, kind).text, self.cast(right, kind).text
        if kind in FLOATS:
            if operation not in ("add", "sub", "mul", "div"):
                raise LiteError(f"no {operation} of floats")
            return Number(kind, self.set(f"f{operation} {self.flags} {kind} {a}, {b}"))
        if operation in ("floordiv", "rem"):
            return Number(kind, self._floor_division(operation, a, b))
        name = {"add": "add nsw", "sub": "sub nsw", "mul": "mul nsw", "shl": "shl", "shr": "ashr"}
        return Number(kind, self.set(f"{name.get(operation, operation)} {kind} {a}, {b}"))

    def _floor_division(self, operation: str, a: str, b: str) -> str:
        """Division of integers that rounds down, by a positive number."""
        remainder = self.set(f"srem i64 {a}, {b}")
        below = self.set(f"icmp slt i64 {remainder}, 0")
        if operation == "rem":
            more = self.set(f"add nsw i64 {remainder}, {b}")
            return self.set(f"select i1 {below}, i64 {more}, i64 {remainder}")
        quotient = self.set(f"sdiv i64 {a}, {b}")
        return self.set(f"sub nsw i64 {quotient}, {self.set(f'zext i1 {below} to i64')}")

    def compare(self, operation: str, left: Any, right: Any) -> Number:
        """A comparison, by the names eq, ne, lt, le, gt, ge."""
        left, right = self.number(left), self.number(right)
        kind = arithmetic_kind(left.kind, right.kind)
        a, b = self.cast(left, kind).text, self.cast(right, kind).text
        if kind in FLOATS:
            name = "une" if operation == "ne" else f"o{operation}"
            return Number("i1", self.set(f"fcmp {self.flags} {name} {kind} {a}, {b}"))
        name = operation if operation in ("eq", "ne") else f"s{operation}"
        return Number("i1", self.set(f"icmp {name} i64 {a}, {b}"))

    def negative(self, value: Any) -> Any:
        if isinstance(value, Fixed):
            return Fixed(-value.value)
        if value.kind in FLOATS:
            return Number(value.kind, self.set(f"fneg {self.flags} {value.kind} {value.text}"))
        return self.binary("sub", Fixed(0), value)

    def absolute(self, value: Any) -> Number:
        value = self.number(value)
        if value.kind in FLOATS:
            suffix = "f64" if value.kind == "double" else "f32"
            return Number(
                value.kind, self.call(f"llvm.fabs.{suffix}", value.kind, (value.kind, value.text))
            )
        value = self.cast(value, "i64")
        below = self.compare("lt", value, Fixed(0))
        return self.choose(below, self.binary("sub", Fixed(0), value), value)

    def choose(self, condition: Number, yes: Number, no: Number) -> Number:
        chosen = f"select i1 {condition.text}, {yes.kind} {yes.text}, {no.kind} {no.text}"
        return Number(yes.kind, self.set(chosen))

    # -- arrays --------------------------------------------------------------------------------

    def _offset(self, array: Array, index: list[Any]) -> str:
        """Where the element, or the part of it, at the first few indices begins."""
        numbers = [self.cast(self.number(i), "i64").text for i in index]
        if not array.type.dense:
            at = array.data
            for number, stride in zip(numbers, array.strides, strict=False):
                step = self.set(f"mul nsw i64 {number}, {stride}")
                at = self.set(f"getelementptr inbounds i8, ptr {at}, i64 {step}")
            return at
        flat = numbers[0]
        for axis in range(1, len(array.shape)):
            flat = self.set(f"mul nsw i64 {flat}, {array.shape[axis]}")
            if axis < len(numbers):
                flat = self.set(f"add nsw i64 {flat}, {numbers[axis]}")
        memory = array.element.memory
        return self.set(f"getelementptr inbounds {memory}, ptr {array.data}, i64 {flat}")

    def item(self, array: Array, index: list[Any]) -> Any:
        """An element, or where there are fewer indices than dimensions, a part of the array."""
        at = self._offset(array, index)
        if len(index) < array.type.ndim:
            rest = len(index)
            kind = ArrayType(array.type.element, array.type.ndim - rest, array.type.dense)
            return Array(kind, at, array.shape[rest:], array.strides[rest:])
        element = array.element
        text = self.set(f"load {element.memory}, ptr {at}")
        if element.kind == "i1":
            return Number("i1", self.set(f"icmp ne i8 {text}, 0"))
        if element.memory != element.kind:
            text = self.set(f"zext {element.memory} {text} to {element.kind}")
        return Number(element.kind, text)

    def set_item(self, array: Array, index: list[Any], value: Any) -> None:
        if len(index) != array.type.ndim:
            raise LiteError("numbers are assigned, one at a time")
        element = ELEMENTS[array.type.element]
        number = self.cast(value, element.kind)
        text = number.text
        if element.memory != element.kind:
            way = "zext" if element.kind == "i1" else "trunc"
            text = self.set(f"{way} {element.kind} {text} to {element.memory}")
        self.do(f"store {element.memory} {text}, ptr {self._offset(array, index)}")

    def part(self, array: Array, start: Any, stop: Any) -> Array:
        """The rows start..stop of an array."""
        start, stop = (self.cast(self.number(i), "i64") for i in (start, stop))
        length = self.binary("sub", stop, start).text
        at = self._offset(array, [start])
        return Array(array.type, at, (length, *array.shape[1:]), array.strides)
