"""Many pairs of clouds at once: the numbers of the core, whatever else is in the batch."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import DegenerateDepthWarning, IRWDepth, Metric, SteadyIRWDepth
from isodepth.text import DepthScore
from isodepth.text.pairs import pair_distances, span_coordinates


def clouds(count, seed=0, width=64):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, count)
    return [rng.normal(size=(n, width)).astype(np.float32) for n in sizes]


def own_encoder(texts):
    raise AssertionError("embeddings are at hand")


@pytest.fixture(scope="module")
def score():
    return DepthScore(own_encoder, n_directions=200)


@pytest.mark.parametrize(
    "settings",
    [
        {"gap": "exact"},
        {"gap": "search", "refine": 0},
        {"gap": "search", "refine": 5},
        {"gap": "exact", "levels": 7},
        {"gap": "search", "refine": 0, "levels": "monte-carlo", "n_levels": 5},
        {"gap": "exact", "p": np.inf, "eps": 0.3},
    ],
)
def test_same_numbers_as_the_core(settings):
    x, y, z = clouds(3)
    metric = Metric(depth=IRWDepth(), n_directions=100, random_state=3, **settings)
    found = pair_distances([x, y, z], [(0, 1), (2, 1), (0, 2)], metric)
    expected = [metric.distance(*pair) for pair in ((x, y), (z, y), (x, z))]
    # Another frame for the exact supremum: what rounding does to lengths of about 10 remains.
    assert found == pytest.approx(expected, rel=1e-9)


def test_batch_independence_bit_for_bit(score):
    given = clouds(40)
    candidates, references = given[:20], [[cloud] for cloud in given[20:]]
    whole = score.score_clouds(candidates, references)
    one_by_one = [
        score.score_clouds([c], [r])[0] for c, r in zip(candidates, references, strict=True)
    ]
    assert whole == one_by_one
    order = np.random.default_rng(1).permutation(20)
    shuffled = score.score_clouds([candidates[i] for i in order], [references[i] for i in order])
    assert shuffled == [whole[i] for i in order]


def test_threads_change_nothing():
    given = clouds(20)
    scores = [
        DepthScore(own_encoder, n_directions=200, n_jobs=n_jobs).score_clouds(
            given[:10], [[cloud] for cloud in given[10:]]
        )
        for n_jobs in (1, 2, 5)
    ]
    assert scores[0] == scores[1] == scores[2]


def test_symmetric_and_zero_to_itself(score):
    given = clouds(12)
    for x, y in zip(given[:6], given[6:], strict=True):
        assert score.score_clouds([x], [[y]]) == score.score_clouds([y], [[x]])
        assert score.score_clouds([x], [[x]]) == [0.0]
        assert score.score_clouds([x], [[x.copy()]]) == [0.0]


def test_order_and_repetition_of_tokens_do_not_matter(score):
    for cloud in clouds(6):
        twice = np.concatenate([cloud, cloud[::-1]])
        assert score.score_clouds([twice], [[cloud]]) == [0.0]
        assert score.score_clouds([cloud[::-1]], [[cloud]]) == [0.0]


def test_a_shift_is_its_length():
    (cloud,) = clouds(1, seed=4)
    score = DepthScore(own_encoder, l2_normalize=False)
    shift = np.zeros_like(cloud)
    shift[:, 3] = 0.75
    # The shift is one float32 addition: half a unit in the last place of numbers up to 4.
    assert score.score_clouds([cloud], [[cloud + shift]])[0] == pytest.approx(0.75, abs=1e-6)


def test_several_references_are_reduced():
    x, *references = clouds(4)

    def scored(multi_ref):
        score = DepthScore(own_encoder, multi_ref=multi_ref, n_directions=100)
        return score.score_clouds([x], [references])[0]

    score = DepthScore(own_encoder, n_directions=100)
    single = [score.score_clouds([x], [[reference]])[0] for reference in references]
    assert scored("first") == single[0]
    assert scored("min") == min(single)
    assert scored("mean") == pytest.approx(np.mean(single), rel=1e-15)


def test_affine_invariant_depths_are_tied_and_say_so():
    given = clouds(2, seed=8)
    flat = DepthScore(own_encoder, depth=lambda points: np.ones(len(points)))
    expected = flat.score_clouds(given[:1], [given[1:]])
    with pytest.warns(DegenerateDepthWarning, match="cannot order"):
        tied = DepthScore(own_encoder, depth="ai_irw").score_clouds(given[:1], [given[1:]])
    # All tokens have one depth, so every region is the whole text: nothing is trimmed.
    assert tied == expected


@pytest.mark.filterwarnings("error")
def test_shrinkage_makes_ai_irw_informative():
    given = clouds(2, seed=8)
    score = DepthScore(own_encoder, depth="ai_irw", covariance="ledoit-wolf", n_directions=100)
    flat = DepthScore(own_encoder, depth=lambda points: np.ones(len(points)))
    assert score.score_clouds(given[:1], [given[1:]]) != flat.score_clouds(given[:1], [given[1:]])


def test_span_coordinates_keep_all_distances():
    x, y = clouds(2, seed=2)
    x = np.concatenate([x, y[:2]])
    a, b = span_coordinates(x, y)
    assert a.shape[1] < len(x) + len(y)
    points, flat = np.concatenate([x, y]).astype(float), np.concatenate([a, b])
    before = np.linalg.norm(points[:, None] - points, axis=2)
    after = np.linalg.norm(flat[:, None] - flat, axis=2)
    assert after == pytest.approx(before, abs=1e-12 * before.max())
    assert (a[-2:] == b[:2]).all()


def test_seeds_move_scores_little():
    x, y = np.random.default_rng(5).normal(size=(2, 25, 64)).astype(np.float32)

    def spread(depth):
        found = [
            DepthScore(own_encoder, depth=depth, random_state=seed).score_clouds([x], [[y]])[0]
            for seed in range(10)
        ]
        return np.std(found)

    # The order of a few tokens still depends on the directions; of fewer than with plain IRW.
    assert spread(SteadyIRWDepth()) < spread(IRWDepth())
