"""Values that are far beyond any extrapolation from the other sample, such as an income of 1e12.

The headline of a test names them. Only single columns are considered, because this takes less time
than the search for all suspicious rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from isodepth.base.export import name_text
from isodepth.base.seeds import rng_for
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious.changed import UNCHANGED, ChangedColumns
from isodepth.rows.suspicious.detection import Detector
from isodepth.rows.suspicious.results import RepeatedValue, value_text
from isodepth.rows.suspicious.scoring import Rows
from isodepth.table.kinds import date_columns

# A value is far if its ratio exceeds this multiple of the threshold. At most 1% of pairs of clean
# halves of 798 tables have a far value.
_FAR = 10.0
# Maximum number of rows of a sample from which tails are estimated.
_MAX_ROWS = 20_000
# Maximum number of values that a sentence names.
_NAMED = 3


class FarValues(NamedTuple):
    """Far values of one column of one sample.

    Attributes
    ----------
    sample : {"X", "Y"}
    column : str
    rows : int64 ndarray of shape (k,)
        Positions of the rows with far values.
    texts : tuple of str
        Distinct far values as strings, the farthest first.
    score : float
        Maximum ratio, divided by its threshold.
    """

    sample: str
    column: str
    rows: np.ndarray
    texts: tuple[str, ...]
    score: float


def find_far_values(
    samples: TwoSamples,
    repeated: Sequence[RepeatedValue] = (),
    changed: ChangedColumns = UNCHANGED,
) -> tuple[FarValues, ...]:
    """Find the columns with far values in each sample, the largest scores first.

    The ratio of a value and its threshold are defined in `suspicious_rows`. A value is far if its
    ratio exceeds ten times the threshold. If the logarithms of the column are scored, the ratio of
    its logarithm must also exceed its threshold. The value must also be unusual relative to the
    ordinary rows of both samples, and outside the range of the other sample.

    Parameters
    ----------
    samples : TwoSamples
    repeated : sequence of RepeatedValue
        Values that are left out, because they are described separately.
    changed : ChangedColumns
    """
    few = [_some_rows(part) for part in samples.points]
    codes = [np.empty((len(part), 0), dtype=np.int64) for part in few]
    numeric = replace(samples, points=(few[0], few[1]), categories={})
    d = len(samples.columns)
    detector = Detector.fit(numeric, codes, [], [], changed, range(d))
    if not detector.scorers:
        return ()
    found, dates = [], date_columns(samples.kinds)
    for side, points in enumerate(samples.points):
        sample = "XY"[side]
        described = [each.value for each in repeated if each.sample == sample]
        scorer = detector.scorers[side]
        used = points if len(detector.kept) == d else points[:, list(detector.kept)]
        rows = np.flatnonzero(scorer.far(used, _FAR).any(axis=1))
        if not len(rows):
            continue
        chosen = Rows(points[rows], np.empty((len(rows), 0), dtype=np.int64))
        scored = detector.scored(side, chosen, np.arange(len(rows))).points
        far = scorer.far(scored, _FAR) & detector.pooled[side].far(scored, 1.0)
        for j in np.flatnonzero(far.any(axis=0)).tolist():
            other = samples.points[1 - side][:, detector.kept[j]]
            outside = (scored[:, j] < np.nanmin(other)) | (scored[:, j] > np.nanmax(other))
            own = far[:, j] & outside & ~np.isin(scored[:, j], described)
            if not own.any():
                continue
            values, name = np.unique(scored[own, j]), detector.describe.names[j]
            ratios = np.abs(scorer.value_ratios(values, j))
            texts = [
                value_text(detector.describe.number(j, values[k]), name in dates)
                for k in np.argsort(-ratios, kind="stable").tolist()
            ]
            found.append(FarValues(sample, name, rows[own], tuple(texts), float(ratios.max())))
    return tuple(sorted(found, key=lambda each: -each.score))


def _some_rows(points: np.ndarray) -> np.ndarray:
    """Return `_MAX_ROWS` random rows of `points` (n, d), or all rows if they are not more."""
    if len(points) <= _MAX_ROWS:
        return points
    return points[rng_for(0, "subsamples").choice(len(points), _MAX_ROWS, replace=False)]


def far_texts(found: Sequence[FarValues], names: Sequence[str]) -> list[str]:
    """Describe the rows with far values of each sample in one line; `names` are those of X and Y.

    Examples
    --------
    >>> income = FarValues("Y", "inc", np.array([3]), ("1000000000000",), 1e7)
    >>> far_texts([income, FarValues("Y", "age", np.array([5, 8]), ("-999",), 23.0)], ("X", "Y"))
    ['3 rows of Y look wrong: inc = 1000000000000, age = -999']
    """
    texts = []
    for sample, name in zip("XY", names, strict=True):
        own = [each for each in found if each.sample == sample]
        if not own:
            continue
        n = len(np.unique(np.concatenate([each.rows for each in own])))
        shown = [f"{name_text(each.column)} = {each.texts[0]}" for each in own[:_NAMED]]
        more = sum(len(each.texts) for each in own) - len(shown)
        rows = f"1 row of {name} looks" if n == 1 else f"{n} rows of {name} look"
        others = f" and {more} more value{'s' * (more > 1)}" if more else ""
        texts.append(f"{rows} wrong: {', '.join(shown)}{others}")
    return texts
