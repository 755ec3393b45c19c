"""Test data: tables with mixed columns, in every form that `scan` reads."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from isodepth import scan


def mixed_frame(n: int, seed: int, shift: float = 0.0) -> pd.DataFrame:
    """Return n rows of numbers, strings, booleans, dates and identifiers, with missing values.

    `shift` is the mean of the column "size".
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(shift, 1, n),
            "count": rng.integers(0, 50, n),
            "site": rng.choice(["x", "y", "z", "été, \"q\""], n),
            "ok": rng.random(n) < 0.3,
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "h"),
            "id": [f"u{number}" for number in rng.permutation(10 * n)[:n]],
            "price": [f"${value:,.2f}" for value in rng.gamma(2, 2000, n)],
        }
    )  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "site"] = None
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    return frame


def to_polars(table: Any) -> Any:
    """Convert a frame of pandas or a table of pyarrow; skip the test if polars is too old for it.

    Old versions have neither extension types nor categories that are not strings.
    """
    polars = pytest.importorskip("polars")
    convert = polars.from_pandas if isinstance(table, pd.DataFrame) else polars.from_arrow
    try:
        return convert(table)
    except polars.exceptions.ComputeError:
        if [int(part) for part in version("polars").split(".")[:2]] >= [1, 36]:
            raise
        pytest.skip("this version of polars cannot store these columns")


FORMS = ("frame", "frames", "parquet", "csv", "call", "polars", "dask")


def scanned(form: str, frame: pd.DataFrame, folder: Path, **options: Any) -> Any:
    """Return a source with the rows of `frame`, stored in the form `form`, one of `FORMS`."""
    third = len(frame) // 3
    parts = [frame[:third], frame[:0], frame[third:]]
    if form == "frame":
        return scan(frame, **options)
    if form == "frames":
        return scan(parts, **options)
    if form == "call":
        return scan(lambda: iter(parts), **options)
    if form == "polars":
        return scan([to_polars(part) for part in parts], **options)
    if form == "dask":
        import dask.dataframe as dd

        return scan(dd.from_pandas(frame, npartitions=3, sort=False), **options)
    folder.mkdir()
    for number, part in enumerate(parts):
        if form == "parquet":
            part.to_parquet(folder / f"{number}.parquet", row_group_size=70)
        else:
            style = {"sep": ";", "decimal": ","} if number else {}
            part.to_csv(folder / f"{number}.csv", index=False, **style)
    return scan(folder, **options)
