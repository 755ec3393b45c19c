"""Encoder with the packaged MiniLM: shapes, layers, batches, truncation and caching."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from text_extra import needs_encoder

from isodepth.cli import main
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.text import CachedEncoder, DepthScore, Encoder
from isodepth.text.models import load

pytestmark = needs_encoder

TEXTS = [
    "Aaron Turner is a post-metal musician from Massachusetts.",
    "He started performing in 1995.",
    "",
    "cat",
    "🎉🎉 congratulations 😀",
    "مرحبا بالعالم، كيف حالك؟",
    "MotorSport Vision is located in the city of Fawkham, UK, and owns several race tracks there.",
]


@pytest.fixture(scope="module")
def encoder():
    return Encoder(progress=False)


def test_one_vector_per_token(encoder):
    clouds = encoder(TEXTS)
    assert [cloud.shape[1] for cloud in clouds] == [384] * len(TEXTS)
    assert [len(cloud) for cloud in clouds] == [len(ids) for ids in encoder.token_ids(TEXTS)]
    assert len(clouds[2]) == 0
    assert len(clouds[3]) == 1
    assert {cloud.dtype for cloud in clouds} == {np.dtype(np.float32)}
    assert all(np.isfinite(cloud).all() for cloud in clouds)


def test_special_tokens_are_dropped_unless_kept(encoder):
    kept = Encoder(special_tokens="keep", progress=False)(TEXTS)
    for with_markers, without in zip(kept, encoder(TEXTS), strict=True):
        assert len(with_markers) == len(without) + 2
        assert (with_markers[1:-1] == without).all()


def test_vectors_do_not_depend_on_the_batch(encoder):
    whole = encoder(TEXTS)
    small = Encoder(batch_size=1, progress=False)(TEXTS)
    shuffled = encoder(TEXTS[::-1])[::-1]
    for a, b, c in zip(whole, small, shuffled, strict=True):
        # Batches differ by about 1e-15 in double precision. Rounding to single precision removes
        # this difference except for about one value in 10**8, which may move by one ulp.
        assert np.abs(a - b).max(initial=0) <= 1e-6
        assert (a == b).mean() > 0.999 if len(a) else True
        assert (a == c).mean() > 0.999 if len(a) else True


def test_layers_are_those_of_the_model(encoder):
    import torch

    network = load(encoder.path, "cpu", "float64")
    ids = network.tokenizer(TEXTS[1], return_tensors="pt")
    with torch.inference_mode():
        states = network.model(**ids, output_hidden_states=True).hidden_states
    for layer in (0, 3, 6):
        vectors = Encoder(layer=layer, device="cpu", progress=False)([TEXTS[1]])[0]
        assert vectors == pytest.approx(states[layer][0, 1:-1].numpy(), abs=1e-6)
    assert (encoder([TEXTS[1]])[0] == Encoder(layer=6, progress=False)([TEXTS[1]])[0]).all()


def test_single_precision_is_close(encoder):
    single = Encoder(dtype="float32", progress=False)(TEXTS)
    for a, b in zip(single, encoder(TEXTS), strict=True):
        # The tolerance is for vectors of length about 6 after six layers in single precision.
        assert a == pytest.approx(b, abs=1e-4)


def test_the_model_is_loaded_once(monkeypatch, tmp_path, capsys):
    from transformers import AutoModel

    loaded = []
    original = AutoModel.from_pretrained
    monkeypatch.setattr(
        AutoModel, "from_pretrained", lambda path: loaded.append(path) or original(path)
    )
    load.cache_clear()
    DepthScore(progress=False).score(["a"], ["b"])
    assert len(loaded) == 1
    # A second score with other settings, an encoder and the command reuse the model.
    DepthScore(layer=3, depth="dual", progress=False).score(["c"], ["d"])
    Encoder(progress=False)(["e"])
    (tmp_path / "c.txt").write_text("a text\n")
    assert main(["score", "-c", str(tmp_path / "c.txt"), "-r", str(tmp_path / "c.txt")]) == 0
    assert capsys.readouterr().out.startswith("0.000000")
    assert len(loaded) == 1


def test_long_texts_are_truncated_with_one_warning_that_counts():
    long = "word " * 600
    with pytest.warns(UserWarning, match="truncated") as caught:
        clouds = Encoder(progress=False)([long, "short", long + "more"])
    (warning,) = caught
    assert "2 of 3 texts have more than 512 tokens" in str(warning.message)
    assert [len(cloud) for cloud in clouds] == [510, 1, 510]
    with pytest.warns(UserWarning, match="1 of 1"):
        assert len(Encoder(max_length=10, progress=False)(["one " * 20])[0]) == 8


def test_invalid_settings_are_refused(tmp_path):
    with pytest.raises(InvalidOptionError, match=r"layer .* 6 .*got 7"):
        Encoder(layer=7, progress=False)(["a"])
    with pytest.raises(InvalidOptionError, match="max_length must be at most 512"):
        Encoder(max_length=513, progress=False)(["a"])
    with pytest.raises(InvalidOptionError, match="cannot load model"):
        Encoder(str(tmp_path), progress=False)(["a"])
    with pytest.raises(InvalidOptionError, match="folder does not exist"):
        Encoder(str(tmp_path / "elsewhere"), progress=False)(["a"])
    with pytest.raises(InvalidOptionError, match=r"model must be .* got 3"):
        Encoder(3)
    for settings in ({"special_tokens": "some"}, {"dtype": "float16"}):
        with pytest.raises(InvalidOptionError):
            Encoder(**settings)


def test_signature_names_model_layer_and_versions(encoder):
    import torch
    import transformers

    signature = encoder.signature
    assert signature.startswith("model=all-MiniLM-L6-v2|layer=6|special=drop|length=512")
    assert f"transformers={transformers.__version__}" in signature
    assert f"torch={torch.__version__.partition('+')[0]}" in signature
    folder = Encoder(encoder.path, 2)
    assert folder.signature.startswith("model=model|layer=2|")


def test_cached_encoder_returns_the_same(encoder):
    cached = CachedEncoder(encoder)
    first = cached(TEXTS)
    assert all(a is b for a, b in zip(first, cached(TEXTS), strict=True))
    assert all((a == b).all() for a, b in zip(first, encoder(TEXTS), strict=True))
    assert cached.token_ids(TEXTS) == encoder.token_ids(TEXTS)
    assert cached.signature == encoder.signature


def test_no_texts(encoder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encoder([]) == []
        assert encoder.token_ids([]) == []


def test_invalid_texts_are_refused():
    encoder = Encoder(progress=False)
    for texts in (["a", "b\ud800"], ["a", None], [7]):
        with pytest.raises(InvalidInputError, match="texts must be"):
            encoder(texts)
        with pytest.raises(InvalidInputError, match="texts must be"):
            encoder.token_ids(texts)
