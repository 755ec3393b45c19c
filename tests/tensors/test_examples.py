"""The scripts in `examples` that use tensors give the results that their pages describe.

A gradient flow and a generator ignore the outliers of the target sample.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import gradient_flow  # noqa: E402
import robust_generator  # noqa: E402


def test_the_flow_reaches_the_target_and_leaves_outliers_alone(tmp_path):
    found, ends = gradient_flow.table(rows=100, steps=320)
    assert found["isodepth"]["distance"] < 0.05
    assert found["isodepth"]["near the outliers"] == 0
    for other in ("sliced Wasserstein", "energy"):
        assert found[other]["near the outliers"] >= 0.08
    gradient_flow.draw(ends, tmp_path / "flow.png")
    assert (tmp_path / "flow.png").stat().st_size > 10_000


def test_the_generator_learns_the_clean_part():
    target = robust_generator.data(1000)
    clean = target[100:]
    ours = robust_generator.LOSSES["isodepth, q=2"]
    made = robust_generator.fit(ours, target, steps=200, rows=100)
    assert (made[:, 1] > 5).double().mean() < 0.01
    assert (made.mean(dim=0) - clean.mean(dim=0)).norm() < 0.4
    made = robust_generator.fit(gradient_flow.sliced_wasserstein(), target, steps=200, rows=100)
    assert (made[:, 1] > 5).double().mean() > 0.03
