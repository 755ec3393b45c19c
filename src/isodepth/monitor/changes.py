"""Description of the significant changes of a window of batches, in the units of the columns.

The monitor counts in the reference and in the window for how many rows each function of a row is 1.
The functions have values 0 and 1 (`isodepth.monitor.functions`). The share of a function is the
share of rows for which it is 1. A function "of a column" depends on this column alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from isodepth.base.export import name_text
from isodepth.functions.changes import Change, for_kinds
from isodepth.functions.counted import CountedPair
from isodepth.functions.counted import Counts as ColumnCounts
from isodepth.functions.describer import describe_column, direction_text, largest_share_change
from isodepth.functions.families import UNSEEN, Member
from isodepth.functions.fisher import least_changed, log_pvalues
from isodepth.monitor.functions import Batch, Counts, Functions
from isodepth.monitor.windows import (
    LOG_NAMED,
    Evidence,
    RepeatedCounts,
    confidence_error,
    pvalue_of,
)
from isodepth.table.kinds import date_columns, rank_columns, subtracted_integers
from isodepth.table.table import Schema
from isodepth.table.values import visible

# Maximum numbers of changes and of considered pairs of columns in a verdict.
_MOST_CHANGES, _MOST_PAIRS = 10, 3
# Minimum fraction of the rows with rare and new categories that have a new one.
_NEARLY_ALL = 0.8
# Maximum absolute logarithm of the ratio between medians and spreads of two columns that exchanged
# their values.
_SAME = 0.25
# Events of functions whose share of rows may describe the change of a column.
_EVENTS_OF_SHARES = ("value", "extremes", "beyond", "precision")


def window_changes(
    evidence: Evidence, schema: Schema, batch: Batch, reference: Counts
) -> list[Change]:
    """Return at most 10 changes of the window that `evidence` describes, smallest p-value first.

    `schema` has the names and kinds of the columns. `batch` is the last batch. `reference` has the
    counts of all rows of the reference, by which changes are described. The tests in `evidence` use
    a part of these rows.
    """
    return _WindowChanges(evidence, schema, batch.unseen, batch.units, reference).all()


@dataclass(frozen=True)
class _WindowChanges:
    """Evidence of a window, with the names of columns and of new values that describe changes.

    Methods refer to a function by its index h in `Functions.members`.
    """

    evidence: Evidence
    schema: Schema
    unseen: dict[int, Counter[str]]
    units: np.ndarray  # (d,), of the last batch, see `Batch`
    reference: Counts  # of all rows, see `window_changes`

    @property
    def _functions(self) -> Functions:
        return self.evidence.functions

    @property
    def _members(self) -> list[Member]:
        return self.evidence.functions.members

    @property
    def _both(self) -> tuple[Counts, Counts]:
        """Counts of the tested rows of the reference, and of the window."""
        return self.evidence.both

    @property
    def _described(self) -> tuple[Counts, Counts]:
        """Counts of all rows of the reference, and of the window."""
        return self.reference, self.evidence.both[1]

    @property
    def _n_batches(self) -> int | None:
        """Number of batches of the window; None if the last batch alone is described.

        With blocks, where the changed share is None, it always is.
        """
        joined = self.evidence.n_window_batches > 1 and self.evidence.changed_share is not None
        return self.evidence.n_window_batches if joined else None

    @property
    def _shifted_columns(self) -> set[str]:
        """Columns compared by days, ranks or differences, which have no meaningful factor."""
        kinds = self.schema.kinds
        return {*date_columns(kinds), *rank_columns(kinds), *subtracted_integers(kinds)}

    def all(self) -> list[Change]:
        """Return at most 10 changes of the window, strongest first.

        A column is listed if the share of a function of this column alone changed. A pair of
        columns is listed only if neither column is listed. A change of all columns together is
        listed only if there is no other change.
        """
        logs = self.evidence.logs
        n_significant = (logs <= LOG_NAMED).sum()
        significant = np.argsort(logs, kind="stable")[:n_significant].tolist()
        columns: dict[int, list[int]] = {}
        for h in significant:
            if len(self._members[h].columns) == 1:
                columns.setdefault(self._members[h].columns[0], []).append(h)
        found = self._repeated_rows()
        for column, own in columns.items():
            found += self._column_changes(column, own)
        found += [self._change(h) for h in self._pairs_without(columns, significant)]
        found = found or [self._change(h) for h in significant[:1]]
        found = sorted(found, key=lambda change: change.pvalue)[:_MOST_CHANGES]
        if self.evidence.changed_share is not None:
            found = [self._with_changed_share(change) for change in found]
        return for_kinds(found, self.schema.kinds)

    def _repeated_rows(self) -> list[Change]:
        """Return the change of the share of repeated rows, if it is significant."""
        repeated = self.evidence.repeated
        if repeated is None or repeated.log_pvalue > LOG_NAMED:
            return []
        change = Member("repeated").change(
            (), None, repeated.before, repeated.after, pvalue_of(repeated.log_pvalue)
        )
        return [replace(change, description=self._repeated_text(repeated))]

    def _repeated_text(self, repeated: RepeatedCounts) -> str:
        """Return words for the share of repeated rows, which grows with the number of rows.

        The share of the reference is therefore that of as many rows as the batch has.
        """
        columns = " in the compared columns," * any(k.use == "omit" for k in self.schema.kinds)
        if repeated.n_reference == repeated.n_batch:
            return f"repeated rows{columns} within a batch of {repeated.n_batch} rows:"
        return (
            f"repeated rows{columns} within the reference ({repeated.n_reference} rows) and within "
            f"the batch ({repeated.n_batch}):"
        )

    def _pairs_without(self, columns: Collection[int], significant: list[int]) -> list[int]:
        """Return the functions of two columns in `significant`, if neither column is in `columns`.

        Only the first three functions of two columns, the most significant ones, are considered.
        """
        pairs = [h for h in significant if len(self._members[h].columns) == 2][:_MOST_PAIRS]
        return [h for h in pairs if not {*columns} & {*self._members[h].columns}]

    def _column_changes(self, column: int, significant: list[int]) -> list[Change]:
        """Return the changes of a column: of its missing values, and of its values.

        `significant` are the significant functions of this column alone.
        """
        found, missing = [], self._functions.missing[column]
        logs = {h: float(self.evidence.logs[h]) for h in significant}
        if missing in significant:
            found.append(self._change(missing))
            # Missing values change all functions: compare only the rows without them.
            logs = self._logs_without_missing(column, [h for h in significant if h != missing])
        if not logs:
            return found
        # Of functions with equal shares, the last is preferred: new categories, the coarsest unit.
        significant = sorted(logs, reverse=True)
        if column >= len(self._functions.center):
            return [*found, largest_share_change([self._change(h) for h in significant])]
        pvalue = pvalue_of(min(logs.values()))
        return found + self._number_changes(column, significant, pvalue)

    def _number_changes(self, column: int, significant: list[int], pvalue: float) -> list[Change]:
        """Return the changes of the values of a numeric column, described as in a test.

        `significant` are the significant functions of this column alone, and `pvalue` is their
        smallest p-value.
        """
        shares = {
            h: self._of_known_values(column, self._change(h)) for h in significant
            if self._members[h].event in _EVENTS_OF_SHARES
        }  # fmt: skip
        if not all(counts.summaries[0, column] for counts in self._described):
            return [largest_share_change([*shares.values()])] if shares else []
        pair = self._pair(column, [(_as_extreme(self._members[h]), shares[h]) for h in shares])
        rare = all(self._members[h].event in ("extremes", "beyond") for h in significant)
        changes = describe_column(pair, pvalue, only_extremes=rare)
        changes = [
            self._with_coarsest_unit(column, each) if each.multiple_of is not None else each
            for each in changes
        ]
        n_batches, partly = (
            self._n_batches,
            any(counts.ones[self._functions.missing[column]] for counts in self._described),
        )
        return [
            replace(each, of_known_values=bool(partly)) if each.quantity == "share"
            else replace(each, n_batches=n_batches)
            for each in changes
        ]  # fmt: skip

    def _pair(self, column: int, shares: list[tuple[Member, Change]]) -> CountedPair:
        """Return the counts of a numeric column in all rows of the reference and in the window."""
        cuts: dict[float, tuple[int, ...]] = {}
        singles: dict[float, tuple[int, ...]] = {}
        present = [int(counts.summaries[0, column]) for counts in self._described]
        discrete = True
        for h, member in enumerate(self._members):
            if member.columns != (column,):
                continue
            first, second = (int(counts.ones[h]) for counts in self._described)
            ones, others = (first, second), (present[0] - first, present[1] - second)
            below = np.nextafter(member.value, -np.inf)
            match member.event, member.upper:
                case "column", _:
                    cuts[member.value] = ones
                case "value", _:
                    singles[member.value] = ones
                case "extremes", False:
                    cuts[member.value] = ones
                case "extremes", True:
                    cuts[below] = others
                case "beyond", True:
                    discrete, cuts[member.value] = False, others
                case "beyond", False:
                    cuts[below] = ones
        ordered = sorted(cuts)
        numbers = sorted(singles)
        before, after = (
            ColumnCounts(
                max(present[side], 1),
                np.array([cuts[cut][side] for cut in ordered]),
                np.array([singles[number][side] for number in numbers]),
                *counts.quartiles[:, column].tolist(),
            )
            for side, counts in enumerate(self._described)
        )
        name = self.schema.names[column]
        scalable = name not in self._shifted_columns and not self._is_exchanged(column)
        return CountedPair(
            name, np.array(ordered), np.array(numbers), before, after, discrete=discrete,
            scalable=scalable, shares=shares,
        )  # fmt: skip

    def _with_coarsest_unit(self, column: int, change: Change) -> Change:
        """Return a change of precision that names the unit of all new values if it is coarser."""
        unit = float(self.units[column])
        if self._n_batches is not None or not (change.multiple_of or 0.0) < unit < math.inf:
            return change
        return replace(change, description=f"{change._label} (all new values: of {unit:g})")

    def _of_known_values(self, column: int, change: Change) -> Change:
        """Convert a change of a share of all rows of a column to a share of the known values."""
        missing = self._functions.missing[column]
        before, after = (
            share * counts.n_rows / max(1, counts.n_rows - int(counts.ones[missing]))
            for share, counts in zip((change.before, change.after), self._described, strict=True)
        )
        partly = any(counts.ones[missing] for counts in self._described)
        return replace(change, before=before, after=after, of_known_values=bool(partly))

    def _present_rows(self, column: int) -> list[int]:
        """Return the numbers of rows of the reference and of the window that have a value."""
        missing = self._functions.missing[column]
        return [int(counts.n_rows - counts.ones[missing]) for counts in self._both]

    def _logs_without_missing(self, column: int, functions: list[int]) -> dict[int, float]:
        """Return the log p-values of `functions` that are significant among rows with a value.

        Rows in which `column` is missing are left out, because a change of their share also
        changes the shares of functions.
        """
        n_before, n_after = self._present_rows(column)
        if not (functions and n_before and n_after):
            return {}
        before, after = (counts.ones[functions] for counts in self._both)
        logs = log_pvalues(before, n_before, after, n_after) + math.log(len(self.evidence.logs))
        return {h: v for h, v in zip(functions, logs.tolist(), strict=True) if v <= LOG_NAMED}

    def _with_changed_share(self, change: Change) -> Change:
        """Return a change with the lower bound for the share of rows that changed in its columns.

        Repeated rows have no such bound: their function depends on other rows.
        """
        if change.kind == "repeated":
            return change
        columns = tuple(self.schema.names.index(name) for name in change.columns)
        own = [h for h, member in enumerate(self._members) if member.columns == columns]
        reference, window = self._both
        level = confidence_error(self.evidence.n_window_batches.bit_length() - 1)
        changed = least_changed(
            reference.ones[own], reference.n_rows, window.ones[own], window.n_rows,
            level * len(own) / len(self._members),
        )  # fmt: skip
        return replace(change, changed_share=changed / window.n_rows)

    def _change(self, h: int) -> Change:
        """Return the change that function h detects."""
        member = self._members[h]
        names = tuple(self.schema.names[c] for c in member.columns)
        category = _category_of(member, self.schema)
        pvalue = pvalue_of(float(self.evidence.logs[h]))
        change = member.change(names, category, *self._shares(h), pvalue)
        match member.event:
            case "shares" if member.value == UNSEEN:
                return self._uncounted_change(h, change)
            case "column":
                return replace(change, kind="shape", limit=member.value, side="at most")
            case "beyond" if member.columns:
                side = "above" if member.upper else "below"
                return replace(change, kind="extremes", limit=member.value, side=side)
            case "beyond":
                return replace(change, kind="extremes")
            case "crossed":
                limit = self._functions.median_within(member)
                condition = self._condition(member.columns[0], "at most", limit)
                within = f"{name_text(names[1])} = {visible(str(category))}"
                return replace(
                    change, kind="dependence", limit=limit, side="at most",
                    description=f"{condition} within {within}:",
                )  # fmt: skip
            case "pair":
                return replace(change, kind="dependence", description=self._pair_text(member))
            case "direction" | "distance":
                text = f"share of rows up to a cut point of {self._projection_text(h)}"
                return replace(change, kind="regions", description=text)
            case _:
                return change

    def _uncounted_change(self, h: int, change: Change) -> Change:
        """Return a change of the share of rare and new categories, with a description of these.

        Function h is 1 for the categories of a column that have no function of their own: rare
        categories of the reference and categories that the reference does not have. If nearly all
        of these rows have new categories, the change is described by the share of these. The new
        categories are known for the last batch only. If all new rows have the same category, it is
        the attribute `value` of the change.
        """
        (column,) = self._members[h].columns
        name, counts = name_text(*change.columns), self.unseen.get(column)
        if not counts:
            return replace(change, description=f"{name}: rare or new values")
        new = max(counts, key=lambda value: (counts[value], value))
        rows, n_new, window = int(self._both[1].ones[h]), counts.total(), self._both[1]
        if self._n_batches is None and n_new >= _NEARLY_ALL * rows:
            change = replace(change, before=0.0, after=n_new / window.n_rows)
            if len(counts) == 1:
                return replace(change, value=new)
            return replace(change, description=f"{name}: new values (such as {visible(new)})")
        if self.reference.ones[h] == 0 and counts[new] == rows:
            return replace(change, value=new)
        return replace(change, description=f"{name}: rare or new values (such as {visible(new)})")

    def _shares(self, h: int) -> tuple[float, float]:
        """Return the shares of rows of the reference and of the window for which function h is 1.

        For a function of a column within a category, they are shares of the rows with this
        category.
        """
        member, rows = self._members[h], [counts.n_rows for counts in self._described]
        if member.event == "crossed":
            within = self._members.index(Member("shares", member.columns[1:], member.value))
            rows = [max(1, counts.ones[within]) for counts in self._described]
        before, after = (float(c.ones[h] / n) for c, n in zip(self._described, rows, strict=True))
        return before, after

    def _condition(self, column: int, side: str, limit: float) -> str:
        """Return words for the rows with values on one side of a limit, such as "age above 30"."""
        change = Change(
            kind="extremes", columns=(self.schema.names[column],), quantity="share", before=0.0,
            after=0.0, pvalue=1.0, limit=limit, side=side,
        )  # fmt: skip
        return for_kinds([change], self.schema.kinds)[0]._label.removesuffix(":")

    def _pair_text(self, member: Member) -> str:
        """Return words for the rows in which two columns are on the same side of their centers."""
        above, below = (
            " and ".join(
                self._condition(c, side, float(self._functions.center[c])) for c in member.columns
            )
            for side in ("above", "below")
        )
        return f"rows with {above}, or {below}:"

    def _projection_text(self, h: int) -> str:
        """Return words for the quantity that function h compares with a cut point.

        It is the projection on a direction, or the distance of a row from the center.
        """
        if self._members[h].event == "distance":
            return "the distance from the center"
        text = direction_text(self._functions.direction_of(h), self.schema.names).strip()
        # The text is "..." if all entries of the direction are small.
        return "a direction" if text == "..." else f"a direction ({text}, standardized)"

    def _is_exchanged(self, column: int) -> bool:
        """Return whether a column and another one exchanged their medians and spreads.

        They are compared up to a factor of 1.28. The factor between two exchanged columns is not
        one by which values were multiplied.
        """
        before, after = (counts.quartiles for counts in self._described)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(np.stack([after[:, [column]] / before, after / before[:, [column]]]))
        same = (np.abs(ratios) <= _SAME).all(axis=(0, 1))
        return bool(np.delete(same, column).any())


def _category_of(member: Member, schema: Schema) -> str | None:
    """Return the name of the category that a function counts; None if it is not a single one."""
    if member.event not in ("shares", "crossed") or member.value == UNSEEN:
        return None
    column = member.columns[-1]
    return schema[schema.names[column]].categories[int(member.value)]


def _as_extreme(member: Member) -> Member:
    """Return the function of values from a number on, or up to it, that is equal to `member`.

    The event "beyond" excludes the number itself.
    """
    if member.event != "beyond":
        return member
    value = np.nextafter(member.value, np.inf if member.upper else -np.inf)
    return member._replace(event="extremes", value=float(value))
