"""Units of the columns."""

from __future__ import annotations

import numpy as np
import pytest
from twins import naive_settings

from isodepth.core.scaling import check_scale, pooled_spread, scaled, spread_of_samples
from isodepth.errors import InvalidInputError, InvalidOptionError


def tables() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    mostly_zero = np.where(rng.random((31, 2)) < 0.8, 0.0, rng.standard_normal((31, 2)))
    return [
        rng.standard_normal((25, 3)) * [1, 1e-6, 1e9],
        rng.standard_normal((24, 2)) + 1e3,
        rng.integers(0, 4, (40, 3)).astype(float),
        mostly_zero,
        np.ones((7, 2)),
        np.array([[3.0, -1.0]]),
        rng.standard_normal((30, 2)).astype(np.float32),
    ]


@pytest.mark.parametrize("points", tables())
@pytest.mark.parametrize("kind", ["none", "integers", "zeros", "floats"])
def test_spread_is_that_of_the_twin(points: np.ndarray, kind: str) -> None:
    rng = np.random.default_rng(1)
    weights = {
        "none": None,
        "integers": rng.integers(1, 5, len(points)).astype(float),
        "zeros": np.where(np.arange(len(points)) % 3 == 0, 2.0, 0.0),
        "floats": rng.random(len(points)) + 0.1,
    }[kind]
    # Medians are values of the column and middles of two of them: no other rounding.
    assert pooled_spread(points, weights).tolist() == naive_settings.spread(points, weights)


def test_spread_forgets_which_sample_a_row_is_from() -> None:
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((50, 3))
    shuffled = rng.permutation(rows)
    one = spread_of_samples([rows[:20], rows[20:]], [None, None])
    assert one.tolist() == spread_of_samples([shuffled[:20], shuffled[20:]], [None, None]).tolist()
    assert one.tolist() == pooled_spread(rows).tolist()


def test_weights_count_in_proportion_within_each_sample() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((9, 2)), 5 * rng.standard_normal((11, 2))
    w = np.arange(9.0)  # the first row has weight zero and does not belong
    got = spread_of_samples([x, y], [w, None])
    assert got.tolist() == spread_of_samples([x, y], [1e300 * w, np.full(11, 1e-9)]).tolist()
    weights = [*(w * 8 / w.sum()), *[1.0] * 11]
    assert got.tolist() == naive_settings.spread(np.concatenate([x, y]), weights)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ("pool", "None, 'pooled', 'reference' or an array"),
        ([1.0, "a"], "array of one positive number"),
        (2.0, "one number for each column"),
        ([], "one number for each column"),
        ([[1.0, 2.0]], "one number for each column"),
        ([1.0, 0.0], "got 0 for column 1"),
        ([-1.0, 1.0], "got -1 for column 0"),
        ([1.0, np.nan], "got nan for column 1"),
        ([np.inf, 1.0], "got inf for column 0"),
    ],
)
def test_scales_that_are_refused(scale: object, message: str) -> None:
    with pytest.raises(InvalidOptionError, match=message):
        check_scale(scale)


def test_a_scale_for_every_column() -> None:
    assert check_scale([1, 2]).dtype == np.float64
    with pytest.raises(InvalidInputError, match="each of the 3 columns, got 2"):
        check_scale([1, 2], 3)


def test_scaling_keeps_the_precision_and_refuses_what_overflows() -> None:
    points = np.ones((3, 2), np.float32)
    assert scaled(points, np.array([2.0, 4.0]), "X").dtype == np.float32
    assert scaled(points, np.array([2.0, 4.0]), "X").tolist() == [[0.5, 0.25]] * 3
    with pytest.raises(InvalidInputError, match="X divided by scale"):
        scaled(points, np.array([1e-39, 1.0]), "X")
