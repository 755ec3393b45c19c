"""Types, checks, descriptions and documentation of the options of `isodepth.Metric`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict

import numpy as np

from isodepth.base.annotations import (
    DepthLike,
    DirectionsLike,
    NanPolicy,
    Precision,
    RandomStateLike,
    ScaleLike,
)
from isodepth.base.declared import METRIC
from isodepth.base.options import (
    Choice,
    Integer,
    must,
    option_error,
)
from isodepth.device.host import to_host
from isodepth.geometry.depth.base import depth_text
from isodepth.geometry.directions import FAMILIES, check_direction_rows, draws_at_random
from isodepth.geometry.scaling import SCALES, check_scale
from isodepth.metric.signature import array_text
from isodepth.table.kinds import check_kinds

#: Working memory on the host in MB if `memory_mb` is None.
MEMORY_MB = 256.0
#: Bytes per level of the arrays of one distance, such as levels, weights, gaps and directions.
LEVEL_BYTES = 160
# Number of levels whose memory is not limited.
_FEW_LEVELS = 1000
#: Precisions of region tables.
TABLE_DTYPES = ("float64", "float32")
# Options of a metric that do not affect the distance.
_WITHOUT_EFFECT = ("n_jobs", "memory_mb")
#: Number of refinement steps if `refine` is None and q is infinite.
REFINE = 20


@dataclass(frozen=True)
class RandomLevels:
    """Random levels, uniformly distributed on [0, 1 - eps], of `isodepth.Metric.paper`.

    Attributes
    ----------
    n_levels : int
        Number of levels, which are sampled together with the directions.

    Examples
    --------
    >>> import isodepth
    >>> isodepth.Metric.paper(n_levels=20, n_directions=100).levels
    RandomLevels(n_levels=20)
    """

    n_levels: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_levels", Integer(1).check("n_levels", self.n_levels))

    def __str__(self) -> str:
        """Return the levels as a string for signatures and settings, such as "monte-carlo:20"."""
        return f"monte-carlo:{self.n_levels}"


class _Options(TypedDict, total=False):
    """Types of the options of `isodepth.Metric` that all TypedDicts of this module contain."""

    depth: DepthLike
    p: float
    q: float
    eps: float
    normalize: bool
    scale: ScaleLike
    nan_policy: NanPolicy
    dtype: Precision | None
    n_jobs: int | None
    memory_mb: float | None


class PaperOptions(_Options, total=False):
    """Types of the options of `isodepth.Metric.paper`, except those that the paper determines."""

    gap: Literal["search", "exact"]
    random_state: RandomStateLike


class SampleOptions(_Options, total=False):
    """Types of all options of `isodepth.Metric` except levels, gap, refine and random_state."""

    n_directions: int
    directions: DirectionsLike


class TableOptions(SampleOptions, total=False):
    """Types of the options of functions that compute region tables."""

    levels: int
    random_state: RandomStateLike


class LossOptions(SampleOptions, total=False):
    """Types of the options of `isodepth.torch.DepthLoss`."""

    levels: Literal["exact"] | int | None
    gap: Literal["search", "exact"]


class MetricOptions(LossOptions, total=False):
    """Types of all options of `isodepth.Metric`."""

    refine: int | None
    random_state: RandomStateLike


def used_settings(metric: Any, dtype: str | None, steps: int) -> dict[str, Any]:
    """Return the options of a metric that affect a distance, with the values that were used.

    `dtype` is the precision of the distance, and `steps` the number of steps of refinement. Arrays
    and objects are described by strings.
    """
    values = {each.name: getattr(metric, each.name) for each in fields(metric)}
    used = {name: value for name, value in values.items() if name not in _WITHOUT_EFFECT}
    used |= {"levels": metric._memory_levels, "refine": steps, "dtype": dtype}
    return described_settings(used)


def described_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with strings in place of arrays and objects.

    Arrays are described by their length and a hash, and random levels as "monte-carlo:20".

    Examples
    --------
    >>> described_settings({"q": math.inf, "random_state": np.random.default_rng(0)})
    {'q': inf, 'random_state': 'generator'}
    """
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if name == "depth":
            found[name] = depth_text(value)
        elif isinstance(value, np.ndarray):
            found[name] = array_text(value)
        elif value is None or isinstance(value, str | int | float | dict):
            found[name] = value
        else:
            found[name] = "generator" if name == "random_state" else str(value)
    return found


def settings_of_data(kinds: Any, weights: Any = None) -> dict[str, Any]:
    """Return the options about the data that were passed, for the settings of a result.

    Weights are described by their lengths and hashes, and "equal" if they are None.

    Examples
    --------
    >>> settings_of_data({"size": ["S", "M"]}), settings_of_data(None)
    ({'kinds': {'size': ('S', 'M')}}, {})
    """
    found: dict[str, Any] = {}
    if kinds:
        found["kinds"] = {name: _plain_kind(kind) for name, kind in check_kinds(kinds).items()}
    if weights is not None and any(part is not None for part in weights):
        arrays = (None if part is None else np.asarray(to_host(part), float) for part in weights)
        found["weights"] = ",".join(array_text(array) or "equal" for array in arrays)
    return found


