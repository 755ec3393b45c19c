"""What a two-sample test is given: options and samples, checked before any work."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.scaling import check_scale
from isodepth.data.frames import Table
from isodepth.data.matching import in_order, labels_of
from isodepth.data.missing import NAN_POLICIES, MissingPair, omit_missing
from isodepth.data.validation import (
    check_boolean,
    check_choice,
    check_integer,
    check_n_jobs,
    check_number,
    check_pair,
)
from isodepth.depth.resolve import private_copy, resolve_depth
from isodepth.engine.threads import Resources
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.significance.relabelings import check_blocks

DEFAULT_DEPTH = "projection"
_DEFAULT_EPS = 0.1


class Settings(NamedTuple):
    """All options of a test, checked."""

    n_permutations: int
    tolerance: float
    scale: Any
    q: float
    p: float
    eps: float
    depth: Any
    n_directions: int | None
    levels: int
    random_state: Any
    resources: Resources
    progress: bool


def checked_settings(
    weights: Any,
    n_permutations: Any,
    tolerance: Any,
    scale: Any,
    nan_policy: Any,
    q: Any,
    p: Any,
    eps: Any,
    depth: Any,
    n_directions: Any,
    levels: Any,
    random_state: Any,
    n_jobs: Any,
    memory_mb: Any,
    progress: Any,
) -> Settings:
    """Check all options; nothing has been done before."""
    if weights is not None:
        raise InvalidOptionError(
            "a permutation test takes no weights, since rows with different weights are not "
            f"exchangeable; got weights of type {type(weights).__name__}. Leave them out; where a "
            "weight counts equal rows, repeat those: numpy.repeat(X, counts, axis=0)"
        )
    share = check_number(tolerance, "tolerance", 0, 0.5, high_open=True)
    if isinstance(scale, str):
        if scale == "reference":
            raise InvalidOptionError(
                "scale='reference' depends on which rows are X, which a permutation test must not "
                "know; use 'pooled', or an array of scales from other data"
            )
        check_choice(scale, "scale", ("pooled",))
    elif scale is not None:
        scale = check_scale(scale)
    check_choice(nan_policy, "nan_policy", NAN_POLICIES)
    for name, value in (("eps", eps), ("depth", depth)):
        if share and value is not None:
            raise InvalidOptionError(
                f"{name} does not apply with a tolerance, which compares quantiles and no regions; "
                f"got {name}={value!r} and tolerance={tolerance!r}; leave out {name}"
            )
    if q is None:
        q = math.inf if share else 2.0
    resolve_depth(DEFAULT_DEPTH if depth is None else depth)
    return Settings(
        n_permutations=check_integer(n_permutations, "n_permutations", 1),
        tolerance=share,
        scale=scale,
        q=check_number(q, "q", 1),
        p=check_number(p, "p", 1),
        eps=check_number(_DEFAULT_EPS if eps is None else eps, "eps", 0, 1, low_open=True),
        depth=private_copy(DEFAULT_DEPTH if depth is None else depth),
        n_directions=None
        if n_directions is None
        else check_integer(n_directions, "n_directions", 1),
        levels=check_integer(levels, "levels", 2 if share else 1),
        random_state=_check_random_state(random_state),
        resources=Resources(
            check_n_jobs(n_jobs), check_number(memory_mb, "memory_mb", 0, low_open=True)
        ),
        progress=check_boolean(progress, "progress"),
    )


def _check_random_state(random_state: Any) -> Any:
    if random_state is None or isinstance(random_state, np.random.Generator):
        return random_state
    return check_integer(random_state, "random_state", 0, "; or a numpy Generator, or None")


def read_samples(X: Any, Y: Any, nan_policy: str, blocks: Any) -> tuple[
    np.ndarray,
    np.ndarray,
    tuple[str, ...] | None,
    np.ndarray | None,
    MissingPair | None,
]:  # fmt: skip
    """Two samples of one width, the names of their columns, their blocks, and what is left out."""
    missing = kept = None
    Y = in_order(Y, labels_of(X), "Y", "X")
    rows = None
    if nan_policy == "omit":
        left_x, left_y = omit_missing(X, None, "X"), omit_missing(Y, None, "Y")
        missing = MissingPair(left_x.report, left_y.report)
        kept = left_x.kept, left_y.kept
        rows = len(left_x.kept), len(left_y.kept)
        X, Y = (Table(side.points, side.columns) for side in (left_x, left_y))
    x, y, columns = check_pair(X, Y)
    n, m = rows or (len(x), len(y))
    for name, points in (("X", x), ("Y", y)):
        if len(points) < 2:
            raise InvalidInputError(
                f"{name} must have at least 2 rows to be tested, got {len(points)}"
            )
    return x, y, columns, check_blocks(blocks, n, m, kept), missing
