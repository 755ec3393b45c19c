"""Columns that changed, from the p-values of the functions of a window."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isodepth.data.changes import Change
from isodepth.monitor.fisher import log_pvalues
from isodepth.monitor.functions import Counts, Functions

#: Largest adjusted p-value of a change that is named.
NAMED = 0.05
MOST_CHANGES = 10
# A median that moves by less than this fraction of the interquartile range is not the change, nor
# is an interquartile range that changes by a smaller factor.
_MOVED, _WIDENED = 0.1, 1.05
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class WindowChanges:
    """Comparison of the counts of a window with those of the reference."""

    #: Names of all columns, categories last.
    names: Sequence[str]
    #: Known values of each category column.
    values: Sequence[Sequence[str]]
    functions: Functions
    reference: Counts
    window: Counts
    #: Array of shape (H,). Logarithms of the p-values of the functions.
    logs: np.ndarray
    #: Rows of the last batch with unknown values, by the index of the category column.
    unseen: Counter[tuple[int, str]]

    def strongest(self) -> list[Change]:
        """Return the changes of the window, strongest first.

        A column is named by its own functions alone. A pair of columns is named if neither column
        is: a shift of one column changes its relation to others too. All columns together are named
        only if nothing else is.
        """
        members, limit = self.functions.members, math.log(NAMED / len(self.logs))
        order = np.argsort(self.logs, kind="stable").tolist()
        significant = [h for h in order if self.logs[h] <= limit]
        best: dict[int, dict[str, int]] = {}
        for h in significant:
            if len(members[h].columns) == 1:
                best.setdefault(members[h].columns[0], {}).setdefault(members[h].kind, h)
        found: list[Change] = []
        for own in best.values():
            if "missing" in own:
                missing = own.pop("missing")
                found.append(self._change(missing, "missing", "missing"))
                own = {k: h for k, h in own.items() if self._among_present(h, missing) <= limit}
            if own:
                found.append(self._column_change(min(own.values(), key=self.logs.__getitem__)))
        pairs = [h for h in significant if len(members[h].columns) == 2][:3]
        found += [self._pair_change(h) for h in pairs if not best.keys() & set(members[h].columns)]
        if not found and significant:
            distance = members[significant[0]].kind == "distance"
            feature = "the distance from the center" if distance else "a direction"
            quantity = f"share of rows up to a cut point of {feature}"
            found.append(self._change(significant[0], "regions", quantity))
        return sorted(found, key=lambda change: change.pvalue)[:MOST_CHANGES]

    def _change(
        self, h: int, kind: str, quantity: str, pair: Sequence[float] = (), value: str | None = None
    ) -> Change:
        """Change of a function, by default of the share of rows for which it is 1."""
        before, after = pair or [c.ones[h] / c.n_rows for c in (self.reference, self.window)]
        columns = tuple(self.names[c] for c in self.functions.members[h].columns)
        pvalue = math.exp(min(0.0, float(self.logs[h]) + math.log(len(self.logs))))
        return Change(kind, columns, quantity, float(before), float(after),
                      max(pvalue, _TINY), value)  # fmt: skip

    def _among_present(self, h: int, missing: int) -> float:
        """Logarithm of the p-value of a function among the rows without a missing value."""
        n, m = (c.n_rows - int(c.ones[missing]) for c in (self.reference, self.window))
        if n == 0 or m == 0:
            return 0.0
        one = slice(h, h + 1)
        return float(log_pvalues(self.reference.ones[one], n, self.window.ones[one], m)[0])

    def _column_change(self, h: int) -> Change:
        kind, (column,), value = self.functions.members[h]
        at = column - len(self.functions.center)
        if at >= 0:
            new = [(rows, text) for (c, text), rows in self.unseen.items() if c == at]
            other = max(new)[1] if new else "(other values)"
            known = self.values[at]
            word = known[value] if value < len(known) else other
            return self._change(h, "shares", "share", value=word)
        sums = [c.summaries[:, column] for c in (self.reference, self.window)]
        present = [max(float(each[0]), 1.0) for each in sums]
        (middle, now), (spread, wide) = (
            [float(each[i]) / n for each, n in zip(sums, present, strict=True)] for i in (1, 2)
        )
        cut = self.functions.cuts[h]
        quantity = f"share of values up to {cut:.4g}"
        if kind == "deviation":
            if min(spread, wide) > 0 and max(spread / wide, wide / spread) >= _WIDENED:
                return self._change(h, "spread", "interquartile range", (spread, wide))
            away = cut * self.functions.scale[column]
            quantity = f"share of values within {away:.4g} of the median"
        elif abs(now - middle) > _MOVED * spread:
            return self._change(h, "location", "median", (middle, now))
        shares = self.reference.ones[h] / present[0], self.window.ones[h] / present[1]
        return self._change(h, "shape", quantity, shares)

    def _pair_change(self, h: int) -> Change:
        kind, (_, column), value = self.functions.members[h]
        both = (self.reference, self.window)
        if kind == "pair":
            r, s = (math.sin(math.pi * (c.ones[h] / c.n_rows - 0.5)) for c in both)
            return self._change(h, "dependence", "quadrant correlation", (r, s))
        at = self.functions.members.index(("category", (column,), value))  # type: ignore[arg-type]
        r, s = (c.ones[h] / max(1, c.ones[at]) for c in both)
        word = self.values[column - len(self.functions.center)][value]
        return self._change(h, "dependence", f"share up to the median within {word}", (r, s))
