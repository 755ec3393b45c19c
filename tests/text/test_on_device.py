"""Depths computed on the device of the encoder: those of the host.

The passes run on the host as well; `test_scores_on_the_gpu` uses a GPU.
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
def test_regions_are_those_of_the_host(clouds, depth):
    drawn = DepthScore(letters, depth=depth, n_directions=300).metric.fit(WIDTH, "float32")
    arrays = clean_clouds(clouds, True, "origin")
    found = on_device.regions_on_device(drawn, arrays, "cpu")
    for mine, expected in zip(found, drawn.all_regions(arrays), strict=True):
        assert np.allclose(mine.depth, expected.depth, rtol=0, atol=1e-13)
        assert np.array_equal(mine.points, expected.points)
        assert mine.depth.shape == expected.depth.shape


def test_long_texts_are_left_to_the_host(monkeypatch, clouds):
    monkeypatch.setattr(on_device, "MOST_POINTS", 6)
    monkeypatch.setattr("isodepth.depth.integrated.MOST_POINTS", 6)
    test_regions_are_those_of_the_host(clouds, "irw")


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (torch.zeros(2, WIDTH, requires_grad=True), "require grad"),
        (torch.zeros(2, 3, WIDTH), "shape"),
        (torch.zeros(2, WIDTH, dtype=torch.complex64), "Complex"),
        (torch.zeros(2, WIDTH + 1), f"one width, got {WIDTH}, {WIDTH + 1}"),
        (torch.full((2, WIDTH), float("nan")), "NaN or infinite"),
    ],
)
def test_tensors_are_arrays_or_refused(cloud, message):
    rows = torch.ones(2, WIDTH, dtype=torch.bfloat16)
    (array,) = clean_clouds([rows], True, "origin")
    assert array == pytest.approx(WIDTH**-0.5)
    with pytest.raises(InvalidInputError, match=message):
        clean_clouds([rows, cloud], True, "origin")


@pytest.mark.cuda
@pytest.mark.parametrize("depth", ["irw", "dual"])
def test_scores_on_the_gpu(depth):
    texts = ["a" * k for k in range(2, 40)]
    expected = DepthScore(letters, depth=depth, n_directions=500).score(texts, texts[::-1])

    def on_gpu(asked):
        return [torch.from_numpy(cloud).cuda() for cloud in letters(asked)]

    found = DepthScore(on_gpu, depth=depth, n_directions=500).score(texts, texts[::-1])
    assert np.allclose(found, expected, rtol=1e-6)
