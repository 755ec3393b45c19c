"""The function `two_sample_test`, an exact permutation test that also reports the changes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from isodepth._version import __version__
from isodepth.core.directions import mean_of_direction, rng_for
from isodepth.core.scaling import column_units
from isodepth.data.frames import Table
from isodepth.data.kinds import column_lines
from isodepth.data.validation import (
    check_boolean,
    check_choice,
    check_integer,
    check_number,
    check_option_names,
    is_tensor,
)
from isodepth.depth.resolve import depth_text
from isodepth.engine import available_cores
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.base import BaseMetric
from isodepth.metric.signature import seed_text
from isodepth.progress import progress_bar
from isodepth.significance.aggregated import aggregated_statistics
from isodepth.significance.features import Findings, significant_changes
from isodepth.significance.permutations import combined, ks_distance, map_rows, permutation_pvalue
from isodepth.significance.result import ALPHA, ColumnTest, Component, TwoSampleResult
from isodepth.significance.samples import (
    PooledSample,
    Samples,
    directions_with_axes,
    read_samples,
    standardized,
)
from isodepth.significance.tolerance import allowed_share, tolerant_statistics, whole_row_tolerance
from isodepth.tensors.host import arrays_on_host

METHODS = ("aggregated", "regions")
# Options of method="regions", and their defaults.
_OF_REGIONS = {"q": 2.0, "p": 2.0, "eps": 0.1, "depth": "projection", "levels": 20}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Checked options of `two_sample_test`.

    Attributes
    ----------
    metric : BaseMetric
        Metric of the statistic "regions", the distance between trimmed regions. It also holds
        options that other statistics use, such as the scale and the seed.
    """

    method: str
    n_permutations: int
    tolerance: float | None
    n_directions: int | None
    progress: bool
    metric: BaseMetric

    def __post_init__(self) -> None:
        check_choice(self.method, "method", METHODS)
        check_integer(self.n_permutations, "n_permutations", 1)
        check_boolean(self.progress, "progress")
        if self.n_directions is not None:
            check_integer(self.n_directions, "n_directions", 1)
        if self.tolerance is not None and self.method != "aggregated":
            raise InvalidOptionError(
                f"tolerance applies to method='aggregated' only, got method={self.method!r}; "
                "remove one of them",
                option="tolerance",
            )


def _metric(method: str, scale: Any, of_regions: dict[str, Any], **options: Any) -> BaseMetric:
    """Create the metric of the distance between trimmed regions.

    `of_regions` are the options of ``method="regions"``; None selects the default. The metric also
    holds the scale, the seed and other options of the test.
    """
    for name, value in of_regions.items():
        if value is not None and method == "aggregated":
            raise InvalidOptionError(
                f"{name} belongs to method='regions', got {name}={value!r} with "
                f"method={method!r}; remove it, or use method='regions'",
                option=name,
            )
        options[name] = _OF_REGIONS[name] if value is None else value
    if isinstance(scale, str) and scale != "pooled":
        raise InvalidOptionError(
            f"scale must be 'pooled', None or an array from other data, got {scale!r}: a scale "
            "that depends on which rows are X is not allowed in a permutation test",
            option="scale",
        )
    check_number(options["p"], "p", 1)
    check_integer(options["levels"], "levels", 1)
    return BaseMetric(refine=0, scale=scale, **options)


