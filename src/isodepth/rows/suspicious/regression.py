"""Regression of each column on the other values that a row has.

The terms of a row are its f regressors: a constant, q terms of the d columns, and indicators of
values of categories (columns of categories). The terms of a column are its value and, if there are
enough rows, its square. The matrix of moments (f, f) has the means of the products of two terms,
and P is its inverse, with a small ridge penalty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isodepth._core import project

# Maximum number of rows to which regressions are fitted.
_MAX_FITTED = 5_000
# Each column is regressed on the others only if there are at least _MIN_FITTED rows, at least
# _ROWS_PER_TERM rows per term of the regression, and at most _MAX_COLUMNS columns. A column with
# fewer than _MIN_FITTED values is neither predicted nor used for predictions.
_MIN_FITTED, _ROWS_PER_TERM, _MAX_COLUMNS = 40, 3, 100
# Maximum distance from the median, in spreads, of all values of a row that is used to fit
# regressions. If at most 60% of the rows are this close, all rows are used. Regressions clip values
# at this distance.
_FAR = 8.0
# Bound on standardized values whose squares do not overflow.
_MAX_VALUE = 1e100
# Rank of the smallest and of the largest value of a predictor that is not an extrapolation.
_RANK = 5
_PENALTY = 1e-3
# Minimum fraction of the rows that have a value of a category with an indicator.
_MIN_SHARE = 0.05
_EM_STEPS = 8
# Approximate maximum size of the arrays for the rows of a block in `_missing_blocks`.
_BLOCK_NUMBERS = 1 << 18


class Predictors(NamedTuple):
    """Regressions of all columns, for rows with values in the same columns.

    Attributes
    ----------
    weights : ndarray of shape (f, d)
        The residual of column j is the product of the f terms of a row and `weights[:, j]`. Weights
        of missing terms, and of the residuals of missing columns, are 0.
    deviation : ndarray of shape (d,)
        Standard deviation of the residuals of each column.
    """

    weights: np.ndarray
    deviation: np.ndarray


class MissingBlock(NamedTuple):
    """Block of r rows of a table, each of which has m missing terms.

    Attributes
    ----------
    rows : int ndarray of shape (r,)
        Indices of the rows in the table.
    sets : int ndarray of shape (r,)
        Index of the set of missing terms of each row.
    terms : int ndarray of shape (s, m)
        Missing terms of each of s sets, in increasing order. Terms are counted without
        the constant, so that the first term of the columns is 0.
    """

    rows: np.ndarray
    sets: np.ndarray
    terms: np.ndarray

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Index arrays of shapes (r, 1) and (r, m) that select the missing terms of this block.

        The indexed array has shape (n, q), for all n rows of the table and the q terms of the
        columns.
        """
        return self.rows[:, None], self.terms[self.sets]

    def conditional(self, inverse: np.ndarray) -> np.ndarray:
        """Return the covariances (s, m, m) of the missing terms of each set, given the other terms.

        `inverse` (q, q) is the block of P for the q terms of the columns, which can be missing.
        """
        return np.linalg.inv(inverse[self.terms[:, :, None], self.terms[:, None, :]])

    def predictions(self, products: np.ndarray, conditional: np.ndarray) -> np.ndarray:
        """Return predictions (r, m) of the missing terms of the r rows from their other terms.

        `products` (n, q) are the columns of t @ P for the q terms that can be missing, with the
        terms t (n, f) of n rows, 0 if missing. `conditional` is the result of the method
        `conditional`.
        """
        return -(products[self.places][:, None, :] @ conditional[self.sets])[:, 0]


