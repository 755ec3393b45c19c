"""two_sample_test: results, invariances, and errors."""

from __future__ import annotations

import itertools
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from combined import compare_and_test
from scipy.stats import binom
from twins import naive_permutation, naive_settings

import isodepth
from experiments.power import laws
from isodepth import Metric, two_sample_test
from isodepth.base.seeds import rng_for
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.significance.permutations import Permutations
from isodepth.significance.statistics import Findings


def pair(n: int = 60, m: int = 45, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d))


def run(X: Any, Y: Any, **options: Any) -> isodepth.typing.TwoSampleResult:
    return two_sample_test(X, Y, **{"n_permutations": 99, "random_state": 0, **options})


# -- statistics and changes -----------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_statistic_is_that_of_the_twin_in_units_of_the_pooled_spread(d: int) -> None:
    X, Y = pair(14, 11, d, seed=d)
    X, Y = 10 * X + 100, 10 * Y + 100
    result = run(X, Y, method=Metric(q=2, levels=4), n_permutations=3, n_directions=2 * d)
    spread = naive_settings.column_units([*X.tolist(), *Y.tolist()])
    x, y = naive_settings.scale_samples([X.tolist(), Y.tolist()], spread)
    U = np.ones((1, 1))
    if d > 1:
        from isodepth import unit_vectors

        U = np.vstack([np.eye(d), unit_vectors(d, d, directions="orthogonal", random_state=0)])
    drawn = Permutations.draw(14, 11, 3, rng_for(0, "permutations"))
    labels = drawn.labels(dtype=bool).T.tolist()
    sides = [naive_permutation.parts([*x, *y], mine) for mine in labels]
    # The mean of squared entries of a unit vector is 1 / d.
    wanted = [
        math.sqrt(d) * naive_permutation.region_statistic(a, b, U.tolist(), 2, 2, 0.1, 4)
        for a, b in sides
    ]
    assert result.statistic == pytest.approx(wanted[0], rel=1e-12)
    assert result.null_distribution.tolist() == pytest.approx(wanted[1:], rel=1e-12)
    assert result.pvalue == naive_permutation.pvalue(wanted[0], wanted[1:])


@pytest.mark.parametrize("scale", ["pooled", None, [1.0, 4.0, 0.5]])
@pytest.mark.parametrize("q", [1, 2, math.inf])
def test_the_comparison_has_the_statistic_for_its_distance(scale: Any, q: float) -> None:
    X, Y = pair()
    result = run(
        X * [1, 5, 0.5],
        Y * [1, 5, 0.5] + 0.3,
        method=Metric(q=q, p=3, eps=0.2, levels=20),
        scale=scale,
    )
    # The test subtracts medians before it projects the rows, which only changes rounding errors.
    assert result._comparison.distance == pytest.approx(result.statistic, rel=1e-12)


def test_equal_samples_have_the_largest_pvalue() -> None:
    X, _ = pair()
    X.flags.writeable = False  # raises an error if the array is changed
    for options in ({}, {"tolerance": 0.1}, {"method": "regions"}):
        result = run(X, X, **options)
        assert result.pvalue == 1
        assert not result.changes
        assert all(column.pvalue == 1 for column in result.column_tests)


def test_too_few_permutations_for_any_rejection() -> None:
    X = np.random.default_rng(0).normal(size=(50, 1))
    few = "9 permutations cannot give a p-value of at most 0.05, at least 19 are needed"
    headline = run(X, X + 9, n_permutations=9).headline
    assert headline == f"No significant difference between X and Y (p = 0.1; {few})."
    constant = run(np.ones((5, 2)), np.ones((4, 2)), tolerance=0.2)
    beyond = "beyond the tolerance (p = 1)"
    assert constant.headline == f"No significant difference between X and Y {beyond}."


def test_too_few_labelings_for_any_rejection() -> None:
    """Rows far apart are not significant if few labelings exist, and the headline says why."""
    rng = np.random.default_rng(0)
    few = run(rng.normal(size=(3, 2)), rng.normal(size=(3, 2)) + 1e6, n_permutations=999)
    reason = "6 rows have only 20 labelings: over all of them, a p-value is at least 2/20"
    assert few.pvalue == pytest.approx(2 / 20, abs=0.03)
    assert f"; {reason}, above 0.05)" in few.headline
    assert few.changed_share_text.endswith(f"{reason}, above 0.05")
    Z, days = rng.normal(size=(200, 2)), np.repeat([0, 1, 2, 3], 50)
    for n, of_all, smallest in ((100, 6, "2/6"), (50, 4, "1/4")):
        blocked = run(Z[:n], Z[n:] + 100, blocks=days, n_permutations=999)
        reason = f"4 blocks have only {of_all} labelings: over all of them, a p-value is at least "
        assert f"; {reason}{smallest}, above 0.05)" in blocked.headline
        assert blocked.without_rows().headline == blocked.headline
    # Samples of different sizes are not exchanged by any labeling: 1/35 suffices.
    X, Y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    assert "labelings" not in run(X, Y, n_permutations=99).headline
    assert "labelings" in run(X, Y, n_permutations=99, alpha=0.02).headline


def weak_and_strong() -> list[np.ndarray]:
    """Return samples whose columns differ strongly, weakly and not at all."""
    rng = np.random.default_rng(5)
    return [rng.normal(size=(150, 4)), rng.normal(size=(130, 4)) + [0.5, 0.32, 0.3, 0.0]]


