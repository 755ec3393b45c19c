"""Clustering experiment on synthetic images: distances are correct, and all parts run."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from experiments import baselines
from experiments.images import clustering, fashion_mnist, pixel_distances
from experiments.images.clustering_verdicts import PUBLISHED
from isodepth import Metric

PER_CLASS = 26


def make_images() -> tuple[np.ndarray, np.ndarray]:
    """Return distinct images of bars and boxes of ten kinds, in random order."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(10), PER_CLASS)).astype(np.uint8)
    images = np.zeros((len(labels), 28, 28), dtype=np.uint8)
    for image, label in zip(images, labels, strict=True):
        top, left = 2 + label + rng.integers(0, 3), 1 + (7 * label) % 10 + rng.integers(0, 3)
        height, width = 4 + label % 3 * 4 + rng.integers(0, 2), 5 + label % 4 * 3
        shape = image[top : top + height, left : left + width]
        shape[:] = rng.integers(1, 256, shape.shape)
    return images, labels


IMAGES, LABELS = make_images()


def write_idx(path: Path, array: np.ndarray, compressed: bool) -> None:
    content = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    content += array.tobytes()
    path.write_bytes(gzip.compress(content) if compressed else content)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_idx(tmp_path / "train-images-idx3-ubyte.gz", IMAGES, True)
    write_idx(tmp_path / "train-labels-idx1-ubyte", LABELS, False)
    return tmp_path


# -- data -----------------------------------------------------------------------------------------


def test_blocks_are_disjoint_and_in_order(folder: Path) -> None:
    first, labels = fashion_mnist.block(folder, 0, 12)
    second, _ = fashion_mnist.block(folder, 1, 12)
    assert labels.tolist() == np.repeat(np.arange(10), 12).tolist()
    assert (first[:12] == IMAGES[np.flatnonzero(LABELS == 0)[:12]]).all()
    assert not {image.tobytes() for image in first} & {image.tobytes() for image in second}
    with pytest.raises(fashion_mnist.DataMissingError, match="block 2"):
        fashion_mnist.block(folder, 2, 12)


def test_bags_and_patches() -> None:
    image = np.zeros((1, 28, 28), dtype=np.uint8)
    image[0, 3, 5] = 51
    (bag,) = fashion_mnist.bags(image, "nonzero")
    assert bag.tolist() == [[5.0, 3.0, 0.2]]
    (everything,) = fashion_mnist.bags(image, "all")
    assert everything.shape == (784, 3)
    patched = fashion_mnist.with_patches(np.repeat(image, 3, axis=0), np.array([1]), 5)
    assert [len(bag) for bag in fashion_mnist.bags(patched, "nonzero")] == [1, 26, 1]
    assert not image[0, 0].any()


def test_missing_data_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clustering.main(["--quick", "--data", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "apt install dataset-fashion-mnist" in message
    assert "--data" in message
    (tmp_path / "train-images-idx3-ubyte").write_bytes(b"no idx file")
    assert clustering.main(["--quick", "--data", str(tmp_path)]) == 2
    assert "no idx file of bytes" in capsys.readouterr().err


# -- fast distances of all pairs ------------------------------------------------------------------

FEW = IMAGES[:6]


@pytest.mark.parametrize("pixels", fashion_mnist.PIXELS)
def test_mmd_is_that_of_single_pairs(pixels: str) -> None:
    matrix, bags = pixel_distances.mmd(FEW, pixels), fashion_mnist.bags(FEW, pixels)
    for i in range(3):
        for j in range(6):
            expected = baselines.mmd(bags[i], bags[j], bandwidth=1.0)
            # The square is a difference of kernel means of at most 1, rounded a few times.
            assert matrix[i, j] ** 2 == pytest.approx(expected**2, rel=1e-9, abs=1e-15)


def test_sliced_wasserstein_is_nearly_that_of_single_pairs() -> None:
    matrix, bags = (
        pixel_distances.sliced_wasserstein(FEW, "nonzero", 30, 5),
        fashion_mnist.bags(FEW, "nonzero"),
    )
    directions = baselines.random_directions(3, 30, 5)
    for i in range(6):
        for j in range(i):
            exact = baselines.sliced_wasserstein(bags[i], bags[j], directions)
            # Averaging over cells can only lose (Jensen), here no more than a few steps of a
            # pixel within a cell.
            assert 0.9 * exact <= matrix[i, j] <= exact * (1 + 1e-12)


def test_l1_is_the_wasserstein_distance_of_all_pixels() -> None:
    pytest.importorskip("ot")
    small = np.zeros((2, 28, 28), dtype=np.uint8)
    small[0, :3, :4] = 255
    small[1, 2:6, 1:3] = 90
    first, second = fashion_mnist.bags(small, "all")
    expected = baselines.wasserstein(first, second, p=1)
    assert pixel_distances.l1(small)[0, 1] == pytest.approx(expected, rel=1e-9)


def test_quantized_wasserstein() -> None:
    pytest.importorskip("ot")
    points, shares = pixel_distances.quantize(np.array([[0, 0, 0], [4, 4, 1.0], [5, 0, 0.5]]))
    assert points.tolist() == [[2, 2, 0.5], [5, 0, 0.5]]
    assert shares.tolist() == pytest.approx([2 / 3, 1 / 3])
    matrix = pixel_distances.quantized_wasserstein(FEW)
    assert (matrix == matrix.T).all()
    pairs = [pixel_distances.quantize(bag) for bag in fashion_mnist.bags(FEW, "nonzero")]
    (x, wx), (y, wy) = pairs[0], pairs[4]
    expected = baselines.wasserstein(x, y, p=1, weights=(wx, wy))
    assert matrix[0, 4] == pytest.approx(expected, rel=1e-9)
    # Only changed images are computed again.
    changed = FEW.copy()
    changed[[1, 4]] = IMAGES[10:12]
    updated = pixel_distances.quantized_wasserstein(changed, matrix, np.array([4, 1]))
    assert updated == pytest.approx(pixel_distances.quantized_wasserstein(changed), rel=1e-12)


def test_depth_regions_are_those_of_single_pairs() -> None:
    matrix, bags = (
        pixel_distances.depth_regions(FEW, "nonzero", 20, 5, 3),
        fashion_mnist.bags(FEW, "nonzero"),
    )
    metric = Metric(n_directions=20, levels=5, random_state=3, refine=0)
    assert matrix[2, 5] == pytest.approx(metric.distance(bags[2], bags[5]), rel=1e-12)


# -- full runs ------------------------------------------------------------------------------------


def test_a_quick_run_measures_judges_and_draws(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ot")
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    arguments = ["--quick", "--runs", "1", "--data", str(folder), "--out", str(out)]
    assert clustering.main(arguments) == 0
    printed = capsys.readouterr().out
    for name in ("seeds", "blocks", "exact", "cost", "all_pixels"):
        assert (out / f"clustering_{name}.csv").stat().st_size > 50
    for name in ("scores", "matrices", "regions"):
        assert 1000 < (out / f"clustering_{name}.png").stat().st_size < 300_000
    assert printed.count("verdict:") == 7
    assert "(0.58)" in printed
    assert "(0.42)" in printed
    for method in PUBLISHED:
        assert f"| {method} |" in printed
    rows = (out / "clustering_seeds.csv").read_text().splitlines()
    assert len(rows) == 1 + 5 * len(PUBLISHED)
