"""Correlation coefficients along the last axis of two arrays; NaN where one side is constant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isodepth.data.validation import check_choice

COEFFICIENTS = ("pearson", "spearman", "kendall")


def coefficient_function(name: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The coefficient of that name."""
    check_choice(name, "coefficient", COEFFICIENTS)
    return {"pearson": pearson, "spearman": spearman, "kendall": kendall}[name]


def pearson(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The linear correlation."""
    x = x - x.mean(axis=-1, keepdims=True)
    y = y - y.mean(axis=-1, keepdims=True)
    return _ratio((x * y).sum(axis=-1), (x * x).sum(axis=-1), (y * y).sum(axis=-1))


def spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The linear correlation of ranks, ties sharing theirs."""
    from scipy.stats import rankdata

    return pearson(rankdata(x, axis=-1), rankdata(y, axis=-1))


def kendall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Tau-b: concordant less discordant pairs, with ties left out of each."""
    first, second = np.triu_indices(x.shape[-1], 1)
    dx = np.sign(x[..., first] - x[..., second])
    dy = np.sign(y[..., first] - y[..., second])
    return _ratio((dx * dy).sum(axis=-1), (dx * dx).sum(axis=-1), (dy * dy).sum(axis=-1))


def _ratio(product: np.ndarray, xx: np.ndarray, yy: np.ndarray) -> np.ndarray:
    scale = np.sqrt(xx) * np.sqrt(yy)
    result = np.full(np.shape(scale), np.nan)
    np.divide(product, scale, out=result, where=scale > 0)
    return np.clip(result, -1.0, 1.0)[()]
