"""Which tests can notice a change in a line: those that execute it, the cheapest first."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class RecordedTest:
    """What one run of a test showed: its seconds, and the lines of each file that it executed."""

    seconds: float
    passed: bool
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)


def span(node: ast.AST) -> range:
    """Lines of a node, its decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return range(first, node.end_lineno + 1)


def header(statement: ast.stmt) -> range:
    """Lines of a statement; of a compound one only those before its body."""
    body = getattr(statement, "body", None)
    if not body:
        return span(statement)
    return range(span(statement).start, max(span(body[0]).start, statement.lineno + 1))


def lines_to_watch(text: str, line: int) -> frozenset[int]:
    """The lines whose execution shows that a test can notice a change in `line`.

    Inside a function, the statement that the line belongs to: an expression over several lines
    reports only some of them. In the head of a function, such as a default value, the body of the
    function. Everything else happens once, at import, whichever test is first: any function of the
    file.
    """
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    bodies = [range(span(f.body[0]).start, f.end_lineno + 1) for f in functions]
    holders = [body for body in bodies if line in body]
    if holders:
        innermost = min(holders, key=len)
        statements = [
            header(node)
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and line in header(node)
        ]
        statements += [
            span(handler)
            for node in ast.walk(tree)
            if isinstance(node, ast.Try)
            for handler in node.handlers
            if line in span(handler)
        ]
        inner = [lines for lines in statements if lines.start >= innermost.start]
        return frozenset(min(inner, key=len, default=innermost))
    heads = [
        body for function, body in zip(functions, bodies, strict=True) if line in header(function)
    ]
    return frozenset().union(*(heads or bodies))


def select(tests: Mapping[str, RecordedTest], file: str, watched: frozenset[int]) -> list[str]:
    """Tests that passed and executed one of the lines, the cheapest first.

    Those of the same room may cost three times as much: a line that everything executes has more
    tests than there is time for, and those written for its room are the likeliest to notice.
    """
    touching = [
        name
        for name, test in tests.items()
        if test.passed and not watched.isdisjoint(test.lines.get(file, frozenset()))
    ]
    room = file.removeprefix("src/isodepth/").split("/")[0]
    near = (f"tests/{room}/", f"{file}::")

    def cost(name: str) -> tuple[float, str]:
        return tests[name].seconds * (1 if name.startswith(near) else 3), name

    return sorted(touching, key=cost)


def batches(
    names: list[str], tests: Mapping[str, RecordedTest], first: float, limit: float
) -> list[list[str]]:
    """The tests in two runs: a short one, which ends most mutants, and the rest.

    Starting pytest costs seconds, so more runs than two would cost more than they spare. Tests that
    together take longer than `limit` seconds are not run, but always one is.
    """
    parts: list[list[str]] = [[], []]
    total = 0.0
    for name in names:
        total += tests[name].seconds
        if total > limit and parts != [[], []]:
            break
        parts[total > first].append(name)
    return [part for part in parts if part]
