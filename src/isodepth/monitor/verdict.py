"""Verdicts of a monitor on batches, and the columns that changed."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from isodepth.data.changes import Change
from isodepth.data.records import unpacked
from isodepth.data.results import ResultMixin, p_text, plain
from isodepth.monitor.functions import UNSEEN, Counts, Functions
from isodepth.monitor.reader import BatchReader
from isodepth.monitor.windows import pvalue_of
from isodepth.significance.fisher import log_pvalues

# A change is reported if its adjusted p-value is at most this.
_NAMED = 0.05
_MOST_CHANGES, _SHOWN = 10, 5
# A change of location is reported only if the median shifts by at least this fraction of the
# interquartile range. A change of spread is reported only if this range changes by at least this
# factor.
_MOVED, _WIDENED = 0.1, 1.05


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


@dataclass(frozen=True, eq=False)
class WindowChanges:
    """Counts of the reference and of a window, to find the columns that changed."""

    reader: BatchReader
    functions: Functions
    both: tuple[Counts, Counts]
    logs: np.ndarray  # (H,), logarithms of the p-values of the functions
    # For each category column, the most frequent new value in the last batch.
    unseen: dict[int, str]

    def strongest(self) -> list[Change]:
        """Return the changes of the window, strongest first.

        A column is listed if a function of this column alone changed. A pair of columns is listed
        only if neither column is, and a change of all columns together only if nothing else is
        listed.
        """
        members, logs, limit = self.functions.members, self.logs, math.log(_NAMED / len(self.logs))
        order = np.argsort(logs, kind="stable")
        significant = order[logs[order] <= limit].tolist()
        columns: dict[int, dict[str, int]] = {}
        for h in significant:
            if len(members[h].columns) == 1:
                columns.setdefault(members[h].columns[0], {}).setdefault(members[h].kind, h)
        changes: list[Change] = []
        for by_kind in columns.values():
            missing = by_kind.pop("missing", None)
            hs = list(by_kind.values())
            if missing is not None:
                changes.append(self._change(missing, "missing", "missing"))
                hs = [h for h in hs if self._among_present(h, missing) <= limit]
            changes += [self._column_change(h) for h in hs[:1]]
        for h in [h for h in significant if len(members[h].columns) == 2][:3]:
            if not columns.keys() & {*members[h].columns}:
                changes.append(self._pair_change(h))
        if not changes and significant:
            distance = members[significant[0]].kind == "distance"
            feature = "the distance from the center" if distance else "a direction"
            quantity = f"share of rows up to a cut point of {feature}"
            changes.append(self._change(significant[0], "regions", quantity))
        return sorted(changes, key=lambda change: change.pvalue)[:_MOST_CHANGES]

    def _change(
        self, h: int, kind: str, quantity: str, pair: Sequence[float] = (), value: str | None = None
    ) -> Change:
        """Return the change of function h; the default of `pair` is the shares of rows with 1."""
        before, after = pair or [c.ones[h] / c.n_rows for c in self.both]
        columns = tuple(self.reader.names[c] for c in self.functions.members[h].columns)
        pvalue = pvalue_of(float(self.logs[h]) + math.log(len(self.logs)))
        return Change(kind, columns, quantity, float(before), float(after), pvalue, value)

    def _among_present(self, h: int, missing: int) -> float:
        """Return the log p-value of function h among the rows without `missing` values."""
        (a, n), (b, m) = ((c.ones[[h]], int(c.n_rows - c.ones[missing])) for c in self.both)
        return float(log_pvalues(a, n, b, m)[0]) if n and m else 0.0

    def _column_change(self, h: int) -> Change:
        kind, (column,), value = self.functions.members[h]
        if kind == "category":
            return self._change(h, "shares", "share", value=self._word(column, int(value)))
        (middle, spread), (now, wide) = (c.quartiles[:, column].tolist() for c in self.both)
        quantity = f"share of values up to {value:.4g}"
        if kind == "deviation":
            if min(spread, wide) > 0 and _WIDENED <= max(spread / wide, wide / spread) < math.inf:
                return self._change(h, "spread", "interquartile range", (spread, wide))
            away = value * self.functions.scale[column]
            quantity = f"share of values within {away:.4g} of the median"
        elif _MOVED * spread < abs(now - middle) < math.inf:
            return self._change(h, "location", "median", (middle, now))
        shares = [c.ones[h] / max(c.summaries[0, column], 1.0) for c in self.both]
        return self._change(h, "shape", quantity, shares)

    def _pair_change(self, h: int) -> Change:
        kind, (_, column), value = self.functions.members[h]
        if kind == "pair":
            pair = [math.sin(math.pi * (c.ones[h] / c.n_rows - 0.5)) for c in self.both]
            return self._change(h, "dependence", "quadrant correlation", pair)
        at = self.functions.members.index(("category", (column,), value))  # type: ignore[arg-type]
        pair = [c.ones[h] / max(1, c.ones[at]) for c in self.both]
        quantity, word = "share up to the median", self._word(column, int(value))
        return self._change(h, "dependence", quantity, pair, word)

    def _word(self, column: int, code: int) -> str:
        """Return the name of a category, or of the most frequent new one, or "(other values)"."""
        if code == UNSEEN:
            return self.unseen.get(column, "(other values)")
        return self.reader.categories[self.reader.names[column]][code]
