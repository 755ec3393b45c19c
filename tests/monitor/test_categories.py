"""Monitors of tables with categories: what is scored, named and kept, and the promised rate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from isodepth import DepthMonitor, InvalidInputError, scan
from isodepth.monitor.mixed_scorer import CategoryShares, MixedScorer

pd = pytest.importorskip("pandas")

OPTIONS: dict[str, Any] = {
    "batch_size": 200, "n_directions": 20, "levels": 8, "random_state": 0, "alpha": 0.05
}  # fmt: skip
VALUES = ["UA", "AA", "B6", "HA"]


def table(rng: Any, n: int = 200, share: float = 0.1, new: float = 0.0) -> Any:
    carriers = rng.choice(VALUES, n, p=[share, 0.6, 0.38 - share, 0.02]).astype(object)
    carriers[rng.random(n) < new] = "ZZ"
    return pd.DataFrame(
        {"delay": rng.lognormal(size=n), "carrier": carriers, "late": rng.random(n) < 0.3,
         "when": pd.Timestamp("2013-01-01")}
    )  # fmt: skip


def named(verdicts: list[Any]) -> set[str]:
    return {change.value for verdict in verdicts for change in verdict.categories}


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_new_categories_and_moved_shares_are_named(
    tmp_path: Path, tolerance: float, alone: bool
) -> None:
    def own(rows: Any) -> Any:
        return rows.drop(columns="delay") if alone else rows

    rng = np.random.default_rng(1)
    path = tmp_path / "m.npz"
    monitor = DepthMonitor(own(table(rng, 12_000)), tolerance=tolerance, path=path, **OPTIONS)
    assert [k.use for k in monitor.kinds][-3:] == ["shares", "shares", "left out"]
    assert monitor.columns == (*(() if alone else ("delay",)), "carrier", "late")
    quiet = [monitor.check(own(table(rng))) for _ in range(10)]
    assert not any(verdict.alarm for verdict in quiet)
    moved = [monitor.check(own(table(rng, share=0.3))) for _ in range(5)]
    assert moved[-1].alarm
    assert "UA" in named(moved)
    assert moved[-1].columns[0][0] == "carrier"
    monitor.reset()
    # Columns that are left out need not be there, in whatever order the others are.
    odd = own(table(rng, new=0.2)).drop(columns="when").iloc[:, ::-1]
    verdict = monitor.check(odd)
    change = verdict.categories[0]
    assert (change.column, change.value, change.new) == ("carrier", "ZZ", True)
    assert change.batch == pytest.approx((odd["carrier"] == "ZZ").mean())
    assert "carrier = ZZ" in str(verdict)
    loaded = DepthMonitor.load(path)
    assert loaded.verdicts == monitor.verdicts
    assert loaded.check(odd, label="a") == monitor.check(odd, label="a")
    assert loaded.to_dict() == monitor.to_dict()


def test_contaminated_categories_are_tolerated() -> None:
    rng = np.random.default_rng(2)
    monitor = DepthMonitor(table(rng, 12_000), tolerance=0.05, **OPTIONS)
    for _ in range(15):
        batch = table(rng)
        batch.loc[:9, "carrier"] = "ZZ"
        assert not monitor.check(batch).alarm


def test_what_does_not_fit_is_refused() -> None:
    rng = np.random.default_rng(3)
    monitor = DepthMonitor(table(rng, 3000), kinds={"late": "omit"}, **OPTIONS)
    for batch, said in (
        (np.zeros((200, 2)), "the batch is no data frame"),
        (scan(np.zeros((200, 2))), "the batch is no data frame but Source"),
        (table(rng).drop(columns="carrier"), "'carrier' is only in the reference"),
        (table(rng).assign(more=1.0), "'more' is only in the batch"),
        (table(rng).assign(aa=1.0), "'aa' is only in the batch"),
        (table(rng).drop(columns="delay"), "'delay' is only in the reference"),
        (table(rng).assign(carrier=None), "column 'carrier' of the batch has 200 missing"),
    ):
        with pytest.raises(InvalidInputError, match=said):
            monitor.check(batch)
    codes = pd.DataFrame({"zip": [1.0, 2.0, np.nan] * 1000, "x": rng.normal(size=3000)})
    omitting = {**OPTIONS, "kinds": {"zip": "category"}, "nan_policy": "omit"}
    batch = codes[:200].fillna(1.0).astype({"zip": int})  # the same codes, as whole numbers
    assert not named([DepthMonitor(codes, **omitting).check(batch)]) - {"(missing)", "1"}


def test_differences_of_shares_by_hand() -> None:
    shares = CategoryShares.fit(np.array([[0, 0], [0, 1], [1, 0], [0, 0]]), [3, 2])
    assert shares.counts.tolist() == [3, 1, 0, 0, 3, 1, 0]
    counts = shares.count(np.array([[0, 0], [2, 1], [3, 1], [3, 2]]))
    assert counts.tolist() == [1, 0, 1, 2, 1, 2, 1]
    # A value that the reference has and these rows have not counts with those it does not have.
    expected = [0.5, 0.25, 0.0, 0.75, 0.5, 0.25, 0.25]
    assert shares.differences(counts, 4, False).tolist() == expected
    errors = shares.differences(counts, 4, True)
    angle = 2 * abs(np.arcsin(np.sqrt(0.25)) - np.arcsin(np.sqrt(0.75)))
    assert errors[0] == pytest.approx(angle / np.sqrt(2 / 4))


def test_shares_that_moved_more_than_chance_would_move_any() -> None:
    """The two-sided level 0.01 is divided by the number of values; new ones come first."""
    categories = {"a": ("p", "q", "r", "s"), "b": ("t", "u", "v")}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        (before, codes) = (
            np.stack([rng.choice(5, n, p=p), rng.choice(4, n)], axis=1)
            for n, p in ((200, [0.5, 0.3, 0.1, 0.1, 0.0]), (50, rng.dirichlet([8, 5, 2, 1, 1])))
        )
        new = [("a", "x", 1), ("a", "y", 2)]
        found = CategoryShares.fit(before, [4, 3]).changes(codes, categories, new)
        assert [tuple(change) for change in found[:2]] == [
            ("a", "y", 0.04, 0.0, True), ("a", "x", 0.02, 0.0, True)
        ]  # fmt: skip
        wanted = []
        for at, (name, values) in enumerate(categories.items()):
            for code, value in enumerate(values):
                now, then = (np.mean(rows[:, at] == code) for rows in (codes, before))
                apart = abs(np.arcsin(np.sqrt(now)) - np.arcsin(np.sqrt(then)))
                z = 2 * apart / np.sqrt(1 / 50 + 1 / 200)
                if norm.sf(z) * 2 * 9 <= 0.01:
                    wanted.append((-z, (name, value, now, then, False)))
        assert [tuple(change) for change in found[2:]] == [w for _, w in sorted(wanted)][:3]


class Numbers:
    """A scorer of two columns that always says the same."""

    n_features = 2
    null_score = staticmethod(lambda points, n_rows: 0.75)
    score_and_columns = staticmethod(lambda points, n_rows: (0.75, np.array([0.25, 0.75])))


@pytest.mark.parametrize("numbers", [Numbers(), None])
@pytest.mark.parametrize(
    ("tolerance", "n_rows", "left", "clean"),
    [(0.0, 4, None, None), (0.3, 5, 0.25, 0.5), (0.45, 10, 0, 0.5)],
)
def test_scores_and_contributions_by_hand(
    numbers: Any, tolerance: float, n_rows: int, left: Any, clean: Any
) -> None:
    shares = CategoryShares.fit(np.array([[0, 0], [0, 1], [1, 0], [0, 0]]), [2, 2])
    scorer = MixedScorer(numbers, shares, tolerance, np.array([[0.1, 0.5], [0.2, 0.4]]))
    rows = np.array([[7.0, 8.0, 1, 0], [7.0, 8.0, 1, 1], [7.0, 8.0, 1, 1], [7.0, 8.0, 0, 1]])
    rows = rows if numbers else rows[:, 2:]
    assert scorer.n_features == rows.shape[1]
    if tolerance == 0:
        # Shares 3/4 and 1/4 of both columns become 1/4 and 3/4.
        left = clean = 2 * (np.arcsin(np.sqrt(0.75)) - np.arcsin(0.5)) / np.sqrt(1 / 4 + 1 / 4)
    of_numbers = (0.75 * (2 if tolerance == 0 else 1) - 0.1) / 0.5 if numbers else -np.inf
    score, columns = scorer.score_and_columns(rows, n_rows)
    above, null = (left - 0.2) / 0.4, (clean - 0.2) / 0.4
    assert score == pytest.approx(max(of_numbers, above), rel=1e-12)
    assert scorer.null_score(rows, n_rows) == pytest.approx(max(of_numbers, null), rel=1e-12)
    wanted = np.array([0.5, 0.5])
    if numbers:
        weights = np.square([of_numbers, max(above, 0.0)])
        wanted = np.outer(weights / weights.sum(), [1, 1]) * [[0.25, 0.75], [0.5, 0.5]]
    assert columns == pytest.approx(wanted.ravel(), rel=1e-12)


def test_units_are_those_of_undrifted_batches() -> None:
    rng, make = np.random.default_rng(5), lambda *_: Numbers()
    points = np.column_stack([rng.normal(size=(4000, 2)), rng.integers(0, 3, (4000, 2))])
    made = MixedScorer.fit(make, points, None, [3, 3], 0.0, 64, rng)  # type: ignore[arg-type]
    assert made.units[0] == pytest.approx([6.0, 1.0])
    draws = [made._parts(rng.permutation(points)[:64], 64, clean=True)[0][1] for _ in range(200)]
    # Forty batches: their mean is known to a sixth of the deviation, and that to a ninth.
    deviation = np.std(draws)
    assert made.units[1] == pytest.approx([np.mean(draws), deviation], abs=0.5 * deviation)


@pytest.mark.slow
def test_false_alarms_with_categories_in_the_stream() -> None:
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        monitor = DepthMonitor(table(rng, 8000), **{**OPTIONS, "random_state": seed})
        alarms += any(monitor.check(table(rng)).alarm for _ in range(40))
    assert alarms <= 60 * 0.05 + 3 * np.sqrt(60 * 0.05 * 0.95)
