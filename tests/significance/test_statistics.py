"""Statistics of all labelings agree with plain loops over single labelings.

Sums have at most a few hundred terms of size one, so rounding errors are below 1e-12.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, gamma, hypergeom, rankdata
from strategies import POINTS, exact_directions, gaussian_directions
from twins import naive_permutation as twin

from isodepth import Metric, two_sample_test
from isodepth._core import share_differences
from isodepth.functions.describer import direction_text
from isodepth.functions.explanations import ks_distance
from isodepth.geometry.scaling import mad_spread
from isodepth.geometry.weights import contaminated_rows
from isodepth.rows.rows import TwoSamples
from isodepth.significance import statistics
from isodepth.significance import tolerance as tolerance_module
from isodepth.significance.changes import _column_feature, _remaining_pairs, _strongest_change
from isodepth.significance.permutations import (
    Moments,
    Permutations,
    neg_log_p,
    neg_log_p_of_largest,
    permutation_pvalue,
    rank_cosines,
    unit_ranks,
)
from isodepth.significance.samples import Category, PooledSample, Samples
from isodepth.significance.statistics import (
    Feature,
    FeatureTest,
    Findings,
    aggregated_statistics,
    combined,
    direction_feature,
    projection_distances,
)
from isodepth.significance.tolerance import (
    TolerantFindings,
    allowed_share,
    learned_direction,
    share_units,
    tolerant_statistics,
)

COUNT = 5


def advance(count: int) -> None:
    """Ignore the number of completed steps."""


def regions(**options: Any) -> Metric:
    return Metric(**{"refine": 0, "q": 2, "levels": 20, "random_state": 0, **options})


def some_blocks(rng: np.random.Generator, n_x: int, n_y: int) -> np.ndarray:
    """Return the number of the block of each row, for short random blocks of n_x and n_y rows."""
    x = np.cumsum(rng.random(n_x) < 0.6)
    y = np.cumsum(rng.random(n_y) < 0.6)
    x, y = x - x[0], y - y[0]
    return np.concatenate([x, y + x[-1] + 1])


def pooled(
    points: np.ndarray,
    names: tuple[str, ...],
    directions: np.ndarray,
    permutations: Permutations,
    rng: np.random.Generator,
    categories: list[Category] | None = None,
) -> PooledSample:
    """Return a pooled sample of `points`, whose columns `names` are not standardized.

    `permutations` are its labelings, and `categories` its columns of categories.
    """
    n_x, categories = permutations.n_x, categories or []
    read = TwoSamples((points[:n_x], points[n_x:]), names, {})
    samples = Samples(points, read, categories, None)
    columns = np.ascontiguousarray(points.T)
    standardized = np.nan_to_num(points)
    return PooledSample(
        columns, standardized, 1.0, names, directions, permutations, rng, categories, 1, samples
    )


def category(codes: np.ndarray) -> Category:
    """Return a category column with the values "a" (code 0) and "b" (code 1)."""
    return Category.of("g", codes, ["a", "b"])


def multiples(values: np.ndarray) -> np.ndarray:
    """Round to multiples of 2**-10, so that projections are exact and rounding breaks no tie."""
    return np.round(values * 1024) / 1024


class Drawn:
    """Random rows with labelings, as `Permutations` and as lists of booleans."""

    def __init__(self, kind: str, seed: int, n_x: int, n_y: int, d: int, blocked: bool) -> None:
        self.kind = kind
        rng = np.random.default_rng(seed)
        points = multiples(POINTS[kind](rng, n_x + n_y, d)[: n_x + n_y])
        if kind == "lattice":
            directions = exact_directions(rng, d)
        else:
            directions = multiples(np.vstack([np.eye(d), gaussian_directions(rng, d, 4)]))
        blocks = some_blocks(rng, n_x, n_y) if blocked else None
        permutations = Permutations.draw(n_x, n_y, COUNT, np.random.default_rng(3), blocks)
        names = tuple(f"c{j}" for j in range(d))
        directions = directions if d > 1 else np.eye(1)
        self.rows = pooled(points, names, directions, permutations, rng)
        self.labels = permutations.labels(dtype=bool).T.tolist()


def given_cases(kinds: list[str]) -> Any:
    return given(
        drawn=st.builds(
            Drawn,
            kind=st.sampled_from(kinds),
            seed=st.integers(0, 2**32 - 1),
            n_x=st.integers(2, 14),
            n_y=st.integers(2, 14),
            d=st.integers(1, 3),
            blocked=st.booleans(),
        )
    )


cases = given_cases(sorted(POINTS))


@settings(max_examples=30, deadline=None)
@cases
def test_cosines_of_ranks(drawn: Drawn) -> None:
    values = drawn.rows.points.T
    cosines = rank_cosines(values, 6)
    found = drawn.rows.permutations.contrasts(cosines.reshape(-1, values.shape[1]))
    found = found.reshape(6, len(values), -1)
    wanted = [
        [[twin.wave(column, mine, j) for mine in drawn.labels] for column in values.tolist()]
        for j in range(1, 7)
    ]
    assert found == pytest.approx(np.array(wanted), rel=1e-12, abs=1e-12)


@settings(max_examples=30, deadline=None)
@cases
@example(Drawn("lattice", 16, 3, 2, 2, False))  # a column is constant in one of the samples
def test_changes_of_rank_correlations(drawn: Drawn) -> None:
    pairs = list(itertools.combinations(range(drawn.rows.points.shape[1]), 2))
    if pairs:
        ranks = drawn.rows.centered_ranks(drawn.rows.points.T)
        moments = Moments(drawn.rows.permutations, ranks)
        changes = moments.correlation_change(np.array(pairs))
        columns = drawn.rows.points.T.tolist()
        wanted = [
            [twin.correlation_change(columns[a], columns[b], mine) for mine in drawn.labels]
            for a, b in pairs
        ]
        # For two rows, the variances have rounding errors of 1e-16, and correlations larger ones.
        assert changes == pytest.approx(np.array(wanted), rel=1e-9, abs=1e-9)


@settings(max_examples=30, deadline=None)
@cases
def test_differences_of_shares_and_clipped_ranks(drawn: Drawn) -> None:
    values = np.ascontiguousarray(drawn.rows.points.T)
    words = drawn.rows.permutations.words
    # Values more than two spreads from the median are far.
    center, spread = np.median(values, axis=1), mad_spread(values.T)
    limits = center[:, None] + 2.0 * np.outer(spread, [-1.0, 1.0])
    for ends in ((0.25, 0.75), (0.5, 0.9)):
        half_lines, intervals, ranks = share_differences(
            values, words, COUNT + 1, 64, ends, limits, 2
        )
        wanted = np.array(
            [
                [twin.largest_share_differences(column, mine) for mine in drawn.labels]
                for column in values.tolist()
            ]
        )
        assert half_lines == pytest.approx(wanted[:, :, 0], abs=1e-12)
        assert intervals == pytest.approx(wanted[:, :, 1], abs=1e-12)
        wanted_ranks = [
            [twin.clipped_rank_difference(column, mine, *ends, 2.0) for mine in drawn.labels]
            for column in values.tolist()
        ]
        assert ranks == pytest.approx(np.array(wanted_ranks), rel=1e-12, abs=1e-12)


@settings(max_examples=30, deadline=None)
@cases
@pytest.mark.parametrize(("q", "p", "eps"), [(2, 2, 0.1), (1, 3, 0.3), (math.inf, math.inf, 0.2)])
def test_distances_of_regions(drawn: Drawn, q: float, p: float, eps: float) -> None:
    """The distances between regions agree with plain loops, for every labeling.

    With blocks, the sizes of both samples differ between labelings.
    """
    found = projection_distances(drawn.rows, regions(q=q, p=p, eps=eps, levels=4), advance)
    sides = [twin.parts(drawn.rows.points.tolist(), mine) for mine in drawn.labels]
    U = drawn.rows.directions.tolist()
    wanted = [twin.region_statistic(x, y, U, q, p, eps, 4) for x, y in sides]
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def test_more_than_the_cuts_are_cut_evenly() -> None:
    """If a column has more values than cut points, the cut points are evenly spaced values."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=200)
    permutations = Permutations.draw(75, 125, 1, rng)
    limits = np.array([[-1.5, 2.0]])
    found, _, ranks = share_differences(
        values[None], permutations.words, 2, 32, (0.25, 0.75), limits
    )
    mine = permutations.labels(dtype=bool).T
    exact = [twin.largest_share_differences(values.tolist(), row.tolist())[0] for row in mine]
    # Between two cuts lie at most 7 of 200 rows.
    assert (found[0] <= np.array(exact) + 1e-6).all()
    assert (found[0] >= np.array(exact) - 7 * (1 / 75 + 1 / 125)).all()
    # The rows of a cell have the same rank, and far rows have the rank of the median.
    ends = [-(-200 * cut // 33) for cut in range(1, 33)]
    ends += [(values < -1.5).sum(), 200 - (values > 2.0).sum()]
    cells = np.searchsorted(np.unique(ends), rankdata(values) - 1, side="right")
    mean_ranks = rankdata(cells) - 0.5
    scores = (mean_ranks / 200).clip(0.25, 0.75) * 2 - 0.5
    scores[(values < -1.5) | (values > 2.0)] = 0.5
    wanted = [abs(scores[row].mean() - scores[~row].mean()) for row in mine]
    assert ranks[0] == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=30, deadline=None)
@cases
def test_a_direction_learned_anew_for_every_labeling(drawn: Drawn) -> None:
    """The statistic of the learned direction agrees with plain loops, for every labeling.

    The tolerance is that of float32; whitening of collinear rows increases rounding errors.
    """
    if drawn.rows.points.shape[1] > 1:
        found, _ = learned_direction(drawn.rows)
        rows = twin.whitened(drawn.rows.points.tolist())
        wanted = np.array([twin.learned_difference(rows, mine) for mine in drawn.labels])
        # If the means are equal, the start of the ascent consists of rounding errors.
        labels, clipped = np.array(drawn.labels), np.clip(rows, -2.5, 2.5)
        means = [clipped[mine].mean(axis=0) - clipped[~mine].mean(axis=0) for mine in labels]
        stable = np.linalg.norm(means, axis=1) > 1e-4
        assert found[stable] == pytest.approx(wanted[stable], abs=2e-4)


def test_a_direction_is_learned_if_most_rows_are_equal() -> None:
    """A direction is learned from the other rows if more than half of the rows are at the center.

    The center does not affect the median distance that limits the influence of rows.
    """
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 3))
    points[300:, 1] += 1.5
    points[rng.random(600) < 0.6] = 0.0
    rows = pooled(points, ("a", "b", "c"), np.eye(3), Permutations.draw(300, 300, 39, rng), rng)
    values, direction = learned_direction(rows)
    assert values[0] > values[1:].max()
    assert np.abs(direction).argmax() == 1


