"""docs/options.md states the defaults of the functions and of the command line."""

from __future__ import annotations

import ast
import inspect
import re

import pytest
from pages.examples import ROOT

import isodepth
from isodepth.cli.program import cli

PAGE = (ROOT / "docs" / "options.md").read_text("utf-8")
_ROW = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)


def common_defaults() -> dict[str, object]:
    """Return the options of the second table with their defaults."""
    _, table = PAGE.split("## Defaults that are the same everywhere")
    rows = dict(_ROW.findall(table))
    return {
        name: float("inf") if cell == "`inf`" else ast.literal_eval(cell.strip("`"))
        for name, cell in rows.items()
    }


def test_defaults_of_the_metric() -> None:
    table = common_defaults() | {"scale": None, "levels": "exact", "random_state": None}
    metric = inspect.signature(isodepth.Metric).parameters
    assert {name: table.get(name, "missing") for name in metric} == {
        name: parameter.default for name, parameter in metric.items()
    }


@pytest.mark.parametrize("name", ["compare", "two_sample_test", "pairwise", "distance"])
def test_defaults_of_functions(name: str) -> None:
    table = common_defaults()
    parameters = inspect.signature(getattr(isodepth, name)).parameters
    # None in the test means the default of method="regions".
    stated = {
        each: parameter.default
        for each, parameter in parameters.items()
        if each in table and parameter.default is not None
    }
    assert stated == {each: table[each] for each in stated}


@pytest.mark.parametrize("command", ["compare", "test", "report", "pairwise"])
def test_defaults_of_the_command_line(command: str) -> None:
    defaults = {each.name: each.default for each in cli.commands[command].params}
    assert defaults["scale"] == "pooled"
    assert defaults["random_state"] == 0
    if "n_permutations" in defaults:
        assert defaults["n_permutations"] == (0 if command == "compare" else 999)
