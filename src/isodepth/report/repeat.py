"""Python that repeats a result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from isodepth.data.kinds import MISSING


def compare_code(
    comparison: Any,
    test: Any,
    sources: Sequence[str] | None,
    read_options: Sequence[dict[str, Any]] | None,
    block_column: str | None,
) -> str:
    """Python that makes the comparison, or the test of categories alone, again."""
    lines = ["import isodepth"]
    result = test if comparison is None else comparison
    shares = [] if test is None else test.shares
    omitted = result.missing is not None or any(each.value == MISSING for each in shares)
    if sources is not None:
        lines += ["from isodepth.data.readers import read_table", ""]
        given = read_options or ({}, {})
        for name, path, own in zip("XY", sources, given, strict=True):
            keywords = _keywords({**own, "missing": omitted})
            lines.append(f"{name} = read_table({path!r}{keywords})")
    if comparison is not None:
        options = comparison.changed_options()
    else:
        seed = test.signature.partition("|seed=")[2].partition("|")[0]
        options = {"random_state": int(seed) if seed.isdigit() else None}
    if options is None:
        lines.append("# Directions, scales or a depth of your own were used: give them again.")
        return "\n".join([*lines, "result = isodepth.compare(X, Y, ...)"])
    kinds = {each.column: each.given for each in (test or comparison).kinds if each.given}
    options |= {"nan_policy": "omit" if omitted else None, "kinds": kinds}
    blocks = ""
    if test is not None:
        options |= {"n_permutations": len(test.null_distribution), "tolerance": test.tolerance}
        if getattr(test, "_blocks", None) is not None:
            blocks = ", blocks=blocks"
            lines.append(_blocks_code(sources, block_column))
    call = "two_sample_test" if comparison is None else "compare"
    lines.append(f"result = isodepth.{call}(X, Y{_keywords(options)}{blocks})")
    return "\n".join([*lines, 'result.report("report.html")'])


def _blocks_code(sources: Sequence[str] | None, column: str | None) -> str:
    if sources is None or column is None:
        return "blocks = (..., ...)  # the label of the block of each row, for X and for Y"
    read = f"read_table(path, columns=[{column!r}]).points[:, 0]"
    return f"blocks = tuple({read} for path in {tuple(sources)!r})"


def _keywords(options: dict[str, Any]) -> str:
    """Keyword arguments as Python writes them, after others."""
    texts = {
        name: f"float({str(value)!r})" if value in (math.inf, -math.inf) else repr(value)
        for name, value in options.items()
        if name == "scale"
        or (value is not None and value is not False and value not in ([], (), {}))
    }
    return "".join(f", {name}={text}" for name, text in texts.items())
