"""Generation of Python code with which a reader of a report can repeat the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from isodepth.data.columns.kinds import MISSING
from isodepth.data.validation import ALPHA
from isodepth.depth import BY_NAME
from isodepth.results.protocols import ComparisonLike, PairResult, TwoSampleTestLike
from isodepth.results.summary import get_test, tested_result

CANNOT_REPEAT = (
    "# This result cannot be repeated from files alone: it has directions, scales, a depth or\n"
    "# blocks that were given as objects in Python, or files that pandas does not read."
)


# Defaults of `isodepth.Metric`.
_OF_METRIC = {"depth": "projection", "p": 2.0, "q": math.inf, "eps": 0.1}


class _Code(str):
    """Python code, whose `repr` is the code itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class TableFile(NamedTuple):
    """File of a sample, and the options with which the command line read the file.

    Attributes
    ----------
    path : str
        Name of the file.
    columns : sequence of str
        Columns that the command line selected, as comma-separated names; empty for all.
    dropped : sequence of str
        Columns that were left out.
    block_column : str or None
        Column with the labels of blocks, which are groups of dependent rows such as a day.
    """

    path: str
    columns: Sequence[str] = ()
    dropped: Sequence[str] = ()
    block_column: str | None = None


def repeat_code(result: PairResult, files: Sequence[TableFile] | None) -> str:
    """Return Python code that repeats a comparison or a test.

    `files` are the files of both samples; None if the samples were not read from files. Return a
    comment with the reason if the result cannot be repeated.
    """
    test = get_test(result)
    if result._result_type == "comparison":
        call, options = "compare", _comparison_options(result)
    else:
        call, options = "two_sample_test", _test_options(result)
    blocked = test is not None and test.settings["blocks"] is not None
    reading = [] if files is None else _reading_lines(files, blocked)
    has_labels = files is not None and files[0].block_column is not None
    if options is None or reading is None or (blocked and not has_labels):
        return CANNOT_REPEAT
    kinds = {each.column: each.option for each in tested_result(result).kinds if each.option}
    keywords = _keywords(options | {"kinds": kinds}) + (", blocks=blocks" if blocked else "")
    statement = f"result = isodepth.{call}(X, Y{keywords})"
    if "n_levels" in options:
        metric = {"n_directions": 1000} | {k: v for k, v in options.items() if k != "refine"}
        made = f"isodepth.Metric.paper({_keywords(metric).removeprefix(', ')})"
        statement = f"result = {made}.compare(X, Y{_keywords({'kinds': kinds})})"
    return "\n".join(["import isodepth", *reading, statement, 'result.report("report.html")'])


def load_code(path: str) -> str:
    """Return Python code that writes the report of a monitor saved in the file `path`."""
    lines = ["import isodepth", "", f"monitor = isodepth.Monitor.load({path!r})"]
    return "\n".join([*lines, 'monitor.report("report.html")'])


# Settings of a test that are excluded from its options.
_OF_DATA = ("blocks", "kinds", "max_rows")


def _comparison_options(comparison: ComparisonLike) -> dict[str, Any] | None:
    """Return the keyword arguments of the call of `isodepth.compare` that repeats a comparison.

    `kinds` and `blocks` are excluded. Return None if the value of an argument cannot be written as
    code.
    """
    options, test = comparison._changed_options(), comparison.test
    if options is None:
        return None
    omitted = comparison.missing is not None
    if test is not None:
        shares = test.missing.shares if test.missing else ()
        holes = any(share.before or share.after for share in shares)
        omitted = omitted or holes or any(each.value == MISSING for each in test.category_shares)
        options |= {"n_permutations": test.n_permutations, "tolerance": test.tolerance}
        options |= {} if test.alpha == ALPHA else {"alpha": test.alpha}
    return options | {"nan_policy": "omit" if omitted else None}


def _test_options(test: TwoSampleTestLike) -> dict[str, Any] | None:
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
        options["method"] = _Code(f"isodepth.Metric({_keywords(values).removeprefix(', ')})")
    defaults = {"method": "aggregated", "scale": "pooled", "n_directions": 0, "alpha": ALPHA}
    defaults |= {"nan_policy": "keep"}
    if not test._has_all_rows:
        options |= {"max_rows": max(test.n_used_rows)}
    return {name: value for name, value in options.items() if value != defaults.get(name)}


def _reading_lines(files: Sequence[TableFile], blocked: bool) -> list[str] | None:
    """Return statements that read the files of X and Y with pandas, and select their columns.

    If `blocked`, the column with the labels of blocks becomes the variable `blocks`. Return None if
    the ending of a file name is not one of those in `_reading_code`.
    """
    lines = ["import pandas", ""]
    for name, file in zip("XY", files, strict=True):
        statement = _reading_code(name, file.path)
        if statement is None:
            return None
        lines.append(statement)
    labels = files[0].block_column
    if blocked:
        lines.append(f"blocks = (X[{labels!r}], Y[{labels!r}])")
    for name, file in zip("XY", files, strict=True):
        columns = [each for names in file.columns for each in names.split(",")]
        dropped = [*file.dropped, *([labels] if blocked else [])]
        if columns:
            lines.append(f"{name} = {name}[{columns!r}]")
        elif dropped:
            lines.append(f"{name} = {name}.drop(columns={dropped!r})")
    return lines


def _reading_code(name: str, path: str) -> str | None:
    """Return a statement that reads a CSV, TSV or Parquet file with pandas; None for other files.

    `name` is the variable to which the statement assigns the data frame.
    """
    ending = path.lower().removesuffix(".gz").rpartition(".")[2]
    reader = {"csv": "read_csv", "tsv": "read_table", "parquet": "read_parquet"}.get(ending)
    return None if reader is None else f"{name} = pandas.{reader}({path!r})"


def _keywords(options: dict[str, Any]) -> str:
    """Format keyword arguments as code, with a comma before each: ", p=1, q=2".

    Arguments that are None, False or empty are skipped, except `scale`.
    """
    texts = {
        name: f"float({str(value)!r})" if value in (math.inf, -math.inf) else repr(value)
        for name, value in options.items()
        if name == "scale"
        or (value is not None and value is not False and value not in ([], (), {}))
    }
    return "".join(f", {name}={text}" for name, text in texts.items())
