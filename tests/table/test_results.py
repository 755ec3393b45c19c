"""Conversion of every result to a dictionary, JSON and a data frame."""

from __future__ import annotations

import functools
import json
import math

import numpy as np
import pytest
from combined import compare_and_test

import isodepth
from isodepth.base.export import ResultMixin, plain
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.show.page import escaped, shown
from isodepth.table.frames import NamedArray
from isodepth.text import Scores

EVIL = "<script>alert(1)</script>"


@functools.cache
def all_results() -> dict[str, ResultMixin]:
    rng = np.random.default_rng(0)
    names = (EVIL, 'b"&')
    x = NamedArray(rng.normal(size=(40, 2)), names)
    y = NamedArray(rng.normal(size=(30, 2)) + 1, names)
    y.points[0, 0] = np.nan
    y.points[1] = 50.0
    comparison = compare_and_test(
        x, y, n_permutations=19, n_directions=20, nan_policy="omit", random_state=0
    )
    monitor = isodepth.Monitor(NamedArray(rng.normal(size=(2000, 2)), names), random_state=0)
    verdict = monitor.check(NamedArray(rng.normal(size=(30, 2)), names))
    bags = [rng.normal(size=(20, 2)) + i for i in range(4)]
    tables = isodepth.region_tables(bags, n_directions=20, random_state=0)
    matrix = isodepth.DistanceMatrix.from_array(isodepth.pairwise(tables), [EVIL, "b", "c", "d"])
    return {
        "Comparison": comparison,
        "LargestGap": comparison.largest_gap,
        "SuspiciousRows": comparison.suspicious_rows(),
        "TwoSampleResult": comparison.test,
        "Monitor": monitor,
        "Verdict": verdict,
        "DistanceMatrix": matrix,
        "infinite": isodepth.two_sample_test(
            np.zeros((10, 1)), np.repeat([[0.0], [9.0]], 5, axis=0), n_permutations=19, scale=None
        ),
        "Scores": Scores(values=[0.5, math.nan], signature=f"DepthScore|{EVIL}"),
    }


NAMES = (
    "Comparison", "LargestGap", "SuspiciousRows", "TwoSampleResult", "Monitor", "Verdict",
    "DistanceMatrix", "infinite", "Scores",
)  # fmt: skip