def test_a_direction_learned_on_a_subset_is_evaluated_on_all_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 3))
    points[300:, 1] += 1.5
    permutations = Permutations.draw(300, 300, 39, rng)
    rows = pooled(points, ("a", "b", "c"), np.eye(3), permutations, rng)
    on_all, _ = learned_direction(rows)
    monkeypatch.setattr("isodepth.significance.tolerance._LEARNING_ROWS", 200)
    values, direction = learned_direction(rows)
    # Directions fitted to 200 and to 600 rows differ by about 0.1, and their statistics by less.
    assert values[0] == pytest.approx(on_all[0], abs=0.02)
    assert values[0] > values[1:].max()
    assert np.abs(direction).argmax() == 1


@settings(max_examples=30, deadline=None)
@given_cases(["gaussian", "heavy_tailed", "lattice"])
def test_functions_under_a_tolerance(drawn: Drawn) -> None:
    """Each statistic of a test with a tolerance equals the maximum over functions in plain loops.

    Rounding must not change ties, so the rows are integers, or the number of rows is odd: the
    median of an odd number of values is one of the values.
    """
    rows = drawn.rows
    odd = len(rows.points) % 2 == 1
    assume(odd or drawn.kind == "lattice")
    found = tolerant_statistics(rows, 0.0, advance)
    points, U = rows.points.tolist(), rows.directions.tolist()
    for name, functions in twin.tolerance_functions(points, U).items():
        assert (name in found.parts) == bool(functions)
        if not functions:
            continue
        wanted = [
            max(twin.clipped_rank_difference(values, mine, *ends, far)
                for values, ends, far in functions)
            for mine in drawn.labels
        ]  # fmt: skip
        assert np.sqrt(found.parts[name]) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("seed", "d", "blocked"), [(0, 1, False), (1, 2, True), (2, 3, False)])
