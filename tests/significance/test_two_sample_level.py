"""Level and power of two_sample_test, by simulation: bounds are three standard errors and more."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from experiments.power import laws
from isodepth import two_sample_test

pytestmark = pytest.mark.slow

TESTS = 2000


@pytest.mark.parametrize("kind", ["normal", "ties", "blocks"])
def test_the_level_is_exact_for_the_same_distribution(kind: str) -> None:
    found, columns = [], []
    for number in range(TESTS):
        x, y, blocks = laws.null(kind, 40, 2, np.random.default_rng([number, *kind.encode()]))
        result = two_sample_test(
            x, y, n_permutations=99, n_directions=20, blocks=blocks, random_state=number, n_jobs=1
        )
        found.append(result.pvalue)
        columns.append(min(column.pvalue for column in result.column_tests))
    for alpha in (0.05, 0.2, 0.5):
        share = np.mean(np.array(found) <= alpha + 1e-9)
        error = np.sqrt(alpha * (1 - alpha) / TESTS)
        assert share <= alpha + 3.5 * error
        # Ties can only make it smaller.
        assert share >= alpha - 3.5 * error or kind == "ties"
        assert np.mean(np.array(columns) <= alpha + 1e-9) <= alpha + 3.5 * error


@pytest.mark.parametrize("n", [4, 30])
@pytest.mark.parametrize("tolerance", [None, 0.0])
def test_the_level_is_exact_with_missing_values(n: int, tolerance: float | None) -> None:
    """Values go missing by the value of another column, in both samples alike."""
    found, columns = [], []
    for number in range(1000):
        rng = np.random.default_rng([number, n])
        rows = np.round(rng.normal(size=(2 * n + 3, 2)), 1)
        rows[rng.random(len(rows)) < 0.5 * (rows[:, 0] > 0), 1] = np.nan
        complete = ~np.isnan(rows[:, 1])
        if min(complete[:n].sum(), complete[n:].sum()) < 2:
            continue
        result = two_sample_test(
            rows[:n], rows[n:], n_permutations=99, n_directions=4, nan_policy="omit",
            random_state=number, n_jobs=1, tolerance=tolerance,
        )  # fmt: skip
        found.append(result.pvalue)
        columns.append(min(column.pvalue for column in result.column_tests))
    for alpha in (0.05, 0.2, 0.5):
        error = np.sqrt(alpha * (1 - alpha) / len(found))
        for pvalues in (found, columns):
            assert np.mean(np.array(pvalues) <= alpha + 1e-9) <= alpha + 3.5 * error


def rejections(draw: object, tests: int, **options: object) -> int:
    found = 0
    for number in range(tests):
        x, y = draw(np.random.default_rng(number))  # type: ignore[operator]
        result = two_sample_test(x, y, n_permutations=99, random_state=number, **options)  # type: ignore[arg-type]
        found += result.pvalue <= 0.05
    return found


@pytest.mark.parametrize("kind", laws.CONTAMINATIONS)
@pytest.mark.parametrize("both", [False, True])
def test_contaminated_rows_stay_within_the_level(kind: str, both: bool) -> None:
    draw = partial(laws.contaminated, kind, 500, 5, 0.05, both)
    # A binomial with mean 5 is above 13 once in two thousand.
    assert rejections(draw, 100, tolerance=0.05) <= 13


@pytest.mark.parametrize("kind", laws.ATTACKS)
def test_attacks_stay_within_the_level(kind: str) -> None:
    assert rejections(partial(laws.ATTACKS[kind], 500, 3, 25), 100, tolerance=0.05) <= 13


@pytest.mark.parametrize(
    ("change", "n", "d"),
    [("shift 0.6", 500, 5), ("scale 1.3", 500, 5), ("shift 0.35", 2000, 20),
     ("scale 1.15", 2000, 20), ("correlation 0.5", 1000, 5)],
)  # fmt: skip
def test_changes_are_seen_in_spite_of_a_tolerance(change: str, n: int, d: int) -> None:
    # A power of 0.9 gives 30 or fewer of 40 once in two hundred.
    assert rejections(partial(laws.changed, change, n, d), 40, tolerance=0.05) > 30
