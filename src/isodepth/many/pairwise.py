"""Region tables of many samples, and all distances between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.api import Metric
from isodepth.core.directions import draws_at_random
from isodepth.core.regions import Sample
from isodepth.data.seeds import integer_seed
from isodepth.data.validation import (
    check_n_jobs,
    check_same_columns,
    check_same_width,
    is_chunked,
    split_weights,
)
from isodepth.engine import thread_map, worker_count
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.many.collections import (
    as_list,
    columns_of,
    labeled,
    matched,
    weights_of_each,
    with_shared_scale,
)
from isodepth.many.distance_matrix import DistanceMatrix
from isodepth.many.stack import TableStack, fill_distances
from isodepth.metric.base import with_metric_options
from isodepth.metric.table import RegionTable, check_comparable
from isodepth.progress import progress_bar

#: Default number of levels of tables.
TABLE_LEVELS = 20
#: Options that do not apply to tables.
NOT_FOR_TABLES = ("gap", "refine", "n_levels")


def table_metric(options: dict[str, Any]) -> Metric:
    """Return a metric for tables from keyword options; a missing seed is drawn here."""
    if options.get("refine"):
        raise InvalidOptionError(
            f"tables cannot be refined, got refine={options['refine']!r}; leave it out, or compare "
            "pairs with Metric.distance"
        )
    metric = Metric.from_options({"levels": TABLE_LEVELS, **options, "refine": 0})
    if isinstance(metric.random_state, int):
        return metric
    if not draws_at_random(metric.directions):
        # Without random directions the seed has no effect.
        return replace(metric, random_state=None)
    return replace(metric, random_state=integer_seed(metric.random_state))


@with_metric_options(NOT_FOR_TABLES)
def region_tables(
    samples: Iterable[Any],
    *,
    weights: Any = None,
    progress: bool = False,
    storage: str = "float64",
    **options: Any,
) -> TableStack:
    """Compute the region tables of many samples in parallel.

    Parameters
    ----------
    samples : sequence of N array-likes or data frames of shape (n_i, d), or array (N, n, d)
        The sizes n_i may differ. Columns of frames are matched by name, in the order of the first.
        Samples may be read in chunks (:func:`isodepth.scan`), delayed by Dask, or all of them a
        ``dask.bag``.
    weights : sequence of N arrays of shape (n_i,) or None, or None
    progress : bool
        Show a progress bar (needs tqdm).
    storage : {"float64", "float32"}
        Precision of the stored support values.
    levels : int, default 20
        Number of levels, the midpoints of equal parts of [0, 1 - eps]. Tables need a fixed grid:
        exact and random levels are not possible.
    scale : None, "pooled" or array of shape (d,), default None
        Divisors of the columns. "pooled" is the robust spread in all samples together. Tables
        store it: ``Metric(scale=tables.scale, ...)`` computes further tables that can be compared
        with these.
    random_state : None, int or numpy.random.Generator, default None
        Seed of the directions, which are sampled once for all samples. None draws a new
        seed at every call, which the signature contains. Tables of different calls can be
        compared if they have the same integer.
    {options of Metric}

    Returns
    -------
    tables : TableStack
        A sequence of N :class:`RegionTable`, with `values` of shape (N, L, 2K).

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(n, 3)) for n in (50, 80, 65)]
    >>> isodepth.region_tables(bags, n_directions=100, random_state=0).values.shape
    (3, 20, 200)
    """
    given = [samples] if is_chunked(samples) else as_list(samples, "samples")
    return fit_tables(given, weights, table_metric(options), storage, progress)


@with_metric_options(NOT_FOR_TABLES)
def pairwise(
    samples: Any,
    other: Any = None,
    *,
    by: Any = None,
    weights: Any = None,
    progress: bool = False,
    out: np.ndarray | None = None,
    storage: str = "float64",
    **options: Any,
) -> Any:
    """Compute the distances between all pairs of many samples.

    The regions of each sample are computed once. An entry depends on its two samples and the
    options alone: it equals ``Metric(levels=20, refine=0, **options).distance``. With
    ``scale="pooled"`` columns are divided by their spread in all samples together. The matrix is
    exactly symmetric with a zero diagonal. Columns of frames are matched by name, in the order of
    the first sample.

    Parameters
    ----------
    samples : sequence of N samples of shape (n_i, d), or of N RegionTable; or samples with names
        The sizes n_i may differ. Tables are compared as they are, with the settings they carry;
        of the options below only `n_jobs` may be given then.

        Names come with a dictionary ``{label: sample}``, a group-by of pandas or polars (its keys
        are not compared), or a frame and `by`.
    other : the same for M further samples, or None
        None compares `samples` with themselves.
    by : str or sequence of str, optional
        Columns of one frame whose values define the samples; they are not compared. The
        samples are in the order of these values. `other`, if given, is such a frame as well.
    weights : None, a sequence of N weights, or a pair of such sequences
        Weights of the rows of each sample, of shape (n_i,) or None. With `other`, a pair (weights
        of samples, weights of other), either of which may be None.
    progress : bool
        Show a progress bar (needs tqdm).
    out : ndarray or memory map of shape (N, N) or (N, M), or None
        Output array; a memory map allows a matrix that is larger than memory.
    storage : {"float64", "float32"}
        Precision of the tables. They take N * levels * 2 * n_directions numbers; everything else,
        apart from the result, is worked on in small blocks.
    levels : int, default 20
        Number of levels, the midpoints of equal parts of [0, 1 - eps]. Tables need a fixed grid:
        exact and random levels are not possible.
    scale : None, "pooled" or array of shape (d,), default None
        Divisors of the columns. "pooled" is the robust spread in all samples together. Tables
        store it: ``Metric(scale=tables.scale, ...)`` computes further tables that can be compared
        with these.
    random_state : None, int or numpy.random.Generator, default None
        Seed of the directions, which are sampled once for all samples. None draws a new
        seed at every call, which the signature contains. Tables of different calls can be
        compared if they have the same integer.
    {options of Metric}

    Returns
    -------
    distances : ndarray of shape (N, N) or (N, M), `out` if it was given
        A :class:`isodepth.DistanceMatrix` with the labels if samples have names.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(n, 3)) for n in (400, 300, 500)]
    >>> bags[2] += [3, 0, 0]
    >>> isodepth.pairwise(bags, n_directions=100, random_state=0).round(1)
    array([[0. , 0.5, 3.3],
           [0.5, 0. , 3.2],
           [3.3, 3.2, 0. ]])
    >>> named = dict(zip(["may", "june", "july"], bags))
    >>> isodepth.pairwise(named, n_directions=100, random_state=0).nearest("may")[0]
    'june'
    """
    samples, labels = labeled(samples, by)
    other, other_labels = (None, None) if other is None else labeled(other, by, "other")
    rows_given = as_list(samples, "samples")
    columns_given = None if other is None else as_list(other, "other")
    shape = (len(rows_given), len(rows_given if columns_given is None else columns_given))
    result = _matrix_for(out, shape)
    are_tables = isinstance(rows_given[0], RegionTable)
    if columns_given is not None and are_tables != isinstance(columns_given[0], RegionTable):
        raise InvalidInputError(
            f"samples and other must both hold tables or both hold samples, got "
            f"{type(rows_given[0]).__name__} and {type(columns_given[0]).__name__}"
        )
    if are_tables:
        n_jobs = _tables_only(weights, options)
        rows, columns = TableStack.of(rows_given, "samples"), None
        if columns_given is not None:
            columns = TableStack.of(columns_given, "other")
            check_comparable(rows[0], columns[0], "samples[0]", "other[0]")
    else:
        metric = table_metric(options)
        n_jobs = metric.n_jobs
        mine, theirs = (weights, None) if other is None else split_weights(weights)
        if isinstance(metric.scale, str):
            metric = with_shared_scale(metric, (rows_given, mine), (columns_given, theirs))
        rows, columns = fit_tables(rows_given, mine, metric, storage, progress), None
        if columns_given is not None:
            columns = fit_tables(columns_given, theirs, metric, storage, progress, rows, "other")
    fill_distances(rows, columns, result, n_jobs, progress)
    if labels is None and other_labels is None:
        return result
    if other is None:
        other_labels = labels
    elif other_labels is None:
        other_labels = [str(i) for i in range(shape[1])]
    return DistanceMatrix.of(result, labels, other_labels, rows[0].signature)


def fit_tables(
    samples: Sequence[Any],
    weights: Any,
    metric: Metric,
    storage: str,
    progress: bool,
    like: TableStack | None = None,
    name: str = "samples",
) -> TableStack:
    """Compute the tables of `samples`, which must be comparable with those of `like`."""
    each = weights_of_each(weights, len(samples), name)
    if like is not None and like.columns is not None:
        samples = matched(samples, like.columns, name, "samples[0]")
    else:
        samples = matched(samples, columns_of(samples), name)
    if isinstance(metric.scale, str):
        metric = with_shared_scale(metric, (samples, each), (None, None), name)
    metric.check_for_tables(storage)
    simplices: list[Sample] = []
    with progress_bar(progress, len(samples), "regions", "sample") as advance:
        if any(map(is_chunked, samples)):
            stack = _tables_of_chunked(samples, each, metric, storage, advance, name)
        else:
            stack = _tables_of_arrays(samples, each, metric, storage, advance, name, simplices)
    metric._source.warn_if_uninformative(*simplices)
    if like is None:
        return stack
    check_comparable(like[0], stack[0], "samples[0]", f"{name}[0]")
    return replace(stack, columns=stack.columns or like.columns)


def _tables_of_arrays(
    samples: Sequence[Any],
    weights: Sequence[Any],
    metric: Metric,
    storage: str,
    advance: Callable[[int], None],
    name: str,
    simplices: list[Sample],
) -> TableStack:
    """Compute tables with threads over samples, or over directions if there are few samples.

    Samples that may be simplices are added to `simplices`.
    """
    first, columns = metric.prepare(samples[0], weights[0], f"{name}[0]")[:2]
    work = len(samples) * len(first) * metric.n_directions
    workers = worker_count(metric.n_jobs, len(samples) // 2, work)
    inner = metric
    if workers > 1:
        inner = replace(metric, n_jobs=1, memory_mb=metric.settings.memory_mb / workers)
    fitted = inner.with_directions(first.shape[1])
    values = np.empty((len(samples), *fitted.table_shape), dtype=storage)
    signature = str(fitted.table_signature(str(first.dtype)))
    stack = TableStack(values, signature, first.shape[1], columns, scale=metric.scale)

    def step(i: int) -> None:
        points, names, own = metric.prepare(samples[i], weights[i], f"{name}[{i}]")[:3]
        called = f"{name}[0]", f"{name}[{i}]"
        check_same_width(first.shape[1], points.shape[1], *called)
        check_same_columns(columns, names, *called)
        if points.dtype != first.dtype:
            # Converting all of them would let one sample change the distances between others.
            raise InvalidInputError(
                f"{called[1]} is {points.dtype} and the first sample {first.dtype}; say which "
                "precision to compute in, such as dtype='float64'"
            )
        sample = Sample.of(points, own)
        if sample.n_points <= sample.n_features + 1:
            simplices.append(sample)
        fitted.write_table(fitted.fit_regions(points, own, names, sample), values[i])
        advance(1)

    thread_map(step, range(len(samples)), workers)
    return stack


def _tables_of_chunked(
    samples: Sequence[Any],
    weights: Sequence[Any],
    metric: Metric,
    storage: str,
    advance: Callable[[int], None],
    name: str,
) -> TableStack:
    """Compute tables one after the other, if some samples are read in chunks."""
    from isodepth.chunked.dask import tables_of_delayed

    made = tables_of_delayed(metric, samples, weights, storage)
    for i, sample in enumerate(samples if made is None else ()):
        made = [*(made or ()), metric.table(sample, weights[i], storage=storage)]
        advance(1)
    assert made
    return TableStack.of(made, name)


def _tables_only(weights: Any, options: dict[str, Any]) -> int | None:
    """Check that only `n_jobs` is given with tables, and return it."""
    if weights is not None:
        raise InvalidOptionError("weights go with samples; tables already contain theirs")
    unknown = [name for name in options if name != "n_jobs"]
    if unknown:
        raise InvalidOptionError(
            f"tables carry their own settings, got {', '.join(unknown)} as well; only n_jobs goes "
            "with tables"
        )
    return check_n_jobs(options.get("n_jobs"))


def _matrix_for(out: Any, shape: tuple[int, int]) -> np.ndarray:
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray) or out.dtype.kind != "f" or not out.flags.writeable:
        kind = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        raise InvalidOptionError(f"out must be a writable float array or memory map, got {kind}")
    if out.shape != shape:
        raise InvalidOptionError(f"out must have shape {shape}, got {out.shape}")
    return out