@pytest.mark.parametrize("options", [{}, {"tolerance": 0.005}, {"method": "regions"}])
def test_alpha_is_the_level_of_all_decisions(options: dict[str, Any]) -> None:
    """All decisions of a result use alpha, and p-values do not depend on it.

    If alpha increases to an attained p-value, one more decision is positive.
    """
    X, Y = weak_and_strong()
    usual = run(X, Y, **options)
    attained = {usual.pvalue, *(each.pvalue for each in usual.column_tests)}
    assert len(attained) > 2 or options
    listed = []
    for level in sorted({0.004, 0.01, 0.05, 0.2, *attained} - {1.0}):
        for alpha in (np.nextafter(level, 0), level):
            found = run(X, Y, alpha=alpha, **options)
            assert found.pvalue == usual.pvalue
            assert [each.pvalue for each in found.column_tests] == [
                each.pvalue for each in usual.column_tests
            ]
            assert found.alpha == found.settings["alpha"] == found.to_dict()["alpha"] == alpha
            assert found.significant == (found.pvalue <= alpha)
            level = "" if alpha == 0.05 else f", alpha = {alpha}"
            assert f"(p = {found.pvalue:g}{level}" in found.headline
            assert found.headline.startswith("Y differs") == found.significant
            assert found.headline.startswith("No significant") == (not found.significant)
            assert bool(found.changes) == found.significant
            # A change that is not significant alone is listed only if there is no other one.
            alone = [change for change in found.changes if change.pvalue > alpha]
            assert not alone or len(found.changes) == 1
            changed = {name for change in found.changes for name in change.columns}
            significant = {each.column for each in found.column_tests if each.pvalue <= alpha}
            assert significant <= changed
            assert significant == {t.column for t in found.column_tests if t.change_kind}
            listed.append(len(significant))
    assert listed == sorted(listed)
    assert listed[-1] > listed[0]


def test_the_bound_on_changed_rows_has_confidence_one_minus_alpha() -> None:
    X, Y = weak_and_strong()
    found = [run(X, Y + [0.5, 0, 0, 0], alpha=a, n_permutations=999) for a in (0.001, 0.01, 0.1)]
    texts = [each.changed_share_text for each in found]
    confidences = [text.partition("changed (")[2] for text in texts]
    assert confidences == ["99.9% confidence)", "99% confidence)", "90% confidence)"]
    shares = [each.changed_share for each in found]
    assert 0.05 < shares[0] < shares[1] < shares[2]
    # Nothing is claimed if the test itself is not significant.
    weak = run(X[:, 2:], Y[:, 2:] - 0.1, alpha=0.5)
    assert weak.pvalue > 0.01
    assert weak.changed_share > 0
    below = run(X[:, 2:], Y[:, 2:] - 0.1, alpha=float(np.nextafter(weak.pvalue, 0)))
    assert below.changed_share == 0


def test_bounds_can_be_left_out() -> None:
    """Without bounds, only `changed_share` and the order of the changes differ."""
    X, Y = weak_and_strong()
    for options in ({}, {"tolerance": 0.02}):
        plain = run(X, Y + [0.5, 0, 0, 0], **options)
        fast = run(X, Y + [0.5, 0, 0, 0], bounds=False, **options)
        assert plain.changed_share > 0
        assert fast.changed_share is None
        assert "bounds=False" in fast.changed_share_text
        assert {each.text for each in fast.changes} == {each.text for each in plain.changes}
        assert all(each.changed_share is None for each in fast.changes)
        np.testing.assert_array_equal(fast.null_distribution, plain.null_distribution)
        assert "bounds" not in plain.settings
        assert fast.settings["bounds"] is False


def test_a_tiny_alpha_is_no_error() -> None:
    X, Y = pair()
    for alpha in (5e-324, 1e-9):
        result = run(X, Y + 9, alpha=alpha)
        assert f"99 permutations cannot give a p-value of at most {alpha}, at" in result.headline
        assert len(result.headline) < 300
        assert (result.changes, result.changed_share) == ((), 0.0)


def test_columns_say_how_far_apart_they_are() -> None:
    X, Y = pair(d=2)
    Y += [0, 1]
    for column in run(X, Y, scale=[4.0, 0.5]).column_tests:
        x, y = (part[:, int(column.column[-1])] for part in (X, Y))
        apart = max(abs(np.mean(x <= value) - np.mean(y <= value)) for value in [*x, *y])
        (spread,) = naive_settings.column_units([[value] for value in [*x, *y]])
        assert column.difference == pytest.approx(apart, rel=1e-12)
        assert column.shift == pytest.approx((np.median(y) - np.median(x)) / spread, rel=1e-12)


@pytest.mark.parametrize("q", [2, math.inf])
def test_the_fast_way_is_the_way_of_metric(q: float) -> None:
    """The fast code for permutations gives the distances of `Metric` for each labeling."""
    X, Y = pair(40, 30, 2)
    fast = run(X, Y, method=Metric(q=q, levels=20), n_permutations=9)
    depth = isodepth.ProjectionDepth()
    slow = run(X, Y, method=Metric(q=q, levels=20, depth=depth), n_permutations=9)
    assert slow.statistic == pytest.approx(fast.statistic, rel=1e-12)
    assert slow.null_distribution == pytest.approx(fast.null_distribution, rel=1e-12)
    assert slow.column_tests == fast.column_tests


@pytest.mark.parametrize(
    ("change", "kind", "columns"),
    [
        (lambda y: y + [0, 0.5, 0], "location", (1,)),
        (lambda y: y * [1, 1, 1.4], "spread", (2,)),
        (lambda y: np.c_[y[:, :2], 0.6 * y[:, 1] + 0.8 * y[:, 2]], "dependence", (1, 2)),
        (lambda y: 0.9 * np.sign(y[:, 1:2]) + 0.44 * y[:, :1], "shape", (0,)),
    ],
)
def test_the_headline_names_the_change(change: Any, kind: str, columns: tuple[int, ...]) -> None:
    X, Y = pair(1000, 1000)
    Y = change(Y)
    result = run(X[:, : Y.shape[1]], Y)
    first = result.changes[0]
    # Other columns and pairs are not checked: one is named by chance in 5% of the cases.
    assert (first.kind, first.columns) == (kind, tuple(f"column {j}" for j in columns))
    assert first.pvalue == 0.01
    assert result.headline == f"Y differs from X (p = 0.01): {first.text}."


