"""Sums of functions of a row over permutations are the same on a device and on the host."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth

torch = pytest.importorskip("torch")

from isodepth.device import labels  # noqa: E402
from isodepth.significance.permutations import Permutations, precision, rank_cosines  # noqa: E402

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)]


def _values(n):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(5, n))
    values[1] = np.round(values[1])
    values[2, ::3] = np.nan
    values[3] = 7.0
    values[4] *= 1e200
    return values


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n", [9, 1000, 30_000])
def test_devices_and_host_agree(n, device, monkeypatch):
    monkeypatch.setattr(labels, "_MOST_LABELS", 1 << 16)
    host = Permutations.draw(n // 3, n - n // 3, 70, np.random.default_rng(0))
    other = Permutations(host.words, host.count, device=device)
    rounding = np.finfo(precision(n)).eps
    values = _values(n)
    cosines = rank_cosines(values, 3).reshape(-1, n)
    np.testing.assert_allclose(other.sums(cosines), host.sums(cosines), atol=n * rounding)
    # A contrast is a difference of two means times at most sqrt(n) / 2.
    found, expected = (each.cosine_contrasts(values, 3) for each in (other, host))
    np.testing.assert_allclose(found, expected, atol=4 * np.sqrt(n) * rounding)
    assert not found[:, 3].any()
    assert not expected[:, 3].any()


@pytest.mark.cuda
def test_a_test_on_a_device_equals_the_test_on_the_host():
    rng = np.random.default_rng(0)
    for n, shift in [(50, 0.8), (300, 0.0), (30_000, 0.02)]:
        X, Y = rng.normal(size=(n, 4)), rng.normal(size=(n, 4)) + shift
        expected = isodepth.two_sample_test(X, Y, n_permutations=199, random_state=0)
        tensors = [torch.from_numpy(sample).cuda() for sample in (X, Y)]
        found = isodepth.two_sample_test(*tensors, n_permutations=199, random_state=0)
        assert found.pvalue == pytest.approx(expected.pvalue, abs=0.0051)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-3, abs=1e-3)
        assert [c.text for c in found.changes] == [c.text for c in expected.changes]
        assert found.device == "cuda:0"
