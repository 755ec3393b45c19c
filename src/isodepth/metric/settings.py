"""Types, checks, descriptions and documentation of the options of `isodepth.Metric`."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict, TypeVar

import numpy as np

from isodepth.base.annotations import (
    DepthLike,
    DirectionsLike,
    NanPolicy,
    Precision,
    RandomStateLike,
    ScaleLike,
)
from isodepth.base.options import (
    MOST,
    check_choice,
    check_integer,
    option_error,
)
from isodepth.device.host import to_host
from isodepth.errors import InvalidOptionError
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
#: Line of a docstring that `with_metric_options` replaces with the descriptions of parameters.
OPTIONS_LINE = "{options of Metric}"
#: Precisions of region tables.
TABLE_DTYPES = ("float64", "float32")
# Options of a metric that do not affect the distance.
_WITHOUT_EFFECT = ("n_jobs", "memory_mb")
#: Number of refinement steps if `refine` is None and q is infinite.
REFINE = 20

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


def checked_directions(directions: Any, n_directions: Any, default: int) -> tuple[Any, int]:
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
    if n_directions not in (default, len(directions)):
        raise InvalidOptionError(
            f"n_directions has no effect with an array of {len(directions)} directions, got "
            f"{n_directions!r}; remove it",
            option="n_directions",
        )
    return directions, len(directions)


def checked_levels(levels: Any) -> Any:
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


def check_refine(refine: Any, q: float, gap: str) -> None:
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


def checked_scale(scale: Any) -> Any:
    if scale is None or (isinstance(scale, str) and scale in SCALES):
        return scale
    if isinstance(scale, str) and scale.startswith("given:"):
        raise InvalidOptionError(
            f"scale={scale!r} is the description of an array in `settings`; pass the array itself, "
            "which is the attribute `scale` of a region table",
            option="scale",
        )
    return check_scale(scale)


def with_options_of(
    metric: Any, leave_out: Iterable[str] = (), types: Any = MetricOptions, **defaults: Any
) -> Callable[[Documented], Documented]:
    """Return a decorator that documents the options of the class `metric` in a function or class.

    The descriptions of the parameters replace the line OPTIONS_LINE of the docstring. Parameters
    that the docstring describes itself, and those in `leave_out`, are not inserted. In the
    signature that `inspect.signature` and notebooks show, the options replace ``**options``. Their
    annotations are those of the TypedDict `types`, which has all options that are not in
    `leave_out`. `defaults` are defaults that differ from those of `Metric`.
    """

    def decorate(documented: Documented) -> Documented:
        _show_options(documented, metric, leave_out, types.__annotations__, defaults)
        text = documented.__doc__
        if text is None:  # python -OO removes docstrings
            return documented
        text = inspect.cleandoc(text)
        if f"\n{OPTIONS_LINE}\n" not in text:
            raise ValueError(f"the docstring of {documented.__qualname__} lacks {OPTIONS_LINE!r}")
        known = {*leave_out, *re.findall(r"^(\w+) : ", text, re.MULTILINE)}
        shown = {f.name: repr(f.default).replace("'", '"') for f in fields(metric)}
        lines = [
            "\n".join([f"{name} : {type_}, default {shown[name]}", *description])
            for name, (type_, description) in metric_parameters(metric).items()
            if name not in known
        ]
        documented.__doc__ = text.replace(OPTIONS_LINE, "\n".join(lines))
        return documented

    return decorate


def _show_options(
    documented: Any,
    metric: Any,
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
    for field in fields(metric):
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


def metric_parameters(metric: Any) -> dict[str, tuple[str, list[str]]]:
    """Return the type and the description of every parameter in the docstring of `metric`.

    Keys are the names of the parameters. Descriptions are lists of indented lines.
    """
    text = inspect.cleandoc(metric.__doc__ or "")
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nExamples\n")[0]
    entries = re.findall(r"^(\w+) : (.+)\n((?:    .+\n)+)", f"{section}\n", re.MULTILINE)
    return {name: (type_, lines.splitlines()) for name, type_, lines in entries}
