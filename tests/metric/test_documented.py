"""Docstrings describe all options of Metric that a function takes, with the same words."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

import isodepth
from isodepth.metric.metric import Metric, with_metric_options
from isodepth.metric.settings import OPTIONS_LINE, metric_parameters

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


def explained(documented: object) -> list[str]:
    """Return the names of the parameters that a NumPy docstring describes."""
    text = inspect.cleandoc(documented.__doc__ or "")
    section = text.partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n\w+\n---", section)[0]
    return re.findall(r"^([\w, ]+) : .*\n    ", section, re.MULTILINE)


def test_metric_explains_all_its_fields() -> None:
    names = [field.name for field in fields(Metric)]

    # Every parameter has at least one line of description.
    assert set(metric_parameters(Metric)) == set(names)
    assert [name for name, (_, lines) in metric_parameters(Metric).items() if not lines] == []


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
    assert 'depth : str, estimator or callable, default "projection"\n' in isodepth.distance.__doc__
    assert "memory_mb : float or None, default None\n" in isodepth.distance.__doc__
    assert 'levels : "exact", int or None, default None\n' in isodepth.compare.__doc__
    assert "levels : int, default 20\n" in isodepth.pairwise.__doc__


def test_a_docstring_without_the_place_is_a_mistake() -> None:
    def nothing() -> None:
        """Nothing."""

    with pytest.raises(ValueError, match="nothing lacks"):
        with_metric_options()(nothing)


def test_docstrings_may_be_absent() -> None:
    def nothing() -> None: ...

    assert with_metric_options()(nothing) is nothing
