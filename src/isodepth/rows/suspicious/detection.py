"""Search for the rows of each sample that do not look like any row of the other.

A scorer measures how unusual a row is relative to a reference, which is usually the other sample
(`RowScorer`). A sentinel is a value such as -9999 that many rows of one sample have in common, and
that the other sample nearly never has.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.export import name_text
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious.changed import UNCHANGED, ChangedColumns
from isodepth.rows.suspicious.constants import rare_constants, without_constants
from isodepth.rows.suspicious.contradictions import find_contradictions
from isodepth.rows.suspicious.repeated import (
    Sentinel,
)
from isodepth.rows.suspicious.results import (
    SuspiciousRow,
    usual_text,
    value_text,
)
from isodepth.rows.suspicious.scoring import Rows, RowScorer, Unusual
from isodepth.rows.suspicious.tails import quantiles
from isodepth.table.kinds import date_columns, subtracted_integers
from isodepth.table.values import visible

# Rows with scores above _CLEARLY are removed from a sample before the other sample is compared with
# it. If they are more than a fraction _MAX_REMOVED of the rows, none are removed, because the whole
# distribution differs.
_CLEARLY, _MAX_REMOVED = 1.5, 0.2
# A listed row must also be unusual relative to the ordinary rows of both samples together. Rows
# with scores up to this value are ordinary. The value is below 1, because some rows of a group of
# wrong rows may have scores slightly below 1.
_ORDINARY = 0.6
#: Number of rows below which a sample is too small to estimate how far its values reach.
SMALL_SAMPLE = 50
# Order in which the reasons of a row are preferred; other reasons are last.
_PREFERENCE = {"value": 0, "repeated value": 1}


def distinct_rows(rows: Sequence[SuspiciousRow]) -> tuple[SuspiciousRow, ...]:
    """Return each row once, with the preferred reason; the largest scores first.

    The reason "value" is preferred, then "repeated value". Of other reasons, that with the largest
    score is preferred.
    """
    first: dict[tuple[str, int], SuspiciousRow] = {}
    for row in sorted(rows, key=lambda row: (_PREFERENCE.get(row.reason, 2), -row.score)):
        first.setdefault((row.sample, row.row), row)
    return tuple(sorted(first.values(), key=lambda row: -row.score))


@dataclass(frozen=True)
class Detector:
    """Scorers of the rows of X and of Y, fitted to rows of both samples.

    Attributes
    ----------
    columns, categories : tuples of str
        Names of all numeric columns, and of the categories.
    kept : tuple of int
        Indices of the numeric columns that are used.
    skipped : tuple of str
        Columns in which the whole distribution differs.
    unrelated : tuple of str
        Used columns without residuals and deviations, because their relation to other columns or to
        categories differs. Their values are scored.
    scorers : list of RowScorer
        The first scores rows of X relative to Y, the second rows of Y relative to X. Empty if all
        columns are skipped.
    ordinary : Rows
        Rows of both samples with small scores, see `suspicious_rows`.
    observed : list of pairs of ndarrays of shape (d,)
        Minima and maxima of the used columns in rows of Y, and in rows of X, that are not unusual.
    unscored : list of pairs of ndarrays of shape (2, d)
        Ranges of the values of the used columns that are not scored in rows of X, and in rows of Y.
        They are the usual values of the same sample, see `RowScorer.usual_values`, in the columns
        `ChangedColumns.unscored`. The ranges of other columns are empty.
    constants : list of ndarrays
        Values that are not scored, because they are the only ones in a rare category; see
        `rare_constants`.
    describe : _Descriptions
        Names of the used columns and of the categories, with which rows are described.
    """

    columns: tuple[str, ...]
    categories: tuple[str, ...]
    kept: tuple[int, ...]
    skipped: tuple[str, ...]
    unrelated: tuple[str, ...]
    scorers: list[RowScorer]
    ordinary: Rows
    observed: list[tuple[np.ndarray, np.ndarray]]
    unscored: list[tuple[np.ndarray, np.ndarray]]
    constants: list[np.ndarray]
    describe: _Descriptions

    @classmethod
    def fit(
        cls,
        samples: TwoSamples,
        codes: Sequence[np.ndarray],
        labels: list[list[str]],
        sentinels: Sequence[Sentinel],
        changed: ChangedColumns = UNCHANGED,
        unrelated: Collection[int] = (),
    ) -> Detector:
        """Fit the scorers to rows of both samples.

        `codes` are the codes of k categories in X (n, k) and in Y (m, k), and `labels` has the list
        of the values of each category, in the order of the codes. `sentinels` are the sentinels of
        both samples. Relations to other columns and to categories are scored neither for the
        columns `unrelated` nor, in rows of a sample, for the columns `ChangedColumns.unscored`.
        """
        rows = [Rows(*each) for each in zip(samples.points, codes, strict=True)]
        names, kept = list(samples.columns), list(range(len(samples.columns)))
        skipped: list[str] = []
        scored = [[name not in changed.unscored(side) for name in names] for side in (0, 1)]
        related = np.array(scored, dtype=bool)  # of rows of X and of rows of Y
        related[:, list(unrelated)] = False
        searched = related[1].copy()
        cleaned = _without_sentinels(rows, sentinels)
        scorers: list[RowScorer] = []
        ordinary, usual = cleaned, cleaned
        while names:
            scorers = _scorers(cleaned, [np.flatnonzero(own).tolist() for own in related])
            alone, flagged = np.maximum(
                *(s.flagged(part) for s, part in zip(scorers, rows, strict=True))
            )
            if flagged.max() <= _MAX_REMOVED:
                # The ordinary rows are taken from the rows without repeated values.
                scores = [scorer.score(part) for scorer, part in zip(scorers, rows, strict=True)]
                ordinary, usual = (
                    [
                        part.take(score <= max(limit, float(np.median(score))))
                        for part, score in zip(cleaned, scores, strict=True)
                    ]
                    for limit in (_ORDINARY, 1.0)
                )
                break
            worst = int(alone.argmax())
            if alone[worst] <= _MAX_REMOVED:
                # The values are usual, but not given the other columns or within categories.
                related[:, int(flagged.argmax())] = False
                continue
            skipped.append(names.pop(worst))
            kept.pop(worst)
            related = np.delete(related, worst, axis=1)
            scorers = []
            rows = [part.without_column(worst) for part in rows]
            cleaned = [part.without_column(worst) for part in cleaned]
        both = Rows(*(np.concatenate(arrays) for arrays in zip(*ordinary, strict=True)))
        dates = date_columns(samples.kinds)
        days = {name for name in dates if all((p % 1 == 0).all() for p in samples.numbers(name))}
        describe = _Descriptions(
            names, list(samples.categories), labels, dates, days, subtracted_integers(samples.kinds)
        )
        without_relations = tuple(
            name
            for name, j, own in zip(names, kept, related[1], strict=True)
            if searched[j] and not own
        )
        observed = [_ends(part.points) for part in reversed(usual)]
        constants = rare_constants(samples.points, codes)
        unscored = [
            _usual_values(part, [name in changed.unscored(side) for name in names])
            for side, part in enumerate(cleaned)
        ]
        return cls(
            samples.columns, tuple(samples.categories), tuple(kept), tuple(skipped),
            without_relations, scorers, both, observed, unscored,
            constants, describe,
        )  # fmt: skip

    @cached_property
    def pooled(self) -> tuple[RowScorer, RowScorer]:
        """Scorers of rows of X and of rows of Y, relative to the ordinary rows of both samples."""
        first, second = (each.related.tolist() for each in self.scorers)
        scorer = RowScorer(self.ordinary, first)
        return scorer, scorer if first == second else RowScorer(self.ordinary, second)

    def unusual_rows(self, side: int, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of X (side 0) or Y (side 1) with scores above 1 for both references.

        The two references are the other sample, and the ordinary rows of both samples; see
        `suspicious_rows`. `rows` have all numeric columns.

        Returns
        -------
        indices : int64 ndarray of shape (k,)
            Indices in `rows`, in increasing order.
        scores : ndarray of shape (k,)
            Scores relative to the other sample.
        """
        if not self.scorers:
            return np.empty(0, dtype=np.int64), np.empty(0)
        if len(self.kept) < rows.points.shape[1]:
            kept = Rows(rows.points[:, list(self.kept)], rows.codes)
        else:
            kept = rows
        indices = self.scorers[side].candidates(kept)
        chosen = self.scored(side, rows, indices)
        scores = self.scorers[side].score(chosen)
        unusual = np.flatnonzero(scores > 1)
        if len(unusual):
            unusual = unusual[self.pooled[side].score(chosen.take(unusual)) > 1]
        return indices[unusual], scores[unusual]

    def scored(self, side: int, rows: Rows, indices: np.ndarray) -> Rows:
        """Return rows of X (side 0) or Y (side 1), given by their indices, as they are scored.

        The rows have the used columns. Constants and the values `unscored` are missing.
        """
        chosen = rows.take(indices)
        points = without_constants(chosen.points, chosen.codes, self.constants)
        points = points[:, list(self.kept)]
        zero, nonzero = self.unscored[side]
        low, high = (np.where(points == 0, zero[end], nonzero[end]) for end in (0, 1))
        points[(points >= low) & (points <= high)] = np.nan
        return Rows(points, chosen.codes)

    def explained_rows(
        self, side: int, rows: Rows, indices: np.ndarray, scores: np.ndarray
    ) -> list[SuspiciousRow]:
        """Describe unusual rows, given by their indices (k,) in `rows` and their scores (k,).

        `side` is 0 for rows of X and 1 for rows of Y.
        """
        if not len(indices):
            return []
        chosen = self.scored(side, rows, indices)
        found = []
        for i, unusual in enumerate(self.scorers[side].explain(chosen, self.observed[side])):
            fields = self.describe.row(chosen.points[i], chosen.codes[i], unusual)
            sample, row, score = "XY"[side], int(indices[i]), float(scores[i])
            found.append(SuspiciousRow(sample=sample, row=row, score=score, **fields))
        return found


