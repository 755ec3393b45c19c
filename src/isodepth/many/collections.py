"""Validation of collections of samples, with labels, common columns and a common scale.

Labels are the keys of a dictionary, or the values of the columns `by` of a frame.

A group is a collection of samples after its validation (`SampleGroup`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from isodepth.base.annotations import FrameLike
from isodepth.base.export import label_texts
from isodepth.base.messages import Sample
from isodepth.base.options import option_error
from isodepth.base.words import describe
from isodepth.device.host import to_host
from isodepth.errors import ColumnWarning, InvalidInputError, InvalidOptionError, warn_user
from isodepth.geometry.scaling import aligned_scale, units_of_samples
from isodepth.metric.metric import Metric
from isodepth.metric.region_table import RegionTable, RegionTables
from isodepth.stream.source import SampleLike
from isodepth.table.arrays import precision_of
from isodepth.table.frames import NamedArray, in_order, is_frame, labels_of
from isodepth.table.kinds import check_kinds, split_columns
from isodepth.table.missing import many_dropped
from isodepth.table.validation import check_same_columns, check_same_width, is_chunked, is_tensor

#: Samples without names, samples with names, or one frame whose rows belong to several samples.
SamplesLike: TypeAlias = Iterable[SampleLike | RegionTable] | Mapping[Any, SampleLike] | FrameLike


def labeled(samples: Any, by: Any = None, name: str = "samples") -> tuple[Any, list[Any] | None]:
    """Return the samples of a collection as a sequence, and their labels or None.

    Parameters
    ----------
    samples : mapping, frame with `by`, or sequence of samples
    by : str, sequence of str or None
        Columns of a frame whose values define its samples.
    name : str
        Name of `samples` in messages.

    Examples
    --------
    >>> labeled({"june": [[1.0]], "july": [[2.0]]})
    ([[[1.0]], [[2.0]]], ['june', 'july'])
    """
    if by is not None:
        return _split_frame(samples, by, name)
    if isinstance(samples, Mapping):
        return list(samples.values()), _distinct(list(samples), name)
    if not isinstance(samples, list | tuple | np.ndarray) and is_frame(samples):
        raise InvalidInputError(
            f"{name} is one frame ({type(samples).__name__}); use by='month' to name the column "
            "that defines its samples, or pass several frames",
        )
    return samples, None


def names_of(name: str, count: int, labels: Sequence[Any] | None = None) -> list[str]:
    """Return the names of `count` samples in messages, with labels or positions.

    Examples
    --------
    >>> names_of("samples", 2), names_of("samples", 1, ["june"])
    (['samples[0]', 'samples[1]'], ["samples['june']"])
    """
    return [Sample(f"{name}[{each!r}]") for each in (range(count) if labels is None else labels)]


def _split_frame(frame: Any, by: Any, name: str) -> tuple[Any, list[Any]]:
    """Return one frame per distinct value of the columns `by`, and the labels of the frames.

    `name` is the name of `frame` in messages.
    """
    import narwhals as nw

    names = _check_by(frame, by, name)
    whole = nw.from_native(frame, eager_only=True)
    columns = [whole.get_column(key) for key in names]
    keys = list(zip(*(each.to_list() for each in columns), strict=True))
    if not keys:
        raise InvalidInputError(f"{name} has no rows; pass a frame with rows")
    lacking = sum(any(part is None or part != part for part in key) for key in keys)
    if lacking:
        raise InvalidInputError(
            f"{lacking} rows of {name} have missing values in {', '.join(names)}, and belong to no "
            "sample; drop them first"
        )
    rows: dict[Any, list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    rest = whole.drop(names)
    order = _sorted(rows, [_positions(each) for each in columns])
    samples = [rest[rows[key]].to_native() for key in order]
    return samples, _distinct([key[0] if len(key) == 1 else key for key in order], name)


def _check_by(frame: Any, by: Any, name: str) -> list[Any]:
    """Check the option `by`, and return the names of the columns by which a frame is split.

    `name` is the name of `frame` in messages.
    """
    names = [by] if isinstance(by, str) else list(by) if isinstance(by, Iterable) else [by]
    columns = labels_of(frame)
    if columns is None:
        raise InvalidOptionError(
            f"by={by!r} needs one data frame, got {type(frame).__name__}; remove it", option="by"
        )
    if not names or any(key not in columns for key in names):
        raise InvalidOptionError(
            f"by must name columns of {name}, got {by!r}; the columns are {', '.join(columns)}",
            option="by",
        )
    if len(names) == len(columns):
        raise InvalidOptionError(
            f"by={by!r} leaves no column of {name} to compare; name fewer columns", option="by"
        )
    return names


def _distinct(labels: list[Any], name: str) -> list[Any]:
    """Return `labels`, or raise an error if two of them are equal as strings.

    `name` is the name of the labeled samples in messages.
    """
    texts = label_texts(labels)
    if len({*texts}) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise InvalidInputError(
            f"the labels of {name} must be different strings, got {twice!r} twice; rename one of "
            "them"
        )
    return labels


def _positions(series: Any) -> dict[Any, int]:
    """Return a dictionary from the categories of a series to their positions in its type.

    Categoricals of pandas and the type Enum of polars order their categories. The result is {} for
    series of other types.
    """
    import narwhals as nw

    categories: Iterable[Any] = ()
    if series.implementation.is_pandas_like() and hasattr(series.to_native(), "cat"):
        categories = series.to_native().cat.categories.tolist()
    elif isinstance(series.dtype, nw.Enum):
        categories = series.dtype.categories
    return {value: position for position, value in enumerate(categories)}


def _sorted(keys: Iterable[Any], positions: Sequence[Mapping[Any, int]]) -> list[Any]:
    """Sort the tuples `keys` if their entries are comparable; otherwise keep their order.

    A key has the values of the columns that define a sample. `positions` has one dictionary per
    column, the result of `_positions`: categories are sorted by their positions.
    """

    def place(key: Any) -> list[Any]:
        return [at.get(value, value) for value, at in zip(key, positions, strict=True)]

    try:
        return sorted(keys, key=place)
    except TypeError:
        return list(keys)


def with_kinds(
    groups: Sequence[Sequence[Any]], names: Sequence[Sequence[str]], kinds: Any
) -> list[Sequence[Any]]:
    """Apply the option `kinds` to all data frames of collections.

    The columns that are keys of `kinds` are converted to numbers, in the same way in all frames, or
    are left out if their kind is "category" or "omit". Other columns are not changed. `names` has
    the names of the samples of each collection in messages. Return the converted collections.

    Examples
    --------
    >>> import pandas as pd
    >>> bag = pd.DataFrame({"a": [1.0, 2.0], "size": ["S", "L"], "id": ["x1", "x2"]})
    >>> [[frame]] = with_kinds([[bag]], [["bag"]], {"size": ["S", "M", "L"], "id": "omit"})
    >>> frame.to_dict("list")
    {'a': [1.0, 2.0], 'size': [0.0, 2.0]}
    """
    entries = {} if kinds is None else check_kinds(kinds)
    if not entries:
        return list(groups)
    samples = [each for group in groups for each in group]
    labels = [name for group in names for name in group]
    odd = next((each for each in samples if is_chunked(each) or not is_frame(each)), None)
    if odd is not None:
        raise InvalidOptionError(
            f"kinds needs data frames in memory, got {type(odd).__name__}; remove it",
            option="kinds",
        )
    mixed = split_columns(samples, labels, entries, warn=False)
    assert mixed is not None  # because `kinds` is not empty
    read = [
        _replace_columns(frame, numeric, entries, name)
        for frame, numeric, name in zip(samples, mixed.numeric, labels, strict=True)
    ]
    ends = np.cumsum([len(group) for group in groups])
    return [read[end - len(group) : end] for end, group in zip(ends, groups, strict=True)]


def _replace_columns(
    frame: Any, numeric: NamedArray | None, names: Iterable[str], sample: str
) -> Any:
    """Return a data frame in which the columns `names` are replaced by those of `numeric`.

    Columns that `numeric` does not have are left out. `sample` is the name of the sample in
    messages.
    """
    import narwhals as nw

    whole = nw.maybe_reset_index(nw.from_native(frame, eager_only=True))
    numbers: dict[str, np.ndarray] = {}
    if numeric is not None:
        numbers = dict(zip(numeric.columns or (), numeric.points.T, strict=True))
    chosen = []
    for name, part in zip(labels_of(frame) or (), whole.iter_columns(), strict=True):
        if name not in names:
            chosen.append(part)
        elif name in numbers:
            chosen.append(nw.new_series(part.name, numbers[name], backend=whole.implementation))
    if not chosen:
        raise option_error(
            "{--kinds} leaves no column of {sample} to compare; leave out fewer columns",
            sample=sample,
        )
    return whole.select(chosen).to_native()


class SampleGroup(NamedTuple):
    """Validated samples with the same columns in the same order.

    Attributes
    ----------
    samples : list of SampleRows, or of the inputs if any of them is read in chunks
    weights : sequence
        Weights of each sample, or None for a sample without weights.
    columns : tuple of str or None
        Names of the columns.
    names : list of str
        Names of the samples in messages.
    in_chunks : bool
        Whether any sample is read in chunks.
    """

    samples: list[Any]
    weights: Sequence[Any]
    columns: tuple[str, ...] | None
    names: list[str]
    in_chunks: bool

    @property
    def width(self) -> int:
        """Number of columns of samples in memory."""
        return self.samples[0].points.shape[1]


def prepare_group(
    inputs: Sequence[Any],
    weights: Any,
    metric: Metric,
    names: list[str],
    columns: tuple[str, ...] | None = None,
    like: str = "",
    convert: bool = False,
) -> SampleGroup:
    """Validate the samples `inputs`, and bring their columns into a common order.

    `weights` has the weights of each sample, or is None. `metric` has the options `dtype` and
    `nan_policy`; its scale is not applied. The order is that of `columns`, or of the first sample
    if `columns` is None. In messages, `names` are the names of the samples, and `like` that of the
    sample to which `columns` belong. Samples that are read in chunks are validated later, when they
    are read. If `convert`, all samples are converted to the dtype of the first sample. Otherwise
    different dtypes are an error, because a conversion to float64 would let one sample change the
    distances between float32 samples.
    """
    weights = weights_of_each(weights, names)
    if columns is None:
        columns, like = _columns_of(inputs[0]), names[0]
    samples = [_matched(X, columns, label, like) for X, label in zip(inputs, names, strict=True)]
    if any(map(is_chunked, samples)):
        return SampleGroup(samples, weights, columns, names, in_chunks=True)
    first = metric._read(samples[0], weights[0], names[0], None)
    if convert:
        metric = replace(metric, dtype=precision_of(first.points))
    parts = [first]
    for X, w, label in zip(samples[1:], weights[1:], names[1:], strict=True):
        part = metric._read(X, w, label, None)
        check_same_width(first.points.shape[1], part.points.shape[1], names[0], label)
        check_same_columns(first.columns, part.columns, names[0], label)
        if part.points.dtype != first.points.dtype:
            raise InvalidInputError(
                f"{label} has dtype {part.points.dtype}, and {names[0]} {first.points.dtype}; "
                "choose a precision, such as dtype='float64'"
            )
        parts.append(part)
    reports = [part.missing for part in parts if part.missing is not None]
    if reports and (phrase := many_dropped(reports)):
        warn_user(f"{phrase}; leave out these columns", ColumnWarning)
    return SampleGroup(parts, weights, first.columns, names, in_chunks=False)


def with_shared_scale(metric: Metric, *groups: SampleGroup) -> Metric:
    """Replace ``scale="pooled"`` of a metric by an array, and return the metric.

    The array has the robust standard deviation of each column in the samples of all groups
    together. If the scale is None or an array, the metric is returned unchanged, except that
    divisors with names are brought into the order of the columns. ``scale="reference"`` is an
    error.
    """
    if metric.scale is None:
        return metric
    if not isinstance(metric.scale, str):
        scale = aligned_scale(metric._units, groups[0].columns)
        return metric if scale is metric.scale else replace(metric, scale=scale)
    if metric.scale == "reference":
        raise InvalidOptionError(
            "scale='reference' is the spread of the first of two samples, got many samples; use "
            "scale='pooled', the spread of all of them, or an array with one number per column",
            option="scale",
        )
    samples: list[Any] = []
    weights: list[Any] = []
    for group in groups:
        samples += [each if group.in_chunks else each.points for each in group.samples]
        weights += group.weights if group.in_chunks else [each.weights for each in group.samples]
    if any(group.in_chunks for group in groups):
        from isodepth.metric.chunked.entry import shared_scale

        return replace(
            metric, scale=shared_scale(metric, samples, weights, groups[0].names + groups[-1].names)
        )
    first, last = samples[0], samples[-1]
    check_same_width(first.shape[1], last.shape[1], groups[0].names[0], groups[-1].names[0])
    return replace(metric, scale=units_of_samples(samples, weights, metric.eps))


def _columns_of(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a sample, or None if they have no names."""
    if isinstance(X, np.ndarray):
        return None
    return X.columns if _aligns(X) else labels_of(X)


