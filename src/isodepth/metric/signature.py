"""Settings of a metric, and their signature: a short string that can be parsed."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from isodepth._version import __version__
from isodepth.core.scaling import SCALES
from isodepth.data.validation import check_choice, check_integer, check_number
from isodepth.depth.base import DepthSource
from isodepth.depth.resolve import depth_key, depth_text, read_depth
from isodepth.errors import InvalidOptionError, SignatureError
from isodepth.hull import WAYS

#: Version of the numerical results, increased if a release changes them.
#: 2: the projection depth uses another scale if the MAD is zero. 3: streams of directions.
ALGORITHM = 3
#: Signature of the defaults of `isodepth.compare`.
_COMPARE = (
    "DR|depth=projection|p=2|eps=0.1|levels=exact|dirs=uniform:1000|refine=20|seed=none"
    f"|scale=pooled|v={__version__}"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings:
    """Settings of a metric; :class:`isodepth.Metric` explains each of them.

    Unlike the fields of a metric, `refine` and `memory_mb` are never None.
    """

    depth: Any
    p: float
    q: float
    eps: float
    n_directions: int
    directions: Any
    levels: Any
    n_levels: int | None
    normalize: bool
    refine: int
    gap: str
    scale: Any
    nan_policy: str
    dtype: str | None
    random_state: Any
    n_jobs: int | None
    memory_mb: float


@dataclass(frozen=True, kw_only=True)
class Signature:
    """Settings that determine a distance.

    Two signatures describe the same numbers if all fields except `v` agree and the algorithm number
    (:data:`ALGORITHM`) is the same. Tables and their files store the algorithm number beside the
    signature; it is 1 for files of version 0.1.0, which do not contain it. Signatures of a later
    version are refused.

    Attributes
    ----------
    depth, levels, dirs, seed : str
        As in the string, such as ``monte-carlo:20``, ``uniform:1000`` and ``none``.
    p, eps, refine, gap, normalize, dtype, q
        The fields of :class:`isodepth.Metric`.
    scale : str or None
        As in the string: ``pooled``, ``reference``, or the length and digest of an array.
    v : str
        Version of isodepth.

    Examples
    --------
    >>> from isodepth.metric.signature import Signature
    >>> text = "DR|depth=irw|p=2|eps=0.1|levels=20|dirs=sobol:64|refine=0|seed=7|v=0.1.0"
    >>> signature = Signature.parse(text)
    >>> signature.levels, signature.dirs
    ('20', 'sobol:64')
    >>> str(signature) == text
    True
    """

    # In the order of the string.
    depth: str
    p: float
    q: float = math.inf
    eps: float
    levels: str
    dirs: str
    refine: int
    seed: str
    scale: str | None = None
    gap: str = "search"
    normalize: bool = True
    dtype: str | None = None
    v: str

    @classmethod
    def of(cls, settings: Settings, dtype: str | None) -> Signature:
        """Return the signature of a metric, for numbers of precision `dtype`."""
        return cls(
            depth=depth_text(settings.depth),
            levels=levels_text(settings.levels, settings.n_levels),
            dirs=directions_text(settings.directions, settings.n_directions),
            seed=seed_text(settings.random_state),
            scale=scale_text(settings.scale),
            dtype=dtype,
            v=__version__,
            **{name: getattr(settings, name) for name in _SHARED},
        )

    @classmethod
    def parse(cls, text: Any) -> Signature:
        """Parse a string of `str(signature)`; any other value raises SignatureError."""
        if not isinstance(text, str) or not text.startswith("DR|"):
            raise SignatureError(f"a signature is a string such as {_COMPARE!r}, got {text!r}")
        return _parsed(text)

    def __str__(self) -> str:
        # Defaults of later fields are omitted, so that signatures of earlier versions stay valid.
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return "|".join(
            ["DR", *(f"{k}={_value_text(v)}" for k, v in values.items() if v != _DEFAULTS[k])]
        )

    def options(
        self, directions: np.ndarray | None = None, scale: np.ndarray | None = None
    ) -> dict[str, Any]:
        """Return the options of the metric with this signature.

        `directions` (K, d) and `scale` (d,) are needed if the metric has arrays of them.
        """
        family, count = read_directions(self.dirs)
        if family == "given" and directions is None:
            raise SignatureError(
                "the directions were an array, which a signature does not contain; use "
                "Metric(directions=that_array, ...)"
            )
        if scale is None and self.scale is not None and self.scale.startswith("given:"):
            raise SignatureError(
                "the scale was an array, which a signature does not contain; use "
                "Metric(scale=that_array, ...)"
            )
        if self.seed == "generator":
            raise SignatureError(
                "random_state was a Generator, which a signature does not contain; use an integer"
            )
        levels, n_levels = read_levels(self.levels)
        try:
            return {
                "depth": read_depth(self.depth),
                "levels": levels,
                "n_levels": n_levels,
                "directions": family if directions is None else directions,
                "n_directions": count,
                "random_state": None if self.seed == "none" else int(self.seed),
                "scale": self.scale if scale is None else scale,
                "dtype": self.dtype,
                **{name: getattr(self, name) for name in _SHARED},
            }
        except SignatureError:
            raise
        except ValueError as error:
            raise SignatureError(f"unreadable value in signature '{self}': {error}") from None

    def changed_options(self) -> dict[str, Any] | None:
        """Return the seed and all options that differ from the defaults of `isodepth.compare`.

        None if one of them is an array or an object, which a signature does not contain.
        """
        try:
            options = self.options()
        except SignatureError:
            return None
        usual = Signature.parse(_COMPARE).options()
        return {k: v for k, v in options.items() if k == "random_state" or usual[k] != v}

    @property
    def length(self) -> float:
        """Factor of the mean over levels: 1, or 1 - eps for the integral."""
        return 1.0 if self.normalize else 1.0 - self.eps

    def table_shape(self, width: int) -> tuple[int, int]:
        """Return the shape (L, 2K) of a table for `width` columns; (0, 0) without a grid."""
        levels, _ = read_levels(self.levels)
        family, count = read_directions(self.dirs)
        if isinstance(levels, str):
            return 0, 0
        # In one dimension a single direction is sampled.
        return levels, 2 * (1 if width == 1 and family != "given" else count)

    def differences(self, other: Signature) -> list[str]:
        """Return the names of the fields, without the version, in which two signatures differ."""
        names = [field.name for field in fields(self) if field.name != "v"]
        return [name for name in names if getattr(self, name) != getattr(other, name)]


#: Defaults of the fields; MISSING for fields that every signature contains.
_DEFAULTS = {field.name: field.default for field in fields(Signature)}
#: Fields with the name and value of an option of the metric.
_SHARED = ("p", "q", "eps", "refine", "gap", "normalize")


@lru_cache(maxsize=64)
def _parsed(text: str) -> Signature:
    # Cached because every comparison of two tables parses their signatures.
    parts: dict[str, str] = {}
    for part in text.split("|")[1:]:
        key, separator, value = part.partition("=")
        if not separator or key in parts:
            raise SignatureError(f"unreadable part {part!r} in signature {text!r}")
        parts[key] = value
    missing = [k for k, value in _DEFAULTS.items() if value is MISSING and k not in parts]
    unknown = [key for key in parts if key not in _DEFAULTS]
    if missing or unknown:
        raise SignatureError(
            f"signature {text!r} lacks {missing or 'nothing'} and has unknown fields "
            f"{unknown or 'nothing'}"
        )
    try:
        values = {key: _READERS.get(key, str)(value) for key, value in parts.items()}
        read_levels(values["levels"])
        read_directions(values["dirs"])
    except ValueError as error:
        raise SignatureError(f"unreadable value in signature {text!r}: {error}") from None
    return Signature(**values)


def _checked_version(text: str) -> str:
    here, there = (_release(version) for version in (__version__, text))
    if there is None:
        raise InvalidOptionError(f"v={text!r} is not a version of isodepth")
    if here is not None and there > here:
        raise InvalidOptionError(
            f"v={text} is later than this version of isodepth, {__version__}; update isodepth"
        )
    return text


def _release(version: str) -> tuple[int, ...] | None:
    """Return the three numbers of a version such as 0.2.0 or 0.2.0.dev1."""
    match = re.fullmatch(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})(\.?(dev|a|b|rc|post)\d+)?", version)
    return None if match is None else tuple(int(number) for number in match.groups()[:3])


def directions_text(directions: Any, n_directions: int) -> str:
    """Format directions: family and number, or number and digest of an array."""
    return f"{directions}:{n_directions}" if isinstance(directions, str) else _digest(directions)


def scale_text(scale: Any) -> str | None:
    """Format a scale: its name, or length and digest of an array."""
    return _digest(scale) if isinstance(scale, np.ndarray) else scale


def _digest(array: np.ndarray) -> str:
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:8]
    return f"given:{len(array)}:{digest}"


def seed_text(random_state: Any) -> str:
    """Format a random state: an integer, "none" or "generator"."""
    if random_state is None:
        return "none"
    return str(random_state) if isinstance(random_state, int) else "generator"


def levels_text(levels: Any, n_levels: int | None) -> str:
    """Format levels, with their number if they are random."""
    return f"{levels}:{n_levels}" if levels == "monte-carlo" else str(levels)


def read_levels(text: str) -> tuple[str | int, int | None]:
    """Parse a string of `levels_text`: the options `levels` and `n_levels`."""
    levels, colon, count = text.partition(":")
    if levels == "monte-carlo":
        return levels, check_integer(int(count), "n_levels", 1)
    if colon:
        raise InvalidOptionError(f"levels={text!r}")
    return levels if levels == "exact" else check_integer(int(levels), "levels", 1), None


def read_directions(text: str) -> tuple[str, int]:
    """Parse a string of `directions_text`: the family, or "given", and the number."""
    family, _, count = text.partition(":")
    if family == "given":
        count = count.partition(":")[0]
    return family, check_integer(int(count), "n_directions", 1)


def _value_text(value: Any) -> str:
    """Format the value of a field; numbers with the shortest exact digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


