"""Scores of batches with categories: shares of their values, beside the score of the numbers.

For each value of a category let z be the difference between its shares in batch and reference, in
standard errors after the arcsine transformation, which makes the error the same for all shares.
The score of the categories is the largest |z|. Both scores, that of the numbers and that of the
categories, are expressed in standard deviations above their means over undrifted batches; the score
of the batch is the larger one. Means and deviations come from the part of the reference that also
makes the shares (by cross-validation), so that the scores of held-out batches and of those to come
stay exchangeable.

With a tolerance both scores are differences of shares that contaminated rows cannot explain, and
the larger one is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isodepth.monitor.batches import complete
from isodepth.monitor.scorer import NumberScorer, contaminated_rows

# Units are those of batches drawn from each of so many parts, scored by the rest.
_FOLDS, _DRAWN = 4, 10
# A share that moved is named where chance would name any in so many batches.
_NAMED = 0.01
_MOST_NAMED = 5


class ShareChange(NamedTuple):
    """A value of a category whose share in a batch differs from that in the reference.

    Attributes
    ----------
    column, value : str
    batch, reference : float
        The shares.
    new : bool
        Whether the reference does not have the value at all.
    """

    column: str
    value: str
    batch: float
    reference: float
    new: bool = False

    def __str__(self) -> str:
        before = "new" if self.new else f"reference {self.reference:.1%}"
        return f"{self.column} = {self.value} {self.batch:.1%} ({before})"


@dataclass(frozen=True)
class CategoryShares:
    """Rows of a reference with each value of each category.

    Attributes
    ----------
    counts : int64 ndarray of shape (V,)
        Of all values of the first category, those that are not among them (0), of the second, ...
    starts : tuple of int, of length C + 1
        Where each category begins among these; the last is V.
    """

    counts: np.ndarray
    starts: tuple[int, ...]

    @classmethod
    def fit(cls, codes: np.ndarray, sizes: Sequence[int]) -> CategoryShares:
        """Of the numbers of values (n, C), where each category has so many values."""
        starts = tuple(np.cumsum([0, *(size + 1 for size in sizes)]).tolist())
        return cls(cls(np.empty(0), starts).count(codes), starts)

    @property
    def n_rows(self) -> int:
        """Rows of the reference."""
        return int(self.counts[: self.starts[1]].sum())

    def count(self, codes: np.ndarray) -> np.ndarray:
        """How many rows of (m, C) have each value, of shape (V,)."""
        places = codes.astype(np.int64) + self.starts[:-1]
        return np.bincount(places.ravel(), minlength=self.starts[-1])

    def differences(self, counts: np.ndarray, m: int, by_error: bool) -> np.ndarray:
        """Differences of the shares (V,) of m rows from these: as they are, or in standard errors.

        Values that none of these rows has are counted together, as the last of their category:
        which of them exist is known of the rest of the reference alone.
        """
        now, then = counts / m, self.counts / self.n_rows
        for first, stop in zip(self.starts, self.starts[1:], strict=False):
            unseen = np.flatnonzero(self.counts[first : stop - 1] == 0) + first
            now[stop - 1] += now[unseen].sum()
            now[unseen] = 0.0
        return _in_errors(now, then, m, self.n_rows) if by_error else np.abs(now - then)

    def changes(
        self, codes: np.ndarray, categories: dict[str, tuple[str, ...]], new: Any
    ) -> list[ShareChange]:
        """New values of a batch, then those that moved most, at most five."""
        from scipy.special import ndtri

        m = len(codes)
        found = [ShareChange(name, value, count / m, 0.0, True) for name, value, count in new]
        found.sort(key=lambda change: -change.batch)
        now, then = self.count(codes) / m, self.counts / self.n_rows
        errors = _in_errors(now, then, m, self.n_rows)
        # None stands for new values, which are named already.
        names = [(name, value) for name, own in categories.items() for value in (*own, None)]
        least = ndtri(1 - _NAMED / (2 * len(names)))
        for at in np.argsort(-errors, kind="stable"):
            name, value = names[at]
            if errors[at] >= least and value is not None:
                found.append(ShareChange(name, value, float(now[at]), float(then[at])))
        return found[:_MOST_NAMED]


def _in_errors(now: np.ndarray, then: np.ndarray, m: int, n: int) -> np.ndarray:
    apart = 2.0 * np.abs(np.arcsin(np.sqrt(np.minimum(now, 1.0))) - np.arcsin(np.sqrt(then)))
    return apart / np.sqrt(1.0 / m + 1.0 / n)


@dataclass(frozen=True)
class MixedScorer:
    """How far batches with categories are from a reference.

    Attributes
    ----------
    numbers : RegionScorer, ShareScorer or None
        The scorer of the columns of numbers, where there are any.
    shares : CategoryShares
    tolerance : float
    units : ndarray of shape (2, 2)
        Mean and standard deviation of undrifted scores, of numbers and of categories.
    """

    numbers: NumberScorer | None
    shares: CategoryShares
    tolerance: float
    units: np.ndarray

    @classmethod
    def fit(
        cls, make: Callable[[np.ndarray, Any], NumberScorer], points: np.ndarray, blocks: Any,
        sizes: Sequence[int], tolerance: float, n_rows: int, rng: np.random.Generator,
    ) -> MixedScorer:  # fmt: skip
        """The scorer of rows (n, d + C), some of NaN, for batches of `n_rows`.

        `make` makes the scorer of numbers (k, d) with their `blocks`; categories have so many
        values as `sizes` says.
        """
        width = points.shape[1] - len(sizes)

        def scorer(rows: np.ndarray, units: np.ndarray) -> MixedScorer:
            own = None if blocks is None else blocks[rows]
            numbers = make(points[rows, :width], own) if width else None
            shares = CategoryShares.fit(complete(points[rows])[:, width:], sizes)
            return cls(numbers, shares, tolerance, units)

        units = np.array([[0.0, 1.0], [0.0, 1.0]])
        if tolerance == 0:
            scores = []
            for fold in np.array_split(rng.permutation(len(points)), _FOLDS):
                others = scorer(np.setdiff1d(np.arange(len(points)), fold), units)
                for rows in rng.choice(fold, (_DRAWN, n_rows)):
                    scores.append(others._parts(complete(points[rows]), n_rows, clean=True)[0])
            spread = np.std(scores, axis=0)
            units = np.stack([np.mean(scores, axis=0), np.where(spread > 0, spread, 1.0)], axis=1)
        return scorer(np.arange(len(points)), units)

    @property
    def scale(self) -> np.ndarray | None:
        """What the columns of numbers are divided by first, of shape (d,)."""
        return None if self.numbers is None else self.numbers.scale

    @property
    def n_features(self) -> int:
        """Columns of the data, categories included."""
        return self._width + len(self.shares.starts) - 1

    @property
    def signature(self) -> str:
        """How scores are made."""
        own = f"categories={len(self.shares.starts) - 1}"
        return own if self.numbers is None else f"{self.numbers.signature}|{own}"

    @property
    def _width(self) -> int:
        return 0 if self.numbers is None else self.numbers.n_features

    def null_score(self, points: np.ndarray, n_rows: int) -> float:
        """The score of rows that are not contaminated."""
        return self._combined(self._parts(points, n_rows, clean=True)[0])

    def score_and_columns(self, points: np.ndarray, n_rows: int) -> tuple[float, np.ndarray]:
        """The score of a batch, and the contributions of the columns (d + C,)."""
        scores, of_numbers, of_values = self._parts(points, n_rows)
        starts = self.shares.starts
        by_column = np.square(np.maximum.reduceat(of_values, starts[:-1]))
        total = by_column.sum()
        of_shares = by_column / total if total > 0 else np.full(len(by_column), 1 / len(by_column))
        strength = np.square(np.maximum((scores - self.units[:, 0]) / self.units[:, 1], 0.0))
        if self.numbers is None:
            strength = np.array([0.0, 1.0])
        elif not strength.any():
            strength = np.ones(2)
        strength = strength / strength.sum()
        columns = np.concatenate([strength[0] * of_numbers, strength[1] * of_shares])
        return self._combined(scores), columns

    def _combined(self, scores: np.ndarray) -> float:
        above = (scores - self.units[:, 0]) / self.units[:, 1]
        return float(above[1] if self.numbers is None else above.max())

    def _parts(
        self, points: np.ndarray, n_rows: int, clean: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Both scores, the contributions of the numbers (d,), and the strengths of values (V,)."""
        numbers, codes = points[:, : self._width], points[:, self._width :]
        m, tolerant = len(points), self.tolerance > 0
        values = self.shares.differences(self.shares.count(codes), m, not tolerant)
        if tolerant and not clean:
            left = np.maximum(values - contaminated_rows(n_rows, self.tolerance) / m, 0.0)
            values = left if left.any() else values
            of_shares = float(left.max())
        else:
            of_shares = float(values.max())
        if self.numbers is None:
            return np.array([0.0, of_shares]), np.empty(0), values
        if clean:
            score, columns = self.numbers.null_score(numbers, n_rows), np.zeros(self._width)
        else:
            score, columns = self.numbers.score_and_columns(numbers, n_rows)
        # A mean over m rows: without its size, undrifted scores of all sizes are alike.
        return np.array([score if tolerant else score * np.sqrt(m), of_shares]), columns, values


Scorer = NumberScorer | MixedScorer
