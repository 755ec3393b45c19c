"""Choice of the functions of a row that a monitor counts, from a part of the reference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from isodepth.base.messages import Message
from isodepth.errors import DependenceWarning, warn_user
from isodepth.functions.families import Extremes, Rows, SingleValues
from isodepth.geometry.directions import unit_vectors
from isodepth.geometry.scaling import mad_spread
from isodepth.monitor.functions import (
    DIRECTION_STEP,
    Counts,
    Functions,
    Relation,
    Thresholds,
    feature_names,
    features_of,
    project,
    standardized,
    total,
)
from isodepth.monitor.windows import ReferenceHashes
from isodepth.table.table import Table

# Number of projection directions, and maximum numbers of pairs: of two numeric columns, and of a
# numeric column and a frequent category.
_DIRECTIONS, _PAIRS, _CROSSED = 30, 100, 100
# Maximum number of values per category column that are counted separately, and minimum share of a
# frequent category.
_VALUES, _FREQUENT = 50, 0.05
# Fraction and maximum number of the reference rows from which functions are chosen.
_CHOOSING, _MOST_CHOOSING = 0.25, 20_000
#: Minimum number of rows of the reference, of each group, and of a part in the check of dependence.
LEAST_ROWS = 20
# Maximum and minimum number of these parts, and approximate probability of a false warning.
_PARTS, _LEAST_PARTS, _LEVEL = 50, 5, 1e-3
# The warning ignores functions that have the same value for more than 90% of the rows, because
# their counts are not nearly normal.
_RARE = 0.1
# Levels of the quantiles that are the cut points of each feature. They were tuned on the streams of
# experiments/monitoring/delays.py: more cut points detect more kinds of changes, but the p-value is
# multiplied by the number of functions.
_LEVELS = {
    "column": (0.01, 0.03, *(np.arange(1, 16) / 16), 0.97, 0.99),
    "deviation": (0.3, 0.5, 0.7, 0.85, 0.95, 0.99),
    "direction": (0.02, *(np.arange(1, 10) / 10), 0.98),
    "distance": (*(np.arange(1, 10) / 10), 0.95, 0.975, 0.99, 0.997),
}
# Numbers that often replace missing values. They may be new in a batch.
_SENTINELS = (0.0, -1.0, -9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0)
# Standardized values that differ by at most this count as equal, because of rounding.
_ROUNDING = 1e-9


def choose_functions(rows: Table, rng: np.random.Generator) -> Functions:
    """Choose functions from a part of the rows of the reference.

    The rows determine medians, scales, the most frequent values and all thresholds. These rows
    must not be counted later: the thresholds are their quantiles, which fixes the number of
    these rows up to a threshold.
    """
    numbers = rows.numbers
    width = numbers.shape[1]
    center, scale = np.zeros(width), np.ones(width)
    for j, column in enumerate(numbers.T):
        if len(present := column[~np.isnan(column), None]):
            center[j], scale[j] = np.median(present), mad_spread(present)[0]
    directions = np.empty((0, width))
    if width > 1:
        directions = unit_vectors(width, _DIRECTIONS, directions="orthogonal", random_state=rng)
        directions = np.rint(directions / DIRECTION_STEP) * DIRECTION_STEP
    pairs = np.array(np.triu_indices(width, 1), dtype=np.int64).T
    if len(pairs) > _PAIRS:
        pairs = pairs[np.sort(rng.permutation(len(pairs))[:_PAIRS])]
    z = standardized(numbers, center, scale)
    along = project(directions, z)
    middles = np.array([np.median(along, axis=1), mad_spread(along.T)])
    features = features_of(numbers, z, directions, middles)
    thresholds = np.array(_choose_thresholds(rows, features), np.float64).reshape(-1, 4).T
    feature, relation, value, upper = thresholds
    return Functions(
        center, scale, directions, middles, pairs, *_choose_categories(rows, center),
        Thresholds(
            feature.astype(np.int64), relation.astype(np.int64), value, upper.astype(np.int64)
        ),
    )  # fmt: skip


class Threshold(NamedTuple):
    """Function of a row that is 1 if a feature of the row has a `Relation` to a number.

    The number, the threshold, is the attribute `value`.
    """

    feature: int  # index of the feature in the result of `features_of`
    relation: Relation
    value: float
    upper: bool = True  # for EXTREME and BEYOND, whether large values have the relation


def _choose_thresholds(table: Table, features: np.ndarray) -> list[Threshold]:
    """Choose the thresholds of n rows.

    `features` (F, n) is the result of `features_of`. The list is empty without numeric columns.
    Otherwise it has, in this order:

    * quantiles of all features (`Relation.CUT`);
    * frequent values, minimum and maximum of each column, and numbers that often replace missing
      values (`Relation.EQUAL`);
    * values of a column that fewer than 1% of the rows reach (`Relation.EXTREME`);
    * maximum and minimum of each column (`Relation.BEYOND`);
    * maximum of the outlyingness (`Relation.BEYOND`).

    If all distinct values of a column are cut points, the column has no threshold of relation
    EXTREME, and none of relation BEYOND for its maximum.
    """
    numbers, width = table.numbers, table.numbers.shape[1]
    if not width:
        return []
    names = feature_names(width, len(features) - 2 * width - 2)
    both = zip(names, features, strict=True)
    cuts = [cut_points(values, _LEVELS[name], name == "column") for (name, _), values in both]
    ranges = [_range(column) for column in numbers.T]
    # Whether there are values above the last cut point of a column.
    tails = [each is not None and bool(cuts[j][-1] < each[1]) for j, each in enumerate(ranges)]
    codes = np.where(table.codes < 0, np.nan, table.codes)
    rows = Rows(numbers, codes, features[-2])
    chosen = [Threshold(f, Relation.CUT, cut) for f, own in enumerate(cuts) for cut in own.tolist()]
    chosen += _single_values(rows, ranges) + _extremes(rows, tails)
    for j, each in enumerate(ranges):
        if each is not None:
            if tails[j]:
                chosen.append(Threshold(j, Relation.BEYOND, each[1]))
            chosen.append(Threshold(j, Relation.BEYOND, each[0], upper=False))
    last = len(features) - 1
    return [*chosen, Threshold(last, Relation.BEYOND, float(features[last].max()))]


def _range(column: np.ndarray) -> tuple[float, float] | None:
    """Return the minimum and the maximum of a column; None if all values are missing."""
    present = column[~np.isnan(column)]
    return (float(present.min()), float(present.max())) if len(present) else None


def _single_values(rows: Rows, ranges: list[tuple[float, float] | None]) -> list[Threshold]:
    """Return thresholds for single values, in increasing order for each column.

    They are frequent values, the minimum, the maximum, and numbers that often replace missing
    values. `ranges` has the minimum and the maximum of each column; None for an empty column.
    """
    single = {(each.columns[0], each.value) for each in SingleValues.choose(rows).members}
    for j, ends in enumerate(ranges):
        single |= {(j, value) for value in (*_SENTINELS, *(ends or ()))}
    return [Threshold(j, Relation.EQUAL, value) for j, value in sorted(single)]


def _extremes(rows: Rows, tails: list[bool]) -> list[Threshold]:
    """Return thresholds that fewer than 1% of the rows reach.

    `tails` is, for each column, whether there are values above its last cut point. Other columns
    have no such thresholds.
    """
    family = Extremes.choose(rows)
    counts = np.nansum(family.evaluate(rows), axis=1).tolist()
    least = _LEVELS["column"][0] * len(rows.numbers)
    return [
        Threshold(each.columns[0], Relation.EXTREME, each.value, each.upper)
        for each, count in zip(family.members, counts, strict=True)
        if each.columns and count < least and tails[each.columns[0]]
    ]


def cut_points(values: np.ndarray, levels: Sequence[float], exact: bool) -> np.ndarray:
    """Return the cut points of a feature: quantiles of its values at `levels`.

    The maximum is not a cut point. If there are at most len(levels) + 1 distinct values, all of
    them are cut points instead, also the maximum.

    `exact` is False for computed features, which have rounding errors. Their cut points are moved
    up to the midpoints between consecutive distinct values, which rounding errors do not cross. The
    maximum is then never a cut point.
    """
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    if not exact:
        distinct = distinct[np.diff(distinct, append=np.inf) > _ROUNDING]
    cuts = distinct
    if len(distinct) > len(levels) + 1:
        cuts = np.unique(np.quantile(present, levels, method="inverted_cdf"))
        cuts = cuts[cuts < distinct[-1]]
    if exact:
        return cuts
    midpoints, index = (distinct[:-1] + distinct[1:]) / 2, np.unique(distinct.searchsorted(cuts))
    return midpoints[index[index < len(midpoints)]]


def _choose_categories(
    table: Table, center: np.ndarray
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """Return the fields `known`, `crossed` and `medians` of `Functions`.

    They list the counted categories, the frequent ones, and the medians of numeric columns in
    these. Missing numbers are replaced by `center` (d,).
    """
    numbers, codes = table.numbers, table.codes
    known, frequent, width = [], [], len(center)
    for c, column in enumerate(codes.T):
        values, counts = np.unique(column[column >= 0], return_counts=True)
        kept = np.sort(np.argsort(-counts, kind="stable")[:_VALUES])
        known.append(values[kept].astype(np.int64))
        both = zip(counts[kept].tolist(), known[-1].tolist(), strict=True)
        frequent += [(n, c, v) for n, v in both if n >= _FREQUENT * len(codes)]
    most = _CROSSED // max(1, width)
    crossed = np.array(sorted(frequent, reverse=True)[:most], np.int64).reshape(-1, 3)[:, 1:]
    filled = np.where(np.isnan(numbers), center, numbers)
    medians = np.empty((len(crossed), width))
    for at, (c, v) in enumerate(crossed.tolist()):
        medians[at] = np.quantile(filled[codes[:, c] == v], 0.5, axis=0, method="inverted_cdf")
    return tuple(known), crossed, medians


def fit_functions(
    rows: Table, rng: np.random.Generator, title: str
) -> tuple[Functions, Counts, Counts, ReferenceHashes]:
    """Return functions chosen from a part of the rows, and the counts and hashes of the others.

    The first counts are those of the other rows, which are compared with batches. The second are
    those of all rows, which describe changes.

    The rows are those of the reference or of a group. A quarter of the rows is chosen, and at most
    20,000. `title` is the name of the rows in messages. Warn if consecutive rows depend on each
    other: the sum of squared deviations of the counts in consecutive parts, divided by their
    variance, is nearly chi-squared for independent rows.
    """
    order = rng.permutation(len(rows))
    n_chosen = min(max(1, int(_CHOOSING * len(rows))), _MOST_CHOOSING)
    chosen, counted = rows.take(np.sort(order[:n_chosen])), np.sort(order[n_chosen:])
    functions = choose_functions(chosen, rng)
    others, hashes = rows.take(counted), rows.hashes()
    count = max(1, min(_PARTS, len(others) // LEAST_ROWS))
    ends = np.linspace(0, len(others), count + 1).astype(np.int64).tolist()
    parts = [functions.count(others.take(np.arange(*each))) for each in pairwise(ends)]
    _warn_of_dependence(functions, parts, rows.schema.names, title)
    counts = total(parts).with_quartiles(others.numbers)
    of_all = (counts + functions.count(chosen)).with_quartiles(rows.numbers)
    return functions, counts, of_all, ReferenceHashes.of_rows(hashes[counted], rng, hashes)


def _warn_of_dependence(
    functions: Functions, parts: list[Counts], names: Sequence[str], title: str
) -> None:
    from scipy.special import chdtrc

    counts, count = total(parts), len(parts)
    share = counts.ones / counts.n_rows
    named = np.array([bool(member.columns) for member in functions.members])
    usable = np.flatnonzero(named & (share > _RARE) & (share < 1 - _RARE))
    if count < _LEAST_PARTS or not len(usable):
        return
    expected = np.array([[part.n_rows] for part in parts], dtype=np.float64) * share[usable]
    squares = (np.array([part.ones[usable] for part in parts]) - expected) ** 2
    factors = (squares / (expected * (1 - share[usable]))).sum(axis=0) / (count - 1)
    strongest = int(factors.argmax())
    if len(usable) * chdtrc(count - 1, (count - 1) * factors[strongest]) <= _LEVEL:
        columns = " and ".join(names[c] for c in functions.members[usable[strongest]].columns)
        template = (
            "consecutive rows of {title} are more alike than shuffled rows: counts in {count} "
            "consecutive parts have {factor:.1f} times the variance of independent rows (strongest "
            "in {columns}). False alarms may be more frequent than stated. Pass {--blocks=...}, "
            "such as the day or user of each row, and check whole blocks as batches. Ignore this "
            "if the order of the reference has no meaning for the batches"
        )
        values = {"title": title, "count": count, "factor": factors[strongest], "columns": columns}
        warn_user(Message(template, **values), DependenceWarning)