@check_option_names
def two_sample_test(
    X: Any,
    Y: Any,
    *,
    method: str = "aggregated",
    n_permutations: int = 999,
    tolerance: float | None = None,
    blocks: Any = None,
    scale: Any = "pooled",
    nan_policy: str = "raise",
    kinds: dict[str, Any] | None = None,
    n_directions: int | None = None,
    q: float | None = None,
    p: float | None = None,
    eps: float | None = None,
    depth: Any = None,
    levels: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> TwoSampleResult:
    """Test whether two samples come from the same distribution, and report the changes.

    Several statistics (ranks along directions, single columns, rank correlations, and the distance
    DR between trimmed regions) are compared with those of the same rows under permuted labels. If
    the rows (or blocks of rows) are exchangeable, the probability of a p-value of at most a is at
    most a. This holds exactly, for any number of rows and any distribution.

    With ``tolerance=c`` the hypothesis is that the samples come from the same distribution *except
    for a share c of the rows of each*. See :doc:`/significance` for the guarantees.

    Parameters
    ----------
    X, Y : array-likes, data frames or torch tensors of shape (n, d) and (m, d)
        At least two rows each. Columns of frames are matched by name, in the order of X; strings,
        booleans and categories are compared by the shares of their values.
        The test is computed on the host: tensors on another device are copied there once. The
        attribute `moved_from` of the result is the name of this device.
    method : {"aggregated", "regions"}
        "aggregated" combines all statistics. "regions" uses the distance DR between trimmed regions
        alone.
    n_permutations : int
        Number of permutations. The smallest possible p-value is 1 / (1 + n_permutations).
    tolerance : float in [0, 0.5) or None
        Share of the rows of each sample that may be contaminated.
    blocks : array-like of n + m labels, pair of array-likes of n and m labels, or None
        Rows of one block (a day, a user) depend on each other and are permuted together. All rows
        of a block must be in the same sample. Permutations keep the number of blocks per sample.
    scale : "pooled", None or array of shape (d,)
        "pooled" divides each column by its robust standard deviation in both samples together, None
        does not divide, and an array has the divisors of the columns. The scale affects directions
        and regions, but not single columns, which are tested by ranks. The scale of one sample
        alone would depend on the labels, and is not allowed.
    nan_policy : {"raise", "omit"}
        "raise" refuses missing values, and "omit" drops rows with missing numbers. With "omit", the
        share of missing values of each column is tested too, and missing values of a category
        column form a category of their own.
    kinds : dict or None
        Kinds of columns of data frames, by name: "numeric" (dates become days since 1970, ordered
        categories become ranks), "category", "omit", or a list of the values of the column in
        increasing order. The kinds of other columns are detected; dates and identifiers are
        omitted. The attribute `kinds` of the result lists every column.
    n_directions : int or None
        Number of directions, including the axes. None for about 100: at least two whole orthonormal
        bases.
    q, p : float in [1, inf] or None
        For ``method="regions"``: orders of the means over directions (q) and over levels (p), 2 if
        None.
    eps : float in (0, 1] or None
        For ``method="regions"``: fraction of the least deep rows that is ignored, 0.1 if None.
    depth : str, estimator, callable or None
        For ``method="regions"``: depth function that orders the rows of each sample, see
        :class:`isodepth.Metric`. None for "projection", which is many times faster than the others.
    levels : int or None
        For ``method="regions"``: number of nested regions of each sample that are compared, 20 if
        None.
    random_state : None, int or numpy.random.Generator
        Seed of the directions and permutations. With None every call draws new directions and
        permutations. The standard deviation of the p-value p over calls is then about
        sqrt(p (1 - p) / n_permutations). For the adjusted p-values of columns it is up to 3.5 times
        as large, because the scale of each column statistic is estimated from the same
        permutations. An example is 0.05 for p = 0.3, in samples of 200 rows and 10 columns with
        999 permutations.
    n_jobs : int or None
        Number of threads; None for all available cores. The result does not depend on it.
    progress : bool
        Whether to show a progress bar with the number of permutations and the remaining time.

    Returns
    -------
    result : TwoSampleResult

    Notes
    -----
    Weights are not accepted: rows whose weights follow different distributions are not
    exchangeable, even if the weighted distributions are equal. A row that represents several equal
    rows can be repeated with `numpy.repeat`.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 3)), rng.normal(size=(150, 3))
    >>> isodepth.two_sample_test(X, Y, random_state=0).pvalue > 0.05
    True
    >>> result = isodepth.two_sample_test(X, Y + [1, 0, 0], random_state=0)
    >>> result.pvalue, result.changes[0].text
    (0.001, 'column 0: median -0.10 -> 0.72')
    """
    if tolerance is not None:
        tolerance = check_number(tolerance, "tolerance", 0, 0.5, high_open=True)
    of_regions = {"q": q, "p": p, "eps": eps, "depth": depth, "levels": levels}
    settings = Settings(
        method=method,
        n_permutations=n_permutations,
        tolerance=tolerance,
        n_directions=n_directions,
        progress=progress,
        metric=_metric(
            method, scale, of_regions,
            nan_policy=nan_policy, random_state=random_state, n_jobs=n_jobs,
        ),
    )  # fmt: skip
    device = None
    if is_tensor(X) or is_tensor(Y):
        X, Y, blocks, device = arrays_on_host(X, Y, blocks)
    result = _test(read_samples(X, Y, nan_policy, blocks, kinds), settings)
    return replace(result, moved_from=device, _inputs=(X, Y, kinds))


def _test(samples: Samples, settings: Settings) -> TwoSampleResult:
    x, y, names = samples.x.points, samples.y.points, samples.names
    d, tolerance, metric = len(names), settings.tolerance, settings.metric
    only_regions = settings.method == "regions"
    if not d and only_regions:
        raise InvalidInputError("regions need a column of numbers, got categories alone")
    # Replace -0.0 by 0.0, so that equal numbers have equal bits.
    columns = np.array(np.concatenate([x, y]).T, np.float64, order="C") + 0.0
    points, divisors = standardized(columns, metric.scale, metric.eps, names)
    directions = directions_with_axes(d, settings.n_directions, metric.random_state)
    permutations, missing = samples.labelings(
        settings.n_permutations, rng_for(metric.random_state, "permutations")
    )
    rows = PooledSample(
        columns, points, divisors, names, directions, permutations,
        rng_for(metric.random_state, "column pairs"),
        samples.categories, metric.n_jobs or available_cores(), missing,
    )  # fmt: skip
    bar: Any = nullcontext(lambda count: None)
    if settings.progress:
        # The progress bar has one step per direction, and one step per permutation for the distance
        # between regions.
        total = len(directions) + (permutations.count if d and tolerance is None else 0)
        label = f"two_sample_test, {settings.n_permutations} permutations"
        bar = progress_bar(True, total, label, "step")
    share = 0.0 if tolerance is None else allowed_share(tolerance, len(x), len(y))
    with bar as advance:
        if tolerance is None:
            findings = aggregated_statistics(rows, metric, advance, only_regions=only_regions)
        else:
            findings = tolerant_statistics(rows, share, ALPHA, advance)
    parts, weights = findings.neg_log_p, findings.weights
    if only_regions:
        # The test statistic is the distance DR itself, not its -log p. If `scale` is None, the
        # function `standardized` has divided all columns by a power of two. DR is then converted
        # back to the original units.
        size = divisors if metric.scale is None else 1.0
        scores = findings.parts["regions"] * (size / mean_of_direction(d, metric.q))
        parts = {"regions": parts["regions"]}
    else:
        scores = combined(parts, weights)
    pvalue = float(permutation_pvalue(scores[0], scores[1:]))
    smallest = findings.smallest_tolerance
    if smallest is not None:
        # The smallest tolerance was searched in steps of 0.0001, so it may be slightly too large.
        # If the test is not significant, the given share is sufficient, and is an upper bound.
        most = 1.0 if pvalue <= ALPHA else share
        smallest = whole_row_tolerance(min(smallest, most), (len(x), len(y)))
    components = []
    for name, part in parts.items():
        feature, value = findings.strongest[name], float(findings.parts[name][0])
        alone = float(permutation_pvalue(part[0], part[1:]))
        components.append(Component(name, feature.kinds[0], feature.label, value, alone))
    strengths = {name: part[0] + np.log(weights[name]) for name, part in parts.items()}
    compare = None
    if d:
        scale = None if metric.scale is None else divisors
        fixed = replace(metric, directions=directions, scale=scale, nan_policy="raise")
        compare = partial(fixed.compare, *(Table(side, samples.x.columns) for side in (x, y)))
    return TwoSampleResult(
        statistic=float(scores[0]),
        pvalue=pvalue,
        null_distribution=scores[1:],
        components=sorted(components, key=lambda each: -strengths[each.name]),
        changes=significant_changes(rows, findings, ALPHA) if pvalue <= ALPHA else [],
        column_tests=_column_tests(rows, findings, pvalue),
        n_rows=(len(x), len(y)),
        method=settings.method,
        tolerance=tolerance,
        smallest_tolerance=smallest,
        missing=samples.missing,
        notes=(*findings.notes, *_notes(samples, tolerance)),
        kinds=samples.kinds,
        shares=[each for category in samples.categories for each in category.shares(len(x))],
        _signature=partial(_signature, settings, len(directions), samples.blocks),
        _compare=compare,
        _blocks=samples.blocks_of_complete_rows,
    )


def _notes(samples: Samples, tolerance: float | None) -> list[str]:
    """Return notes for the user about non-numeric columns, and parts that were not compared.

    The notes also list categories that occur in only one sample.
    """
    if not samples.kinds:
        return []
    notes = column_lines(samples.kinds)
    if samples.categories and tolerance is not None and samples.names:
        notes.append("with a tolerance, numbers are not compared within categories")
    if len(samples.categories) > 1:
        notes.append("the dependence between categories is not compared")
    for category in samples.categories:
        for only, name in ((category.only_x, "X"), (category.only_y, "Y")):
            if only:
                shown = ", ".join(only[:5]) + (", ..." if len(only) > 5 else "")
                notes.append(f"only {name} has {category.name} = {shown}")
    return notes


def _column_tests(rows: PooledSample, findings: Findings, pvalue: float) -> list[ColumnTest]:
    """Return the test of each column, with adjusted p-values.

    P-values are adjusted for the number of columns, and are at least `pvalue`, the p-value of the
    whole test. A column with missing values has one entry: the test of its values or that of its
    missing values, whichever has the larger -log p.
    """
    n_x, family, n = rows.permutations.n_x, findings.columns, len(rows.points)
    medians = [np.median(part, axis=0) for part in (rows.points[:n_x], rows.points[n_x:])]
    shifts = dict(
        zip(rows.names, (medians[1] - medians[0]) / column_units(rows.points), strict=True)
    )
    distances = map_rows(
        lambda j: ks_distance(rows.columns[j], n_x), len(rows.names), n, rows.n_threads
    )
    differences = dict(zip(rows.names, distances, strict=True))
    for category in rows.categories:
        shares = category.shares(n_x)
        differences[category.name] = 0.5 * sum(abs(share.x - share.y) for share in shares)
    pvalues = np.maximum(family.pvalues(), pvalue)
    tests: dict[str, ColumnTest] = {}
    for f in np.argsort(-np.array(family.observed), kind="stable"):
        (name,), kind = family.features[f].columns, family.features[f].kinds[0]
        shift = None if kind == "missing" or name not in shifts else float(shifts[name])
        difference = differences[name]
        if kind == "missing" and rows.missing is not None:
            before, after = rows.missing.shares(name)
            difference = abs(after - before)
        tests.setdefault(name, ColumnTest(name, kind, difference, shift, float(pvalues[f])))
    return list(tests.values())


def _signature(settings: Settings, n_directions: int, blocks: np.ndarray | None) -> str:
    metric, scale = settings.metric, settings.metric.scale
    parts = {
        "method": settings.method,
        "tolerance": "none" if settings.tolerance is None else f"{settings.tolerance:g}",
        "permutations": str(settings.n_permutations),
        "blocks": "rows" if blocks is None else str(int(blocks.max()) + 1),
        "scale": "none" if scale is None else scale if isinstance(scale, str) else "given",
        "dirs": f"axes+orthogonal:{n_directions}",
    }
    if settings.method == "regions":
        parts |= {name: f"{getattr(metric, name):g}" for name in ("q", "p", "eps", "levels")}
        parts["depth"] = depth_text(metric.depth)
    parts |= {"seed": seed_text(metric.random_state), "v": __version__}
    return "|".join(["two-sample", *(f"{key}={value}" for key, value in parts.items())])
