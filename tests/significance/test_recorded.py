"""Results of fixed tests equal recorded results; RECORD=1 overwrites the records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.results import assert_recorded

from isodepth import Metric, two_sample_test

pd = pytest.importorskip("pandas")

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "blocks": {"blocks": [np.arange(150) // 5, 40 + np.arange(110) // 4], "scale": None},
    "tolerance": {"tolerance": 0.08, "n_directions": 11},
    "regions": {"method": Metric(q=1.0, p=3.0, eps=0.2, levels=7), "scale": None},
    "wide": {"n_directions": 35, "scale": np.full(17, 2.0)},
    "wide-tolerance": {"tolerance": 0.02, "n_directions": 35},
}


def pair(name: str, rng: np.random.Generator) -> list[Any]:
    """Return samples with changes of columns, dependence, shares and missing values."""
    if name.startswith("wide"):
        # There are more pairs of columns than the test compares, and one pair changes.
        x, y = rng.normal(size=(120, 17)), rng.normal(size=(90, 17))
        y[:, 3] = 0.8 * y[:, 9] + 0.6 * y[:, 3]
        return [x, y]
    frames = []
    for n, changed in ((150, 0), (110, 1)):
        a, kind = rng.normal(size=n), rng.choice(["u", "v", "w"], n, p=[0.5, 0.3, 0.2])
        shape = np.where(changed, np.sign(a) + 0.2 * rng.normal(size=n), 1.2 * rng.normal(size=n))
        b = np.where(kind == "v", changed, -changed) + rng.normal(size=n)
        frame = pd.DataFrame({"shift": rng.normal(size=n) + changed, "inner": a, "within": b})
        frame = frame.assign(wide=(1 + changed) * rng.normal(size=n), shape=shape, kind=kind)
        frame["both"] = (2 + changed) * rng.standard_t(2, n) - changed
        frame["counts"] = rng.poisson(2 + changed, n)
        frame["flag"] = rng.random(n) < 0.6 - changed / 4
        frame.loc[rng.random(n) < 0.02 + 0.1 * changed, "wide"] = np.nan
        frames.append(frame)
    return frames


@pytest.mark.parametrize("name", SETTINGS)
def test_results_are_the_recorded_ones(name: str) -> None:
    X, Y = pair(name, np.random.default_rng(90))
    options = {"n_permutations": 99, "random_state": 2, "nan_policy": "keep", **SETTINGS[name]}
    result = two_sample_test(X, Y, **options)
    found = result.to_dict()
    # The statistic may be near 0, so its tolerance is relative to the null distribution.
    found["null_distribution"] = [found.pop("statistic"), *result.null_distribution.tolist()]
    found["signature"] = found["signature"].split("|v=")[0]
    assert_recorded(found, Path(__file__).with_name(f"recorded-{name}.json"))
