"""Values that many rows of one sample have in common and that are unusual in the other sample.

A sentinel is such a value that is isolated: much more frequent than the values next to it. An
example is -9999.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from isodepth.rows.rows import TwoSamples, category_codes
from isodepth.rows.suspicious.changed import UNCHANGED, ChangedColumns
from isodepth.rows.suspicious.constants import far_values, in_constant_groups
from isodepth.rows.suspicious.results import (
    NEARLY_ABSENT,
    RepeatedValue,
)

# A repeated value is unusual only if at least _MIN_REPEATED rows and at most a fraction
# _MAX_FRACTION of the rows of a sample have it.
_MIN_REPEATED, _MAX_FRACTION = 5, 0.2
# Fraction of the rows of a sample from which on an unusual value is a `RepeatedValue`.
_MIN_FRACTION = 0.01
# A value is isolated if it is at least _ISOLATED times as frequent as the median of the _NEIGHBORS
# next distinct values on each side. Columns with fewer than _MIN_DISTINCT values have no isolated
# values.
_ISOLATED, _NEIGHBORS, _MIN_DISTINCT = 3, 5, 10
# Minimum ratio of the relative frequencies of the neighbors of an isolated value in both samples. A
# smaller ratio may be due to chance if the numbers of neighbors differ by at most _CHANCE standard
# deviations.
_POPULATED, _CHANCE = 0.5, 2.0
# Upper bound on the probability that chance makes an isolated value frequent in one sample and
# nearly absent in the other.
_MAX_CHANCE = 0.01
# The same bound for a value of a sign that no other value has. In samples of equal sizes, the
# probability that all of five rows are in one given sample is at most this bound.
_SIGN_CHANCE = 1 / 32


class Sentinel(NamedTuple):
    """A value of one column that one sample repeats and that the other sample nearly never has.

    Attributes
    ----------
    side : {0, 1}
        0 if rows of X have the value, 1 if rows of Y have it.
    column : int
    value : float
    counts : pair of int
        Numbers of rows with the value in this sample and in the other sample.
    score : float
        Logarithm of the probability that random labels give this sample at least `counts[0]` of the
        rows with the value, divided by `_log_limit`. The latter is the logarithm of the maximum
        probability at which a value is a sentinel, so the score is at least 1.
    """

    side: int
    column: int
    value: float
    counts: tuple[int, int]
    score: float


def find_sentinels(
    points: Sequence[np.ndarray],
    categories: dict[str, list[list[str | None]]] | None = None,
    changed: Sequence[Collection[int]] = ((), ()),
) -> list[Sentinel]:
    """Find isolated values of columns that one sample repeats and the other nearly never has.

    A value is isolated if it is at least three times as frequent as the median of its neighbors,
    the next distinct values of the column. Isolated values are found without the labels of rows. If
    labels are random, the number of rows with the value in one sample has a hypergeometric
    distribution. The bound on the probability of the counts is divided by the number of isolated
    values that enough rows have, see `_log_limit`.

    A value that is the only one in a category may be frequent because the category is. Rows with
    such a category do not count for the sentinel, unless the value is far from all others.

    A value of a sign that no other value has is also a sentinel, see `_of_other_sign`. In the
    columns `changed`, only such values and values far from all others are sentinels: if the values
    of one sample were changed, it lacks the frequent values of the other sample.

    Parameters
    ----------
    points : ndarrays of shapes (n, d) and (m, d)
        Numeric columns of both samples; NaN for missing values.
    categories : dict or None
        Categories of both samples, see `TwoSamples`.
    changed : pair of collections of int
        Indices of the changed columns for rows of X and for rows of Y, see `ChangedColumns`.
    """
    columns = [_isolated(*(part[:, j] for part in points)) for j in range(points[0].shape[1])]
    least = [
        min(_log_all(int(both), size, sum(sizes)) for size in sizes)
        for _, counts, sizes in columns
        for both in counts.sum(axis=1)
    ]
    limit = _log_limit(least)
    found = []
    codes: list[np.ndarray] | None = None
    for j, (values, counts, sizes) in enumerate(columns):
        parts = [part[:, j] for part in points]
        certain = _of_other_sign(*parts)
        sentinels = []
        for value, both in (dict(zip(values.tolist(), counts, strict=True)) | certain).items():
            side = int(both[1] * sizes[0] > both[0] * sizes[1])
            own, other = int(both[side]), int(both[1 - side])
            rate, other_rate = own / sizes[side], other / sizes[1 - side]
            if own < _MIN_REPEATED or other_rate > NEARLY_ABSENT * rate or rate > _MAX_FRACTION:
                continue
            chance = _log_chance(own, own + other, sizes[side], sum(sizes))
            most = max(limit, math.log(_SIGN_CHANCE)) if value in certain else limit
            if chance > most or not (value in certain or _is_isolated(parts[side], value)):
                continue
            if j in changed[side] and value not in certain and not _is_far(parts, value):
                continue
            if codes is None:
                codes, _ = category_codes(categories or {}, [len(part) for part in points])
            explained = in_constant_groups(parts, codes, value)
            rest = own - int(explained[side].sum())
            chance_of_rest = _log_chance(rest, rest + other, sizes[side], sum(sizes))
            if rest >= _MIN_REPEATED and chance_of_rest <= most:
                score = max(chance / limit, 1.0)
                sentinels.append(Sentinel(side, j, value, (own, other), score))
        if sentinels:
            few = _of_few_rows(sentinels, sizes)
            # The values of a changed column are not scored by themselves, see `ChangedColumns`.
            found += few or [
                each
                for each in sentinels
                if each.value in certain or (j in changed[each.side] and _is_far(parts, each.value))
            ]
    return found


def _of_other_sign(x: np.ndarray, y: np.ndarray) -> dict[float, np.ndarray]:
    """Return the values of a column with a sign of their own, with counts (2,) of rows of X and Y.

    There is at most one such value per sign: the only negative or the only positive value of the
    column. At least five rows of one sample have it, and no row of the other sample. An example is
    -999 in a column of incomes that are 0 or more. `x` and `y` are the values of the column in both
    samples. Columns with fewer than ten distinct values have no such values.
    """
    x, y = x[~np.isnan(x)], y[~np.isnan(y)]
    both = np.concatenate([x, y])
    found = {}
    for own, rest in ((both[both < 0], both[both >= 0]), (both[both > 0], both[both <= 0])):
        if len(own) < _MIN_REPEATED or own.min() < own.max():
            continue
        counts = np.array([np.count_nonzero(part == own[0]) for part in (x, y)])
        known = min(len(x), len(y)) > 0
        if known and counts.min() == 0 and len(np.unique(rest)) >= _MIN_DISTINCT - 1:
            found[float(own[0])] = counts
    return found


def _is_far(parts: Sequence[np.ndarray], value: float) -> bool:
    """Return whether a value is far from all others of a column (n,) and (m,), see `far_values`."""
    return bool(far_values(np.concatenate(parts), np.array([value]))[0])


def _log_limit(least: Sequence[float]) -> float:
    """Return the log of the maximum probability at which an isolated value is a sentinel.

    It is corrected for the number of isolated values. `least` has the log probability of the most
    extreme counts of each value. If it exceeds the limit, the value cannot be a sentinel and does
    not count (Tarone 1990).

    Examples
    --------
    >>> _log_limit([-20.0, -3.0, -3.0]) == math.log(_MAX_CHANCE / 2)
    True
    """
    n_values = 1
    while sum(each <= math.log(_MAX_CHANCE / (2 * n_values)) for each in least) > n_values:
        n_values += 1
    return math.log(_MAX_CHANCE / (2 * n_values))


def _log_all(both: int, size: int, total: int) -> float:
    """Return the log probability that all of `both` rows are in one sample, if labels are random.

    `both` rows of the two samples together have a value. The sample has `size` of the `total` rows
    of both samples.
    """
    if both > size:
        return -math.inf
    ways = math.lgamma(size + 1) - math.lgamma(size - both + 1)
    return ways - math.lgamma(total + 1) + math.lgamma(total - both + 1)


def _log_chance(own: int, both: int, size: int, total: int) -> float:
    """Return the log probability that `own` or more of `both` rows are in one sample.

    `both` rows of the two samples together have a value. The sample has `size` of the `total` rows
    of both samples, and the labels are random.
    """
    from scipy.stats import hypergeom  # loading it takes a second, and few tables need it

    return float(hypergeom.logsf(own - 1, total, both, size))


def _of_few_rows(sentinels: list[Sentinel], sizes: tuple[int, int]) -> list[Sentinel]:
    """Return the sentinels of one column, or [] if the whole distribution of the column differs.

    The distribution differs if both samples have sentinels, as after a shift of all values, or if
    more than 20% of the rows of a sample have one.
    """
    rates = [
        sum(s.counts[0] for s in sentinels if s.side == side) / max(1, sizes[side])
        for side in (0, 1)
    ]
    return [] if min(rates) > 0 or max(rates) > _MAX_FRACTION else sentinels


def _isolated(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Return the isolated values (k,) of a column, with counts (k, 2) of rows of X and of Y.

    `x` and `y` are the values of the column in both samples. Also return the numbers of values of
    both samples that are not missing.
    """
    x, y = np.sort(x[~np.isnan(x)]), np.sort(y[~np.isnan(y)])
    sizes = (len(x), len(y))
    values, counts = np.unique(np.concatenate([x, y]), return_counts=True)
    frequent = np.flatnonzero(counts >= _MIN_REPEATED)
    if min(sizes) == 0 or len(values) < _MIN_DISTINCT or not len(frequent):
        return np.empty(0), np.empty((0, 2), dtype=np.int64), sizes
    offsets = np.delete(np.arange(-_NEIGHBORS, _NEIGHBORS + 1), _NEIGHBORS)
    padded = np.pad(counts.astype(np.float64), _NEIGHBORS, constant_values=np.nan)
    neighbors = np.nanmedian(padded[_NEIGHBORS + frequent[:, None] + offsets], axis=1)
    places = frequent[counts[frequent] >= _ISOLATED * neighbors]
    # If one sample hardly has values near an isolated value, the whole distribution differs there.
    first, last = (
        np.maximum(places - _NEIGHBORS, 0),
        np.minimum(places + _NEIGHBORS, len(values) - 1),
    )
    near = [_rows_between(part, values[first], values[last]) for part in (x, y)]
    both = [_rows_between(part, values[places], values[places]) for part in (x, y)]
    others = [n - own for n, own in zip(near, both, strict=True)]
    rates = [n / size for n, size in zip(others, sizes, strict=True)]
    similar = np.minimum(*rates) >= _POPULATED * np.maximum(*rates)
    # Given the number of neighbors, the number in the first sample has this mean and variance if
    # the labels are random.
    share, n_others = sizes[0] / sum(sizes), others[0] + others[1]
    deviation = np.abs(others[0] - n_others * share)
    kept = similar | (deviation <= _CHANCE * np.sqrt(n_others * share * (1 - share)))
    return values[places[kept]], np.column_stack(both)[kept], sizes


