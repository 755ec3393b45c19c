"""Token vectors that stay where the encoder left them: the scores of arrays.

Tensors of the host stand in for those of a GPU, which `test_scores_on_the_gpu` uses.
"""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.errors import InvalidInputError
from isodepth.text import DepthScore
from isodepth.text.clouds import clean_clouds
from isodepth.text.pairs import pair_distances

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


@pytest.fixture
def anywhere(monkeypatch):
    """Tensors of the host are taken for tensors of another device."""
    monkeypatch.setattr(on_device, "_is_elsewhere", lambda cloud: isinstance(cloud, torch.Tensor))


def letters(texts):
    return [np.random.default_rng(len(t)).normal(size=(len(t), WIDTH)) for t in texts]


@pytest.mark.parametrize("unit", [True, False])
def test_vectors_are_scaled_as_on_the_host(clouds, unit, anywhere):
    clouds[0] *= 1e-30
    clouds[1] *= 1e30
    found = on_device.clean_tensors([torch.from_numpy(c) for c in clouds], unit)
    for mine, expected in zip(found, clean_clouds(clouds, unit, "origin"), strict=True):
        assert mine.dtype == torch.float32
        # Lengths are summed in another order.
        assert np.allclose(mine.numpy(), expected, rtol=2e-7, atol=0)


@pytest.mark.parametrize("depth", ["irw", "dual"])
def test_regions_are_those_of_the_host(clouds, depth):
    drawn = DepthScore(letters, depth=depth, n_directions=300).metric.fit(WIDTH, "float32")
    arrays = clean_clouds(clouds, True, "origin")
    found = on_device.regions_on_device(drawn, [torch.from_numpy(c) for c in arrays])
    for mine, expected in zip(found, drawn.all_regions(arrays), strict=True):
        assert np.allclose(mine.depth, expected.depth, rtol=0, atol=1e-13)
        assert np.array_equal(mine.points, expected.points)
        assert mine.depth.shape == expected.depth.shape


def test_long_texts_are_ranked_along_the_directions(monkeypatch, clouds):
    monkeypatch.setattr(on_device, "MOST_POINTS", 6)
    monkeypatch.setattr("isodepth.depth.integrated.MOST_POINTS", 6)
    test_regions_are_those_of_the_host(clouds, "irw")


@pytest.mark.parametrize("options", [{}, {"depth": "dual"}, {"q": 2}, {"depth": "halfspace"}])
def test_distances_are_those_of_arrays(clouds, options):
    arrays = clean_clouds(clouds, True, "origin")
    metric = DepthScore(letters, n_directions=200, **options).metric
    pairs = [(i, j) for i in range(len(arrays)) for j in range(0, i, 3)]
    tensors = [torch.from_numpy(c) for c in arrays]
    if options.get("depth") == "halfspace":
        with pytest.warns(UserWarning, match="halfspace"):
            expected = pair_distances(arrays, pairs, metric)
        with pytest.warns(UserWarning, match="halfspace"):
            found = pair_distances(tensors, pairs, metric)
    else:
        expected = pair_distances(arrays, pairs, metric)
        found = pair_distances(tensors, pairs, metric)
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_empty_texts(clouds, anywhere):
    tensors = [torch.from_numpy(clouds[2]), torch.empty(0, WIDTH), torch.empty(0)]
    assert [c is None for c in on_device.clean_tensors(tensors, True)] == [False, True, True]


@pytest.mark.parametrize(
    ("cloud", "message"),
    [
        (np.zeros((2, WIDTH)), "one text are on cpu and those of another an array"),
        (torch.zeros(2, WIDTH, requires_grad=True), "require grad"),
        (torch.zeros(2, WIDTH, device="meta"), "those of another on meta"),
        (torch.zeros(2, 3, WIDTH), "dense table of real numbers"),
        (torch.zeros(2, WIDTH, dtype=torch.complex64), "dense table of real numbers"),
        (torch.zeros(2, WIDTH + 1), f"one width, got {WIDTH}, {WIDTH + 1}"),
        (torch.full((2, WIDTH), float("nan")), "NaN or infinite"),
    ],
)
def test_what_cannot_be_used_is_refused(cloud, message, anywhere):
    with pytest.raises(InvalidInputError, match=message):
        on_device.clean_tensors([torch.ones(2, WIDTH), cloud], True)


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_single_precision_has_to_hold_them(factor, anywhere):
    rows = torch.full((2, WIDTH), factor, dtype=torch.float64)
    assert on_device.clean_tensors([rows], True)[0].norm(dim=1) == pytest.approx(1.0)
    with pytest.raises(InvalidInputError, match="too large or too small for single"):
        on_device.clean_tensors([rows], False)


@pytest.mark.cuda
@pytest.mark.parametrize("depth", ["irw", "dual"])
def test_scores_on_the_gpu(depth):
    texts = ["a" * k for k in range(2, 40)]
    expected = DepthScore(letters, depth=depth, n_directions=500).score(texts, texts[::-1])

    def on_gpu(asked):
        return [torch.from_numpy(cloud).cuda() for cloud in letters(asked)]

    found = DepthScore(on_gpu, depth=depth, n_directions=500).score(texts, texts[::-1])
    assert np.allclose(found, expected, rtol=1e-6)
