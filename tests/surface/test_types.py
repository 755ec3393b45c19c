"""Types of the options: mypy reports all wrong calls, and no correct call."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any, is_typeddict

import pytest

import isodepth
from isodepth.many import multiple_testing
from isodepth.metric import settings

ROOT = Path(__file__).resolve().parents[2]
# The file is not called .py, because the wrong calls raise errors if it is imported.
CALLS = Path(__file__).with_name("user_calls.txt")
CONFIG = """
[mypy]
python_version = 3.11
mypy_path = {stubs}:{source}
follow_imports = silent
strict = true
allow_any_generics = true
[mypy-sklearn.*,joblib.*,scipy.*,pandas.*,polars.*,pyarrow.*,matplotlib.*,tqdm.*,dask.*]
ignore_missing_imports = true
"""


def test_mypy_finds_the_wrong_calls(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    calls, config = tmp_path / "user_calls.py", tmp_path / "mypy.ini"
    calls.write_text(CALLS.read_text("utf-8"), "utf-8")
    config.write_text(CONFIG.format(stubs=CALLS.parent / "stubs", source=ROOT / "src"))
    cache = f"--cache-dir={ROOT / '.mypy_cache' / 'user_calls'}"
    out, problem, _ = api.run(["--config-file", str(config), cache, str(calls)])

    found = set(re.findall(r"user_calls\.py:(\d+): error: .*\[([\w-]+)\]", out))
    lines = enumerate(CALLS.read_text("utf-8").splitlines(), start=1)
    wrong = ((number, re.search(r"# error: ([\w-]+)$", line)) for number, line in lines)
    expected = {(str(number), match[1]) for number, match in wrong if match}
    assert len(expected) > 15
    assert found == expected, out + problem


def options_of(function: Any) -> set[str]:
    """Return the names of the parameters that a function or class shares with `Metric`."""
    return {*inspect.signature(function).parameters} & {f.name for f in fields(isodepth.Metric)}


def test_types_of_options_are_complete() -> None:
    names = {field.name for field in fields(isodepth.Metric)}
    assert {*settings.MetricOptions.__annotations__} == names
    for name, option_types in vars(settings).items():
        if is_typeddict(option_types):
            assert {*option_types.__annotations__} <= names, name
    for function in (isodepth.distance, isodepth.compare):
        assert options_of(function) == names
    of_tables = {*settings.TableOptions.__annotations__}
    assert options_of(isodepth.region_tables) == of_tables
    assert options_of(isodepth.pairwise) == {*of_tables, "refine"}
    assert options_of(isodepth.RegionTransformer) == of_tables - {"memory_mb"}
    assert options_of(isodepth.DistanceTransformer) == {*of_tables, "refine"} - {"memory_mb"}


def test_types_of_the_loss_are_complete() -> None:
    torch = pytest.importorskip("isodepth.torch")
    expected = {*settings.LossOptions.__annotations__, "random_state"}
    assert options_of(torch.DepthLoss) == expected


def test_types_of_the_test_are_complete() -> None:
    parameters = {*inspect.signature(isodepth.two_sample_test).parameters}
    own = {"X", "Y", "n_permutations", "alpha", "progress"}
    assert {*multiple_testing.TwoSampleOptions.__annotations__} == parameters - own


def test_shown_signatures_work() -> None:
    """Defaults in `inspect.signature` are accepted as arguments; misspelled options are refused."""
    X, Y = [[0.0], [1.0]], [[2.0], [4.0]]
    for function, data in (
        (isodepth.distance, (X, Y)),
        (isodepth.compare, (X, Y)),
        (isodepth.pairwise, ([X, Y],)),
        (isodepth.region_tables, ([X, Y],)),
    ):
        parameters = inspect.signature(function).parameters.values()
        defaults = {
            each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY
        }
        function(*data, **defaults)
        with pytest.raises(isodepth.errors.InvalidOptionError, match="did you mean 'eps'"):
            function(*data, esp=0.1)
