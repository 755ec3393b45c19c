"""The function `two_sample_test`, an exact permutation test that also describes the changes.

The rows of both samples are pooled, with directions on which they are projected, and with
permutations of their labels, X or Y (`PooledSample`). Statistics are computed for the given labels
and for all permutations. A block is a group of rows that are permuted together.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from isodepth.base.annotations import (
    KindsLike,
    LabelsLike,
    RandomStateLike,
    TestNanPolicy,
    VectorLike,
)
from isodepth.base.compiled import available_cores
from isodepth.base.declared import TEST
from isodepth.base.options import Number, must, option_error, takes
from isodepth.base.progress import progress_bar
from isodepth.base.seeds import rng_for
from isodepth.base.words import describe, listed
from isodepth.device.host import arrays_on_host
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.functions.changes import Change
from isodepth.functions.explanations import ks_distance
from isodepth.functions.families import LEAST_ROWS
from isodepth.geometry.directions import integer_seed, mean_of_direction
from isodepth.geometry.scaling import aligned_scale, check_scale_width, column_units
from isodepth.metric.metric import Metric
from isodepth.metric.settings import (
    RandomLevels,
    described_settings,
    settings_of_data,
)
from isodepth.rows.checks import Check, table_checks
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious import ChangedColumns
from isodepth.significance.changes import (
    among_random_rows,
    ordered_changes,
    significant_changes,
)
from isodepth.significance.permutations import Permutations, map_rows, permutation_pvalue
from isodepth.significance.rare_events import with_rare_events
from isodepth.significance.result import (
    OF_REGIONS,
    ColumnTest,
    Component,
    Decision,
    TestDetails,
    TestedRows,
    TwoSampleResult,
)
from isodepth.significance.samples import (
    PooledSample,
    Samples,
    check_number_of_columns,
    directions_with_axes,
    named_blocks,
    read_samples,
    samples_of,
)
from isodepth.significance.statistics import Findings, aggregated_statistics, combined
from isodepth.significance.tolerance import (
    NO_BOUNDS,
    Bounds,
    TolerantFindings,
    allowed_share,
    lower_bounds,
    tolerant_statistics,
)
from isodepth.stream.passes import runner_of
from isodepth.stream.source import SampleLike
from isodepth.stream.subsets import RandomRows, subset_pair
from isodepth.table.kinds import column_lines
from isodepth.table.validation import is_chunked

# Progress bar that is not shown.
_NO_BAR: Any = nullcontext(lambda count: None)
METHODS = ("aggregated", "regions")
# Kinds of changes of the whole distribution of a column.
_WHOLE_KINDS = ("location", "spread", "shape", "unit", "sign", "exchange", "precision")
# Options of a metric that a test has itself, and other options without effect in a test.
_OF_TEST = ("scale", "n_directions", "random_state", "n_jobs")
_NOT_OF_METHOD = {
    # Checked before `n_directions`, which an array of directions determines.
    "directions": "a test has the axes and orthogonal directions",
    **dict.fromkeys(_OF_TEST, "pass it to two_sample_test"),
    "normalize": "it does not affect p-values",
    "refine": "the regions of a test are compared along fixed directions",
    "gap": "the regions of a test are compared along fixed directions",
    "nan_policy": "a test does not drop rows",
    "dtype": "a test chooses the precision",
    "memory_mb": "a test chooses the memory",
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Checked options of `two_sample_test`.

    `metric` has the options of the distance between trimmed regions, and `scale`, `random_state`
    and `n_jobs`, which all statistics use. `given_metric` is true if the argument `method` was a
    metric.
    """

    method: str
    n_permutations: int
    tolerance: float | None
    alpha: float
    nan_policy: str
    n_directions: int | None
    bounds: bool
    progress: bool
    metric: Metric
    given_metric: bool

    @property
    def only_regions(self) -> bool:
        """Whether the distance between trimmed regions is the test statistic."""
        return self.method == "regions"

    @property
    def n_threads(self) -> int:
        """Number of threads."""
        return self.metric.n_jobs or available_cores()


