"""The fast search for suspicious rows finds all rows with a score above 1, the threshold."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth.rows.suspicious.scoring import Rows, RowScorer


def _tables(kind: str, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return 3000 rows of a reference, and 3000 rows of which some are unusual.

    `kind` is the structure of the columns, such as "correlated", "ties" or "groups".
    """
    points = rng.normal(size=(2, 3000, 4))
    codes = rng.integers(-1, 4, (2, 3000, 2))
    if kind == "correlated":
        points[:, :, 1] = points[:, :, 0] + 0.01 * points[:, :, 1]
    elif kind == "positive":
        points = np.exp(2 * points)
        points[:, rng.random(3000) < 0.1, 0] = 0.0
    elif kind == "missing":
        points[rng.random(points.shape) < 0.2] = np.nan
        points[:, :20] = np.nan
    elif kind == "groups":
        points[:, :, 2] += 20 * codes[:, :, 0]
    elif kind == "ties":
        points = points.round()
        points[:, :, 3] = 7.0
    elif kind == "huge":
        points = points * 1e-3 + 1e9
        points[:, ::50, 1] = 1e300
    rows = Rows(points[1], codes[1])
    unusual = rng.integers(0, 3000, 200)
    rows.points[unusual, rng.integers(0, 4, 200)] *= rng.uniform(0.2, 9, 200)
    rows.points[7, 0] = -50.0
    return Rows(points[0], codes[0]), rows


@pytest.mark.parametrize(
    "kind", ["normal", "correlated", "positive", "missing", "groups", "ties", "huge"]
)
def test_candidates_include_all_scores_above_one(kind: str) -> None:
    for seed in range(3):
        reference, rows = _tables(kind, np.random.default_rng(seed))
        scorer = RowScorer(reference)
        scores = scorer.score(rows)
        candidates = scorer.candidates(rows)
        assert {*np.flatnonzero(scores > 1).tolist()} <= {*candidates.tolist()}
        assert np.array_equal(candidates, np.unique(candidates))
        # Rows with scores of at most 0.99 are not candidates.
        assert (scores[candidates] > 0.99).all() or kind == "huge"
        assert 7 in candidates


def test_scores_do_not_depend_on_other_rows() -> None:
    reference, rows = _tables("missing", np.random.default_rng(0))
    scorer = RowScorer(reference)
    subset = np.array([3, 40, 41, 2999])
    assert np.array_equal(scorer.score(rows)[subset], scorer.score(rows.take(subset)))
    assert scorer.candidates(rows.take(slice(0))).shape == (0,)
