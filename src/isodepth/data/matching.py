"""Matching of the columns of samples by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.data.arrays import FEW, listed, numbered
from isodepth.data.frames import Names, Table, is_frame, read_frame
from isodepth.errors import InvalidInputError


def labels_of(X: Any) -> Names:
    """Return the labels of the columns of a frame as strings; None for other objects."""
    if isinstance(X, Table):
        return X.columns
    if not is_frame(X) or callable(getattr(X, "collect", None)):
        return None
    if hasattr(X, "__dask_graph__"):  # its columns are read with its chunks
        return None
    labels = getattr(X, "column_names", None)  # `columns` of pyarrow are arrays
    return tuple(map(str, X.columns if labels is None else labels))


def in_order(X: Any, names: Names, called: str, like: str) -> Any:
    """Return a sample with its columns in the order of `names`, if both have names.

    Parameters
    ----------
    X : sample
    names : tuple of str or None
        Columns of another sample, which may be the labels "0", "1", ... of a frame.
    called, like : str
        Names of `X` and of the other sample in messages.

    Returns
    -------
    X : unchanged, or a Table with the columns in the other order

    Examples
    --------
    >>> import numpy as np
    >>> in_order(Table(np.array([[1.0, 2.0]]), ("b", "a")), ("a", "b"), "Y", "X")
    Table(points=array([[2., 1.]]), columns=('a', 'b'))
    >>> in_order(Table(np.array([[1.0, 2.0]]), ("b", "c")), ("a", "b"), "Y", "X")
    Traceback (most recent call last):
    ...
    isodepth.errors.InvalidInputError: X and Y name their columns differently: 'a' is only in X, \
'c' is only in Y; select columns that both have
    """
    if names is None:
        return X
    own = labels_of(X)
    if own is None or own == names or len(set(own)) < len(own):
        return X
    if sorted(own) != sorted(names):
        # The default labels 0, 1, ... match any names, except other integers.
        both = ((own, names), (names, own))
        if any(_counts(a) and (_counts(b) or not _integers(b)) for a, b in both):
            return X
        raise differing(names, own, like, called)
    points, _ = read_frame(X, called)
    # points[:, order] alone may be in column-major order.
    places = {name: place for place, name in enumerate(own)}
    points = np.ascontiguousarray(points[:, [places[name] for name in names]])
    return Table(points, None if _counts(names) else names)


def differing(first: tuple[str, ...], second: tuple[str, ...], one: str, other: str) -> Exception:
    """Return the error for samples with different columns."""
    odd = []
    for names, others, where in ((first, set(second), one), (second, set(first), other)):
        alone = [repr(name) for name in names if name not in others]
        if alone:
            verb = "is" if len(alone) == 1 else "are"
            odd.append(f"{listed(alone, FEW)} {verb} only in {where}")
    return InvalidInputError(
        f"{one} and {other} name their columns differently: {', '.join(odd)}; select columns that "
        "both have"
    )


def _counts(names: tuple[str, ...]) -> bool:
    return list(names) == numbered(len(names))


def _integers(names: tuple[str, ...]) -> bool:
    return all(name.removeprefix("-").isdecimal() for name in names)
