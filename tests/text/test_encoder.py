"""The packaged MiniLM: token vectors that do not depend on the batch, loaded once."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from text_extra import needs_encoder

from isodepth import InvalidInputError, InvalidOptionError
from isodepth.cli import main
from isodepth.text import DepthScore, Encoder, RememberingEncoder
from isodepth.text.network import load

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


def test_one_vector_a_token(encoder):
    clouds = encoder(TEXTS)
    assert [cloud.shape[1] for cloud in clouds] == [384] * len(TEXTS)
    assert [len(cloud) for cloud in clouds] == [len(ids) for ids in encoder.tokens(TEXTS)]
    assert len(clouds[2]) == 0
    assert len(clouds[3]) == 1
    assert {cloud.dtype for cloud in clouds} == {np.dtype(np.float32)}
    assert all(np.isfinite(cloud).all() for cloud in clouds)


def test_special_tokens_are_dropped_unless_kept(encoder):
    kept = Encoder(special_tokens="keep", progress=False)(TEXTS)
    for with_markers, without in zip(kept, encoder(TEXTS), strict=True):
        assert len(with_markers) == len(without) + 2
        assert (with_markers[1:-1] == without).all()


def test_batches_change_no_bit(encoder):
    whole = encoder(TEXTS)
    small = Encoder(batch_size=1, progress=False)(TEXTS)
    shuffled = encoder(TEXTS[::-1])[::-1]
    for a, b, c in zip(whole, small, shuffled, strict=True):
        # In double precision batches differ by about 1e-15, which rounding to single hides but
        # for one number in 10**8; a unit in the last place is granted to that one.
        assert np.abs(a - b).max(initial=0) <= 1e-6
        assert (a == b).mean() > 0.999 if len(a) else True
        assert (a == c).mean() > 0.999 if len(a) else True


def test_layers_are_those_of_the_model(encoder):
    import torch

    network = load(encoder.path, "cpu", "double")
    ids = network.tokenizer(TEXTS[1], return_tensors="pt")
    with torch.inference_mode():
        states = network.model(**ids, output_hidden_states=True).hidden_states
    for layer in (0, 3, 6):
        found = Encoder(layer=layer, device="cpu", progress=False)([TEXTS[1]])[0]
        assert found == pytest.approx(states[layer][0, 1:-1].numpy(), abs=1e-6)
    assert (encoder([TEXTS[1]])[0] == Encoder(layer=6, progress=False)([TEXTS[1]])[0]).all()


def test_single_precision_is_close(encoder):
    single = Encoder(precision="single", progress=False)(TEXTS)
    for a, b in zip(single, encoder(TEXTS), strict=True):
        # Vectors of length about 6 after six layers of single precision.
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
    # Another object with other settings, an encoder, and the command: the same weights.
    DepthScore(layer=3, depth="dual", progress=False).score(["c"], ["d"])
    Encoder(progress=False)(["e"])
    (tmp_path / "c.txt").write_text("a text\n")
    assert main(["score", "-c", str(tmp_path / "c.txt"), "-r", str(tmp_path / "c.txt")]) == 0
    assert capsys.readouterr().out.startswith("0.000000")
    assert len(loaded) == 1


def test_long_texts_are_cut_with_one_warning_that_counts():
    long = "word " * 600
    with pytest.warns(UserWarning, match="were cut") as caught:
        clouds = Encoder(progress=False)([long, "short", long + "more"])
    assert [str(w.message) for w in caught] == [
        "2 of 3 text(s) have more than 512 tokens and were cut there"
    ]
    assert [len(cloud) for cloud in clouds] == [510, 1, 510]
    with pytest.warns(UserWarning, match="1 of 1"):
        assert len(Encoder(max_length=10, progress=False)(["one " * 20])[0]) == 8
    with pytest.raises(InvalidInputError, match="more than 512 tokens; shorten"):
        Encoder(truncation="error", progress=False)([long])


@pytest.mark.filterwarnings("error")
def test_no_warning_where_nothing_is_cut(encoder):
    encoder(TEXTS)


def test_bad_settings_are_named(tmp_path):
    with pytest.raises(InvalidOptionError, match=r"layers 0 .* to 6, got layer=7"):
        Encoder(layer=7, progress=False)(["a"])
    with pytest.raises(InvalidOptionError, match="at most 512 tokens"):
        Encoder(max_length=513, progress=False)(["a"])
    with pytest.raises(InvalidOptionError, match="cannot load the model"):
        Encoder(str(tmp_path), progress=False)(["a"])
    with pytest.raises(InvalidOptionError, match="there is no such folder"):
        Encoder(str(tmp_path / "elsewhere"), progress=False)(["a"])
    with pytest.raises(InvalidOptionError, match="or a folder, got 3"):
        Encoder(3)
    for settings in ({"special_tokens": "some"}, {"truncation": "no"}, {"precision": "half"}):
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


def test_remembering_encoder_gives_the_same(encoder):
    remembering = RememberingEncoder(encoder)
    first = remembering(TEXTS)
    assert all(a is b for a, b in zip(first, remembering(TEXTS), strict=True))
    assert all((a == b).all() for a, b in zip(first, encoder(TEXTS), strict=True))
    assert remembering.tokens(TEXTS) == encoder.tokens(TEXTS)
    assert remembering.signature == encoder.signature


def test_nothing_in_nothing_out(encoder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encoder([]) == []
        assert encoder.tokens([]) == []


@needs_encoder
def test_texts_that_are_none_are_refused():
    encoder = Encoder(progress=False)
    for texts in (["a", "b\ud800"], ["a", None], [7]):
        with pytest.raises(InvalidInputError, match="texts must be texts"):
            encoder(texts)
        with pytest.raises(InvalidInputError, match="texts must be texts"):
            encoder.tokens(texts)
