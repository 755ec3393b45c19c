"""Signatures, which are short strings with the settings that determine a distance."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from isodepth._version import __version__
from isodepth.depth.resolve import depth_text

#: Version of the numerical results, which increases if a release changes them. Version 2: the
#: projection depth uses another scale if the MAD is zero. Version 3: random directions for a seed
#: are generated in another way.
ALGORITHM = 3


def signature_of(settings: Any, dtype: str | None, steps: int) -> str:
    """Format the settings of a metric as a string, with the dtype and `steps` of refinement."""
    levels, directions = settings.levels, settings.directions
    if isinstance(directions, str):
        directions = f"{directions}:{settings.n_directions}"
    # The options q, gap and normalize are omitted if they have their default value, as in earlier
    # versions, so that signatures of old and new results agree.
    fields = {
        "depth": depth_text(settings.depth),
        "p": settings.p,
        "q": None if math.isinf(settings.q) else settings.q,
        "eps": settings.eps,
        "levels": f"{levels}:{settings.n_levels}" if levels == "monte-carlo" else levels,
        "dirs": array_text(directions),
        "refine": steps,
        "seed": seed_text(settings.random_state),
        "scale": array_text(settings.scale),
        "gap": None if settings.gap == "search" else settings.gap,
        "normalize": None if settings.normalize else "no",
        "dtype": dtype,
        "v": __version__,
    }
    return key_values("DR", fields)


def key_values(name: str, fields: dict[str, Any]) -> str:
    """Format fields as ``name|key=value|...``, without those whose value is None.

    Floats are written with the fewest digits that identify them.
    """
    values = {
        key: repr(value).removesuffix(".0") if isinstance(value, float) else value
        for key, value in fields.items()
    }
    return "|".join([name, *(f"{k}={v}" for k, v in values.items() if v is not None)])


def signature_fields(signature: str) -> dict[str, str]:
    """Parse a signature such as ``DR|p=2|eps=0.1``. Return a dictionary of strings."""
    return dict(part.split("=", 1) for part in signature.split("|")[1:])


def seed_text(random_state: Any) -> str:
    """Return a random state as a string: the integer, "none" or "generator"."""
    if random_state is None:
        return "none"
    return str(random_state) if isinstance(random_state, int) else "generator"


def array_text(value: Any) -> str | None:
    """Return a string or None unchanged, and an array as a string of its length and a hash."""
    if value is None or isinstance(value, str):
        return value
    digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:8]
    return f"given:{len(value)}:{digest}"
