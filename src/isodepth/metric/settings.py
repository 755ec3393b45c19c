"""Options of the distance: their types, defaults, checks and documentation.

`MetricSettings` is a frozen object with all options. The subclass `isodepth.Metric` has the methods
that compare samples. It is in another module, because the packages for tensors and chunks, which
it calls, use the settings.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, Self, TypedDict, TypeVar, cast

import numpy as np

from isodepth.base.annotations import (
    DepthLike,
    DirectionsLike,
    NanPolicy,
    Precision,
    RandomStateLike,
    ScaleLike,
)
from isodepth.base.export import ReadOnlyFields, equal_values
from isodepth.base.options import (
    MOST,
    check_boolean,
    check_choice,
    check_dtype,
    check_integer,
    check_n_jobs,
    check_number,
    keyword_names,
    option_error,
    unknown_option,
)
from isodepth.base.seeds import check_random_state
from isodepth.device.host import to_host
from isodepth.errors import InvalidOptionError
from isodepth.geometry.depth import BY_NAME
from isodepth.geometry.depth.base import DepthSource, depth_text
from isodepth.geometry.depth.resolve import private_copy, resolve_depth, same_depth
from isodepth.geometry.directions import FAMILIES, check_direction_rows, draws_at_random
from isodepth.geometry.hull import WAYS
from isodepth.geometry.scaling import SCALES, check_scale
from isodepth.metric.signature import array_text, signature_text
from isodepth.table.kinds import check_kinds
from isodepth.table.validation import check_nan_policy

#: Working memory on the host in MB if `memory_mb` is None.
MEMORY_MB = 256.0
#: Bytes per level of the arrays of one distance, such as levels, weights, gaps and directions.
LEVEL_BYTES = 160
# Number of levels whose memory is not limited.
_FEW_LEVELS = 1000
#: Line of a docstring that `with_metric_options` replaces with the descriptions of parameters.
OPTIONS_LINE = "{options of Metric}"
#: Precisions of region tables.
TABLE_DTYPES = ("float64", "float32")
# Options of a metric that do not affect the distance.
_WITHOUT_EFFECT = ("n_jobs", "memory_mb")
# Number of refinement steps if `refine` is None and q is infinite.
_REFINE = 20

Documented = TypeVar("Documented", bound=Callable[..., Any])


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
        checked = check_integer(self.n_levels, "n_levels", 1, high=MOST)
        object.__setattr__(self, "n_levels", checked)

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


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricSettings(ReadOnlyFields):
    """Pseudo-metric DR_{p,eps} between samples, with all its settings.

    The region of level beta of a sample is the smallest set of its deepest points that has more
    than a fraction beta of the mass. The gap of a level is, by default, the Hausdorff distance
    between the convex hulls of the regions of both samples. DR_{p,eps} is the mean of order p of
    the gaps over the levels in [0, 1 - eps]. "The paper" is Staerman et al., arXiv 2103.12711.

    Parameters
    ----------
    depth : str, estimator or callable
        Depth function that orders the points from the center outwards: "projection", "halfspace",
        "irw" or "ai_irw". A depth estimator of isodepth has settings of its own, such as a
        covariance. Its directions are those of the metric, the same for both samples: the estimator
        must have the default values of `n_directions`, `directions`, `random_state` and `n_jobs`,
        which are options of the metric. Any estimator with `fit` and `score_samples`, and any
        function of the points (and of the weights, if there are any) is accepted as well.
        Estimators are copied, and neither they nor functions are called by several threads at once.
        With the projection depth a share of up to `eps` of contaminated rows has a bounded effect;
        other depths tolerate less contamination.
    p : float in (0, inf]
        Order of the mean over levels; inf is the maximum. For p < 1 the triangle inequality holds
        for the p-th power only. As p tends to 0, the mean tends to the geometric mean.
    q : float in [1, inf]
        Order of the mean over directions u of ``|h_X(u) - h_Y(u)|``, where h is the support
        function of a region. inf is the maximum, which is the Hausdorff distance of the regions, as
        in the paper. For a finite q, the mean over the directions and their opposites is divided by
        its value for a translation of length one. A translation by m then has distance |m| for
        every q. With a finite q the distance has a smaller upward bias in many dimensions and is
        smoother.
        With p = q = 2 samples are embedded isometrically in a Hilbert space.
    eps : float in (0, 1]
        Fraction of the mass that is trimmed: the least deep points.
    n_directions : int
        Number of directions; the computing time is proportional to it.
    directions : {"uniform", "sobol", "orthogonal", "equispaced"} or array of shape (K, d)
        See :func:`isodepth.unit_vectors`. Each vector is used with both signs.
    levels : "exact", int or None
        How to average over the levels in [0, 1 - eps]: "exact" integrates over all levels, and an
        integer uses a midpoint grid with that number of levels. None means "exact" for samples in
        memory, and 20 for samples that are read in chunks, for which "exact" is an error. The
        random levels of the paper are those of :meth:`isodepth.Metric.paper`. More than 1000 levels
        are an error if they need more than `memory_mb`.
    normalize : bool
        True averages over the levels in [0, 1 - eps], so that DR = |m1 - m2| for Gaussians of equal
        covariance with means m1 and m2. False integrates over the levels without the factor
        1 / (1 - eps), as in the paper.
    refine : int or None
        Number of steps of local ascent from the best sampled directions towards the supremum over
        all directions. With ``refine=0`` the maximum is too small in more than a few dimensions.
        Refinement never lowers a gap. None means 20 for q = inf, and 0 for a finite q, for
        ``gap="exact"``, for samples that are read in chunks, and for tensors that require grad,
        because a refined distance has no gradient. A positive value with a finite q,
        ``gap="exact"`` or samples that are read in chunks is an error.
    gap : {"search", "exact"}
        How to compute the gap of a level for q = inf. "search" takes the maximum over the
        directions and refines it. "exact" computes the Hausdorff distance of the convex hulls, for
        few points or few dimensions.
    scale : None, "pooled", "reference" or array of shape (d,)
        Units of the columns. None compares coordinates as they are, as in the paper: the column
        with the largest spread dominates. "pooled" divides each column by its robust standard
        deviation in both samples together, "reference" by that of X alone. The robust standard
        deviation is that of the values clipped at their 0.2 and 0.8 quantiles, normalized to 1 for
        a standard normal column. It tolerates a fraction 0.2 of contaminated rows at one end of the
        column. If more than half of the values are equal, the orders of the quantiles are closer to
        0 and 1. The unit of a constant column is 1. For eps > 0.2 the normalized median absolute
        deviation is used instead, which tolerates a fraction 0.5. An array has the divisors in the
        order of the columns; the values of a pandas Series with names are matched by column name.
    nan_policy : {"raise", "omit"}
        Treatment of missing values: raise an error, or drop the rows with missing values.
        Infinite values are always an error.
    dtype : {"float32", "float64"}, NumPy dtype or None
        Precision of the projections; None means float32 for float32 data and float64 otherwise.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed or generator of the random directions and levels. The same integer gives the same
        directions on any machine, and the same bits with any `n_jobs`. With None every call samples
        new directions: two calls give slightly different numbers, which cannot be reproduced. Use
        an integer if numbers are compared with each other, published or tested.
    n_jobs : int or None
        Number of threads; None or -1 for all available cores. The result does not depend on it.
    memory_mb : float or None
        Working memory of all threads together, in which blocks of directions are processed. With
        little memory fewer threads are used, at least one. A block has at least one direction, even
        if it needs more memory. The result does not depend on this option. None means 256 on the
        host; for tensors on another device a part of the free memory, at most 8 GB.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth import Metric
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> metric = Metric(depth="halfspace", eps=0.2, random_state=0)
    >>> round(metric.distance(X, X + [3, 0, 0]), 3)
    3.0
    >>> metric.signature
    'DR|depth=halfspace|p=2|eps=0.2|levels=exact|dirs=uniform:1000|refine=20|seed=0|v=0.4.0'
    """

    depth: DepthLike = "projection"
    p: float = 2
    q: float = math.inf
    eps: float = 0.1
    n_directions: int = 1000
    directions: DirectionsLike = "uniform"
    levels: Literal["exact"] | int | RandomLevels | None = None
    normalize: bool = True
    refine: int | None = None
    gap: Literal["search", "exact"] = "search"
    scale: ScaleLike = None
    nan_policy: NanPolicy = "raise"
    dtype: Precision | None = None
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    memory_mb: float | None = None

    def __post_init__(self) -> None:
        gap, q = check_choice(self.gap, "gap", WAYS), check_number(self.q, "q", 1)
        if gap == "exact" and q < math.inf:
            raise InvalidOptionError(
                f"gap={gap!r} is the exact supremum over directions, which is q=inf; got q={q:g}, "
                "a mean over the given directions: remove gap",
                option="gap",
            )
        check_nan_policy(self.nan_policy)
        if self.memory_mb is not None:
            check_number(self.memory_mb, "memory_mb", 0, low_open=True, high_open=True)
        _check_refine(self.refine, q, gap)
        directions, n_directions = _checked_directions(self.directions, self.n_directions)
        checked = {
            "depth": self.depth if isinstance(self.depth, str) else private_copy(self.depth),
            "p": check_number(self.p, "p", 0, low_open=True),
            "q": q,
            "dtype": None if self.dtype is None else check_dtype(self.dtype, "dtype"),
            "eps": check_number(self.eps, "eps", 0, 1, low_open=True),
            "n_directions": n_directions,
            "directions": directions,
            "levels": _checked_levels(self.levels),
            "normalize": check_boolean(self.normalize, "normalize"),
            "scale": _checked_scale(self.scale),
            "random_state": check_random_state(self.random_state),
            "n_jobs": check_n_jobs(self.n_jobs),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        super().__post_init__()
        _ = self._source  # raises an error if the option `depth` is invalid

    @classmethod
    def _from_options(
        cls, options: Mapping[str, Any], function: Callable[..., Any] | None = None
    ) -> Self:
        """Create a metric from keyword options; an unknown option raises InvalidOptionError.

        The error lists the keyword parameters of `function`, which received the options, or the
        fields of the metric if it is None.
        """
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                raise unknown_option(name, keyword_names(function) if function else names)
        return cls(**options)

    def __eq__(self, other: object) -> bool:
        """Return whether all options are equal; a depth of the user is equal only to itself."""
        if not isinstance(other, MetricSettings) or type(self) is not type(other):
            return NotImplemented
        names = [each.name for each in fields(self) if each.name != "depth"]
        same = all(equal_values(getattr(self, name), getattr(other, name)) for name in names)
        return same and same_depth(self._source, other._source)

    def __hash__(self) -> int:
        return hash((self.p, self.q, self.eps, self.n_directions))

    @property
    def _dtype(self) -> str | None:
        """Name of the precision, or None. The constructor has replaced types by names."""
        return cast("str | None", self.dtype)

    @property
    def signature(self) -> str:
        """Settings that determine the distance of samples in memory, as a short string.

        `Comparison.signature` has the settings of a comparison, also of samples that are read in
        chunks.
        """
        return signature_text(used_settings(self, self._dtype, self._steps))

    @cached_property
    def _source(self) -> DepthSource:
        """Depth function that the option `depth` selects."""
        name = self.depth
        return BY_NAME[name]() if isinstance(name, str) and name in BY_NAME else resolve_depth(name)

    @property
    def _steps(self) -> int:
        """Number of steps of local ascent that refine the directions: `refine`, or its default."""
        if self.refine is None:
            return _REFINE if math.isinf(self.q) and self.gap == "search" else 0
        return self.refine

    @property
    def _units(self) -> Any:
        """The option `scale` after its validation: None, a string, or an array (d,)."""
        return self.scale

    @property
    def _memory_levels(self) -> Any:
        """Levels for samples in memory: `levels`, or its default."""
        return "exact" if self.levels is None else self.levels

    @property
    def _length(self) -> float:
        """Factor of the mean over levels: 1, or 1 - eps if `normalize` is false."""
        return 1.0 if self.normalize else 1.0 - self.eps

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature})"


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


def check_for_tables(settings: MetricSettings, subject: str = "tables need") -> None:
    """Check that region tables from separate calls of one metric will be comparable.

    Comparable tables need an integer `levels`, the same directions in every call, and
    ``gap="search"``. `subject` starts the message.
    """
    random = draws_at_random(settings.directions) and not isinstance(settings.random_state, int)
    wrong = {"levels": not isinstance(settings.levels, int), "random_state": random}
    wrong["gap"] = settings.gap != "search"
    for name in (name for name, refused in wrong.items() if refused):
        value = settings._memory_levels if name == "levels" else getattr(settings, name)
        raise option_error(
            "{subject} a fixed grid of levels (an integer, such as {--levels=20}), the same "
            "directions in each call (an integer, such as {--random_state=0}, or an array of "
            "directions) and {--gap='search'}; got {--=}", name, subject=subject, **{name: value},
        )  # fmt: skip


def _checked_directions(directions: Any, n_directions: Any) -> tuple[Any, int]:
    """Check the options `directions` and `n_directions`.

    Return `directions`, as the name of a family or an array of unit vectors, and the number of
    directions.
    """
    if isinstance(directions, str):
        if directions.startswith("given:"):
            raise InvalidOptionError(
                f"directions={directions!r} is the description of an array in `settings`; pass the "
                "array itself",
                option="directions",
            )
        check_choice(directions, "directions", FAMILIES)
        return directions, check_integer(n_directions, "n_directions", 1, high=MOST)
    directions = check_direction_rows(directions)
    if n_directions not in (MetricSettings.n_directions, len(directions)):
        raise InvalidOptionError(
            f"n_directions has no effect with an array of {len(directions)} directions, got "
            f"{n_directions!r}; remove it",
            option="n_directions",
        )
    return directions, len(directions)


def _checked_levels(levels: Any) -> Any:
    if levels is None or isinstance(levels, RandomLevels):
        return levels
    if isinstance(levels, str):
        if levels == "monte-carlo":
            raise InvalidOptionError(
                "levels must be 'exact' or an integer, got 'monte-carlo'; for random levels use "
                "Metric.paper(n_levels=20, n_directions=1000)",
                option="levels",
            )
        if levels != "exact":
            raise InvalidOptionError(
                f"levels must be 'exact' or an integer, got {levels!r}", option="levels"
            )
        return levels
    return check_integer(levels, "levels", 1, "; or 'exact'", high=MOST)


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


def _check_refine(refine: Any, q: float, gap: str) -> None:
    if refine is None:
        return
    steps = check_integer(refine, "refine", 0, "; or None, which chooses by q", high=MOST)
    if steps and q < math.inf:
        raise option_error(
            "{--refine} needs {--q=inf}, the supremum over directions; got {--refine=} with "
            "{--q=}, a mean over directions; remove {--refine}", refine=refine, q=q,
        )  # fmt: skip
    if steps and gap == "exact":
        raise InvalidOptionError(
            f"refine has no effect with gap='exact', which is the supremum over all directions; "
            f"got refine={refine!r}: remove it",
            option="refine",
        )


def _checked_scale(scale: Any) -> Any:
    if scale is None or (isinstance(scale, str) and scale in SCALES):
        return scale
    if isinstance(scale, str) and scale.startswith("given:"):
        raise InvalidOptionError(
            f"scale={scale!r} is the description of an array in `settings`; pass the array itself, "
            "which is the attribute `scale` of a region table",
            option="scale",
        )
    return check_scale(scale)


def with_metric_options(
    leave_out: Iterable[str] = (), types: Any = MetricOptions, **defaults: Any
) -> Callable[[Documented], Documented]:
    """Return a decorator that documents the options of `Metric` in a function or class.

    The descriptions of the parameters replace the line OPTIONS_LINE of the docstring. Parameters
    that the docstring describes itself, and those in `leave_out`, are not inserted. In the
    signature that `inspect.signature` and notebooks show, the options replace ``**options``. Their
    annotations are those of the TypedDict `types`, which has all options that are not in
    `leave_out`. `defaults` are defaults that differ from those of `Metric`.
    """

    def decorate(documented: Documented) -> Documented:
        _show_options(documented, leave_out, types.__annotations__, defaults)
        text = documented.__doc__
        if text is None:  # python -OO removes docstrings
            return documented
        text = inspect.cleandoc(text)
        if f"\n{OPTIONS_LINE}\n" not in text:
            raise ValueError(f"the docstring of {documented.__qualname__} lacks {OPTIONS_LINE!r}")
        known = {*leave_out, *re.findall(r"^(\w+) : ", text, re.MULTILINE)}
        shown = {f.name: repr(f.default).replace("'", '"') for f in fields(MetricSettings)}
        lines = [
            "\n".join([f"{name} : {type_}, default {shown[name]}", *description])
            for name, (type_, description) in metric_parameters().items()
            if name not in known
        ]
        documented.__doc__ = text.replace(OPTIONS_LINE, "\n".join(lines))
        return documented

    return decorate


def _show_options(
    documented: Any,
    leave_out: Iterable[str],
    annotations: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> None:
    """Replace ``**options`` by the options of `Metric` in the signature of a function or class.

    The options in `leave_out` are not shown. `annotations` has the annotation of each option, and
    `defaults` the defaults that differ from those of `Metric`.
    """
    signature = inspect.signature(documented)
    parameters = dict(signature.parameters)
    if parameters.pop("options", None) is None:
        return
    for field in fields(MetricSettings):
        if field.name not in {*leave_out, *parameters}:
            annotation = annotations[field.name]
            parameters[field.name] = inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(field.name, field.default),
                # A TypedDict stores a string as a ForwardRef, which `help` would show.
                annotation=getattr(annotation, "__forward_arg__", annotation),
            )
    documented.__signature__ = signature.replace(parameters=list(parameters.values()))


def metric_parameters() -> dict[str, tuple[str, list[str]]]:
    """Return the type and the description of every parameter in the docstring of `MetricSettings`.

    Keys are the names of the parameters. Descriptions are lists of indented lines.
    """
    text = inspect.cleandoc(MetricSettings.__doc__ or "")
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nExamples\n")[0]
    entries = re.findall(r"^(\w+) : (.+)\n((?:    .+\n)+)", f"{section}\n", re.MULTILINE)
    return {name: (type_, lines.splitlines()) for name, type_, lines in entries}
