"""What a two-sample test is given: options and samples, checked before any work."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.core.scaling import check_scale
from isodepth.data.frames import Table
from isodepth.data.kinds import ColumnKind, MixedFrames, category_texts, column_lines, split_columns
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
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.significance.categories import Category, category_of
from isodepth.significance.permutations import check_blocks

METHODS = ("aggregated", "regions")
DEFAULT_DEPTH = "projection"
# Options of the regions, and what they are where they are not given.
_OF_REGIONS: dict[str, Any] = {
    "q": 2.0, "p": 2.0, "eps": 0.1, "depth": DEFAULT_DEPTH, "levels": 20,
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """All options of a test, checked."""

    method: str
    n_permutations: int
    tolerance: float | None
    scale: Any
    nan_policy: str
    q: float
    p: float
    eps: float
    depth: Any
    levels: int
    n_directions: int | None
    random_state: Any
    n_jobs: int | None
    progress: bool


def checked_settings(**options: Any) -> Settings:
    """Check all options of :func:`isodepth.two_sample_test`; nothing has been done before."""
    given = dict(options)
    check_choice(given["method"], "method", METHODS)
    if given["tolerance"] is not None:
        given["tolerance"] = check_number(given["tolerance"], "tolerance", 0, 0.5, high_open=True)
        if given["method"] != "aggregated":
            raise InvalidOptionError(
                f"tolerance applies to method='aggregated' alone, got method={given['method']!r}; "
                "leave out one of them"
            )
    given["scale"] = _checked_scale(given["scale"])
    check_choice(given["nan_policy"], "nan_policy", NAN_POLICIES)
    for name, default in _OF_REGIONS.items():
        if given[name] is None:
            given[name] = default
        elif given["method"] != "regions":
            raise InvalidOptionError(
                f"{name} belongs to method='regions', got {name}={given[name]!r} with "
                f"method={given['method']!r}; leave it out, or ask for the regions alone"
            )
    resolve_depth(given["depth"])
    given["depth"] = private_copy(given["depth"])
    given["q"] = check_number(given["q"], "q", 1)
    given["p"] = check_number(given["p"], "p", 1)
    given["eps"] = check_number(given["eps"], "eps", 0, 1, low_open=True)
    given["levels"] = check_integer(given["levels"], "levels", 1)
    given["n_permutations"] = check_integer(given["n_permutations"], "n_permutations", 1)
    if given["n_directions"] is not None:
        given["n_directions"] = check_integer(given["n_directions"], "n_directions", 1)
    state = given["random_state"]
    if state is not None and not isinstance(state, np.random.Generator):
        check_integer(state, "random_state", 0, "; or a numpy Generator, or None")
    given["n_jobs"] = check_n_jobs(given["n_jobs"])
    given["progress"] = check_boolean(given["progress"], "progress")
    return Settings(**given)


def _checked_scale(scale: Any) -> Any:
    if scale is None:
        return None
    if not isinstance(scale, str):
        return check_scale(scale)
    if scale == "reference":
        raise InvalidOptionError(
            "scale='reference' depends on which rows are X, which a permutation test must not "
            "know; use 'pooled', or an array of scales from other data"
        )
    return check_choice(scale, "scale", ("pooled",))


@dataclass(frozen=True)
class Samples:
    """Two samples of one width.

    Attributes
    ----------
    x, y : ndarrays of shape (n, d) and (m, d)
    columns : tuple of str or None
    categories : list of Category
    kinds : tuple of ColumnKind
        Every column of data frames, and what is done with it; empty for plain arrays.
    blocks : int64 ndarray of shape (n + m,) or None
    missing : MissingPair or None
    """

    x: np.ndarray
    y: np.ndarray
    columns: tuple[str, ...] | None
    categories: list[Category]
    kinds: tuple[ColumnKind, ...]
    blocks: np.ndarray | None
    missing: MissingPair | None


def read_samples(X: Any, Y: Any, nan_policy: str, blocks: Any, kinds: Any) -> Samples:
    """Two samples with the names of their columns, their blocks, and what is left out."""
    missing = kept = None
    rows = None
    mixed = split_columns((X, Y), ("X", "Y"), kinds)
    if mixed is not None:
        X, Y = mixed.numeric
        if X is None:
            return _categories_alone(mixed, nan_policy, blocks)
    Y = in_order(Y, labels_of(X), "Y", "X")
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
    categories = _categories(mixed, nan_policy, kept)
    found = () if mixed is None else mixed.columns
    return Samples(x, y, columns, categories, found, check_blocks(blocks, n, m, kept), missing)


def _categories(
    mixed: MixedFrames | None, nan_policy: str, kept: tuple[np.ndarray, np.ndarray] | None = None
) -> list[Category]:
    """The category columns of the rows that are kept."""
    found = []
    for name, both in ({} if mixed is None else mixed.categories).items():
        x, y = (category_texts(v, name, own, nan_policy) for v, own in zip(both, "XY", strict=True))
        if kept is not None:
            x, y = list(itertools.compress(x, kept[0])), list(itertools.compress(y, kept[1]))
        found.append(category_of(name, x, y))
    return found


def _categories_alone(mixed: MixedFrames, nan_policy: str, blocks: Any) -> Samples:
    found = _categories(mixed, nan_policy)
    if not found:
        raise InvalidInputError(
            "X and Y must have a column of numbers or categories, got neither; "
            f"{'; '.join(column_lines(mixed.columns))}"
        )
    n, m = map(len, next(iter(mixed.categories.values())))
    numbers = check_blocks(blocks, n, m)
    return Samples(np.empty((n, 0)), np.empty((m, 0)), (), found, mixed.columns, numbers, None)
