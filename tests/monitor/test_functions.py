"""Functions of a row: the counts equal those of plain loops.

They do not depend on chunks, on other rows or on the rounding of dot products.
"""

from __future__ import annotations

import itertools
import json
import warnings
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from monitor.coded import coded

from isodepth.base.records import packed, unpacked
from isodepth.monitor import choice
from isodepth.monitor import functions as module
from isodepth.monitor.choice import choose_functions, cut_points, fit_functions
from isodepth.monitor.columns import UsualValues, order_statistics, summary_of_parts
from isodepth.monitor.functions import (
    BatchFold,
    Functions,
    Thresholds,
    project,
    standardized,
    total,
)
from isodepth.monitor.saved import NAMES
from isodepth.table.table import Origin

RNG = np.random.default_rng(5)


def table(m: int, rng: np.random.Generator = RNG) -> np.ndarray:
    """Return m rows with continuous, discrete and constant columns, categories, missing values."""
    numbers = np.column_stack([rng.normal(size=m), rng.integers(0, 4, m), np.ones(m)]).astype(float)
    numbers[rng.random(m) < 0.1, 0] = np.nan
    codes = np.column_stack([rng.integers(-3, 4, m), rng.integers(0, 3, m)]).astype(float)
    codes[rng.random(m) < 0.2, 0] = np.nan
    return np.hstack([numbers, codes])


def by_loops(functions: Functions, rows: np.ndarray) -> list[int]:
    """Return the count of each function, computed from its definition."""
    numbers, codes = rows[:, :3], rows[:, 3:]
    z = (numbers - functions.center) / functions.scale
    z[np.isnan(z)] = 0.0
    width = len(functions.center)
    along = np.rint(z * 2**20) / 2**20 @ functions.directions.T
    apart = np.abs(along - functions.middles[0]) / functions.middles[1]
    features = [
        *numbers.T,
        *np.where(np.isnan(numbers), np.nan, np.abs(z)).T,
        *along.T,
        np.sqrt((np.minimum(np.abs(z), 10) ** 2).sum(axis=1)),
        np.maximum(np.abs(z).max(axis=1), apart.max(axis=1)),
    ]
    indicators: list[Any] = [
        lambda v, t, _: v <= t,
        lambda v, t, _: v == t,
        lambda v, t, upper: v >= t if upper else v <= t,
        lambda v, t, upper: v > t if upper else v < t,
    ]
    counts = [
        sum(indicators[int(kind)](v, t, upper) for v in features[int(j)])
        for j, kind, t, upper in zip(*functions.thresholds, strict=True)
    ]
    counts += [sum(z[:, i] * z[:, j] > 0) for i, j in functions.pairs]
    counts += [sum(np.isnan(column)) for column in rows.T]
    for c, known in enumerate(functions.known):
        counts += [sum(codes[:, c] == v) for v in known]
        counts.append(sum(~np.isnan(codes[:, c]) & ~np.isin(codes[:, c], known)))
    for (c, v), medians in zip(functions.crossed, functions.medians, strict=True):
        counts += [sum((codes[:, c] == v) & (numbers[:, j] <= medians[j])) for j in range(width)]
    for j, unit in itertools.product(range(width), (Fraction(1, 10), 1, 5, 10)):
        present = [Fraction(str(v)) for v in numbers[:, j].tolist() if v == v]
        counts.append(sum((value / unit).denominator == 1 for value in present))
    return [int(count) for count in counts]


def test_counts_are_those_of_plain_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    # Values that the choosing rows do not have are counted together.
    rows = table(500)
    rows[(rows[:, 3] == 3) | (rows[:, 3] < 0), 3] = np.nan
    functions, rows = choose_functions(coded(np.vstack([rows, rows]), 3), RNG), table(300)
    rows[:40, 1], rows[50:53, 2], rows[60:65, 0] = np.nan, 20.0, [0.0, -9999.0, 5.0, 0.3, 1e3]
    usual = UsualValues(np.array([[-3.0] * 3, [3.0] * 3]), np.array([[-2.0] * 3, [2.0] * 3]))
    fold = BatchFold(functions, usual, keep_numbers=True)
    whole, _, suspicious, numbers, unseen, _ = fold.run([coded(rows, 3)])
    assert whole.ones.tolist() == by_loops(functions, rows)
    assert suspicious.tolist() == [
        i for i, row in enumerate(rows) if (abs(row[:3]) > 2.0).any() or row[3] < 0
    ]
    assert len(whole.ones) == len(functions.members)
    assert {f.event for f in functions.members} == {
        "column", "deviation", "direction", "distance", "pair", "missing", "shares", "crossed",
        "value", "extremes", "beyond", "precision",
    }  # fmt: skip
    new = [f"new {-1 - int(code)}" for code in rows[:, 3] if code < 0]
    assert unseen == {3: Counter(new)}
    # The division of a batch into chunks has no effect, nor has the order in which they are read.
    monkeypatch.setattr(module, "_CHUNK", 37)
    parts = [coded(rows[:100], 3), replace(coded(rows[100:], 3), origin=Origin(numbers=100))]
    again, *others = fold.run(parts[::-1])
    assert again.ones.tolist() == whole.ones.tolist()
    assert again.n_rows == 300
    assert others[1].tolist() == suspicious.tolist()
    np.testing.assert_array_equal(others[2], numbers)
    assert others[3] == unseen
    expected = quartile_summary(rows[:, :3])
    assert whole.summaries == pytest.approx(expected)
    assert again.summaries == pytest.approx(expected)


