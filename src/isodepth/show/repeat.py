"""Generation of Python code with which a reader of a report can repeat the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from isodepth.base.options import ALPHA
from isodepth.geometry.depth import BY_NAME
from isodepth.metric.comparison import Comparison
from isodepth.rows.pair_result import PairResult
from isodepth.show.python_code import Code, keywords
from isodepth.show.table_files import TableFile, reading_lines
from isodepth.significance.result import TwoSampleResult
from isodepth.table.kinds import MISSING

CANNOT_REPEAT = (
    "# This result cannot be repeated from files alone: it has directions, scales, a depth or\n"
    "# blocks that were given as objects in Python, or files that pandas reads differently."
)

# Defaults of `isodepth.Metric`.
_OF_METRIC = {"depth": "projection", "p": 2.0, "q": math.inf, "eps": 0.1}


def repeat_code(result: PairResult, files: Sequence[TableFile] | None) -> str:
    """Return Python code that repeats a comparison or a test.

    `files` are the files of both samples; None if the samples were not read from files. Return a
    comment with the reason if the result cannot be repeated.
    """
    test = result._test
    if result._result_type == "comparison":
        call, options = "compare", _comparison_options(result)
    else:
        call, options = "two_sample_test", _test_options(result)
    tested = None if test is None or test is result else _test_options(test)
    blocked = test is not None and test.settings["blocks"] is not None
    reading = [] if files is None else reading_lines(files, blocked)
    has_labels = files is not None and files[0].labels is not None
    if options is None or reading is None or (blocked and not has_labels):
        return CANNOT_REPEAT
    both = (result if test is None else test).kinds
    kinds = {each.column: each.option for each in both if each.option}
    labels = ", blocks=blocks" if blocked else ""
    arguments = keywords(options | {"kinds": kinds}) + (labels if test is result else "")
    statement = f"result = isodepth.{call}(X, Y{arguments})"
    if "n_levels" in options:
        metric = {"n_directions": 1000} | {k: v for k, v in options.items() if k != "refine"}
        made = f"isodepth.Metric.paper({keywords(metric).removeprefix(', ')})"
        statement = f"result = {made}.compare(X, Y{keywords({'kinds': kinds})})"
    lines = ["import isodepth", *reading, statement]
    if tested is not None:
        arguments = keywords(tested | {"kinds": kinds}) + labels
        lines.append(f"test = isodepth.two_sample_test(X, Y{arguments})")
    return "\n".join([*lines, f'{"result" if tested is None else "test"}.report("report.html")'])


def load_code(path: str) -> str:
    """Return Python code that writes the report of a monitor saved in the file `path`."""
    lines = ["import isodepth", "", f"monitor = isodepth.Monitor.load({path!r})"]
    return "\n".join([*lines, 'monitor.report("report.html")'])


# Settings of a test that are excluded from its options.
_OF_DATA = ("blocks", "kinds", "max_rows")


def _comparison_options(comparison: Comparison) -> dict[str, Any] | None:
    """Return the keyword arguments of the call of `isodepth.compare` that repeats a comparison.

    `kinds` and `blocks` are excluded. Return None if the value of an argument cannot be written as
    code.
    """
    options, test = comparison._changed_options(), comparison._test
    if options is None:
        return None
    omitted = comparison.missing is not None
    if test is not None:
        shares = test.missing.shares if test.missing else ()
        holes = any(share.before or share.after for share in shares)
        omitted = omitted or holes or any(each.value == MISSING for each in test.category_shares)
    return options | {"nan_policy": "omit" if omitted else None}


def _test_options(test: TwoSampleResult) -> dict[str, Any] | None:
    """Return the keyword arguments of the call of `isodepth.two_sample_test` that repeats a test.

    `kinds` and `blocks` are excluded. Return None if the value of an argument cannot be written as
    code.
    """
    options = {name: value for name, value in test.settings.items() if name not in _OF_DATA}
    metric = options.pop("metric", None)
    given = (
        str(options["scale"]).startswith("given:"),
        metric is not None and metric["depth"] not in BY_NAME,
    )
    if any(given):
        return None
    if metric is not None:
        values = {name: value for name, value in metric.items() if value != _OF_METRIC.get(name)}
        options["method"] = Code(f"isodepth.Metric({keywords(values).removeprefix(', ')})")
    defaults = {"method": "aggregated", "scale": "pooled", "n_directions": 0, "alpha": ALPHA}
    defaults |= {"nan_policy": "keep"}
    if not test._has_all_rows:
        options |= {"max_rows": max(test.n_used_rows)}
    return {name: value for name, value in options.items() if value != defaults.get(name)}
