"""DepthScore with the packaged MiniLM, and with custom encoders."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from text_extra import needs_encoder

from isodepth import AIIRWDepth
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.text import CachedEncoder, DepthScore, Scores

pytestmark = pytest.mark.filterwarnings("ignore:.*empty or have no tokens")

CANDIDATES = [
    "The cat sat on the mat.",
    "Aaron Turner plays the electric guitar and comes from Massachusetts.",
    "Piotr Hallmann was born on the 25th of August 1987.",
    "Stock markets fell sharply on Monday.",
    "",
    "cat",
    "🎉🎉 congratulations 😀",
    "مرحبا بالعالم، كيف حالك؟",
]
REFERENCES = [
    "A cat was sitting on the mat.",
    ["Aaron Turner is a guitarist from Massachusetts.", "Aaron Turner is an American."],
    "Piotr Hallmann's birthday is August 25th 1987.",
    "The cake needs an hour in the oven.",
    "There is a reference.",
    "dog",
    "congratulations",
    "مرحبا",
]


@pytest.fixture(scope="module")
def score():
    return DepthScore(progress=False)


@pytest.fixture(scope="module")
def scores(score):
    return score.score(CANDIDATES, REFERENCES)


@needs_encoder
def test_all_scores_are_finite_and_lower_is_closer(scores):
    assert all(math.isfinite(value) and value > 0 for value in scores)
    # The maximum distance of unit vectors is 2, which is the score of the empty candidate.
    assert scores[4] == 2.0
    assert sorted(scores)[-2] < 2.0
    assert max(scores[0], scores[2]) < scores[3]


@needs_encoder
def test_batches_do_not_matter(score, scores):
    pairs = list(zip(CANDIDATES, REFERENCES, strict=True))
    one_by_one = [score.score([candidate], [reference])[0] for candidate, reference in pairs]
    assert one_by_one == pytest.approx(scores, rel=1e-4)
    order = np.random.default_rng(0).permutation(len(pairs))
    shuffled = score.score([CANDIDATES[i] for i in order], [REFERENCES[i] for i in order])
    assert shuffled == pytest.approx([scores[i] for i in order], rel=1e-4)
    small = DepthScore(batch_size=2, progress=False).score(CANDIDATES, REFERENCES)
    assert small == pytest.approx(scores, rel=1e-4)


@needs_encoder
def test_zero_to_itself_and_symmetric(score, scores):
    same = score.score(CANDIDATES, CANDIDATES)
    assert list(same) == [0.0] * len(CANDIDATES)  # two empty texts also
    firsts = [group if isinstance(group, str) else group[0] for group in REFERENCES]
    there, back = score.score(CANDIDATES, firsts), score.score(firsts, CANDIDATES)
    assert there == back


@needs_encoder
def test_signature_contains_all_settings(score):
    assert score.encoder.signature in score.signature
    settings = "unit=yes|empty=worst|refs=mean|DR|depth=irw_corrected|p=2|eps=0.01|gap=exact|seed=0"
    assert set(settings.split("|")) <= set(score.signature.split("|"))
    other = DepthScore(layer=3, eps=0.1, random_state=5, multi_ref="min").signature
    for part in ("layer=3", "eps=0.1", "seed=5", "refs=min"):
        assert part in other.split("|")


@needs_encoder
@pytest.mark.parametrize(
    "settings",
    [{"layer": 2}, {"special_tokens": "keep"}, {"l2_normalize": False}, {"depth": "dual"},
     {"depth": AIIRWDepth(covariance="ledoit-wolf")},
     {"gap": "search"}, {"dtype": "float32"}],
)  # fmt: skip
def test_settings_change_scores(settings, score, scores):
    other = DepthScore(progress=False, **settings)
    values = other.score(CANDIDATES[:4], REFERENCES[:4])
    assert all(math.isfinite(value) for value in values)
    assert list(other.score(CANDIDATES[1:2], CANDIDATES[1:2])) == [0.0]
    if settings in ({"depth": "dual"}, {"dtype": "float32"}):
        # The dual depth orders tokens almost as IRW does.
        assert values == pytest.approx(scores[:4], rel=0.05)
    else:
        assert list(values) != list(scores[:4])


# -- custom encoders ------------------------------------------------------------------------------


def words(texts):
    """Encode each word of a text by a fixed vector, without context."""
    return [np.array([_word(word) for word in text.split()]).reshape(-1, 16) for text in texts]


def _word(word):
    seed = int.from_bytes(word.encode(), "little") % 2**32
    return np.random.default_rng(seed).normal(size=16)


def test_a_text_repeated_twice_is_itself():
    score = DepthScore(words)
    text = "two of the words are the same"
    assert list(score.score([f"{text} {text}"], [text])) == [0.0]
    assert list(score.score(["same the are words the of two"], [text])) == [0.0]


def test_each_distinct_text_is_encoded_once():
    encoded = []

    def counting(texts):
        encoded.extend(texts)
        return words(texts)

    DepthScore(counting).score(["a b", "a b", "c"], [["c", "a b"], "c", "d"])
    assert sorted(encoded) == ["a b", "c", "d"]


@pytest.mark.parametrize("blank", ["", "  ", "\n\t"])
def test_empty_candidates_get_the_worst_score_and_are_counted(blank):
    """An empty candidate has the score 2, larger than that of a wrong text, and is counted."""
    with pytest.warns(UserWarning, match="candidates .*: 2 of 4"):
        scores = DepthScore(words).score([blank, "wrong", "a", blank], ["a", "a", "a", "b c"])
    assert scores[0] == scores[3] == 2.0
    assert scores[1] < 2.0
    with pytest.warns(UserWarning, match="candidates"):
        assert list(DepthScore(words, l2_normalize=False).score([blank], ["a"])) == [math.inf]


@pytest.mark.parametrize("q", [1, 2, 5, math.inf])
def test_the_worst_score_is_an_upper_bound(q):
    """The score of an empty text is at least the distance of any two texts, for any q.

    Many tokens all over the sphere and a single token have a distance above 2 if q is finite.
    """
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(400, 20)), np.eye(20)[:1], np.empty((0, 20))]
    score = DepthScore(words, q=q, n_directions=500, levels=20)
    many, opposite, empty = score.score_vectors(
        [clouds[0], -clouds[1], clouds[2]], [clouds[1:2]] * 3
    )
    assert max(many, opposite) <= empty
    assert (empty == 2.0) == (q == math.inf)
    assert (many > 2.0) == (q < math.inf)


def test_empty_references_are_treated_alike():
    with pytest.warns(UserWarning, match="references .*: 2 of 3; .*, or 0 if candidate"):
        scores = DepthScore(words).score(["", "a"], [" ", ["", "a"]])
    assert list(scores) == [0.0, 1.0]


def test_options_for_empty_texts():
    with pytest.warns(UserWarning, match="1 of 2; they get NaN"):
        missing, finite = DepthScore(words, empty="nan").score(["", "a"], ["a", "b"])
    assert math.isnan(missing)
    assert math.isfinite(finite)


def test_no_texts():
    assert list(DepthScore(words).score([], [])) == []


def test_invalid_texts_are_refused():
    score = DepthScore(words)
    with pytest.raises(InvalidInputError, match="wrap a single text"):
        score.score("a text", ["another"])
    with pytest.raises(InvalidInputError, match=r"candidates and references .* got 2 and 1"):
        score.score(["a", "b"], ["c"])
    with pytest.raises(InvalidInputError, match="non-empty list"):
        score.score(["a"], [[]])
    with pytest.raises(InvalidInputError, match="got int at position 1"):
        score.score(["a", 3], ["b", "c"])
    with pytest.raises(InvalidInputError, match="got NoneType at position 0"):
        score.score(["a"], [["b", None]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"multi_ref": "last"}, "multi_ref"),
        ({"empty": "zero"}, "empty"),
        ({"empty": "origin"}, "empty"),
        ({"random_state": None}, "random_state"),
        ({"eps": 0}, "eps"),
        ({"gap": "all"}, "gap"),
        ({"depth": "deep"}, "depth"),
        ({"layer": 3}, "layer=3 has no effect with a custom encoder"),
        ({"batch_size": 8}, "batch_size=8 has no effect with a custom encoder"),
        ({"special_tokens": "keep"}, "special_tokens='keep' has no effect with a custom encoder"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(InvalidOptionError, match=message):
        DepthScore(words, **settings)


def test_custom_encoder_is_named_in_the_signature():
    assert "model=own:words" in DepthScore(words).signature
    assert "model=own:words" in DepthScore(CachedEncoder(words)).signature
    assert "irw_corrected" in repr(DepthScore(words))


def test_scores_are_a_frozen_sequence():
    scores = Scores(values=[0.5, 0.25], signature="DepthScore|...")
    assert list(scores) == [0.5, 0.25]
    assert (len(scores), scores[1], scores.mean(), np.mean(scores)) == (2, 0.25, 0.375, 0.375)
    assert scores[:1].tolist() == [0.5]
    assert np.asarray(scores).dtype == float
    assert math.isnan(Scores(values=[]).mean())
    copy = pickle.loads(pickle.dumps(scores))
    assert copy == scores
    assert scores != Scores(values=[0.5, 0.25])
    assert scores != Scores(values=[0.5, 0.0], signature=scores.signature)
    for each in (scores, copy):
        with pytest.raises(ValueError, match="read-only"):
            each.values[0] = 1.0
    with pytest.raises(AttributeError):
        scores.signature = ""
    with pytest.raises(TypeError):
        2 * scores
    with pytest.raises(InvalidInputError, match=r"\(1, 2\)"):
        Scores(values=[[0.5, 0.25]])


def test_scores_do_not_share_the_array_that_they_are_made_of():
    values = np.array([0.5, 0.25])
    scores = Scores(values=values)
    values[0] = 9.0
    assert scores[0] == 0.5
