"""Verdicts of a monitor on batches."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from typing import Any

from isodepth.base.export import ResultMixin, p_text, printable, table_of
from isodepth.base.records import unpacked
from isodepth.functions.changes import Change, lower_percent

# Maximum number of changes in the text of a verdict.
_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Verdict(ResultMixin):
    """Verdict of a monitor on one batch.

    A verdict has no truth value, because ``if monitor.check(batch):`` would not say which attribute
    is meant. Use ``verdict.alarm``.

    Attributes
    ----------
    batch_number : int
        Number of the batch, from 1.
    label, group : str or None
    n_rows : int
    pvalue : float
        p-value of the batch alone, adjusted for the number of functions. With `blocks`, the rank of
        its score among the scores of blocks and earlier batches, as a fraction. NaN if `check` is
        called with the label of an earlier batch whose verdict is no longer stored.
    n_window_batches : int
        Number of batches in the window with the smallest ratio of p-value to threshold. With
        `blocks`, all batches since the last restart.
    window_pvalue : float
        Adjusted p-value of this window. With `blocks`, 1 / evidence of the test martingale.
    threshold : float
        Threshold for `window_pvalue`. It depends on `alpha` or `arl`, on `patience` and on the
        window.
    crossed : bool
        Whether the threshold is crossed: `window_pvalue` is at most `threshold`.
    alarm : bool
        Whether the group of the batch has an alarm: until `reset`, or with `arl` at the batch that
        raised it. Without groups, this is the alarm of the monitor.
    alarm_since : int or None
        Number of the batch that raised this alarm; None without an alarm.
    changed_share : float or None
        Lower bound, with 95% confidence, for the share of rows of the window that changed. 0 if
        there is no positive bound. None with `blocks`, and if the verdict is no longer stored.
    beyond_blocks : bool
        Only with `blocks`: whether a median, an interquartile range or a share deviates from its
        mean over the blocks by more than 1.5 times the maximum deviation of a block, and
        significantly. This has no guarantee: batches without a change may be beyond all blocks,
        often if there are few blocks or some are exceptional.
    changes : tuple of Change
        Columns that changed in the window, strongest first, with adjusted p-values; at most 10.
    n_suspicious : int
        Number of rows of the batch with a value far outside the values of its column in the
        reference, or with a category that the reference does not have. Each column is considered
        by itself; :meth:`isodepth.typing.TwoSampleResult.suspicious_rows` also compares columns.
    suspicious_indices : tuple of int
        Positions of these rows in the batch, from 0; the first 100 if `n_suspicious` is larger.
    score : float or None
        Only with `blocks`: standardized distance from the blocks of the reference, whose rank gives
        `pvalue`. None if it is infinite.
    exact_guarantee : bool
        Whether the bound on false alarms is exact. It is approximate if the batch and all `blocks`
        do not have the same number of rows.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(7)
    >>> monitor = isodepth.Monitor(rng.normal(size=(5000, 2)), random_state=0)
    >>> verdict = monitor.check(rng.normal(size=(200, 2)) + [0, 3])
    >>> verdict.alarm, verdict.alarm_since, verdict.changes[0].columns
    (True, 1, ('column 1',))
    >>> verdict.changed_share > 0.5
    True
    """

    _result_type = "verdict"

    batch_number: int
    label: str | None
    group: str | None
    n_rows: int
    pvalue: float
    n_window_batches: int
    window_pvalue: float
    threshold: float
    crossed: bool
    alarm: bool
    alarm_since: int | None
    changed_share: float | None
    beyond_blocks: bool
    changes: tuple[Change, ...]
    n_suspicious: int
    suspicious_indices: tuple[int, ...]
    score: float | None
    exact_guarantee: bool

    @classmethod
    def _from_json(cls, line: str) -> Verdict:
        """Create a verdict from a string that `to_json` returned.

        JSON has no NaN and no infinity: null in place of a number is read as NaN.
        """
        return unpacked(cls, json.loads(line))

    @property
    def _strongest_change(self) -> str:
        """Text of the first of `changes`; "" if there is none."""
        return self.changes[0].text if self.changes else ""

    def _rows(self) -> dict[str, list[Any]]:
        """Return a table with one row per change, as a dictionary of columns."""
        names = (*(field.name for field in fields(Change)), "text")
        rows = table_of(self.changes, names)
        return rows | {"columns": [", ".join(columns) for columns in rows["columns"]]}

    def __bool__(self) -> bool:
        raise TypeError("a verdict has no truth value; use verdict.alarm")

    def __repr__(self) -> str:
        status = "threshold crossed, no alarm yet" if self.crossed else "no alarm"
        if self.alarm or self.beyond_blocks:
            beyond = "BEYOND all blocks of the reference (no guarantee)"
            alarm = f"ALARM since batch {self.alarm_since}"
            status = "; ".join([beyond] * self.beyond_blocks + [alarm] * self.alarm)
        label = "" if self.label is None else f" ({self.label})"
        group = "" if self.group is None else f" of group {self.group}"
        batch = f"batch {self.batch_number}{label}{group}"
        if math.isnan(self.pvalue):
            return f"{batch}: {status}; its verdict is no longer stored"
        n_batches = self.n_window_batches
        window = "this batch" if n_batches == 1 else f"the last {n_batches} batches"
        changes = [str(change) for change in self.changes[:_SHOWN]]
        if len(self.changes) > _SHOWN:
            changes.append(f"and {len(self.changes) - _SHOWN} more")
        lines = [
            f"{batch}: {status}",
            f"  p-value    {p_text(self.pvalue)} for this batch (rows: {self.n_rows})",
            f"  window     p = {p_text(self.window_pvalue)} for {window}, "
            f"threshold {self.threshold:.2g}{'' if self.exact_guarantee else ', approximately'}",
            *(f"  {'' if i else 'changes':10} {text}" for i, text in enumerate(changes)),
        ]
        if self.changed_share:
            share = f"at least {lower_percent(self.changed_share)} of the rows of {window}"
            lines.insert(3, f"  changed    {share} (95% confidence)")
        if self.n_suspicious:
            rows = "rows with a value far outside the reference, or a new category"
            lines.append(f"  suspicious {rows}: {self.n_suspicious}")
        return printable("\n".join(lines))
