"""Monitors of sources with categories have the same results as monitors of data frames."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from stream.tables import mixed_frame, scanned

import isodepth
from isodepth import Monitor
from isodepth.errors import InvalidInputError

REFERENCE, BATCH = mixed_frame(300, 1), mixed_frame(120, 2, 2.0)
BATCH.loc[BATCH.index % 3 == 0, "site"] = "new"
COLUMNS = ["size", "count", "site", "ok", "price"]


@pytest.mark.parametrize("form", ["frames", "parquet", "csv", "call", "dask"])
def test_sources_as_frames(form: str, tmp_path: Path) -> None:
    pytest.importorskip("dask" if form == "dask" else "pandas")
    frames = [each[COLUMNS] for each in (REFERENCE, BATCH)]
    sources = [scanned(form, each, tmp_path / str(i)) for i, each in enumerate(frames)]
    expected = Monitor(frames[0], random_state=0, nan_policy="keep").check(frames[1])
    monitor = Monitor(sources[0], random_state=0, nan_policy="keep")
    found = monitor.check(sources[1])
    assert (found.pvalue, found.n_rows) == (expected.pvalue, expected.n_rows)
    assert [each.text for each in found.changes] == [each.text for each in expected.changes]
    # A frame is compared with the reference that was read in chunks.
    again = Monitor(sources[0], random_state=0, nan_policy="keep").check(frames[1])
    assert again.pvalue == expected.pvalue


def test_batches_that_are_refused(tmp_path: Path) -> None:
    monitor = Monitor(REFERENCE[COLUMNS], random_state=0, nan_policy="keep")
    with pytest.raises(InvalidInputError, match="lacks the columns 'price', 'site', 'ok' of"):
        monitor.check(isodepth.scan(BATCH[["size", "count"]]))
    with pytest.raises(InvalidInputError, match="has no row"):
        monitor.check(isodepth.scan(BATCH[COLUMNS][:0]))
    words = BATCH[COLUMNS].assign(size="a")
    with pytest.raises(InvalidInputError, match=r"'size'.*not counted"):
        monitor.check(isodepth.scan(pd.DataFrame(words)))


def test_weights_are_refused(tmp_path: Path) -> None:
    """A monitor raises an error for a table with categories and weights."""
    weighted = isodepth.scan(BATCH[COLUMNS].assign(w=1.0), weights="w")
    with pytest.raises(InvalidInputError, match="the reference must not have weights"):
        Monitor(weighted, random_state=0)
    monitor = Monitor(REFERENCE[COLUMNS], random_state=0)
    with pytest.raises(InvalidInputError, match="the batch must not have weights"):
        monitor.check(weighted)
    assert monitor.n_batches == 0
