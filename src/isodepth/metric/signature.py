"""The signature: a short line that says how a number was made, and can be read back."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from isodepth._version import __version__
from isodepth.core.directions import mean_of_direction
from isodepth.core.scaling import SCALES
from isodepth.data.validation import check_choice, check_integer, check_number
from isodepth.depth.base import DepthSource
from isodepth.depth.resolve import depth_key, depth_text, read_depth
from isodepth.errors import InvalidOptionError, SignatureError
from isodepth.gap.gaps import REGIONS, WAYS

#: How often the numbers that a depth gives have changed, plus one; 1 for depths not named here.
#: Raised only when numbers change, so that what is kept in files outlives a release.
ALGORITHMS = {
    # 2: where the median absolute deviation is zero, another scale takes its place.
    "projection": 2,
}


@dataclass(frozen=True)
class Signature:
    """How a number was made.

    Two signatures mean the same numbers when all fields but `v` agree and the depth had the same
    *algorithm number* (:data:`ALGORITHMS`). The version is there for people: most releases change
    no number. Tables keep their algorithm number beside the signature, in files too; files of
    0.1.0, which do not have it, are of algorithm 1. Signatures of a later version are refused,
    since only that version knows what they mean.

    Attributes
    ----------
    depth, levels, dirs, seed : str
        As they are written, such as ``monte-carlo:20``, ``uniform:1000`` and ``none``.
    p, eps, refine, gap, region, normalize, dtype, q
        The fields of :class:`isodepth.Metric`.
    scale : str or None
        As it is written: ``pooled``, ``reference``, or the number and digest of given ones.
    v : str
        The version of isodepth.

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

    depth: str
    p: float
    eps: float
    levels: str
    dirs: str
    refine: int
    seed: str
    gap: str = "search"
    region: str = "sample"
    normalize: bool = True
    dtype: str | None = None
    v: str = __version__
    q: float = math.inf
    scale: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any], dtype: str | None) -> Signature:
        """The signature of a metric with the given options, for numbers of precision `dtype`."""
        return cls(
            depth="none" if options["region"] == "envelope" else depth_text(options["depth"]),
            p=options["p"],
            eps=options["eps"],
            levels=levels_text(options["levels"], options["n_levels"]),
            dirs=directions_text(options["directions"], options["n_directions"]),
            refine=options["refine"],
            seed=seed_text(options["random_state"]),
            gap=options["gap"],
            region=options["region"],
            normalize=options["normalize"],
            dtype=dtype,
            v=__version__,
            q=options["q"],
            scale=scale_text(options["scale"]),
        )

    @classmethod
    def parse(cls, text: Any) -> Signature:
        """Read what `str` wrote; anything else raises SignatureError."""
        if not isinstance(text, str) or not text.startswith("DR|"):
            raise SignatureError(
                "a signature is a string such as 'DR|depth=projection|p=2|eps=0.1|levels=exact|"
                f"dirs=uniform:1000|refine=0|seed=0|v={__version__}', got {text!r}"
            )
        return _parsed(text)

    @classmethod
    def _split(cls, text: str) -> Signature:
        parts: dict[str, str] = {}
        for part in text.split("|")[1:]:
            key, separator, value = part.partition("=")
            if not separator or key in parts:
                raise SignatureError(f"unreadable part {part!r} in signature {text!r}")
            parts[key] = value
        missing = [key for key in _REQUIRED if key not in parts]
        unknown = [key for key in parts if key not in _REQUIRED + _OPTIONAL]
        if missing or unknown:
            raise SignatureError(
                f"signature {text!r} lacks {missing or 'nothing'} and has unknown fields "
                f"{unknown or 'nothing'}"
            )
        try:
            return cls._read(parts)
        except ValueError as error:
            raise SignatureError(f"unreadable value in signature {text!r}: {error}") from None

    @classmethod
    def _read(cls, parts: dict[str, str]) -> Signature:
        signature = cls(
            depth=parts["depth"],
            p=check_number(float(parts["p"]), "p", 0, low_open=True),
            eps=check_number(float(parts["eps"]), "eps", 0, 1, low_open=True),
            levels=parts["levels"],
            dirs=parts["dirs"],
            refine=check_integer(int(parts["refine"]), "refine", 0),
            seed=parts["seed"],
            gap=check_choice(parts.get("gap", "search"), "gap", WAYS),
            region=check_choice(parts.get("region", "sample"), "region", REGIONS),
            normalize=check_choice(parts.get("normalize", "yes"), "normalize", ("yes", "no"))
            == "yes",
            dtype=parts.get("dtype"),
            v=_checked_version(parts["v"]),
            q=check_number(float(parts.get("q", "inf")), "q", 1),
            scale=read_scale(parts.get("scale")),
        )
        if signature.dtype is not None:
            check_choice(signature.dtype, "dtype", ("float32", "float64"))
        if (signature.depth == "none") != (signature.region == "envelope"):
            raise InvalidOptionError(f"depth={signature.depth} with region={signature.region}")
        read_levels(signature.levels)
        read_directions(signature.dirs)
        return signature

    def __str__(self) -> str:
        written = {"depth": self.depth, "p": number_text(self.p)}
        # What is said only where it is not the usual: signatures of earlier versions stay valid.
        if self.q != math.inf:
            written["q"] = number_text(self.q)
        written |= {
            "eps": number_text(self.eps),
            "levels": self.levels,
            "dirs": self.dirs,
            "refine": str(self.refine),
            "seed": self.seed,
        }
        if self.scale is not None:
            written["scale"] = self.scale
        if self.gap != "search":
            written["gap"] = self.gap
        if self.region != "sample":
            written["region"] = self.region
        if not self.normalize:
            written["normalize"] = "no"
        if self.dtype is not None:
            written["dtype"] = self.dtype
        written["v"] = self.v
        return "|".join(["DR", *(f"{key}={value}" for key, value in written.items())])

    def options(
        self, directions: np.ndarray | None = None, scale: np.ndarray | None = None
    ) -> dict[str, Any]:
        """The options of the metric that wrote this.

        `directions` (K, d) and `scale` (d,) where they were given.
        """
        family, count = read_directions(self.dirs)
        if family == "given" and directions is None:
            raise SignatureError(
                "the directions were an array of the caller's: rebuild the metric with "
                "Metric(directions=that_array, ...)"
            )
        if scale is None and self.scale is not None and self.scale.startswith("given:"):
            raise SignatureError(
                "the scale was an array of the caller's: rebuild the metric with "
                "Metric(scale=that_array, ...)"
            )
        if self.seed == "generator":
            raise SignatureError(
                "the random state was a Generator, which a signature cannot hold: use an integer "
                "seed"
            )
        levels, n_levels = read_levels(self.levels)
        try:
            # Envelopes have no depth, and take the default for none.
            depth = {} if self.region == "envelope" else {"depth": read_depth(self.depth)}
            return {
                **depth,
                "p": self.p,
                "eps": self.eps,
                "levels": levels,
                "n_levels": n_levels,
                "directions": family if directions is None else directions,
                "n_directions": count,
                "refine": self.refine,
                "random_state": None if self.seed == "none" else int(self.seed),
                "gap": self.gap,
                "region": self.region,
                "normalize": self.normalize,
                "dtype": self.dtype,
                "q": self.q,
                "scale": self.scale if scale is None else scale,
            }
        except SignatureError:
            raise
        except ValueError as error:
            raise SignatureError(f"unreadable value in signature '{self}': {error}") from None

    def changed_options(self) -> dict[str, Any] | None:
        """The options that are not those of ``Metric()``, and the seed.

        None where an object of the caller's, which a signature cannot hold, was among them.
        """
        try:
            options = self.options()
        except SignatureError:
            return None
        usual = _USUAL.options()
        return {k: v for k, v in options.items() if k == "random_state" or usual[k] != v}

    @property
    def length(self) -> float:
        """The integral over beta in units of the mean: 1 where the mean is taken."""
        return 1.0 if self.normalize else 1.0 - self.eps

    def mean_over_directions(self, width: int) -> tuple[float, float]:
        """The power q, and what means are divided by for data with `width` columns."""
        return self.q, mean_of_direction(width, self.q)

    @property
    def algorithm(self) -> int:
        """The algorithm number that the depth has in this version."""
        return ALGORITHMS.get(self.depth.partition("(")[0], 1)

    def table_shape(self, width: int) -> tuple[int, int]:
        """Shape (L, 2K) of a table of data with `width` columns; (0, 0) where there is no grid."""
        levels, _ = read_levels(self.levels)
        family, count = read_directions(self.dirs)
        if isinstance(levels, str):
            return 0, 0
        # On a line one drawn direction is all there is.
        return levels, 2 * (1 if width == 1 and family != "given" else count)

    def differences(self, other: Signature) -> list[str]:
        """Names of the fields in which two signatures differ, apart from the version."""
        names = [field.name for field in fields(self) if field.name != "v"]
        return [name for name in names if getattr(self, name) != getattr(other, name)]


