"""DepthMonitor: the reference once, each batch cheaply, and the same after a save."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from isodepth import (
    AIIRWDepth,
    DepthMonitor,
    InvalidInputError,
    InvalidOptionError,
    Metric,
    RegionTable,
    UnreadableFileError,
)
from isodepth.data.archive import read_archive, write_archive

RNG = np.random.default_rng(0)
REFERENCE = RNG.normal(size=(300, 3))
BATCH = RNG.normal(size=(80, 3)) + [0.5, 0, 0]
OPTIONS = {"levels": 8, "n_directions": 40, "random_state": 0}


def test_score_is_the_distance() -> None:
    weights = RNG.integers(1, 4, 80)
    monitor = DepthMonitor(REFERENCE, **OPTIONS)
    metric = Metric(**OPTIONS, refine=0)
    assert monitor.score(BATCH) == pytest.approx(metric.distance(REFERENCE, BATCH), rel=1e-12)
    expected = metric.distance(REFERENCE, BATCH, weights=(None, weights))
    assert monitor.score(BATCH, weights) == pytest.approx(expected, rel=1e-12)
    assert monitor.score(REFERENCE) == 0.0


def test_weights_of_the_reference_count() -> None:
    weights = RNG.integers(0, 3, 300)
    weighted = DepthMonitor(REFERENCE, weights=weights, **OPTIONS)
    repeated = DepthMonitor(np.repeat(REFERENCE, weights, axis=0), **OPTIONS)
    assert weighted.score(BATCH) == repeated.score(BATCH)


@pytest.mark.parametrize(
    "options",
    [
        OPTIONS,
        {**OPTIONS, "depth": "halfspace", "p": 1.5, "eps": 0.25, "normalize": False},
        {**OPTIONS, "depth": AIIRWDepth(covariance="ledoit-wolf")},
        {**OPTIONS, "random_state": None},
        {"levels": 8, "directions": RNG.normal(size=(30, 3)), "depth": "irw"},
        {**OPTIONS, "dtype": "float32"},
    ],
)
def test_a_saved_monitor_scores_the_same(tmp_path: Path, options: dict) -> None:
    monitor = DepthMonitor(REFERENCE, **options)
    monitor.save(tmp_path / "monitor.npz")
    loaded = DepthMonitor.load(tmp_path / "monitor.npz")
    assert loaded.score(BATCH) == monitor.score(BATCH) > 0
    assert loaded.signature == monitor.signature
    assert monitor.signature in repr(loaded)


def test_batches_are_taken_in_the_precision_of_the_reference() -> None:
    single = BATCH.astype(np.float32)
    fine = DepthMonitor(REFERENCE, **OPTIONS)
    assert fine.score(single) == fine.score(single.astype(np.float64))
    coarse = DepthMonitor(REFERENCE.astype(np.float32), **OPTIONS)
    assert coarse.score(BATCH) == coarse.score(single)


def test_bad_batches_and_settings() -> None:
    pd = pytest.importorskip("pandas")
    monitor = DepthMonitor(pd.DataFrame(REFERENCE, columns=list("abc")), **OPTIONS)
    with pytest.raises(InvalidInputError, match="2 columns"):
        monitor.score(BATCH[:, :2])
    with pytest.raises(InvalidInputError, match="'b' is only in the reference"):
        monitor.score(pd.DataFrame(BATCH, columns=list("cxa")))
    turned = pd.DataFrame(BATCH[:, ::-1], columns=list("cba"))
    assert monitor.score(turned) == monitor.score(BATCH)
    with pytest.raises(InvalidOptionError, match="cannot be refined"):
        DepthMonitor(REFERENCE, refine=3)
    with pytest.raises(InvalidOptionError, match="levels='exact'"):
        DepthMonitor(REFERENCE, levels="exact", random_state=0)


def test_a_depth_of_ones_own_cannot_be_saved(tmp_path: Path) -> None:
    monitor = DepthMonitor(REFERENCE, **OPTIONS, depth=lambda X: -np.abs(X).sum(axis=1))
    assert monitor.score(BATCH) > 0
    with pytest.raises(InvalidOptionError, match="cannot be saved"):
        monitor.save(tmp_path / "monitor.npz")
    assert not list(tmp_path.iterdir())


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    monitor = DepthMonitor(REFERENCE, **OPTIONS)
    monitor.save(tmp_path / "monitor.npz")
    Metric(**OPTIONS).table(REFERENCE).save(tmp_path / "table.npz")
    with pytest.raises(UnreadableFileError, match="holds a depth monitor, not a region table"):
        RegionTable.load(tmp_path / "monitor.npz")
    with pytest.raises(UnreadableFileError, match="holds a region table, not a depth monitor"):
        DepthMonitor.load(tmp_path / "table.npz")
    content = bytearray((tmp_path / "monitor.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "monitor.npz").write_bytes(content)
    with pytest.raises(UnreadableFileError, match="damaged"):
        DepthMonitor.load(tmp_path / "monitor.npz")


@pytest.mark.parametrize(
    "directions",
    [None, np.eye(3)[:2], np.eye(3)[:, :2], -np.eye(3)],
    ids=["none", "2", "wide", "-"],
)
def test_directions_that_are_not_those_of_the_reference(
    tmp_path: Path, directions: np.ndarray | None
) -> None:
    monitor = DepthMonitor(REFERENCE, directions=np.eye(3), levels=4)
    monitor.save(tmp_path / "monitor.npz")
    header, arrays = read_archive(tmp_path / "monitor.npz", "depth monitor")
    assert (arrays.pop("directions") == np.eye(3)).all()
    if directions is not None:
        arrays["directions"] = directions
    write_archive(tmp_path / "other.npz", "depth monitor", header, arrays)
    with pytest.raises(UnreadableFileError, match=r"directions|dirs are not those"):
        DepthMonitor.load(tmp_path / "other.npz")