def _plain_kind(kind: Any) -> Any:
    """Return one entry of the option `kinds`, the kind of a column, for the settings of a result.

    A list of values in increasing order is converted to a tuple of plain values. Other entries are
    unchanged.
    """
    if isinstance(kind, str | int):
        return kind
    return tuple(value if isinstance(value, str | int | float) else str(value) for value in kind)


def check_for_tables(metric: Any, subject: str = "tables need") -> None:
    """Check that region tables from separate calls of one metric will be comparable.

    Comparable tables need an integer `levels`, the same directions in every call, and
    ``gap="search"``. `subject` starts the message.
    """
    random = draws_at_random(metric.directions) and not isinstance(metric.random_state, int)
    wrong = {"levels": not isinstance(metric.levels, int), "random_state": random}
    wrong["gap"] = metric.gap != "search"
    for name in (name for name, refused in wrong.items() if refused):
        value = metric._memory_levels if name == "levels" else getattr(metric, name)
        raise option_error(
            "{subject} a fixed grid of levels (an integer, such as {--levels=20}), the same "
            "directions in each call (an integer, such as {--random_state=0}, or an array of "
            "directions) and {--gap='search'}; got {--=}", name, subject=subject, **{name: value},
        )  # fmt: skip


def check_level_memory(n_levels: int, level_bytes: int, memory_mb: float | None) -> None:
    """Raise an error if more than 1000 levels need more than `memory_mb`, 256 if it is None.

    `level_bytes` is the number of bytes per level.
    """
    limit = memory_mb or MEMORY_MB
    most = max(_FEW_LEVELS, int(limit * 2**20 / level_bytes))
    if n_levels > most:
        raise option_error(
            "{--levels=} needs {needed:.1f} MB of memory, more than {--memory_mb=}; use at most "
            "{most} levels", levels=n_levels, needed=n_levels * level_bytes / 2**20,
            memory_mb=limit, most=most,
        )  # fmt: skip


def midpoint_levels(n_levels: int, eps: float) -> np.ndarray:
    """Return the midpoints of `n_levels` intervals of equal length that divide [0, 1 - eps]."""
    return (np.arange(n_levels) + 0.5) / n_levels * (1.0 - eps)


# -- checks of options ----------------------------------------------------------------------------


def checked_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options of a metric, and their relations; return them with standard types."""
    checked = METRIC.check(values)
    gap, q, refine = checked["gap"], checked["q"], checked["refine"]
    if gap == "exact" and q < math.inf:
        raise option_error(
            "{--gap='exact'} is the exact supremum over directions, which is {--q=inf}; got "
            "{--q=}, a mean over the given directions: remove {--gap}", "gap", q=q,
        )  # fmt: skip
    if refine and q < math.inf:
        raise option_error(
            "{--refine} needs {--q=inf}, the supremum over directions; got {--refine=} with "
            "{--q=}, a mean over directions; remove {--refine}", refine=refine, q=q,
        )  # fmt: skip
    if refine and gap == "exact":
        raise option_error(
            "{--refine} has no effect with {--gap='exact'}, which is the supremum over all "
            "directions; got {--refine=}: remove it", refine=refine,
        )  # fmt: skip
    directions, n_directions = checked["directions"], checked["n_directions"]
    if isinstance(directions, str):
        _refuse_description("directions", directions)
        Choice(FAMILIES).check("directions", directions)
    else:
        directions = check_direction_rows(directions)
        if n_directions not in (METRIC["n_directions"].default, len(directions)):
            raise option_error(
                "{--n_directions} has no effect with an array of {count} directions, got "
                "{--n_directions=}; remove it", count=len(directions), n_directions=n_directions,
            )  # fmt: skip
        checked |= {"directions": directions, "n_directions": len(directions)}
    return checked | {
        "levels": _checked_levels(checked["levels"]), "scale": _checked_scale(checked["scale"])
    }  # fmt: skip


def _refuse_description(name: str, value: str, hint: str = "") -> None:
    """Raise an error if the value of an option is the description of an array in `settings`."""
    if value.startswith("given:"):
        raise option_error(
            "{--=} is the description of an array in `settings`; pass the array itself{hint}", name,
            hint=hint, **{name: value},
        )  # fmt: skip


def _checked_levels(levels: Any) -> Any:
    if levels is None or levels == "exact" or isinstance(levels, RandomLevels):
        return levels
    if isinstance(levels, str):
        hint = ""
        if levels == "monte-carlo":
            hint = "; for random levels use Metric.paper(n_levels=20, n_directions=1000)"
        raise must("levels", "be 'exact' or an integer", levels, hint)
    return Integer(1).check("levels", levels, "; or 'exact'")


def _checked_scale(scale: Any) -> Any:
    if scale is None or (isinstance(scale, str) and scale in SCALES):
        return scale
    if isinstance(scale, str):
        hint = ", which is the attribute `scale` of a region table"
        _refuse_description("scale", scale, hint)
    return check_scale(scale)
