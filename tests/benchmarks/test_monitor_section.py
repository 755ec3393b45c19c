"""What judging a batch costs: every call is measured, and the table is the unit."""

from __future__ import annotations

from benchmarks.sections import monitor


def test_every_call_is_compared_with_the_table() -> None:
    rows = monitor.measure(quick=True)
    assert [row["call"] for row in rows] == [
        "table", "check", "check, saved each time", "check, tolerance 5%",
    ]  # fmt: skip
    assert rows[0]["ratio"] == 1
    assert all(row["ms"] > 0 for row in rows)
    text = monitor.markdown(rows)
    assert text.count("\n|") == 2 + len(rows)
