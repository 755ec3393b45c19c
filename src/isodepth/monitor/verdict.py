"""Verdicts of a monitor on batches."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from isodepth.data.changes import Change
from isodepth.data.results import ResultMixin, p_text, plain


@dataclass(frozen=True)
class Verdict(ResultMixin):
    """Verdict of a monitor on one batch.

    Attributes
    ----------
    batch : int
        Number of the batch, from 1.
    label, group : str or None
    n_rows : int
    pvalue : float
        p-value of the batch alone, adjusted for all functions. With `blocks`, the rank of its score
        among all earlier ones.
    window : int
        Number of batches in the strongest window that ends with this batch. With `blocks`, all
        batches since the last reset.
    window_pvalue : float
        Adjusted p-value of that window. With `blocks`, 1 / evidence.
    threshold : float
        The window crosses if its p-value is at most this.
    crossing : bool
        Whether a window that ends with this batch crosses its threshold.
    alarm : bool
        Whether there is an alarm: from the batch that raised it until `reset`. With `arl`, at that
        batch alone.
    alarm_since : int or None
        Batch that raised the alarm.
    extreme : bool
        Only with `blocks`: whether the batch is far beyond all blocks. This is an approximation
        by a t distribution, without the guarantee of `alarm`.
    changes : list of Change
        Columns that changed in the strongest window, strongest first, with p-values adjusted for
        all functions.
    suspicious : int
        Rows that are farther from the center than all rows that chose the functions, or have a
        category that the reference does not have.
    score : float or None
        Only with `blocks`: distance from the blocks of the reference.
    exact : bool
        Whether the guarantee is exact: not if `blocks` have different sizes.
    """

    batch: int
    label: str | None
    group: str | None
    n_rows: int
    pvalue: float
    window: int
    window_pvalue: float
    threshold: float
    crossing: bool
    alarm: bool
    alarm_since: int | None
    extreme: bool
    changes: list[Change]
    suspicious: int
    score: float | None = None
    exact: bool = True

    @classmethod
    def from_json(cls, line: str) -> Verdict:
        """Make a verdict from the result of `to_json`."""
        fields = json.loads(line)
        for each in fields["changes"]:
            each["columns"] = tuple(each["columns"])
            del each["text"]
        return cls(**{**fields, "changes": [Change(**each) for each in fields["changes"]]})

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain numbers and strings."""
        return plain({**vars(self), "changes": [change.to_dict() for change in self.changes]})

    def _rows(self) -> dict[str, list[Any]]:
        """One row per change."""
        fields = ("kind", "columns", "quantity", "before", "after", "pvalue")
        rows = [change.to_dict() for change in self.changes]
        return {
            name: [", ".join(row[name]) if name == "columns" else row[name] for row in rows]
            for name in fields
        }

    @property
    def alarm_text(self) -> str:
        """Status of the alarm in a few words."""
        if self.extreme:
            text = "EXTREME batch, far beyond all blocks of the reference (approximation)"
            return f"{text}; ALARM since batch {self.alarm_since}" if self.alarm else text
        if not self.alarm:
            return "threshold crossed, no alarm yet" if self.crossing else "no alarm"
        return f"ALARM since batch {self.alarm_since}"

    def __str__(self) -> str:
        label = "" if self.label is None else f" ({self.label})"
        group = "" if self.group is None else f" of group {self.group}"
        batches = "batch" if self.window == 1 else "batches"
        approximate = "" if self.exact else ", approximately"
        lines = [
            f"batch {self.batch}{label}{group}: {self.alarm_text}",
            f"  p-value    {p_text(self.pvalue)} for this batch of {self.n_rows} rows",
            f"  window     p = {p_text(self.window_pvalue)} for the last {self.window} {batches}, "
            f"threshold {self.threshold:.2g}{approximate}",
        ]
        heads = ["  changes    ", *["             "] * len(self.changes)]
        lines += [f"{head}{change}" for head, change in zip(heads, self.changes[:5], strict=False)]
        if len(self.changes) > 5:
            lines.append(f"             and {len(self.changes) - 5} more")
        if self.suspicious:
            lines.append(f"  suspicious {self.suspicious} rows outside the reference")
        return "\n".join(lines)
