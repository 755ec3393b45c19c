"""The signature: a short string that says how a number was made, and can be read back."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from isodepth._version import __version__
from isodepth.depth import BY_NAME, Depth
from isodepth.errors import SignatureError

#: Settings of a depth that a metric takes over, so that they are not the depth's own.
_TAKEN_OVER = ("n_directions", "directions", "random_state", "n_jobs")


def write_signature(options: dict[str, Any], dtype: str | None) -> str:
    """The signature of a metric with the given options."""
    fields = {
        "depth": _depth_text(options["depth"]),
        "p": _number_text(options["p"]),
        "eps": _number_text(options["eps"]),
        "levels": _levels_text(options["levels"], options["n_levels"]),
        "dirs": _directions_text(options["directions"], options["n_directions"]),
        "refine": str(options["refine"]),
        "seed": _seed_text(options["random_state"]),
    }
    if options["gap"] != "search":
        fields["gap"] = options["gap"]
    if options["region"] != "sample":
        fields["region"] = options["region"]
    if not options["normalize"]:
        fields["normalize"] = "no"
    if dtype is not None:
        fields["dtype"] = dtype
    fields["v"] = __version__
    return "|".join(["DR", *(f"{key}={value}" for key, value in fields.items())])


def read_signature(text: Any) -> dict[str, Any]:
    """The options of the metric that wrote `text`."""
    if not isinstance(text, str) or not text.startswith("DR|"):
        raise SignatureError(
            "a signature is a string such as 'DR|depth=projection|p=2|eps=0.1|levels=exact|"
            f"dirs=uniform:1000|refine=0|seed=0|v={__version__}', got {text!r}"
        )
    fields = {}
    for part in text.split("|")[1:]:
        key, separator, value = part.partition("=")
        if not separator or key in fields:
            raise SignatureError(f"unreadable part {part!r} in signature {text!r}")
        fields[key] = value
    required = ["depth", "p", "eps", "levels", "dirs", "refine", "seed", "v"]
    optional = ["gap", "region", "normalize", "dtype"]
    missing = [key for key in required if key not in fields]
    unknown = [key for key in fields if key not in required + optional]
    if missing or unknown:
        raise SignatureError(
            f"signature {text!r} lacks {missing or 'nothing'} and has unknown fields "
            f"{unknown or 'nothing'}"
        )
    try:
        return _read_fields(fields)
    except SignatureError:
        raise
    except ValueError as error:
        raise SignatureError(f"unreadable value in signature {text!r}: {error}") from None


def differing_fields(first: str, second: str) -> list[str]:
    """Names of the fields in which two signatures differ."""
    a, b = _fields(first), _fields(second)
    return [key for key in {**a, **b} if a.get(key) != b.get(key)]


def averaging(text: str) -> tuple[float, float]:
    """The power p of a signature, and its integral over beta in units of the mean."""
    fields = _fields(text)
    length = 1.0 - _read_number(fields["eps"]) if fields.get("normalize") == "no" else 1.0
    return _read_number(fields["p"]), length


def with_directions(text: str, directions: str) -> str:
    """The same signature with other directions."""
    fields = {**_fields(text), "dirs": directions}
    return "|".join(["DR", *(f"{key}={value}" for key, value in fields.items())])


def _fields(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split("|")[1:])  # type: ignore[misc]


def depth_key(depth: Any) -> Any:
    """What makes two `depth=` settings the same."""
    return _depth_text(depth) if isinstance(depth, str | Depth) else depth


def _read_fields(fields: dict[str, str]) -> dict[str, Any]:
    levels, _, n_levels = fields["levels"].partition(":")
    family, _, count = fields["dirs"].partition(":")
    if family == "given":
        raise SignatureError(
            "the directions were an array of the caller's: rebuild the metric with "
            "Metric(directions=that_array, ...)"
        )
    if fields["seed"] == "generator":
        raise SignatureError(
            "the random state was a Generator, which a signature cannot hold: use an integer seed"
        )
    return {
        "depth": _read_depth(fields["depth"]),
        "p": _read_number(fields["p"]),
        "eps": _read_number(fields["eps"]),
        "levels": levels if levels in ("exact", "monte-carlo") else int(levels),
        "n_levels": int(n_levels) if n_levels else None,
        "directions": family,
        "n_directions": int(count),
        "refine": int(fields["refine"]),
        "random_state": None if fields["seed"] == "none" else int(fields["seed"]),
        "gap": fields.get("gap", "search"),
        "region": fields.get("region", "sample"),
        "normalize": fields.get("normalize", "yes") != "no",
        "dtype": fields.get("dtype"),
    }


def _number_text(value: float) -> str:
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


def _read_number(text: str) -> float:
    return float(text)


def _levels_text(levels: Any, n_levels: int | None) -> str:
    return f"{levels}:{n_levels}" if levels == "monte-carlo" else str(levels)


def _directions_text(directions: Any, n_directions: int) -> str:
    if isinstance(directions, str):
        return f"{directions}:{n_directions}"
    digest = hashlib.sha256(np.ascontiguousarray(directions).tobytes()).hexdigest()[:8]
    return f"given:{len(directions)}:{digest}"


def _seed_text(random_state: Any) -> str:
    if random_state is None:
        return "none"
    return str(random_state) if isinstance(random_state, int) else "generator"


def _depth_text(depth: Any) -> str:
    if isinstance(depth, str):
        return depth
    if isinstance(depth, Depth):
        defaults = type(depth)().get_params()
        own = {
            key: value
            for key, value in depth.get_params().items()
            if key not in _TAKEN_OVER and value != defaults[key]
        }
        settings = ",".join(f"{k}={_setting_text(v)}" for k, v in own.items())
        return f"{depth.name}({settings})" if settings else depth.name
    name = getattr(depth, "__name__", type(depth).__name__)
    return f"foreign:{name.replace('|', '').replace('<', '').replace('>', '')}"


def _setting_text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else f"foreign:{type(value).__name__}"


def _read_depth(text: str) -> Any:
    if "foreign:" in text:
        raise SignatureError(
            f"depth {text!r} is the caller's own object, which a signature cannot hold: rebuild "
            "the metric with Metric(depth=that_object, ...)"
        )
    name, parenthesis, settings = text.partition("(")
    if name not in BY_NAME:
        raise SignatureError(f"unknown depth {name!r}; known are {', '.join(BY_NAME)}")
    if not parenthesis:
        return name
    pairs = (pair.split("=", 1) for pair in settings.rstrip(")").split(","))
    defaults = BY_NAME[name]().get_params()
    own: dict[str, Any] = {}
    for key, value in pairs:
        if key not in defaults:
            raise SignatureError(f"depth {name!r} has no setting {key!r}")
        own[key] = value if isinstance(defaults[key], str) else type(defaults[key])(value)
    return BY_NAME[name](**own)