def test_a_change_that_no_column_shows_is_said_to_be_one() -> None:
    """A change of 20 columns, none of which is significant, is described as a joint change."""
    X, Y = pair(300, 300, 20)
    away = np.square(Y[:, 1:]).sum(axis=1)
    outward = np.c_[np.abs(Y[:, 0]) * np.sign(away - np.median(away)), Y[:, 1:]]
    for changed, text in (
        (Y + 0.12, "joint shift: means of "),
        (Y * 1.06, "rows are farther from the center of the data, mostly in "),
        (outward, "the joint distribution of column 0 and the other columns changes"),
    ):
        result = run(X, changed)
        assert result.headline.startswith(f"Y differs from X (p = 0.01): {text}")
        assert result.changes[0].kind == "joint"
        # The named columns changed in the named direction.
        for name in result.changes[0].columns:
            j = int(name.removeprefix("column "))
            if "means" in text:
                assert changed[:, j].mean() > X[:, j].mean()
            elif "farther" in text:
                assert np.abs(changed[:, j]).mean() > np.abs(X[:, j]).mean()


# -- invariances ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [None, 0.1])
def test_threads_do_not_matter(tolerance: float | None) -> None:
    X, Y = pair(700, 500)
    one = run(X, Y, n_jobs=1, tolerance=tolerance)
    other = run(X, Y, tolerance=tolerance, n_jobs=3)
    assert other.statistic == pytest.approx(one.statistic, rel=1e-9)
    assert other.null_distribution == pytest.approx(one.null_distribution, rel=1e-9)
    assert other.pvalue == one.pvalue


@pytest.mark.parametrize("tolerance", [None, 0.1])
def test_exchanged_samples_have_the_same_components(tolerance: float | None) -> None:
    X, Y = pair()
    a, b = run(X, Y + 0.3, tolerance=tolerance), run(Y + 0.3, X, tolerance=tolerance)
    one, other = ({c.name: c.statistic for c in result.components} for result in (a, b))
    assert {c.column: c.difference for c in a.column_tests} == pytest.approx(
        {c.column: c.difference for c in b.column_tests}
    )
    # The other statistics are -log p under random labels, which differ.
    for name in ("regions", "learned direction", "half-lines", "intervals"):
        if name in one:
            assert one[name] == pytest.approx(other[name], rel=1e-5)


@pytest.mark.parametrize("options", [{}, {"tolerance": 0.05}, {"method": "regions"}])
def test_units_offsets_and_orders_in_memory_do_not_matter(options: dict[str, Any]) -> None:
    X, Y = pair()
    wanted = run(X, Y, **options)
    # Multiplication by powers of two does not round.
    scaled = run(X * [1, 1024, 0.25], Y * [1, 1024, 0.25], **options)
    assert np.array_equal(scaled.null_distribution, wanted.null_distribution)
    # With a tolerance, a direction is fitted in float32.
    rounding = 1e-5 if "tolerance" in options else 1e-8
    for other in (
        run(X + 1e6, Y + 1e6, **options),
        run(np.asfortranarray(X), np.asfortranarray(Y), **options),
    ):
        assert other.statistic == pytest.approx(wanted.statistic, rel=rounding)
        assert other.pvalue == wanted.pvalue


def test_a_generator_is_taken_and_none_is_fresh() -> None:
    X, Y = pair()
    a = run(X, Y, random_state=np.random.default_rng(4))
    b = run(X, Y, random_state=np.random.default_rng(4))
    assert np.array_equal(a.null_distribution, b.null_distribution)
    c, d = run(X, Y, random_state=None), run(X, Y, random_state=None)
    assert not np.array_equal(c.null_distribution, d.null_distribution)


# -- tolerance ------------------------------------------------------------------------------------


def test_a_tolerance_only_takes_away() -> None:
    """A larger tolerance reduces the statistic, but does not change the null distribution."""
    X, Y = pair(300, 300)
    found = [run(X, Y + 0.4, tolerance=c) for c in (0.01, 0.05, 0.2)]
    assert found[0].statistic > found[1].statistic > found[2].statistic
    assert np.array_equal(found[0].null_distribution, found[2].null_distribution)
    assert found[0].changed_share == found[2].changed_share
    share = found[0].changed_share
    assert 0.01 < share < 0.3
    # For equal sizes, the bound is the smallest tolerance that is not rejected.
    assert run(X, Y + 0.4, tolerance=share + 0.005).pvalue > 0.05
    assert run(X, Y + 0.4, tolerance=share - 0.005).pvalue <= 0.05
    assert run(X, Y + 0.4).changed_share == pytest.approx(share, abs=0.03)
    assert run(X, Y).changed_share == 0
    assert run(X, Y + 0.4, alpha=0.1).changed_share > share
    assert run(X, Y + 0.4, n_permutations=9).changed_share == 0
    # Nothing is claimed if the test itself is not significant.
    assert run(X, Y + 0.4, alpha=0.009).changed_share == 0


@pytest.mark.parametrize("in_larger", [False, True])
def test_the_bound_holds_for_a_rare_event_in_a_sample_of_another_size(in_larger: bool) -> None:
    """The lower bound on the share of changed rows holds for a rare event and unequal sample sizes.

    The variance under permutation may then be too small.
    """
    above = 0
    for seed in range(60):
        sizes = (1500, 100) if in_larger else (100, 1500)
        event = np.random.default_rng(seed).random(sizes[0]) < 0.1
        X, Y = event.astype(float)[:, None], np.zeros((sizes[1], 1))
        result = isodepth.two_sample_test(X, Y, n_permutations=39, random_state=seed)
        above += result.changed_share > 0.1
    assert above <= 6


def ones(count: int, n: int) -> np.ndarray:
    return (np.arange(n) < count).astype(float)[:, None]


