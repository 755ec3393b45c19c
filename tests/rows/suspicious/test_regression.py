"""Regressions on the known values of a row agree with least squares in plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.rows.suspicious.regression import Regressions, _moments

NO_CATEGORIES = np.empty((400, 0), dtype=np.int64)


def rows(seed: int) -> np.ndarray:
    z = np.random.default_rng([27, seed]).normal(size=(400, 4))
    z[:, 1] = 0.9 * z[:, 0] + 0.3 * z[:, 1]
    z[:, 2] += z[:, 1] ** 2 / 2
    return z


def ridge_residuals(z: np.ndarray, j: int, indicator: np.ndarray | None = None) -> np.ndarray:
    """Compute residuals (n,) of column j of z, by ridge regression on the others and their squares.

    `indicator` (n,) is a further term of the regression, or None.
    """
    others = np.delete(z, j, axis=1)
    parts = [np.ones((len(z), 1)), others, others**2 / 8]
    terms = np.hstack(parts if indicator is None else [*parts, indicator[:, None]])
    gram = terms.T @ terms / len(z) + 1e-3 * np.eye(terms.shape[1])
    return z[:, j] - terms @ np.linalg.solve(gram, terms.T @ z[:, j] / len(z))


@pytest.mark.parametrize("j", range(4))
def test_residuals_of_complete_rows(j: int) -> None:
    z = rows(0)
    model = Regressions(z, NO_CATEGORIES, np.random.default_rng(0))
    found = model.residuals(z, NO_CATEGORIES)[:, j]
    wanted = ridge_residuals(z, j)
    low, high = z[:, j].min(), z[:, j].max()
    # A prediction beyond all values of the column is an extrapolation.
    wanted = np.where(z[:, j] - wanted > high, z[:, j] - high, wanted)
    wanted = np.where(z[:, j] - wanted < low, z[:, j] - low, wanted)
    np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_indicators_of_categories() -> None:
    z, rng = rows(1), np.random.default_rng(28)
    codes = rng.choice(3, (400, 1), p=[0.6, 0.38, 0.02])  # the last value is too rare
    z[:, 3] += 3 * (codes[:, 0] == 1)
    model = Regressions(z, codes, np.random.default_rng(0))
    assert model.indicators == [(0, 1)]
    wanted = ridge_residuals(z, 3, codes[:, 0] == 1)
    np.testing.assert_allclose(model.residuals(z, codes)[:, 3], wanted, atol=1e-10)


def test_leave_one_out_residuals() -> None:
    z = rows(2)
    model = Regressions(z, NO_CATEGORIES, np.random.default_rng(0))
    i, others = 17, np.delete(np.arange(400), 17)
    refitted = Regressions(z[others], NO_CATEGORIES[others], np.random.default_rng(0))
    wanted = refitted.residuals(z[[i]], NO_CATEGORIES[[i]])[0]
    # The ridge penalty is proportional to the number of rows, which differs by 1.
    np.testing.assert_allclose(model.fitted_residuals[i], wanted, atol=1e-3)


def test_missing_values_change_neither_the_moments_nor_the_scale_of_residuals() -> None:
    rng = np.random.default_rng(29)
    z = np.vstack([rows(seed) for seed in range(3, 13)])
    codes = np.empty((len(z), 0), dtype=np.int64)
    holes = np.where(rng.random(z.shape) < 0.3, np.nan, z)
    complete, partial = (Regressions(part, codes, np.random.default_rng(0)) for part in (z, holes))
    # Standard errors of correlations are about 1 / sqrt(4000).
    np.testing.assert_allclose(partial.moments, complete.moments, atol=0.1)
    residuals = partial.residuals(holes, codes)
    assert (np.isnan(residuals) == np.isnan(holes)).all()
    spread = np.nanstd(residuals[np.isnan(holes).any(axis=1)], axis=0)
    np.testing.assert_allclose(spread, complete.deviation, rtol=0.15)


def test_the_contribution_of_a_column() -> None:
    z = rows(13)
    model = Regressions(z, NO_CATEGORIES, np.random.default_rng(0))
    row = np.array([2.0, 1.7, 0.0, 0.1])
    contributions = model.contributions(row, np.empty(0, dtype=np.int64), 1)
    assert contributions.argmax() == 0
    prediction = row[1] - model.residuals(row[None], NO_CATEGORIES[:1])[0, 1]
    at_zero = -model.residuals(np.zeros((1, 4)), NO_CATEGORIES[:1])[0, 1]
    assert contributions.sum() == pytest.approx(prediction - at_zero)


def with_missing_values(seed: int) -> np.ndarray:
    """Return rows (400, 12), nearly all of which lack different sets of columns."""
    rng = np.random.default_rng([30, seed])
    z = rng.normal(size=(400, 12)) + rng.normal(size=(400, 1))
    z[:, 1:][rng.random((400, 11)) < 0.4] = np.nan
    return z


def test_residuals_of_rows_with_missing_values() -> None:
    z = with_missing_values(0)
    model = Regressions(z, NO_CATEGORIES, np.random.default_rng(0))
    found = model.residuals(z, NO_CATEGORIES)
    ridge = model.moments + 1e-3 * np.eye(len(model.moments))
    for i in range(20):
        present = np.flatnonzero(~np.isnan(z[i]))
        terms = np.concatenate([[1.0], z[i], z[i] ** 2 / 8])
        for j in present:
            own = [1 + j, 13 + j]
            others = np.concatenate([[0], 1 + present, 13 + present])
            others = others[~np.isin(others, own)]
            gram, products = ridge[np.ix_(others, others)], ridge[np.ix_(others, own)]
            weights = np.linalg.solve(gram, products)
            variance = ridge[1 + j, 1 + j] - products[:, 0] @ weights[:, 0]
            wanted = z[i, j] - terms[others] @ weights[:, 0]
            wanted *= model.deviation[j] / np.sqrt(variance)
            assert found[i, j] == pytest.approx(wanted, abs=1e-8)


def test_the_work_per_set_of_missing_values_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    z, inverted, inv = with_missing_values(1), [], np.linalg.inv

    def counted(matrix: np.ndarray) -> np.ndarray:
        inverted.extend([matrix.shape[-1]] * int(np.prod(matrix.shape[:-2])))
        return inv(matrix)

    monkeypatch.setattr(np.linalg, "inv", counted)
    model = Regressions(z, NO_CATEGORIES, np.random.default_rng(0))
    assert len(np.unique(np.isnan(z), axis=0)) > 300
    # Only one inverted matrix has the size of all moments.
    assert inverted.count(len(model.moments)) == 1


def moments_by_set(terms: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the matrix of moments, means of products of two terms, after the EM algorithm.

    `terms` (n, f) has 0 for missing values, which the mask `missing` marks for terms 1, 2, .... The
    expectations are computed by a loop over rows.
    """
    n, f = terms.shape
    absent = np.zeros(terms.shape, dtype=bool)
    absent[:, 1 : 1 + missing.shape[1]] = missing
    counts = np.maximum((~absent).sum(axis=0), 1)
    moments = np.diag((terms**2).sum(axis=0) / counts)
    moments[0] = moments[:, 0] = terms.sum(axis=0) / counts
    for _ in range(8):
        matrix, total = moments + 1e-3 * np.eye(f), np.zeros((f, f))
        for row, m in zip(terms, absent, strict=True):
            weights = np.linalg.solve(matrix[np.ix_(~m, ~m)], matrix[np.ix_(~m, m)])
            filled = row.copy()
            filled[m] = row[~m] @ weights
            total += np.outer(filled, filled)
            variance = matrix[np.ix_(m, m)] - matrix[np.ix_(m, ~m)] @ weights
            total[np.ix_(m, m)] += variance - 1e-3 * np.eye(m.sum())
        moments = total / n
    return moments


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_moments_are_those_of_a_loop_over_rows(share: float) -> None:
    rng = np.random.default_rng(31)
    terms = np.hstack([np.ones((300, 1)), rng.normal(size=(300, 6)) + rng.normal(size=(300, 1))])
    terms = np.hstack([terms, terms[:, 1:3] + rng.normal(size=(300, 2)) > 0])
    missing = rng.random((300, 6)) < share
    missing[:20] = True
    terms[:, 1:7][missing] = 0.0
    found = _moments(terms, missing)
    np.testing.assert_allclose(found, moments_by_set(terms, missing), atol=1e-10)


