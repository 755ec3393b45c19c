"""Execution of the fenced code blocks of a page, and comparison with the outputs that it shows.

The language of a fenced block must be one of these:

``python``
    Runs in the namespace of the previous blocks. With ``>>>`` it is a doctest. Otherwise, a comment
    after a `print` or a bare expression is its expected output, and a ``text`` block that follows
    is the whole expected output.
``console``
    Lines ``isodepth ...`` are executed. Lines after ``$ isodepth ...``, up to the next ``$``, are
    the expected output.
``text``
    Expected output of the previous block.

Outputs are compared as in doctest, with ``...`` as a wildcard. A block that cannot run here (other
programs, network, missing data) is marked with ``<!-- not run: reason -->`` on the line before it.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
import shlex
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isodepth.cli import main as command_line

ROOT = Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+?) -->\n)?^```(?P<language>[^\n]*)\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_CHECKER = doctest.OutputChecker()


class PageError(AssertionError):
    """Error for an output that differs from the output on the page."""


@dataclass(frozen=True)
class Block:
    """Fenced block with its language, content and line, and the reason if it is not run."""

    language: str
    body: str
    line: int
    reason: str | None


def pages() -> list[Path]:
    """Return README and all pages of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks_of(text: str) -> list[Block]:
    """Return all fenced blocks of a page except Sphinx directives."""
    blocks = []
    for match in _FENCE.finditer(text):
        if not match["language"].startswith("{"):
            line = text.count("\n", 0, match.start("body")) + 1
            blocks.append(Block(match["language"], match["body"], line, match["reason"]))
    fences = len(re.findall(r"^\s*```", text, re.MULTILINE))
    if fences != 2 * len(list(_FENCE.finditer(text))):
        raise PageError("a fence is indented, or has no end")
    return blocks


def run_page(name: str, text: str) -> int:
    """Run all blocks that are not marked, in the current folder. Return their number."""
    namespace: dict[str, Any] = {"__name__": "page"}
    ran = 0
    printed: str | None = None
    for block in blocks_of(text):
        where = f"{name}, line {block.line}"
        if block.reason is not None:
            printed = None
            continue
        if block.language == "python":
            printed = _run_python(block, namespace, where)
        elif block.language == "console":
            _run_console(block.body, where)
            printed = None
        elif block.language == "text":
            if printed is None:
                raise PageError(f"{where}: output without a block that ran")
            _compare(block.body, printed, where)
            printed = None
            continue
        else:
            raise PageError(f"{where}: unknown language {block.language!r}")
        ran += 1
    return ran


def _compare(expected: str, got: str, where: str) -> None:
    expected, got = expected.rstrip("\n") + "\n", got.rstrip("\n") + "\n"
    if not _CHECKER.check_output(expected, got, FLAGS):
        raise PageError(f"{where}: expected\n{expected}got\n{got}")


def _run_python(block: Block, namespace: dict[str, Any], where: str) -> str:
    """Run a block in `namespace`, check the outputs in its comments, and return its whole output.

    `where` is the place of the block in messages.
    """
    if ">>>" in block.body:
        return _run_doctest(block, namespace, where)
    comments = _comments(block.body)
    everything = ""
    for statement in ast.parse(block.body).body:
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        out = io.StringIO()
        value = None
        with contextlib.redirect_stdout(out):
            if isinstance(statement, ast.Expr):
                code = compile(ast.Expression(statement.value), where, "eval")
                value = eval(code, namespace)
            else:
                exec(compile(ast.Module([statement], []), where, "exec"), namespace)
        got = out.getvalue()
        everything += got
        expected = [comments[line] for line in _output_lines(statement, lines) if line in comments]
        if expected:
            output = got if got or value is None else repr(value)
            _compare("\n".join(expected), output, f"{where}, {ast.unparse(statement)}")
    return everything


def _output_lines(statement: ast.stmt, lines: range) -> Iterator[int]:
    """Yield the lines on which a comment is an expected output of a statement.

    These are the last line of a bare expression, which is the last of `lines`, and the ends of
    calls of `print`.
    """
    if isinstance(statement, ast.Expr):
        yield lines[-1]
        return
    for node in ast.walk(statement):
        is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if is_call and ast.unparse(node.value.func) == "print":
            yield node.end_lineno or node.lineno


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string[1:].strip() for t in tokens if t.type == tokenize.COMMENT}


def _run_doctest(block: Block, namespace: dict[str, Any], where: str) -> str:
    test = doctest.DocTestParser().get_doctest(block.body, namespace, where, where, block.line)
    # The parser copies the namespace, but later blocks need the names that this one defines.
    test.globs = namespace
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    if runner.run(test, out=report.write, clear_globs=False).failed:
        raise PageError(report.getvalue())
    return ""


def _run_console(body: str, where: str) -> None:
    """Run the commands in the text of a block, and compare their outputs with those in the block.

    `where` is the place of the block in messages.
    """
    commands: list[tuple[str, list[str] | None]] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands and commands[-1][1] is not None:
            commands[-1][1].append(line)
        elif line.strip():
            commands.append((line, None))
    for command, expected in commands:
        words = shlex.split(command, comments=True)
        if words[:1] != ["isodepth"]:
            raise PageError(f"{where}: {command!r} cannot run here; mark the block with the reason")
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command_line(words[1:])
        if code != 0:
            raise PageError(f"{where}: {command!r} ends with {code}: {err.getvalue()}")
        if expected is not None:
            _compare("\n".join(expected), out.getvalue(), f"{where}, {command!r}")
