"""Verdicts of a monitor on batches, and the columns that changed."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from isodepth.data.changes import Change
from isodepth.data.records import unpacked
from isodepth.data.results import ResultMixin, p_text, plain
from isodepth.monitor.functions import UNSEEN, Counts, Function, Functions
from isodepth.monitor.reader import BatchReader
from isodepth.monitor.windows import pvalue_of
from isodepth.significance.fisher import log_pvalues

# Maximum adjusted p-value of reported changes, and their maximum number, also in messages.
_NAMED, _MOST_CHANGES, _SHOWN = 0.05, 10, 5
# Minimum shift of the median, as a fraction of the interquartile range, that is called a change of
# location, and minimum factor between these ranges that is called a change of spread.
_MOVED, _WIDENED = 0.1, 1.05
# Kind and quantity of the change of functions that do not belong to a single numeric column.
_QUANTITIES = {
    "missing": ("missing", "missing"),
    "category": ("shares", "share"),
    "crossed": ("dependence", "share up to the median"),
    "pair": ("dependence", "quadrant correlation"),
    "direction": ("regions", "share of rows up to a cut point of a direction"),
    "distance": ("regions", "share of rows up to a cut point of the distance from the center"),
}


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
        p-value of the batch alone, adjusted for the number of functions. With `blocks`, the rank of
        its score among the scores of blocks and earlier batches, as a fraction.
    window : int
        Number of batches in the strongest window. With `blocks`, all since the last reset.
    window_pvalue : float
        Adjusted p-value of that window. With `blocks`, 1 / evidence.
    threshold : float
        Level of the test of this window.
    crossing : bool
        Whether `window_pvalue` is at most `threshold`.
    alarm : bool
        Whether there is an alarm: until `reset`, or with `arl` at the batch that raised it.
    alarm_since : int or None
        Batch that raised the alarm.
    extreme : bool
        Only with `blocks`: whether the batch is far beyond all blocks, approximately.
    changes : list of Change
        Columns that changed in the window, strongest first, with adjusted p-values.
    suspicious : int
        Rows far outside the reference, or with a category that it does not have.
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
    score: float | None
    exact: bool

    @classmethod
    def from_json(cls, line: str) -> Verdict:
        """Make a verdict from the result of `to_json`."""
        return cast(Verdict, unpacked(cls, json.loads(line)))

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain numbers and strings."""
        return plain({**vars(self), "changes": [change.to_dict() for change in self.changes]})

    def _rows(self) -> dict[str, list[Any]]:
        """One row per change."""
        fields = ("kind", "columns", "quantity", "before", "after", "pvalue")
        rows = {name: [getattr(change, name) for change in self.changes] for name in fields}
        return rows | {"columns": [", ".join(names) for names in rows["columns"]]}

    def __str__(self) -> str:
        status = []
        if self.extreme:
            status = ["EXTREME batch, far beyond all blocks of the reference (approximation)"]
        if self.alarm:
            status.append(f"ALARM since batch {self.alarm_since}")
        quiet = "threshold crossed, no alarm yet" if self.crossing else "no alarm"
        label = "" if self.label is None else f" ({self.label})"
        group = "" if self.group is None else f" of group {self.group}"
        window = "this batch" if self.window == 1 else f"the last {self.window} batches"
        changes = [str(change) for change in self.changes[:_SHOWN]]
        if len(self.changes) > _SHOWN:
            changes.append(f"and {len(self.changes) - _SHOWN} more")
        lines = [
            f"batch {self.batch}{label}{group}: {'; '.join(status) or quiet}",
            f"  p-value    {p_text(self.pvalue)} for this batch of {self.n_rows} rows",
            f"  window     p = {p_text(self.window_pvalue)} for {window}, "
            f"threshold {self.threshold:.2g}{'' if self.exact else ', approximately'}",
            *(f"  {'' if i else 'changes':10} {text}" for i, text in enumerate(changes)),
        ]
        if self.suspicious:
            lines.append(f"  suspicious {self.suspicious} rows outside the reference")
        return "\n".join(lines)


