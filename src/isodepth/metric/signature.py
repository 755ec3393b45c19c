"""Signatures, which are short strings with the settings that determine a distance."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from isodepth._version import __version__
from isodepth.base.export import named_infinity, plain

#: Version of the numerical results, which increases if a release changes them. Version 2: the
#: projection depth uses another scale if the MAD is zero. Version 3: random directions for a seed
#: are generated in another way.
ALGORITHM = 3


#: Types of the settings of a region table in a file. Infinity is the string "inf".
SETTING_TYPES: dict[str, tuple[type, ...]] = {
    "depth": (str,),
    "p": (float, int, str),
    "q": (float, int, str),
    "eps": (float, int),
    "n_directions": (int,),
    "directions": (str,),
    "levels": (int,),
    "normalize": (bool,),
    "refine": (int,),
    "gap": (str,),
    "scale": (str, type(None)),
    "nan_policy": (str,),
    "dtype": (str, type(None)),
    "random_state": (int, str, type(None)),
}


def signature_text(settings: Mapping[str, Any], version: str | None = None) -> str:
    """Format the output of `used_settings` as a short string, for people.

    The options q, gap and normalize are omitted if they have their default value, scale and dtype
    if they are None, refine with ``gap="exact"``, and `nan_policy` always. Weights and kinds are
    added if they were passed. `version` is the version
    of isodepth; None for the installed one.
    """
    directions, seed = settings["directions"], settings["random_state"]
    if not directions.startswith("given:"):
        directions = f"{directions}:{settings['n_directions']}"
    shown = {name: named_infinity(settings[name]) for name in ("depth", "p", "q", "eps", "levels")}
    shown["q"] = None if shown["q"] == "inf" else shown["q"]
    exact = settings["gap"] == "exact"
    shown |= {"dirs": directions, "refine": None if exact else settings["refine"]}
    shown |= {"seed": "none" if seed is None else seed, "scale": settings["scale"]}
    shown["gap"] = None if settings["gap"] == "search" else settings["gap"]
    shown["normalize"] = None if settings["normalize"] else "no"
    shown |= {"weights": settings.get("weights"), "kinds": kinds_text(settings.get("kinds"))}
    return key_values("DR", {**shown, "dtype": settings["dtype"], "v": version or __version__})


def key_values(name: str, fields: dict[str, Any]) -> str:
    """Format fields as ``name|key=value|...``, without those whose value is None.

    Floats are written with the fewest digits that identify them.
    """
    values = {
        key: repr(value).removesuffix(".0") if isinstance(value, float) else value
        for key, value in fields.items()
    }
    return "|".join([name, *(f"{k}={v}" for k, v in values.items() if v is not None)])


def kinds_text(kinds: Mapping[Any, Any] | None) -> str | None:
    """Describe the option `kinds` by its length and a hash; None if it is None."""
    if kinds is None:
        return None
    digest = hashlib.sha256(repr(plain(kinds)).encode()).hexdigest()[:8]
    return f"given:{len(kinds)}:{digest}"


def array_text(value: Any) -> str | None:
    """Describe an array by its length and a hash, as a string.

    A string and None are returned unchanged.
    """
    if value is None or isinstance(value, str):
        return value
    digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:8]
    return f"given:{len(value)}:{digest}"
