"""Region tables of many samples, and the matrix of all distances between samples.

A region table contains the support values of the nested trimmed regions of a sample, at all levels
and along all directions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from isodepth.base.annotations import KindsLike, Precision, VectorLike
from isodepth.base.declared import TABLE_DTYPE, TABLE_LEVELS, TABLES
from isodepth.base.options import Integer, option_error, takes
from isodepth.base.progress import progress_bar
from isodepth.base.words import describe
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.geometry.directions import draws_at_random, integer_seed
from isodepth.geometry.regions import Sample
from isodepth.many.collections import (
    SampleGroup,
    SamplesLike,
    as_list,
    labeled,
    names_of,
    prepare_group,
    with_kinds,
    with_shared_scale,
)
from isodepth.many.matrix import DistanceMatrix
from isodepth.many.refined import fill_refined_distances, fit_regions
from isodepth.metric.metric import Metric
from isodepth.metric.region_table import RegionTable, RegionTables, check_comparable, fill_distances
from isodepth.metric.settings import (
    TableOptions,
    check_for_tables,
)
from isodepth.metric.signature import array_text, signature_text
from isodepth.table.validation import split_weights


def table_metric(options: Mapping[str, Any], refine: int = 0) -> Metric:
    """Create a metric for region tables, or for refined distances, from keyword options.

    `refine` is the number of steps of refinement, 0 for tables.

    If `random_state` is not an integer, it is replaced: by a random integer if the directions are
    random, so that all samples have the same directions, and otherwise by None.
    """
    if options.get("refine"):
        raise option_error(
            "tables cannot be refined, got {--refine=}; remove it, or use pairwise or "
            "DistanceTransformer with this option", refine=options["refine"],
        )  # fmt: skip
    levels = TABLES["levels"].check(options.get("levels", TABLE_LEVELS))
    metric = Metric(**{**options, "levels": levels, "refine": Integer(0).check("refine", refine)})
    if metric.gap != "search":
        check_for_tables(replace(metric, random_state=0))
    if isinstance(metric.random_state, int):
        return metric
    if not draws_at_random(metric.directions):
        # Without random directions the seed has no effect.
        return replace(metric, random_state=None)
    return replace(metric, random_state=integer_seed(metric.random_state))


@takes(TABLES, hidden=("gap", "refine"))
def region_tables(
    samples: SamplesLike,
    *,
    by: str | Sequence[str] | None = None,
    weights: Sequence[VectorLike | None] | None = None,
    kinds: KindsLike | None = None,
    progress: bool = False,
    table_dtype: Precision = "float64",
    **options: Unpack[TableOptions],
) -> RegionTables:
    """Compute the region tables of many samples in parallel.

    A region table contains the support values of the nested trimmed regions of a sample, at L
    levels and along K directions and their opposites.

    Parameters
    ----------
    samples : sequence of N array-likes or data frames of shape (n_i, d), or array (N, n, d)
        The sizes n_i may differ. Columns of frames are matched by name, in the order of the first.
        Samples may be read in chunks (:func:`isodepth.scan`). Samples with names are a dictionary
        ``{label: sample}``, or a frame with `by`.
    by : str or sequence of str, optional
        Columns of one frame whose values define the samples, as in :func:`isodepth.pairwise`.
    weights : sequence of N entries, each an array of shape (n_i,) or None; or None
        Weights of the rows of each sample.
    kinds : dict or None
        Kinds of columns of data frames: "numeric", "category", "omit", or a list of values in their
        order; see :func:`isodepth.two_sample_test`. Columns of kind "category" or "omit" are left
        out. Other non-numeric columns are an error.
    progress : bool
        Show a progress bar (needs tqdm).
    table_dtype : {"float64", "float32"}
        Precision of the stored support values.
    levels : int, default 20
        Number L of levels, the midpoints of L intervals of equal length that divide [0, 1 - eps].
        Tables need a fixed grid: exact and random levels are not possible.
    scale : None, "pooled" or array of shape (d,), default None
        Divisors of the columns. "pooled" is the robust standard deviation in all samples together.
        Tables store their scale. ``Metric(scale=tables.scale, ...)`` computes further tables that
        can be compared with the first ones.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default None
        Seed of the directions, which are sampled once for all samples. With None every call draws a
        new integer as the seed, and the signature contains this integer. Tables of different calls
        can be compared if they have the same integer.
    {options}

    Returns
    -------
    tables : RegionTables
        A collection of N :class:`RegionTable`, with `values` of shape (N, L, 2K). K is
        `n_directions`, the length of an array `directions`, or 1 for samples with one column.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(n, 3)) for n in (50, 80, 65)]
    >>> isodepth.region_tables(bags, n_directions=100, random_state=0).values.shape
    (3, 20, 200)
    """
    metric = table_metric(options)
    samples, labels = labeled(samples, by)
    inputs = as_list(samples, "samples")
    names = names_of("samples", len(inputs), labels)
    (inputs,) = with_kinds([inputs], [names], kinds)
    group = prepare_group(inputs, weights, metric, names)
    tables = fit_tables(group, with_shared_scale(metric, group), table_dtype, progress)
    return replace(tables, labels=None if labels is None else tuple(labels))


@takes(TABLES, hidden=("gap", "refine"))
def pairwise(
    samples: SamplesLike,
    other: SamplesLike | None = None,
    *,
    by: str | Sequence[str] | None = None,
    weights: Sequence[Any] | None = None,
    kinds: KindsLike | None = None,
    refine: int = 0,
    progress: bool = False,
    out: np.ndarray | None = None,
    table_dtype: Precision = "float64",
    **options: Unpack[TableOptions],
) -> DistanceMatrix:
    """Compute the distances DR between all pairs of many samples.

    The trimmed regions of each sample are computed once. A distance depends only on its two samples
    and the options, and equals ``Metric(levels=20, refine=0, **options).distance``. With ``q=inf``
    and more than a few columns, it is smaller than :func:`isodepth.distance`, which refines by
    default; see the option `refine`. An exception is ``scale="pooled"``, which divides columns by
    their robust standard deviation in all samples together. The matrix of all pairs is exactly
    symmetric with a zero diagonal. Columns of frames are matched by name, in the order of the first
    sample.

    Parameters
    ----------
    samples : sequence of N samples of shape (n_i, d), or of N RegionTable; or samples with names
        The sizes n_i may differ. Tables are compared with the settings that they contain. For
        tables, `weights`, `kinds` and all options of `Metric` except `n_jobs` are an error.

        Samples with names are a dictionary ``{label: sample}``, or a frame with `by`.
    other : M further samples in the same form, or None
        None compares all pairs of `samples`.
    by : str or sequence of str, optional
        Columns of one frame whose values define the samples; these columns are not compared. The
        samples are in the order of these values. If `other` is given, it must be a frame as well.
    weights : sequence of N entries, each an array of shape (n_i,) or None; or a pair; or None
        Weights of the rows of each sample. With `other`, a pair of two such sequences: the weights
        of `samples` and those of `other`. Either sequence may be None.
    kinds : dict or None
        Kinds of columns of data frames: "numeric", "category", "omit", or a list of values in their
        order; see :func:`isodepth.two_sample_test`. Columns of kind "category" or "omit" are left
        out. Other non-numeric columns are an error.
    refine : int
        Number of steps of local ascent from the best directions of each pair, see
        :class:`isodepth.Metric`; needs ``q=inf``. With a positive number, each pair is compared as
        by :func:`isodepth.distance` with the same `refine` and `levels`, which takes much longer.
        Region tables, and samples that are read in chunks, cannot be refined.
    progress : bool
        Show a progress bar (needs tqdm).
    out : ndarray or memory map of shape (N, N) or (N, M), or None
        Array to which the distances are written, and which the result refers to. A memory map
        allows a matrix that is larger than memory.
    table_dtype : {"float64", "float32"}
        Precision of the tables, which have levels * 2 * n_directions numbers per sample. Apart from
        the tables and the result, little memory is used. With a positive `refine` there are no
        tables: the rows of all samples are kept, and this option is refused.
    levels : int, default 20
        Number L of levels, the midpoints of L intervals of equal length that divide [0, 1 - eps].
        Tables need a fixed grid: exact and random levels are not possible.
    scale : None, "pooled" or array of shape (d,), default None
        Divisors of the columns. "pooled" is the robust standard deviation in all samples together.
        Tables store their scale. ``Metric(scale=tables.scale, ...)`` computes further tables that
        can be compared with the first ones.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default None
        Seed of the directions, which are sampled once for all samples. With None every call draws a
        new integer as the seed, and the signature contains this integer. Tables of different calls
        can be compared if they have the same integer.
    {options}

    Returns
    -------
    distances : DistanceMatrix of shape (N, N) or (N, M)
        The labels are the keys of the dictionary or the values of the columns `by`, unchanged, or
        "0", "1", ... without names.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(n, 3)) for n in (400, 300, 500)]
    >>> bags[2] += [3, 0, 0]
    >>> isodepth.pairwise(bags, n_directions=100, random_state=0).values.round(1)
    array([[0. , 0.5, 3.3],
           [0.5, 0. , 3.2],
           [3.3, 3.2, 0. ]])
    >>> named = dict(zip(["may", "june", "july"], bags))
    >>> isodepth.pairwise(named, n_directions=100, random_state=0).to_frame().idxmax()["may"]
    'july'
    """
    samples, labels = labeled(samples, by)
    other, other_labels = (None, None) if other is None else labeled(other, by, "other")
    inputs = [as_list(samples, "samples")]
    if other is not None:
        inputs.append(as_list(other, "other"))
    shape = (len(inputs[0]), len(inputs[-1]))
    result = _matrix_for(out, shape)
    firsts = [next(iter(each)) for each in inputs]
    are_tables = [isinstance(first, RegionTable) for first in firsts]
    if are_tables[0] != are_tables[-1]:
        types = " and ".join(type(first).__name__ for first in firsts)
        raise InvalidInputError(f"samples and other must both be tables or samples, got {types}")
    if are_tables[0]:
        of_rows = {"weights": weights, "kinds": kinds, "refine": refine or None}
        n_jobs = _n_jobs_for_tables(of_rows, options)
        stacks = [
            RegionTables._of(*each) for each in zip(inputs, ("samples", "other"), strict=False)
        ]
        settings = _fill_from_tables(stacks, result, n_jobs, progress)
        version = stacks[0].version
    else:
        metric = table_metric(options, refine)
        names = [names_of("samples", shape[0], labels)]
        if other is not None:
            names.append(names_of("other", shape[1], other_labels))
        inputs = with_kinds(inputs, names, kinds)
        groups = _prepare_groups(inputs, names, weights, metric)
        if metric.refine:
            _check_refinable(metric, groups, table_dtype)
        used = with_shared_scale(metric, *groups)
        if metric.refine:
            settings = _fill_refined(groups, used, result, progress)
        else:
            stacks = [fit_tables(group, used, table_dtype, progress) for group in groups]
            settings = _fill_from_tables(stacks, result, metric.n_jobs, progress)
        settings["scale"] = array_text(metric.scale)  # the option instead of computed divisors
        version = None
    rows = tuple(labels or _labels_of(samples) or map(str, range(shape[0])))
    columns = rows
    if other is not None:
        columns = tuple(other_labels or _labels_of(other) or map(str, range(shape[1])))
    return DistanceMatrix(
        values=result, labels=rows, other_labels=columns, settings=settings,
        signature=signature_text(settings, version),
    )  # fmt: skip


def _labels_of(samples: Any) -> Sequence[Any] | None:
    """Return the labels if `samples` is a `RegionTables` with labels, else None."""
    return samples.labels if isinstance(samples, RegionTables) else None


def _prepare_groups(
    inputs: Sequence[Sequence[Any]], names: Sequence[list[str]], weights: Any, metric: Metric
) -> list[SampleGroup]:
    """Validate one collection or two collections of samples.

    `inputs` has the collections, and `names` the names of their samples. `weights` has the weights
    of the samples of one collection, or a pair of these for two collections; None for equal
    weights.
    """
    mine, theirs = (weights, None) if len(inputs) == 1 else split_weights(weights)
    groups = [prepare_group(inputs[0], mine, metric, names[0])]
    if len(inputs) == 2:
        columns, like = groups[0].columns, names[0][0]
        groups.append(prepare_group(inputs[1], theirs, metric, names[1], columns, like))
    return groups


def _fill_from_tables(
    stacks: Sequence[RegionTables], out: np.ndarray, n_jobs: int | None, progress: bool
) -> dict[str, Any]:
    """Write the distances between tables to `out`, and return their settings.

    `stacks` has the tables of the samples in the rows of `out` and, unless they are the same, those
    of the samples in its columns.
    """
    if len(stacks) == 2:
        check_comparable(stacks[0]._table(0), stacks[1]._table(0), "samples[0]", "other[0]")
    fill_distances(stacks[0], None if len(stacks) == 1 else stacks[1], out, n_jobs, progress)
    return stacks[0].settings | {"table_dtype": str(stacks[0].values.dtype)}


def _fill_refined(
    groups: Sequence[SampleGroup], metric: Metric, out: np.ndarray, progress: bool
) -> dict[str, Any]:
    """Write the refined distances between samples to `out`, and return their settings.

    `groups` has the samples in the rows of `out` and, unless they are the same, those in its
    columns.
    """
    fitted, regions = fit_regions(groups, metric, progress)
    columns = None if len(regions) == 1 else regions[1]
    fill_refined_distances(fitted, regions[0], columns, out, progress)
    return fitted._table_settings(str(regions[0][0].points.dtype)) | {"refine": metric.refine}


def _check_refinable(metric: Metric, groups: Sequence[SampleGroup], table_dtype: Any) -> None:
    """Raise an error if the distances between samples cannot be refined.

    Samples that are read in chunks cannot be refined, and `table_dtype`, which would have no
    effect, must not be set. `metric` has a positive `refine`.
    """
    if any(group.in_chunks for group in groups):
        raise InvalidOptionError(
            f"refine={metric.refine!r} is not available for samples that are read in chunks; "
            "remove it, or read the samples first (np.load, pandas.read_parquet)",
            option="refine",
        )
    if TABLE_DTYPE.check(table_dtype) != "float64":
        raise InvalidOptionError(
            f"table_dtype={table_dtype!r} has no effect with refine={metric.refine!r}, which needs "
            "the rows instead of tables; remove one of them",
            option="table_dtype",
        )


def fit_tables(
    group: SampleGroup, metric: Metric, table_dtype: Precision, progress: bool
) -> RegionTables:
    """Compute the region tables of a group of samples.

    Samples in memory are processed in parallel, and samples that are read in chunks one after the
    other. `table_dtype` is the dtype of the tables. If `progress`, a progress bar is shown.
    """
    check_for_tables(metric)
    table_dtype = TABLE_DTYPE.check(table_dtype)
    with progress_bar(progress, len(group.samples), "regions", "sample") as advance:
        if group.in_chunks:
            return _tables_of_chunks(group, metric, table_dtype, advance)
        fitted = metric.with_directions(group.width)
        values = np.empty((len(group.samples), *fitted._table_shape), dtype=table_dtype)

        def fit(i: int, sample: Sample) -> Sample | None:
            fitted._write_table(fitted._nest(sample), values[i], sample.resources)
            # All points of samples with at most d + 1 distinct points may have equal depth.
            return sample if sample.n_points <= sample.n_features + 1 else None

        small = fitted._map(fit, group.samples, group.names, advance)
    metric._source._warn_if_uninformative(*(sample for sample in small if sample is not None))
    settings = fitted._table_settings(str(group.samples[0].points.dtype))
    return RegionTables(values, settings, group.width, group.columns, scale=metric._units)


def _tables_of_chunks(
    group: SampleGroup, metric: Metric, table_dtype: Precision, advance: Callable[[int], None]
) -> RegionTables:
    tables = []
    for sample, weights in zip(group.samples, group.weights, strict=True):
        tables.append(metric.region_table(sample, weights=weights, table_dtype=table_dtype))
        advance(1)
    return RegionTables._of(tables, group.names[0].partition("[")[0])


def _n_jobs_for_tables(of_rows: Mapping[str, Any], options: Mapping[str, Any]) -> int | None:
    """Return the option `n_jobs` of a comparison of tables; raise an error for other options.

    Other options have no effect on region tables. `of_rows` maps the names of the options that
    describe rows, such as "weights", to their values, which are None if they are not set.
    """
    for name in (*(name for name, value in of_rows.items() if value is not None), *options):
        if name != "n_jobs":
            raise InvalidOptionError(
                f"the option {name} has no effect on tables, which already have weights and "
                "settings; remove it, or pass samples",
                option=name,
            )
    return TABLES["n_jobs"].check(options.get("n_jobs"))


def _matrix_for(out: Any, shape: tuple[int, int]) -> np.ndarray:
    if out is None:
        return np.empty(shape)
    fits = isinstance(out, np.ndarray) and out.dtype.kind == "f" and out.shape == shape
    if fits and out.flags.writeable:
        return out
    allowed = f"a writable float array or memory map of shape {shape}"
    raise InvalidOptionError(f"out must be {allowed}, got {describe(out)}", option="out")
