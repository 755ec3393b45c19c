"""Tests of the option `scale` with labels: divisors are matched by the names of the columns."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.errors import InvalidOptionError

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(40, 2)), columns=["a", "b"])
Y = X + [0.5, 10.0]
SORTED, SWAPPED = pd.Series({"a": 1.0, "b": 10.0}), pd.Series({"b": 10.0, "a": 1.0})
OPTIONS: dict[str, Any] = {"n_directions": 50, "random_state": 0}

CALLS = {
    "distance": lambda x, y, s: isodepth.distance(x, y, scale=s, **OPTIONS),
    "compare": lambda x, y, s: isodepth.compare(x, y, scale=s, **OPTIONS).distance,
    "test": lambda x, y, s: isodepth.two_sample_test(
        x, y, scale=s, n_permutations=19, random_state=0
    ).statistic,
    "pairwise": lambda x, y, s: isodepth.pairwise([x, y], scale=s, **OPTIONS).values,
    "refined": lambda x, y, s: isodepth.pairwise([x, y], scale=s, refine=1, **OPTIONS).values,
    "tables": lambda x, y, s: isodepth.region_tables([x, y], scale=s, **OPTIONS).scale,
    "table": lambda x, y, s: isodepth.Metric(scale=s, levels=5, **OPTIONS).region_table(x).scale,
    "scan": lambda x, y, s: isodepth.compare(
        isodepth.scan(x), isodepth.scan(y), scale=s, levels=5, refine=0, **OPTIONS
    ).distance,
    "fitted": lambda x, y, s: (
        isodepth.Metric(scale=s, **OPTIONS).with_directions(2).regions(x).points
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_divisors_are_matched_by_name(call: Any) -> None:
    expected = call(X, Y, np.array([1.0, 10.0]))
    for scale in (SORTED, SWAPPED, pd.Series({"c": 7.0, "b": 10.0, "a": 1.0})):
        np.testing.assert_array_equal(call(X, Y, scale), expected)
    assert not np.array_equal(call(X, Y, np.array([10.0, 1.0])), expected)
    np.testing.assert_array_equal(call(X, Y, pd.Series([1.0, 10.0])), expected)
    with pytest.raises(InvalidOptionError, match=r"scale has divisors for u, a, .*'b' has none"):
        call(X, Y, pd.Series({"u": 10.0, "a": 1.0}))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_columns_without_names_need_a_scale_without_names(call: Any) -> None:
    x, y = X.to_numpy(), Y.to_numpy()
    call(x, y, pd.Series([1.0, 10.0]))
    with pytest.raises(InvalidOptionError, match="scale has divisors for a, b"):
        call(x, y, SORTED)


def test_repeated_labels_are_refused() -> None:
    with pytest.raises(InvalidOptionError, match="scale must have distinct labels, got a, a"):
        isodepth.Metric(scale=pd.Series([1.0, 2.0], index=["a", "a"]))


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_of_a_metric_keep_the_names(copied: Any) -> None:
    metric = isodepth.Metric(scale=SWAPPED, **OPTIONS)
    assert copied(metric).distance(X, Y) == metric.distance(X, Y)
