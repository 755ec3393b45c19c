"""The library in a few calls; all options are the fields of a Metric."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from isodepth.depth import BY_NAME
from isodepth.engine.ordering import order_of
from isodepth.errors import InvalidOptionError
from isodepth.metric.comparison import Comparison
from isodepth.metric.documented import with_metric_options
from isodepth.metric.metric import Metric
from isodepth.significance.two_sample import two_sample_test


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


@with_metric_options()
def distance(X: Any, Y: Any, *, weights: Any = None, **options: Any) -> float:
    """DR_{p,eps} between two samples: how far apart they are, whatever a few outliers say.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
        Columns of frames are matched by name, whatever their order; that of X is kept.
        One observation per row. Also tensors of torch on one device, and sources of :func:`isodepth.scan`.
    weights : pair (wx, wy) or None
        Shares of the mass of each row, of shape (n,) and (m,); either may be None.
    {options of Metric}

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


@with_metric_options()
def compare(
    X: Any,
    Y: Any,
    *,
    weights: Any = None,
    n_permutations: int | None = None,
    tolerance: float | None = None,
    blocks: Any = None,
    progress: bool = False,
    **options: Any,
) -> Comparison:
    """Compare two samples: how far apart they are, where, and whether that is more than chance.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
        Columns of frames are matched by name, whatever their order; that of X is kept.
        One observation per row. Also tensors of torch on one device, and sources of :func:`isodepth.scan`.
    weights : pair (wx, wy) or None
        Shares of the mass of each row, of shape (n,) and (m,); either may be None.
    n_permutations : int or None
        Also run :func:`isodepth.two_sample_test` with that many permutations; its result is the
        `test` of the comparison. It takes over `scale` ("pooled" where that is None), `q`, `p`,
        `eps`, `depth`, `nan_policy` and `random_state` where they are given (with a tolerance there
        is no `eps` and no depth), and has directions and levels of its own. It takes no weights.
    tolerance, blocks
        Those of the test.
    progress : bool
        Whether to show a bar for the test (needs tqdm).
    {options of Metric}

    Returns
    -------
    comparison : Comparison

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> isodepth.compare(X, X + [3, 4], random_state=0)
    Comparison: distance 5 between 10 and 10 rows in 2 column(s)
      largest contributions: column 1 64%, column 0 36%
      largest gap 5 at level ...
      DR|depth=projection|p=2|eps=0.1|levels=exact|dirs=uniform:1000|refine=20|seed=0|v=0.1.0
    """
    metric = metric_from_options(options)
    asked = {"tolerance": tolerance, "blocks": blocks}
    if n_permutations is None:
        given = [name for name, value in asked.items() if value is not None]
        if given:
            raise InvalidOptionError(
                f"{given[0]} belongs to the test of the difference: give n_permutations as well, "
                "such as 999"
            )
        return metric.compare(X, Y, weights=weights)
    if weights is not None:
        raise InvalidOptionError(
            "n_permutations asks for a permutation test, which takes no weights, since rows with "
            "different weights are not exchangeable; leave out one of them"
        )
    taken_over = ["scale", "q", "p", "nan_policy", "random_state", "n_jobs", "memory_mb"]
    if not tolerance:
        taken_over += ["eps", "depth"]
    shared = {name: options[name] for name in taken_over if options.get(name) is not None}
    shared.update({name: value for name, value in asked.items() if value is not None})
    test = two_sample_test(X, Y, n_permutations=n_permutations, progress=progress, **shared)
    return replace(metric.compare(X, Y), test=test)


def warm_up(depths: Iterable[str] = tuple(BY_NAME), dtypes: Iterable[str] = ("float64",)) -> None:
    """Compile, or load from the cache, what distances and tests need: the first is then not slow.

    Compilation happens once on a machine and is then cached; loading takes well under a second.
    The command ``isodepth warm-up`` does the same from a shell.

    Parameters
    ----------
    depths : names of depths to prepare
    dtypes : {"float64", "float32"}, the precisions to prepare

    Examples
    --------
    >>> import isodepth
    >>> isodepth.warm_up(["projection"])
    """
    rng = np.random.default_rng(0)
    # Both ways of refining: by corners for few points, by climbing for many points per direction.
    small, large = rng.standard_normal((2, 12, 4)), rng.standard_normal((2, 400, 4))
    for dtype in dtypes:
        for depth in depths:
            options = {"depth": depth, "random_state": 0, "dtype": dtype, "n_jobs": 1}
            distance(*small, n_directions=50, **options)
            distance(*large, n_directions=4, **options)
            distance(*small, n_directions=8, weights=(np.arange(1, 13), None), **options)
        metric = Metric(n_directions=8, random_state=0, dtype=dtype, n_jobs=1)
        replace(metric, q=2).distance(*small)
        envelopes = replace(metric, region="envelope")
        for weights in (None, (np.arange(1, 13), None)):
            envelopes.distance(small[0], small[1], weights=weights)
        grid = replace(metric, levels=2)
        first, second = (grid.table(sample, storage=dtype) for sample in small)
        first.distance_to(second)
        # Many rows are ordered by their first column, and by their depths, by a sort of our own.
        for kind in {dtype, "float64"}:
            order_of(rng.standard_normal(5000).astype(kind))
    for tolerance in (0.0, 0.1):
        two_sample_test(*small, n_permutations=1, tolerance=tolerance, random_state=0, n_jobs=1)