def _without_sentinels(rows: Sequence[Rows], sentinels: Sequence[Sentinel]) -> list[Rows]:
    """Return copies of the rows of X and of Y in which sentinels are replaced by missing values.

    A sentinel is replaced only in the sample and in the column to which it belongs.
    """
    # In C order: the rounding errors of sums over rows depend on the order in memory.
    points = [part.points.astype(np.float64, order="C", copy=True) for part in rows]
    for each in sentinels:
        column = points[each.side][:, each.column]
        column[column == each.value] = np.nan
    return [Rows(part, each.codes) for part, each in zip(points, rows, strict=True)]


def _usual_values(rows: Rows, selected: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranges (2, d) of usual values of a sample, see `RowScorer.usual_values`.

    The values below the 1% quantile and above the 99% quantile of a column are left out, because a
    wrong value would extend the range. The ranges of columns that are not `selected` are empty.
    """
    empty = np.array([np.inf, -np.inf])[:, None]
    if not any(selected):
        size = len(selected)
        return np.repeat(empty, size, axis=1), np.repeat(empty, size, axis=1)
    low, high = quantiles(rows.points, (0.01, 0.99))
    inner = np.where((rows.points < low) | (rows.points > high), np.nan, rows.points)
    zero, nonzero = RowScorer(Rows(inner, rows.codes), ()).usual_values()
    return np.where(selected, zero, empty), np.where(selected, nonzero, empty)


def _ends(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the minima and maxima (d,) of columns, ignoring missing values."""
    return (
        np.fmin.reduce(points, axis=0, initial=np.inf) + 0.0,  # not -0.0
        np.fmax.reduce(points, axis=0, initial=-np.inf),
    )


def _scorers(rows: Sequence[Rows], related: Sequence[Sequence[int]]) -> list[RowScorer]:
    """Return scorers of rows of X and of rows of Y, fitted to the other sample.

    `related` has the indices of related columns for each of them.

    Rows of a sample that are far from the other sample are removed, unless they are more than 20%
    of the rows. If wrong rows remained in a reference, similar wrong rows of the other sample would
    look usual. Wrong rows would also move the quantiles that define usual values.
    """
    scorers = [RowScorer(rows[1 - side], related[side]) for side in (0, 1)]
    far = [each.score(part) > _CLEARLY for each, part in zip(scorers, rows, strict=True)]
    for side, outliers in enumerate(far):
        if outliers.any() and outliers.mean() <= _MAX_REMOVED:
            scorers[1 - side] = RowScorer(rows[side].take(~outliers), related[1 - side])
    return scorers


class _Descriptions(NamedTuple):
    """Names with which rows are described.

    Attributes
    ----------
    names, categories : list of str
        Names of the used columns and of the categories.
    labels : list of lists of str
        Values of each category.
    dates, days : sets of str
        Names of columns of dates, and of those without a time of day.
    subtracted : dict
        Integers that were subtracted from columns, by name.
    """

    names: list[str]
    categories: list[str]
    labels: list[list[str]]
    dates: set[str]
    days: set[str]
    subtracted: dict[str, int]

    def row(self, point: np.ndarray, codes: np.ndarray, unusual: Unusual) -> dict[str, Any]:
        """Return the fields of a suspicious row, except for `sample`, `row` and `score`."""
        j, usual, reason, others, values, only_given = unusual
        conditions = [self._value(point, codes, i) for i in others]
        given = " and ".join(conditions)
        if not only_given:
            given = f"{', '.join(conditions)} and other columns" if given else "the other columns"
        if self.names[j] in self.days:
            usual = float(round(usual[0])), float(round(usual[1]))
        low, high = (self.number(j, end) for end in usual)
        if values is not None:
            values = tuple(self.number(j, each) for each in values)
        ends, is_date = (low, high) if values is None else None, self.names[j] in self.dates
        shown = usual_text(ends, values, is_date)
        text = self._value(point, codes, j, high - low)
        if not only_given:
            text += f", expected {shown} from {given}"
        else:
            where = " for " if reason == "value within a category" else " at "
            text += f"{where if given else ''}{given}, usually {shown}"
        return {
            "column": self.names[j],
            "value": self.number(j, float(point[j])),
            "usual_range": ends,
            "usual_values": values,
            "reason": reason,
            "given": given,
            "text": text,
            "is_date": is_date,
        }

    def number(self, j: int, value: float) -> float:
        """Return a number of column j as the user passed it."""
        base = self.subtracted.get(self.names[j])
        return value if base is None or not np.isfinite(value) else base + round(value)

    def _value(self, point: np.ndarray, codes: np.ndarray, index: int, step: float = 0.0) -> str:
        """Return "name = value" for a column or category of a row.

        The row has the numbers `point` and the categories `codes`. The indices of categories follow
        those of the columns. Differences of `step` are visible.
        """
        c = index - len(point)
        if c < 0:
            name = self.names[index]
            value = self.number(index, float(point[index]))
            return f"{name_text(name)} = {value_text(value, name in self.dates, step)}"
        return f"{name_text(self.categories[c])} = {visible(self.labels[c][codes[c]])}"


def contradictory_rows(
    samples: TwoSamples,
    codes: Sequence[np.ndarray],
    labels: Sequence[Sequence[str]],
    side: int,
    changed: ChangedColumns = UNCHANGED,
) -> list[SuspiciousRow]:
    """Return rows of X (side 0) or Y (side 1) with pairs of categories that the other excludes.

    `codes` are the codes of k categories in X (n, k) and in Y (m, k), and `labels` has the list of
    the values of each category, in the order of the codes. See `find_contradictions` for the rule.
    Pairs with a column `ChangedColumns.unscored` are left out.
    """
    found, names = [], list(samples.categories)
    for i, c, given, usual, score in find_contradictions(codes[side], codes[1 - side]):
        if {names[c], names[given]} & changed.unscored(side):
            continue
        value, known = labels[c][codes[side][i, c]], labels[given][codes[side][i, given]]
        expected = labels[c][usual]
        condition = f"{name_text(names[given])} = {visible(known)}"
        usually = f"always {visible(expected)} for {condition}"
        text = f"{name_text(names[c])} = {visible(value)}, but {usually}"
        reason = "category given another category"
        fields = (value, None, (expected,), reason, condition, text)
        found.append(SuspiciousRow("XY"[side], i, score, names[c], *fields))
    return found
