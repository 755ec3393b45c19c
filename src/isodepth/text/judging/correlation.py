"""How well a metric agrees with human judgment: at the level of texts, and of systems.

Scores and judgments are tables of shape (texts, systems), NaN where a system has no output or no
rating; :func:`as_table` makes them. Correlations are signed: those of distances are negative.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from isodepth.data.validation import check_choice, check_integer, check_number
from isodepth.errors import InvalidInputError
from isodepth.text.judging.coefficients import coefficient_function, pearson

LEVELS = ("text", "system")

# Resamples are worked on a block at a time.
_BLOCK = 256


class BetterThan(NamedTuple):
    """A test that one metric correlates better with human judgment than another.

    Attributes
    ----------
    difference : float
        Of the two absolute correlations; positive when the first is larger.
    p_value : float
        One-sided: how often a difference at least as large arises if the two are equally good.
    statistic : float
        Williams' t, or the difference itself.
    """

    difference: float
    p_value: float
    statistic: float


def as_table(
    texts: Sequence[Hashable], systems: Sequence[Hashable], values: Sequence[float]
) -> tuple[np.ndarray, list[Any], list[Any]]:
    """Arrange one value for each (text, system) as a table.

    Returns
    -------
    table : float64 ndarray of shape (T, S), NaN where there is no value
    texts, systems : lists of length T and S, sorted

    Examples
    --------
    >>> from isodepth.text.correlation import as_table
    >>> as_table([1, 1, 2], ["a", "b", "a"], [0.5, 0.7, 0.9])
    (array([[0.5, 0.7],
           [0.9, nan]]), [1, 2], ['a', 'b'])
    """
    rows, columns = sorted(set(texts)), sorted(set(systems))  # type: ignore[type-var]
    row_of = {text: i for i, text in enumerate(rows)}
    column_of = {system: i for i, system in enumerate(columns)}
    table = np.full((len(rows), len(columns)), np.nan)
    for text, system, value in zip(texts, systems, values, strict=True):
        table[row_of[text], column_of[system]] = value
    return table, rows, columns


def text_level(scores: Any, human: Any, coefficient: str = "pearson") -> float:
    """Mean over texts of the correlation across systems (C_text of the paper's Appendix E).

    Texts on which scores or judgments are all equal have no correlation and are left out.

    Parameters
    ----------
    scores, human : array-likes of shape (texts, systems)
    coefficient : {"pearson", "spearman", "kendall"}

    Examples
    --------
    >>> from isodepth.text.correlation import text_level
    >>> round(text_level([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [1, 3, 2]]), 6)
    0.75
    """
    a, b = _check_tables(scores, human)
    return float(np.nanmean(_by_text(a, b, coefficient_function(coefficient))))


def system_level(scores: Any, human: Any, coefficient: str = "pearson") -> float:
    """Correlation across systems of the means over texts (C_sys of the paper's Appendix E).

    Parameters
    ----------
    scores, human : array-likes of shape (texts, systems)
    coefficient : {"pearson", "spearman", "kendall"}

    Examples
    --------
    >>> from isodepth.text.correlation import system_level
    >>> round(system_level([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [1, 3, 2]]), 6)
    0.866025
    """
    a, b = _check_tables(scores, human)
    return float(coefficient_function(coefficient)(np.nanmean(a, axis=0), np.nanmean(b, axis=0)))


def correlation(scores: Any, human: Any, level: str, coefficient: str = "pearson") -> float:
    """:func:`text_level` or :func:`system_level`, by name."""
    check_choice(level, "level", LEVELS)
    return (text_level if level == "text" else system_level)(scores, human, coefficient)


def bootstrap_interval(
    scores: Any,
    human: Any,
    level: str,
    coefficient: str = "pearson",
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: Any = 0,
) -> tuple[float, float]:
    """Percentile interval of a correlation when the texts are drawn anew, with replacement.

    Parameters
    ----------
    scores, human : array-likes of shape (texts, systems)
    level : {"text", "system"}
    coefficient : {"pearson", "spearman", "kendall"}
    confidence : float in (0, 1)
    n_resamples : int
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    low, high : float
    """
    check_choice(level, "level", LEVELS)
    check_number(confidence, "confidence", 0, 1, low_open=True, high_open=True)
    check_integer(n_resamples, "n_resamples", 1)
    a, b = _check_tables(scores, human)
    function = coefficient_function(coefficient)
    rng = np.random.default_rng(random_state)
    by_text = _by_text(a, b, function) if level == "text" else None
    found = []
    for start in range(0, n_resamples, _BLOCK):
        size = min(_BLOCK, n_resamples - start)
        drawn = rng.integers(len(a), size=(size, len(a)))
        if by_text is not None:
            found.append(np.nanmean(by_text[drawn], axis=1))
        else:
            counts = np.zeros((size, len(a)))
            np.add.at(counts, (np.arange(size)[:, None], drawn), 1.0)
            found.append(function(_weighted_means(counts, a), _weighted_means(counts, b)))
    tail = (1.0 - confidence) / 2
    low, high = np.nanquantile(np.concatenate(found), [tail, 1.0 - tail])
    return float(low), float(high)


def williams_test(first: Any, second: Any, human: Any) -> BetterThan:
    """Whether the first metric has the higher system-level Pearson correlation (Williams 1959).

    The two correlations share the human scores, which the test takes into account; it needs at
    least four systems and assumes that system scores are about normal.

    Parameters
    ----------
    first, second, human : array-likes of shape (texts, systems)

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.text.correlation import williams_test
    >>> rng = np.random.default_rng(0)
    >>> human = rng.normal(size=(50, 12))
    >>> good, poor = (human + s * rng.normal(size=human.shape) for s in (0.2, 5.0))
    >>> williams_test(good, poor, human).p_value < 0.05
    True
    """
    from scipy.stats import t as student

    x, h = _check_tables(first, human)
    y, _ = _check_tables(second, human)
    n = h.shape[1]
    if n < 4:
        raise InvalidInputError(f"Williams' test needs at least 4 systems, got {n}")
    means = [np.nanmean(table, axis=0) for table in (x, y, h)]
    r_x, r_y = (float(pearson(mean, means[2])) for mean in means[:2])
    # Distances fall as judgments rise: turn both metrics the same way.
    between = float(pearson(means[0], means[1])) * np.sign(r_x) * np.sign(r_y)
    r_x, r_y = abs(r_x), abs(r_y)
    rest = 1 - r_x**2 - r_y**2 - between**2 + 2 * r_x * r_y * between
    scale = 2 * rest * (n - 1) / (n - 3) + ((r_x + r_y) / 2) ** 2 * (1 - between) ** 3
    if scale <= 0 or between >= 1:
        return BetterThan(r_x - r_y, 0.5, 0.0)
    statistic = (r_x - r_y) * np.sqrt((n - 1) * (1 + between) / scale)
    return BetterThan(r_x - r_y, float(student.sf(statistic, n - 3)), float(statistic))


def permutation_test(
    first: Any,
    second: Any,
    human: Any,
    level: str,
    coefficient: str = "pearson",
    *,
    n_permutations: int = 2000,
    random_state: Any = 0,
) -> BetterThan:
    """Whether the first metric correlates better, by swapping the two on random texts.

    If both are equally good, their scores of a text (brought to one scale and one sign) can be
    exchanged without harm: how often does that give as large a difference (Deutsch et al. 2021)?

    Parameters
    ----------
    first, second, human : array-likes of shape (texts, systems)
    level : {"text", "system"}
    coefficient : {"pearson", "spearman", "kendall"}
    n_permutations : int
    random_state : None, int or numpy.random.Generator
    """
    check_choice(level, "level", LEVELS)
    check_integer(n_permutations, "n_permutations", 1)
    x, h = _check_tables(first, human)
    y, _ = _check_tables(second, human)
    function = coefficient_function(coefficient)
    x, y = (_standardized(table, h, level, coefficient) for table in (x, y))
    rng = np.random.default_rng(random_state)
    observed = abs(correlation(x, h, level, coefficient)) - abs(
        correlation(y, h, level, coefficient)
    )
    by_text = _by_text(x, h, function) - _by_text(y, h, function) if level == "text" else None
    mean_h = np.nanmean(h, axis=0)
    reached = 0
    for start in range(0, n_permutations, _BLOCK):
        swapped = rng.random((min(_BLOCK, n_permutations - start), len(x))) < 0.5
        if by_text is not None:
            differences = np.nanmean(np.where(swapped, -by_text, by_text), axis=1)
        else:
            kept, taken = (~swapped).astype(float), swapped.astype(float)
            mean_x = _mixed_means(kept, x, taken, y)
            mean_y = _mixed_means(kept, y, taken, x)
            differences = np.abs(function(mean_x, mean_h)) - np.abs(function(mean_y, mean_h))
        reached += int((differences >= observed - 1e-12).sum())
    return BetterThan(observed, (1 + reached) / (1 + n_permutations), observed)


# -- tables ---------------------------------------------------------------------------------------


def _check_tables(scores: Any, human: Any) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.asarray(scores, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape:
        raise InvalidInputError(
            "scores and human judgments must be tables of one shape (texts, systems), got "
            f"{a.shape} and {b.shape}"
        )
    if np.isinf(a).any() or np.isinf(b).any():
        raise InvalidInputError("scores and human judgments must not be infinite")
    missing = np.isnan(a) | np.isnan(b)
    if missing.all(axis=0).any() or a.shape[1] < 2:
        raise InvalidInputError(
            "every system needs a score, and there must be at least two systems"
        )
    return np.where(missing, np.nan, a), np.where(missing, np.nan, b)


def _by_text(a: np.ndarray, b: np.ndarray, function: Callable[..., np.ndarray]) -> np.ndarray:
    """The correlation across systems of each text (T,), NaN where there is none."""
    whole = ~np.isnan(a).any(axis=1)
    result = np.full(len(a), np.nan)
    result[whole] = function(a[whole], b[whole])
    for i in np.flatnonzero(~whole):
        here = ~np.isnan(a[i])
        if here.sum() > 1:
            result[i] = function(a[i, here], b[i, here])
    return result


def _weighted_means(counts: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Means over texts (B, S), each text counted `counts` (B, T) times."""
    present = ~np.isnan(table)
    return (counts @ np.where(present, table, 0.0)) / (counts @ present)


def _mixed_means(kept: np.ndarray, x: np.ndarray, taken: np.ndarray, y: np.ndarray) -> np.ndarray:
    present = ~np.isnan(x) & ~np.isnan(y)
    total = kept @ np.where(present, x, 0.0) + taken @ np.where(present, y, 0.0)
    return total / present.sum(axis=0)


def _standardized(table: np.ndarray, human: np.ndarray, level: str, coefficient: str) -> np.ndarray:
    """Mean zero, spread one, and turned so that it rises with the judgments."""
    sign = np.sign(correlation(table, human, level, coefficient)) or 1.0
    spread = np.nanstd(table)
    return sign * (table - np.nanmean(table)) / (spread if spread > 0 else 1.0)