def _metric(method: str | Metric, scale: Any, **options: Any) -> Metric:
    """Return the options of the distance between trimmed regions, with the scale and `options`.

    `method` is a metric, or the name of a method, which has the default metric of the test.
    `options` are further options of the metric, such as the seed.
    """
    if isinstance(scale, str) and scale != "pooled":
        raise InvalidOptionError(
            f"scale must be 'pooled', None or an array from other data, got {scale!r}: a scale "
            "that depends on which rows are X is not allowed in a permutation test",
            option="scale",
        )
    of_regions = OF_REGIONS
    if isinstance(method, Metric):
        _check_method(method)
        of_regions = {name: getattr(method, name) for name in OF_REGIONS}
        if method.levels in (None, "exact"):
            of_regions["levels"] = OF_REGIONS["levels"]
    return Metric(refine=0, scale=scale, **of_regions, **options)


def _check_method(metric: Metric) -> None:
    """Raise InvalidOptionError if an option of the metric is invalid or has no effect in a test."""
    defaults = {field.name: field.default for field in fields(Metric)}
    for name, reason in _NOT_OF_METHOD.items():
        value = getattr(metric, name)
        plain = value is None or isinstance(value, str | int | float)
        # The regions of a test are compared without refinement.
        if plain and (value == defaults[name] or (name, value) == ("refine", 0)):
            continue
        shown = f"{name}={value!r}" if plain else name
        raise InvalidOptionError(
            f"{shown} has no effect in the metric of a test; remove it ({reason})", option="method"
        )
    if isinstance(metric.levels, RandomLevels):
        raise InvalidOptionError(
            f"method=Metric(...) needs a fixed grid of levels, got levels={metric.levels!r}; use "
            "an integer, such as levels=20",
            option="method",
        )
    Number(1).check("p", metric.p)


def _settings(
    method: Any, scale: Any, blocks: Any, random_state: Any, n_jobs: Any, **options: Any
) -> Settings:
    """Return the checked options of a test."""
    values = TEST.check(options)
    if values["tolerance"] is not None and blocks is not None:
        raise option_error(
            "{--tolerance} has no guarantee for blocks of rows; remove {--tolerance} or {--blocks}"
        )
    metric = _metric(method, scale, random_state=integer_seed(random_state), n_jobs=n_jobs)
    given_metric = isinstance(method, Metric)
    if not given_metric and not (isinstance(method, str) and method in METHODS):
        raise must("method", f"be one of {', '.join(METHODS)}, or an isodepth.Metric", method)
    method = "regions" if given_metric else method
    if values["tolerance"] is not None and method != "aggregated":
        raise option_error(
            "{--tolerance} applies to {--method='aggregated'} only, got {--method=}; remove "
            "one of them", method=method,
        )  # fmt: skip
    return Settings(method=method, given_metric=given_metric, metric=metric, **values)


