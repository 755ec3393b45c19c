"""JSON output agrees with the schema that the documentation publishes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli.helpers import run_json
from combined import compare_and_test
from text_extra import needs, needs_encoder

import isodepth
from isodepth.base.export import SCHEMA

FILE = Path(__file__).resolve().parents[2] / "docs" / "schema" / f"isodepth-{SCHEMA}.json"
OPTIONS: dict[str, Any] = {"n_directions": 20, "random_state": 0}
TEST: dict[str, Any] = {"n_permutations": 39, "random_state": 0}
pytestmark = needs("jsonschema", how="pip install 'isodepth[test]'")


def table(seed: int, n: int = 80) -> pd.DataFrame:
    """Return a table with numeric columns "a" and "b", missing values, and categories.

    `seed` is also the mean of the numeric columns. The table with seed 0 has no outlier and has
    the categories "v", "w" and "x". Other tables have an outlier of -9999, and "u" and "v".
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)) + seed, columns=["a", "b"])
    frame.loc[::9, "b"] = np.nan
    frame.loc[5, "a"] = -9999.0 if seed else 0.0
    return frame.assign(kind=rng.choice(["u", "v"] if seed else ["v", "w", "x"], n))


X, Y = table(0), table(1)
GRID = np.random.default_rng(2).normal(size=(20, 2))
PYTHON: dict[str, Callable[[], Any]] = {
    "comparison": lambda: compare_and_test(X, Y, nan_policy="omit", **OPTIONS, n_permutations=39),
    "arrays": lambda: isodepth.compare(GRID[:9], GRID, p=np.inf, scale=np.ones(2)),
    "chunks": lambda: isodepth.compare(
        isodepth.scan(X[["a"]]), isodepth.scan(Y[["a"]]), levels=5, refine=0, **OPTIONS
    ),
    "test": lambda: isodepth.two_sample_test(X, Y, **TEST),
    "test of blocks": lambda: isodepth.two_sample_test(X, Y, blocks=np.arange(160) // 2, **TEST),
    "test of regions": lambda: isodepth.two_sample_test(
        X[["a"]], Y[["a"]], method=isodepth.Metric(levels=20), **TEST
    ),
    "test of chunks": lambda: isodepth.two_sample_test(isodepth.scan(X), isodepth.scan(Y), **TEST),
    "test of categories": lambda: isodepth.two_sample_test(X[["kind"]], Y[["kind"]], **TEST),
    "chance level": lambda: isodepth.compare(X[["a"]], Y[["a"]], **OPTIONS).chance_level(3),
    "largest gap": lambda: isodepth.compare(X[["a"]], Y[["a"]], **OPTIONS).largest_gap,
    "matrix": lambda: isodepth.pairwise({"x": X[["a"]], "y": Y[["a"]]}, **OPTIONS),
    "pairwise test": lambda: isodepth.pairwise_test({"x": X, "y": Y}, **TEST),
    "suspicious rows": lambda: isodepth.two_sample_test(X, Y, **TEST).suspicious_rows(),
    "typical rows": lambda: isodepth.two_sample_test(X, Y, **TEST).typical_rows(),
    "verdict": lambda: isodepth.Monitor(X, random_state=0).check(Y),
}
COMMANDS = {
    "compare": "compare x.csv y.csv --n-permutations 39",
    "compare without a test": "compare x.csv y.csv",
    "test": "test x.csv y.csv --n-permutations 39",
    "report": "report x.csv y.csv -o r.html --n-permutations 39",
    "report of categories": "report x.csv y.csv -o r.html --n-permutations 39 --columns kind",
    "pairwise": "pairwise x.csv y.csv --columns a",
    "depth": "depth x.csv --columns a",
    "monitor fit": "monitor fit x.csv -o m.npz --overwrite",
    "monitor check": "monitor check monitor.npz y.csv",
    "monitor check of two": "monitor check monitor.npz x.csv y.csv",
    "monitor show": "monitor show monitor.npz",
    "monitor report": "report monitor.npz -o r.html",
    "monitor reset": "monitor reset monitor.npz",
}

#: Type of the content of each result and of each command.
TYPES = {
    "comparison": "comparison",
    "arrays": "comparison",
    "chunks": "comparison",
    "test": "test",
    "test of blocks": "test",
    "test of regions": "test",
    "test of chunks": "test",
    "test of categories": "test",
    "chance level": "chance_level",
    "largest gap": "largest_gap",
    "matrix": "distance_matrix",
    "pairwise test": "pairwise_test",
    "suspicious rows": "suspicious_rows",
    "typical rows": "typical_rows",
    "verdict": "verdict",
}
COMMAND_TYPES = {
    "compare": "comparison",
    "compare without a test": "comparison",
    "test": "test",
    "report": "comparison",
    "report of categories": "test",
    "pairwise": "distance_matrix",
    "depth": "depths",
    "monitor fit": "monitor",
    "monitor check": "verdict",
    "monitor check of two": "verdicts",
    "monitor show": "monitor",
    "monitor report": "monitor",
    "monitor reset": "reset",
}


def strict_schema() -> dict[str, Any]:
    """Return the schema, changed to refuse keys that it does not describe."""
    schema = json.loads(FILE.read_text("utf-8"))

    def forbid(part: Any) -> None:
        if isinstance(part, dict):
            if part.get("type") == "object" and "properties" in part:
                part["additionalProperties"] = False
            for each in part.values():
                forbid(each)
        elif isinstance(part, list):
            for each in part:
                forbid(each)

    forbid(schema["$defs"])
    return schema


def check(content: dict[str, Any], schema: dict[str, Any] | None = None) -> None:
    """Check that `content`, converted to JSON and back, matches the schema."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema or strict_schema())
    validator.validate(json.loads(json.dumps(content, allow_nan=False)))


def output(line: str) -> dict[str, Any]:
    """Return the JSON output of a command line, with the exit code 0 or that of an alarm."""
    code = int("check" in line.split())
    return run_json(*line.split(), code=code)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with two tables and a monitor that has one batch."""
    monkeypatch.chdir(tmp_path)
    X.to_csv("x.csv", index=False)
    Y.to_csv("y.csv", index=False)
    monitor = isodepth.Monitor(X, random_state=0)
    monitor.check(Y)
    monitor.save("monitor.npz")
    return tmp_path


def test_the_schema_is_valid() -> None:
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(json.loads(FILE.read_text("utf-8")))


@pytest.mark.parametrize("name", PYTHON)
def test_results_fit_the_schema(name: str) -> None:
    content = PYTHON[name]().to_dict()
    check(content)
    assert content["type"] == TYPES[name]


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("without_pictures")
def test_commands_fit_the_schema(name: str, folder: Path) -> None:
    content = output(COMMANDS[name])
    check(content)
    assert content["type"] == COMMAND_TYPES[name]


def test_a_monitor_fits_the_schema(folder: Path) -> None:
    monitor = isodepth.Monitor.load("monitor.npz")
    check(monitor.to_dict())
    assert monitor.to_dict()["verdicts"][0]["schema"] == SCHEMA


@needs_encoder
def test_scores_fit_the_schema(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("a cat\na dog\n", "utf-8")
    check(run_json("score", "-c", str(tmp_path / "c.txt"), "-r", str(tmp_path / "c.txt")))


def test_other_content_does_not_fit() -> None:
    import jsonschema

    content = PYTHON["chance level"]().to_dict()
    for change in ({"schema": 2}, {"type": "test"}, {"distances": None}, {"unknown": 1}):
        with pytest.raises(jsonschema.ValidationError):
            check(content | change)
    check(content | {"unknown": 1}, json.loads(FILE.read_text("utf-8")))
    nested = copy.deepcopy(PYTHON["test"]().to_dict())
    nested["changes"][0]["kind"] = None
    with pytest.raises(jsonschema.ValidationError):
        check(nested)


def test_all_types_of_the_schema_are_tested() -> None:
    schema = json.loads(FILE.read_text("utf-8"))
    found = {*TYPES.values(), *COMMAND_TYPES.values(), "scores"}
    assert found == {*schema["properties"]["type"]["enum"]}
