"""Rows that are typical of the difference between two samples."""

from __future__ import annotations

import re

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidInputError
from isodepth.report import html_report
from isodepth.rows.rows import TwoSamples
from isodepth.rows.typical import _clipped, _scores, has_many_unnamed_columns, typical_rows
from isodepth.show.pair import Pair


def naive_scores(x: np.ndarray, y: np.ndarray, folds: list[np.ndarray]) -> list[np.ndarray]:
    """Return the scores (n,) and (m,) of the rows of x and y, computed in plain loops.

    A score is the position of a row along the direction of the difference, see `TypicalRow`. The
    direction is estimated from the rows of the other folds. `folds` has the index of the fold of
    each row of x, and of each row of y, from 0 to 4.
    """
    scores = [np.empty(len(x)), np.empty(len(y))]
    for fold in range(5):
        a, b = x[folds[0] != fold], y[folds[1] != fold]
        n, d = len(a) + len(b), x.shape[1]
        within = ((len(a) * np.cov(a.T, bias=True)) + len(b) * np.cov(b.T, bias=True)) / n
        shrunk = n / (n + d) * within + d / (n + d) * np.trace(within) / d * np.eye(d)
        direction = np.linalg.inv(shrunk) @ (b.mean(axis=0) - a.mean(axis=0))
        direction /= np.sqrt(direction @ within @ direction)
        middle = (a.mean(axis=0) + b.mean(axis=0)) / 2
        for rows, of, score in zip((x, y), folds, scores, strict=True):
            for i in np.flatnonzero(of == fold):
                score[i] = (rows[i] - middle) @ direction
    return scores


def test_scores_agree_with_the_definition(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(41, 6)), rng.normal(size=(30, 6)) @ np.diag([1, 2, 3, 1, 1, 1]) + 0.3
    order = np.random.default_rng(1)
    folds = [order.permutation(len(part)) % 5 for part in (x, y)]
    monkeypatch.setattr("isodepth.rows.typical.rng_for", lambda *_: np.random.default_rng(1))
    for fast, slow in zip(_scores(x, y), naive_scores(x, y, folds), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-9)


@pytest.mark.parametrize("d", [60, 400])
def test_a_new_group_of_rows_is_found(d) -> None:
    """The typical rows are those of a group that only Y has, also with more columns than rows."""
    rng = np.random.default_rng(d)
    x, y = rng.normal(size=(150, d)), rng.normal(size=(120, d))
    y[40:80, :30] += 2
    rows = typical_rows(TwoSamples.read(x, y))
    assert set(rows.indices("Y")) <= set(range(40, 80))
    assert rows.purity[1] > 0.9 > rows.expected[1]
    np.testing.assert_allclose(rows.expected, (150 / 270, 120 / 270))


def test_equal_distributions_have_no_pure_extremes() -> None:
    """Without a difference, rows of both samples are among those with extreme scores.

    Without cross-fitting, the rows at each end would belong to one sample.
    """
    x, y = np.random.default_rng(0).normal(size=(2, 200, 500))
    # With 20 extreme rows, a fraction above 0.85 has probability 0.001.
    assert max(typical_rows(TwoSamples.read(x, y)).purity) < 0.85


def test_wrong_values_do_not_determine_the_direction() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200, 60))
    y[:60, 5:15] += 2
    clean = typical_rows(TwoSamples.read(x, y))
    x[0, 30], y[100, 31] = 1e9, -1e9
    rows = typical_rows(TwoSamples.read(x, y))
    assert set(clean.indices("Y")) <= set(range(60))
    assert len(set(rows.indices("Y")) & set(range(60))) >= 4


def test_rows_with_wrong_values_are_not_typical() -> None:
    """Rows with wrong values are not listed, although they may be far along the direction."""
    rng = np.random.default_rng(2)

    def table(n: int, factor: float) -> np.ndarray:
        income = rng.lognormal(10, 0.6, n)
        return np.column_stack([income, factor * income * rng.lognormal(-4, 0.3, n)])

    x, y = table(900, 1.0), table(700, 1.25)
    y[:6, 0], y[6, 1], x[[3, 5], 1] = -1.0, 1e6, -999.0
    rows = typical_rows(TwoSamples.read(x, y), 900)
    assert sorted(rows.indices("Y")) == list(range(7, 700))
    assert sorted(rows.indices("X")) == [i for i in range(900) if i not in (3, 5)]
    np.testing.assert_allclose(rows.expected, (898 / 1591, 693 / 1591))
    # If more than 5% of the rows have the wrong value, they are the difference.
    y[:50, 0] = -1.0
    assert set(typical_rows(TwoSamples.read(x, y)).indices("Y")) <= set(range(50))


