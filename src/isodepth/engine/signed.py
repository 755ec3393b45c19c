"""A direction and a sign in one number: k stands for u_k, and -1 - k for its opposite.

So the first direction has two codes as well, 0 and -1. The compiled walk writes these codes; this
is where they are read.
"""

from __future__ import annotations

import numpy as np


def place_of(codes: np.ndarray) -> np.ndarray:
    """The number of each direction, whatever its sign."""
    return np.where(codes >= 0, codes, -1 - codes)


def sign_of(codes: np.ndarray) -> np.ndarray:
    """1.0 for a direction itself, -1.0 for its opposite."""
    return np.where(codes >= 0, 1.0, -1.0)


def code_of(places: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The codes of directions by number and sign."""
    return np.where(signs > 0, places, -1 - places)


def moved(codes: np.ndarray, by: int) -> np.ndarray:
    """The codes once the directions are numbered from `by` on, each with its sign."""
    return code_of(place_of(codes) + by, sign_of(codes))


def signed_directions(directions: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The unit vectors (L, d) that codes (L,) into `directions` (K, d) stand for."""
    return directions[place_of(codes)] * sign_of(codes)[:, None]
