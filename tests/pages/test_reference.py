"""Pages that list public names, commands or options are complete."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from dataclasses import fields
from types import ModuleType

import click
import pytest
from pages.examples import ROOT

import isodepth
from isodepth import errors
from isodepth.cli.program import cli

#: Modules whose public names are documented one by one.
MODULES = ("plot", "report", "text", "typing")
#: Documented names of a module that needs torch.
OTHERS = {"torch.DepthLoss"}
_ROW = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def public_names() -> set[str]:
    names = set()
    for name in isodepth.__all__:
        is_module = isinstance(getattr(isodepth, name), ModuleType)
        if not is_module and not hasattr(errors, name):  # documented by automodule
            names.add(name)
    for module in MODULES:
        public = importlib.import_module(f"isodepth.{module}").__all__
        names |= {f"{module}.{name}" for name in public}
    return names - {"__version__"}


def test_every_public_name_is_listed() -> None:
    names = re.findall(r"^   ([\w.]+)$", page("api.md"), re.MULTILINE)

    assert len(names) == len(set(names))
    assert set(names) - OTHERS == public_names()
    assert ".. automodule:: isodepth.errors" in page("api.md")


def test_every_error_and_warning_is_public() -> None:
    """The page lists `__all__` of the module, not the functions that issue warnings."""
    classes = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}
    assert classes == set(errors.__all__) == classes & set(isodepth.__all__)
    for name in classes:
        assert getattr(isodepth, name) is getattr(errors, name)


def commands(group: click.Group, parent: str = "") -> list[str]:
    """Return the names of all commands and subcommands."""
    names = []
    for name, command in group.commands.items():
        names.append(f"{parent}{name}")
        if isinstance(command, click.Group):
            names += commands(command, f"{parent}{name} ")
    return names


def test_every_command_is_on_the_page() -> None:
    listed = re.findall(r"^```\{command-help\} (.+)$", page("command_line.md"), re.MULTILINE)
    assert {"compare", "monitor fit"} <= set(listed)
    assert sorted(listed) == sorted(commands(cli))


def common_defaults() -> dict[str, object]:
    """Return the options of the second table of options.md with their defaults."""
    _, table = page("options.md").split("## Defaults that are the same everywhere")
    return {
        name: float("inf") if cell == "`inf`" else ast.literal_eval(cell.strip("`"))
        for name, cell in _ROW.findall(table)
    }


def test_defaults_of_the_metric() -> None:
    depending = {"scale": None, "levels": "exact", "random_state": None, "nan_policy": "raise"}
    table = common_defaults() | depending
    metric = inspect.signature(isodepth.Metric).parameters
    assert {name: table.get(name, "missing") for name in metric} == {
        name: parameter.default for name, parameter in metric.items()
    }


@pytest.mark.parametrize(
    "name",
    [
        "compare", "distance", "pairwise", "pairwise_test", "region_tables", "two_sample_test",
        "DistanceTransformer", "RegionTransformer", "ProjectionDepth",
    ],
)  # fmt: skip
def test_defaults_of_functions(name: str) -> None:
    table = common_defaults()
    parameters = inspect.signature(getattr(isodepth, name)).parameters
    # None in the test means the default of method="regions".
    stated = {
        option: parameter.default
        for option, parameter in parameters.items()
        if option in table and parameter.default is not None
    }
    assert stated == {option: table[option] for option in stated}


@pytest.mark.parametrize("command", ["compare", "test", "report", "pairwise"])
def test_defaults_of_the_command_line(command: str) -> None:
    defaults = {option.name: option.default for option in cli.commands[command].params}
    assert defaults["scale"] == "pooled"
    assert defaults["random_state"] == 0
    if "n_permutations" in defaults:
        assert defaults["n_permutations"] == (0 if command == "compare" else 999)


def test_options_of_the_text_score_are_listed() -> None:
    from isodepth.text import DepthScore

    table = page("text.md").partition("| option |")[2].partition("\n\n")[0]
    names = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    options = {option.name for option in fields(DepthScore) if option.init}
    assert names <= options
    # These belong to other options and are described with them.
    assert options - names == {"levels", "refine"}
