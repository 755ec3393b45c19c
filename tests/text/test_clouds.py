"""Token vectors of any scale, invalid encoders and invalid texts."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.text import CachedEncoder, DepthScore
from isodepth.text.clouds import clean_clouds

RNG = np.random.default_rng(0)
CLOUDS = {text: RNG.normal(size=(5 + len(text), 6)) for text in ("a", "bb", "ccc")}


def encoder(scale, dtype=np.float64):
    return lambda texts: [(CLOUDS[text] * scale).astype(dtype) for text in texts]


def score(model, **options):
    options = {"n_directions": 200, **options}
    return DepthScore(model, **options).score(["a", "bb"], ["ccc", "a"])


# -- scale ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [1023, 700, 200, 1, -1, -200, -700, -1010])
def test_scaled_vectors_score_the_same_bits(power):
    """Token vectors times a power of two, an exact product, have scores with the same bits."""
    scale = 2.0**power / (8 if power == 1023 else 1)
    expected = score(encoder(1.0))
    assert min(expected) > 0.1
    assert score(encoder(scale)) == expected


@pytest.mark.parametrize("scale", [3e38, 1e-44])
def test_extreme_values_of_single_precision(scale):
    ones = [np.float32([[scale, 0], [0, -scale], [scale, scale]])]
    (cloud,) = clean_clouds(ones, True)
    expected = [[1, 0], [0, -1], [0.5**0.5, 0.5**0.5]]
    np.testing.assert_allclose(cloud, expected, rtol=2e-7)


def test_rows_of_very_different_size_and_zeros():
    rows = np.array([[1e300, 1e300], [1e-300, 0], [0, 0], [5e-324, 0]])
    (cloud,) = clean_clouds([rows], True)
    np.testing.assert_allclose(cloud, [[0.5**0.5] * 2, [1, 0], [0, 0], [1, 0]], rtol=1e-7)


@pytest.mark.parametrize(("scale", "cause"), [(1e200, "infinite"), (1e-200, "zero in single")])
def test_overflow_and_underflow_in_single_precision_are_refused(scale, cause):
    with pytest.raises(InvalidInputError, match=cause):
        score(encoder(scale), l2_normalize=False)


def test_vectors_are_normalized():
    rows = RNG.normal(size=(40, 30))
    (cloud,) = clean_clouds([rows], True)
    simple = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    np.testing.assert_array_equal(cloud, simple)


# -- encoders -------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda encoder: encoder, CachedEncoder])
@pytest.mark.parametrize(
    ("model", "cause"),
    [
        (lambda texts: None, "encoder .* got NoneType for 3 texts"),
        (lambda texts: 7, "encoder .* got int for 3 texts"),
        (lambda texts: "abc", "encoder .* got str for 3 texts"),
        (lambda texts: [], "encoder .* got 0 arrays for 3 texts"),
        (lambda texts: [[[1.0, np.nan]]] * 3, "NaN"),
        (lambda texts: [[[1.0], [1.0, 2.0]]] * 3, "token vectors of a text"),
        (lambda texts: [["x"]] * 3, "token vectors of a text"),
        (lambda texts: [np.ones((1, len(text))) for text in texts], "same width, got 1, 2, 3"),
    ],
)
def test_invalid_encoder_output_is_refused(model, cause, wrap):
    with pytest.raises(InvalidInputError, match=cause):
        score(wrap(model))


def test_a_text_without_tokens_is_empty():
    with pytest.warns(UserWarning, match="candidates .*: 1 of 2"):
        scores = score(lambda texts: [[] if text == "bb" else [[1.0]] for text in texts])
    assert list(scores) == [0.0, 2.0]


def test_vectors_that_require_grad_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(InvalidInputError, match=r"detach\(\)"):
        score(lambda texts: [torch.ones(3, 2, requires_grad=True)] * len(texts))


# -- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidates", "references", "cause"),
    [
        (["a", "b\ud800"], ["a", "bb"], r"candidates .*'\\ud800'\) at position 1, character 1"),
        (["a", "bb"], ["a", "\udfff"], "references .* at position 1, character 0"),
        (["a", "bb"], ["a", ["bb", "\udc80x"]], "references .* at position 1"),
        (["a", 7], ["a", "bb"], "candidates .* got int at position 1"),
    ],
)
def test_invalid_strings_are_refused(candidates, references, cause):
    with pytest.raises(InvalidInputError, match=cause):
        DepthScore(encoder(1.0)).score(candidates, references)


# -- devices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["cuda:77", "nonsense", "cpu:x", "meta", ""])
def test_unavailable_devices_are_refused(device):
    pytest.importorskip("torch")
    # The device is checked before the model is loaded.
    with pytest.raises(InvalidOptionError, match=r"device=.* not available") as caught:
        DepthScore("./no/such/folder", device=device).score(["a"], ["b"])
    assert "\n" not in str(caught.value)