def test_leave_one_out_residuals_of_rows_with_missing_values() -> None:
    z = with_missing_values(2)[:, :4]
    model = Regressions(z, NO_CATEGORIES, np.random.default_rng(0))
    plain = model.residuals(z, NO_CATEGORIES)
    ridge = model.moments + 1e-3 * np.eye(len(model.moments))
    n_checked = 0
    for i in np.flatnonzero(np.isnan(z).any(axis=1))[:20]:
        present = np.flatnonzero(~np.isnan(z[i]))
        terms = np.concatenate([[1.0], z[i], z[i] ** 2 / 8])
        for j in present:
            others = np.setdiff1d(np.concatenate([[0], 1 + present, 5 + present]), [1 + j, 5 + j])
            own = terms[others]
            leverage = own @ np.linalg.solve(ridge[np.ix_(others, others)], own) / len(z)
            wanted = plain[i, j] / max(1 - leverage, 0.05)
            assert model.fitted_residuals[i, j] == pytest.approx(wanted, abs=1e-8)
            n_checked += 1
    assert n_checked > 20


def test_extrapolated_predictions_are_replaced_by_the_nearest_value() -> None:
    rng = np.random.default_rng(32)
    z = rng.uniform(-1, 1, size=(400, 1)) + np.array([[0.0, 0.0]])
    model = Regressions(z, NO_CATEGORIES, np.random.default_rng(0))
    low, high = z[:, 0].min(), z[:, 0].max()
    # Values of the first column are predicted by the second one, which is 2 or -2.
    values = np.array([-0.5, 3.0, 0.5, -3.0])
    rows = np.column_stack([values, [2.0, 2.0, -2.0, -2.0]])
    wanted = [-0.5 - high, 0.0, 0.5 - low, 0.0]
    found = model.residuals(rows, NO_CATEGORIES[:4])[:, 0]
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_a_column_with_few_values_is_not_used() -> None:
    z = rows(5)
    few = np.full((len(z), 1), np.nan)
    few[:6, 0] = [-1, -0.5, 0, 0.2, 0.5, 1]
    codes = NO_CATEGORIES
    regressions = Regressions(np.hstack([z, few]), codes, np.random.default_rng(0))
    with_value = np.hstack([z, np.full_like(few, 8.0)])
    without = np.hstack([z, np.full_like(few, np.nan)])
    residuals = regressions.residuals(with_value, codes)
    np.testing.assert_array_equal(residuals, regressions.residuals(without, codes))
    np.testing.assert_array_equal(np.isnan(residuals).all(axis=0), [False] * z.shape[1] + [True])
    assert regressions.contributions(with_value[0], codes[0], 0)[-1] == 0
    np.testing.assert_array_equal(regressions.scale(with_value[0]), regressions.scale(without[0]))
    bound = np.full(with_value.shape[1], 0.5)
    np.testing.assert_array_equal(
        regressions.outside(with_value, codes, -bound, bound),
        regressions.outside(without, codes, -bound, bound),
    )


def test_predictions_beyond_the_values_of_a_predictor_are_uncertain() -> None:
    """The column a is b - c - 6. Few rows have a small c, whose logarithm predicts a."""
    rng = np.random.default_rng(33)
    parts = []
    for small in ([8, 7, 7, 6, 6, 5, 4, 3], [6, 5, 4, 3, 2, 2, 1, 1]):
        b, c = rng.integers(24, 35, 1000), rng.normal(13, 1.5, 1000).round()
        c[:8] = small
        parts.append(pd.DataFrame({"a": b - c - 6.0, "b": b, "c": c}))
    x, y = parts
    y.loc[100:101, "a"] -= 8
    found = isodepth.compare(x, y, random_state=0).suspicious_rows()
    assert sorted((row.sample, row.row) for row in found) == [("Y", 100), ("Y", 101)]
