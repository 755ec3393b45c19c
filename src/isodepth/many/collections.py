"""Collections of samples: their labels, checks, common columns and common scale.

Labels come with dictionaries, group-bys, and frames with `by`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from isodepth.api import Metric
from isodepth.core.scaling import units_of_samples
from isodepth.data.frames import Table, is_frame
from isodepth.data.matching import in_order, labels_of
from isodepth.data.results import label_text
from isodepth.data.validation import check_same_width, is_chunked, is_tensor
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.tensors.host import to_host


def labeled(samples: Any, by: Any = None, name: str = "samples") -> tuple[Any, list[str] | None]:
    """Separate labels and samples.

    Parameters
    ----------
    samples : mapping, group-by, frame with `by`, or samples
    by : str, sequence of str or None
        The columns of a frame whose values define its samples.
    name : str
        How to call `samples` in messages.

    Examples
    --------
    >>> labeled({"june": [[1.0]], "july": [[2.0]]})
    ([[[1.0]], [[2.0]]], ['june', 'july'])
    """
    if by is not None:
        return _split_frame(samples, by, name)
    if isinstance(samples, Mapping):
        return list(samples.values()), [label_text(key) for key in samples]
    if is_frame(samples) and not isinstance(samples, Table):
        raise InvalidInputError(
            f"{name} is one frame ({type(samples).__name__}); say which column defines its "
            f"samples, as in by='month', or give several frames"
        )
    keys = _keys_of_group_by(samples)
    if keys is None:
        return samples, None
    groups = list(samples)
    parts = [_without(frame, keys) for _, frame in groups]
    return parts, [label_text(label) for label, _ in groups]


def _keys_of_group_by(samples: Any) -> tuple[str, ...] | None:
    """Return the key columns of a group-by of pandas or polars; None for other objects."""
    kind = type(samples)
    if kind.__name__ not in ("DataFrameGroupBy", "GroupBy"):
        return None
    keys = getattr(samples, "keys", None) if kind.__name__ == "DataFrameGroupBy" else None
    if keys is None or callable(keys):
        keys = getattr(samples, "by", None) or getattr(samples, "_keys", None) or ()
    return tuple(_texts(keys))


def _texts(keys: Any) -> list[str]:
    """Return the strings among keys and lists of keys; other keys are not columns."""
    if isinstance(keys, str):
        return [keys]
    return [name for key in keys for name in _texts(key)] if isinstance(keys, list | tuple) else []


def _without(frame: Any, names: Sequence[str]) -> Any:
    """Return a frame without its key columns."""
    own = labels_of(frame)
    taken = [name for name in names if own is not None and name in own]
    if not taken or isinstance(frame, Table):
        return frame
    import narwhals as nw

    return nw.from_native(frame, eager_only=True).drop(taken).to_native()


def _split_frame(frame: Any, by: Any, name: str) -> tuple[Any, list[str]]:
    import narwhals as nw

    names = [by] if isinstance(by, str) else list(by) if isinstance(by, Iterable) else [by]
    own = labels_of(frame)
    if own is None:
        raise InvalidOptionError(
            f"by={by!r} goes with one data frame, got {type(frame).__name__}; leave it out, or "
            "give a frame"
        )
    absent = [key for key in names if key not in own]
    if not names or absent:
        raise InvalidOptionError(
            f"by must name columns of {name}, got {by!r}; the columns are {', '.join(own)}"
        )
    if len(names) == len(own):
        raise InvalidOptionError(f"by={by!r} leaves no column of {name} to compare")
    whole = nw.from_native(frame, eager_only=True)
    keys = list(zip(*(whole.get_column(key).to_list() for key in names), strict=True))
    if not keys:
        raise InvalidInputError(f"{name} has no rows: there is nothing to compare")
    lacking = sum(any(part is None or part != part for part in key) for key in keys)
    if lacking:
        raise InvalidInputError(
            f"{lacking} rows of {name} have no value in {', '.join(names)}, and belong to no "
            "sample; drop them first"
        )
    rows: dict[Any, list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    rest = whole.drop(names)
    order = _sorted(rows)
    samples = [rest[rows[key]].to_native() for key in order]
    return samples, [label_text(key) for key in order]


def _sorted(keys: Iterable[Any]) -> list[Any]:
    """Sort keys if they are comparable, as in pandas; otherwise keep the order of appearance."""
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def with_shared_scale(
    metric: Metric,
    mine: tuple[Sequence[Any], Any],
    theirs: tuple[Sequence[Any] | None, Any] = (None, None),
    name: str = "samples",
) -> Metric:
    """Replace ``scale="pooled"`` by the robust spread of all samples together."""
    if metric.scale == "reference":
        raise InvalidOptionError(
            "scale='reference' is the spread of the first of two samples, and here are many; use "
            "scale='pooled' for that of all of them, or give one number for each column"
        )
    names = columns_of(mine[0])
    samples = matched(mine[0], names, name)
    weights = list(weights_of_each(mine[1], len(mine[0]), name))
    if theirs[0] is not None:
        samples += matched(theirs[0], names, "other", f"{name}[0]")
        weights += list(weights_of_each(theirs[1], len(theirs[0]), "other"))
    if any(map(is_chunked, samples)):
        from isodepth.chunked.entry import shared_scale

        shared = shared_scale(metric, samples, weights, name)
    else:
        pairs = enumerate(zip(samples, weights, strict=True))
        parts = [metric.prepare(X, w, f"{name}[{i}]") for i, (X, w) in pairs]
        for i, part in enumerate(parts):
            width = parts[0].points.shape[1]
            check_same_width(width, part.points.shape[1], f"{name}[0]", f"{name}[{i}]")
        shared = units_of_samples(
            [part.points for part in parts], [part.weights for part in parts], metric.eps
        )
    return replace(metric, scale=shared)


def columns_of(samples: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the names of the columns of the first sample, in the order for all samples."""
    return getattr(samples[0], "columns", None) if _aligns(samples[0]) else labels_of(samples[0])


