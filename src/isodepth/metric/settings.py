"""Settings: all that defines a metric, checked once, comparable and written as a signature."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np

from isodepth.core.directions import FAMILIES
from isodepth.core.levels import midpoint_levels
from isodepth.data.validation import (
    check_choice,
    check_direction_rows,
    check_integer,
    check_n_jobs,
    check_number,
)
from isodepth.depth import HalfspaceDepth
from isodepth.depth.resolve import DepthSource, resolve_depth
from isodepth.engine.threads import Resources
from isodepth.errors import InvalidOptionError, SignatureError
from isodepth.gap.supremum import REGIONS, WAYS
from isodepth.metric.signature import depth_key, read_signature, write_signature

Self = TypeVar("Self", bound="Settings")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Settings:
    """The fields of :class:`isodepth.Metric`, which documents them."""

    depth: Any = "projection"
    p: float = 2
    eps: float = 0.1
    n_directions: int = 1000
    directions: Any = "uniform"
    levels: Any = "exact"
    n_levels: int | None = None
    normalize: bool = True
    refine: int = 20
    gap: str = "search"
    region: str = "sample"
    dtype: str | None = None
    random_state: Any = None
    n_jobs: int | None = None
    memory_mb: float = 256.0

    def __post_init__(self) -> None:
        store = object.__setattr__
        store(self, "_depth", resolve_depth(self.depth))
        store(self, "p", check_number(self.p, "p", 0, low_open=True))
        store(self, "eps", check_number(self.eps, "eps", 0, 1, low_open=True))
        if isinstance(self.directions, str):
            check_choice(self.directions, "directions", FAMILIES)
            store(self, "n_directions", check_integer(self.n_directions, "n_directions", 1))
        else:
            rows = check_direction_rows(self.directions)
            rows.setflags(write=False)
            store(self, "directions", rows)
            store(self, "n_directions", len(rows))
        self._check_levels()
        store(self, "normalize", bool(self.normalize))
        store(self, "refine", check_integer(self.refine, "refine", 0))
        check_choice(self.gap, "gap", WAYS)
        self._check_region()
        if self.dtype is not None:
            check_choice(self.dtype, "dtype", ("float32", "float64"))
        check_n_jobs(self.n_jobs)
        check_number(self.memory_mb, "memory_mb", 0, low_open=True)
        seed = self.random_state
        if not (seed is None or isinstance(seed, np.random.Generator)):
            store(self, "random_state", check_integer(seed, "random_state", 0))

    def _check_region(self) -> None:
        check_choice(self.region, "region", REGIONS)
        if self.region == "sample":
            return
        if self.depth == "halfspace":
            object.__setattr__(self, "_depth", HalfspaceDepth(method="exact"))
        elif not (isinstance(self.depth, HalfspaceDepth) and self.depth.method == "exact"):
            raise InvalidOptionError(
                "region='exact' needs the exact halfspace depth: use depth='halfspace' with it, "
                f"got depth={self.depth!r}"
            )

    def _check_levels(self) -> None:
        if isinstance(self.levels, str):
            check_choice(self.levels, "levels", ("exact", "monte-carlo"))
        else:
            hint = "; or 'exact', or 'monte-carlo'"
            object.__setattr__(self, "levels", check_integer(self.levels, "levels", 1, hint))
        if self.levels == "monte-carlo":
            if self.n_levels is None:
                raise InvalidOptionError("levels='monte-carlo' needs n_levels, such as n_levels=20")
            check_integer(self.n_levels, "n_levels", 1)
        elif self.n_levels is not None:
            raise InvalidOptionError(
                f"n_levels={self.n_levels!r} only goes with levels='monte-carlo', got "
                f"levels={self.levels!r}; write levels={self.n_levels!r} for a grid of that many"
            )

    @classmethod
    def from_signature(cls: type[Self], text: str) -> Self:
        """The metric that wrote this signature."""
        options = read_signature(text)
        try:
            return cls(**options)
        except InvalidOptionError as error:
            raise SignatureError(f"signature {text!r} holds an invalid setting: {error}") from None

    @property
    def signature(self) -> str:
        """A short string that says how numbers of this metric are made."""
        return write_signature(self._options(), self.dtype)

    # -- what follows from the fields -------------------------------------------------------

    @property
    def _source(self) -> DepthSource:
        return self._depth  # type: ignore[attr-defined]

    @property
    def _resources(self) -> Resources:
        return Resources(self.n_jobs, self.memory_mb)

    @property
    def _length(self) -> float:
        return 1.0 if self.normalize else 1.0 - self.eps

    @property
    def _grid(self) -> np.ndarray | None:
        """The levels of a grid; None for exact ones."""
        return None if self.levels == "exact" else midpoint_levels(self.levels, self.eps)

    # -- a value among values ---------------------------------------------------------------

    def _options(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _key(self) -> tuple[Any, ...]:
        options = self._options()
        options["depth"] = depth_key(self.depth)
        if not isinstance(self.directions, str):
            options["directions"] = (self.directions.shape, self.directions.tobytes())
        return tuple(options.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature})"