class WindowChanges(NamedTuple):
    """Counts of the reference and of a window, to find the columns that changed."""

    reader: BatchReader
    functions: Functions
    both: tuple[Counts, Counts]
    logs: np.ndarray  # (H,), logarithms of the p-values of the functions
    unseen: dict[int, str]  # most frequent new value of each category column in the last batch

    def strongest(self) -> list[Change]:
        """Return the changes of the window, strongest first.

        A column is listed if a function of this column alone changed, a pair of columns only if
        neither column is, and a change of all columns together only if nothing else is.
        """
        members, limit = self.functions.members, math.log(_NAMED / len(self.logs))
        order = np.argsort(self.logs, kind="stable")
        significant = order[self.logs[order] <= limit].tolist()
        columns: dict[int, dict[str, int]] = {}
        for h in significant:
            if len(members[h].columns) == 1:
                columns.setdefault(members[h].columns[0], {}).setdefault(members[h].kind, h)
        listed: list[int] = []
        for by_kind in columns.values():
            missing = by_kind.pop("missing", None)
            hs = list(by_kind.values())
            if missing is not None:
                listed.append(missing)
                hs = [h for h in hs if self._among_present(h, missing) <= limit]
            listed += hs[:1]
        pairs = [h for h in significant if len(members[h].columns) == 2][:3]
        listed += [h for h in pairs if not columns.keys() & {*members[h].columns}]
        changes = [self._change(h) for h in listed or significant[:1]]
        return sorted(changes, key=lambda change: change.pvalue)[:_MOST_CHANGES]

    def _among_present(self, h: int, missing: int) -> float:
        """Return the log p-value of function h among the rows without `missing` values."""
        (a, n), (b, m) = ((c.ones[[h]], int(c.n_rows - c.ones[missing])) for c in self.both)
        return float(log_pvalues(a, n, b, m)[0]) if n and m else 0.0

    def _change(self, h: int) -> Change:
        kind, columns, value = self.functions.members[h]
        category, pair = None, [float(c.ones[h] / c.n_rows) for c in self.both]
        if kind in ("category", "crossed"):
            category = self._category(columns[-1], int(value))
        if kind in ("column", "deviation"):
            change, quantity, pair = self._number_change(h)
        else:
            change, quantity = _QUANTITIES[kind]
        if kind == "pair":
            pair = [math.sin(math.pi * (share - 0.5)) for share in pair]
        elif kind == "crossed":
            at = self.functions.members.index(Function("category", columns[1:], value))
            pair = [float(c.ones[h] / max(1, c.ones[at])) for c in self.both]
        names = tuple(self.reader.names[c] for c in columns)
        pvalue = pvalue_of(float(self.logs[h]) + math.log(len(self.logs)))
        return Change(change, names, quantity, pair[0], pair[1], pvalue, category)

    def _number_change(self, h: int) -> tuple[str, str, list[float]]:
        """Return the kind, the quantity and both values of a change of a numeric column."""
        kind, (column,), value = self.functions.members[h]
        (middle, spread), (now, wide) = (c.quartiles[:, column].tolist() for c in self.both)
        if kind == "deviation":
            if min(spread, wide) > 0 and _WIDENED <= max(spread / wide, wide / spread) < math.inf:
                return "spread", "interquartile range", [spread, wide]
            away = value * self.functions.scale[column]
            quantity = f"share of values within {away:.4g} of the median"
        elif _MOVED * spread < abs(now - middle) < math.inf:
            return "location", "median", [middle, now]
        else:
            quantity = f"share of values up to {value:.4g}"
        shares = [float(c.ones[h] / max(c.summaries[0, column], 1.0)) for c in self.both]
        return "shape", quantity, shares

    def _category(self, column: int, code: int) -> str:
        """Return the name of a category, or of the most frequent new one, or "(other values)"."""
        if code == UNSEEN:
            return self.unseen.get(column, "(other values)")
        return self.reader.categories[self.reader.names[column]][code]
