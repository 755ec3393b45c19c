"""Level of the test, by simulation, for constant, tied, missing, repeated and mixed data."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pandas")

from experiments.level.settings import SETTINGS
from experiments.level.study import pvalues

#: Settings with a short computation, one or more per kind of defect.
QUICK = (
    "normal, 8 + 8", "constant column", "constant column 1e300", "nearly constant, one row differs",
    "constant up to rounding", "rounding error of a column", "copy in another unit",
    "six columns of rank two", "90% missing", "mostly zero", "rows from 10 distinct ones",
    "one category", "rare categories", "blocks, constant column", "empty column",
    "no complete row", "mixed table, 8 + 8", "untidy table, 60 + 60",
)  # fmt: skip


@pytest.mark.parametrize("setting", QUICK)
def test_no_setting_rejects_often(setting: str) -> None:
    rejected = np.sum(np.array(pvalues(setting, range(20), n_permutations=19)) <= 0.05)
    # A binomial with 20 trials and probability 1/20 is above 6 once in twenty thousand.
    assert rejected <= 6


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_level(setting: str) -> None:
    p = np.array(pvalues(setting, range(1000)))
    for alpha in (0.05, 0.2):
        # 3.5 standard errors above alpha. Ties make p-values larger, so there is no lower limit.
        limit = alpha + 3.5 * np.sqrt(alpha * (1 - alpha) / len(p))
        assert np.mean(p <= alpha + 1e-12) <= limit
