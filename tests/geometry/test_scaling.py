"""Units of the columns, and the option `scale`."""

from __future__ import annotations

import numpy as np
import pytest
from twins import naive_settings

from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.geometry.scaling import (
    CLIPPED,
    check_scale,
    column_units,
    is_integral,
    mad_spread,
    scaled,
    units_of_samples,
)


def tables() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    mostly_zero = np.where(rng.random((31, 2)) < 0.8, 0.0, rng.standard_normal((31, 2)))
    return [
        rng.standard_normal((25, 3)) * [1, 1e-6, 1e9],
        rng.standard_normal((24, 2)) + 1e3,
        rng.integers(0, 4, (40, 3)).astype(float),
        mostly_zero,
        np.ones((7, 2)),
        np.minimum(np.arange(31) // 3, 5.0)[:, None],  # the median is the maximum
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
    # Medians are values of the column or means of two values, without other rounding.
    assert mad_spread(points, weights).tolist() == naive_settings.mad_spread(points, weights)
    assert column_units(points, weights) == pytest.approx(
        naive_settings.column_units(points, weights), rel=1e-12
    )


def test_units_do_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((50, 3))
    shuffled = rng.permutation(rows)
    one = units_of_samples([rows[:20], rows[20:]], [None, None], 0.1)
    other = units_of_samples([shuffled[:20], shuffled[20:]], [None, None], 0.1)
    assert one.tolist() == other.tolist() == column_units(rows).tolist()


@pytest.mark.parametrize("eps", [0.1, 0.3])
def test_an_integer_weight_is_a_number_of_rows(eps: float) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((9, 2)), 5 * rng.standard_normal((11, 2))
    w, v = 20 * np.arange(9), rng.integers(1, 5, 11)
    repeated = [np.repeat(x, w, axis=0), np.repeat(y, v, axis=0)]
    for weights, samples in (([w, v], repeated), ([w, None], [repeated[0], y])):
        weighted = units_of_samples([x, y], [u if u is None else u * 1.0 for u in weights], eps)
        assert weighted == pytest.approx(units_of_samples(samples, [None, None], eps), rel=1e-13)
    largest = 2.0**32 - 1, 2.0**32, 2.5
    assert [is_integral(np.array([1.0, w])) for w in largest] == [True, False, False]


def test_other_weights_count_in_proportion_within_each_sample() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((9, 2)), 5 * rng.standard_normal((11, 2))
    w = np.arange(9) / 7.0  # the first row has weight zero and does not count
    units = units_of_samples([x, y], [w, None], 0.1)
    assert units.tolist() == units_of_samples([x, y], [1e300 * w, np.full(11, 1e-9)], 0.1).tolist()
    weights = [*(w * 8 / w.sum()), *[1.0] * 11]
    expected = naive_settings.column_units(np.concatenate([x, y]), weights)
    assert units == pytest.approx(expected, rel=1e-9)


def columns_of_few_values() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    n = 1000
    columns = {
        "normal": rng.standard_normal(n),
        "exponential": rng.exponential(size=n),
        "half zeros": np.where(rng.random(n) < 0.5, 0.0, rng.exponential(size=n) + 1),
        "cylinders": rng.choice([4.0, 6.0, 8.0], n, p=[0.51, 0.21, 0.28]),
        "grades": rng.choice(np.arange(1.0, 6), n, p=[0.02, 0.06, 0.15, 0.4, 0.37]),
    }
    for share in (0.79, 0.81, 0.9, 0.95):
        binary = np.zeros(n)
        binary[: round(n * (1 - share))] = 1.0
        columns[f"binary {share}"] = binary
        columns[f"zeros {share}"] = binary * (rng.exponential(size=n) + 0.5)
    return columns


@pytest.mark.parametrize("name", columns_of_few_values())
def test_units_do_not_jump_if_rows_are_removed(name: str) -> None:
    rows = columns_of_few_values()[name][:, None]
    rng = np.random.default_rng(5)
    units = np.array(
        [column_units(rng.permutation(rows)[: round(0.9 * len(rows))])[0] for _ in range(100)]
    )
    assert np.maximum(units / column_units(rows), column_units(rows) / units).max() <= 1.2


@pytest.mark.parametrize("name", ["normal", "exponential", "cylinders", "grades"])
@pytest.mark.parametrize("wild", [-9999.0, 1e12])
@pytest.mark.parametrize("share", [0.08, 0.15])
def test_units_withstand_contamination(name: str, wild: float, share: float) -> None:
    rows = columns_of_few_values()[name][:, None]
    spoiled = np.random.default_rng(6).permutation(rows)
    spoiled[: round(share * len(rows))] = wild
    ratio = (column_units(spoiled) / column_units(rows))[0]
    assert 0.5 <= ratio <= 2


def test_units_are_mads_if_more_contamination_is_expected() -> None:
    """Check that the unit of a column is its MAD for `eps` above 0.2."""
    rows = np.random.default_rng(7).standard_normal((1000, 1))
    spoiled = rows.copy()
    spoiled[:350] = 1e9
    assert column_units(spoiled, eps=CLIPPED) > 1e6
    assert 0.5 < column_units(spoiled, eps=0.3)[0] < 4
    for eps in (0.1, 0.3):
        # Three standard errors of the less efficient estimate.
        assert column_units(rows, eps=eps) == pytest.approx([1.0], abs=0.12)
        assert column_units(np.ones((9, 1)), eps=eps) == 1.0


def test_units_of_extreme_values() -> None:
    rows = np.array([[-3e307, 5e-324], [3e307, 0.0], [3e307, 0.0], [-3e307, 5e-324]])
    units = column_units(rows)
    assert np.isfinite(units).all()
    assert (units > 0).all()


@pytest.mark.parametrize(
    "scale",
    [
        "pool",
        2.0,
        [],
        [1.0, "a"],
        ["1", "2"],
        [[1.0, 2.0]],
        [[1.0], [1.0, 2.0]],
        [1j, 1.0],
        [1.0, None],
    ],
    ids=repr,
)
def test_scales_that_are_refused(scale: object) -> None:
    with pytest.raises(InvalidOptionError, match=r"scale must .* one positive number") as caught:
        check_scale(scale)
    assert repr(scale) in str(caught.value)


@pytest.mark.parametrize(
    ("scale", "received"),
    [
        ([1.0, 0.0], "0 for column 1"), ([-1.0, 1.0], "-1 for column 0"),
        ([1.0, np.nan], "nan for column 1"), ([np.inf, 1.0], "inf for column 0"),
    ],
)  # fmt: skip
def test_numbers_that_are_not_positive_are_named(scale: object, received: str) -> None:
    with pytest.raises(InvalidOptionError, match=rf"one positive number per .*, got {received}$"):
        check_scale(scale)


def test_the_name_of_a_column_with_a_wrong_scale() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidOptionError, match=r"got 0 for column 'b'$"):
        check_scale(pd.Series([1.0, 0.0], index=["a", "b"]))


def test_integers_are_scales() -> None:
    assert check_scale([1, 2]).dtype == np.float64


def test_scaling_keeps_the_precision_and_refuses_overflow() -> None:
    points = np.ones((3, 2), np.float32)
    assert scaled(points, np.array([2.0, 4.0]), "X").dtype == np.float32
    assert scaled(points, np.array([2.0, 4.0]), "X").tolist() == [[0.5, 0.25]] * 3
    with pytest.raises(InvalidInputError, match="X divided by scale"):
        scaled(points, np.array([1e-39, 1.0]), "X")