@pytest.mark.parametrize(("x", "n", "y", "m"), [
    (1, 50, 0, 5000), (2, 50, 1, 5000), (1, 20, 0, 1000), (2, 5, 0, 10), (1, 20, 0, 60),
])  # fmt: skip
def test_one_or_two_rows_with_a_rare_value_give_no_bound(x: int, n: int, y: int, m: int) -> None:
    """If 2% of X have the value, 64% of the samples of 50 rows have one or more such rows."""
    for tolerance in (None, 0.0):
        result = run(ones(x, n), ones(y, m), tolerance=tolerance)
        assert result.changed_share == 0
    assert run(ones(n, n), ones(y, m), tolerance=0.0).changed_share > 0.3


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(5, 15), (5, 1000), (10, 100), (20, 1000), (50, 2500)])
def test_the_bound_of_one_binary_function_holds_for_all_shares(n: int, m: int) -> None:
    """Coverage over all counts up to 12 and 6, for shares that rarely exceed these counts.

    The bounds of a count depend on the permutations: the mean of the worst coverage error over
    draws is 4.7% for 5 and 1000 rows, and the maximum of eight draws 5.4%.
    """
    x, y = np.arange(min(n, 12) + 1), np.arange(7)
    bounds = np.zeros((len(x), len(y)))
    for a, b in itertools.product(x, y):
        if a + b:
            result = run(ones(a, n), ones(b, m), tolerance=0.0, random_state=100 * a + b)
            bounds[a, b] = result.changed_share
    for p in np.linspace(0, 1 if n <= 12 else 6 / n, 81):
        for q in np.linspace(0, min(3.5 / m, 0.9), 8):
            likely = np.outer(binom.pmf(x, n, p), binom.pmf(y, m, q))
            assert likely[bounds > abs(p - q) + 1e-12].sum() <= 0.055


def test_few_wrong_rows_of_a_small_sample_are_tolerated() -> None:
    """Two of the four ones of X may be wrong, and two of 38 against 20 of 2000 have p = 7%."""
    for X, Y in ((ones(4, 40), ones(20, 2000)), (ones(20, 2000), ones(4, 40))):
        result = run(X, Y, tolerance=0.05, n_permutations=999)
        assert result.pvalue > 0.05
        assert run(X, Y, n_permutations=999).pvalue < 0.01
    assert run(ones(6, 40), ones(20, 2000), tolerance=0.05, n_permutations=999).pvalue < 0.01


def test_the_bound_holds_for_one_row_with_a_rare_value() -> None:
    """Most permutations then have the same difference, and its critical value is near 0."""
    above = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, Y = rng.random((20, 1)) < 0.03, rng.random((1000, 1)) < 0.001
        result = isodepth.two_sample_test(X, Y, n_permutations=99, random_state=seed)
        above += result.changed_share > 0.029
    assert above <= 6


@pytest.mark.parametrize("change", laws.UNCHANGED)
@pytest.mark.parametrize("tolerance", [None, 0.05])
def test_an_unchanged_column_is_not_called(change: str, tolerance: float | None) -> None:
    """A change of column 1 does not make the unchanged column 0 significant."""
    called = 0
    for seed in range(20):
        X, Y = laws.unchanged_column(change, 200, np.random.default_rng(seed))
        # Tests of columns do not depend on the number of directions.
        few = {"n_permutations": 39, "n_directions": 4}
        result = run(X, Y, random_state=seed, tolerance=tolerance, **few)
        called += next(c.pvalue for c in result.column_tests if c.column == "column 0") <= 0.05
    # Of 20 tests at the level 5%, 5 or more are called once in 390.
    assert called <= 4


def with_copies(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two samples of the same distribution; 60 rows of Y are copies of its other 40."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(2, 100, 3))
    Y[40:] = Y[rng.integers(0, 40, 60)]
    return X, Y


def test_copies_of_rows_do_not_name_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = (1, 3, 6, 10)
    for seed in seeds:
        result = run(*with_copies(seed))
        assert [change.kind for change in result.changes] == ["repeated"]
        assert all(test.pvalue > 0.05 for test in result.column_tests)
    # A changed column is named, because its change is significant without the copies, too.
    X, Y = with_copies(1)
    named = [change.columns for change in run(X, Y + [0, 2, 0]).changes]
    assert ("column 1",) in named
    assert ("column 0",) not in named
    # The columns of these seeds would be named if copies counted as independent rows.
    monkeypatch.setattr(Findings, "copies_explain", lambda findings, alpha: False)
    for seed in seeds:
        assert any(change.columns for change in run(*with_copies(seed)).changes)


def test_rows_that_are_often_equal_are_not_copies() -> None:
    """Rows of few distinct values are often equal by chance, which is not a significant change."""
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, 4, size=(2, 200, 3)).astype(float)
    Y[:, 1] = 2.0
    changes = run(X, Y).changes
    assert {"column 1"} == {name for change in changes for name in change.columns}


def test_a_sample_of_one_repeated_row() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    result = run(X, np.repeat(X[:1], 50, axis=0))
    assert result.pvalue == 0.01
    assert {name for change in result.changes for name in change.columns} == {
        "column 0",
        "column 1",
    }


def test_contaminated_rows_do_not_hide_a_difference() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 1000, 4))
    Y[:, 1] += 0.6
    # Contaminated rows are far away, in the opposite direction of the shift.
    X[:50, 1], Y[:50, 1] = 100, -100
    result = run(X, Y, tolerance=0.05)
    assert (result.pvalue, result.column_tests[0].column) == (0.01, "column 1")


# -- blocks and missing values --------------------------------------------------------------------


def test_dependent_rows_need_their_blocks() -> None:
    """Rows of a day are nearly equal: a test without blocks rejects, one with blocks does not."""
    rng = np.random.default_rng(1)
    days = np.repeat(np.arange(20), 24)
    rows = rng.normal(size=(20, 2))[days] + 0.1 * rng.normal(size=(480, 2))
    X, Y = rows[days < 10], rows[days >= 10]
    assert run(X, Y).pvalue == 0.01
    assert run(X, Y, blocks=days).pvalue > 0.05
    as_pair = run(X, Y, blocks=(days[days < 10], days[days >= 10]))
    assert as_pair.pvalue == run(X, Y, blocks=days).pvalue


