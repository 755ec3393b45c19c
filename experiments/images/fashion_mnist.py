"""Fashion-MNIST as bags of pixels."""

from __future__ import annotations

import gzip
import struct
from functools import lru_cache
from pathlib import Path

import numpy as np

#: Folder of Debian's package dataset-fashion-mnist.
DEFAULT_FOLDER = Path("/usr/share/datasets/fashion-mnist")
SIDE = 28
CLASSES = (
    "T-shirt", "trouser", "pullover", "dress", "coat",
    "sandal", "shirt", "sneaker", "bag", "ankle boot",
)  # fmt: skip
PIXELS = ("nonzero", "all")
_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")


class DataMissingError(Exception):
    """Error for missing data files."""


@lru_cache(maxsize=1)
def load(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the training images (60000, 28, 28) and labels (60000,), both uint8."""
    images, labels = (_read_idx(_find(folder, name)) for name in _FILES)
    if images.ndim != 3 or images.shape[1:] != (SIDE, SIDE) or labels.shape != images.shape[:1]:
        raise DataMissingError(f"{folder} holds images of shape {images.shape}, not Fashion-MNIST")
    return images, labels


def block(folder: Path, number: int, per_class: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a block of images from `number * per_class` on, sorted by class, and their labels.

    Block 0 with 100 images per class is that of the paper. Blocks are disjoint.
    """
    images, labels = load(folder)
    chosen = [
        np.flatnonzero(labels == label)[number * per_class : (number + 1) * per_class]
        for label in range(len(CLASSES))
    ]
    if min(map(len, chosen)) < per_class:
        raise DataMissingError(f"{folder} has no {per_class} images a class for block {number}")
    places = np.concatenate(chosen)
    return images[places], labels[places]


def with_patches(images: np.ndarray, which: np.ndarray, size: int) -> np.ndarray:
    """Return the images with a white square of `size` pixels in the top left corner of `which`."""
    patched = images.copy()
    patched[which, :size, :size] = 255
    return patched


def bags(images: np.ndarray, pixels: str) -> list[np.ndarray]:
    """Convert images to points (column, row, intensity / 255) of the nonzero or of all pixels."""
    result = []
    for image in images:
        rows, columns = np.nonzero(image) if pixels == "nonzero" else np.indices(image.shape)
        rows, columns = rows.ravel(), columns.ravel()
        result.append(np.column_stack([columns, rows, image[rows, columns] / 255.0]))
    return result


def _find(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.gz", folder / name):
        if path.exists():
            return path
    raise DataMissingError(
        f"no {name}.gz in {folder}. On Debian and Ubuntu: apt install dataset-fashion-mnist. "
        "Elsewhere: get the four files of https://github.com/zalandoresearch/fashion-mnist "
        "(data/fashion) and give their folder with --data"
    )


def _read_idx(path: Path) -> np.ndarray:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        content = file.read()
    if content[:3] != b"\0\0\x08":
        raise DataMissingError(f"{path} is no idx file of bytes")
    n_axes = content[3]
    shape = struct.unpack_from(f">{n_axes}I", content, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)