def quartile_summary(numbers: np.ndarray) -> np.ndarray:
    """Return n, n * median and n * interquartile range of each column, as an array (3, d).

    The n values of a column are those that are not missing.
    """
    expected = np.zeros((3, numbers.shape[1]))
    for j, column in enumerate(numbers.T):
        if len(values := column[~np.isnan(column)]):
            low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
            expected[:, j] = len(values) * np.array([1.0, middle, high - low])
    return expected


def test_quartiles_of_a_batch_in_parts_are_those_of_all_rows() -> None:
    """Quartiles of a batch in parts are close to those of all rows, also if they are sorted."""
    n, rng = 9000, np.random.default_rng(13)
    rows = np.sort(np.exp(rng.normal(size=(n, 3))), axis=0)
    rows[:, 1] = rng.poisson(2.0, n)
    rows[:5000, 1] = np.nan  # the first parts have no value
    rows[::3, 2] = np.nan
    for sizes in ([4000, 8500], [1], [2500, 2510, 2520]):
        found = summary_of_parts([
            order_statistics(np.sort(part.T), (~np.isnan(part)).sum(axis=0))
            for part in np.split(rows, sizes)
        ])  # fmt: skip
        expected = quartile_summary(rows)
        assert found[0].tolist() == expected[0].tolist()
        for j, column in enumerate(rows.T):
            values, median = column[~np.isnan(column)], found[1, j] / found[0, j]
            below, up_to = np.mean(values < median), np.mean(values <= median)
            assert below - 0.0006 <= 0.5 <= up_to + 0.0006
            assert found[2, j] == pytest.approx(expected[2, j], rel=0.01)
    assert np.mean([np.median(part[:, 0]) for part in np.split(rows, 3)]) > 1.2


@pytest.mark.parametrize("d", [1, 8, 13, 20])
def test_a_function_depends_on_the_bits_of_a_row_alone(d: int) -> None:
    """The value of a function does not depend on other rows, memory layout or storage in a file.

    The cut points are values of the projections, so that any other rounding changes a count.
    """
    rows = np.tile(RNG.integers(0, 12, (200, 1)), (1, d)) * np.arange(1.0, d + 1) / 3
    functions = choose_functions(coded(rows, d), RNG)
    z = standardized(rows, functions.center, functions.scale)
    along = project(functions.directions, z)
    cuts = [(2 * d + k, 0, cut, 1) for k in range(len(along)) for cut in np.unique(along[k])]
    both = zip(np.array(cuts).reshape(-1, 4).T, functions.thresholds, strict=True)
    thresholds = Thresholds(*(np.append(more.astype(own.dtype), own) for more, own in both))
    functions = replace(functions, thresholds=thresholds)
    expected = functions.count(coded(rows, d)).ones.tolist()
    single = total(functions.count(coded(rows[i : i + 1], d)) for i in range(200))
    assert single.ones.tolist() == expected
    assert functions.count(coded(np.asfortranarray(rows), d)).ones.tolist() == expected
    spaced = np.zeros((400, 2 * d))
    spaced[::2, ::2] = rows
    assert functions.count(coded(spaced[::2, ::2], d)).ones.tolist() == expected
    stored = unpacked(Functions, json.loads(json.dumps(packed(functions, NAMES))), NAMES)
    assert stored.count(coded(rows, d)).ones.tolist() == expected
    # Exact sums of the rounded values, as they are computed on any machine.
    for k, i in itertools.product(range(len(along)), range(0, 200, 40)):
        values = [Fraction(round(x * 2**20), 2**20) for x in z[i].tolist()]
        weights = map(Fraction, functions.directions[k].tolist())
        assert along[k, i] == sum(u * x for u, x in zip(weights, values, strict=True))


def test_the_digest_of_a_batch_is_of_its_rows_in_any_order() -> None:
    rows = table(300)

    def digest(*parts: np.ndarray) -> int:
        return sum(sum(coded(part, 3).hashes().tolist()) for part in parts)

    expected = digest(rows)
    assert digest(rows[::-1]) == expected
    assert digest(rows[:77], rows[77:]) == expected
    rows[0, 1] = 0.0
    zero = digest(rows)
    rows[0, 1] = -0.0
    assert digest(rows) == zero
    others = [rows[:-1], rows[:, [1, 0, 2, 3, 4]], rows * [1, 1, 1 + 1e-16 * 3, 1, 1],
              np.vstack([rows, rows[:1]])]  # fmt: skip
    assert len({zero, *(digest(other) for other in others)}) == 5


