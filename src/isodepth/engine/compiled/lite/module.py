"""A whole text in the language of LLVM: a function, all that it calls, and an entry for Python."""

from __future__ import annotations

from typing import Any

from isodepth.engine.compiled.lite.function import Body, Source, Written
from isodepth.engine.compiled.lite.kinds import FLOATS, ArrayType, leaves
from isodepth.engine.compiled.lite.writer import Writer

#: The function that Python calls.
ENTRY = "entry"


class Module:
    """A text in the making: functions are added, with all that they call."""

    def __init__(self) -> None:
        self._written: dict[Any, Written] = {}
        self._texts: list[str] = []
        self._declarations: dict[str, str] = {}

    def add(self, source: Source, types: tuple[Any, ...]) -> Written:
        """Write a function for arguments of given types, once."""
        key = (source, types)
        if key not in self._written:
            name = f"{source.function.__name__}.{len(self._written)}"
            self._written[key] = Written(name, ())
            body = Body(self.add, source, types, self._declarations)
            written, text = body.settled(name)
            self._written[key] = written
            self._texts.append(text)
        return self._written[key]

    def __len__(self) -> int:
        return len(self._texts)

    def text_with_entry(
        self, source: Source, types: tuple[Any, ...]
    ) -> tuple[str, tuple[str, ...]]:
        """The text of everything, and the kinds of the results, with an entry for Python.

        That takes the addresses of two rows of places of 8 bytes: one with numbers, and for each
        array the address of its object; and one for the results.
        """
        written = self.add(source, types)
        out = Writer("", self._declarations)
        given = []
        for place, kind in enumerate(leaf for one in types for leaf in leaves(one)):
            at = out.set(f"getelementptr i8, ptr %slots, i64 {8 * place}")
            if isinstance(kind, str):
                given.append(f"{kind} {out.set(f'load {kind}, ptr {at}')}")
            else:
                given += _opened(out, kind, out.set(f"load ptr, ptr {at}"))
        call = f"call {written.result} @{written.name}({', '.join(given)})"
        if written.results:
            for place, value in enumerate(written.taken_apart(out, out.set(call))):
                wide = value if value.kind in FLOATS else out.cast(value, "i64")
                at = out.set(f"getelementptr i8, ptr %results, i64 {8 * place}")
                out.do(f"store {wide.kind} {wide.text}, ptr {at}")
        else:
            out.do(call)
        out.do("ret void")
        entry = [f"define void @{ENTRY}(ptr %slots, ptr %results) {{", *out.lines, "}"]
        text = [*self._declarations.values(), *self._texts, *entry, ""]
        return "\n".join(text), written.results


def _opened(out: Writer, kind: ArrayType, address: str) -> list[str]:
    """What is in the object of an array, as it is passed on.

    After what Python has at the beginning of every object NumPy has, as part of its interface, the
    address of the numbers, how many dimensions there are, and where the shape and the strides are.
    """
    head = object.__basicsize__
    fields = []
    for offset in (0, 16, 24):
        place = out.set(f"getelementptr i8, ptr {address}, i64 {head + offset}")
        fields.append(out.set(f"load ptr, ptr {place}"))
    given = [f"ptr {fields[0]}"]
    for field in fields[1 : 2 if kind.dense else 3]:
        for axis in range(kind.ndim):
            place = out.set(f"getelementptr i64, ptr {field}, i64 {axis}")
            given.append(f"i64 {out.set(f'load i64, ptr {place}')}")
    return given