class Regressions:
    """Ridge regressions of each standardized column on the other columns and on categories.

    A value is regressed on the other values that its row has. All regressions follow from one
    matrix, the matrix of moments: the means of the products of two terms. Terms are a constant, the
    columns and, if there are enough rows, their squares and indicators of frequent values of
    categories. For rows with missing values, the products are replaced by their conditional
    expectations given the values that the row has (EM algorithm, as if terms were normal).

    The residual of a row with missing values is larger, because fewer values explain it. It is
    multiplied by the ratio of two standard deviations of residuals: for complete rows, and for
    rows with values in the same columns. So the residuals of all rows have the same scale.

    A prediction above the maximum of the column, or below its minimum, is an extrapolation. It is
    replaced by this maximum or minimum. The residual is 0 if the value itself is beyond it.

    The data do not show how a relation continues beyond the values of a predictor. From the fifth
    smallest and the fifth largest value among the fitted rows on, it may stay constant, or continue
    with the value, with its square, or with both. All these predictions are possible.
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
        self._unused = np.count_nonzero(~np.isnan(standard), axis=0) < _MIN_FITTED
        standard = self._used(standard)
        self._minima = np.fmin.reduce(standard, axis=0, initial=np.inf)
        self._maxima = np.fmax.reduce(standard, axis=0, initial=-np.inf)
        near = ~(np.abs(standard) > _FAR).any(axis=1)
        used = np.flatnonzero(near) if near.sum() > 0.6 * n else np.arange(n)
        fitted = rng.permutation(used)[:_MAX_FITTED]
        most = len(fitted) // (2 * _ROWS_PER_TERM) - 1
        self.squares = 2 * d <= most
        self._n_columns = d
        #: Pairs (category, value) with an indicator.
        self.indicators = _frequent_values(codes[fitted], most - 2 * d)
        terms = self._terms(standard[fitted], codes[fitted])
        self.moments = _moments(terms, self._of_terms(np.isnan(standard[fitted])))
        self._inverse = np.linalg.inv(self.moments + _PENALTY * np.eye(len(self.moments)))
        #: Regressions for complete rows, and the standard deviations of their residuals.
        self._complete = self._solve(np.zeros(d, dtype=bool))
        self.deviation = self._complete.deviation
        #: Residuals (n, d), also from extrapolated predictions; those of the fitted rows are
        #: leave-one-out residuals.
        plain, scale = self._plain_residuals(standard, codes)
        self.fitted_residuals = plain * scale
        self._inner = _inner_ranges(standard[fitted])
        leverage = self._leverage(standard[fitted], codes[fitted]) / len(fitted)
        self.fitted_residuals[fitted] /= np.maximum(1 - leverage, 0.05)

    @staticmethod
    def possible(standard: np.ndarray) -> bool:
        """Return whether the numbers of rows and columns of `standard` (n, d) allow regressions."""
        n, d = standard.shape
        return 2 <= d <= _MAX_COLUMNS and n >= max(_MIN_FITTED, _ROWS_PER_TERM * (d + 1))

    def residuals(self, standard: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the residuals (m, d) of m rows; NaN for missing values."""
        standard = self._used(standard)
        plain, scale = self._plain_residuals(standard, codes)
        return self._supported(plain, standard) * scale

    def certain_residuals(self, standard: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the differences (m, d) of values and the nearest of all possible predictions.

        They are residuals, or 0 if the value is a possible prediction; see `extrapolation`.
        """
        standard = self._used(standard)
        plain, scale = self._plain_residuals(standard, codes)
        residuals = self._supported(plain, standard)
        rows = np.flatnonzero(self._extrapolated(standard))
        if len(rows):
            below, above = (
                self._supported(plain[rows] - shift, standard[rows])
                for shift in self.extrapolation(standard[rows])
            )
            nearest = np.minimum(below, 0.0) + np.maximum(above, 0.0)
            residuals[rows] = nearest
        return residuals * scale

    def _extrapolated(self, standard: np.ndarray) -> np.ndarray:
        """Return a bool array (m,): whether a row has a value outside a range of fitted values."""
        low, high = self._inner
        return ((standard < low.max(axis=0)) | (standard > high.min(axis=0))).any(axis=1)

    def extrapolation(self, standard: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and the highest possible predictions (m, d), minus the predictions.

        They differ in rows with a value of a predictor that is an extrapolation, see the class. The
        regressions for complete rows are used for all rows.
        """
        missing = np.isnan(standard)
        linear, square = (
            -part for part in self._halves(self._complete.weights[1 : 1 + self._n_terms].T)
        )
        values = np.where(missing, 0.0, np.clip(standard, -_MAX_VALUE, _MAX_VALUE))
        used = np.clip(values, -_FAR, _FAR)
        low, high = np.empty(standard.shape), np.empty(standard.shape)
        for j, ends in enumerate(zip(*self._inner, strict=True)):
            inner = np.where(missing, 0.0, np.clip(used, *ends))
            weights = np.delete(np.stack([linear[j], square[j] / _FAR]), j, axis=1)[:, None]
            inner, own, all_of = (np.delete(each, j, axis=1) for each in (inner, used, values))
            # The square bends the relation as the data show it, not as it continues: changes by a
            # value and by its square may add up or not.
            changes = weights * np.stack([all_of - inner, all_of**2 - inner**2])
            from_inner = (weights * np.stack([own - inner, own**2 - inner**2])).sum(axis=(0, 2))
            low[:, j] = np.minimum(changes, 0.0).sum(axis=(0, 2)) - from_inner
            high[:, j] = np.maximum(changes, 0.0).sum(axis=(0, 2)) - from_inner
        return low, high

    def _plain_residuals(
        self, standard: np.ndarray, codes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the differences (m, d) of values and predictions, and the factors (m, d).

        Predictions may be extrapolated. The class describes the factors.
        """
        terms, residuals = self._terms(standard, codes), np.empty_like(standard)
        scale = np.ones(standard.shape)
        missing = self._of_terms(np.isnan(standard))
        partial = np.flatnonzero(missing.any(axis=1))
        # The result for a row of `project` does not depend on the other rows.
        if len(partial) < len(terms):
            residuals[:] = project(terms, np.ascontiguousarray(self._complete.weights.T)).T
        if len(partial):
            inverse = np.ascontiguousarray(self._inverse[1 : 1 + missing.shape[1]])
            products = project(terms[partial], inverse).T
            found, variances = self._residuals(*self._restricted(products, missing[partial])[1:])
            residuals[partial], scale[partial] = found, self.deviation / np.sqrt(variances)
        residuals[np.isnan(standard)] = np.nan
        return residuals, scale

    def _supported(self, residuals: np.ndarray, standard: np.ndarray) -> np.ndarray:
        """Return residuals (m, d) of rows (m, d) from predictions that are not extrapolated."""
        predictions = standard - residuals
        above, below = predictions > self._maxima, predictions < self._minima
        residuals = np.where(above, np.minimum(standard - self._maxima, 0.0), residuals)
        return np.where(below, np.maximum(standard - self._minima, 0.0), residuals)

    def outside(
        self, standard: np.ndarray, codes: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> np.ndarray:
        """Return for each row whether a residual may be below `low` or above `high`, both (d,).

        Residuals of complete rows are computed in single precision. The result is also True for
        rows whose residuals are inside, but not farther from a bound than the maximum rounding
        error, and for rows with residuals outside from extrapolated predictions. The bounds `low`
        must be negative, and `high` positive.
        """
        standard = self._used(standard)
        partial = np.flatnonzero(np.isnan(standard).any(axis=1))
        result = np.zeros(len(standard), dtype=bool)
        if len(partial) < len(standard):
            terms = self._terms_by_column(standard, codes, np.float32)
            weights = self._complete.weights
            # Terms are at most _FAR in absolute value. The factor 4 covers all roundings.
            error = np.finfo(np.float32).eps * (
                4 * len(weights) * _FAR * np.abs(weights).sum(axis=0)
                + np.where(np.isfinite(low), np.abs(low), 0.0)
                + np.where(np.isfinite(high), np.abs(high), 0.0)
            )
            ends = (low + error).astype(np.float32), (high - error).astype(np.float32)
            products = weights.T.astype(np.float32) @ terms
            for column, least, most in zip(products, *ends, strict=True):
                result |= column < least
                result |= column > most
        if len(partial):
            residuals = self.residuals(standard[partial], codes[partial])
            result[partial] = ((residuals < low) | (residuals > high)).any(axis=1)
        return result

    def contributions(self, row: np.ndarray, codes: np.ndarray, j: int) -> np.ndarray:
        """Return the contributions (d + k,) of columns and categories to a prediction of column j.

        The row has d values and k categories. The contribution of a missing value is 0.
        """
        d, row = len(row), self._used(row)
        terms = self._terms(row[None], codes[None])[0]
        predictors = self._solve(np.isnan(row))
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
        """Return the factors (d,) that multiply the residuals of a row (d,) with missing values.

        The class describes the factors. They depend only on the set of columns with missing values.
        """
        return self.deviation / self._solve(np.isnan(self._used(row))).deviation

    def _used(self, standard: np.ndarray) -> np.ndarray:
        """Return standardized rows with NaN in the columns that have too few values."""
        return np.where(self._unused, np.nan, standard) if self._unused.any() else standard

    def _leverage(self, standard: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return n times the leverage (n, d) of n fitted rows in the regression of each column.

        Let t be the terms of a row, P the inverse matrix of moments, and u = P t. The leverage in
        the regression on all terms except those of a column, the set B, is t' P t minus
        u_B' inv(P_BB) u_B, where u_B and P_BB are the parts of u and P for B.
        """
        terms, missing = self._terms(standard, codes), self._of_terms(np.isnan(standard))
        u = terms @ self._inverse
        products = u[:, 1 : 1 + missing.shape[1]]
        predictions, restricted, entries = self._restricted(products, missing)
        total = (u * terms).sum(axis=1) + (products * predictions).sum(axis=1)
        (first, second), (a, b, c) = self._halves(restricted), entries
        part = (c * first**2 - 2 * b * first * second + a * second**2) / (a * c - b * b)
        return total[:, None] - part

    def _restricted(
        self, products: np.ndarray, missing: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute, for each of m rows, parts of the inverse moments of the terms that it has.

        This restricted inverse is another matrix for each set of missing terms. Rows are processed
        together, because a table may have as many sets of missing terms as rows.

        Parameters
        ----------
        products : ndarray of shape (m, q)
            Products of the terms of rows and P, for the q terms of columns.
        missing : bool ndarray of shape (m, q)
            Whether each term is missing.

        Returns
        -------
        predictions : ndarray of shape (m, q)
            Predictions of missing terms from the other terms; 0 for other terms.
        products : ndarray of shape (m, q)
            Products of the terms of rows and the restricted inverses.
        entries : ndarray of shape (3, m, d)
            Entries of the restricted inverses, see `_entries`.
        """
        d, q = self._n_columns, missing.shape[1]
        inverse = np.ascontiguousarray(self._inverse[1 : 1 + q, 1 : 1 + q])
        entries = np.repeat(self._entries(inverse)[:, None], len(missing), axis=1)
        predictions = np.zeros(missing.shape)
        for block in _missing_blocks(missing):
            conditional, rows = block.conditional(inverse), inverse[block.terms]
            predictions[block.places] = block.predictions(products, conditional)
            weighted = conditional @ rows
            diagonal = (rows * weighted).sum(axis=1)[block.sets]
            entries[0, block.rows] -= diagonal[:, :d]
            if self.squares:
                both = (rows[:, :, :d] * weighted[:, :, d:]).sum(axis=1)
                entries[1, block.rows] -= both[block.sets]
                entries[2, block.rows] -= diagonal[:, d:]
        entries[:, missing[:, :d]] = np.array([[1.0], [0.0], [1.0]])
        return predictions, products + project(predictions, inverse).T, entries

    @property
    def _n_terms(self) -> int:
        """Number of terms of columns."""
        return (2 if self.squares else 1) * self._n_columns

    def _halves(self, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split the last axis (q) into the part of the columns and the part of their squares.

        If squares are not terms, the second part is an array of zeros.
        """
        first, second = np.split(products, [self._n_columns], axis=-1)
        return first, second if self.squares else np.zeros_like(first)

    def _entries(self, inverse: np.ndarray) -> np.ndarray:
        """Return the entries (3, d) of an inverse (q, q) that belong to the terms of each column.

        A column has two terms, its value and its square. The first entry of a column is the
        diagonal entry of the value, the second is that of the pair (value, square), and the third
        is the diagonal entry of the square. If squares are not terms, the last two are 0 and 1.
        """
        a, c = self._halves(np.diagonal(inverse))
        b = np.diagonal(inverse, self._n_columns) if self.squares else np.zeros_like(a)
        return np.stack([a, b, c if self.squares else np.ones_like(a)])

    def _solve(self, missing: np.ndarray) -> Predictors:
        """Return the regressions of each column for one set `missing` (d,) of missing columns.

        Let P be the inverse matrix of moments. The residuals of the terms of a column, given all
        other terms, are the rows of these terms in P, multiplied by the inverse of their block of
        P. The block has one row, or two rows with squares.
        """
        of_terms = self._of_terms(missing)
        numeric = slice(1, 1 + len(of_terms))
        observed = np.ones(len(self._inverse), dtype=bool)
        observed[numeric] = ~of_terms
        inverse = _restricted_inverse(self._inverse, observed)
        entries = self._entries(inverse[numeric, numeric])
        weights, variances = self._residuals(inverse[:, numeric], entries)
        return Predictors(np.where(missing, 0.0, weights), np.sqrt(variances))

    def _residuals(
        self, products: np.ndarray, entries: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the residuals (m, d) of m rows, and their variances.

        `products` (m, q) are the products of the terms of rows and the restricted inverse of
        `_restricted`. If `products` are rows of the inverse itself, weights of the terms are
        returned instead of residuals. `entries` is the result of `_entries`.
        """
        (first, second), (a, b, c) = self._halves(products), entries
        determinant = a * c - b * b
        return (c * first - b * second) / determinant, c / determinant

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

    def _of_terms(self, missing: np.ndarray) -> np.ndarray:
        """Return a bool array (..., q): whether each term of the columns is missing.

        `missing` (..., d) is whether each column is missing. Indicators are never missing: if a
        category is missing, they are all 0, as for its most frequent value.
        """
        return np.concatenate([missing, missing], axis=-1) if self.squares else missing


def _inner_ranges(standard: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the fifth smallest and the fifth largest values, both (d, d), of fitted rows (n, d).

    Line j has those of each column among the rows that have a value of column j. They are 0 if
    there are fewer than ten.
    """
    d = standard.shape[1]
    low, high = np.zeros((d, d)), np.zeros((d, d))
    known = ~np.isnan(standard)
    masks, line = np.unique(known, axis=1, return_inverse=True)
    for k, mask in enumerate(masks.T):
        ordered = np.sort(standard[mask], axis=0)  # missing values are last
        count = known[mask].sum(axis=0)
        columns = np.flatnonzero(count >= 2 * _RANK)
        own = np.ix_(np.flatnonzero(line == k), columns)
        low[own] = ordered[_RANK - 1, columns] if len(columns) else 0.0
        high[own] = ordered[count[columns] - _RANK, columns] if len(columns) else 0.0
    return low, high


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


def _moments(terms: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the means (f, f) of the products of terms (n, f), by the EM algorithm.

    `missing` (n, q) is True for each missing term of the columns, which are terms 1 to q.
    """
    n, f = terms.shape
    if not missing.any():
        return terms.T @ terms / n
    numeric = np.arange(1, 1 + missing.shape[1])
    known = np.delete(np.arange(f), numeric)
    others, own = np.ix_(known, numeric), np.ix_(numeric, numeric)
    counts = np.full(f, n)
    counts[numeric] = np.maximum((~missing).sum(axis=0), 1)
    moments = np.diag((terms**2).sum(axis=0) / counts)
    moments[0] = moments[:, 0] = terms.sum(axis=0) / counts
    x, k = terms[:, numeric], terms[:, known]
    ridge = _PENALTY * np.eye(f)
    of_known = k.T @ k / n
    blocks = _missing_blocks(missing)
    for step in range(_EM_STEPS):
        # The moments of known terms are constant from the second step on.
        if step < 2:
            inverse_known = np.linalg.inv((moments + ridge)[np.ix_(known, known)])
        weights = inverse_known @ moments[others]
        inverse = np.linalg.inv((moments + ridge)[own] - moments[others].T @ weights)
        products = (x - k @ weights) @ inverse
        filled, extra = x.copy(), np.zeros(inverse.shape)
        for block in blocks:
            # The inverse of the block of missing terms is their conditional covariance, given the
            # other terms.
            conditional = block.conditional(inverse)
            filled[block.places] = block.predictions(products, conditional)
            conditional -= ridge[: block.terms.shape[1], : block.terms.shape[1]]
            conditional *= np.bincount(block.sets)[:, None, None]
            # `np.add.at` is much faster with one index.
            entries = block.terms[:, :, None] * len(extra) + block.terms[:, None, :]
            np.add.at(extra.reshape(-1), entries.ravel(), conditional.ravel())
        moments[np.ix_(known, known)] = of_known
        moments[others] = k.T @ filled / n
        moments[np.ix_(numeric, known)] = moments[others].T
        moments[own] = (filled.T @ filled + extra) / n
    return moments


def _missing_blocks(missing: np.ndarray) -> list[MissingBlock]:
    """Return the rows of `missing` (n, q) that have missing terms, as blocks of bounded size.

    `missing` is True for each missing term of the columns.
    """
    partial = np.flatnonzero(missing.any(axis=1))
    if not len(partial):
        return []
    missing = missing[partial]
    packed = np.packbits(missing, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}")[:, 0]
    _, first, sets = np.unique(keys, return_index=True, return_inverse=True)
    size = missing.sum(axis=1)
    order = np.lexsort((sets, size))
    blocks, start = [], 0
    while start < len(order):
        m = int(size[order[start]])
        # At least m rows, so that a set in several blocks does not cost more than its rows.
        stop = start + max(m, _BLOCK_NUMBERS // (m * missing.shape[1]))
        rows = order[start : min(stop, int(np.searchsorted(size[order], m, "right")))]
        distinct, own = np.unique(sets[rows], return_inverse=True)
        terms = np.nonzero(missing[first[distinct]])[1].reshape(-1, m)
        blocks.append(MissingBlock(partial[rows], own, terms))
        start += len(rows)
    return blocks


def _restricted_inverse(inverse: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return the inverse (f, f) of the part of a matrix that belongs to the observed terms (f,).

    `inverse` is the inverse of the whole matrix. In the result, rows and columns of missing terms
    are those of the identity matrix. Only the block of the missing terms is inverted, because a
    table may have as many sets of missing terms as rows.
    """
    missing = ~observed
    if not missing.any():
        return inverse
    rest = np.linalg.inv(inverse[np.ix_(missing, missing)])
    result = inverse - inverse[:, missing] @ rest @ inverse[missing]
    result[missing] = result[:, missing] = 0.0
    result[missing, missing] = 1.0
    return result