def _is_isolated(column: np.ndarray, value: float) -> bool:
    """Return whether a value is isolated among the values `column` (n,) of its own sample.

    See `find_sentinels` for isolated values.

    If all values of one sample are rounded, or multiplied by a constant, ordinary values of this
    sample look isolated among the values of both samples.
    """
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    place = int(np.searchsorted(values, value))
    near = np.delete(counts, place)[max(0, place - _NEIGHBORS) : place + _NEIGHBORS]
    return not len(near) or bool(counts[place] >= _ISOLATED * np.median(near))


def _rows_between(ordered: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the number of sorted values in [low, high], for each pair of bounds."""
    return np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low, "left")


def repeated_values(
    samples: TwoSamples,
    sentinels: Sequence[Sentinel] | None = None,
    changed: ChangedColumns = UNCHANGED,
) -> tuple[RepeatedValue, ...]:
    """Find unusual values, such as -9999, that 1% to 20% of the rows of a sample have in common.

    There are two kinds of unusual values. The first is the minimum or maximum of a column, and at
    least five rows have it. Consider the interval of the central 90% of the other values of the
    column, in both samples together. The distance of the unusual value from this interval is more
    than three times the interval's length. The second kind is an isolated value that the other
    sample nearly never has. A value is also listed for a sample with fewer rows that have it, if
    its share is more than a tenth of the share in the other sample. `sentinels` is the result of
    `find_sentinels` for these samples, which is computed if it is None.
    """
    if sentinels is None:
        indices = changed.indices(samples.columns)
        sentinels = find_sentinels(samples.points, samples.categories, indices)
    unusual = {(each.column, each.value) for each in sentinels}
    for j in range(len(samples.columns)):
        unusual |= {(j, value) for side in (0, 1) for value in _far_ends(samples, side, j)}
    shares: list[dict[float, float]] = [{}, {}]
    for own, points in zip(shares, samples.points, strict=True):
        for j, value in sorted(unusual):
            own[value] = max(
                own.get(value, 0.0), int((points[:, j] == value).sum()) / max(1, len(points))
            )
    repeated = []
    for side, sample in enumerate("XY"):
        points = samples.points[side]
        for value, share in sorted(shares[side].items(), key=lambda item: -item[1]):
            other = shares[1 - side][value]
            # A value that is nearly absent here is unusual in the other sample only.
            frequent = max(share, other) >= _MIN_FRACTION and share > NEARLY_ABSENT * other
            if frequent and share <= _MAX_FRACTION:
                counts = (points == value).sum(axis=0)
                count = round(share * len(points))
                columns = tuple(np.array(samples.columns)[counts == count].tolist())
                repeated.append(RepeatedValue(sample, value, columns, count, share))
    return tuple(repeated)


def _far_ends(samples: TwoSamples, side: int, j: int) -> list[float]:
    """Return the minimum and the maximum of column j of a sample, if repeated and far from others.

    The sample is X for side 0 and Y for side 1. A minimum or maximum is returned if it meets the
    conditions of the first kind in `repeated_values`; its share is not tested.
    """
    column = samples.points[side][:, j]
    if np.isnan(column).all():
        return []
    both = np.concatenate([part[:, j] for part in samples.points])
    ends = np.unique([np.nanmin(column), np.nanmax(column)])
    enough = [(column == value).sum() >= _MIN_REPEATED for value in ends]
    return ends[enough & far_values(both, ends)].tolist()
