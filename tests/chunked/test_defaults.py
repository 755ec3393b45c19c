"""Warning about the defaults of `levels` and `refine` for samples that are read in chunks."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isodepth
from isodepth.errors import ApproximationWarning, InvalidOptionError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 200, 8))
Y[:, 0] += 2
OPTIONS: dict[str, Any] = {"n_directions": 50, "random_state": 0}
GRID: dict[str, Any] = {"levels": 20, "refine": 0}


def in_chunks(rows: np.ndarray) -> Any:
    return isodepth.scan([rows[:90], rows[90:]])


@pytest.mark.parametrize("name", ["distance", "compare"])
@pytest.mark.parametrize("as_method", [False, True])
def test_replaced_defaults_are_warned_of(name: str, as_method: bool) -> None:
    def call(x: Any, y: Any, **options: Any) -> float:
        if as_method:
            return float(getattr(isodepth.Metric(**OPTIONS, **options), name)(x, y))
        return float(getattr(isodepth, name)(x, y, **OPTIONS, **options))

    with pytest.warns(
        ApproximationWarning, match=r"20 levels without refinement.*levels=20, r"
    ) as w:
        found = call(in_chunks(X), Y)
    assert w[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = call(in_chunks(X), in_chunks(Y), **GRID)
    assert found == expected == pytest.approx(call(X, Y, **GRID), rel=1e-12)
    assert found < 0.95 * call(X, Y)  # the message says that it is smaller


def test_the_warning_names_the_default_that_was_replaced() -> None:
    x, y = in_chunks(X), in_chunks(Y)
    with pytest.warns(ApproximationWarning, match="at 7 levels.*smaller than.*levels=7, refine=0"):
        isodepth.distance(x, y, levels=7, **OPTIONS)
    with pytest.warns(ApproximationWarning, match="20 levels .*slightly different.*levels=20"):
        isodepth.distance(x, y, refine=0, **OPTIONS)
    with pytest.warns(ApproximationWarning, match="slightly different"):  # one direction is enough
        isodepth.distance(in_chunks(X[:, :1]), in_chunks(Y[:, :1]), **OPTIONS)


def test_a_mean_over_directions_has_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        isodepth.distance(in_chunks(X), in_chunks(Y), q=2, **OPTIONS)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"levels": "exact"}, r"levels='exact' needs all rows.*levels=20.*np\.load"),
        ({"levels": "exact", "q": 2}, "levels='exact' needs all rows"),
        ({"refine": 20}, r"refine=20 is not available.*refine=0.*np\.load"),
    ],
)
def test_unavailable_options_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidOptionError, match=match) as error:
        isodepth.distance(in_chunks(X), Y, **options)
    assert error.value.option == next(iter(options))


def test_settings_have_the_levels_that_were_used() -> None:
    with pytest.warns(ApproximationWarning):
        compared = isodepth.compare(in_chunks(X), in_chunks(Y), **OPTIONS)
    assert (compared.settings["levels"], compared.settings["refine"]) == (20, 0)
    assert "levels=20|dirs=uniform:50|refine=0" in compared.signature
    default = isodepth.Metric()
    assert default.levels is None
    assert default.signature == isodepth.Metric(levels="exact", refine=20).signature
    assert isodepth.compare(X, Y, **OPTIONS).settings["levels"] == "exact"
    assert isodepth.distance(X, Y, **OPTIONS) == isodepth.distance(X, Y, levels="exact", **OPTIONS)


def test_the_command_states_the_defaults(tmp_path: Path, capsys: Any) -> None:
    from isodepth.cli import main

    for name, rows in (("x", X), ("y", Y)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "rows.npy", rows)

    def run(*options: str) -> tuple[str, int]:
        code = main(["compare", str(tmp_path / "x"), str(tmp_path / "y"), *options])
        return capsys.readouterr().err, code

    few = ("--n-directions", "50")
    text, code = run(*few)
    assert code == 0
    assert "at 20 levels without refinement: the distance is usually smaller" in text
    assert "--levels 20 --refine 0 selects this" in text
    assert run(*few, "--levels", "20", "--refine", "0") == ("", 0)
    text, code = run("--levels", "exact")
    assert code == 2
    assert "--levels must be an integer, such as 20, for folders" in text
    text, code = run("--refine", "20")
    assert code == 2
    assert "--refine has no effect on folders" in text
