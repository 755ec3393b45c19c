"""Codes of a direction and its sign, the first direction included."""

from __future__ import annotations

import numpy as np

from isodepth.engine.signed import code_of, moved, place_of, sign_of, signed_directions

PLACES = np.array([0, 0, 1, 1, 7])
SIGNS = np.array([1.0, -1.0, 1.0, -1.0, -1.0])


def test_codes_hold_number_and_sign() -> None:
    codes = code_of(PLACES, SIGNS)
    assert codes.tolist() == [0, -1, 1, -2, -8]
    assert place_of(codes).tolist() == PLACES.tolist()
    assert sign_of(codes).tolist() == SIGNS.tolist()


def test_moving_keeps_the_sign() -> None:
    codes = moved(code_of(PLACES, SIGNS), 5)
    assert place_of(codes).tolist() == [5, 5, 6, 6, 12]
    assert sign_of(codes).tolist() == SIGNS.tolist()


def test_vectors() -> None:
    vectors = np.arange(1.0, 9.0)[:, None] * [1.0, 2.0]
    found = signed_directions(vectors, code_of(PLACES, SIGNS))
    assert found.tolist() == [[1, 2], [-1, -2], [2, 4], [-2, -4], [-8, -16]]