def _checked_scale(text: str) -> str:
    if text in SCALES or re.fullmatch(r"given:\d{1,9}:[0-9a-f]{8}", text):
        return text
    raise InvalidOptionError(f"scale={text!r}")


_READERS: dict[str, Callable[[str], Any]] = {
    "p": lambda text: check_number(float(text), "p", 0, low_open=True),
    "q": lambda text: check_number(float(text), "q", 1),
    "eps": lambda text: check_number(float(text), "eps", 0, 1, low_open=True),
    "refine": lambda text: check_integer(int(text), "refine", 0),
    "scale": _checked_scale,
    "gap": lambda text: check_choice(text, "gap", WAYS),
    "normalize": lambda text: check_choice(text, "normalize", ("yes", "no")) == "yes",
    "dtype": lambda text: check_choice(text, "dtype", ("float32", "float64")),
    "v": _checked_version,
}


@dataclass(frozen=True, eq=False)
class Origin:
    """Settings that determine regions: depth, directions and scale.

    Regions do not depend on p, eps, the levels and the computation of gaps.

    Attributes
    ----------
    source : DepthSource
    directions : ndarray of shape (K, d)
    family, count : str or ndarray, and int
        Options `directions` and `n_directions` of the metric.
    random_state : None, int or numpy.random.Generator
    scale : ndarray of shape (d,) or None
        Divisors of the columns.
    """

    source: DepthSource
    directions: np.ndarray
    family: Any
    count: int
    random_state: Any
    scale: np.ndarray | None = None

    @property
    def dirs(self) -> str:
        """Directions as in a signature."""
        return directions_text(self.family, self.count)

    def differences(self, other: Origin) -> list[str]:
        """Describe each difference with both values; empty if regions can be compared."""
        both = (self, other)
        differences = []
        if self.source is not other.source and depth_key(self.source) != depth_key(other.source):
            differences.append(f"depth ({' and '.join(depth_text(each.source) for each in both)})")
        if not np.array_equal(self.directions, other.directions):
            recipes = [f"{each.dirs} with seed {seed_text(each.random_state)}" for each in both]
            differences.append(f"directions ({' and '.join(recipes)})")
        scales = [scale_text(each.scale) or "none" for each in both]
        if scales[0] != scales[1]:
            differences.append(f"scale ({' and '.join(scales)})")
        return differences
