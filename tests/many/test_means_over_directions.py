"""Region tables with finite q: distances, nearest samples, and features of transformers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from twins import naive_means

import isodepth
from isodepth.geometry.directions import mean_of_direction


def bags(seed: int = 0, count: int = 12, d: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(20, 60, count)
    return [rng.standard_normal((n, d)) + 0.4 * (i % 4) for i, n in enumerate(sizes)]


@pytest.mark.parametrize("q", [1, 2, 3.5])
@pytest.mark.parametrize("p", [0.5, 1, 2, math.inf])
@pytest.mark.parametrize("table_dtype", ["float64", "float32"])
def test_all_distances_are_those_of_the_definition(q: float, p: float, table_dtype: str) -> None:
    options = {"q": q, "p": p, "n_directions": 13, "levels": 5, "random_state": 0}
    tables = isodepth.region_tables(bags(), table_dtype=table_dtype, **options)
    found = isodepth.pairwise(tables).values
    assert (found == found.T).all()
    assert not found.diagonal().any()
    # The tolerance is for the rounding of the stored numbers, also in their differences.
    for i, j in ((0, 1), (2, 9), (5, 11)):
        gaps = [
            naive_means.mean([abs(float(v) - float(w)) for v, w in zip(a, b, strict=True)], q)
            / mean_of_direction(3, q)
            for a, b in zip(tables[i].values, tables[j].values, strict=True)
        ]
        wanted = naive_means.mean(gaps, p)
        assert found[i, j] == pytest.approx(wanted, rel=1e-12 if table_dtype == "float64" else 1e-5)
        assert found[i, j] == tables[i].distance_to(tables[j])
        assert found[i, j] == tables.distances(tables[i])[j]


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_rows_have_the_distance_of_order_p(normalize: bool, d: int, p: float) -> None:
    samples = bags(2, 8, d)
    options = {"p": p, "q": p, "n_directions": 40, "random_state": 0, "normalize": normalize}
    transformer = isodepth.RegionTransformer(**options)
    rows = transformer.fit_transform(samples)
    metric = isodepth.Metric(levels=20, **options)
    for i, j in ((0, 1), (2, 7), (3, 3)):
        apart = float(np.linalg.norm(rows[i] - rows[j], p))
        assert apart == pytest.approx(metric.distance(samples[i], samples[j]), rel=1e-12)


def test_tables_of_other_q_are_refused() -> None:
    a, b = (
        isodepth.Metric(q=q, levels=3, random_state=0).region_table([[0.0, 1.0]]) for q in (1, 2)
    )
    with pytest.raises(isodepth.errors.InvalidInputError, match="differ in q"):
        a.distance_to(b)