def test_statistics_of_the_aggregated_test(
    monkeypatch: pytest.MonkeyPatch, seed: int, d: int, blocked: bool
) -> None:
    """The statistics of the aggregated test agree with plain sums.

    Rounding errors divided by spreads are below 1e-9.
    """
    # A block has two functions or three directions.
    monkeypatch.setattr(statistics, "MAX_NUMBERS", 350)
    drawn = Drawn("gaussian", seed, 20, 16, d, blocked)
    codes = np.random.default_rng(seed).integers(0, 2, 36)
    before = drawn.rows
    rows = pooled(
        before.points, before.names, before.directions, before.permutations, before.rng,
        [category(codes)],
    )  # fmt: skip
    found = aggregated_statistics(rows, regions(), advance, only_regions=False)
    labels = np.array(drawn.labels)

    def powers(values: np.ndarray, count: int = 6) -> np.ndarray:
        waves = range(1, count + 1)
        return np.square([[twin.wave(values.tolist(), m, j) for m in drawn.labels] for j in waves])

    def change_of_mean(ranks: np.ndarray, inside: np.ndarray, mine: np.ndarray) -> float:
        """Return the standardized difference between X and Y of a difference of mean ranks.

        It is the mean rank of the rows in `inside` minus that of all rows of the sample. `mine`
        marks the rows of X.
        """
        counts = [inside[side].sum() for side in (mine, ~mine)]
        x, y = (ranks[side & inside].mean() - ranks[side].mean() for side in (mine, ~mine))
        return (x - y) / math.sqrt((1 / np.array(counts)).sum()) if min(counts) >= 5 else 0.0

    columns = [*rows.points.T, *rows.whole_rows.values()]
    assert columns[d] == pytest.approx([math.hypot(*row) for row in rows.points.clip(-6, 6)])
    falling = 1.0 / np.arange(1, 7)[:, None] ** 2
    flat = [neg_log_p(powers(values).sum(axis=0)) for values in columns]
    smooth = [neg_log_p((powers(values) * falling).sum(axis=0)) for values in columns]
    along = [(powers(v, 4) * falling[:4]).sum(axis=0) for v in rows.along(rows.directions)]
    changes = [
        [change_of_mean(ranks, codes == v, mine) for mine in labels]
        for ranks in unit_ranks(rows.points.T)
        for v in (0, 1)
    ]
    for a, b in itertools.combinations(range(d + 1) if d > 1 else [], 2):
        pair = columns[a].tolist(), columns[b].tolist()
        changes.append([twin.correlation_change(*pair, mine) for mine in drawn.labels])
    contrasts = [[twin.difference((codes == v).astype(float), m) for m in labels] for v in (0, 1)]
    pearson = (np.square(contrasts).T / [np.mean(codes == v) for v in (0, 1)]).sum(axis=1)

    def shares(indicators: list[np.ndarray]) -> np.ndarray:
        squares = [
            [twin.difference(each.astype(float), m) ** 2 for m in labels] for each in indicators
        ]
        return np.max(
            neg_log_p(np.array(squares) * np.prod(rows.permutations.sizes, axis=0)), axis=0
        )

    extremes = [*rows.points.T, *-rows.points.T, columns[d]]
    wanted = {
        "extremes": shares([values >= np.sort(values)[-4] for values in extremes]),
        "values": shares([codes == v for v in (0, 1)]),
        "columns": np.max(smooth[:d], axis=0),
        "whole rows": np.max(smooth[d:], axis=0),
        "shape": np.max(flat, axis=0),
        "directions": np.mean(along, axis=0),
        "dependence": np.max(neg_log_p(np.square(changes)), axis=0),
        "categories": neg_log_p(pearson * np.prod(rows.permutations.sizes, axis=0)),
    }
    assert found.parts.keys() == {*wanted, "regions"}
    for name, values in wanted.items():
        assert found.parts[name] == pytest.approx(values, rel=1e-9, abs=1e-9), name
    names = [*rows.names, *rows.whole_rows]
    assert found.strongest["columns"].label == names[np.argmax(np.array(smooth)[:d, 0])]
    assert found.strongest["shape"].label == names[np.argmax(np.array(flat)[:, 0])]
    best = rows.directions[np.argmax(np.array(along)[:, 0])]
    assert found.strongest["directions"].label == direction_text(best, rows.names)


