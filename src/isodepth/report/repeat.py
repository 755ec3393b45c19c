"""Python code that repeats a result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from isodepth.data.kinds import MISSING

CANNOT_REPEAT = (
    "# This result cannot be repeated from files alone: it has directions, scales, a depth or\n"
    "# blocks that were given as objects in Python, or files that pandas does not read."
)


def compare_code(
    comparison: Any,
    test: Any,
    sources: Sequence[str] | None,
    read_options: Sequence[dict[str, Any]] | None,
    block_column: str | None,
) -> str:
    """Return Python code that repeats the comparison, or the test of categories alone."""
    result = test if comparison is None else comparison
    shares = [] if test is None else test.shares
    omitted = result.missing is not None or any(each.value == MISSING for each in shares)
    blocked = getattr(test, "_blocks", None) is not None
    lines = ["import isodepth"]
    if sources is not None:
        read = [_reading_code(name, path) for name, path in zip("XY", sources, strict=True)]
        if None in read or (blocked and block_column is None):
            return CANNOT_REPEAT
        lines = ["import isodepth", "import pandas", "", *map(str, read)]
        if blocked:
            lines.append(f"blocks = (X[{block_column!r}], Y[{block_column!r}])")
        for name, own in zip("XY", read_options or ({}, {}), strict=True):
            if own.get("columns"):
                lines.append(f"{name} = {name}[{_column_names(own)!r}]")
            dropped = [*own.get("drop", ()), *([block_column] if blocked else [])]
            if dropped and not own.get("columns"):
                lines.append(f"{name} = {name}.drop(columns={dropped!r})")
    elif blocked:
        return CANNOT_REPEAT
    if comparison is not None:
        options = comparison.changed_options()
    else:
        seed = test.signature.partition("|seed=")[2].partition("|")[0]
        options = {"random_state": int(seed) if seed.isdigit() else None}
    if options is None:
        return CANNOT_REPEAT
    kinds = {each.column: each.given for each in (test or comparison).kinds if each.given}
    options |= {"nan_policy": "omit" if omitted else None, "kinds": kinds}
    blocks = ""
    if test is not None:
        options |= {"n_permutations": len(test.null_distribution), "tolerance": test.tolerance}
        if getattr(test, "_blocks", None) is not None:
            blocks = ", blocks=blocks"
    call = "two_sample_test" if comparison is None else "compare"
    lines.append(f"result = isodepth.{call}(X, Y{_keywords(options)}{blocks})")
    return "\n".join([*lines, 'result.report("report.html")'])


def _reading_code(name: str, path: str) -> str | None:
    """Return a statement that reads a table with pandas; None for other files."""
    ending = path.lower().removesuffix(".gz").rpartition(".")[2]
    reader = {"csv": "read_csv", "tsv": "read_table", "parquet": "read_parquet"}.get(ending)
    return None if reader is None else f"{name} = pandas.{reader}({path!r})"


def _column_names(options: dict[str, Any]) -> list[str]:
    return [name for text in options["columns"] for name in text.split(",")]


def _keywords(options: dict[str, Any]) -> str:
    """Format keyword arguments that follow other arguments."""
    texts = {
        name: f"float({str(value)!r})" if value in (math.inf, -math.inf) else repr(value)
        for name, value in options.items()
        if name == "scale"
        or (value is not None and value is not False and value not in ([], (), {}))
    }
    return "".join(f", {name}={text}" for name, text in texts.items())
