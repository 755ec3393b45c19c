"""two_sample_test: is the difference between two samples real?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth._version import __version__
from isodepth.core.levels import midpoint_levels
from isodepth.core.scaling import pooled_spread
from isodepth.core.sphere import mean_of_direction
from isodepth.data.arrays import column_labels
from isodepth.data.frames import Table
from isodepth.data.missing import MissingPair
from isodepth.depth.resolve import depth_text
from isodepth.engine.forking import refuse_forsaken_child
from isodepth.metric.comparison import Comparison
from isodepth.metric.inputs import arrays_on_host
from isodepth.metric.signature import seed_text
from isodepth.progress import progress_bar
from isodepth.significance.any_depth import depth_statistics
from isodepth.significance.pooled_rows import directions_with_axes, standardized, units_of
from isodepth.significance.relabelings import Relabelings
from isodepth.significance.result import ColumnTest, TwoSampleResult, permutation_pvalue
from isodepth.significance.settings import (
    DEFAULT_DEPTH,
    Settings,
    checked_settings,
    read_samples,
)
from isodepth.significance.split_statistics import (
    Split,
    SplitStatistics,
    envelope_statistics,
    region_statistics,
)


def two_sample_test(
    X: Any,
    Y: Any,
    *,
    weights: None = None,
    n_permutations: int = 999,
    tolerance: float = 0.0,
    blocks: Any = None,
    scale: Any = "pooled",
    nan_policy: str = "raise",
    q: float | None = None,
    p: float = 2,
    eps: float | None = None,
    depth: Any = None,
    n_directions: int | None = None,
    levels: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
    memory_mb: float = 256.0,
    progress: bool = False,
) -> TwoSampleResult:
    """Test whether two samples come from one law.

    The distance of the samples is compared with the distances that the same rows have when they
    are dealt out to two samples at random. If the rows (or blocks of rows) are exchangeable, a
    p-value of at most a comes up with a probability of at most a, exactly, for any number of rows
    and any law: columns are scaled and directions chosen without looking at the labels.

    With ``tolerance=c`` the hypothesis is that the samples come from one law *but for a share c of
    the rows of either*, whatever those rows are. Along every direction, and for the outlyingness of
    a row in the pooled sample, the quantiles of the clean rows are known up to an interval; the
    statistic is the gap between the intervals of the two samples, which no such rows can explain.
    It is compared with the plain gaps of the relabelings.

    Parameters
    ----------
    X, Y : array-likes, data frames or torch tensors of shape (n, d) and (m, d)
        At least two rows each. Columns of frames are matched by name, in the order of X.
        Relabelings are worked out on the host: tensors of another device are moved there, once, and
        the result says so.
    weights : None
        Refused: rows whose weights follow different laws are not exchangeable, even where the
        weighted laws are equal, and no relabeling of them gives an exact p-value. Rows that stand
        for several equal ones are repeated (`numpy.repeat`).
    n_permutations : int
        How many relabelings are drawn. The smallest possible p-value is 1 / (1 + n_permutations).
    tolerance : float in [0, 0.5)
        The share of the rows of each sample that may be foreign.
    blocks : array-like of n + m labels, pair of array-likes of n and m labels, or None
        Rows of one block (a day, a user) depend on each other and change sides together. A block
        lies in one of the samples. As many blocks are dealt out to each sample as it has.
    scale : "pooled", None or array of shape (d,)
        Each column is divided by its robust spread in both samples together, by nothing, or by the
        numbers given. The scale of one sample alone would depend on the labels, and is refused.
    nan_policy : {"raise", "omit"}
        Rows with missing values are an error, or are left out; the result says how many.
    q : float in [1, inf] or None
        Power of the mean over directions; None for 2, and for inf (the largest) with a tolerance.
    p : float in [1, inf]
        Power of the mean over levels.
    eps : float in (0, 1] or None
        Share of the least deep mass of each sample that is ignored, 0.1 by default. Does not apply
        with a tolerance, which compares quantiles of all levels inside (0, 1).
    depth : str, estimator, callable or None
        What orders the rows of each sample, see :class:`isodepth.Metric`; None for "projection",
        which is many times faster than the others: these are fitted anew for every relabeling.
        Does not apply with a tolerance.
    n_directions : int or None
        Directions, the axes among them; None for about 100, in whole orthonormal frames, and two
        frames at least.
    levels : int
        Regions are compared at that many levels; with a tolerance, at the ``levels - 1`` quantiles
        that divide the mass into so many parts.
    random_state : None, int or numpy.random.Generator
        Where directions and relabelings come from. None draws anew at every call: the p-value then
        varies from call to call, by about sqrt(p (1 - p) / n_permutations). An integer repeats it.
    n_jobs : int or None
        Threads; None for all cores. The result does not depend on it.
    memory_mb : float
        How much memory the labels of all relabelings may take. The projections of all rows are
        held beside them.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    result : TwoSampleResult

    Notes
    -----
    With ``tolerance=0`` the statistic is DR_{p,eps} with a mean over directions, that of
    ``Metric(q=q, p=p, eps=eps, levels=levels, refine=0)`` along the same directions. (Samples of no
    more rows than there are columns and one are the exception: Metric calls all their projection
    depths equal, the test takes them as they are along its directions.)

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 3)), rng.normal(size=(150, 3))
    >>> isodepth.two_sample_test(X, Y, random_state=0).pvalue > 0.05
    True
    >>> result = isodepth.two_sample_test(X, Y + [1, 0, 0], random_state=0)
    >>> result.pvalue, result.columns[0].column
    (0.001, 'column 0')
    """
    given = checked_settings(
        weights, n_permutations, tolerance, scale, nan_policy, q, p, eps, depth, n_directions,
        levels, random_state, n_jobs, memory_mb, progress,
    )  # fmt: skip
    X, Y, blocks, place = arrays_on_host(X, Y, blocks)
    x, y, columns, numbers, missing = read_samples(X, Y, nan_policy, blocks)
    result = _test(x, y, columns, numbers, missing, given)
    return result if place is None else replace(result, moved_from=place)


# -- the test -------------------------------------------------------------------------------------


def _test(
    x: np.ndarray,
    y: np.ndarray,
    columns: tuple[str, ...] | None,
    blocks: np.ndarray | None,
    missing: MissingPair | None,
    given: Settings,
) -> TwoSampleResult:
    refuse_forsaken_child()
    d = x.shape[1]
    names = columns or column_labels(d)
    units = units_of(x, y, given.scale)
    points, size = standardized(x, y, units, names)
    rng = np.random.default_rng(given.random_state)
    directions = directions_with_axes(d, given.n_directions, rng)
    found = _statistics(points, len(x), directions, blocks, rng, given)
    # In units of the spread of each column, so that no column sets the bar for all others.
    spread = pooled_spread(points)
    largest = (found.null_axes / spread).max(axis=1)
    adjusted = permutation_pvalue(found.observed_axes / spread, largest)
    order = np.argsort(-found.observed_axes / spread, kind="stable")
    factor = size / (1.0 if given.tolerance else mean_of_direction(d, given.q))

    def compare() -> Comparison:
        return _comparison(x, y, columns, units, directions, given)

    return TwoSampleResult(
        statistic=factor * found.observed,
        pvalue=permutation_pvalue(found.observed, found.null),
        null_distribution=factor * found.null,
        columns=[
            ColumnTest(names[j], float(size * found.observed_axes[j]), float(adjusted[j]))
            for j in order
        ],
        n_rows=(len(x), len(y)),
        tolerance=given.tolerance,
        missing=missing,
        signature=_signature(given, directions, blocks),
        _compare=compare,
        _blocks=blocks,
    )


def _statistics(
    points: np.ndarray,
    n_x: int,
    directions: np.ndarray,
    blocks: np.ndarray | None,
    rng: np.random.Generator,
    given: Settings,
) -> SplitStatistics:
    n_y = len(points) - n_x
    total = len(directions) if given.tolerance else given.n_permutations + 1
    unit = "direction" if given.tolerance else "relabeling"
    with progress_bar(given.progress, total, "two_sample_test", unit) as advance:
        split = Split(
            points, directions, Relabelings(n_x, n_y, blocks), given.n_permutations, rng,
            given.q, given.p, given.resources, advance,
        )  # fmt: skip
        if not given.tolerance and given.depth != DEFAULT_DEPTH:
            return depth_statistics(split, given.depth, given.eps, given.levels)
        if not given.tolerance:
            return region_statistics(split, midpoint_levels(given.levels, given.eps))
        # The product of a decimal share and a number of rows may fall just short of a whole.
        x_foreign, y_foreign = (math.floor(given.tolerance * n * (1 + 1e-12)) for n in (n_x, n_y))
        return envelope_statistics(split, (x_foreign, y_foreign), given.levels - 1)


def _comparison(
    x: np.ndarray,
    y: np.ndarray,
    columns: tuple[str, ...] | None,
    units: np.ndarray | None,
    directions: np.ndarray,
    given: Settings,
) -> Comparison:
    from isodepth.metric.base import BaseMetric

    # With a tolerance the mean over directions explains more than the largest gap.
    metric = BaseMetric(
        depth=given.depth,
        q=2.0 if given.tolerance else given.q,
        p=given.p,
        eps=given.eps,
        levels=given.levels,
        directions=directions,
        refine=0,
        scale=units,
        random_state=given.random_state,
        n_jobs=given.resources.n_jobs,
        memory_mb=given.resources.memory_mb,
    )
    return metric.compare(Table(x, columns), Table(y, columns))


def _signature(given: Settings, directions: np.ndarray, blocks: np.ndarray | None) -> str:
    def text(value: float) -> str:
        return repr(int(value)) if float(value).is_integer() else repr(float(value))

    scale = given.scale if isinstance(given.scale, str) else "given"
    parts = {
        "statistic": "envelope" if given.tolerance else depth_text(given.depth),
        "tolerance": text(given.tolerance),
        "resamples": str(given.n_permutations),
        "blocks": "rows" if blocks is None else str(int(blocks.max()) + 1),
        "scale": "none" if given.scale is None else scale,
        "q": text(given.q),
        "p": text(given.p),
        **({} if given.tolerance else {"eps": text(given.eps)}),
        "levels": str(given.levels),
        "dirs": f"axes+orthogonal:{len(directions)}",
        "seed": seed_text(given.random_state),
        "v": __version__,
    }
    return "|".join(["DR-test", *(f"{key}={value}" for key, value in parts.items())])
