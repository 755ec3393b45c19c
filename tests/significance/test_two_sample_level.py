"""Level and power of two_sample_test by simulation, up to at least three standard errors."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from experiments.power import laws
from isodepth import two_sample_test
from isodepth.typing import TwoSampleResult

pytestmark = pytest.mark.slow

TESTS = 2000


def check_level(results: list[TwoSampleResult], least: float = -np.inf) -> None:
    """Check that rejection rates of tests and of their columns are at most the level.

    The limit is 3.5 standard errors above the level. With `least`, which is negative, the rate of
    the tests must also be at least the level plus `least` standard errors.
    """
    tests = np.array([result.pvalue for result in results])
    columns = np.array([min(each.pvalue for each in r.column_tests) for r in results])
    for alpha in (0.01, 0.05, 0.1, 0.2, 0.5):
        error = np.sqrt(alpha * (1 - alpha) / len(results))
        shares = [np.mean(pvalues <= alpha + 1e-9) for pvalues in (tests, columns)]
        assert max(shares) <= alpha + 3.5 * error
        assert shares[0] >= alpha + least * error


@pytest.mark.parametrize("kind", ["normal", "ties", "blocks"])
def test_the_level_is_exact_for_the_same_distribution(kind: str) -> None:
    found = []
    for number in range(TESTS):
        x, y, blocks = laws.null(kind, 40, 2, np.random.default_rng([number, *kind.encode()]))
        result = two_sample_test(
            x, y, n_permutations=99, n_directions=20, blocks=blocks, random_state=number, n_jobs=1
        )
        found.append(result)
    # Ties make the rejection rate smaller, so it has no lower limit.
    check_level(found, -3.5 if kind != "ties" else -np.inf)


@pytest.mark.parametrize("n", [4, 30])
@pytest.mark.parametrize("tolerance", [None, 0.0])
def test_the_level_is_exact_with_missing_values(n: int, tolerance: float | None) -> None:
    """The level holds if missing values depend on the other column, in the same way in X and Y."""
    found = []
    for number in range(1000):
        rng = np.random.default_rng([number, n])
        rows = np.round(rng.normal(size=(2 * n + 3, 2)), 1)
        rows[rng.random(len(rows)) < 0.5 * (rows[:, 0] > 0), 1] = np.nan
        complete = ~np.isnan(rows[:, 1])
        if min(complete[:n].sum(), complete[n:].sum()) < 2:
            continue
        result = two_sample_test(
            rows[:n], rows[n:], n_permutations=99, n_directions=4, nan_policy="keep",
            random_state=number, n_jobs=1, tolerance=tolerance,
        )  # fmt: skip
        found.append(result)
    check_level(found)


def rejections(draw: object, tests: int, **options: object) -> int:
    found = 0
    for number in range(tests):
        x, y = draw(np.random.default_rng(number))  # type: ignore[operator]
        result = two_sample_test(x, y, n_permutations=99, random_state=number, **options)  # type: ignore[arg-type]
        found += result.pvalue <= 0.05
    return found


def test_the_level_holds_with_categories_of_very_different_sizes() -> None:
    pd = pytest.importorskip("pandas")

    def draw(rng: np.random.Generator) -> list[object]:
        p = [0.6, 0.3, 0.05, 0.03, 0.015, 0.005]
        values = [(rng.choice(list("abcdef"), n, p=p), rng.normal(size=n)) for n in (100, 70)]
        return [pd.DataFrame({"c": c, "x": x}) for c, x in values]

    # Three standard errors above 5%.
    assert rejections(draw, 1000) <= 70


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
