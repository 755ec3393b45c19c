"""Pages that list public names, commands or options are complete."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from dataclasses import fields
from operator import attrgetter
from types import ModuleType
from typing import get_origin

import click
import pytest
from pages.examples import ROOT

import isodepth
from isodepth import errors
from isodepth.base import declared
from isodepth.cli.program import cli

#: Modules whose public names are documented one by one.
MODULES = ("compat", "plot", "report", "text", "theory", "typing")
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
    return names - {"__version__"} - {f"typing.{name}" for name in argument_types()}


def argument_types() -> set[str]:
    """Return the names of `isodepth.typing` that are aliases of types."""
    types = vars(isodepth.typing)
    return {name for name in isodepth.typing.__all__ if get_origin(types[name]) is not None}


def test_every_type_of_arguments_is_listed() -> None:
    section = page("api.md").partition("## Types of arguments")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert {"SampleLike", "DepthLike", "NanPolicy"} <= listed
    assert listed == argument_types()


def test_every_public_name_is_listed() -> None:
    names = re.findall(r"^   ([\w.]+)$", page("api.md"), re.MULTILINE)

    assert len(names) == len(set(names))
    assert set(names) - OTHERS == public_names()
    assert ".. automodule:: isodepth.errors" in page("api.md")


def test_results_that_are_not_created_by_hand_are_in_typing() -> None:
    """All public result classes, which are those with `to_dict`, are in `isodepth.typing`."""
    results = {
        name
        for name in public_names()
        if inspect.isclass(public := attrgetter(name)(isodepth)) and hasattr(public, "to_dict")
    }
    assert {"typing.Comparison", "typing.TwoSampleResult", "typing.Verdict"} <= results
    elsewhere = {name for name in results if not name.startswith("typing.")}
    assert elsewhere == {"DistanceMatrix", "Monitor", "text.Scores"}


def test_signature_of_the_torchmetrics_class() -> None:
    pytest.importorskip("torchmetrics")
    from isodepth.text.torchmetrics import DepthScoreMetric

    shown = re.search(r"DepthScoreMetric\((.*)\)$", page("api.md"), re.MULTILINE)
    assert shown is not None
    parameters = inspect.signature(DepthScoreMetric).parameters.values()
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
    assert f"({shown[1]})".replace('"', "'") == str(inspect.Signature(plain))


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 900


def test_readme_names_every_function_that_compares_samples() -> None:
    table = (ROOT / "README.md").read_text("utf-8").partition("## Which call do I need?")[2]
    listed = set(re.findall(r"`isodepth\.(\w+)\(", table))
    comparing = {"compare", "distance", "pairwise", "pairwise_test", "two_sample_test", "Monitor"}
    assert comparing | {"scan"} <= listed


def accepting_sources() -> set[str]:
    """Return the public functions, classes and methods whose docstrings mention `scan`."""
    found = set()
    for name in isodepth.__all__:
        public = getattr(isodepth, name)
        named = {name: public}
        if inspect.isclass(public):
            named |= {f"{name}.{key}": getattr(public, key) for key in vars(public)}
        for key, value in named.items():
            if callable(value) and "isodepth.scan" in (value.__doc__ or ""):
                found.add(key)
    return found - {"scan"}


def test_scan_lists_everything_that_accepts_a_source() -> None:
    assert {"compare", "Monitor", "Monitor.check", "Metric.region_table"} <= accepting_sources()
    introduction = inspect.cleandoc(isodepth.scan.__doc__ or "").partition("Parameters\n---")[0]
    listed = set(re.findall(r":\w+:`isodepth\.([\w.]+)`", introduction))
    assert accepting_sources() <= listed


def test_every_error_and_warning_is_public() -> None:
    """Check that all classes of `isodepth.errors` are in its `__all__`."""
    classes = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}
    assert classes == set(errors.__all__)


def commands(group: click.Group, parent: str = "") -> list[str]:
    """Return the names of all commands and subcommands of `group`.

    `parent` precedes all names, such as "monitor ".
    """
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


def common_defaults(heading: str = "## Defaults that are the same everywhere") -> dict[str, object]:
    """Return the options in the table below a heading of options.md, with their defaults."""
    _, _, section = page("options.md").partition(f"{heading}\n\n")
    table = section.partition("\n\n")[0]
    return {
        name: float("inf") if cell == "`inf`" else ast.literal_eval(cell.strip("`"))
        for name, cell in _ROW.findall(table)
    }


def test_values_and_meanings_of_options_are_the_declared_ones() -> None:
    section = page("options.md").partition("## Defaults that are the same everywhere\n\n")[2]
    row = r"^\| `(\w+)` \| .*? \| (.*?) \| (.*) \|$"
    rows = re.findall(row, section.partition("\n\n")[0], re.MULTILINE)
    options = declared.MANY | declared.TEST | declared.METRIC
    assert len(rows) > 15
    for name, allowed, meaning in rows:
        assert allowed == options[name].type_text, name
        assert meaning.startswith(options[name].description), name


def test_defaults_of_the_metric() -> None:
    depending = {"scale": None, "levels": None, "refine": None, "random_state": None}
    table = common_defaults() | depending | {"nan_policy": "raise"}
    metric = inspect.signature(isodepth.Metric).parameters
    assert {name: table.get(name, "missing") for name in metric} == {
        name: parameter.default for name, parameter in metric.items()
    }


@pytest.mark.parametrize(
    "name",
    [
        "compare", "distance", "pairwise", "pairwise_test", "region_tables", "two_sample_test",
        "DistanceTransformer", "Monitor", "RegionTransformer", "ProjectionDepth",
    ],
)  # fmt: skip
def test_defaults_of_functions(name: str) -> None:
    table = common_defaults()
    parameters = inspect.signature(getattr(isodepth, name)).parameters
    # None means that the function chooses the value.
    stated = {
        option: parameter.default
        for option, parameter in parameters.items()
        if option in table and parameter.default is not None
    }
    assert stated == {option: table[option] for option in stated}


def test_defaults_of_the_text_score() -> None:
    from isodepth.text import DepthScore

    table = common_defaults() | common_defaults("### Defaults of `DepthScore`")
    # None means that the score chooses the value.
    stated = {
        option.name: option.default
        for option in fields(DepthScore)
        if option.name in table and option.default is not None
    }
    assert {"depth", "eps", "refine", "p", "q"} <= stated.keys()
    assert stated == {option: table[option] for option in stated}


def test_defaults_that_depend_on_the_task() -> None:
    section = page("options.md").partition("## Defaults that depend on the task")[2]
    header, _, *lines = re.findall(r"^\|.*\|$", section.partition("\n## ")[0], re.MULTILINE)
    names = [cell.strip(" `") for cell in header.strip("|").split("|")]
    rows = [dict(zip(names, re.findall(r"\| ([^|]*) (?=\|)", line), strict=True)) for line in lines]
    for row in rows:
        option = row["option"].strip("`")
        for name in ("two_sample_test", "Monitor"):
            parameter = inspect.signature(getattr(isodepth, name)).parameters.get(option)
            stated = row[name].partition(" (")[0]
            assert stated == ("-" if parameter is None else f"`{parameter.default!r}`").replace(
                "'", '"'
            ), (option, name)


@pytest.mark.parametrize("command", ["compare", "test", "report", "pairwise"])
def test_defaults_of_the_command_line(command: str) -> None:
    defaults = {option.name: option.default for option in cli.commands[command].params}
    assert defaults["scale"] == "pooled"
    assert defaults["random_state"] == 0
    if "n_permutations" in defaults:
        assert defaults["n_permutations"] == (0 if command == "compare" else 999)
        assert defaults["alpha"] == 0.05


def test_options_of_the_text_score_are_listed() -> None:
    from isodepth.text import DepthScore

    table = page("text.md").partition("| option |")[2].partition("\n\n")[0]
    names = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    options = {option.name for option in fields(DepthScore) if option.init}
    assert names <= options
    # These belong to other options and are described with them.
    assert options - names == {"levels", "refine"}
