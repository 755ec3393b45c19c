"""Counts do not depend on whether a row is in the counted reference or in the batch.

This is the assumption of the proof: functions of a row that do not depend on where the row is.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isodepth import Monitor
from isodepth.base.seeds import rng_for
from isodepth.errors import InvalidInputError
from isodepth.monitor.reading import batch_tables, open_batch

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

KINDS = {"product": "category", "when": "numeric", "size": ["S", "M", "L"]}


def mixed(n: int, rng: np.random.Generator) -> Any:
    """Return n rows with ties, missing values, rare categories, dates and large integers."""
    hours = pd.to_timedelta(rng.integers(0, 1000, n), "h")
    frame = pd.DataFrame(
        {
            "cauchy": rng.standard_cauchy(n), "ties": rng.integers(0, 6, n),
            "rare": rng.choice([0, 1], n, p=[0.99, 0.01]), "flag": rng.random(n) < 0.1,
            "product": [f"p{i}" for i in rng.zipf(1.4, n) % 500],
            "big": (1 << 60) + rng.integers(0, 10**9, n),
            "text": [f"{value:.1f}" for value in 20 * rng.normal(size=n)],
            "when": pd.Timestamp("2024-01-01", tz="Europe/Paris") + hours,
            "size": rng.choice(["S", "M", "L"], n),
        }
    )  # fmt: skip
    for column, share in (("cauchy", 0.1), ("product", 0.1), ("size", 0.01)):
        frame[column] = frame[column].mask(rng.random(n) < share)
    return frame


def few(n: int, rng: np.random.Generator) -> Any:
    """Return n rows of which many are equal, with categories that occur once."""
    names = np.where(rng.random(n) < 0.5, rng.integers(0, 10**9, n), rng.integers(0, 20, n))
    frame = pd.DataFrame({"product": names.astype(str), "flag": rng.random(n) < 0.5})
    return frame.assign(product=frame["product"].mask(rng.random(n) < 0.1))


def counted(reference: Any, batch: Any, seed: int) -> tuple[Any, Any]:
    """Return the counts of functions, described in the units of the columns, and repeated rows.

    Both are counts in the reference and in the batch together.
    """
    kinds = {name: kind for name, kind in KINDS.items() if name in reference}
    state = Monitor(reference, kinds=kinds, random_state=seed)._state
    group, schema = state.groups[None], state.schema
    counts = group.counted(batch_tables(schema, open_batch(batch), "keep"))
    bases = {column.name: column.base for column in schema.columns if column.base}
    found = {}
    ones = group.reference.ones + counts.counts.ones
    for member, one in zip(group.functions.members, ones.tolist(), strict=True):
        names, value = tuple(schema.names[c] for c in member.columns), member.value
        if member.event in ("shares", "crossed") and value >= 0:
            value = schema[names[-1]].categories[int(value)]
        elif member.event in ("column", "value", "extremes", "beyond") and names:
            value = int(value) + bases[names[0]] if names[0] in bases else value
        elif member.event != "precision":
            value = f"{value:.9g}"  # differences from another integer are rounded
        # Rows of one direction are told apart by their cut points. Zeros do not matter.
        if one:
            found[member.event, names, value, member.upper] = one
    hashes = np.repeat(group.hashes.distinct, group.hashes.counts)
    rows = Counter([*hashes.tolist(), *(counts.hashes >> np.uint64(1)).tolist()])
    return found, Counter(rows.values())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", [mixed, few])
@pytest.mark.parametrize("seed", range(4))
def test_counts_do_not_change_if_rows_change_places(table: Any, seed: int) -> None:
    rng, n, m = np.random.default_rng(seed), 400, 150
    rows = table(n + m, rng)
    rows.iloc[n : n + 30] = rows.iloc[n + 30 : n + 60].to_numpy()  # copies within the batch
    positions = rng_for(seed, "splits").permutation(n)[n // 4 :]  # rows that functions do not use
    order, count = np.arange(n + m), [1, 20, 150, 150][seed]
    there, here = rng.choice(positions, count, replace=False), n + rng.permutation(m)[:count]
    order[there], order[here] = here, there
    other = rows.iloc[order].reset_index(drop=True)
    functions, repeated = counted(rows[:n], rows[n:], seed)
    assert counted(other[:n], other[n:], seed) == (functions, repeated)
    assert repeated[1] < n - n // 4 + m  # some rows are repeated


@pytest.mark.parametrize("exponent", [0.0, 1.0])
def test_a_long_tail_of_categories_raises_no_false_alarm(exponent: float) -> None:
    """Most of 3000 products are new in a batch: 300 rows of the reference, batches of 200."""
    weights = 1 / np.arange(1, 3001) ** exponent
    alarms = named = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        products = rng.choice(3000, 900, p=weights / weights.sum())
        frame = pd.DataFrame({"product": [f"p{i}" for i in products]})
        monitor = Monitor(frame[:300], kinds={"product": "category"}, random_state=seed)
        verdicts = [monitor.check(frame[i : i + 200]) for i in (300, 500, 700)]
        alarms += verdicts[-1].alarm
        named += any(change.kind == "repeated" for v in verdicts for change in v.changes)
    # At alpha = 1%, three alarms of 20 streams have a probability of 0.1%; a change is named at 5%.
    assert alarms <= 2
    assert named <= 3


def test_other_rows_under_a_known_label_are_refused() -> None:
    """New categories are part of the rows: other new categories are other rows."""
    frame = pd.DataFrame({"product": [f"p{i % 30}" for i in range(300)]})
    monitor = Monitor(frame, random_state=0)
    first = monitor.check(pd.DataFrame({"product": ["tea", "mate", "p1"] * 10}), label="mon")
    again = monitor.check(pd.DataFrame({"product": ["mate", "p1", "tea"] * 10}), label="mon")
    assert again == first
    for other in (["tea", "cola", "p1"], ["tea", "tea", "p1"], ["tea", None, "p1"]):
        with pytest.raises(InvalidInputError, match="already has the label 'mon', with other rows"):
            monitor.check(pd.DataFrame({"product": other * 10}), label="mon")
    assert monitor.n_batches == 1


CONTINUED = """
import sys
import pandas as pd
from isodepth import Monitor
monitor = Monitor.load(sys.argv[1])
print(monitor.check(pd.DataFrame({"product": sys.argv[2:] * 10}), label="mon").batch_number)
"""


def test_new_categories_have_the_same_hash_everywhere(tmp_path: Path) -> None:
    """The rows of a label are recognized in another process and in another type of frame."""
    path, words = tmp_path / "m.npz", ["Zürich", "new", "p1"]
    reference = pd.DataFrame({"product": [f"p{i % 30}" for i in range(300)]})
    monitor = Monitor(reference, random_state=0, path=path)
    first = monitor.check(pd.DataFrame({"product": words * 10}), label="mon")
    assert first.n_suspicious == 20
    for other in (
        pd.DataFrame({"product": pd.Categorical(words * 10)}),
        pl.DataFrame({"product": words * 10}),
        pa.table({"product": words * 10}),
    ):
        assert Monitor.load(path).check(other, label="mon") == first
    done = subprocess.run(
        [sys.executable, "-c", CONTINUED, str(path), *words],
        capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "1"}, timeout=60,
    )  # fmt: skip
    assert done.stdout == "1\n", done.stderr