def matched(
    samples: Sequence[Any], names: tuple[str, ...] | None, name: str, like: str = ""
) -> list[Any]:
    """Return samples with their columns in one order; samples without names are unchanged."""
    first = like or f"{name}[0]"
    return [
        X.aligned(names) if _aligns(X) else in_order(X, names, f"{name}[{i}]", first)
        for i, X in enumerate(samples)
    ]


def _aligns(X: Any) -> bool:
    """Whether X is a source of chunks, which orders its columns while reading."""
    return getattr(X, "reads_in_chunks", False) is True


def as_list(samples: Any, name: str) -> Sequence[Any]:
    """Check a collection of samples; tensors of any device become arrays."""
    shape = getattr(samples, "shape", None)
    if isinstance(samples, Mapping):
        raise InvalidInputError(
            f"{name} is a {type(samples).__name__}, whose names are not used here; give "
            f"list({name}.values())"
        )
    if isinstance(samples, str | bytes) or not isinstance(samples, Iterable):
        raise InvalidInputError(
            f"{name} must be a sequence of samples of shape (n, d), got {type(samples).__name__}"
        )
    if shape is not None and len(shape) != 3:
        raise InvalidInputError(
            f"{name} must be a sequence of samples of shape (n, d), got one array of shape "
            f"{tuple(shape)}; for a single sample write [{name}]"
        )
    result = samples if isinstance(samples, Sequence) else list(samples)
    if len(result) == 0:
        raise InvalidInputError(f"{name} is empty: there is nothing to compare")
    return [to_host(X) for X in result] if any(map(is_tensor, result)) else result


def weights_of_each(weights: Any, count: int, name: str) -> Sequence[Any]:
    """Return a list with the weights, or None, of each of `count` samples."""
    if weights is None:
        return [None] * count
    if not isinstance(weights, Iterable):
        raise InvalidInputError(
            f"weights of {name} must be a sequence with one entry a sample, each an array or None; "
            f"got {type(weights).__name__}"
        )
    each = [to_host(own) for own in weights]
    if len(each) != count:
        raise InvalidInputError(
            f"weights of {name} must have one entry for each of {count} samples, got {len(each)}"
        )
    return each