@takes()
def two_sample_test(
    X: SampleLike,
    Y: SampleLike,
    *,
    method: Literal["aggregated", "regions"] | Metric = "aggregated",
    n_permutations: int = 999,
    tolerance: float | None = None,
    alpha: float = 0.05,
    blocks: LabelsLike | None = None,
    scale: Literal["pooled"] | VectorLike | None = "pooled",
    nan_policy: TestNanPolicy = "keep",
    kinds: KindsLike | None = None,
    max_rows: int | None = None,
    n_directions: int | None = None,
    bounds: bool = True,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> TwoSampleResult:
    """Test whether two samples come from the same distribution, and report the changes.

    Several statistics (ranks along directions, single columns, extreme and single values, missing
    values, rank correlations, and the distance DR between trimmed regions) are compared with those
    of the same rows under permuted labels. If the rows (or blocks of rows) are exchangeable, the
    probability of a p-value of at most a is at most a. This holds exactly, for any number of rows
    and any distribution.

    With ``tolerance=0.05``, changes of fewer than 5% of the rows are ignored: the hypothesis is
    that the samples come from the same distribution *except for 5% of the rows of each*. See
    :doc:`/significance` for the guarantees.

    No row is dropped for a missing value. In a function of one column, a missing value has the mean
    of the function over the other rows. Correlations of two columns use the rows that have both
    values. In other functions of several columns, a missing value is replaced by the median.

    Parameters
    ----------
    X, Y : array-likes, data frames or torch tensors of shape (n, d) and (m, d)
        At least two rows each. Columns of frames are matched by name, in the order of X; strings,
        booleans and categories are compared by the shares of their values.
        X and Y may also be sources of :func:`isodepth.scan` or Dask collections.
        Tensors on another device are copied to the host once, and the attribute `device` of
        the result is the name of this device. On a CUDA device, ranks along directions and sums
        over permuted samples, which take most of the time of large samples, are computed there.
    method : {"aggregated", "regions"} or Metric
        "aggregated" combines all statistics. "regions" uses the distance DR between trimmed regions
        alone, and is short for ``Metric(q=2, levels=20)``. A metric chooses `depth`, `p` (at least
        1), `q`, `eps` and `levels` (20 if "exact") of this distance; its other options are refused,
        because they have no effect or belong to this function. Depths other than "projection" take
        many times longer.
    n_permutations : int
        Number of permutations. The smallest possible p-value is 1 / (1 + n_permutations), except
        for samples that are read in chunks: their rare events have exact p-values without
        permutations, see :class:`isodepth.typing.TwoSampleResult`.
    tolerance : float in [0, 0.5) or None
        Share of the rows of each sample that may be contaminated, or that may change without being
        reported. Not with `blocks`, for which there is no guarantee.
    alpha : float in (0, 1)
        Significance level: the samples differ, and a change is listed, if the p-value is at most
        `alpha`. The confidence level of `changed_share` is 1 - alpha. A significant result needs
        ``n_permutations >= 1 / alpha - 1``.
    blocks : str, array-like of n + m labels, pair of array-likes of n and m labels, or None
        Rows of one block (a day, a user) depend on each other and are permuted together. All rows
        of a block must be in the same sample. Permutations keep the number of blocks per sample. A
        string is the name of the column of X and Y with the labels, which is then not compared.
    scale : "pooled", None or array of shape (d,)
        "pooled" divides each column by its robust standard deviation in both samples together, None
        does not divide, and an array has the divisors of the columns. The scale affects directions
        and regions, but not single columns, which are tested by ranks. The scale of one sample
        alone would depend on the labels, and is not allowed.
    nan_policy : {"keep", "raise"}
        "keep" accepts missing values: each row is compared by the values that it has, and the share
        of missing values of each column is tested too. "raise" refuses missing values.
    kinds : dict or None
        Kinds of columns of data frames, by name: "numeric" (dates become days since 1970, in UTC if
        they have a time zone; durations become days; ordered categories become ranks), "category",
        "omit", a list of the values of the column in increasing order, or an integer that is
        subtracted from a column of numbers. An integer is meant for integers beyond 2**53, such as
        times in nanoseconds: float64 contains their differences from a near integer exactly, but
        not the integers themselves. The kinds of other columns are detected; dates, durations and
        identifiers are omitted. The attribute `kinds` of the result lists the columns that both
        samples have.
    max_rows : int or None
        For sources of :func:`isodepth.scan` and Dask collections: maximum number of rows of each
        sample that are tested, drawn at random. None for 10^6 values, and at least 10^4 rows. Rare
        events (missing values, categories, extreme values) are counted in all rows. The attributes
        `n_rows` and `n_used_rows` of the result have the numbers of all and of tested rows.
    n_directions : int or None
        Number of directions, including the axes. None for at least two whole orthonormal bases,
        with 100 to 200 directions together; for more than 100 columns, the axes and 100 other
        directions.
    bounds : bool
        Whether to compute `changed_share`, the lower bound for the share of rows that changed, if
        the test is significant. This takes about a fifth of the time of the test. Without bounds,
        changes are in the order of their p-values.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed of the directions and permutations. With None every call draws a new seed, which is in
        `settings` of the result, and the p-value varies: with a standard deviation of 0.01 to 0.08
        with 999 permutations, and of up to 0.17 with 99, unless it is small. See
        :doc:`/significance`.
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
    >>> by_halfspace_depth = isodepth.Metric(depth="halfspace", q=2, levels=10)
    >>> options = {"n_permutations": 99, "random_state": 0}
    >>> isodepth.two_sample_test(X, Y + [1, 0, 0], method=by_halfspace_depth, **options).pvalue
    0.01
    """
    settings = _settings(
        method, scale, blocks, random_state, n_jobs, tolerance=tolerance,
        n_permutations=n_permutations, alpha=alpha, nan_policy=nan_policy,
        n_directions=n_directions, bounds=bounds, progress=progress,
    )  # fmt: skip
    of_data = settings_of_data(kinds) | ({} if bounds else {"bounds": False})
    check_number_of_columns(X)
    if is_chunked(X) or is_chunked(Y):
        result = _test_sources(X, Y, kinds, max_rows, blocks, settings)
        of_data |= {} if max_rows is None else {"max_rows": max_rows}
    else:
        if max_rows is not None:
            raise InvalidOptionError(
                f"max_rows applies to samples that are read in chunks, got {describe(X)}; remove "
                "it, or pass isodepth.scan(X)",
                option="max_rows",
            )
        result = _test_rows(X, Y, kinds, blocks, settings)
    return result._with(settings=result.settings | of_data)


def _test_rows(X: Any, Y: Any, kinds: Any, blocks: Any, settings: Settings) -> TwoSampleResult:
    """Test samples in memory."""
    X, Y, blocks = named_blocks(X, Y, blocks)
    X, Y, blocks, device = arrays_on_host(X, Y, blocks)
    samples = read_samples(X, Y, settings.nan_policy, blocks, kinds)
    on_device = device.split(", ")[0] if device and device.startswith("cuda") else None
    pool = _pool(samples, settings, on_device)
    findings = _statistics(pool, settings)
    decision = _decision(pool, findings, settings)
    checks = table_checks(X, Y, samples.read)
    result = _result(pool, findings, decision, settings, checks)
    return result._with(device=device)


def _test_sources(
    X: Any, Y: Any, kinds: Any, max_rows: int | None, blocks: Any, settings: Settings
) -> TwoSampleResult:
    """Test random rows of samples that are read in chunks, and rare events in the other rows.

    Rare events are not tested with a tolerance, with method="regions", or if no other rows exist.
    """
    if blocks is not None:
        raise option_error(
            "{--blocks} is not available for samples that are read in chunks; remove it, or pass "
            "rows in memory"
        )
    n_threads, seed = settings.n_threads, settings.metric.random_state
    with progress_bar(settings.progress, 0, "reading", "chunk") as advance:
        pair = subset_pair(X, Y, max_rows, kinds, seed, advance=advance, n_threads=n_threads)
        x, y = pair.tables
        read = replace(TwoSamples.of(x, y), only=pair.only)
        read = read.without_names() if pair.are_arrays else read
        pool = _pool(samples_of(x, y, read, settings.nan_policy), settings)
        findings = _statistics(pool, settings)
        decision = _decision(pool, findings, settings)
        # Facts about random rows are not facts about all rows.
        checks: tuple[Check, ...] = ()
        if pair.is_whole:
            names = [each.column for each in read.kinds]
            first, second = (table.rename_columns(names) for table in (pair.x, pair.y))
            checks = table_checks(first, second, read)
        else:
            decision = replace(decision, changes=[*map(among_random_rows, decision.changes)])
        # With a tolerance, rare events may change. Regions do not depend on rare events.
        if not (pair.is_whole or settings.tolerance is not None or settings.only_regions):
            runner = runner_of(*pair.sources, advance=advance, n_threads=n_threads)
            decision = with_rare_events(decision, pool.samples, pair, runner)
        return _result(pool, findings, decision, settings, checks, pair)


def _pool(samples: Samples, settings: Settings, device: str | None = None) -> PooledSample:
    """Return the pooled rows of both samples with directions and permutations of the labels.

    Products of labels and functions are computed on `device`, or on the host if it is None.
    """
    if settings.only_regions and not len(samples.compared):
        raise InvalidInputError(
            "method='regions' needs a numeric column with different values, got none; use "
            "method='aggregated'"
        )
    metric, seed = settings.metric, settings.metric.random_state
    scale = aligned_scale(metric._units, samples.names)
    if scale is not None and not isinstance(scale, str):
        check_scale_width(scale, len(samples.names))
        scale = scale[samples.compared]
    permutations = Permutations.draw(
        *samples.read.n_rows, settings.n_permutations, rng_for(seed, "permutations"),
        samples.blocks, n_threads=settings.n_threads, device=device,
    )  # fmt: skip
    directions = directions_with_axes(len(samples.compared), settings.n_directions, seed)
    return PooledSample.of(
        samples, scale, metric.eps, directions, permutations, rng_for(seed, "column pairs")
    )


def _statistics(pool: PooledSample, settings: Settings) -> Findings:
    """Compute all statistics for the given labels and all permutations.

    Show a progress bar if `settings.progress` is true.
    """
    # One step per direction, and one step per permutation for the distance between regions.
    of_regions = bool(pool.names) and settings.tolerance is None
    total = len(pool.directions) + pool.permutations.count * of_regions
    label = f"two_sample_test, {settings.n_permutations} permutations"
    bar = progress_bar(True, total, label, "step") if settings.progress else _NO_BAR
    with bar as advance:
        if settings.tolerance is None:
            metric, only_regions = settings.metric, settings.only_regions
            return aggregated_statistics(pool, metric, advance, only_regions=only_regions)
        share = allowed_share(settings.tolerance, *pool.samples.read.n_rows)
        return tolerant_statistics(pool, share, advance)


def _distinct_statistics(settings: Settings, samples: Samples) -> Findings | None:
    """Compute the statistics of the distinct rows; None if a sample has only one distinct row.

    The axes are the only directions, because the statistics of columns and pairs are sufficient.
    """
    distinct = samples.without_copies()
    if min(distinct.read.n_rows) < 2:
        return None
    settings = replace(settings, n_directions=max(1, len(samples.names)), progress=False)
    return _statistics(_pool(distinct, settings), settings)


def _decision(pool: PooledSample, findings: Findings, settings: Settings) -> Decision:
    """Return the p-values of the test and its significant changes."""
    alpha = settings.alpha
    scores = _scores(pool, findings, settings)
    pvalue = float(permutation_pvalue(scores[0], scores[1:]))
    changes: list[Change] = []
    if pvalue <= alpha:
        distinct = partial(_distinct_statistics, settings)
        changes = significant_changes(pool, findings, alpha, distinct)
    # As in `_column_tests`: a change is not more significant than the difference of the samples.
    changes = [replace(each, pvalue=max(each.pvalue, pvalue)) for each in changes]
    components = tuple(
        Component(name, feature.label, float(findings.parts[name][0]), alone)
        for name, (_, alone, feature) in findings.ranked_tests().items()
        if name == "regions" or not settings.only_regions
    )
    return Decision(
        statistic=float(scores[0]), pvalue=pvalue, null_distribution=scores[1:],
        components=components, changes=changes, alpha=alpha,
        column_tests=_column_tests(pool, findings, pvalue, changes, alpha),
    )  # fmt: skip


def _scores(pool: PooledSample, findings: Findings, settings: Settings) -> np.ndarray:
    """Return the test statistic (B + 1,) for the given labels and for B permutations.

    With method="regions" it is the distance DR itself, not its -log p. If `scale` is None, the
    function `standardized` has divided all columns by a power of two, and DR is converted back to
    the original units.
    """
    if settings.only_regions:
        size = pool.divisors if settings.metric.scale is None else 1.0
        unit = mean_of_direction(len(pool.names), settings.metric.q)
        return findings.parts["regions"] * (size / unit)
    if findings.strengths:
        return combined(findings.strengths, findings.weights)
    return np.zeros(pool.permutations.count)  # no function of a row has information


def _bounds(
    pool: PooledSample, findings: Findings, decision: Decision, settings: Settings
) -> Bounds | None:
    """Return lower bounds for the share of changed rows; None without the option, or with blocks.

    There is no guarantee for blocks. The bounds have statistics of their own: they are 0 if a test
    without a tolerance is not significant.
    """
    if not settings.bounds or pool.samples.blocks is not None:
        return None
    if isinstance(findings, TolerantFindings):
        return findings.lower_bounds(settings.alpha)
    if decision.pvalue > settings.alpha:
        return NO_BOUNDS
    return lower_bounds(pool, settings.alpha)


def _result(
    pool: PooledSample,
    findings: Findings,
    decision: Decision,
    settings: Settings,
    checks: tuple[Check, ...],
    pair: RandomRows | None = None,
) -> TwoSampleResult:
    """Return the result of the test. `pair` has the sources of which random rows were tested."""
    samples, metric = pool.samples, settings.metric
    bounds = _bounds(pool, findings, decision, settings)
    row_numbers = {each.columns[0] for each in checks if each.kind == "row number"}
    changes = decision.changes
    ordered = ordered_changes(pool, changes, bounds, decision.pvalue, row_numbers)
    scale: Any = None if metric.scale is None else pool.divisors
    kept = TestedRows(
        samples,
        metric=replace(metric, directions=pool.directions, scale=scale) if pool.names else None,
        random_rows=pair,
        changed=ChangedColumns(
            frozenset(name for each in changes for name in each.columns),
            frozenset(
                name for each in changes if each.kind in _WHOLE_KINDS for name in each.columns
            ),
        ),
    )
    details = TestDetails(
        tuple(ordered),
        None if bounds is None else bounds.changed_share,
        factor=decision.factor,
        in_chunks=pair is not None,
        n_blocks=samples.n_blocks,
    )
    return TwoSampleResult(
        statistic=decision.statistic,
        pvalue=decision.pvalue,
        null_distribution=decision.null_distribution,
        components=decision.components,
        column_tests=decision.column_tests,
        n_rows=samples.read.n_rows if pair is None else (pair.n_rows[0], pair.n_rows[1]),
        n_used_rows=samples.read.n_rows,
        method=settings.method,
        tolerance=settings.tolerance,
        alpha=settings.alpha,
        missing=samples.missing,
        notes=(*findings.notes, *_notes(samples, settings.tolerance)),
        kinds=samples.read.kinds,
        category_shares=tuple(
            each for category in pool.categories for each in category.shares(samples.n_x)
        ),
        checks=checks,
        settings=_setting_values(settings, len(pool.directions), samples.blocks),
    )._with(_details=details, _kept=kept)


def _notes(samples: Samples, tolerance: float | None) -> list[str]:
    """Return notes for the user about kinds of columns and data that were not compared.

    The notes also list categories that occur in only one sample.
    """
    kinds = samples.read.kinds  # empty for arrays
    notes = column_lines(kinds) if kinds else []
    categories = [each for each in samples.categories if len(each.values) == 1]
    rare = [each.name for each in categories if len(each.all_values) > 1]
    constant = [name for j, name in enumerate(samples.names) if j not in samples.compared]
    few = [name for name in constant if _has_different_values(samples, name)]
    constant = [name for name in constant if name not in few]
    constant += [each.name for each in categories if each.name not in rare]
    for reason, names in (
        ("constant or empty", constant),
        (f"fewer than {LEAST_ROWS} values", few),
        ("all values are rare", rare),
    ):
        if names:
            notes.append(f"{reason}, not compared: {listed(names, 5)}")
    if samples.categories and tolerance is not None and samples.names:
        notes.append("with a tolerance, numbers are not compared within categories")
    if len(samples.categories) > 1:
        notes.append("the dependence between categories is not compared")
    for category in samples.categories:
        for only, name in zip(category.only_in(samples.n_x), "XY", strict=True):
            if only:
                shown = ", ".join(only[:5]) + (", ..." if len(only) > 5 else "")
                notes.append(f"only {name} has {category.name} = {shown}")
    return notes


def _has_different_values(samples: Samples, name: str) -> bool:
    """Return whether a numeric column has different values, but too few to be compared."""
    known = np.concatenate(samples.read.numbers(name))
    return len(known) < LEAST_ROWS and len(np.unique(known)) > 1


def _column_tests(
    pool: PooledSample, findings: Findings, pvalue: float, changes: Sequence[Change], alpha: float
) -> tuple[ColumnTest, ...]:
    """Return the test of each column, with adjusted p-values.

    P-values are adjusted for columns and pairs of columns together, and are at least `pvalue`, the
    p-value of the whole test. A column has one entry: the strongest test of its values or of its
    missing values. The kind of a column that is significant at the level `alpha` is that of the
    first of `changes` with its name.
    """
    columns, n_x = findings.columns, pool.n_x
    kinds: dict[str, str] = {}
    for change in changes:
        for name in change.columns:
            kinds.setdefault(name, change.kind)

    def difference(name: str) -> tuple[float, float | None]:
        x, y = pool.samples.read.numbers(name)
        if not len(x) or not len(y):
            return 0.0, None
        unit = column_units(np.concatenate([x, y])[:, None])[0]
        return ks_distance(x, y), float((np.median(y) - np.median(x)) / unit)

    found = map_rows(
        lambda j: difference(pool.names[j]), len(pool.names), len(pool.points), pool.n_threads
    )
    differences = dict(zip(pool.names, found, strict=True))
    for category in pool.categories:
        shares = category.shares(n_x)
        total = sum(abs(share.after - share.before) for share in shares)
        differences[category.name] = 0.5 * total, None
    pvalues = np.maximum(findings.adjusted(columns), pvalue)
    tests: dict[str, ColumnTest] = {}
    for f in np.argsort(-np.array(columns.observed), kind="stable"):
        feature = columns.features[f]
        name = feature.columns[0]
        size, shift = differences.get(name, (0.0, None))
        if feature.kind == "missing" or name not in differences:
            size, shift = abs(feature.shares[1] - feature.shares[0]), None
        kind = kinds.get(name) if pvalues[f] <= alpha else None
        tests.setdefault(name, ColumnTest(name, kind, size, shift, float(pvalues[f])))
    return tuple(tests.values())


def _setting_values(
    settings: Settings, n_directions: int, blocks: np.ndarray | None
) -> dict[str, Any]:
    """Return the settings of a test by the names of the options.

    The entry "blocks" is the number of blocks, or None. An array of scales is described by its
    length and a hash.
    """
    values: dict[str, Any] = {
        "method": settings.method,
        "tolerance": settings.tolerance,
        "n_permutations": settings.n_permutations,
        "blocks": None if blocks is None else int(blocks.max()) + 1,
        "scale": settings.metric.scale,
        # Without a column of different numbers there are no directions.
        "n_directions": n_directions or None,
        "alpha": settings.alpha,
        "nan_policy": settings.nan_policy,
    }
    if settings.given_metric:
        metric = {name: getattr(settings.metric, name) for name in OF_REGIONS}
        values["metric"] = described_settings(metric)
    return described_settings(values | {"random_state": settings.metric.random_state})
