"""What numbers, arrays and records are while a loop is translated: goes into compiled code.

A *kind* is the type of a number in a register: ``i1``, ``i32``, ``i64``, ``float`` or ``double``,
by the names of LLVM. The type of a value is its kind, or an :class:`ArrayType`, or a
:class:`RecordType`; a value is one of these with the names that its parts have in the text.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class LiteError(Exception):
    """The loop is not in the subset of Python that is translated."""


#: Kinds from narrow to wide; the join of a float32 and an integer is a double, as in NumPy.
KINDS = ("i1", "i32", "i64", "float", "double")
FLOATS = ("float", "double")


class Element(NamedTuple):
    """How numbers of a dtype lie in memory, and the kind they have once loaded."""

    memory: str
    kind: str
    size: int
    signed: bool = True


#: By the character that NumPy has for a dtype.
ELEMENTS = {
    "d": Element("double", "double", 8),
    "f": Element("float", "float", 4),
    "q": Element("i64", "i64", 8),
    "i": Element("i32", "i32", 4),
    "I": Element("i32", "i64", 4, False),
    "B": Element("i8", "i64", 1, False),
    "?": Element("i8", "i1", 1, False),
}
#: Two names for the integers of 64 bits, one of which differs between systems.
SAME = {"l": "q", "L": "Q"} if np.dtype("l").itemsize == 8 else {"l": "i", "L": "I"}


class ArrayType(NamedTuple):
    """An array of `ndim` dimensions; `dense` where numbers lie side by side in C order."""

    element: str
    ndim: int
    dense: bool


class RecordType(NamedTuple):
    """A named tuple."""

    names: tuple[str, ...]
    types: tuple[Any, ...]


class Number(NamedTuple):
    """A number in a register."""

    kind: str
    text: str

    @property
    def type(self) -> str:
        return self.kind


class Array(NamedTuple):
    """An array: where it begins, its shape, and where it is not dense its strides in bytes."""

    type: ArrayType
    data: str
    shape: tuple[str, ...]
    strides: tuple[str, ...] = ()

    @property
    def element(self) -> Element:
        return ELEMENTS[self.type.element]


class Record(NamedTuple):
    """A named tuple of values."""

    type: RecordType
    values: tuple[Any, ...]


class Group(NamedTuple):
    """A tuple, which lives only to be taken apart."""

    values: tuple[Any, ...]


class Fixed(NamedTuple):
    """Something known while translating: a number, a function, a module, a dtype."""

    value: Any


def join(a: Any, b: Any) -> Any:
    """The type that can hold both."""
    if a == b:
        return a
    if a not in KINDS or b not in KINDS:
        raise LiteError(f"one variable cannot be both {a} and {b}")
    if "float" in (a, b):
        return "double"
    return max(a, b, key=KINDS.index)


def arithmetic_kind(a: str, b: str) -> str:
    """The kind of a sum or product: integers are widened to 64 bits."""
    kind = join(a, b)
    return kind if kind in FLOATS else "i64"


def parts(kind: Any) -> list[str]:
    """The types in LLVM of the parts of a value, in order."""
    if isinstance(kind, ArrayType):
        return ["ptr"] + ["i64"] * (kind.ndim * (1 if kind.dense else 2))
    if isinstance(kind, RecordType):
        return [part for one in kind.types for part in parts(one)]
    return [kind]


def assembled(kind: Any, texts: list[str]) -> Any:
    """The value of a type from the texts of its parts, which are taken from the front."""
    if isinstance(kind, ArrayType):
        data = texts.pop(0)
        shape = tuple(texts.pop(0) for _ in range(kind.ndim))
        strides = () if kind.dense else tuple(texts.pop(0) for _ in range(kind.ndim))
        return Array(kind, data, shape, strides)
    if isinstance(kind, RecordType):
        return Record(kind, tuple(assembled(one, texts) for one in kind.types))
    return Number(kind, texts.pop(0))


def texts_of(value: Any) -> list[str]:
    """The texts of the parts of a value."""
    if isinstance(value, Array):
        return [value.data, *value.shape, *value.strides]
    if isinstance(value, Record):
        return [text for one in value.values for text in texts_of(one)]
    return [value.text]


def leaves(kind: Any) -> list[Any]:
    """The kinds of numbers and the types of arrays in a type."""
    if isinstance(kind, RecordType):
        return [leaf for one in kind.types for leaf in leaves(one)]
    return [kind]
