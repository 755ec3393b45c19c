"""Scores: tables of the size of a batch, shares that contaminated rows cannot explain, columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import naive_shares as naive

from isodepth import Metric
from isodepth.data.frames import Table
from isodepth.metric import attribution
from isodepth.monitor.scorer import (
    RegionScorer,
    ShareScorer,
    _contributions,
    contaminated_rows,
    largest_gap_shares,
    mean_table,
    samples_of,
    share_directions,
)

RNG = np.random.default_rng(50)
DIRECTIONS = np.vstack([np.eye(2), [[0.6, 0.8], [0.8, -0.6]]])


def metric(**options: object) -> Metric:
    return Metric(**{"levels": 6, "n_directions": 60, "random_state": 0, "q": 2, **options})  # type: ignore[arg-type]


def regions(made: Metric, sizes: tuple[int, ...] = (40,), count: int = 30) -> RegionScorer:
    samples = [[RNG.normal(size=(n, 3)) for _ in range(count)] for n in sizes]
    return RegionScorer(made, [mean_table(own, None, made) for own in samples], [*sizes])


def test_the_reference_is_the_mean_table() -> None:
    made = metric()
    samples = [RNG.normal(size=(40, 3)) for _ in range(7)]
    found = RegionScorer(made, [mean_table(samples, ("a", "b", "c"), made)], [40])
    expected = np.mean([made.table(points).values for points in samples], axis=0)
    assert found.reference.values == pytest.approx(expected, rel=1e-14)
    assert found.reference.columns == ("a", "b", "c")


def test_without_it_small_batches_look_too_small() -> None:
    """Against a large table a batch that has grown is nearer than one that has not."""
    made = metric()
    large = RegionScorer(made, [made.table(Table(RNG.normal(size=(8000, 3)), None))], [8000])
    same = [RNG.normal(size=(40, 3)) for _ in range(40)]
    for scorer, nearer in ((large, True), (regions(made), False)):
        means = [np.mean([scorer.score(f * points, 40) for points in same]) for f in (1.0, 1.15)]
        assert (means[1] < means[0]) == nearer


def test_sizes_between_have_tables_between() -> None:
    found = regions(metric(), (25, 100))
    small, large = (table.values for table in found.tables)
    for n_rows, values in ((1, small), (25, small), (100, large), (1000, large)):
        assert found.table_of(n_rows).values is values
    # The noise of a mean of 44 rows is about half way between.
    assert found.table_of(44).values == pytest.approx((small + large) / 2, abs=0.02)
    many, few = samples_of(1000, 10, RNG), samples_of(100, 60, RNG)
    assert len(np.unique(np.concatenate(many))) == 1000
    assert [len(np.unique(rows)) for rows in few] == [60] * 20
    assert samples_of(10, 60, RNG)[0].tolist() == list(range(10))


@pytest.mark.parametrize("q", [1.0, 2.0, np.inf])
def test_columns_that_moved_are_named(q: float) -> None:
    found = regions(metric(q=q, n_directions=400), (300,))
    points = RNG.normal(size=(300, 3)) + [0.0, 3.0, 4.0]
    score, columns = found.score_and_columns(points, 300)
    assert score == pytest.approx(5.0, rel=0.1)
    assert score == found.score(points, 300)
    # Squared entries of the shift, within what 300 rows of spread 1 move it by.
    assert columns == pytest.approx([0.0, 9 / 25, 16 / 25], abs=0.08)
    same = RegionScorer(found.metric, [found.metric.table(points)], [300])
    score, columns = same.score_and_columns(points, 300)
    assert (score, columns.sum()) == (0, pytest.approx(1.0))


def test_contributions_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps, directions = RNG.random((5, 22)), metric(n_directions=11).fit(3).directions
    whole = _contributions(gaps, directions, 2.0)
    means, equal = np.sqrt((gaps**2).mean(axis=1)), np.full(5, 0.2)
    plain = attribution.shares_of_directions(
        lambda some: gaps.reshape(5, 2, 11)[:, :, some].reshape(5, -1),
        equal,
        directions,
        means,
        2.0,
    )
    assert whole == pytest.approx(plain, rel=1e-12)
    # Three directions at a time.
    monkeypatch.setattr(attribution, "_BLOCK_NUMBERS", 60)
    assert _contributions(gaps, directions, 2.0) == pytest.approx(whole, rel=1e-12)


# -- with a tolerance -----------------------------------------------------------------------------


def sample(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    points = rng.normal(size=(n, 2))
    if kind == "tied":
        return points.round()
    return (points > 0.8).astype(float) if kind == "binary" else points


KINDS = st.sampled_from(["normal", "tied", "binary"])


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(5, 40), st.integers(1, 9),
    st.sampled_from([0.05, 0.1, 0.3]), KINDS,
)  # fmt: skip
def test_it_is_what_plain_loops_give(
    seed: int, n: int, m: int, levels: int, tolerance: float, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    reference, batch = sample(rng, m, kind), sample(rng, n, kind)
    scorer = ShareScorer.fit(reference, DIRECTIONS, tolerance, levels)
    plain = naive.distance(batch.tolist(), reference.tolist(), DIRECTIONS.tolist(), levels)
    assert scorer.null_score(batch, n) == pytest.approx(plain, abs=1e-12)
    allowed = contaminated_rows(n, tolerance) / n
    score, columns = scorer.score_and_columns(batch, n)
    assert score == pytest.approx(max(0.0, plain - allowed), abs=1e-12)
    assert columns.sum() == pytest.approx(1.0)
    assert scorer.null_score(reference, m) == 0.0


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.floats(0.01, 0.49), KINDS, st.data())
def test_replaced_rows_never_raise_it_above_the_null_score(
    seed: int, n: int, tolerance: float, kind: str, data: st.DataObject
) -> None:
    """Whatever rows become, missing ones among them, and whichever are chosen."""
    rng = np.random.default_rng(seed)
    scorer = ShareScorer.fit(sample(rng, 30, kind), DIRECTIONS, tolerance, 7)
    clean = sample(rng, n, kind) * data.draw(st.sampled_from([0.5, 1.0, 3.0]))
    there = rng.random(n) < data.draw(st.sampled_from([0.6, 1.0]))
    batch, still = clean.copy(), there.copy()
    # The smallest rows, the largest, or any.
    order = rng.permutation(n) if data.draw(st.booleans()) else np.argsort(clean[:, 0])
    chosen = order[: data.draw(st.integers(0, contaminated_rows(n, tolerance)))]
    batch[chosen] = data.draw(st.sampled_from([0.0, 1.0, -4.0, 1e6]))
    still[chosen] = rng.random(len(chosen)) < data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    if there.any() and still.any():
        expected = scorer.null_score(clean[there], n)
        assert scorer.score_and_columns(batch[still], n)[0] <= expected + 1e-12


def test_units_and_constants() -> None:
    reference, batch = RNG.normal(size=(50, 2)), RNG.normal(size=(20, 2))
    scale = np.array([3, 0.1])
    given_units = ShareScorer.fit(reference * scale, DIRECTIONS, 0.1, scale=scale)
    plain = ShareScorer.fit(reference, DIRECTIONS, 0.1)
    expected, _ = plain.score_and_columns(batch, 20)
    found, _ = given_units.score_and_columns(batch * scale, 20)
    assert found == pytest.approx(expected, abs=1e-12)
    assert "scale=given" in given_units.signature
    constant = ShareScorer.fit(np.zeros((30, 2)), DIRECTIONS, 0.1)
    assert constant.score_and_columns(np.zeros((10, 2)), 10)[0] == 0.0
    for away in (-1.0, 1.0):
        score, _ = constant.score_and_columns(np.full((10, 2), away), 10)
        assert score == pytest.approx(0.9)
    assert [contaminated_rows(n, c) for n, c in ((20, 0.05), (19, 0.05), (200, 0.29))] == [1, 0, 58]


def test_the_columns_and_their_sum_are_always_there() -> None:
    found = share_directions(3, None, 7, 0)
    assert (found[:3] == np.eye(3)).all()
    assert found[3] == pytest.approx(np.full(3, 3**-0.5))
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(found)))
    assert len(share_directions(3, [[0, 3, 4]], 7, 0)) == 4
    assert (share_directions(1, None, 7, 0) == [[1.0]]).all()


def test_contributions_follow_the_largest_gaps() -> None:
    gaps = np.array([[0.0, 3.0, 1.0, 0.0], [4.0, 0.0, 0.0, 1.0]])
    # Squared gaps 9 and 16 weigh the squared entries of the second and the first direction.
    for factor in (1.0, 1e300):
        assert largest_gap_shares(gaps * factor, DIRECTIONS) == pytest.approx([16 / 25, 9 / 25])
    assert largest_gap_shares(gaps * 0, DIRECTIONS).sum() == pytest.approx(1.0)
