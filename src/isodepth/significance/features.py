"""Features whose distributions are compared.

A feature is a function of a row: a column, a pair of columns, a direction, a function of all
columns, or a function with values 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from isodepth.functions.changes import Change
from isodepth.functions.families import (
    FAMILIES,
    LEAST_ROWS,
    Extremes,
    Family,
    Member,
    filled,
)
from isodepth.significance.permutations import precision
from isodepth.significance.samples import PooledSample
from isodepth.table.arrays import repeated_rows, row_hashes

#: Maximum number of values in memory when functions are evaluated at all rows: 400 MB in float32.
MAX_NUMBERS = 100_000_000


class Feature(NamedTuple):
    """Function of a row whose distributions in the two samples are compared.

    Examples are the value of a column, the product of two columns, the projection on a direction,
    and the indicator of a missing value.
    """

    kind: str  # kind of change, such as "distribution" of a column, "dependence", or "missing"
    name: str = ""  # name of a column, pair, direction or function; "" if there is a `member`
    columns: tuple[str, ...] = ()  # one column, or two for a dependence; empty for all columns
    # Category of the last column: its share changes, or the mean of the first column within it
    value: str | None = None
    member: Member | None = None  # the function, if its values are 0 and 1
    shares: tuple[float, float] = (0.0, 0.0)  # means of `member` in X and in Y
    direction: tuple[float, ...] = ()  # direction of a projection of standardized columns

    @property
    def label(self) -> str:
        """Name of the column, pair of columns, direction or function of all columns."""
        # The name of a column may be the empty string.
        if self.name or self.member is None:
            return self.name
        return self.share_change(1.0)._label.rstrip(":")

    def share_change(self, pvalue: float) -> Change:
        """Return the change of the share of rows for which the function `member` is 1."""
        assert self.member is not None
        return self.member.change(self.columns, self.value, *self.shares, pvalue)

    @property
    def subject(self) -> tuple[Any, ...]:
        """Key that is equal for two features of the same subject.

        A subject is the values of one column, the missing values of one column, a pair of columns,
        or a column within one category.
        """
        pair = len(self.columns) > 1
        return (*self.columns, self.kind == "missing", self.value if pair else None)


def standardized_difference(before: float, after: float) -> float:
    """Return the absolute difference of two shares, divided by sqrt(p (1 - p)) for their mean p.

    Categories in decreasing order of this number are about in increasing order of their p-values,
    but the number does not depend on permutations. It is rounded, so that two categories whose
    shares sum to 1 have equal results.

    Examples
    --------
    >>> standardized_difference(0.0, 0.06) > standardized_difference(0.52, 0.46)
    True
    >>> standardized_difference(0.7, 0.8) == standardized_difference(0.3, 0.2)
    True
    """
    mean = 0.5 * (before + after)
    deviation = math.sqrt(max(mean * (1.0 - mean), 0.0))
    return round(abs(after - before) / deviation, 9) if deviation else 0.0


def direction_feature(kind: str, direction: np.ndarray, names: tuple[str, ...]) -> Feature:
    """Return the feature whose values are the projections of rows on a direction (d,).

    `kind` is the kind of the change, and `names` are the names of the d columns.
    """
    return Feature(kind, direction_text(direction, names), direction=tuple(direction.tolist()))


def direction_text(direction: np.ndarray, names: tuple[str, ...]) -> str:
    """Describe a direction by its largest entries, at most three.

    Entries of absolute value below 0.1 are left out. "..." is added if the sum of squares of the
    named entries is below 0.99.

    Examples
    --------
    >>> direction_text(np.array([0.8, -0.6, 0.05]), ("temp", "dewp", "wind"))
    '0.8 temp - 0.6 dewp'
    >>> direction_text(np.array([-0.5, 0.5, 0.5, 0.5]), ("a", "b", "c", "d"))
    '- 0.5 a + 0.5 b + 0.5 c ...'
    """
    order = np.argsort(-np.abs(direction), kind="stable")[:3]
    kept = [j for j in order if abs(direction[j]) >= 0.1]
    terms = "".join(
        f" {'-' if direction[j] < 0 else '+'} {abs(direction[j]):.2g} {names[j]}" for j in kept
    )
    more = " ..." if np.square(direction[kept]).sum() < 0.99 else ""
    return terms.removeprefix(" + ").lstrip() + more


def in_blocks(items: Any, rows: PooledSample, numbers: int) -> Iterator[Any]:
    """Yield consecutive slices of `items` that are small enough to be processed in memory at once.

    Each slice needs at most `MAX_NUMBERS` values. An item needs `numbers` arrays of length
    max(number of rows, number of labelings of `rows`). A slice has at least one item, even if this
    item needs more memory.
    """
    step = max(1, MAX_NUMBERS // (numbers * max(len(rows.points), rows.permutations.count)))
    for first in range(0, len(items), step):
        yield items[first : first + step]


class Shares(NamedTuple):
    """Functions of a row with values 0 and 1 that are compared by one statistic, and their means.

    F is the number of functions. The mean of a function is the share of rows for which it is 1.
    """

    name: str  # name of the statistic
    features: list[Feature]
    means: np.ndarray  # (F,), means over all rows that have information about a function
    known: np.ndarray  # (F,), fractions of the rows that have information about a function
    contrasts: np.ndarray  # (F, B + 1), see `Permutations.contrasts`


def all_shares(rows: PooledSample, *, fixed: bool) -> Iterator[Shares]:
    """Yield the functions of a row with values 0 and 1, grouped by family.

    Functions that have the value 1, or the value 0, in fewer than four rows are left out.
    Indicators of extremes are an exception: they have the value 1 in at least four rows, but may
    have the value 0 in fewer. If `fixed`, repeated rows, which are no function of a single row, are
    left out too.
    """
    for each in FAMILIES:
        family = each.choose(rows.rows)
        shares = (_extreme_shares if issubclass(each, Extremes) else _shares)(rows, family)
        if shares.features:
            yield shares
    if not fixed:
        yield from _repeated_shares(rows)


def _repeated_shares(rows: PooledSample) -> Iterator[Shares]:
    """Yield the statistic of rows that occur more than once in their own sample.

    Let D be the share of such rows in Y minus their share in X. A large sample has more of them by
    chance than a small one, so that D is also centered at its mean over all labelings. The
    statistic is D or the centered D, whichever is nearer to 0, and 0 if their signs differ: X and a
    copy of X with new rows have D = 0, although their common rows make a larger D likely.

    Nothing is yielded if fewer than four pooled rows equal another row. Rows are left out if they
    may be equal only because of missing values, see `repeated_rows`.
    """
    table = rows.samples.table
    repeated = repeated_rows(table)
    equal, unclear = np.flatnonzero(repeated == 1), np.flatnonzero(np.isnan(repeated))
    if len(equal) < LEAST_ROWS:
        return
    _, group, counts = np.unique(row_hashes(table[equal]), return_inverse=True, return_counts=True)
    permutations = rows.permutations
    counts = permutations.repeated_counts(equal[np.argsort(group, kind="stable")], counts)
    sizes = permutations.sizes
    if len(unclear):
        of_x = permutations.subset_counts(unclear, np.array([len(unclear)]))[0]
        sizes = np.maximum(1.0, sizes - np.stack([of_x, len(unclear) - of_x]))
    x, y = counts / sizes
    difference = y - x
    centered = difference - difference.mean()
    smaller = np.minimum(np.abs(difference), np.abs(centered))
    contrasts = np.where(difference * centered > 0, np.copysign(smaller, difference), 0.0)
    member = Member("repeated")
    feature = _member_feature(rows, member, (float(x[0]), float(y[0])))
    mean = np.array([len(equal) / len(table)])
    yield Shares("repeated rows", [feature], mean, np.ones(1), contrasts[None])


def _shares(rows: PooledSample, family: Family) -> Shares:
    """Evaluate the functions of a family at all rows.

    Functions that have the value 1, or the value 0, in fewer than four rows are left out.
    """
    values = family.evaluate(rows.rows)
    ones, known = np.nansum(values, axis=1), (~np.isnan(values)).sum(axis=1)
    kept = np.flatnonzero((ones >= LEAST_ROWS) & (known - ones >= LEAST_ROWS))
    contrasts = [np.empty((0, rows.permutations.count))]
    for part in in_blocks(kept, rows, 1):
        own = filled(values[part]).astype(precision(len(rows.points)), copy=False)
        contrasts.append(rows.permutations.contrasts(own))
    features = []
    for member, own in zip([family.members[f] for f in kept], values[kept], strict=True):
        # The share of a category is relative to all rows, because missing values are a category.
        own = np.nan_to_num(own) if member.event == "shares" else own
        features.append(_member_feature(rows, member, _means(own, rows.n_x)))
    means, known = ones[kept] / known[kept], known[kept] / values.shape[1]
    return Shares(family.name, features, means, known, np.concatenate(contrasts))


def _member_feature(rows: PooledSample, member: Member, shares: tuple[float, float]) -> Feature:
    """Return the feature of a function with values 0 and 1, and with these means in X and Y."""
    samples, value = rows.samples, None
    if member.event == "shares":
        category = samples.categories[member.columns[0] - len(samples.names)]
        value = category.all_values[int(member.value)]
    columns = tuple(samples.all_names[j] for j in member.columns)
    return Feature(member.event, columns=columns, value=value, member=member, shares=shares)


def _means(values: np.ndarray, n_x: int) -> tuple[float, float]:
    """Return the means of values (n,) in X and in Y, ignoring NaN; 0 if all are NaN."""
    parts = (part[~np.isnan(part)] for part in (values[:n_x], values[n_x:]))
    x, y = (float(part.mean()) if len(part) else 0.0 for part in parts)
    return x, y


def _extreme_shares(rows: PooledSample, family: Family) -> Shares:
    """Evaluate the functions of a family of extremes, faster than `_shares`; none is left out.

    The extremes on one side of a column are nested, because they differ only in their cut points.
    Therefore only the rows at or beyond the innermost cut point, the one nearest to the median, are
    used.
    """
    permutations, d = rows.permutations, len(rows.samples.names)
    means, fractions = [np.empty(0)], [np.empty(0)]
    contrasts = [np.empty((0, permutations.count))]
    features: list[Feature] = []
    outer_first = sorted(
        family.members, key=lambda m: (m.columns or (d,), m.upper, -m.value if m.upper else m.value)
    )
    for (_, upper), group in groupby(outer_first, attrgetter("columns", "upper")):
        own = list(group)
        values, cuts = own[0].argument(rows.rows), np.array([member.value for member in own])
        if not upper:
            values, cuts = -values, -cuts
        beyond = np.flatnonzero(values >= cuts[-1])
        beyond = beyond[np.argsort(-values[beyond], kind="stable")]
        ends = np.searchsorted(-values[beyond], -cuts, side="right")
        sums = permutations.subset_counts(beyond, ends)
        absent = np.flatnonzero(np.isnan(values))
        mean = ends / (len(values) - len(absent))
        known = [max(1, np.count_nonzero(~np.isnan(part))) for part in np.split(values, [rows.n_x])]
        x = sums[:, 0]
        shares = np.stack([x / known[0], (ends - x) / known[1]], axis=1).tolist()
        for member, (before, after) in zip(own, shares, strict=True):
            features.append(_member_feature(rows, member, (before, after)))
        if len(absent):
            sums += mean[:, None] * permutations.subset_counts(absent, np.array([len(absent)]))
        means.append(mean)
        fractions.append(np.full(len(own), 1 - len(absent) / len(values)))
        contrasts.append(permutations.scaled_contrasts(sums, mean))
    return Shares(
        family.name, features, np.concatenate(means), np.concatenate(fractions),
        np.concatenate(contrasts),
    )  # fmt: skip
