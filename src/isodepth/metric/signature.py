"""Signatures, which are short strings with the settings that determine a distance."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from isodepth._version import __version__
from isodepth.depth.base import depth_text

#: Version of the numerical results, which increases if a release changes them. Version 2: the
#: projection depth uses another scale if the MAD is zero. Version 3: random directions for a seed
#: are generated in another way.
ALGORITHM = 3


def signature_of(settings: Any, dtype: str | None, steps: int) -> str:
    """Return the signature of a metric with these `settings`.

    `dtype` is the dtype of the samples, or None, and `steps` the number of refinement steps.
    """
    return signature_text(plain_settings(settings, dtype, steps))


#: Types of the values of `plain_settings`.
SETTING_TYPES: dict[str, tuple[type, ...]] = {
    "depth": (str,),
    "p": (float, int, str),
    "q": (float, int, str),
    "eps": (float, int),
    "levels": (int, str),
    "directions": (str,),
    "n_directions": (int,),
    "refine": (int,),
    "seed": (str,),
    "scale": (str, type(None)),
    "gap": (str,),
    "normalize": (bool,),
    "dtype": (str, type(None)),
    "version": (str,),
}


def plain_settings(settings: Any, dtype: str | None, steps: int) -> dict[str, Any]:
    """Return the settings that determine a distance as numbers and strings, which JSON can store.

    Infinity is the string "inf". Arrays are described by their length and a hash.
    """
    levels, scale = settings.levels, array_text(settings.scale)
    return {
        "depth": depth_text(settings.depth),
        "p": _plain_number(settings.p),
        "q": _plain_number(settings.q),
        "eps": settings.eps,
        "levels": levels if isinstance(levels, int) else str(levels),
        "directions": array_text(settings.directions),
        "n_directions": settings.n_directions,
        "refine": steps,
        "seed": seed_text(settings.random_state),
        "scale": scale,
        "gap": settings.gap,
        "normalize": settings.normalize,
        "dtype": dtype,
        "version": __version__,
    }


def json_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by the names of the options for JSON: infinity is the string "inf".

    Examples
    --------
    >>> json_settings({"p": 2, "q": math.inf})
    {'p': 2, 'q': 'inf'}
    """
    return {
        name: _plain_number(value) if isinstance(value, float) else value
        for name, value in settings.items()
    }


def option_settings(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the output of `plain_settings` to the names of the options.

    The orders p and q are numbers, and the version is excluded.

    Examples
    --------
    >>> option_settings({"p": 2, "q": "inf", "seed": "0", "version": "1.0.0"})
    {'p': 2, 'q': inf, 'random_state': 0}
    """
    found = {name: value for name, value in plain.items() if name not in ("seed", "version")}
    found |= {name: math.inf for name in ("p", "q") if found[name] == "inf"}
    seed = plain["seed"]
    fixed = int(seed) if seed.isdecimal() else None if seed == "none" else seed
    return found | {"random_state": fixed}


def header_settings(options: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Convert the output of `option_settings` to the form of `plain_settings`, for files.

    Examples
    --------
    >>> header_settings({"p": 2, "q": math.inf, "random_state": 0}, "1.0.0")
    {'p': 2, 'q': 'inf', 'seed': '0', 'version': '1.0.0'}
    """
    found = {name: value for name, value in options.items() if name != "random_state"}
    return json_settings(found) | {"seed": seed_text(options["random_state"]), "version": version}


def signature_text(plain: Mapping[str, Any]) -> str:
    """Format the output of `plain_settings` as a string, for people.

    The options q, gap and normalize are omitted if they have their default value.
    """
    directions = plain["directions"]
    if not directions.startswith("given:"):
        directions = f"{directions}:{plain['n_directions']}"
    shown = {name: plain[name] for name in ("depth", "p", "q", "eps", "levels")}
    shown["q"] = None if plain["q"] == "inf" else plain["q"]
    shown |= {"dirs": directions, "refine": plain["refine"], "seed": plain["seed"]}
    shown |= {"scale": plain["scale"], "gap": None if plain["gap"] == "search" else plain["gap"]}
    shown["normalize"] = None if plain["normalize"] else "no"
    return key_values("DR", {**shown, "dtype": plain["dtype"], "v": plain["version"]})


def _plain_number(value: float) -> float | str:
    return "inf" if math.isinf(value) else value


def key_values(name: str, fields: dict[str, Any]) -> str:
    """Format fields as ``name|key=value|...``, without those whose value is None.

    Floats are written with the fewest digits that identify them.
    """
    values = {
        key: repr(value).removesuffix(".0") if isinstance(value, float) else value
        for key, value in fields.items()
    }
    return "|".join([name, *(f"{k}={v}" for k, v in values.items() if v is not None)])


def settings_before_1_0(signature: str) -> dict[str, Any]:
    """Return the settings of a region table from a file of a version before 1.0.

    These files contain the signature only. The result has the form of `plain_settings`.
    """
    found = dict(part.split("=", 1) for part in signature.split("|")[1:])
    directions, count, *_ = [*found["dirs"].split(":"), ""]
    return {
        "depth": found.get("depth", ""),
        "p": _plain_number(float(found["p"])),
        "q": _plain_number(float(found.get("q", "inf"))),
        "eps": float(found["eps"]),
        "levels": int(found["levels"]),
        "directions": found["dirs"] if directions == "given" else directions,
        "n_directions": int(count),
        "refine": int(found.get("refine", 0)),
        "seed": found.get("seed", "none"),
        "scale": found.get("scale"),
        "gap": found.get("gap", "search"),
        "normalize": found.get("normalize", "yes") == "yes",
        "dtype": found.get("dtype"),
        "version": found.get("v", ""),
    }


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
