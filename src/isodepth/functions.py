"""The library in two calls; all options are the fields of a Metric."""

from __future__ import annotations

import difflib
from dataclasses import fields
from typing import Any

from isodepth.comparison import Comparison
from isodepth.errors import InvalidOptionError
from isodepth.metric import Metric


def metric_from_options(options: dict[str, Any]) -> Metric:
    """A metric from keyword options; an unknown one gets an error that names the nearest."""
    names = [field.name for field in fields(Metric)]
    for name in options:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidOptionError(
                f"unknown option {name!r}{hint} (options are {', '.join(names)})"
            )
    return Metric(**options)


def distance(X: Any, Y: Any, *, weights: Any = None, **options: Any) -> float:
    """DR_{p,eps} between two samples: how far apart they are, whatever a few outliers say.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
    weights : pair (wx, wy) or None
    **options
        The fields of :class:`Metric`.

    Returns
    -------
    distance : float

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> isodepth.distance(X, X, random_state=0)
    0.0
    >>> round(isodepth.distance(X, X + [3, 4], random_state=0), 3)
    5.0
    """
    return metric_from_options(options).distance(X, Y, weights=weights)


def compare(X: Any, Y: Any, *, weights: Any = None, **options: Any) -> Comparison:
    """Compare two samples: how far apart they are, and where.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
    weights : pair (wx, wy) or None
    **options
        The fields of :class:`Metric`.

    Returns
    -------
    comparison : Comparison

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> isodepth.compare(X, X + [3, 4], random_state=0)
    Comparison: distance 5 between 10 and 10 points in 2 dimension(s)
      largest gap 5 at level beta = ..., along column 1 (64%), column 0 (36%)
      DR|depth=projection|p=2|eps=0.1|levels=exact|dirs=uniform:1000|refine=20|seed=0|v=0.1.0
    """
    return metric_from_options(options).compare(X, Y, weights=weights)