def test_cut_points_of_directions_are_quantiles() -> None:
    rows = RNG.normal(size=(1000, 2))
    functions = choose_functions(coded(rows, 2), RNG)
    counts = zip(functions.members, functions.count(coded(rows, 2)).ones.tolist(), strict=True)
    along = [ones for function, ones in counts if function.event == "direction"]
    assert along == [20, *range(100, 1000, 100), 980] * 30


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e200])
def test_units_do_not_matter(scale: float) -> None:
    numbers = np.random.default_rng(0).normal(size=(300, 3))
    counts = []
    for factor in (1.0, scale):
        rows = coded(numbers * factor, 3)
        functions = choose_functions(rows, np.random.default_rng(1))
        counts.append(functions.count(rows).ones)
    # Rounding may move one value across a cut point. The functions of precision depend on units.
    relative = [member.event != "precision" for member in functions.members]
    assert np.abs(counts[0] - counts[1])[relative].max() <= 1


def test_pairs_and_frequent_categories_are_limited_in_number() -> None:
    codes = np.repeat(np.arange(20), 20)[:, None] * np.ones(6, np.int64)
    rows = coded(np.hstack([RNG.normal(size=(400, 1)), codes]), 1)
    functions = choose_functions(rows, RNG)
    assert len(functions.crossed) == 100
    # Half of the 20 rows of each category are at most the median within the category.
    within = [member.event == "crossed" for member in functions.members]
    assert functions.count(rows).ones[within].tolist() == [10] * 100
    functions = choose_functions(coded(np.hstack([RNG.normal(size=(400, 20)), codes]), 20), RNG)
    assert (len(functions.crossed), len(functions.pairs)) == (5, 100)
    # The 50 most frequent of 60 categories are counted one by one.
    codes = np.repeat(np.arange(60.0), np.arange(60) // 3 + 1)[:, None]
    (known,) = choose_functions(coded(codes, 0), RNG).known
    assert known.tolist() == [9, 10, *range(12, 60)]


@pytest.mark.parametrize(("most", "cuts", "midpoints"), [
    (10.0, [1, 2, 3, 10], [1.5, 2.5, 6.5]), (20.0, [2], [2.5]),
])  # fmt: skip
def test_few_values_are_all_cut_points(most: float, cuts: Any, midpoints: Any) -> None:
    """A column has all of its values as cut points if they are few, otherwise its quantiles.

    For three levels, up to four distinct values are all cut points; of five, the quartiles.
    """
    values = np.array([1.0, *[2.0] * 12, 3.0, np.nan, 10.0, most])
    levels = (0.25, 0.5, 0.75)
    assert cut_points(values, levels, True).tolist() == cuts
    assert cut_points(np.append(values, 3 + 1e-10), levels, False) == pytest.approx(midpoints)


@pytest.mark.parametrize(("n", "size"), [(1000, 250), (100_000, 20_000)])
def test_no_row_is_used_twice(n: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[float] = []

    def choose(rows: Any, rng: np.random.Generator) -> Functions:
        chosen.extend(rows.numbers.ravel())
        return choose_functions(rows, rng)

    monkeypatch.setattr(choice, "choose_functions", choose)
    rows = coded(RNG.permutation(n)[:, None] * 1.0, 1)
    functions, counts, of_all, _ = fit_functions(rows, RNG, "rows")
    # The values are 0, ..., n - 1: of all rows, v + 1 are at most v.
    cuts = np.array([value for kind, _, value, _ in functions.members if kind == "column"])
    first = np.sort(chosen, axis=None)
    assert (counts.ones[: len(cuts)] == cuts + 1 - first.searchsorted(cuts, "right")).all()
    # Changes are described by all rows of the reference.
    assert of_all.n_rows == n
    assert (of_all.ones[: len(cuts)] == cuts + 1).all()
    assert of_all.quartiles[0, 0] == (n - 1) / 2
    assert (len(chosen), counts.n_rows) == (size, n - size)


@pytest.mark.parametrize(("seed", "warned"), [(130, True), (106, False)])
def test_the_level_of_the_check_of_dependence_is_one_per_mille(seed: int, warned: bool) -> None:
    """The warning about dependent rows of a reference is issued for p-values below 0.001.

    A trend with adjusted p-value 0.00094 causes a warning, and one with 0.00102 does not.
    """
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(140, 1)) + np.linspace(0.0, 1.2, 140)[:, None]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit_functions(coded(rows, 1), rng, "rows")
    assert ["5 consecutive parts have 6.2 times" in str(each.message) for each in found] == (
        [True] * warned
    )
