"""Option `refine` of `pairwise` and `DistanceTransformer`: entries are those of `distance`."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isodepth
from isodepth.errors import DegenerateDepthWarning, InvalidInputError, InvalidOptionError

RNG = np.random.default_rng(0)
BAGS = [RNG.normal(size=(n, 6)) + shift for n, shift in ((60, 0), (80, 1), (60, 2), (70, 0.5))]
OPTIONS: dict[str, Any] = {"n_directions": 30, "levels": 7, "random_state": 0}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"depth": "halfspace", "p": 1},
        {"depth": "irw", "normalize": False},
        {"dtype": "float32"},
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_refined_entries_equal_distances(options: dict[str, Any], n_jobs: int) -> None:
    options = {**OPTIONS, **options, "refine": 5}
    found = isodepth.pairwise(BAGS, n_jobs=n_jobs, **options)
    expected = [[isodepth.distance(x, y, **options) for y in BAGS] for x in BAGS]
    np.testing.assert_array_equal(found.values, expected)
    coarse = isodepth.pairwise(BAGS, **{**options, "refine": 0})
    above = np.triu_indices(4, 1)
    assert (found.values[above] > 1.01 * coarse.values[above]).all()


def test_weights_other_scale_and_out() -> None:
    weights = [RNG.integers(1, 4, len(bag)) for bag in BAGS]
    options = {**OPTIONS, "refine": 3, "scale": [1, 2, 1, 1, 3, 1]}
    out = np.empty((1, 3))
    found = isodepth.pairwise(
        BAGS[:1], BAGS[1:], weights=(weights[:1], weights[1:]), out=out, **options
    )
    expected = [
        isodepth.distance(BAGS[0], y, weights=(weights[0], w), **options)
        for y, w in zip(BAGS[1:], weights[1:], strict=True)
    ]
    np.testing.assert_array_equal(found.values[0], expected)
    np.testing.assert_array_equal(out[0], expected)
    with pytest.raises(InvalidInputError, match=r"6 in samples\[0\] and 5 in other\[0\]"):
        isodepth.pairwise(BAGS[:2], [BAGS[2][:, :5]], refine=3, **OPTIONS)


def test_pooled_scale_is_that_of_all_samples() -> None:
    options = {**OPTIONS, "scale": "pooled"}
    scale = isodepth.region_tables(BAGS, **options).scale
    found = isodepth.pairwise(BAGS, refine=3, **options)
    expected = isodepth.distance(BAGS[0], BAGS[1], refine=3, **{**OPTIONS, "scale": scale})
    assert found[0, 1] == expected
    assert found.settings is not None
    assert found.settings["scale"] == "pooled"


def test_frames_labels_and_settings() -> None:
    frames = {name: pd.DataFrame(bag) for name, bag in zip("abcd", BAGS, strict=True)}
    found = isodepth.pairwise(frames, refine=3, **OPTIONS)
    assert found["a", "c"] == isodepth.distance(BAGS[0], BAGS[2], refine=3, **OPTIONS)
    assert found.settings is not None
    assert "|refine=3|" in found.signature
    assert json.loads(found.to_json())["settings"]["refine"] == 3
    assert isodepth.pairwise(frames, **found.settings) == found


def test_the_matrix_states_whether_it_is_refined() -> None:
    def first_line(**options: Any) -> str:
        return repr(isodepth.pairwise(BAGS[:2], **OPTIONS, **options)).partition("\n")[0]

    words = "DistanceMatrix: distances between 2 samples"
    assert first_line() == f"{words}, without refinement"
    assert first_line(refine=2) == first_line(q=2) == words
    assert "without refinement" in isodepth.pairwise(BAGS[:2], **OPTIONS)._repr_html_()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"refine": 3, "table_dtype": "float32"}, "table_dtype='float32' has no effect"),
        ({"refine": 3, "q": 2}, "refine needs q=inf"),
        ({"refine": -1}, "refine must be an integer >= 0"),
        ({"refine": None}, "refine must be an integer >= 0"),
        ({"refine": 3, "levels": "exact"}, "levels must be an integer"),
    ],
)
def test_wrong_options(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidOptionError, match=match):
        isodepth.pairwise(BAGS, **{**OPTIONS, **options})
    if "table_dtype" not in options:
        with pytest.raises(InvalidOptionError, match=match):
            isodepth.DistanceTransformer(**{**OPTIONS, **options}).fit(BAGS)


def test_tables_and_chunks_cannot_be_refined() -> None:
    tables = isodepth.region_tables(BAGS, **OPTIONS)
    with pytest.raises(InvalidOptionError, match="refine has no effect on tables"):
        isodepth.pairwise(tables, refine=3)
    with pytest.raises(InvalidOptionError, match="refine=3 is not available for samples"):
        isodepth.pairwise([BAGS[0], isodepth.scan(BAGS[1])], refine=3, **OPTIONS)
    with pytest.raises(InvalidOptionError, match="tables cannot be refined"):
        isodepth.region_tables(BAGS, **OPTIONS, refine=3)


@pytest.mark.parametrize("options", [{"refine": 3}, {"scale": "pooled"}, {}])
def test_bags_in_chunks_are_refused(options: dict[str, Any]) -> None:
    """Bags in chunks raise InvalidInputError if the option needs all rows, at any position."""
    mixed = [BAGS[0], isodepth.scan([BAGS[1]])]
    transformer = isodepth.DistanceTransformer(**OPTIONS, **options)
    with pytest.raises(InvalidInputError, match=r"X\[1\] needs all rows in memory"):
        transformer.fit(mixed)
    transformer.fit(BAGS)
    if "refine" in options:
        with pytest.raises(InvalidInputError, match=r"X\[1\] needs all rows in memory"):
            transformer.transform(mixed)
    else:
        assert transformer.transform(mixed).shape == (2, len(BAGS))


def test_simplices_are_warned_of() -> None:
    with pytest.warns(DegenerateDepthWarning):
        isodepth.pairwise([BAGS[0], BAGS[1][:5]], refine=3, **OPTIONS)


def test_transformer() -> None:
    transformer = isodepth.DistanceTransformer(refine=4, **OPTIONS)
    found = transformer.fit_transform(BAGS[:3])
    np.testing.assert_array_equal(found, isodepth.pairwise(BAGS[:3], refine=4, **OPTIONS).values)
    assert transformer.tables_ is None
    assert transformer.metric_.refine == 4
    assert list(transformer.get_feature_names_out()) == [
        f"distancetransformer{i}" for i in range(3)
    ]
    new = [isodepth.distance(BAGS[3], bag, refine=4, **OPTIONS) for bag in BAGS[:3]]
    np.testing.assert_array_equal(transformer.transform(BAGS[3:]), [new])
    copied = pickle.loads(pickle.dumps(transformer))
    np.testing.assert_array_equal(copied.transform(BAGS[3:]), [new])
    with pytest.raises(InvalidInputError, match="the fitted bags"):
        transformer.transform([BAGS[3][:, :5]])
    coarse = transformer.set_params(refine=0).fit_transform(BAGS[:3])
    np.testing.assert_array_equal(coarse, isodepth.pairwise(BAGS[:3], **OPTIONS).values)
    assert transformer.tables_ is not None
    with pytest.raises(isodepth.errors.NotFittedError):
        isodepth.DistanceTransformer(refine=4).transform(BAGS)
    with pytest.raises(isodepth.errors.UnknownOptionError):
        isodepth.RegionTransformer(refine=0)  # type: ignore[call-arg]


@pytest.mark.parametrize("refine", [0, 3])
def test_progress_counts_samples_and_pairs(refine: int, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("tqdm")
    isodepth.pairwise(BAGS, refine=refine, progress=True, **OPTIONS)
    shown = capsys.readouterr().err
    assert "regions" in shown
    assert ("6/6" in shown) == (refine > 0)
