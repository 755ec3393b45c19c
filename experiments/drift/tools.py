"""isodepth, and tests made from SciPy and scikit-learn.

Each function takes two pandas frames with the same columns and returns an `Answer`. Tests reject at
5%. Per-column tests drop the missing values of their column.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.power.rivals import kernel_tests

ALPHA = 0.05
N_PERMUTATIONS = 199


class Answer(NamedTuple):
    """Decision of one tool about one pair of tables.

    Attributes
    ----------
    detected : bool
    column : str or None
        First column that the tool names; None if it does not name columns.
    rows : list of int or None
        Positions of suspicious rows of the second table; None if the tool does not list rows.
    seconds : float
    """

    detected: bool
    column: str | None
    rows: list[int] | None
    seconds: float


def timed(tool: Callable[[Any, Any, int], tuple[bool, str | None, list[int] | None]]) -> Any:
    """Return the tool as a function (X, Y, seed) -> Answer."""

    def run(X: pd.DataFrame, Y: pd.DataFrame, seed: int) -> Answer:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            detected, column, rows = tool(X, Y, seed)
        return Answer(bool(detected), column, rows, time.perf_counter() - start)

    return run


def _isodepth(X: Any, Y: Any, seed: int, tolerance: float | None = None) -> Any:
    import isodepth

    result = isodepth.two_sample_test(
        X, Y, nan_policy="omit", n_permutations=N_PERMUTATIONS, tolerance=tolerance,
        random_state=seed,
    )  # fmt: skip
    named = [column for change in result.changes for column in change.columns]
    return result.significant, named[0] if named else None, None


def isodepth_rows(X: pd.DataFrame, Y: pd.DataFrame, seed: int) -> list[int]:
    """Return the positions of the rows of Y that isodepth lists as suspicious."""
    import isodepth

    result = isodepth.two_sample_test(X, Y, nan_policy="omit", n_permutations=19, random_state=seed)
    return [int(row.row) for row in result.suspicious_rows() if row.sample == "Y"]


def column_pvalues(X: pd.DataFrame, Y: pd.DataFrame) -> dict[str, float]:
    """Compute a p-value per column: Kolmogorov-Smirnov for numbers, chi-squared for categories."""
    from scipy.stats import chi2_contingency, ks_2samp

    pvalues = {}
    for name in X.columns:
        x, y = X[name].dropna(), Y[name].dropna()
        if pd.api.types.is_numeric_dtype(X[name]) and not pd.api.types.is_bool_dtype(X[name]):
            pvalues[name] = float(ks_2samp(x, y).pvalue)
            continue
        values = sorted({*map(str, x), *map(str, y)})
        counts = np.array([[(side.astype(str) == v).sum() for v in values] for side in (x, y)])
        pvalues[name] = float(chi2_contingency(counts).pvalue) if len(values) > 1 else 1.0
    return pvalues


def _holm(X: Any, Y: Any, seed: int) -> Any:
    pvalues = column_pvalues(X, Y)
    first = min(pvalues, key=lambda name: pvalues[name])
    detected = pvalues[first] * len(pvalues) <= ALPHA
    return detected, first if detected else None, None


def encode(X: pd.DataFrame, Y: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Encode both tables as numbers: one column per category, medians for missing numbers."""
    both = pd.concat([X, Y], ignore_index=True)
    numbers = both.select_dtypes("number").astype(float)
    numbers = numbers.fillna(numbers.median())
    spread = numbers.std().replace(0, 1)
    parts = [((numbers - numbers.mean()) / spread).to_numpy()]
    others = both.drop(columns=numbers.columns)
    if others.shape[1]:
        parts.append(pd.get_dummies(others.astype(str)).to_numpy(float))
    rows = np.hstack(parts)
    return rows[: len(X)], rows[len(X) :]


def _kernel(name: str) -> Callable[[Any, Any, int], Any]:
    def tool(X: Any, Y: Any, seed: int) -> Any:
        x, y = encode(X, Y)
        return kernel_tests(x, y, (), N_PERMUTATIONS, seed)[name] <= ALPHA, None, None

    return tool


def _classifier(X: Any, Y: Any, seed: int) -> Any:
    """Test whether out-of-fold scores of gradient boosting separate the samples (Mann-Whitney)."""
    from scipy.stats import mannwhitneyu
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    x, y = encode(X, Y)
    missing = pd.concat([X, Y]).isna().to_numpy(float)
    rows = np.hstack([np.vstack([x, y]), missing])
    labels = np.repeat([0, 1], [len(x), len(y)])
    model = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, random_state=seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    scores = cross_val_predict(model, rows, labels, cv=folds, method="predict_proba")[:, 1]
    pvalue = mannwhitneyu(scores[labels == 1], scores[labels == 0], alternative="greater").pvalue
    return not math.isnan(pvalue) and pvalue <= ALPHA, None, None


TOOLS: dict[str, Callable[[pd.DataFrame, pd.DataFrame, int], Answer]] = {
    "isodepth": timed(_isodepth),
    "isodepth, tolerance 0.1": timed(lambda X, Y, seed: _isodepth(X, Y, seed, 0.1)),
    "KS / chi-squared + Holm": timed(_holm),
    "energy distance": timed(_kernel("energy")),
    "classifier (gradient boosting)": timed(_classifier),
}
