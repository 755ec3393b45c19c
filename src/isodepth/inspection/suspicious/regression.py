"""Regression of each column on the other values that a row has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from isodepth._core import project

# Maximum number of rows to which regressions are fitted.
_MAX_FITTED = 5_000
# Each column is regressed on the others only if there are at least _MIN_FITTED rows, at least
# _ROWS_PER_TERM rows per term of the regression, and at most _MAX_COLUMNS columns.
_MIN_FITTED, _ROWS_PER_TERM, _MAX_COLUMNS = 40, 3, 100
# Maximum distance from the median, in spreads, of all values of a row that is used to fit
# regressions. If at most 60% of the rows are this close, all rows are used. Regressions clip values
# at this distance.
_FAR = 8.0
_PENALTY = 1e-3
# Minimum fraction of the rows that have a value of a category with an indicator.
_MIN_SHARE = 0.05
_EM_STEPS = 8


class Predictors(NamedTuple):
    """Regressions for one set of observed columns.

    Attributes
    ----------
    weights : ndarray of shape (f, d)
        The residual of column j is the product of the f terms of a row and `weights[:, j]`. Weights
        of missing terms, and of the residuals of missing columns, are 0.
    deviation : ndarray of shape (d,)
        Standard deviation of the residuals of each column.
    inverse : ndarray of shape (f, f)
        Inverse matrix of the mean products of terms.
    """

    weights: np.ndarray
    deviation: np.ndarray
    inverse: np.ndarray


class Regressions:
    """Ridge regressions of each standardized column on the other columns and on categories.

    A value is regressed on the other values that its row has. All regressions follow from one
    matrix, the mean of the products of terms. Terms are a constant, the columns and, if there are
    enough rows, their squares and indicators of frequent values of categories. In rows with missing
    values, the products are replaced by their conditional expectations given the values that the
    row has (EM algorithm, as if terms were normal).

    The residual of a row with missing values is larger, because fewer values explain it. It is
    multiplied by the ratio of two standard deviations of residuals: for complete rows, and for
    rows that have the same values. So residuals of all rows have the same scale.
    """

    def __init__(self, standard: np.ndarray, codes: np.ndarray, rng: np.random.Generator) -> None:
        """Fit the regressions.

        Parameters
        ----------
        standard : ndarray of shape (n, d)
            Standardized columns; NaN for missing values.
        codes : int ndarray of shape (n, k)
            Values of k categories, from 0; -1 for missing values.
        """
        n, d = standard.shape
        near = ~(np.abs(standard) > _FAR).any(axis=1)
        used = np.flatnonzero(near) if near.sum() > 0.6 * n else np.arange(n)
        fitted = rng.permutation(used)[:_MAX_FITTED]
        most = len(fitted) // (2 * _ROWS_PER_TERM) - 1
        self.squares = 2 * d <= most
        #: Pairs (category, value) with an indicator.
        self.indicators = _frequent_values(codes[fitted], most - 2 * d)
        terms = self._terms(standard[fitted], codes[fitted])
        self.moments = _moments(terms, self._observed(standard[fitted]))
        self._inverse = np.linalg.inv(self.moments + _PENALTY * np.eye(len(self.moments)))
        #: Regressions for complete rows, and the standard deviations of their residuals.
        self._complete = self._solve(np.ones(terms.shape[1], dtype=bool))
        self.deviation = self._complete.deviation
        #: Residuals (n, d); those of the fitted rows are leave-one-out residuals.
        self.fitted_residuals = self.residuals(standard, codes)
        leverage = self._leverage(standard[fitted], codes[fitted]) / len(fitted)
        self.fitted_residuals[fitted] /= np.maximum(1 - leverage, 0.05)

    @staticmethod
    def possible(standard: np.ndarray) -> bool:
        """Whether standardized rows (n, d) are enough for regressions, and columns not too many."""
        n, d = standard.shape
        return 2 <= d <= _MAX_COLUMNS and n >= max(_MIN_FITTED, _ROWS_PER_TERM * (d + 1))

    def residuals(self, standard: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the residuals (m, d) of m rows; NaN for missing values."""
        terms, residuals = self._terms(standard, codes), np.empty_like(standard)
        for rows, predictors in self._predictors(standard):
            # The result for a row of `project` does not depend on the other rows.
            residuals[rows] = project(terms[rows], np.ascontiguousarray(predictors.weights.T)).T
            residuals[rows] *= self.deviation / predictors.deviation
        residuals[np.isnan(standard)] = np.nan
        return residuals

    def outside(
        self, standard: np.ndarray, codes: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> np.ndarray:
        """Return whether a residual of each row may be below `low` or above `high`, both (d,).

        Residuals are computed in single precision. The result is also True for rows whose residuals
        are inside, but not farther from a bound than the maximum rounding error.
        """
        terms = self._terms_by_column(standard, codes, np.float32)
        result = np.zeros(len(standard), dtype=bool)
        for rows, predictors in self._predictors(standard):
            weights = predictors.weights * (self.deviation / predictors.deviation)
            # Terms are at most _FAR in absolute value. The factor 4 covers all roundings.
            error = np.finfo(np.float32).eps * (
                4 * len(weights) * _FAR * np.abs(weights).sum(axis=0)
                + np.where(np.isfinite(low), np.abs(low), 0.0)
                + np.where(np.isfinite(high), np.abs(high), 0.0)
            )
            own = terms[:, rows]
            found = np.zeros(own.shape[1], dtype=bool)
            ends = (low + error).astype(np.float32), (high - error).astype(np.float32)
            for column, least, most in zip(weights.T.astype(np.float32) @ own, *ends, strict=True):
                found |= column < least
                found |= column > most
            result[rows] = found
        return result

    def contributions(self, row: np.ndarray, codes: np.ndarray, j: int) -> np.ndarray:
        """Return the contributions (d + k,) of columns and categories to a prediction of column j.

        The row has d values and k categories. The contribution of a missing value is 0.
        """
        d = len(row)
        terms = self._terms(row[None], codes[None])[0]
        ((_, predictors),) = self._predictors(row[None])
        parts = -terms * predictors.weights[:, j]
        result = np.zeros(d + len(codes))
        result[:d] = parts[1 : 1 + d]
        if self.squares:
            result[:d] += parts[1 + d : 1 + 2 * d]
        result[j] = 0.0
        for part, (category, _) in zip(
            parts[len(parts) - len(self.indicators) :], self.indicators, strict=True
        ):
            result[d + category] += part
        return result

    def scale(self, row: np.ndarray) -> np.ndarray:
        """Return the factors (d,) of the residuals of rows with the same missing values."""
        ((_, predictors),) = self._predictors(row[None])
        return self.deviation / predictors.deviation

    def _leverage(self, standard: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return n times the leverage (n, d) of n fitted rows in the regression of each column.

        Let t be the terms of a row, P the inverse matrix of moments, and u = P t. The leverage in
        the regression on all terms except those of a column is t' P t less u_B' inv(P_BB) u_B,
        where B are the terms of the column.
        """
        terms, leverage = self._terms(standard, codes), np.empty_like(standard)
        d = standard.shape[1]
        for rows, predictors in self._predictors(standard):
            u = terms[rows] @ predictors.inverse
            first, diagonal = u[:, 1 : 1 + d], np.diagonal(predictors.inverse)
            a = diagonal[1 : 1 + d]
            if self.squares:
                second, c = u[:, 1 + d : 1 + 2 * d], diagonal[1 + d : 1 + 2 * d]
                b = np.diagonal(predictors.inverse[1 : 1 + d, 1 + d : 1 + 2 * d])
                part = c * first**2 - 2 * b * first * second + a * second**2
                part /= a * c - b * b
            else:
                part = first**2 / a
            leverage[rows] = (u * terms[rows]).sum(axis=1, keepdims=True) - part
        return leverage

    def _predictors(self, standard: np.ndarray) -> Iterator[tuple[np.ndarray | slice, Predictors]]:
        """Yield the regressions for each set of observed columns, with the indices of its rows.

        The first are the regressions for complete rows, if there are any, with all rows. Later
        results replace those of the rows that are not complete.
        """
        missing = np.zeros(len(standard), dtype=bool)
        for column in standard.T:
            missing |= np.isnan(column)
        if not missing.all():
            yield slice(None), self._complete
        incomplete = np.flatnonzero(missing)
        if not len(incomplete):
            return
        for pattern, rows in _patterns(self._observed(standard[incomplete])):
            yield incomplete[rows], self._solve(pattern)

    def _solve(self, observed: np.ndarray) -> Predictors:
        """Return the regressions of each column for one set `observed` (f,) of observed terms.

        Let P be the inverse matrix of moments. The residuals of the terms of a column, given all
        other terms, are the rows of these terms in P, multiplied by the inverse of their block of
        P. The block has one row, or two rows with squares.
        """
        f = len(self.moments)
        d = (f - 1 - len(self.indicators)) // (2 if self.squares else 1)
        inverse = _restricted_inverse(self._inverse, observed)
        diagonal = np.diagonal(inverse)
        linear, a = inverse[:, 1 : 1 + d], diagonal[1 : 1 + d]
        if self.squares:
            square = slice(1 + d, 1 + 2 * d)
            c = diagonal[square]
            b = np.diagonal(inverse[1 : 1 + d, square])
            determinant = a * c - b * b
            weights = (c * linear - b * inverse[:, square]) / determinant
            variances = c / determinant
        else:
            weights, variances = linear / a, 1 / a
        weights = np.where(observed[1 : 1 + d], weights, 0.0)
        return Predictors(weights, np.sqrt(variances), inverse)

    def _terms(self, standard: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the terms (m, f) of m rows; 0 for missing values."""
        return np.ascontiguousarray(self._terms_by_column(standard, codes, np.float64).T)

    def _terms_by_column(self, standard: np.ndarray, codes: np.ndarray, dtype: type) -> np.ndarray:
        """Return the terms (f, m) of m rows; 0 for missing values."""
        m, d = standard.shape
        f = 1 + (2 if self.squares else 1) * d + len(self.indicators)
        terms = np.empty((f, m), dtype)
        terms[0] = 1.0
        linear = terms[1 : 1 + d]
        with np.errstate(over="ignore"):  # numbers that are too large for `dtype` are clipped
            linear[:] = standard.T
        np.clip(linear, -_FAR, _FAR, out=linear)
        np.copyto(linear, 0.0, where=np.isnan(linear))
        if self.squares:
            np.square(linear, out=terms[1 + d : 1 + 2 * d])
            terms[1 + d : 1 + 2 * d] /= _FAR
        for row, (category, value) in enumerate(self.indicators, f - len(self.indicators)):
            terms[row] = codes[:, category] == value
        return terms

    def _observed(self, standard: np.ndarray) -> np.ndarray:
        """Return which terms (m, f) are known: all except those of missing numbers.

        Indicators are always known. They are all 0 if a category is missing, as for its most
        frequent value, so that both have the same predictions.
        """
        present = ~np.isnan(standard)
        parts = [np.ones((len(standard), 1), dtype=bool), present]
        if self.squares:
            parts.append(present)
        parts.append(np.ones((len(standard), len(self.indicators)), dtype=bool))
        return np.hstack(parts)


def _frequent_values(codes: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Return at most `most` pairs (category, value), the most frequent first.

    The most frequent value of a category is not included, nor are values of less than 5% of the
    rows.
    """
    found = []
    for category in range(codes.shape[1]):
        known = codes[codes[:, category] >= 0, category]
        counts = np.bincount(known)
        frequent = np.argsort(-counts, kind="stable")[1:]
        found += [
            (-int(counts[value]), category, int(value))
            for value in frequent
            if counts[value] >= _MIN_SHARE * len(codes)
        ]
    return [(category, value) for _, category, value in sorted(found)[: max(most, 0)]]


def _moments(terms: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return the means (f, f) of the products of terms (n, f), by the EM algorithm."""
    n, f = terms.shape
    if observed.all():
        return terms.T @ terms / n
    counts = np.maximum(observed.sum(axis=0), 1)
    moments = np.diag((terms**2).sum(axis=0) / counts)
    moments[0] = moments[:, 0] = terms.sum(axis=0) / counts
    for _ in range(_EM_STEPS):
        filled, extra = terms.copy(), np.zeros((f, f))
        inverse = np.linalg.inv(moments + _PENALTY * np.eye(f))
        for present, part in _patterns(observed):
            missing = ~present
            if missing.any():
                # The inverse of the block of missing terms is their conditional covariance, given
                # the other terms.
                rest = np.linalg.inv(inverse[np.ix_(missing, missing)])
                known = -inverse[np.ix_(present, missing)] @ rest
                filled[np.ix_(part, missing)] = terms[np.ix_(part, present)] @ known
                extra[np.ix_(missing, missing)] += len(part) * (rest - _PENALTY * np.eye(len(rest)))
        moments = (filled.T @ filled + extra) / n
    return moments


def _patterns(observed: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield each distinct row (f,) of `observed` with the indices of the rows that are equal."""
    if observed.all():
        yield observed[0], np.arange(len(observed))
        return
    packed = np.packbits(observed, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(inverse))[:-1])
    yield from zip(observed[first], rows, strict=True)


def _restricted_inverse(inverse: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return the inverse (f, f) of the part of a matrix that belongs to the observed terms (f,).

    `inverse` is the inverse of the whole matrix. Rows and columns of missing terms are those of the
    identity matrix. Only the block of the missing terms is inverted, because a table may have as
    many sets of missing terms as rows.
    """
    missing = ~observed
    if not missing.any():
        return inverse
    rest = np.linalg.inv(inverse[np.ix_(missing, missing)])
    result = inverse - inverse[:, missing] @ rest @ inverse[missing]
    result[missing] = result[:, missing] = 0.0
    result[missing, missing] = 1.0
    return result
