"""Agreement of a metric with human judgment, at the level of texts and of systems.

Scores and judgments are tables of shape (texts, systems), with NaN for a missing output or
rating; :func:`as_table` creates them. Correlations are signed: those of distances are negative.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import stats

COEFFICIENTS = ("pearson", "spearman", "kendall")


def as_table(
    texts: Sequence[Hashable], systems: Sequence[Hashable], values: Sequence[float]
) -> np.ndarray:
    """Return a table (texts, systems) of one value per text and system, both in sorted order.

    Examples
    --------
    >>> as_table([1, 1, 2], ["a", "b", "a"], [0.5, 0.7, 0.9])
    array([[0.5, 0.7],
           [0.9, nan]])
    """
    rows, row = np.unique(texts, return_inverse=True)
    columns, column = np.unique(systems, return_inverse=True)
    table = np.full((len(rows), len(columns)), np.nan)
    table[row, column] = values
    return table


def by_text(scores: Any, human: Any, coefficient: str = "pearson") -> np.ndarray:
    """Return for each text the correlation between scores and ratings across systems, (T,).

    It is NaN if the scores are constant. `coefficient` is that of `correlation`.
    """
    a, b = _check_tables(scores, human)
    coefficients = np.full(len(a), np.nan)
    present = ~np.isnan(a)
    whole = present.all(axis=1)
    coefficients[whole] = _coefficients(a[whole], b[whole], coefficient)
    for i in np.flatnonzero(~whole & (present.sum(axis=1) > 1)):
        rows = a[None, i, present[i]], b[None, i, present[i]]
        coefficients[i] = _coefficients(*rows, coefficient)[0]
    return coefficients


def _coefficients(x: np.ndarray, y: np.ndarray, name: str) -> np.ndarray:
    """Return the correlation coefficients (n,) between rows of x and rows of y, both (n, k).

    Row i of x is compared with row i of y. `name` is the name of the coefficient.
    """
    if name == "kendall":
        return np.array([stats.kendalltau(*pair).statistic for pair in zip(x, y, strict=True)])
    if name == "spearman":
        x, y = stats.rankdata(x, axis=1), stats.rankdata(y, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        return stats.pearsonr(x, y, axis=1).statistic


def correlation(scores: Any, human: Any, level: str, coefficient: str = "pearson") -> float:
    """Return the agreement of a metric with human judgment (the paper's Appendix E).

    Parameters
    ----------
    scores, human : array-likes of shape (texts, systems)
    level : {"text", "system"}
        "text" is the mean over texts of the correlation across systems. Texts for which scores or
        judgments are constant are left out. "system" is the correlation across systems of the means
        over texts.
    coefficient : {"pearson", "spearman", "kendall"}

    Examples
    --------
    >>> scores, human = [[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [1, 3, 2]]
    >>> round(correlation(scores, human, "text"), 6), round(correlation(scores, human, "system"), 6)
    (0.75, 0.866025)
    """
    if level == "text":
        return float(np.nanmean(by_text(scores, human, coefficient)))
    a, b = (np.nanmean(table, axis=0) for table in _check_tables(scores, human))
    return float(_coefficients(a[None], b[None], coefficient)[0])


def bootstrap_interval(
    scores: Any, human: Any, level: str, n_resamples: int = 2000, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the bootstrap percentile interval of a Pearson correlation.

    Texts are resampled. `level` is that of `correlation`.
    """
    options: dict[str, Any] = {
        "n_resamples": n_resamples,
        "confidence_level": confidence,
        "method": "percentile",
        "batch": 100,
        "rng": 0,
    }
    if level == "text":
        each = by_text(scores, human)
        resampled = stats.bootstrap((each,), np.nanmean, **options)
    else:
        a, b = _check_tables(scores, human)

        def of_resample(texts: np.ndarray, axis: int) -> np.ndarray:
            return stats.pearsonr(
                np.nanmean(a[texts], axis=-2), np.nanmean(b[texts], axis=-2), axis=-1
            ).statistic

        resampled = stats.bootstrap((np.arange(len(a)),), of_resample, **options)
    return float(resampled.confidence_interval.low), float(resampled.confidence_interval.high)


def williams_test(first: Any, second: Any, human: Any) -> float:
    """Test whether the first metric has the higher system-level Pearson correlation (one-sided).

    Williams (1959): the two correlations share the human scores, which the test takes into account;
    it needs at least four systems and assumes that system scores are about normal.
    """
    x, h = _check_tables(first, human)
    y, _ = _check_tables(second, human)
    n = h.shape[1]
    if n < 4:
        raise ValueError(f"Williams' test needs at least 4 systems, got {n}")
    (_, between, r_x), (_, _, r_y), _ = np.corrcoef(
        [np.nanmean(table, axis=0) for table in (x, y, h)]
    )
    # Distances decrease with judgments: orient both metrics the same way.
    between *= np.sign(r_x) * np.sign(r_y)
    r_x, r_y = abs(r_x), abs(r_y)
    rest = 1 - r_x**2 - r_y**2 - between**2 + 2 * r_x * r_y * between
    scale = 2 * rest * (n - 1) / (n - 3) + ((r_x + r_y) / 2) ** 2 * (1 - between) ** 3
    if scale <= 0 or between >= 1:
        return 0.5
    return float(stats.t.sf((r_x - r_y) * np.sqrt((n - 1) * (1 + between) / scale), n - 3))


def permutation_test(
    first: Any, second: Any, human: Any, level: str, n_permutations: int = 2000
) -> Any:
    """Test whether the first metric has the higher Pearson correlation with ratings.

    If both metrics are equally good, their standardized scores of a text can be exchanged. The
    scores of random texts are swapped. The p-value is the fraction of swaps with a difference of
    correlations that is at least as large (Deutsch et al. 2021). `level` is that of `correlation`.

    Returns
    -------
    result : of `scipy.stats.permutation_test`
        `statistic` is the difference of the absolute correlations, `pvalue` is one-sided.
    """
    _, h = _check_tables(first, human)
    both = np.stack([_standardized(scores, human, level) for scores in (first, second)])
    if level == "text":
        each = np.stack([by_text(scores, h) for scores in both])
    means, texts = np.nanmean(h, axis=0), np.arange(len(h))

    def agreement(metric: np.ndarray) -> np.ndarray:
        """Return the agreement if text t has scores of the metric `metric[..., t]`, 0 or 1."""
        if level == "text":
            return np.nanmean(each[metric, texts], axis=-1)
        mixed = np.nanmean(both[metric, texts], axis=-2)
        return np.abs(stats.pearsonr(mixed, means, axis=-1).statistic)

    return stats.permutation_test(
        (np.zeros(len(h), dtype=int), np.ones(len(h), dtype=int)),
        lambda a, b, axis: agreement(a) - agreement(b),
        permutation_type="samples",
        alternative="greater",
        n_resamples=n_permutations,
        batch=100,
        rng=0,
    )


def _check_tables(scores: Any, human: Any) -> tuple[np.ndarray, np.ndarray]:
    """Convert scores and ratings to arrays of equal shape.

    An entry that is NaN in one of them is set to NaN in both.
    """
    a, b = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape:
        raise ValueError(
            "scores and human judgments must be tables of one shape (texts, systems), got "
            f"{a.shape} and {b.shape}"
        )
    missing = np.isnan(a) | np.isnan(b)
    if missing.all(axis=0).any() or a.shape[1] < 2:
        raise ValueError("every system needs a score, and there must be at least two systems")
    return np.where(missing, np.nan, a), np.where(missing, np.nan, b)


def _standardized(scores: Any, human: Any, level: str) -> np.ndarray:
    """Return scores with mean 0 and variance 1, which correlate positively with the ratings."""
    table, _ = _check_tables(scores, human)
    sign = np.sign(correlation(table, human, level)) or 1.0
    spread = np.nanstd(table)
    return sign * (table - np.nanmean(table)) / (spread if spread > 0 else 1.0)
