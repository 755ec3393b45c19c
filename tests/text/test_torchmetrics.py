"""DepthScoreMetric: batches, pickling, and several processes."""

from __future__ import annotations

import pickle
import socket
from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("torchmetrics")

import torch

from isodepth.errors import InvalidOptionError
from isodepth.text import DepthScore
from isodepth.text.torchmetrics import DepthScoreMetric, ScoreMetricOptions

TEXTS = ["abcd", "bcde", "hello", "world", "depth", "region"]
REFERENCES = ["abce", ["bcdf", "xyzz"], "hallo", "wörld", "death", "regions"]


def letters(texts):
    """Toy encoder: each letter is a token in two dimensions."""
    return [[[ord(c) % 7, ord(c) % 5] for c in text] for text in texts]


def test_batches_are_accumulated():
    metric = DepthScoreMetric(letters, l2_normalize=False, n_directions=50)
    for k in range(0, 6, 2):
        metric.update(TEXTS[k : k + 2], REFERENCES[k : k + 2])
    score = DepthScore(letters, l2_normalize=False, n_directions=50)
    expected = list(score.score(TEXTS, REFERENCES))
    assert metric.compute().item() == pytest.approx(np.mean(expected), rel=1e-15)
    whole = DepthScoreMetric(letters, l2_normalize=False, n_directions=50, reduction="none")
    assert whole(TEXTS, REFERENCES).tolist() == expected
    assert not metric.higher_is_better
    metric.reset()
    assert metric.scores == []


def test_pickling_and_invalid_options():
    metric = DepthScoreMetric(letters, l2_normalize=False, n_directions=50)
    metric.update(TEXTS, REFERENCES)
    again = pickle.loads(pickle.dumps(metric))
    assert again.compute() == metric.compute()
    with pytest.raises(InvalidOptionError, match="reduction"):
        DepthScoreMetric(letters, reduction="sum")
    with pytest.raises(ValueError, match="directions_of"):
        DepthScoreMetric(letters, directions_of=3)


def work(rank, world, port, path):
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world
    )
    metric = DepthScoreMetric(letters, l2_normalize=False, n_directions=50, reduction="none")
    part = slice(0, 4) if rank == 0 else slice(4, 6)
    metric.update(TEXTS[part], REFERENCES[part])
    scores = metric.compute()
    torch.save(scores, f"{path}/{rank}.pt")
    torch.distributed.destroy_process_group()


def test_processes_are_concatenated(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(work, (2, port, str(tmp_path)), nprocs=2)
    score = DepthScore(letters, l2_normalize=False, n_directions=50)
    expected = list(score.score(TEXTS, REFERENCES))
    for rank in range(2):
        assert torch.load(tmp_path / f"{rank}.pt").tolist() == expected


def test_all_options_are_typed():
    own = {each.name for each in fields(DepthScore) if each.init} - {"model", "layer"}
    others = {*ScoreMetricOptions.__annotations__} - own
    assert own <= {*ScoreMetricOptions.__annotations__}
    assert "sync_on_compute" in others
    metric = DepthScoreMetric(letters, l2_normalize=False)
    assert all(hasattr(metric, name) for name in others)