def test_blocks_of_one_row_are_rows() -> None:
    X, Y = pair()
    a, b = run(X, Y), run(X, Y, blocks=np.arange(105))
    assert np.array_equal(a.null_distribution, b.null_distribution)


def test_the_share_of_changed_rows_has_no_bound_with_blocks() -> None:
    X, Y = pair()
    result = run(X, Y + 2, blocks=np.arange(105))
    for found in (result, result.without_rows()):
        assert found.significant
        assert found.changed_share is None
        assert found.to_dict()["changed_share"] is None
        assert found.changed_share_text == "no bound for the share of changed rows with blocks"
        assert {change.changed_share for change in found.changes} == {None}


def test_no_row_is_dropped_for_a_missing_value() -> None:
    X, Y = pair()
    dirty = np.insert(X, [3, 10], np.nan, axis=0)
    dirty[3, 1:] = 0.0
    with pytest.raises(InvalidInputError, match="NaN"):
        run(dirty, Y, nan_policy="raise")
    result = run(dirty, Y)
    assert result.n_rows == (62, 45)
    assert result.missing.x.counts == {"column 0": 2, "column 1": 1, "column 2": 1}
    blocks = (np.arange(62) // 2, 100 + np.arange(45) // 2)
    assert run(dirty, Y, blocks=blocks).n_rows == (62, 45)


def test_a_sparse_column_does_not_hide_a_change() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 1000, 3))
    Y[:, 0] += 0.5
    for part in (X, Y):
        part[rng.random(1000) < 0.995, 2] = np.nan
    result = run(X, Y)
    assert result.headline.startswith("Y differs from X (p = 0.01): column 0: median")


def test_a_complete_column_is_not_blamed_for_missing_values_of_another() -> None:
    blamed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(2, 200, 2))
        X[rng.random(200) < 0.3, 0] = np.nan
        Y[Y[:, 1] > 0.52, 0] = np.nan
        result = run(X, Y, n_permutations=39, random_state=seed)
        blamed += any(change.columns == ("column 1",) for change in result.changes)
    # Of 20 tests at the level 5%, 5 or more are called once in 390.
    assert blamed <= 4


@pytest.mark.parametrize("only_x", [False, True])
def test_the_tolerance_holds_with_missing_values(only_x: bool) -> None:
    """The test does not reject 5% of contaminated rows, although most other rows are incomplete."""
    rejected = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(2, 1000, 2))
        for part in (X, Y):
            part[rng.random(1000) < 0.7, 1] = np.nan
        X[:50] = [-3, 0]
        if not only_x:
            Y[:50] = [3, 0]
        rejected += run(X, Y, tolerance=0.05, n_permutations=39).significant
    assert rejected <= 2


@pytest.mark.parametrize("tolerance", [None, 0.05])
def test_constant_columns_have_no_information(tolerance: float | None) -> None:
    """Constant columns do not affect p-values, also if they are constant up to rounding."""
    rejected = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, Y = (
            np.column_stack([rng.normal(size=n), np.full(n, 0.1), 0.3 + 1e-17 * rng.random(n)])
            for n in rng.integers(50, 1500, 2)
        )
        options = {"n_permutations": 39, "random_state": seed, "tolerance": tolerance}
        result = run(X, Y, **options)
        assert result.pvalue == run(X[:, :1], Y[:, :1], **options).pvalue
        assert "constant or empty, not compared: column 1, column 2" in result.notes
        rejected += result.significant
    assert rejected <= 3
    empty = run(np.full((9, 2), np.nan), np.ones((8, 2)), tolerance=tolerance)
    assert empty.headline.startswith("Only 47% of the values are known. Y differs from X")
    nothing = run(np.ones((9, 2)), np.ones((8, 2)), tolerance=tolerance)
    assert (nothing.pvalue, nothing.changed_share) == (1, 0)
    assert "can be claimed" not in str(nothing)


# -- the result -----------------------------------------------------------------------------------


def test_the_result_is_readable() -> None:
    text = "No significant difference between X and Y beyond the tolerance (p = 0.94)"
    assert text in repr(run(*pair(d=7), tolerance=0.05))


@pytest.mark.parametrize("tolerance", [None, 0.01])
def test_the_bound_uses_the_permutations_that_its_level_needs(tolerance: float | None) -> None:
    X, Y = pair()
    options = {"alpha": 0.005, "tolerance": tolerance}
    enough = run(X, Y + 2, n_permutations=199, **options)
    assert enough.changed_share > 0.3
    assert enough.changed_share_text.endswith("% of the rows changed (99.5% confidence)")
    fewer = run(X, Y + 2, n_permutations=198, **options)
    assert fewer.changed_share == 0
    assert fewer.changed_share_text == (
        "no share of changed rows can be claimed: 198 permutations cannot give a p-value of at "
        "most 0.005, at least 199 are needed"
    )


def test_a_row_number_is_the_last_change() -> None:
    X, Y = (pd.DataFrame({"id": np.arange(99) + start}) for start in (1, 100))
    rng = np.random.default_rng(0)
    X["u"], Y["u"] = rng.normal(size=99), rng.normal(size=99) + 1
    result = run(X, Y, kinds={"id": "numeric"})
    assert [change.columns for change in result.changes] == [("u",), ("id",)]
    assert "id looks like a row number" in map(str, result.checks)


def test_the_headline_without_a_change_of_a_column() -> None:
    X, Y = pair()
    result = run(X, Y + 2)
    for share, text in (
        (0.0099, "no change of at least 1% of the rows can be claimed"),
        (0.0219, "at least 2.1% of the rows changed"),
        (0.02, "at least 2% of the rows changed"),
        (0.219, "at least 21% of the rows changed"),
    ):
        details = replace(result._details, changed_share=share)
        changed = result._with(_details=details)
        assert changed.changed_share_text == f"{text} (95% confidence)"
    tolerant = result._with(tolerance=0.0123)
    assert tolerant.headline.startswith("Y differs from X beyond a tolerance of 0.0123 (p = 0.01)")