def test_every_result_has_a_name() -> None:
    assert tuple(all_results()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_json_is_the_dictionary(name: str) -> None:
    result = all_results()[name]

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    text = result.to_json()
    assert json.loads(text, parse_constant=refuse) == result.to_dict()
    assert json.loads(result.to_json(indent=1)) == result.to_dict()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_hold_the_rows(name: str, backend: str) -> None:
    pytest.importorskip(backend)
    result = all_results()[name]
    frame = result.to_frame(backend)
    rows = result._rows()
    count = frame.num_rows if backend == "pyarrow" else len(frame)
    assert count == len(next(iter(rows.values())))
    names = list(frame.column_names if backend == "pyarrow" else frame.columns)
    assert names[-1] == list(rows)[-1]


def test_dictionaries_and_rows() -> None:
    comparison = all_results()["Comparison"]
    found = comparison.to_dict()
    assert found["distance"] == comparison.distance
    assert (found["n_rows"], found["n_used_rows"]) == ([40, 30], [40, 29])
    assert found["missing"]["n_dropped"] == [0, 1]
    assert found["gaps"] == comparison.gaps.tolist()
    assert found["test"]["pvalue"] == comparison.test.pvalue
    assert found["contributions"] == [each.to_dict() for each in comparison.contributions]
    assert set(found["contributions"][0]) == {"column", "fraction"}
    rows = comparison._rows()
    tested = {column.column: column.pvalue for column in comparison.test.column_tests}
    assert rows["pvalue"] == [tested[name] for name in rows["column"]]
    assert all_results()["Scores"].to_dict()["scores"] == [0.5, None]
    assert all_results()["Scores"] == Scores(values=[0.5, math.nan], signature=f"DepthScore|{EVIL}")
    assert np.mean(Scores(values=[1.0, 3.0])) == 2.0
    assert all_results()["Verdict"].to_dict()["pvalue"] == all_results()["Verdict"].pvalue
    assert all_results()["Monitor"]._rows()["batch_number"] == [1]


def test_unknown_backends_are_refused() -> None:
    with pytest.raises(InvalidOptionError, match="'pandas', 'polars', 'pyarrow'"):
        all_results()["Verdict"].to_frame("excel")


def test_plain_values() -> None:
    assert plain(np.float32(0.5)) == 0.5
    assert plain({1: np.array([np.inf, 1.0])}) == {"1": [None, 1.0]}
    assert type(plain(np.int64(3))) is int
    assert plain((None, True, "a")) == [None, True, "a"]


def test_markup() -> None:
    assert escaped("a\x00\x1bb") == "a��b"
    assert escaped("\ud800") == "?"
    assert shown(math.nan) == "–"


# -- a matrix by name -----------------------------------------------------------------------------


def test_matrix_is_an_array_to_numpy() -> None:
    matrix = all_results()["DistanceMatrix"]
    np.testing.assert_array_equal(np.asarray(matrix), matrix.values)
    assert np.asarray(matrix, dtype=np.float32).dtype == np.float32
    assert len(matrix) == 4


def test_labels_of_a_matrix() -> None:
    assert isodepth.DistanceMatrix.from_array([[3.0, 0.5]], ["a"]).other_labels == ("0", "1")
    assert isodepth.DistanceMatrix.from_array([[3.0], [0.5]], ["a", "b"]).other_labels == ("0",)
    between = isodepth.DistanceMatrix.from_array([[3.0, 0.5]], ["a"], ["p", "sample"])
    assert (between["a", "p"], between[0, "sample"], between["a", 1]) == (3.0, 0.5, 0.5)
    for row in (between["a"], between["a", :], between[0]):
        np.testing.assert_array_equal(row, [3.0, 0.5])
    np.testing.assert_array_equal(between[:, "p"], [3.0])
    assert between["a", "p", None].shape == (1,)
    for wrong, known in (("p", "a"), (("a", "a"), "p, sample")):
        with pytest.raises(InvalidInputError, match=f"no sample '.'; the samples are {known}"):
            between[wrong]
    with pytest.raises(IndexError):
        between["a", 0, 0]
    assert list(between._rows()) == ["sample_", "p", "sample"]


@pytest.mark.parametrize(
    ("values", "labels", "message"),
    [
        ([1.0, 2.0], None, "matrix of distances"),
        (np.array([["a"]]), None, "matrix of distances"),
        ([[0.0, 1.0], [2.0]], None, "matrix of distances"),
        ([[0.0, np.nan], [1.0, 0.0]], None, "neither negative nor NaN, got nan"),
        ([[0, -1], [-1, 0]], None, "neither negative nor NaN, got -1"),
        ([[0.0, 1.0], [1.0, 0.0]], ["a"], "must have 2 entries, got 1"),
        ([[0.0, 1.0], [1.0, 0.0]], ["a", "a"], "'a' twice"),
    ],
)
def test_other_values_and_labels_are_refused(values, labels, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        isodepth.DistanceMatrix.from_array(values, labels)


def test_print_of_a_matrix_shows_its_distances() -> None:
    matrix = isodepth.DistanceMatrix.from_array([[0, 1.25], [1.25, 0]], ["june", "july"])
    assert str(matrix).splitlines() == [
        "DistanceMatrix: distances between 2 samples",
        "      june  july",
        "june     0  1.25",
        "july  1.25     0",
    ]
    small, large = (
        isodepth.DistanceMatrix.from_array(np.eye(n, 12))._matrix_lines() for n in (12, 13)
    )
    assert len(small) == 13
    assert large == [*small, "(first rows and columns of 13 x 12)"]
