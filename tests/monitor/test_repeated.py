"""Repeated rows: exact p-values, rows of the reference, and text of a change."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import hypergeom

from isodepth import Monitor
from isodepth.monitor.windows import REPEATED_LEVEL, ReferenceHashes

pd = pytest.importorskip("pandas")


def hashes_of(rows: np.ndarray) -> np.ndarray:
    return rows.astype(np.uint64) << np.uint64(8)


@pytest.mark.parametrize("n_values", [3, 60, 400, 10**9])
def test_counts_and_pvalues_are_those_of_the_pooled_rows(n_values: int) -> None:
    rng = np.random.default_rng(n_values)
    reference, batch = rng.integers(0, n_values, 150), rng.integers(0, n_values, 40)
    batch[:6] = [batch[7]] * 2 + [reference[0]] * 2 + [1, 2]
    hashes = hashes_of(reference)
    before, after, log, *_ = ReferenceHashes.of_rows(hashes, rng, hashes).test(hashes_of(batch))
    pooled, within = Counter([*reference.tolist(), *batch.tolist()]), Counter(batch.tolist())
    ones = sum(count for count in pooled.values() if count > 1)
    repeated = sum(count for count in within.values() if count > 1)
    drawn = [Counter(rng.permutation(reference)[:40].tolist()) for _ in range(400)]
    shares = [sum(count for count in each.values() if count > 1) / 40 for each in drawn]
    assert abs(before - np.mean(shares)) <= 4 * np.std(shares) / 20 + 1e-6
    assert after == repeated / 40
    expected = 1.0
    if repeated > ones * 40 / 190:
        expected = min(1.0, 2 * hypergeom(190, ones, 40).sf(repeated - 1))
    assert math.exp(log) == pytest.approx(expected)


def test_at_most_4096_rows_of_the_reference_are_used() -> None:
    rng = np.random.default_rng(0)
    hashes = hashes_of(np.arange(10_000) // 2)
    stored = ReferenceHashes.of_rows(hashes, rng, hashes)
    assert stored.counts.sum() == 4096
    assert stored.multiplicities.tolist() == [[2], [10_000]]


def test_repeated_rows_are_named_in_the_first_batch() -> None:
    rng = np.random.default_rng(1)
    reference, batch = rng.normal(size=(3000, 4)), rng.normal(size=(500, 4))
    monitor = Monitor(reference, random_state=0)
    assert not monitor.check(rng.normal(size=(500, 4))).changes
    # Rows of the reference are not a change.
    assert not monitor.check(reference[:500]).changes
    batch[:150] = batch[150:300]
    verdict = monitor.check(batch)
    assert verdict.alarm
    assert [change.kind for change in verdict.changes] == ["repeated"]
    assert verdict.changes[0].text == "repeated rows within a batch of 500 rows: 0% -> 60%"
    assert verdict.changes[0].changed_share is None
    # A contaminated row can turn a clean row into a repeated one.
    assert not Monitor(reference, tolerance=0.1, random_state=0).check(batch).changes


@pytest.mark.parametrize(("n", "size"), [(2000, 300), (300, 500)])
def test_the_shares_of_repeated_rows_are_those_of_pandas(n: int, size: int) -> None:
    """Shares grow with the number of rows, so that as many rows of the reference are compared."""
    rng = np.random.default_rng(n)
    weights = 1 / np.arange(1, 3001)
    products = rng.choice(3000, n + size, p=weights / weights.sum())
    frame = pd.DataFrame(
        {"product": [f"p{i}" for i in products], "id": [*map(str, range(n + size))]}
    )
    reference, batch = frame[:n], frame[n:].copy()
    batch.iloc[: size // 2] = batch.iloc[size // 2 :].to_numpy()
    monitor = Monitor(reference, kinds={"product": "category", "id": "omit"}, random_state=0)
    (change,) = (c for c in monitor.check(batch).changes if c.kind == "repeated")
    assert change.after == batch[["product"]].duplicated(keep=False).mean()
    words = "repeated rows in the compared columns, within "
    if size <= n:
        assert change.text.startswith(f"{words}a batch of {size} rows: ")
        samples = [reference["product"].sample(size, random_state=i) for i in range(200)]
        shares = [each.duplicated(keep=False).mean() for each in samples]
        assert abs(change.before - np.mean(shares)) <= 4 * np.std(shares) / np.sqrt(200)
    else:
        assert change.text.startswith(
            f"{words}the reference ({n} rows) and within the batch ({size}): "
        )
        assert change.before == pytest.approx(reference["product"].duplicated(keep=False).mean())


def test_rows_of_few_values_raise_no_false_alarm() -> None:
    rng = np.random.default_rng(2)
    pvalues = []
    for _ in range(60):
        rows = rng.integers(0, 30, size=(540, 2)).astype(np.float64)
        pvalues.append(Monitor(rows[:500], random_state=0).check(rows[500:]).pvalue)
    assert np.mean(np.array(pvalues) <= 0.05) <= 0.1
    assert 0 < REPEATED_LEVEL < 0.05
