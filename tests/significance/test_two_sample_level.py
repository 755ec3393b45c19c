"""Level and power of two_sample_test, by simulation: bounds are three standard errors and more."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.power import laws
from isodepth import two_sample_test

pytestmark = pytest.mark.slow

TESTS = 2000


@pytest.mark.parametrize("kind", ["normal", "ties", "blocks"])
def test_the_level_is_exact_for_one_law(kind: str) -> None:
    found = []
    for number in range(TESTS):
        x, y, blocks = laws.null(kind, 40, 2, np.random.default_rng([number, *kind.encode()]))
        found.append(
            two_sample_test(
                x, y, n_permutations=99, n_directions=20, levels=8, blocks=blocks,
                random_state=number, n_jobs=1,
            ).p_value
        )  # fmt: skip
    for alpha in (0.05, 0.2, 0.5):
        share = np.mean(np.array(found) <= alpha + 1e-9)
        error = np.sqrt(alpha * (1 - alpha) / TESTS)
        assert share <= alpha + 3.5 * error
        # Ties can only make it smaller.
        assert share >= alpha - 3.5 * error or kind == "ties"


@pytest.mark.parametrize("kind", laws.FOREIGN)
@pytest.mark.parametrize("both", [False, True])
def test_foreign_rows_stay_within_the_level(kind: str, both: bool) -> None:
    rejected = 0
    for number in range(100):
        x, y = laws.contaminated(kind, 500, 5, 0.05, both, np.random.default_rng(number))
        result = two_sample_test(x, y, tolerance=0.05, n_permutations=99, random_state=number)
        rejected += result.p_value <= 0.05
    # A binomial with mean 5 is above 13 once in two thousand.
    assert rejected <= 13


@pytest.mark.parametrize(
    ("change", "n", "d"),
    [("shift 0.6", 500, 5), ("scale 1.3", 500, 5), ("shift 0.35", 2000, 20),
     ("scale 1.15", 2000, 20)],
)  # fmt: skip
def test_changes_are_seen_in_spite_of_a_tolerance(change: str, n: int, d: int) -> None:
    seen = 0
    for number in range(40):
        x, y = laws.changed(change, n, d, np.random.default_rng(number))
        seen += (
            two_sample_test(x, y, tolerance=0.05, n_permutations=99, random_state=number).p_value
            <= 0.05
        )
    # A power of 0.9 gives 30 or fewer of 40 once in two hundred.
    assert seen > 30
