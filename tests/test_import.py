"""Importing the package: light, silent, and everything it promises is there."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import isodepth

#: Imported when first needed, never by ``import isodepth``.
HEAVY = [
    "sklearn",
    "numba",
    "scipy.stats",
    "scipy.optimize",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "torch",
    "ot",
    "dask",
    "transformers",
    "narwhals",
]
PUBLIC = [
    "AIIRWDepth",
    "Comparison",
    "DegenerateDepthWarning",
    "HalfspaceDepth",
    "IRWDepth",
    "IsodepthError",
    "Metric",
    "ProjectionDepth",
    "TrimmedRegions",
    "__version__",
    "compare",
    "distance",
]


def run_fresh(code: str) -> str:
    """Run the code in a new interpreter where any warning is an error; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_import_does_not_load_heavy_packages() -> None:
    code = f"import sys, isodepth; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert run_fresh(code).strip() == "[]"


def test_making_a_metric_does_not_load_heavy_packages() -> None:
    code = (
        "import sys, isodepth; m = isodepth.Metric(); isodepth.Metric.from_signature(m.signature);"
        f" print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    assert run_fresh(code).strip() == "[]"


def test_import_prints_nothing() -> None:
    assert run_fresh("import isodepth") == ""


@pytest.mark.parametrize("name", PUBLIC)
def test_promised_names_are_public(name: str) -> None:
    assert name in isodepth.__all__


@pytest.mark.parametrize("name", sorted(isodepth.__all__))
def test_public_names_exist_and_are_documented(name: str) -> None:
    thing = getattr(isodepth, name)
    if inspect.ismodule(thing) or callable(thing):
        assert (thing.__doc__ or "").strip(), f"{name} has no docstring"


@pytest.mark.parametrize("name", sorted(isodepth.__all__))
def test_public_methods_are_documented(name: str) -> None:
    thing = getattr(isodepth, name)
    if not inspect.isclass(thing):
        return
    for attribute, value in vars(thing).items():
        if attribute.startswith("_"):
            continue
        value = getattr(value, "__func__", value)
        if inspect.isfunction(value) or isinstance(value, property):
            assert inspect.getdoc(getattr(thing, attribute)), f"{name}.{attribute}"


def test_all_names_each_thing_once() -> None:
    assert len(isodepth.__all__) == len(set(isodepth.__all__))
    assert set(isodepth.__all__) <= set(dir(isodepth))


def test_unknown_names_raise_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = isodepth.nonsense