MANY_ORDERS = {
    "p-values": lambda rng, n: 10.0 ** rng.uniform(-60, 0, n),
    "float32 probabilities": lambda rng, n: (10.0 ** rng.uniform(-9, 0, n)).astype(np.float32),
    "60 rows near 1e17": lambda rng, n: rng.normal(size=n) + 1e17 * (np.arange(n) % 200 < 60),
}


@pytest.mark.parametrize("kind", MANY_ORDERS)
def test_ranks_are_those_of_the_raw_values(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small values are not rounded to ties by the subtraction of a large median."""
    import pandas as pd

    rng = np.random.default_rng(0)
    values, groups = MANY_ORDERS[kind](rng, 400), rng.choice(list("ab"), 400)
    ranks = rankdata(values)
    results = []
    for column in (values, ranks):
        frame = pd.DataFrame({"v": column, "group": groups})
        result = two_sample_test(frame[:200], frame[200:], n_permutations=49, random_state=0)
        statistics = {part.name: part.statistic for part in result.components}
        results.append([statistics[name] for name in ("columns", "dependence")])
        results[-1] += [test.difference for test in result.column_tests]
    assert results[0] == results[1]

    compared = []

    def noted(functions: np.ndarray, *others: Any) -> Any:
        compared.append(rankdata(functions, axis=1))
        return share_differences(functions, *others)

    monkeypatch.setattr(tolerance_module, "share_differences", noted)
    X, Y = values[:200, None], values[200:, None]
    two_sample_test(X, Y, tolerance=0.02, n_permutations=9, random_state=0)
    np.testing.assert_array_equal(compared[0], ranks[None])
    for depth in ("irw", "halfspace"):
        result = two_sample_test(
            X, Y, method=Metric(depth=depth, q=2, levels=20), n_permutations=9, random_state=0
        )
        # The distance is computed in float32 if the values are float32.
        assert result.statistic == pytest.approx(result._comparison.distance, rel=1e-6)


def test_columns_and_pairs_are_adjusted_together() -> None:
    """P-values of columns and pairs are adjusted by the maximum over all of them, per labeling."""
    rng = np.random.default_rng(0)
    columns, pairs = 3 * rng.exponential(size=(2, 40)), 3 * rng.exponential(size=(5, 40))
    findings = Findings(40, {})
    findings.add_tests([Feature("distribution", n, (n,)) for n in "ab"], columns)
    findings.add_tests([Feature("dependence", n, ("a", n)) for n in "bcdef"], pairs)
    # Columns have three quarters of the level, divided among two features.
    weighted = np.concatenate([columns + math.log(0.75 / 2), pairs + math.log(0.25 / 5)])
    expected = [
        sum(weighted[:, b].max() >= own for b in range(1, 40)) + 1 for own in weighted[:, 0]
    ]
    adjusted = [findings.adjusted(family) for family in (findings.columns, findings.pairs)]
    np.testing.assert_allclose(np.concatenate(adjusted), np.array(expected) / 40)


def test_an_aligned_dependence_is_adjusted_for_all_compared_pairs() -> None:
    """A change of dependence with p-value 0.0004 is significant among 3 pairs, not among 1000.

    The ranks are computed within each sample.
    """
    rng = np.random.default_rng(3)
    points = rng.normal(size=(400, 2))
    points[200:, 1] = 0.3 * points[200:, 0] + math.sqrt(1 - 0.3**2) * points[200:, 1]
    permutations = Permutations.draw(200, 200, 199, rng)
    rows = pooled(points, ("u", "v"), np.eye(2), permutations, rng)
    test = FeatureTest(5.0, 0.01, Feature("dependence", "u and v", ("u", "v")))
    assert _remaining_pairs(rows, [test], 3, 0.05) == [test]
    assert _remaining_pairs(rows, [test], 1000, 0.05) == []
    assert _remaining_pairs(rows, [test], 3, 0.001) == []


def test_the_strongest_statistic_names_a_category_only_if_its_own_values_changed() -> None:
    rng = np.random.default_rng(0)
    points, codes = rng.normal(size=(400, 1)), np.tile([0, 1], 200)
    points[200:, 0] += 3.0 * codes[200:]
    permutations = Permutations.draw(200, 200, 199, rng)
    rows = pooled(points, ("v",), np.eye(1), permutations, rng, [category(codes)])
    texts = {}
    for value in "ab":
        feature = Feature("dependence", f"v and g = {value}", ("v", "g"), value)
        texts[value] = _strongest_change(rows, FeatureTest(9.0, 0.01, feature), 0.05).text
    assert texts["a"] == "the joint distribution of v and g changes"
    assert texts["b"].startswith("median of v within g = b: ")


def test_a_direction_along_one_column_is_described_as_this_column() -> None:
    rng = np.random.default_rng(0)
    rows = pooled(
        rng.normal(size=(20, 2)), ("u", "v"), np.eye(2), Permutations.draw(9, 11, 9, rng), rng
    )
    for direction, column in (([1.0, 0.1], "u"), ([0.1, -1.0], "v")):
        feature = direction_feature("spread", np.array(direction), rows.names)
        assert _column_feature(rows, feature) == Feature("distribution", column, (column,))
    even = direction_feature("spread", np.array([0.8, 0.6]), rows.names)
    assert _column_feature(rows, even) == even


@pytest.mark.parametrize("ties", [False, True])
def test_distance_of_distribution_functions(ties: bool) -> None:
    values = np.random.default_rng(0).normal(size=50)
    values = np.round(values) if ties else values
    x, y = values[:20], values[20:]
    wanted = max(abs(np.mean(x <= value) - np.mean(y <= value)) for value in values)
    assert ks_distance(x, y) == pytest.approx(wanted, abs=1e-12)


def test_many_rows_in_float32_and_threads_give_the_same_contrasts() -> None:
    rng = np.random.default_rng(0)
    values = np.stack([rng.normal(size=30_000), np.round(rng.normal(size=30_000))])
    permutations = Permutations.draw(14_000, 16_000, 70, rng)
    cosines = rank_cosines(values, 3, n_threads=2)
    assert cosines.dtype == np.float32
    exact = np.cos(np.pi * np.arange(1, 4)[:, None, None] * unit_ranks(values))
    found, wanted = (permutations.contrasts(each.reshape(6, -1)) for each in (cosines, exact))
    assert found == pytest.approx(wanted, abs=1e-4)


def test_a_random_subset_has_all_parts_of_its_rows() -> None:
    drawn = Drawn("gaussian", 0, 14, 12, 2, False)
    rows = replace(drawn.rows, categories=[category(np.arange(26) % 2)])
    assert rows.random_subset(26) is rows
    part = rows.random_subset(25)
    (gone,) = np.flatnonzero(~np.isin(rows.points[:, 0], part.points[:, 0]))
    assert np.array_equal(part.points, np.delete(rows.points, gone, 0))
    assert np.array_equal(part.columns, part.points.T)
    assert np.array_equal(part.permutations.words, np.delete(rows.permutations.words, gone, 1))
    assert np.array_equal(part.categories[0].codes, np.delete(np.arange(26) % 2, gone))


@pytest.mark.parametrize(("repeats", "simplex"), [((3, 2, 2), True), ((3, 2, 1), False)])
def test_a_sample_of_few_distinct_rows_may_be_a_simplex(
    repeats: tuple[int, ...], simplex: bool
) -> None:
    """Permuted labels can give a sample of at most three distinct points if they have 7 copies.

    The first sample has 7 rows, and three distinct points of the plane have 7 or 6 copies.
    """
    rng = np.random.default_rng(0)
    points = np.concatenate([np.repeat(np.eye(3, 2), repeats, axis=0), rng.normal(size=(9, 2))])
    permutations = Permutations.draw(7, len(points) - 7, 9, rng)
    rows = pooled(points, ("u", "v"), np.eye(2), permutations, rng)
    assert statistics._may_be_simplex(rows) is simplex


# -- how statistics are combined ------------------------------------------------------------------


@pytest.mark.parametrize("shape", [0.5, 2.0, 30.0])
def test_evidence_is_that_of_a_gamma_distribution(shape: float) -> None:
    rng = np.random.default_rng(0)
    values = rng.gamma(shape, 3.0, 4000)
    found = neg_log_p(values)
    others = np.delete(values, values.argmax())
    fitted = gamma(others.mean() ** 2 / others.var(), scale=others.var() / others.mean())
    inner = values > np.quantile(values, 0.2)
    # The approximation of Wilson and Hilferty is off by a few percent of -log p.
    assert found[inner] == pytest.approx(-fitted.logsf(values[inner]), rel=0.12, abs=0.05)


@pytest.mark.parametrize("count", [1, 5, 300])
def test_the_largest_of_many_has_the_evidence_of_its_tail(count: int) -> None:
    """-log p agrees with the exact tail of the maximum of independent exponential variables."""
    values = np.random.default_rng(0).exponential(size=(count, 20_000)).max(axis=0)
    exact = -np.log(-np.expm1(count * np.log1p(-np.exp(-values))))
    rare = exact > 3
    # For a single variable, the tail of the fitted Gumbel distribution is 0.78 exp(-x), too small.
    error = 0.35 if count == 1 else 0.12
    assert neg_log_p_of_largest(values)[rare] == pytest.approx(exact[rare], rel=error)


@pytest.mark.parametrize("judge", [neg_log_p, neg_log_p_of_largest])
def test_one_that_stands_out_does_not_hide_itself(judge: Any) -> None:
    values = np.concatenate([[1e200], np.random.default_rng(0).gamma(2.0, 1.0, 199)])
    found = judge(values)
    assert np.isfinite(found).all()
    assert found[0] > 1000
    assert found[1:] == pytest.approx(judge(np.concatenate([[20.0], values[1:]]))[1:])


@pytest.mark.parametrize("judge", [neg_log_p, neg_log_p_of_largest])
@pytest.mark.parametrize("values", [np.zeros(7), np.ones(7), np.full((2, 7), 3e-300)])
def test_equal_statistics_are_equal_evidence(judge: Any, values: np.ndarray) -> None:
    found = judge(values)
    assert np.ptp(found) == 0
    assert np.isfinite(found).all()


def test_a_pvalue_counts_what_is_as_large() -> None:
    null = np.array([1.0, 2.0, 3.0, 3.0 * (1 - 1e-14)])
    assert permutation_pvalue(3.0, null) == (1 + 2) / 5
    assert permutation_pvalue(4.0, null) == 1 / 5
    assert np.asarray(permutation_pvalue(np.array([0.5, 2.5]), null)).tolist() == [1.0, 3 / 5]
    # A huge statistic of one permutation does not increase the tolerance for ties.
    assert permutation_pvalue(2.5, np.array([1.0, 2.0, 3.0, 1e200])) == 3 / 5


def test_means_within_a_subset_that_is_rarely_compared_have_no_influence() -> None:
    rng = np.random.default_rng(0)
    permutations = Permutations.draw(20, 400, 199, rng)
    values, inside = rng.normal(size=(2, 420)), np.zeros((2, 420))
    inside[0, :7], inside[1, :300] = 1.0, 1.0
    means = permutations.mean_changes(values, inside)
    # The first subset has seven rows of X under the given labels, and rarely five otherwise.
    assert not means[0].any()
    assert means[1].all()


def all_labelings(n: int, n_x: int, first: int) -> Permutations:
    """Return all ways to choose n_x of n rows as labelings, starting with number `first`."""
    chosen = list(itertools.combinations(range(n), n_x))
    bits = np.zeros((-(-len(chosen) // 64), 64, n), np.uint8)
    for b, members in enumerate(chosen[first:] + chosen[:first]):
        bits[b // 64, b % 64, list(members)] = 1
    packed = np.packbits(bits, axis=1, bitorder="little").transpose(0, 2, 1)
    return Permutations(np.ascontiguousarray(packed).view("<u8")[:, :, 0], len(chosen))


@pytest.mark.parametrize("kind", ["continuous", "binary", "constant column", "missing"])
@pytest.mark.parametrize("tolerant", [False, True])
def test_the_pvalue_is_exact_over_all_labelings(kind: str, tolerant: bool) -> None:
    """The p-value has its level exactly if all labelings are compared.

    If each labeling in turn is the given one, at most a fraction a of the p-values is <= a.
    """
    rng = np.random.default_rng(1)
    points = rng.normal(size=(7, 2))
    if kind == "binary":
        points = (points > 0).astype(float)
    elif kind == "constant column":
        points[:, 0] = 0.0
    elif kind == "missing":
        points[:3, 0] = np.nan
    directions = np.vstack([np.eye(2), gaussian_directions(rng, 2, 3)])
    groups = [category(rng.integers(0, 2, 7))]
    pvalues, columns = [], []
    count = math.comb(7, 3)
    for b in range(count):
        permutations = all_labelings(7, 3, b)
        rows = pooled(points, ("u", "v"), directions, permutations, rng, groups)
        if tolerant:
            found = tolerant_statistics(rows, 0.0, advance)
        else:
            found = aggregated_statistics(rows, regions(), advance, only_regions=False)
        scores = combined(found.strengths, found.weights)
        pvalues.append(permutation_pvalue(scores[0], scores[1:]))
        columns.append(found.adjusted(found.columns))
    for found_p in (pvalues, np.min(columns, axis=1)):
        for k in range(1, count + 1):
            assert np.sum(np.array(found_p) <= k / count + 1e-9) <= k
    # Without ties in the data, few of the 35 labelings have equal p-values.
    if kind == "continuous" and not tolerant:
        assert len(set(np.round(pvalues, 9))) >= 20


# -- the tolerance --------------------------------------------------------------------------------


def test_the_bound_of_a_column_uses_functions_of_this_column_alone() -> None:
    """The bound of a column is not computed from the distance from the center, of all columns."""
    rng = np.random.default_rng(0)
    permutations = Permutations.draw(50, 50, 99, rng)
    rows = pooled(np.zeros((100, 2)), ("a", "b"), np.eye(2), permutations, rng)
    findings = TolerantFindings(rows, 0.0)
    features = [
        Feature("dependence", "a and distance from the center", ("a",)),
        Feature("dependence", "a and b", ("a", "b")),
        Feature("distribution", "b", ("b",)),
    ]
    differences = np.abs(rng.normal(0, 0.01, (3, 100)))
    differences[:, 0] = 0.5, 0.4, 0.3
    findings.add_differences("dependence", differences[:2], features[:2])
    findings.add_differences("columns", differences[2:], features[2:])
    share, columns, *_ = findings.lower_bounds(0.95)
    assert set(columns) == {("a", "b"), ("b",)}
    assert 0.45 < share < 0.5
    assert 0.35 < columns["a", "b"] < 0.4


@pytest.mark.parametrize(("share", "n", "m"), [(0.04, 1000, 1000), (0.7, 30, 50), (0.01, 50, 5000)])
def test_units_of_shares_bound_the_deviation(share: float, n: int, m: int) -> None:
    """`share_units` bounds the standard deviation of a difference of shares, for all splits."""
    (unit,) = share_units(np.array([share]), n, m)
    assert unit == pytest.approx(share_units(np.array([1 - share]), m, n)[0], rel=1e-12)
    for ones in range(int(share * (n + m)) + 1):
        p, q = ones / n, (share * (n + m) - ones) / m
        if p <= 1 and 0 <= q <= 1:
            assert p * (1 - p) / n + q * (1 - q) / m <= unit**2 * (1 + 1e-9) + 1 / (n * m)


@pytest.mark.parametrize(("tolerance", "n", "m", "wanted"), [
    (0.05, 1000, 1000, 0.05), (0.05, 19, 100, 0.05), (0.05, 19, 19, 0.0), (0.1, 30, 25, 0.1),
    (0.05, 40, 2000, 0.051), (0.05, 2000, 40, 0.051), (0.1, 50, 75, 0.1), (0.4, 50, 76, 0.42),
])  # fmt: skip
def test_whole_rows_are_allowed(tolerance: float, n: int, m: int, wanted: float) -> None:
    assert allowed_share(tolerance, n, m) == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize(("n", "m", "tolerance", "shares"), [
    (40, 2000, 0.05, (0.005, 0.01, 0.02)), (20, 60, 0.05, (0.02, 0.05, 0.2)),
    (5, 20, 0.2, (0.02, 0.1, 0.5)), (20, 160, 0.1, (0.01, 0.05)), (40, 80, 0.03, (0.02, 0.1, 0.5)),
])  # fmt: skip
def test_the_tolerance_holds_for_one_binary_function(
    n: int, m: int, tolerance: float, shares: tuple[float, ...]
) -> None:
    """Probability of a rejection, over all clean rows, if all wrong rows of X have the value 1.

    All labelings are compared, so that the p-value is hypergeometric.
    """
    wrong, share = contaminated_rows(tolerance, n), allowed_share(tolerance, n, m)
    clean_x, clean_y = n - wrong, m - contaminated_rows(tolerance, m)
    for p in shares:
        of_x, of_y = (binom.pmf(np.arange(size + 1), size, p) for size in (clean_x, clean_y))
        level = 0.0
        for a, b in itertools.product(*(np.flatnonzero(each > 1e-6) for each in (of_x, of_y))):
            ones = a + wrong + b
            x = np.arange(max(0, ones - m), min(n, ones) + 1)
            permuted = np.abs(x / n - (ones - x) / m)
            observed = abs((a + wrong) / n - b / m) - share
            pvalue = hypergeom.pmf(x, n + m, ones, n)[permuted >= observed - 1e-9].sum()
            level += of_x[a] * of_y[b] * (pvalue <= 0.05)
        assert level <= 0.05


@pytest.mark.parametrize("tolerance", [None, 0.05])
def test_values_of_all_magnitudes_have_a_kind(tolerance: float | None) -> None:
    rng = np.random.default_rng(6)
    X = 10.0 ** rng.uniform(-300, 300, (23, 1)) * rng.choice([1, -1], (23, 1))
    result = two_sample_test(
        X, rng.normal(size=(21, 1)), n_permutations=19, random_state=0, tolerance=tolerance
    )
    assert np.isfinite(result.statistic)
    assert math.isfinite(result.column_tests[0].difference)
