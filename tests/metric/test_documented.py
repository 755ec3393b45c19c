"""Docstrings and signatures describe all options that a function takes, with the same words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pytest

import isodepth
from isodepth import Metric
from isodepth.base import declared
from isodepth.base.options import OPTIONS_LINE, Option, takes
from isodepth.text import DepthScore, Encoder

#: Options of Metric that functions of region tables do not have.
TABLES = {"gap", "refine"}
TAKERS = {
    "distance": set(),
    "compare": set(),
    "region_tables": TABLES,
    "pairwise": {"gap"},
    "RegionTransformer": TABLES | {"memory_mb"},
    "DistanceTransformer": {"gap", "memory_mb"},
}
#: Functions and classes that write their options in their signature, with the declared options.
DECLARED: list[tuple[Any, Mapping[str, Option]]] = [
    (Metric, declared.METRIC),
    (isodepth.two_sample_test, declared.TEST),
    (isodepth.Monitor, declared.MONITOR),
    (isodepth.scan, declared.SCAN),
    (Encoder, declared.ENCODER),
    (DepthScore, declared.ENCODER | declared.SCORE),
]


def explained(documented: object) -> list[str]:
    """Return the names of the parameters that a NumPy docstring describes."""
    text = inspect.cleandoc(documented.__doc__ or "")
    section = text.partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n\w+\n---", section)[0]
    entries = re.findall(r"^([\w, ]+) : .*\n    |^([\w, ]+)\n    As in", section, re.MULTILINE)
    return [name for entry in entries for name in "".join(entry).split(", ")]


@pytest.mark.parametrize(("taker", "options"), DECLARED)
def test_signatures_agree_with_the_declared_options(
    taker: Any, options: Mapping[str, Option]
) -> None:
    parameters = inspect.signature(taker).parameters
    data = ("X", "Y", "reference", "data", "columns")
    shown = {name: each.default for name, each in parameters.items() if name not in data}
    assert shown == {name: each.default for name, each in options.items()}
    annotations = {name: str(parameters[name].annotation) for name in options}
    assert annotations == {name: each.annotation for name, each in options.items()}
    assert {*options} <= {*explained(taker)}


def test_metric_has_the_declared_options() -> None:
    assert [field.name for field in fields(Metric)] == [*declared.METRIC]


@pytest.mark.parametrize("name", TAKERS)
def test_options_are_documented_in_each_function(name: str) -> None:
    taker = getattr(isodepth, name)
    options = {field.name for field in fields(Metric)} - TAKERS[name]
    found = explained(taker)

    assert options <= set(found)
    assert not TAKERS[name] & set(found)
    assert len(found) == len(set(found))
    assert OPTIONS_LINE not in taker.__doc__


@pytest.mark.parametrize("name", TAKERS)
def test_signatures_show_types_as_they_are_written(name: str) -> None:
    shown = str(inspect.signature(getattr(isodepth, name)))
    assert "eps: 'float' = 0.1" in shown
    assert "ForwardRef" not in shown


def test_estimators_explain_all_they_take() -> None:
    for name in ("RegionTransformer", "DistanceTransformer"):
        taker = getattr(isodepth, name)
        assert set(inspect.signature(taker).parameters) == set(explained(taker)), name


def test_defaults_are_those_of_the_metric_or_of_tables() -> None:
    assert 'callable, default "projection"\n' in isodepth.distance.__doc__
    assert "memory_mb : float in (0, inf) or None, default None\n" in isodepth.distance.__doc__
    assert 'levels : "exact", int or None, default None\n' in isodepth.compare.__doc__
    assert "levels : int, default 20\n" in isodepth.pairwise.__doc__


def test_a_docstring_without_the_place_is_a_mistake() -> None:
    def nothing() -> None:
        """Nothing."""

    with pytest.raises(ValueError, match="nothing lacks"):
        takes(declared.METRIC)(nothing)


def test_docstrings_may_be_absent() -> None:
    def nothing(**options: object) -> None: ...

    taker = takes(declared.METRIC)(nothing)
    assert taker.__doc__ is None
    assert [*inspect.signature(taker).parameters] == [*declared.METRIC]


def test_derived_options() -> None:
    some = declared.METRIC.only("q", "p").change("p", default=1)
    assert some.defaults == {"q": float("inf"), "p": 1}
    assert some.changed({"p": 1, "q": 2, "n": 3}) == {"q": 2, "n": 3}
    assert [*declared.METRIC.without("p")][1] == "q"
    assert some.check({"p": 3, "q": "inf"}) == {"p": 3.0, "q": float("inf")}
    with pytest.raises(isodepth.errors.UnknownOptionError, match=r"^Metric: unknown option 'r'"):
        some.check({"r": 3}, "Metric")