def test_the_result_can_be_pickled() -> None:
    X, Y = pair()
    for result in (run(X, Y), run(X, Y, tolerance=0.1)):
        again = pickle.loads(pickle.dumps(result))
        assert again.to_dict() == result.to_dict()
        assert again._comparison.distance == result._comparison.distance
    tested = compare_and_test(X, Y, n_permutations=9, random_state=0)
    assert pickle.loads(pickle.dumps(tested)).test.to_dict() == tested.test.to_dict()


@pytest.mark.parametrize("options", [{}, {"method": "regions"}, {"tolerance": 0.05},
                                     {"method": Metric(q=1000, p=1100, levels=20)}])  # fmt: skip
@pytest.mark.parametrize("value", [1.0, 1e160, -1e300])
def test_numbers_of_any_size_do_not_overflow(options: dict[str, Any], value: float) -> None:
    X, Y = pair(200, 200)
    Y = Y + [0, 0.8, 0]
    X[3, 0] = value
    with np.errstate(all="raise", under="ignore"):
        result = run(X, Y, **options)
    assert np.isfinite(result.statistic)
    assert np.isfinite(result.null_distribution).all()
    assert result.column_tests[0].column == "column 1"
    assert result.pvalue <= 0.05


@pytest.mark.parametrize(("n", "m"), [(100, 100), (30, 300)])
def test_values_over_600_decades(n: int, m: int) -> None:
    rng = np.random.default_rng(0)
    X, Y = (rng.choice([-1, 1], (k, 3)) * 10.0 ** rng.uniform(-300, 300, (k, 3)) for k in (n, m))
    for tolerance in (None, 0.05):
        result = run(X, np.abs(Y), tolerance=tolerance)
        assert result.pvalue == 0.01
        assert 0.1 < result.changed_share < 0.5
        assert result.changes
        assert str(result)
        assert 0 <= run(X, Y, tolerance=tolerance).changed_share < 0.5


def test_a_column_without_values_in_one_sample() -> None:
    """The sum of the columns may be significant if the missing values alone are not."""
    for seed in (44, 45):
        rng = np.random.default_rng(seed)
        tables = []
        for n, known in ((6, 0.75), (9, 0.0)):
            g = rng.choice(np.array(["a", "b", None], object), n)
            e = (
                np.full(n, np.nan)
                if not known
                else np.where(rng.random(n) < 1 - known, np.nan, rng.normal(size=n))
            )
            tables.append(pd.DataFrame({"e": e, "g": g}))
        result = run(*tables, random_state=seed)
        assert str(result)
        for change in result.changes:
            before, after = (table[change.columns[0]].isna().mean() for table in tables)
            assert (change.kind, change.before, change.after) == ("missing", before, after)


def test_nothing_is_printed_about_a_bound_of_zero() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 2)), rng.normal(size=(3, 2)).repeat(20, axis=0)
    for result in (run(X, Y), run(X, rng.normal(size=(60, 2)))):
        details = replace(result._details, changed_share=0.0)
        unclaimed = result._with(_details=details)
        for text in (str(unclaimed), unclaimed._repr_html_()):
            assert "claimed" not in text
            assert "rows changed" not in text


