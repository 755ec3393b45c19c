"""Importing the package is fast and silent, and all public names exist."""

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
    "HalfspaceDepth",
    "IRWDepth",
    "Metric",
    "ProjectionDepth",
    "__version__",
    "compare",
    "distance",
]


def run_fresh(code: str) -> str:
    """Run code in a new interpreter, in which a warning is an error, and return its output."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_neither_import_nor_metric_prints_or_loads_heavy_packages() -> None:
    loaded = f"print([m for m in {HEAVY!r} if m in sys.modules])"
    make = "m = isodepth.Metric(); isodepth.scan; m.signature"
    assert run_fresh(f"import sys, isodepth; {loaded}; {make}; {loaded}") == "[]\n[]\n"


def test_the_error_of_estimators_without_fit_loads_scikit_learn_at_first_use() -> None:
    code = "import sys, isodepth, isodepth.errors as e, pickle; print('sklearn' in sys.modules)"
    use = "print(pickle.loads(pickle.dumps(isodepth.errors.NotFittedError('a'))), e.NotFittedError)"
    shown = "False\na <class 'isodepth.errors.NotFittedError'>\n"
    assert run_fresh(f"{code}; {use}") == shown
    with pytest.raises(AttributeError, match="no attribute 'NotFitted'"):
        isodepth.errors.NotFitted  # noqa: B018


def test_promised_names_are_public() -> None:
    assert set(PUBLIC) <= set(isodepth.__all__)


def test_results_and_errors_have_one_place() -> None:
    for module in (isodepth.typing, isodepth.errors):
        assert not {*module.__all__} & {*isodepth.__all__}


def test_public_names_exist_and_are_documented_with_their_methods() -> None:
    for name in isodepth.__all__:
        thing = getattr(isodepth, name)
        if inspect.ismodule(thing) or callable(thing):
            assert (thing.__doc__ or "").strip(), f"{name} has no docstring"
        for attribute, value in vars(thing).items() if inspect.isclass(thing) else ():
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


def test_the_text_of_a_result_does_not_import_jinja() -> None:
    """The `repr` of a result does not import Jinja, which takes longer than a small comparison."""
    code = (
        "import sys, isodepth; x = [[0.0], [1.0], [2.0]]\n"
        "results = isodepth.compare(x, x), isodepth.two_sample_test(x, x, n_permutations=9)\n"
        "text = repr(results); print('jinja2' in sys.modules)"
    )
    assert run_fresh(code) == "False\n"
