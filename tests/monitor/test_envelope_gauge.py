"""What foreign rows cannot explain: as defined, and never more than the clean rows give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import naive_intervals as naive

from isodepth import InvalidOptionError
from isodepth.inference.envelope_gauge import (
    EnvelopeGauge,
    column_shares,
    foreign_rows,
    quantile_ranks,
)

DIRECTIONS = np.vstack([np.eye(2), [[0.6, 0.8], [0.8, -0.6]]])
#: Sums of a few squares.
ROUNDING = 1e-12


def sample(rng: np.random.Generator, n: int, tied: bool) -> np.ndarray:
    points = rng.normal(size=(n, 2))
    return points.round() if tied else points


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(5, 40), st.integers(1, 9),
    st.sampled_from([0.0, 0.05, 0.1, 0.3]), st.booleans(),
)  # fmt: skip
def test_it_is_what_plain_loops_give(
    seed: int, n: int, m: int, levels: int, tolerance: float, tied: bool
) -> None:
    rng = np.random.default_rng(seed)
    reference, batch = sample(rng, m, tied), sample(rng, n, tied)
    gauge = EnvelopeGauge.fit(reference, DIRECTIONS, tolerance, levels)
    found, shares = gauge.score(batch, n)
    if foreign_rows(n, tolerance) > 0:
        expected = naive.distance(
            batch.tolist(), reference.tolist(), DIRECTIONS.tolist(), tolerance, levels
        )
        assert found == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)
    plain = naive.distance(batch.tolist(), reference.tolist(), DIRECTIONS.tolist(), 0.0, levels)
    assert gauge.plain(batch, n) == pytest.approx(plain, rel=ROUNDING, abs=ROUNDING)
    assert shares.sum() == pytest.approx(1.0)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.floats(0, 0.49), st.data())
def test_foreign_rows_never_raise_it_above_the_clean_ones(
    seed: int, n: int, tolerance: float, data: st.DataObject
) -> None:
    """Whatever they are: the score is at most the plain one of any clean rows of that number."""
    rng = np.random.default_rng(seed)
    reference = rng.normal(size=(30, 2))
    gauge = EnvelopeGauge.fit(reference, DIRECTIONS, tolerance, 7)
    batch = rng.normal(size=(n, 2)) * data.draw(st.sampled_from([0.5, 1.0, 3.0]))
    most = foreign_rows(n, tolerance)
    count = data.draw(st.integers(0, most))
    clean = batch.copy()
    away = data.draw(st.sampled_from([0.0, 1.0, -4.0, 1e6]))
    batch[:count] = away + data.draw(st.sampled_from([0.0, 1.0])) * rng.normal(size=(count, 2))
    # Any n - most of the rows that are still clean.
    kept = rng.permutation(np.arange(count, n))[: n - most]
    assert gauge.score(batch, n)[0] <= gauge.plain(clean[kept], n) * (1 + ROUNDING)
    # Also where rows are left out for what they lack, clean and foreign ones.
    there = rng.random(n) < data.draw(st.sampled_from([0.5, 0.9]))
    left = kept[there[kept]]
    if len(left) > 0:
        assert gauge.score(batch[there], n)[0] <= gauge.plain(clean[left], n) * (1 + ROUNDING)


def test_ranks_are_whole_numbers() -> None:
    assert quantile_ranks(19, 19).tolist() == list(range(19))
    assert quantile_ranks(1, 3).tolist() == [0, 0, 0]
    assert quantile_ranks(20, 1).tolist() == [9]
    assert foreign_rows(20, 0.05) == 1
    assert foreign_rows(19, 0.05) == 0
    assert foreign_rows(200, 0.29) == 58


def test_scale_is_taken_out_first() -> None:
    rng = np.random.default_rng(0)
    reference, batch, scale = rng.normal(size=(50, 2)), rng.normal(size=(20, 2)), np.array([3, 0.1])
    gauge = EnvelopeGauge.fit(reference * scale, DIRECTIONS, 0.1, scale=scale)
    plain = EnvelopeGauge.fit(reference, DIRECTIONS, 0.1)
    assert gauge.score(batch * scale, 20)[0] == pytest.approx(plain.score(batch, 20)[0], rel=1e-12)
    assert "scale=given" in gauge.signature
    assert "scale=none" in plain.signature


def test_weights_do_not_apply() -> None:
    gauge = EnvelopeGauge.fit(np.random.default_rng(0).normal(size=(50, 2)), DIRECTIONS, 0.1)
    with pytest.raises(InvalidOptionError, match="weights do not apply"):
        gauge.measure(np.eye(2), 2, np.ones(2))


def test_shares_follow_the_largest_gaps() -> None:
    gaps = np.array([[0.0, 3.0, 1.0, 0.0], [4.0, 0.0, 0.0, 1.0]])
    # Squared gaps 9 and 16 weigh the squared entries of the second and the first direction.
    assert column_shares(gaps, DIRECTIONS) == pytest.approx([16 / 25, 9 / 25])
    assert column_shares(gaps * 1e300, DIRECTIONS) == pytest.approx([16 / 25, 9 / 25])
    assert column_shares(gaps * 0, DIRECTIONS).sum() == pytest.approx(1.0)


def test_constant_rows() -> None:
    gauge = EnvelopeGauge.fit(np.zeros((30, 2)), DIRECTIONS, 0.1)
    assert gauge.score(np.zeros((10, 2)), 10)[0] == 0.0
    assert gauge.score(np.ones((10, 2)), 10)[0] > 0.5
