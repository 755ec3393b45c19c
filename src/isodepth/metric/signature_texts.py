"""The parts of a signature: how settings are written, and read back."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np

from isodepth.core.scaling import SCALES
from isodepth.data.validation import check_integer
from isodepth.errors import InvalidOptionError


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