_USUAL = Signature("projection", 2.0, 0.1, "exact", "uniform:1000", 20, "none")


@lru_cache(maxsize=64)
def _parsed(text: str) -> Signature:
    # Tables of one making are compared again and again.
    return Signature._split(text)


_REQUIRED = ["depth", "p", "eps", "levels", "dirs", "refine", "seed", "v"]
_OPTIONAL = ["q", "scale", "gap", "region", "normalize", "dtype"]


def _checked_version(text: str) -> str:
    here, there = (_release(version) for version in (__version__, text))
    if there is None:
        raise InvalidOptionError(f"v={text!r} is no version of isodepth")
    if here is not None and there > here:
        raise InvalidOptionError(
            f"v={text} is later than this version of isodepth, {__version__}, which cannot know "
            "what its numbers mean; update isodepth"
        )
    return text


def _release(version: str) -> tuple[int, ...] | None:
    """The three numbers of a version such as 0.2.0 or 0.2.0.dev1."""
    found = re.fullmatch(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})(\.?(dev|a|b|rc|post)\d+)?", version)
    return None if found is None else tuple(int(number) for number in found.groups()[:3])


def directions_text(directions: Any, n_directions: int) -> str:
    """Family and number of directions, or number and digest of given ones."""
    if isinstance(directions, str):
        return f"{directions}:{n_directions}"
    digest = hashlib.sha256(np.ascontiguousarray(directions).tobytes()).hexdigest()[:8]
    return f"given:{len(directions)}:{digest}"


