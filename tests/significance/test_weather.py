"""Test of real tables: weather of June and July, with missing values and sensor faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isodepth
from isodepth.table.frames import NamedArray
from isodepth.table.readers import ReadOptions, read_table

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "weather"


def month(name: str) -> tuple[np.ndarray, NamedArray]:
    """Return the day of each row of a month, and the table of the other columns."""
    points, names = read_table(FOLDER / f"{name}.csv", ReadOptions(missing=True)).numbers
    assert names[0] == "day"
    return points[:, 0], NamedArray(points[:, 1:], names[1:])


@pytest.mark.parametrize("faults", [0, 10])
def test_a_faulty_sensor_does_not_change_the_verdict(faults: int) -> None:
    (june_days, june), (july_days, july) = month("june"), month("july")
    june.points[:faults, june.columns.index("wind_speed")] = 1048.36  # type: ignore[union-attr]
    for blocks, count in ((None, 39), ((june_days, july_days), 199)):
        result = isodepth.two_sample_test(
            june, july, blocks=blocks, n_permutations=count, random_state=0
        )
        assert result.pvalue == 1 / (1 + count)
    # `result` is the test with days as blocks. The pressure has a p-value of about 0.25 with a
    # standard error of 0.03. The order of dew point and temperature depends on the seed.
    columns = [*dict.fromkeys(change.columns for change in result.changes)]
    assert {*columns[:2]} == {("dewp",), ("temp",)}
    moved = {change.columns for change in result.changes if change.kind == "location"}
    assert moved >= {*columns[:2]}
    assert next(c for c in result.column_tests if c.column == "pressure").pvalue > 0.1
    assert result.missing.x.n_rows == 2160
    found = isodepth.compare(june, july, scale="pooled", nan_policy="omit", random_state=0)
    assert [each.column for each in found.contributions[:2]] == ["dewp", "temp"]
