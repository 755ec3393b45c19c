"""Coordinates of a few vectors in their own span: the triangle of a QR factorization."""

from __future__ import annotations

import numpy as np


def coordinates_in_span(vectors: np.ndarray) -> np.ndarray:
    """Coordinates (k, r) of vectors (k, d) along orthonormal axes of their span, r = min(k, d).

    Every length and angle is kept, each coordinate as precise as the length of its own vector. The
    axes themselves, most of the work, are not made: see :func:`span_basis`.
    """
    return np.asarray(np.linalg.qr(vectors.T, mode="r")).T


def span_basis(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same coordinates (k, r), and the axes: orthonormal columns (d, r)."""
    basis, triangle = np.linalg.qr(vectors.T)
    return triangle.T, basis
