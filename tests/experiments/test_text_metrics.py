"""Competing text metrics have a common interface and equal their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from text_extra import needs, needs_encoder

pytest.importorskip("ot")

from experiments.baselines import mmd, random_directions, sliced_wasserstein, wasserstein
from experiments.texts import overlap_metrics as overlap
from experiments.texts.embedding_metrics import (
    BERTScore,
    MoverScore,
    mmd_score,
    sliced_wasserstein_score,
    wasserstein_score,
)
from isodepth.text import CachedEncoder, Encoder

CANDIDATES = ["The cat sat on the mat.", "A fast automobile drives by.", "", "one word"]
REFERENCES = [
    ["A cat was on the mat."],
    ["A quick car drives by.", "Rain"],
    ["Not empty."],
    ["one word"],
]


def letters(texts):
    """Toy encoder: each letter is a point in the plane."""
    return [np.array([[ord(c), ord(c) % 7] for c in t], float).reshape(-1, 2) for t in texts]


@needs_encoder
@needs("sacrebleu", "rouge_score", "nltk", "bert_score")
def test_one_protocol():
    encoder = CachedEncoder(Encoder(progress=False))
    metrics = {
        "W": wasserstein_score(encoder),
        "Sliced-W": sliced_wasserstein_score(encoder, 50),
        "MMD": mmd_score(encoder, 0.7),
        "MoverScore": MoverScore(encoder),
        "BERTScore": BERTScore(),
        "BLEU": overlap.bleu(),
        "chrF": overlap.chrf(),
        "TER": overlap.ter(),
        "ROUGE-1": overlap.rouge("rouge1"),
        "ROUGE-L": overlap.rouge("rougeL"),
        "METEOR": overlap.meteor(synonyms=False),
        "JS-2": overlap.js2(),
    }
    for name, metric in metrics.items():
        scores = metric.score(CANDIDATES, REFERENCES)
        assert len(scores) == 4, name
        assert all(isinstance(value, float) and math.isfinite(value) for value in scores), name
        # Equal texts have the best score, and a good text is better than an empty one.
        signed = np.array(scores) * (1 if metric.higher_is_better else -1)
        assert signed.argmax() == 3, name
        assert signed[0] > signed[2], name


def test_distances_are_those_of_unit_vectors():
    x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in letters(["isodepth", "regions"]))
    for metric, expected in (
        (wasserstein_score(letters), wasserstein(x, y, p=1)),
        (
            sliced_wasserstein_score(letters, 50, 7),
            sliced_wasserstein(x, y, random_directions(2, 50, 7)),
        ),
        (mmd_score(letters, 2.0), mmd(x, y, bandwidth=2.0)),
    ):
        assert metric.score(["isodepth"], [["regions"]]) == [pytest.approx(expected, rel=1e-12)]
        # Mean over references; the origin for a text without tokens.
        assert metric.score(["isodepth"], [["isodepth", "regions"]]) == [
            pytest.approx(expected / 2, rel=1e-6, abs=1e-7)
        ]
    assert wasserstein_score(letters).score([""], [["a"]]) == [pytest.approx(1.0)]


def test_js2_by_hand():
    # Bigrams (a b), (b c) against (a b), (b d): half of the mass is shared.
    js2 = overlap.js2()
    assert js2.score(["a b c"], [["a b d"]]) == [pytest.approx(0.5)]
    assert js2.score(["a", "a", ""], [["b"], ["a b"], [""]]) == [0.0, 1.0, 0.0]


def test_moverscore_weighs_rare_words():
    class Words:
        """Encoder in which each distinct word is a unit vector along its own axis."""

        known = ("the", "a", "cat", "dog")

        def token_ids(self, texts):
            return [[self.known.index(word) for word in text.split()] for text in texts]

        def __call__(self, texts):
            return [np.eye(4)[ids] for ids in self.token_ids(texts)]

    # Every text contains "the", which has weight 0: moving cat to dog costs sqrt(2).
    texts = ["the cat", "the dog"]
    score = MoverScore(Words()).score
    assert score(texts, [[text] for text in texts[::-1]]) == pytest.approx([1 - np.sqrt(2)] * 2)
    assert score(texts, [texts, texts]) == pytest.approx([1.0, 1.0])
    # In a collection of one text all words have the same weight, and one of two words matches.
    assert score(texts[:1], [texts[1:]]) == pytest.approx([1 - np.sqrt(2) / 2])


@needs_encoder
@needs("bert_score")
def test_bertscore_is_greedy_matching():
    candidate, reference = CANDIDATES[0], REFERENCES[0][0]
    clouds = Encoder(special_tokens="keep", progress=False)([candidate, reference])
    x, y = (cloud / np.linalg.norm(cloud, axis=1, keepdims=True) for cloud in clouds)
    similarity = x @ y.T
    # Other tokens may match [CLS] and [SEP], but matches of these tokens do not count.
    precision = similarity[1:-1].max(axis=1).mean()
    recall = similarity[:, 1:-1].max(axis=0).mean()
    expected = 2 * precision * recall / (precision + recall)
    # The package computes in single precision.
    assert BERTScore().score([candidate], [[reference]]) == [pytest.approx(expected, abs=1e-5)]
