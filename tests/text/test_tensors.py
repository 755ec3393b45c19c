"""Token vectors as tensors, on the host and on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.errors import InvalidInputError
from isodepth.text import DepthScore
from isodepth.text.clouds import clean_clouds

torch = pytest.importorskip("torch")

WIDTH = 30


def letters(texts):
    return [np.random.default_rng(len(t)).normal(size=(len(t), WIDTH)) for t in texts]


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (torch.zeros(2, WIDTH, requires_grad=True), "require grad"),
        (torch.zeros(2, 3, WIDTH), "shape"),
        (torch.zeros(2, WIDTH, dtype=torch.complex64), "Complex"),
        (torch.zeros(2, WIDTH + 1), f"width, got {WIDTH}, {WIDTH + 1}"),
        (torch.full((2, WIDTH), float("nan")), "NaN values"),
    ],
)
def test_tensors_are_converted_or_refused(cloud, message):
    rows = torch.ones(2, WIDTH, dtype=torch.bfloat16)
    (array,) = clean_clouds([rows], True)
    assert array == pytest.approx(WIDTH**-0.5)
    with pytest.raises(InvalidInputError, match=message):
        clean_clouds([rows, cloud], True)


@pytest.mark.cuda
@pytest.mark.parametrize("depth", ["irw_corrected", "irw", "dual"])
def test_scores_on_the_gpu(depth):
    texts = ["a" * k for k in range(2, 40)]
    expected = DepthScore(letters, depth=depth, n_directions=500).score(texts, texts[::-1])

    def on_gpu(texts):
        return [torch.from_numpy(cloud).cuda() for cloud in letters(texts)]

    actual = DepthScore(on_gpu, depth=depth, n_directions=500).score(texts, texts[::-1])
    assert np.allclose(actual, expected, rtol=1e-6)
