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
#: Columns of strings with more values are text or keys for tools that need categories.
MAX_CATEGORIES = 50


class Answer(NamedTuple):
    """Decision of one tool about one pair of tables.

    Attributes
    ----------
    detected : bool
    columns : list of tuples of str, or None
        Columns that the tool names, the most affected first, and pairs of columns if their
        dependence changed. None if it does not name columns.
    seconds : float
        Processor time.
    """

    detected: bool
    columns: list[tuple[str, ...]] | None
    seconds: float


Tool = Callable[[pd.DataFrame, pd.DataFrame, int], Answer]


def timed(tool: Callable[[Any, Any, int], tuple[bool, list[Any] | None]]) -> Tool:
    """Return a function that runs `tool` and returns an `Answer`, which includes the time.

    `tool` returns a decision and the named columns.
    """

    def run(X: pd.DataFrame, Y: pd.DataFrame, seed: int) -> Answer:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            detected, columns = tool(X, Y, seed)
        if columns is not None:
            columns = [(names,) if isinstance(names, str) else names for names in columns]
        return Answer(bool(detected), columns, time.process_time() - start)

    return run


def _isodepth(X: Any, Y: Any, seed: int, tolerance: float | None = None) -> Any:
    import isodepth

    result = isodepth.two_sample_test(
        X, Y, nan_policy="keep", n_permutations=N_PERMUTATIONS, tolerance=tolerance,
        random_state=seed,
    )  # fmt: skip
    return result.significant, [change.columns for change in result.changes if change.columns]


def isodepth_rows(X: pd.DataFrame, Y: pd.DataFrame, seed: int) -> list[int]:
    """Return the positions of the rows of Y that isodepth lists as suspicious."""
    import isodepth

    result = isodepth.two_sample_test(X, Y, nan_policy="keep", n_permutations=19, random_state=seed)
    return [int(row.row) for row in result.suspicious_rows() if row.sample == "Y"]


def column_pvalues(X: pd.DataFrame, Y: pd.DataFrame) -> dict[str, float]:
    """Compute a p-value per column: Kolmogorov-Smirnov for numbers, chi-squared for categories."""
    from scipy.stats import chi2_contingency, ks_2samp

    pvalues = {}
    for name in X.columns:
        x, y = X[name].dropna(), Y[name].dropna()
        if x.empty or y.empty or pd.api.types.is_datetime64_any_dtype(X[name]):
            continue
        if pd.api.types.is_numeric_dtype(X[name]) and not pd.api.types.is_bool_dtype(X[name]):
            pvalues[name] = float(ks_2samp(x, y).pvalue)
            continue
        labels = np.repeat(["x", "y"], [len(x), len(y)])
        counts = pd.crosstab(labels, np.concatenate([x.astype(str), y.astype(str)]))
        pvalues[name] = float(chi2_contingency(counts).pvalue) if counts.shape[1] > 1 else 1.0
    return pvalues


def _holm(X: Any, Y: Any, seed: int) -> Any:
    """Test every column, and adjust the p-values by Holm's procedure at the level 5%.

    Return whether any column is rejected, and the rejected columns in the order of their p-values.
    """
    pvalues = column_pvalues(X, Y)
    named = []
    for rank, name in enumerate(sorted(pvalues, key=lambda name: pvalues[name])):
        if pvalues[name] * (len(pvalues) - rank) > ALPHA:
            break
        named.append(name)
    return bool(named), named


def encode(X: pd.DataFrame, Y: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return both tables as numbers: one column per category, medians for missing numbers.

    Empty columns, dates, and strings with more than 50 values are left out.
    """
    both = pd.concat([X, Y], ignore_index=True).dropna(axis=1, how="all")
    numbers = both.select_dtypes("number").astype(float)
    numbers = numbers.fillna(numbers.median())
    spread = numbers.std().replace(0, 1)
    parts = [((numbers - numbers.mean()) / spread).to_numpy()]
    others = both.drop(columns=numbers.columns).select_dtypes(exclude="datetime")
    others = others[[name for name in others if others[name].nunique() <= MAX_CATEGORIES]]
    if others.shape[1]:
        parts.append(pd.get_dummies(others.astype(str)).to_numpy(float))
    rows = np.hstack(parts)
    return rows[: len(X)], rows[len(X) :]


def _kernel(name: str) -> Callable[[Any, Any, int], Any]:
    def tool(X: Any, Y: Any, seed: int) -> Any:
        x, y = encode(X, Y)
        return kernel_tests(x, y, (), N_PERMUTATIONS, seed)[name] <= ALPHA, None

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
    return not math.isnan(pvalue) and pvalue <= ALPHA, None


TOOLS: dict[str, Tool] = {
    "isodepth": timed(_isodepth),
    "isodepth, tolerance 0.1": timed(lambda X, Y, seed: _isodepth(X, Y, seed, 0.1)),
    "KS / chi-squared + Holm": timed(_holm),
    "energy distance": timed(_kernel("energy")),
    "classifier (gradient boosting)": timed(_classifier),
}
