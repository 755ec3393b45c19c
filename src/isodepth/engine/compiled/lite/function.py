"""Functions of Python, written as functions of LLVM."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from typing import Any

from isodepth.engine.compiled.lite.expressions import Expressions
from isodepth.engine.compiled.lite.kinds import (
    Fixed,
    Group,
    LiteError,
    Number,
    assembled,
    join,
    parts,
    texts_of,
)
from isodepth.engine.compiled.lite.writer import Writer

# Longer functions stay functions: as parts of whatever calls them they would be optimized again and
# again, which takes most of the time and gains next to nothing.
_LONG = 120


class Source:
    """A Python function, and the liberties that arithmetic with its floats may take."""

    def __init__(self, function: Callable[..., Any], flags: str) -> None:
        self.function = function
        self.flags = flags
        self.names = function.__globals__

    @property
    def tree(self) -> ast.FunctionDef:
        """The function as it was written."""
        code = self.function.__code__
        path = code.co_filename
        if path not in _functions:
            text = "".join(linecache.getlines(path, self.names))
            _functions[path] = {
                min([node.lineno, *(one.lineno for one in node.decorator_list)]): node
                for node in ast.parse(text).body
                if isinstance(node, ast.FunctionDef)
            }
        found = _functions[path].get(code.co_firstlineno)
        if found is None or found.name != self.function.__name__:
            raise LiteError(f"the source of {self.function.__name__} is not to be found in {path}")
        return found


#: The functions of each file, by the line in which they begin, with their decorators.
_functions: dict[str, dict[int, ast.FunctionDef]] = {}


class Written:
    """A function in the text: its name, and the kinds of what it returns."""

    def __init__(self, name: str, results: tuple[str, ...]) -> None:
        self.name = name
        self.results = results

    @property
    def result(self) -> str:
        """What it returns, in LLVM: nothing, a number, or several in one."""
        if len(self.results) < 2:
            return self.results[0] if self.results else "void"
        return "{ " + ", ".join(self.results) + " }"

    def taken_apart(self, out: Writer, found: str) -> list[Number]:
        """The numbers in what a call has returned."""
        if len(self.results) == 1:
            return [Number(self.results[0], found)]
        return [
            Number(kind, out.set(f"extractvalue {self.result} {found}, {k}"))
            for k, kind in enumerate(self.results)
        ]


class Body:
    """Writes the statements of one function.

    Parameters
    ----------
    add : `add(source, types)` writes another function, which is called
    source : Source
    types : those of its arguments
    declarations : collects the functions that are called and defined nowhere
    """

    def __init__(
        self,
        add: Callable[[Source, tuple[Any, ...]], Written],
        source: Source,
        types: tuple[Any, ...],
        declarations: dict[str, str],
    ) -> None:
        self._add = add
        self._source = source
        self._types = types
        self._declarations = declarations
        self._results: tuple[str, ...] | None = None

    def settled(self, name: str) -> tuple[Written, str]:
        """Write it until no variable turns out to be wider than before."""
        known: dict[str, Any] = {}
        while True:
            self._out = out = Writer(self._source.flags, self._declarations)
            self._at = Expressions(out, self._source.names, self._call)
            self._at.types = known
            self._results_widened = False
            self._loops: list[tuple[str, str]] = []
            texts = self._write()
            if not (self._at.widened or self._results_widened):
                break
        written = Written(name, self._results or ())
        apart = " noinline" if len(out.lines) > _LONG else ""
        head = f"define internal {written.result} @{name}({', '.join(texts)}) nounwind{apart} {{"
        return written, "\n".join([head, *out.places, *out.lines, "}"])

    def _write(self) -> list[str]:
        tree = self._source.tree
        arguments = [one.arg for one in tree.args.args]
        if len(arguments) != len(self._types):
            raise LiteError(f"{tree.name} takes {len(arguments)} arguments, got {len(self._types)}")
        texts = []
        for place, (name, kind) in enumerate(zip(arguments, self._types, strict=True)):
            kinds = parts(kind)
            names = [f"%a{place}.{k}" for k in range(len(kinds))]
            texts += [f"{one} {text}" for one, text in zip(kinds, names, strict=True)]
            self._at.assign(name, assembled(kind, names))
        self._block(tree.body)
        if not self._out.ended:
            self._out.do("ret void" if not self._results else "unreachable")
        return texts

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            name = f"_{type(statement).__name__}"
            if not hasattr(self, name):
                raise LiteError(f"line {statement.lineno}: {name[1:]} is not translated")
            getattr(self, name)(statement)

    def _Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self._at.value(node.value)

    def _Pass(self, node: ast.Pass) -> None:
        pass

    def _Assign(self, node: ast.Assign) -> None:
        value = self._at.value(node.value)
        for target in node.targets:
            self._set(target, value)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        assert node.value is not None
        self._set(node.target, self._at.value(node.value))

    def _set(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self._at.assign(target.id, value)
        elif isinstance(target, ast.Tuple):
            # A tuple is taken apart, a named one too.
            for one, part in zip(target.elts, value.values, strict=True):
                self._set(one, part)
        elif isinstance(target, ast.Subscript):
            index = self._at.indices(self._at.value(target.slice))
            self._out.set_item(self._at.value(target.value), index, value)
        else:
            raise LiteError(f"line {target.lineno}: this cannot be assigned to")

    def _AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            array = self._at.value(node.target.value)
            index = self._at.indices(self._at.value(node.target.slice))
            before = self._out.item(array, index)
            after = self._at.combined(type(node.op), before, self._at.value(node.value))
            self._out.set_item(array, index, after)
            return
        before = self._at.value(node.target)
        after = self._at.combined(type(node.op), before, self._at.value(node.value))
        self._set(node.target, after)

    def _If(self, node: ast.If) -> None:
        out = self._out
        condition = self._at.truth(node.test)
        yes, no, done = out.label(), out.label(), out.label()
        out.branch(condition.text, yes, no)
        for label, statements in ((yes, node.body), (no, node.orelse)):
            out.begin(label)
            self._block(statements)
            if not out.ended:
                out.go(done)
        out.begin(done)

    def _While(self, node: ast.While) -> None:
        out = self._out
        head, body, done = out.label(), out.label(), out.label()
        out.begin(head)
        forever = isinstance(node.test, ast.Constant) and node.test.value is True
        if not forever:
            out.branch(self._at.truth(node.test).text, body, done)
        out.begin(body)
        self._loop(node.body, head, done)
        out.begin(done)

    def _loop(self, statements: list[ast.stmt], again: str, done: str) -> None:
        self._loops.append((again, done))
        self._block(statements)
        if not self._out.ended:
            self._out.go(again)
        self._loops.pop()

    def _For(self, node: ast.For) -> None:
        out = self._out
        ranged = isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range"
        if not ranged or not isinstance(node.target, ast.Name):
            raise LiteError(f"line {node.lineno}: only loops over a range are translated")
        values = [self._at.value(one) for one in node.iter.args]  # type: ignore[attr-defined]
        if len(values) == 1:
            values.insert(0, Fixed(0))
        step = values[2].value if len(values) == 3 and isinstance(values[2], Fixed) else 1
        if len(values) == 3 and not isinstance(values[2], Fixed):
            # Of a step that is not known it is known that it is positive.
            step = self._out.cast(values[2], "i64").text
        start, stop = (out.cast(one, "i64") for one in values[:2])
        place = [out.place("i64")]
        out.keep(start, "i64", place)
        head, body, more, done = (out.label() for _ in range(4))
        out.begin(head)
        turn = out.kept("i64", place)
        below = "sgt" if isinstance(step, int) and step < 0 else "slt"
        out.branch(out.set(f"icmp {below} i64 {turn.text}, {stop.text}"), body, done)
        out.begin(body)
        self._at.assign(node.target.id, turn)
        self._loop(node.body, more, done)
        out.begin(more)
        after = out.set(f"add nsw i64 {turn.text}, {step}")
        out.keep(Number("i64", after), "i64", place)
        out.go(head)
        out.begin(done)

    def _Break(self, node: ast.Break) -> None:
        self._out.go(self._loops[-1][1])

    def _Continue(self, node: ast.Continue) -> None:
        self._out.go(self._loops[-1][0])

    def _Return(self, node: ast.Return) -> None:
        out = self._out
        if node.value is None:
            out.do("ret void")
            out.ended = True
            return
        value = self._at.value(node.value)
        values = [
            out.number(one) for one in (value.values if isinstance(value, Group) else (value,))
        ]
        kinds = tuple(one.kind for one in values)
        before = kinds if self._results is None else self._results
        self._results = tuple(join(a, b) for a, b in zip(before, kinds, strict=True))
        self._results_widened |= self._results != before
        written = Written("", self._results)
        values = [out.cast(one, kind) for one, kind in zip(values, self._results, strict=True)]
        if len(values) == 1:
            out.do(f"ret {values[0].kind} {values[0].text}")
        else:
            whole = "poison"
            for k, one in enumerate(values):
                whole = out.set(f"insertvalue {written.result} {whole}, {one.kind} {one.text}, {k}")
            out.do(f"ret {written.result} {whole}")
        out.ended = True

    def _call(self, loop: Any, values: list[Any]) -> Any:
        """Write the call of another function."""
        out = self._out
        values = [out.number(one) if isinstance(one, Fixed) else one for one in values]
        types = tuple(one.type for one in values)
        written = self._add(loop.lite_source, types)
        given = [
            f"{part} {text}"
            for one in values
            for part, text in zip(parts(one.type), texts_of(one), strict=True)
        ]
        call = f"call {written.result} @{written.name}({', '.join(given)})"
        if not written.results:
            out.do(call)
            return Group(())
        values = written.taken_apart(out, out.set(call))
        return values[0] if len(values) == 1 else Group(tuple(values))