def test_a_wide_column_hides_nothing() -> None:
    X, Y = pair(200, 200, 2)
    result = run(X * [1e170, 1], (Y + [0, 0.8]) * [1e170, 1], scale=None)
    assert result.pvalue == 0.01
    assert (result.changes[0].kind, result.changes[0].columns) == ("location", ("column 1",))


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "energy"},
            "method must be one of aggregated, regions, or an isodepth.Metric",
        ),
        ({"n_permutations": 0}, "n_permutations must be an integer >= 1, got 0"),
        ({"tolerance": 0.5}, r"tolerance must lie in \[0, 0.5\), got 0.5"),
        ({"tolerance": -0.1}, "tolerance"),
        ({"tolerance": 0.1, "blocks": [1]}, "tolerance has no guarantee for blocks"),
        ({"alpha": 0}, r"alpha must lie in \(0, 1\), got 0; the level of .* confidence is 0.05"),
        ({"alpha": 95}, r"alpha must lie in \(0, 1\), got 95; the level of .* confidence is 0.05"),
        ({"alpha": "5%"}, r"alpha must be a number in \(0, 1\), got '5%'; the level of"),
        ({"confidence": 0.95}, r"unknown option 'confidence'; did you mean 'alpha' \(1 - conf"),
        ({"scale": "reference"}, "scale must be 'pooled'.*depends on which rows are X"),
        (
            {"scale": [1.0, -1.0, 1.0]},
            r"scale must .* one positive number per .*, got -1 for column 1",
        ),
        ({"nan_policy": "drop"}, "nan_policy must be one of keep, raise"),
        ({"method": Metric(p=0.5, levels=20)}, "p must lie"),
        (
            {"method": Metric.paper(n_levels=5, n_directions=1000)},
            r"needs a fixed grid of levels, got levels=RandomLevels\(n_levels=5\)",
        ),
        ({"method": Metric(scale="pooled")}, "scale='pooled' has no.*pass it to two_sample_test"),
        ({"method": Metric(n_directions=7)}, "n_directions=7 has no.*pass it to two_sample_test"),
        ({"method": Metric(random_state=0)}, "random_state=0 has no effect"),
        ({"method": Metric(n_jobs=1)}, "n_jobs=1 has no effect"),
        ({"method": Metric(directions=[[1, 0, 0]])}, "directions has no effect in the metric"),
        ({"method": Metric(refine=3)}, "refine=3 has no effect.*along fixed directions"),
        ({"method": Metric(gap="exact")}, "gap='exact' has no effect"),
        ({"method": Metric(normalize=False)}, "normalize=False has no effect"),
        ({"method": Metric(nan_policy="omit")}, "nan_policy='omit' has no effect"),
        ({"method": Metric(dtype="float32")}, "dtype='float32' has no effect"),
        ({"method": Metric(memory_mb=9)}, "memory_mb=9.0 has no effect"),
        ({"method": Metric(levels=20), "tolerance": 0.1}, "tolerance applies to"),
        ({"method": "regions", "tolerance": 0.1}, "tolerance applies to method='aggregated'"),
        ({"n_directions": 2}, "at least the number of columns, 3"),
        ({"random_state": "seed"}, "random_state"),
        ({"progress": 1}, "progress must be True or False"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    X, Y = pair()
    with pytest.raises(InvalidOptionError, match=message):
        run(X, Y, **options)


def test_samples_that_cannot_be_tested_are_refused() -> None:
    X, Y = pair()
    for samples, options, message in (
        ((X[:1], Y), {}, "X must have at least 2 rows"),
        ((X, Y[:1]), {}, "Y must have at least 2 rows"),
        ((X, Y[:, :2]), {}, "same number of columns"),
        ((X, Y), {"scale": [1.0, 2.0]}, "scale must have one number per column"),
        ((X, Y), {"blocks": [1, 2, 3]}, "blocks must hold one label"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            run(*samples, **options)


@pytest.mark.parametrize("tolerance", [None, 0.1])
def test_a_bar_shows_how_far_it_is(
    tolerance: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tqdm")
    X, Y = pair()
    run(X, Y, progress=True, tolerance=tolerance)
    assert "two_sample_test, 99 permutations: 100%" in capsys.readouterr().err
    run(X, Y, tolerance=tolerance)
    assert capsys.readouterr().err == ""


# -- tests by isodepth.compare --------------------------------------------------------------------


def test_a_comparison_and_a_test_are_combined() -> None:
    X, Y = pair()
    comparison = compare_and_test(X, Y, n_permutations=99, random_state=0, eps=0.2)
    apart = run(X, Y)
    assert comparison.distance == isodepth.distance(X, Y, random_state=0, eps=0.2)
    assert comparison.test.pvalue == apart.pvalue
    assert comparison.test.signature == apart.signature
    assert repr(apart).splitlines()[0] == repr(comparison).splitlines()[0]
    tolerant = compare_and_test(X, Y, n_permutations=99, random_state=0, tolerance=0.1, eps=0.2)
    assert tolerant.test.tolerance == 0.1


@pytest.mark.parametrize("repeats", [1, 4])
def test_the_statistic_of_a_simplex_is_the_distance_of_its_comparison(repeats: int) -> None:
    """The statistic of a test of regions equals the distance of `compare` if X is a simplex.

    X then has at most d + 1 distinct rows, whose depths are equal.
    """
    corners, Y = pair(4, 30)
    X = np.repeat(corners, repeats, axis=0) + 2
    with pytest.warns(isodepth.errors.DegenerateDepthWarning):
        result = run(X, Y, method="regions", n_permutations=9)
    with pytest.warns(isodepth.errors.DegenerateDepthWarning):
        assert result.statistic == pytest.approx(result._comparison.distance, rel=1e-12)


@pytest.mark.parametrize(("n", "seed"), [(100, 7), (200, 2), (300, 9)])
def test_a_change_of_a_single_column_is_described_by_numbers(n: int, seed: int) -> None:
    """In one dimension, a change is described by the median of the column, not as a region."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, 1)), rng.normal(size=(n, 1)) + 0.25
    (change,) = run(X, Y).changes
    assert (change.kind, change.columns, change.quantity) == ("location", ("column 0",), "median")


def correlated(n: int, seed: int, shift: float, d: int = 2) -> np.ndarray:
    """Draw rows (n, d) with nearly equal columns, and add `shift` to the second column."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 1)) + 0.1 * rng.normal(size=(n, d)) + shift * np.eye(d)[1]


@pytest.mark.parametrize("tolerance", [None, 0.02])
def test_a_joint_change_explains_a_large_share_of_changed_rows(tolerance: float | None) -> None:
    X, Y = correlated(600, 0, 0.0), correlated(500, 1, 0.3)
    result = run(X, Y, tolerance=tolerance)
    first, joint = result.changes[:2]
    assert (first.columns, first.quantity) == (("column 1",), "median")
    assert joint.text == joint._label == "joint shift: column 1 higher relative to column 0"
    assert joint.before < joint.after
    assert joint.changed_share == result.changed_share > 0.5 > first.changed_share
    assert joint.pvalue == result.pvalue
    assert first.text in result.headline
    assert result.without_rows().changes == result.changes


def test_a_joint_change_is_the_second_of_many() -> None:
    X, Y = correlated(600, 0, 0.0, 3), correlated(500, 1, 0.3, 3) + [0, 0, 0.25]
    kinds = [change.kind for change in run(X, Y).changes]
    assert len(kinds) > 2
    assert [k for k, kind in enumerate(kinds) if kind == "joint"] == [1]


def test_no_joint_change_is_added_if_a_column_explains_the_share() -> None:
    X, Y = pair(300, 300)
    for changed in (Y + [0, 1, 0], Y * [1, 3, 1]):
        assert {change.columns for change in run(X, changed).changes} == {("column 1",)}
    kinds = [change.kind for change in run(X, Y * 2).changes]
    assert kinds[0] == "spread"
    assert kinds.count("joint") <= 1
    single = run(X[:, :1], Y[:, :1] + 1)
    assert [change.kind for change in single.changes] == ["location"]


def test_a_result_keeps_the_rows_once() -> None:
    """A pickle has at most two copies of the rows, 128 labelings, and the directions."""
    X, Y = pair(2000, 2000, 20)
    result = run(X, Y, n_permutations=199)
    rows, labels, directions = 8 * 4000 * 20, 8 * 4000 * 2, 8 * 100 * 20
    assert len(pickle.dumps(result)) < 2 * rows + labels + directions + 13_000
    result.changes, result._comparison.distance  # noqa: B018
    again = pickle.loads(pickle.dumps(run(X, Y + 1)))
    assert again.changed_share > 0.5
    assert again._comparison.distance > 0.5


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_names_the_blocks(library: str) -> None:
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(12)
    day = np.repeat(np.arange(20), 12)
    rows = rng.normal(size=(20, 2))[day] + 0.2 * rng.normal(size=(240, 2))
    parts = []
    for part in (day < 10, day >= 10):
        columns = {"a": rows[part, 0], "day": [f"d{k}" for k in day[part]], "b": rows[part, 1]}
        parts.append(getattr(frames, "table" if library == "pyarrow" else "DataFrame")(columns))
    options: dict[str, Any] = {"n_permutations": 99, "random_state": 0}
    named = isodepth.two_sample_test(*parts, blocks="day", **options)
    labels = isodepth.two_sample_test(rows[:120], rows[120:], blocks=day, **options)
    assert named.settings["blocks"] == 20
    assert (named.statistic, named.pvalue) == (labels.statistic, labels.pvalue)
    assert [each.column for each in named.kinds] == ["a", "b"]
    pairs = isodepth.pairwise_test({"x": parts[0], "y": parts[1]}, blocks="day", **options)
    assert pairs["x", "y"].pvalue == named.pvalue


def test_names_of_blocks_that_are_refused() -> None:
    rng = np.random.default_rng(13)
    x, y = (pd.DataFrame({"a": rng.normal(size=20), "day": np.arange(20) // 2}) for _ in range(2))
    with pytest.raises(InvalidInputError, match="blocks='hour' is not a column of X; its columns"):
        isodepth.two_sample_test(x, y, blocks="hour")
    with pytest.raises(InvalidInputError, match="is not a column of Y"):
        isodepth.two_sample_test(x, y[["a"]], blocks="day")
    with pytest.raises(InvalidInputError, match="X has no column besides blocks='day'"):
        isodepth.two_sample_test(x[["day"]], y, blocks="day")
    y["day"] = [None, *range(100, 119)]
    with pytest.raises(InvalidInputError, match=r"blocks\[1\] must have a label for every row"):
        isodepth.two_sample_test(x, y, blocks="day")


def of_four_columns(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw n rows of four correlated columns in different units."""
    rows = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 4))
    return pd.DataFrame(rows * [1, 2, 1, 3] + [5, 9, 0, 4], columns=list("abcd"))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("event", ["exchange", "sign"])
def test_pairs_that_an_exchange_or_a_sign_explains_are_not_listed(
    event: str, missing: bool
) -> None:
    rng = np.random.default_rng(14)
    x, y = of_four_columns(500, rng), of_four_columns(500, rng)
    if missing:
        x.loc[::9, "a"] = y.loc[::9, "a"] = np.nan
    if event == "exchange":
        y[["a", "b"]] = y[["b", "a"]].to_numpy()
    else:
        y["a"] = -y["a"]
    changes = run(x, y).changes
    assert [change.kind for change in changes if change.kind != "missing"] == [event]
    # Correlations that the named change does not explain are still listed.
    y["d"] = rng.permutation(y["d"])
    others = [change.columns for change in run(x, y).changes if change.kind == "dependence"]
    assert others
    assert all("d" in columns for columns in others)


def test_numbers_and_strings_are_different_labels() -> None:
    rows = np.random.default_rng(15).normal(size=(40, 2))
    labels = [*range(20), *map(str, range(20))]
    result = run(rows[:20], rows[20:], blocks=labels)
    assert result.settings["blocks"] == 40
    with pytest.raises(InvalidInputError, match="a block must lie in one sample"):
        run(rows[:20], rows[20:], blocks=[*range(20), *np.arange(20.0)])


def test_a_literal_name_of_a_built_in_category_is_quoted() -> None:
    rng = np.random.default_rng(16)
    words = np.array(["a", "(missing)", "(rare values)", None], dtype=object)
    x, y = (pd.DataFrame({"k": rng.choice(words, 400, p=p)}) for p in
            ([0.25] * 4, [0.1, 0.1, 0.4, 0.4]))  # fmt: skip
    result = run(x, y)
    values = [each.value for each in result.category_shares]
    assert sorted(values) == ["'(missing)'", "'(rare values)'", "(missing)", "a"]
    literal = result.category_shares[values.index("'(missing)'")]
    assert literal.before == (x["k"] == "(missing)").mean()


def test_a_change_that_is_not_significant_alone_is_marked() -> None:
    """The headline of a significant test marks a first change whose p-value is above 0.05."""
    x, y = pair()
    result = run(x, y + 1)
    alone = replace(result.changes[0], pvalue=0.06)
    details = replace(result._required(result._details), changes=(alone,))
    marked = result._with(_details=details).headline
    assert marked.endswith(f"{alone.text} (alone p = 0.06, not significant).")
    assert "alone" not in result.headline


def test_an_empty_name_is_quoted_in_texts() -> None:
    rng = np.random.default_rng(17)
    x, y = (pd.DataFrame(rng.normal(size=(200, 2)), columns=["", "b"]) for _ in range(2))
    y[""] += 2.0
    y.loc[3, "b"] = -9999.0
    result = run(x, y)
    assert "'': median" in result.headline
    y[""] -= 2.0
    y.loc[5, ""] = -9999.0
    assert "'' = -9999" in str(run(x, y).suspicious_rows())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-310, 1e-318, 1e-322])
def test_isolated_values_in_the_denormal_range(size: float) -> None:
    x, z = np.random.default_rng(0).normal(size=(2, 150, 2)) * size
    z[:, 0] += 3 * size
    z[6:14, 0] = -99 * size
    result = run(x, z)
    assert result.changes[0].kind == "location"
    assert result.changed_share > 0.6
