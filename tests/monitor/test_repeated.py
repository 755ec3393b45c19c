"""Repeated rows: exact p-values, rows of the reference, and text of a change."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import hypergeom

from isodepth import Monitor
from isodepth.monitor.repeated import REPEATED_LEVEL, ReferenceHashes


def hashes_of(rows: np.ndarray) -> np.ndarray:
    return rows.astype(np.uint64) << np.uint64(8)


@pytest.mark.parametrize("n_values", [3, 60, 400, 10**9])
def test_counts_and_pvalues_are_those_of_the_pooled_rows(n_values: int) -> None:
    rng = np.random.default_rng(n_values)
    reference, batch = rng.integers(0, n_values, 150), rng.integers(0, n_values, 40)
    batch[:6] = [batch[7]] * 2 + [reference[0]] * 2 + [1, 2]
    before, after, log = ReferenceHashes.of_rows(hashes_of(reference), rng).test(hashes_of(batch))
    pooled, within = Counter([*reference.tolist(), *batch.tolist()]), Counter(batch.tolist())
    ones = sum(count for count in pooled.values() if count > 1)
    repeated = sum(count for count in within.values() if count > 1)
    alone = Counter(reference.tolist())
    assert before == sum(count for count in alone.values() if count > 1) / 150
    assert after == repeated / 40
    expected = 1.0
    if repeated > ones * 40 / 190:
        expected = min(1.0, 2 * hypergeom(190, ones, 40).sf(repeated - 1))
    assert math.exp(log) == pytest.approx(expected)


def test_at_most_4096_rows_of_the_reference_are_used() -> None:
    rng = np.random.default_rng(0)
    stored = ReferenceHashes.of_rows(hashes_of(np.arange(10_000) // 2), rng)
    assert stored.counts.sum() == 4096


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
    assert verdict.changes[0].text == "repeated rows: 0% -> 60%"
    assert verdict.changes[0].changed_share is None
    # A contaminated row can turn a clean row into a repeated one.
    assert not Monitor(reference, tolerance=0.1, random_state=0).check(batch).changes


def test_rows_of_few_values_raise_no_false_alarm() -> None:
    rng = np.random.default_rng(2)
    pvalues = []
    for _ in range(60):
        rows = rng.integers(0, 30, size=(540, 2)).astype(np.float64)
        pvalues.append(Monitor(rows[:500], random_state=0).check(rows[500:]).pvalue)
    assert np.mean(np.array(pvalues) <= 0.05) <= 0.1
    assert 0 < REPEATED_LEVEL < 0.05
