"""The metrics that DepthScore is compared with: one protocol, and what each of them means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from text_extra import needs, needs_encoder

from isodepth import InvalidInputError, InvalidOptionError
from isodepth.baselines import mmd, sliced_wasserstein, wasserstein
from isodepth.core.directions import unit_vectors
from isodepth.text import Encoder, RememberingEncoder
from isodepth.text.rivals import (
    BLEU,
    JS2,
    METEOR,
    ROUGE,
    TER,
    BERTScore,
    ChrF,
    MMDScore,
    MoverScore,
    SlicedWassersteinScore,
    WassersteinScore,
)

CANDIDATES = ["The cat sat on the mat.", "A fast automobile drives by.", "", "one word"]
REFERENCES = ["A cat was on the mat.", ["A quick car drives by.", "Rain"], "Not empty.", "one word"]


def letters(texts):
    """A toy encoder: a letter is a point in the plane."""
    return [np.array([[ord(c), ord(c) % 7] for c in t], float).reshape(-1, 2) for t in texts]


@pytest.fixture(scope="module")
def encoder():
    return RememberingEncoder(Encoder(progress=False))


def rivals(encoder):
    return [
        WassersteinScore(encoder), SlicedWassersteinScore(encoder), MMDScore(encoder),
        MoverScore(encoder), BERTScore(), BLEU(), ChrF(), TER(), ROUGE("rouge1"),
        ROUGE("rouge2"), ROUGE("rougeL"), METEOR(wordnet=None), JS2(),
    ]  # fmt: skip


@needs_encoder
@needs("sacrebleu", "rouge_score", "nltk", "bert_score", "ot")
def test_one_protocol(encoder):
    for metric in rivals(encoder):
        scores = metric.score(CANDIDATES, REFERENCES)
        assert isinstance(scores, list), metric.name
        assert len(scores) == 4
        assert all(isinstance(value, float) and math.isfinite(value) for value in scores)
        # Equal texts are the best there is, and a good text is better than an empty one.
        signed = np.array(scores) * (1 if metric.higher_is_better else -1)
        assert signed.argmax() == 3, metric.name
        assert signed[0] > signed[2], metric.name
        with pytest.raises(InvalidInputError, match="wrap a single text"):
            metric.score("a", ["b"])


def test_names_are_those_of_the_tables():
    assert ROUGE("rougeL").name == "ROUGE-L"
    assert METEOR(wordnet=None).name == "METEOR (no synonyms)"
    assert [m.name for m in (WassersteinScore, SlicedWassersteinScore, MMDScore)] == [
        "W", "Sliced-W", "MMD"
    ]  # fmt: skip


@needs("ot")
def test_distances_are_those_of_the_baselines():
    x, y = (cloud.astype(np.float32) for cloud in letters(["isodepth", "regions"]))
    directions = unit_vectors(2, 1000, "uniform", np.random.default_rng(0))
    raw = {"l2_normalize": False}
    for metric, expected in (
        (WassersteinScore(letters, **raw), wasserstein(x, y, p=1)),
        (SlicedWassersteinScore(letters, **raw), sliced_wasserstein(x, y, directions=directions)),
        (MMDScore(letters, bandwidth=2.0, **raw), mmd(x, y, bandwidth=2.0)),
    ):
        assert metric.score(["isodepth"], ["regions"]) == [pytest.approx(expected, rel=1e-12)]


@pytest.mark.parametrize(("multi_ref", "expected"), [("best", 0.0), ("mean", 0.5), ("first", 1.0)])
def test_several_references(multi_ref, expected):
    assert JS2(multi_ref=multi_ref).score(["a b"], [["x y", "a b"]]) == [expected]


def test_js2_by_hand():
    # Bigrams (a b), (b c) against (a b), (b d): half of the mass is shared.
    assert JS2().score(["a b c"], ["a b d"]) == [pytest.approx(0.5)]
    assert JS2().score(["a", "a", ""], ["b", "a b", ""]) == [0.0, 1.0, 0.0]


@needs("ot")
def test_moverscore_weighs_rare_words():
    class Words:
        """Each distinct word is an axis of its own."""

        known = ("the", "a", "cat", "dog")

        def tokens(self, texts):
            return [[self.known.index(word) for word in text.split()] for text in texts]

        def __call__(self, texts):
            return [np.eye(4)[ids] for ids in self.tokens(texts)]

    # Every text has "the", so that only the animals weigh anything: cat to dog costs sqrt(2).
    texts = ["the cat", "the dog"]
    assert MoverScore(Words()).score(texts, texts[::-1]) == pytest.approx([1 - np.sqrt(2)] * 2)
    assert MoverScore(Words()).score(texts, texts) == pytest.approx([1.0, 1.0])
    # A collection of one text says nothing of rarity: both words weigh the same, and one is there.
    assert MoverScore(Words()).score(texts[:1], texts[1:]) == pytest.approx([1 - np.sqrt(2) / 2])
    with pytest.raises(InvalidOptionError, match="method tokens"):
        MoverScore(letters)


@needs_encoder
@needs("bert_score")
def test_bertscore_is_greedy_matching():
    candidate, reference = CANDIDATES[0], REFERENCES[0]
    clouds = Encoder(special_tokens="keep", progress=False)([candidate, reference])
    x, y = (cloud / np.linalg.norm(cloud, axis=1, keepdims=True) for cloud in clouds)
    similarity = x @ y.T
    # [CLS] and [SEP] can be matched with, but their own matches do not count.
    precision = similarity[1:-1].max(axis=1).mean()
    recall = similarity[:, 1:-1].max(axis=0).mean()
    for part, expected in (
        ("precision", precision),
        ("recall", recall),
        ("f1", 2 * precision * recall / (precision + recall)),
    ):
        # The package computes in single precision.
        assert BERTScore(part=part).score([candidate], [reference]) == [
            pytest.approx(expected, abs=1e-5)
        ]


@needs("nltk")
def test_meteor_finds_synonyms_in_a_wordnet(tmp_path):
    pair = ["A fast automobile"], ["A quick car"]
    (plain,) = METEOR(wordnet=None).score(*pair)
    with pytest.raises(InvalidOptionError, match="WordNet"):
        METEOR(wordnet=str(tmp_path))
    try:
        with_synonyms = METEOR(wordnet="/usr/share/wordnet")
    except InvalidOptionError:
        with pytest.warns(UserWarning, match="without synonyms"):
            METEOR()
        pytest.skip("no WordNet here (Debian: wordnet-base and wordnet-sense-index)")
    assert with_synonyms.score(*pair)[0] > plain


def test_bad_settings_are_refused():
    for make in (
        lambda: ROUGE("rouge9"),
        lambda: JS2(multi_ref="min"),
        lambda: WassersteinScore("bert-base-uncased"),
        lambda: BERTScore(part="f2"),
        lambda: SlicedWassersteinScore(letters, n_directions=0),
        lambda: MMDScore(letters, empty="zero"),
    ):
        with pytest.raises(InvalidOptionError):
            make()


def test_empty_texts_can_have_no_score():
    (value,) = SlicedWassersteinScore(letters, empty="nan").score([""], ["a"])
    assert math.isnan(value)
