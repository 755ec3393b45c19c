"""Warnings refer to the line of the user, and deprecations name the replacement."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.errors import warn_deprecated

PACKAGE = Path(isodepth.__file__).parent
X = np.random.default_rng(0).normal(size=(40, 2))
MIXED = pd.DataFrame({"a": np.arange(6.0), "b": list("xyxyxy")})
WIDE = np.random.default_rng(1).normal(size=(4, 10))


def test_a_deprecation_names_the_replacement_and_the_version() -> None:
    with pytest.warns(FutureWarning, match="^Metric.fit is deprecated and will be removed in") as c:
        warn_deprecated("Metric.fit", "Metric.with_directions", removed_in="1.3")
    assert "isodepth 1.3; use Metric.with_directions" in str(c[0].message)
    assert c[0].filename == __file__


@pytest.mark.parametrize(
    ("call", "category"),
    [
        (lambda: isodepth.compare(X * [1, 1e5], X), isodepth.errors.ScaleWarning),
        (lambda: isodepth.Metric().compare(X * [1, 1e5], X), isodepth.errors.ScaleWarning),
        (lambda: isodepth.distance(MIXED, MIXED), isodepth.errors.ColumnWarning),
        (lambda: isodepth.Metric().distance(MIXED, MIXED), isodepth.errors.ColumnWarning),
        (lambda: isodepth.distance(WIDE, WIDE + 1), isodepth.errors.DegenerateDepthWarning),
        (lambda: isodepth.Metric().regions(WIDE), isodepth.errors.DegenerateDepthWarning),
        (lambda: isodepth.pairwise([WIDE, WIDE]), isodepth.errors.DegenerateDepthWarning),
        (lambda: isodepth.ProjectionDepth().fit(WIDE), isodepth.errors.DegenerateDepthWarning),
        (lambda: isodepth.distance([[2**60]], [[1]]), isodepth.errors.ColumnWarning),
    ],
)
def test_warnings_point_at_the_line_of_the_user(call, category) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert {each.category for each in caught} == {category}
    assert {each.filename for each in caught} == {__file__}


def test_warnings_are_issued_by_one_function() -> None:
    """Check that other modules, except the command line, do not call `warnings.warn`."""
    callers = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "warnings.warn":
                callers.add(str(path.relative_to(PACKAGE)))
    assert callers == {"errors.py", "cli/commands.py"}
