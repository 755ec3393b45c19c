"""Arrays, data frames and tensors of the same numbers give equal results."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from text_extra import needs

import isodepth

X, Y = (
    np.random.default_rng(seed).normal(size=(n, 3)) * [1, 5, 20] for seed, n in ((0, 60), (1, 50))
)
Y = Y + [1, 0, 3]
NAMES = ["a", "b", "c"]


def tensor(rows: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(rows)


CONTAINERS: dict[str, Callable[[np.ndarray], Any]] = {
    "array": np.asarray,
    "lists": np.ndarray.tolist,
    "pandas": lambda rows: pd.DataFrame(rows, columns=NAMES),
    "polars": lambda rows: pl.DataFrame(rows, schema=NAMES),
    "pyarrow": lambda rows: pa.table(list(rows.T), names=NAMES),
    "tensor": tensor,
}
EACH = [pytest.param(c, id=c, marks=needs("torch") if c == "tensor" else ()) for c in CONTAINERS]


@pytest.mark.parametrize("container", EACH)
@pytest.mark.parametrize("scale", [None, "pooled", "reference", [1.0, 2.0, 3.0]], ids=str)
def test_containers_give_the_same_distance(container: str, scale: Any) -> None:
    make = CONTAINERS[container]
    options = {"scale": scale, "random_state": 0, "n_directions": 50}
    expected = isodepth.distance(X, Y, **options)

    assert float(isodepth.distance(make(X), make(Y), **options)) == expected
    assert isodepth.compare(make(X), make(Y), **options).distance == expected


@pytest.mark.parametrize("container", EACH)
def test_compare_and_distance_have_the_same_defaults(container: str) -> None:
    x, y = map(CONTAINERS[container], (X, Y))
    expected = isodepth.distance(X, Y, random_state=0)

    assert float(isodepth.distance(x, y, random_state=0)) == expected
    assert isodepth.compare(x, y, random_state=0).distance == expected
    metric = isodepth.Metric(random_state=0)
    assert float(metric.distance(x, y)) == metric.compare(x, y).distance == expected


@pytest.mark.filterwarnings("ignore::isodepth.errors.ApproximationWarning")
def test_chunks_have_the_same_defaults() -> None:
    def halves() -> Any:
        return iter((X[:30], X[30:]))

    source = isodepth.scan(halves)
    found = isodepth.compare(source, Y, random_state=0)

    assert isodepth.distance(source, Y, random_state=0) == found.distance
    in_memory = isodepth.distance(X, Y, levels=20, refine=0, random_state=0)
    assert found.distance == pytest.approx(in_memory, rel=1e-12)
    assert isodepth.pairwise([source, Y], random_state=0)[0, 1] == found.distance
    assert isodepth.pairwise([X, Y], random_state=0)[0, 1] == pytest.approx(in_memory, rel=1e-12)


@needs("torch")
def test_float32_tensors_are_rounded_once() -> None:
    x, y = X.astype(np.float32), Y.astype(np.float32)
    expected = isodepth.distance(x, y, random_state=0)

    assert isodepth.compare(tensor(x), tensor(y), random_state=0).distance == expected
    found = isodepth.distance(tensor(x), tensor(y), random_state=0)
    assert found.item() == np.float32(expected)


@pytest.mark.parametrize("name", ["Metric", "RegionTransformer", "DistanceTransformer"])
def test_coordinates_are_used_as_they_are(name: str) -> None:
    assert inspect.signature(getattr(isodepth, name)).parameters["scale"].default is None


@pytest.mark.parametrize("container", EACH)
def test_columns_of_very_different_units_warn(container: str) -> None:
    make = CONTAINERS[container]
    units = [1, 1, 1e4]
    with pytest.warns(
        isodepth.errors.ScaleWarning, match="scale='pooled' divides every column"
    ) as caught:
        isodepth.compare(make(X * units), make(Y * units), random_state=0)
    assert [each.filename for each in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        isodepth.compare(make(X * units), make(Y * units), scale="pooled", random_state=0)