def test_missing_values_constant_columns_and_ties() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, size=(2, 50, 60)).astype(float)
    y[:, 3] += 2
    x[:, 7] = y[:, 7] = 4.0
    x[:, 8] = y[:, 8] = np.nan
    y[::3, 9] = np.nan
    clipped = _clipped(TwoSamples((x, y), tuple(map(str, range(60))), {}))
    assert all(np.isfinite(part).all() for part in clipped)
    rows = typical_rows(TwoSamples((x, y), tuple(map(str, range(60))), {}), 3)
    assert [row.sample for row in rows.rows] == ["X"] * 3 + ["Y"] * 3
    assert np.isfinite([row.score for row in rows.rows]).all()
    equal = np.ones((8, 60))
    assert typical_rows(TwoSamples.read(equal, equal)).purity == (0.5, 0.5)


def test_more_than_2000_columns_are_not_whitened(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 60, 70))
    y[:, :30] += 1
    whitened = typical_rows(TwoSamples.read(x, y))
    monkeypatch.setattr("isodepth.rows.typical._MAX_WHITENED", 69)
    plain = typical_rows(TwoSamples.read(x, y))
    assert plain.purity[1] > 0.9
    assert plain.to_dict() != whitened.to_dict()


@pytest.mark.usefixtures("without_pictures")
def test_results_have_typical_rows_and_the_report_shows_them(monkeypatch) -> None:
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 51)), rng.normal(size=(70, 51))
    y[:20, :20] += 3
    result = isodepth.two_sample_test(x, y, n_permutations=99, random_state=0)
    assert result.significant
    rows = result.typical_rows()
    assert set(rows.indices("Y")) <= set(range(20))
    first = ", ".join(map(str, rows.indices("Y")[:3]))
    phrase = f"most typical of the difference are rows .* of X and rows {first} of Y"
    assert re.search(phrase, result.headline)
    assert rows._texts()[1] in repr(result)
    assert "column " not in repr(result)
    line = rows._texts(("June", "July"))[1]
    assert line.startswith(f"rows most typical of July: {rows.indices('Y')[0]}, ")
    page = html_report(result, names=("June", "July"))
    listed = ", ".join(map(str, rows.indices("Y")))
    assert re.search(f">July</th>.*?>{listed}<.*?>{rows.purity[1]:.0%}<", page)
    # Names of columns are only in the changes, which are collapsed, and in the settings.
    visible = re.sub(r"<details.*?</details>", "", page, flags=re.DOTALL)
    assert "column " not in visible
    assert f"<summary>{len(result.changes)} changes of columns" in page
    assert "All rows along the direction" in page
    assert "Contributions of the columns" not in page
    assert rows._texts()[1][1:] in result._repr_html_()
    untested = isodepth.compare(x, y, n_directions=20, random_state=0)
    assert "typical_rows() lists" in repr(untested)
    assert "column " not in repr(untested)
    assert rows._texts()[1][1:] in untested._repr_html_()
    monkeypatch.setattr("isodepth.show.pair._MAX_SCORES", 149)
    page = html_report(untested)
    assert f">{listed}<" in page
    assert "All rows along the direction" not in page
    monkeypatch.setattr("isodepth.show.notebook._TYPICAL_VALUES", 150 * 51 - 1)
    assert "typical_rows() lists" in untested._repr_html_()
    assert ", ".join(map(str, rows.indices("X"))) in rows._repr_html_()
    content = Pair(result, ("June", "July")).content()
    assert content["typical_rows"]["rows"][0]["row"] == rows.indices("X")[0]
    few = isodepth.two_sample_test(x[:, :50], y[:, :50], n_permutations=99, random_state=0)
    assert few.significant
    assert "typical_rows" not in repr(few)
    assert Pair(few, ("X", "Y")).content()["typical_rows"] is None


def test_named_columns_are_described_by_their_names() -> None:
    assert has_many_unnamed_columns(tuple(f"column {j}" for j in range(51)))
    assert not has_many_unnamed_columns(tuple(f"column {j}" for j in range(50)))
    assert not has_many_unnamed_columns(tuple(f"x{j}" for j in range(51)))


def test_input_that_is_not_possible() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 10, 3))
    with pytest.raises(InvalidInputError, match=r"at least 5 rows .* 4 and 10 rows"):
        typical_rows(TwoSamples.read(x[:4], y))
    assert len(typical_rows(TwoSamples.read(x[:5], y), 3).rows) == 6
    with pytest.raises(ValueError, match="n must"):
        typical_rows(TwoSamples.read(x, y), 0)


def test_a_difference_in_the_last_rows_of_large_samples_is_found() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 12_000, 40))
    y[8_000:, 2] += 6
    assert min(typical_rows(TwoSamples.read(x, y)).indices("Y")) >= 8_000