def _matched(X: Any, columns: tuple[str, ...] | None, name: str, like: str) -> Any:
    """Return a sample with its columns in the order of `columns`.

    Samples without column names are returned unchanged. `name` is the name of the sample in
    messages, and `like` the name of the sample to which `columns` belong.
    """
    if isinstance(X, np.ndarray):
        return X
    return X._aligned(columns) if _aligns(X) else in_order(X, columns, name, like)


def _aligns(X: Any) -> bool:
    """Return whether X is a `Source`, which reorders its columns when the data are read."""
    return getattr(X, "_reads_in_chunks", False) is True


def as_list(samples: Any, name: str) -> Any:
    """Return a nonempty collection of samples as a sequence, with tensors converted to arrays.

    `RegionTables` are returned unchanged.
    `name` is the name of the collection in messages.
    """
    shape = getattr(samples, "shape", None)
    if isinstance(samples, Mapping):
        raise InvalidInputError(
            f"{name} is a {type(samples).__name__}, and names have no effect here; pass "
            f"list({name}.values())"
        )
    several = isinstance(samples, Iterable) and not isinstance(samples, str | bytes)
    if not several or (shape is not None and len(shape) != 3):
        raise InvalidInputError(
            f"{name} must be a sequence of samples of shape (n, d), got {describe(samples)}; for a "
            f"single sample write [{name}]"
        )
    result = samples if isinstance(samples, Sequence | RegionTables) else list(samples)
    if len(result) == 0:
        raise InvalidInputError(f"{name} is empty; pass at least one sample")
    return [to_host(X) for X in result] if any(map(is_tensor, result)) else result


def weights_of_each(weights: Any, names: Sequence[str]) -> Sequence[Any]:
    """Return a list with one entry per sample: its weights, or None.

    `names` are the names of the samples in messages.
    """
    count, name = len(names), names[0].partition("[")[0]
    if weights is None:
        return [None] * count
    arrays = [to_host(entry) for entry in weights] if isinstance(weights, Iterable) else None
    if arrays is None or len(arrays) != count:
        received = type(weights).__name__ if arrays is None else len(arrays)
        raise InvalidInputError(
            f"weights of {name} must be a sequence with one entry for each of {count} samples, got "
            f"{received}"
        )
    return arrays
