"""Settings of a metric, checked and with defaults filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
