"""Depths computed on the device of the encoder equal those of the host.

The code for devices also runs on the CPU; only `test_scores_on_the_gpu` needs a GPU.
"""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.errors import InvalidInputError
from isodepth.text import DepthScore
from isodepth.text.clouds import clean_clouds

torch = pytest.importorskip("torch")

from isodepth.text import on_device  # noqa: E402

WIDTH = 30
SIZES = (1, 2, 5, 7, 12, 20, 30, 31, 40, 3)


@pytest.fixture
def clouds():
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(n, WIDTH)) for n in SIZES]
    return [
        *clouds,
        np.repeat(clouds[3], 2, axis=0),
        np.concatenate([clouds[4], clouds[4][:3]]),
        np.outer(np.arange(6.0), rng.normal(size=WIDTH)),
        np.zeros((2, WIDTH)),
    ]


def letters(texts):
    return [np.random.default_rng(len(t)).normal(size=(len(t), WIDTH)) for t in texts]


@pytest.mark.parametrize("depth", ["irw", "dual"])
def test_regions_equal_those_of_the_host(clouds, depth):
    fitted = DepthScore(letters, depth=depth, n_directions=300).metric.with_directions(
        WIDTH, "float32"
    )
    arrays = clean_clouds(clouds, True)
    regions = on_device.regions_on_device(fitted, arrays, "cpu")
    for actual, expected in zip(regions, fitted.all_regions(arrays), strict=True):
        assert np.allclose(actual.depth, expected.depth, rtol=0, atol=1e-13)
        assert np.array_equal(actual.points, expected.points)
        assert actual.depth.shape == expected.depth.shape


def test_long_texts_are_computed_on_the_host(monkeypatch, clouds):
    monkeypatch.setattr(on_device, "MOST_POINTS", 6)
    monkeypatch.setattr("isodepth.depth.integrated.MOST_POINTS", 6)
    test_regions_equal_those_of_the_host(clouds, "irw")


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (torch.zeros(2, WIDTH, requires_grad=True), "require grad"),
        (torch.zeros(2, 3, WIDTH), "shape"),
        (torch.zeros(2, WIDTH, dtype=torch.complex64), "Complex"),
        (torch.zeros(2, WIDTH + 1), f"width, got {WIDTH}, {WIDTH + 1}"),
        (torch.full((2, WIDTH), float("nan")), "NaN or infinite"),
    ],
)
def test_tensors_are_converted_or_refused(cloud, message):
    rows = torch.ones(2, WIDTH, dtype=torch.bfloat16)
    (array,) = clean_clouds([rows], True)
    assert array == pytest.approx(WIDTH**-0.5)
    with pytest.raises(InvalidInputError, match=message):
        clean_clouds([rows, cloud], True)


@pytest.mark.cuda
@pytest.mark.parametrize("depth", ["irw", "dual"])
def test_scores_on_the_gpu(depth):
    texts = ["a" * k for k in range(2, 40)]
    expected = DepthScore(letters, depth=depth, n_directions=500).score(texts, texts[::-1])

    def on_gpu(texts):
        return [torch.from_numpy(cloud).cuda() for cloud in letters(texts)]

    actual = DepthScore(on_gpu, depth=depth, n_directions=500).score(texts, texts[::-1])
    assert np.allclose(actual, expected, rtol=1e-6)
