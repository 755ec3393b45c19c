"""Distances of many pairs of samples equal those of Metric, whatever the other pairs."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import AIIRWDepth, IRWDepth, Metric
from isodepth.errors import DegenerateDepthWarning
from isodepth.geometry.depth import CorrectedIRW
from isodepth.text import DepthScore
from isodepth.text.pairs import pair_distances
from isodepth.typing import RandomLevels


def clouds(count, seed=0, width=64):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, count)
    return [rng.normal(size=(n, width)).astype(np.float32) for n in sizes]


def unused_encoder(texts):
    raise AssertionError("the encoder must not be called")


@pytest.fixture(scope="module")
def score():
    return DepthScore(unused_encoder, n_directions=200)


@pytest.mark.parametrize(
    "settings",
    [
        {"gap": "exact"},
        {"gap": "search", "refine": 0},
        {"gap": "search", "refine": 5},
        {"gap": "exact", "levels": 7},
        {"gap": "search", "refine": 0, "levels": RandomLevels(5)},
        {"gap": "exact", "p": np.inf, "eps": 0.3},
    ],
)
def test_equal_to_metric_distance(settings):
    x, y, z = clouds(3)
    metric = Metric(depth=IRWDepth(), n_directions=100, random_state=3, **settings)
    distances = pair_distances([x, y, z], [(0, 1), (2, 1), (0, 2)], metric)
    expected = [metric.distance(*pair) for pair in ((x, y), (z, y), (x, z))]
    # The exact supremum is computed in other coordinates: its error is relative to lengths of 10.
    assert distances == pytest.approx(expected, rel=1e-9)


def test_batch_independence_bit_for_bit(score):
    samples = clouds(40)
    candidates, references = samples[:20], [[cloud] for cloud in samples[20:]]
    whole = score.score_vectors(candidates, references)
    one_by_one = [
        score.score_vectors([c], [r])[0] for c, r in zip(candidates, references, strict=True)
    ]
    assert list(whole) == one_by_one
    order = np.random.default_rng(1).permutation(20)
    shuffled = score.score_vectors([candidates[i] for i in order], [references[i] for i in order])
    assert list(shuffled) == [whole[i] for i in order]


def test_results_do_not_depend_on_the_number_of_threads():
    samples = clouds(20)
    scores = [
        DepthScore(unused_encoder, n_directions=200, n_jobs=n_jobs).score_vectors(
            samples[:10], [[cloud] for cloud in samples[10:]]
        )
        for n_jobs in (1, 2, 5)
    ]
    assert scores[0] == scores[1] == scores[2]


def test_symmetric_and_zero_for_the_same_tokens(score):
    samples = clouds(12)
    for x, y in zip(samples[:6], samples[6:], strict=True):
        assert score.score_vectors([x], [[y]]) == score.score_vectors([y], [[x]])
        for same in (x, x.copy(), x[::-1], np.concatenate([x, x[::-1]])):
            assert list(score.score_vectors([same], [[x]])) == [0.0]


def test_a_shift_is_its_length():
    (cloud,) = clouds(1, seed=4)
    score = DepthScore(unused_encoder, l2_normalize=False)
    shift = np.zeros_like(cloud)
    shift[:, 3] = 0.75
    # Tolerance: the rounding of one float32 addition to values up to 4.
    assert score.score_vectors([cloud], [[cloud + shift]])[0] == pytest.approx(0.75, abs=1e-6)


def test_several_references_are_reduced():
    x, *references = clouds(4)

    def scored(multi_ref):
        score = DepthScore(unused_encoder, multi_ref=multi_ref, n_directions=100)
        return score.score_vectors([x], [references])[0]

    score = DepthScore(unused_encoder, n_directions=100)
    single = [score.score_vectors([x], [[reference]])[0] for reference in references]
    assert scored("min") == min(single)
    assert scored("mean") == pytest.approx(np.mean(single), rel=1e-15)


def test_affine_invariant_depths_are_constant_with_a_warning():
    samples = clouds(2, seed=8)
    flat = DepthScore(unused_encoder, depth=lambda points: np.ones(len(points)))
    expected = flat.score_vectors(samples[:1], [samples[1:]])
    with pytest.warns(DegenerateDepthWarning, match="cannot order"):
        tied = DepthScore(unused_encoder, depth="ai_irw").score_vectors(samples[:1], [samples[1:]])
    # All tokens have the same depth: every region is the whole cloud, and nothing is trimmed.
    assert list(tied) == list(expected)


@pytest.mark.filterwarnings("error")
def test_shrinkage_makes_ai_irw_informative():
    samples = clouds(2, seed=8)
    depth = AIIRWDepth(covariance="ledoit-wolf")
    score = DepthScore(unused_encoder, depth=depth, n_directions=100)
    flat = DepthScore(unused_encoder, depth=lambda points: np.ones(len(points)))
    informative, constant = (
        each.score_vectors(samples[:1], [samples[1:]])[0] for each in (score, flat)
    )
    assert informative != constant


def test_corrected_irw_depends_less_on_the_seed():
    x, y = np.random.default_rng(5).normal(size=(2, 25, 64)).astype(np.float32)

    def spread(depth):
        scores = [
            DepthScore(unused_encoder, depth=depth, random_state=seed).score_vectors([x], [[y]])[0]
            for seed in range(10)
        ]
        return np.std(scores)

    assert spread(CorrectedIRW()) < spread(IRWDepth())