def scale_text(scale: Any) -> str | None:
    """How columns are scaled: by a word, or the number and digest of given scales."""
    if scale is None or isinstance(scale, str):
        return scale
    digest = hashlib.sha256(np.ascontiguousarray(scale).tobytes()).hexdigest()[:8]
    return f"given:{len(scale)}:{digest}"


def read_scale(text: str | None) -> str | None:
    """Check what `scale_text` wrote."""
    if text is None or text in SCALES or re.fullmatch(r"given:\d{1,9}:[0-9a-f]{8}", text):
        return text
    raise InvalidOptionError(f"scale={text!r}")


def seed_text(random_state: Any) -> str:
    """The seed, or why there is none."""
    if random_state is None:
        return "none"
    return str(random_state) if isinstance(random_state, int) else "generator"


def levels_text(levels: Any, n_levels: int | None) -> str:
    """The levels, with their number where they are drawn."""
    return f"{levels}:{n_levels}" if levels == "monte-carlo" else str(levels)


def read_levels(text: str) -> tuple[str | int, int | None]:
    """The options `levels` and `n_levels` that `levels_text` wrote."""
    levels, colon, count = text.partition(":")
    if levels == "monte-carlo":
        return levels, check_integer(int(count), "n_levels", 1)
    if colon:
        raise InvalidOptionError(f"levels={text!r}")
    return levels if levels == "exact" else check_integer(int(levels), "levels", 1), None


def read_directions(text: str) -> tuple[str, int]:
    """The family, or "given", and the number of directions that `directions_text` wrote."""
    family, _, count = text.partition(":")
    if family == "given":
        count = count.partition(":")[0]
    return family, check_integer(int(count), "n_directions", 1)


def number_text(value: float) -> str:
    """A number with all its digits, and no more."""
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


@dataclass(frozen=True, eq=False)
class Origin:
    """Where regions come from.

    The power p, the share eps, the levels and the way of finding gaps do not matter to regions;
    the depth and the directions along which it is computed do.

    Attributes
    ----------
    source : DepthSource
    directions : ndarray of shape (K, d)
    family, count : str or ndarray, and int
        `directions` and `n_directions` of the metric.
    random_state : None, int or numpy.random.Generator
    scale : ndarray of shape (d,) or None
        What the columns were divided by.
    """

    source: DepthSource
    directions: np.ndarray
    family: Any
    count: int
    random_state: Any
    scale: np.ndarray | None = None

    @property
    def dirs(self) -> str:
        """Family and number of the directions, as in a signature."""
        return directions_text(self.family, self.count)

    def differences(self, other: Origin) -> list[str]:
        """What differs, each with the values of both; empty where regions can be compared."""
        both = (self, other)
        found = []
        if self.source is not other.source and depth_key(self.source) != depth_key(other.source):
            found.append(f"depth ({' and '.join(depth_text(each.source) for each in both)})")
        if not np.array_equal(self.directions, other.directions):
            recipes = [f"{each.dirs} with seed {seed_text(each.random_state)}" for each in both]
            found.append(f"directions ({' and '.join(recipes)})")
        scales = [scale_text(each.scale) or "none" for each in both]
        if scales[0] != scales[1]:
            found.append(f"scale ({' and '.join(scales)})")
        return found
