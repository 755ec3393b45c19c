"""Python code with which a reader of a report can repeat the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from isodepth.base.declared import METRIC, TEST
from isodepth.geometry.depth import BY_NAME
from isodepth.metric.comparison import Comparison
from isodepth.significance.result import TwoSampleResult
from isodepth.table.kinds import MISSING

CANNOT_REPEAT = (
    "# This result cannot be repeated from files alone: it has directions, scales, a depth or\n"
    "# blocks that were given as objects in Python, or it was read from standard input or in\n"
    "# chunks with dropped columns or words for missing values."
)
# Settings of a test that are excluded from its options.
_OF_DATA = ("blocks", "kinds", "max_rows")


class Code(str):
    """Python code, whose `repr` is the code itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Reading:
    """File of a sample, and the options with which the command line read the file.

    Attributes
    ----------
    path : str
        Name of the file or folder; "-" for standard input.
    options : dict
        Keyword arguments of `isodepth.read_table`, or of `isodepth.scan` if the file is read in
        chunks.
    in_chunks : bool
        Whether the file is read in chunks.
    blocks : str or None
        Column with the labels of blocks.
    group : tuple or None
        Column with the labels of groups, and the label of the rows that are the sample.
    """

    path: str
    options: dict[str, Any] = field(default_factory=dict)
    in_chunks: bool = False
    blocks: str | None = None
    group: tuple[str, Any] | None = None

    @property
    def has_call(self) -> bool:
        """Whether code can read the file: `scan` cannot drop columns, nor read missing words."""
        refused = self.in_chunks and (self.options.get("drop") or self.options.get("missing"))
        return self.path != "-" and not refused

    @property
    def _call(self) -> str:
        function = "scan" if self.in_chunks else "read_table"
        return f"isodepth.{function}({self.path!r}{keywords(self.options)})"


def repeat_code(result: Any, files: Sequence[Reading] | None) -> str:
    """Return Python code, at most six lines, that repeats a comparison or a test.

    `files` are the files of both samples; None if the samples were not read from files. Return a
    comment with the reason if the result cannot be repeated.
    """
    test: TwoSampleResult | None = result._test
    blocks = None if files is None else files[0].blocks
    kinds = {each.column: each.option for each in result._tested.kinds if each.option}
    lines, calls = ["import isodepth", *_reading_lines(files or ())], []
    if isinstance(result, Comparison):
        labels = {} if blocks is None else {blocks: "omit"}
        calls.append(_comparison_call(result, kinds | labels))
    if test is not None:
        calls.append(_test_call(test, kinds, blocks))
    if None in calls or not all(file.has_call for file in files or ()):
        return CANNOT_REPEAT
    name = "comparison" if test is None else "test"
    return "\n".join([*lines, *map(str, calls), f'{name}.report("report.html")'])


def load_code(path: str) -> str:
    """Return Python code that writes the report of a monitor saved in the file `path`."""
    lines = ["import isodepth", f"monitor = isodepth.Monitor.load({path!r})"]
    return "\n".join([*lines, 'monitor.report("report.html")'])


def keywords(options: dict[str, Any]) -> str:
    """Format keyword arguments as code, with a comma before each: ", p=1, q=2".

    Arguments that are None, False or empty are skipped, except `scale` and `bounds`.

    Examples
    --------
    >>> keywords({"q": math.inf, "scale": None, "columns": [], "method": Code("isodepth.Metric()")})
    ", q=float('inf'), scale=None, method=isodepth.Metric()"
    """
    texts = {
        name: f"float({str(value)!r})" if value in (math.inf, -math.inf) else repr(value)
        for name, value in options.items()
        if name in ("scale", "bounds")
        or (value is not None and value is not False and value not in ([], (), {}))
    }
    return "".join(f", {name}={text}" for name, text in texts.items())


def _reading_lines(files: Sequence[Reading]) -> list[str]:
    """Return statements that read the samples X and Y; [] without files."""
    groups = [file.group for file in files if file.group is not None]
    if not groups:
        return [f"{name} = {file._call}" for name, file in zip("XY", files, strict=False)]
    column = groups[0][0]
    mask = f"[label == group for label in table[{column!r}].to_pylist()]"
    rows = f"table.filter({mask}).drop_columns({column!r})"
    return [
        f"table = {files[0]._call}",
        f"X, Y = ({rows} for group in {[group for _, group in groups]!r})",
    ]


def _comparison_call(comparison: Comparison, kinds: dict[str, Any]) -> str | None:
    """Return a statement that repeats a comparison with the option `kinds`.

    Return None if the value of an argument cannot be written as code.
    """
    options = comparison._changed_options()
    if options is None:
        return None
    if "n_levels" in options:
        options = {"n_directions": 1000} | {k: v for k, v in options.items() if k != "refine"}
        metric = f"isodepth.Metric.paper({keywords(options).removeprefix(', ')})"
        return f"comparison = {metric}.compare(X, Y{keywords({'kinds': kinds})})"
    test, omitted = comparison._test, comparison.missing is not None
    if test is not None:
        shares = test.missing.shares if test.missing else ()
        omitted = omitted or any(share.before or share.after for share in shares)
        omitted = omitted or any(each.value == MISSING for each in test.category_shares)
    options |= {"nan_policy": "omit" if omitted else None, "kinds": kinds}
    return f"comparison = isodepth.compare(X, Y{keywords(options)})"


def _test_call(test: TwoSampleResult, kinds: dict[str, Any], blocks: str | None) -> str | None:
    """Return a statement that repeats a test with the options `kinds` and `blocks`.

    Return None if the value of an argument cannot be written as code.
    """
    options = {name: value for name, value in test.settings.items() if name not in _OF_DATA}
    metric = options.pop("metric", None)
    has_objects = (
        str(options["scale"]).startswith("given:"),
        metric is not None and metric["depth"] not in BY_NAME,
        test.settings["blocks"] is not None and blocks is None,
    )
    if any(has_objects):
        return None
    if metric is not None:
        changed = keywords(METRIC.changed(metric)).removeprefix(", ")
        options["method"] = Code(f"isodepth.Metric({changed})")
    if not test._has_all_rows:
        options["max_rows"] = max(test.n_used_rows)
    options = TEST.changed(options) | {"kinds": kinds, "blocks": blocks}
    return f"test = isodepth.two_sample_test(X, Y{keywords(options)})"
