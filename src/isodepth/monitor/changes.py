"""Description of the significant changes of a window of batches, in the units of the columns.

The monitor counts in the reference and in the window for how many rows each function of a row is 1.
The functions have values 0 and 1 (`isodepth.monitor.functions`). The share of a function is the
share of rows for which it is 1. A function "of a column" depends on this column alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from isodepth.base.export import name_text
from isodepth.functions.changes import Change, for_kinds
from isodepth.functions.conversions import approximate_factor
from isodepth.functions.explanations import is_negated
from isodepth.functions.families import UNSEEN, Member
from isodepth.functions.fisher import least_changed, log_pvalues
from isodepth.monitor.functions import Batch, Counts, Functions
from isodepth.monitor.repeated import RepeatedCounts
from isodepth.monitor.windows import Evidence, confidence_error, pvalue_of
from isodepth.significance.features import direction_text
from isodepth.table.kinds import date_columns, rank_columns, subtracted_integers
from isodepth.table.table import Schema
from isodepth.table.values import visible

# Logarithm of the maximum adjusted p-value of a reported change, and maximum numbers of changes and
# of considered pairs of columns in a verdict.
_LOG_NAMED, _MOST_CHANGES, _MOST_PAIRS = math.log(0.05), 10, 3
# Minimum shift of the median, as a fraction of the interquartile range, that is called a change of
# location, and minimum factor between these ranges that is called a change of spread.
_MOVED, _WIDENED = 0.1, 1.2
# Minimum difference of the shares of values up to a cut point that is described by the median or
# the interquartile range. Fewer changed values do not move quartiles noticeably.
_BROAD = 0.05
# Minimum effect of a function that may describe the change of its column, relative to the maximum
# effect of a function of the column. The effect is the difference of shares of rows, minus four
# standard errors, because the maximum over many functions would otherwise favor noisy shares.
_EXPLAINS, _ERRORS = 0.8, 4.0
# Minimum factor between medians that is called a change of the unit, and maximum absolute
# logarithm of the ratio between two factors that count as equal.
_FACTOR, _SAME = 3.0, 0.25
# Maximum absolute logarithm of the ratio between a factor and the power of ten that is stated
# instead, also in standard errors. The standard error of the median of n normal values is 0.93
# times the interquartile range divided by sqrt(n).
_MOST_ERRORS, _MEDIAN_ERROR = 2.0, 0.93
# Standard error of the logarithm of a factor above which it is rounded to one digit instead of two.
_ONE_DIGIT = 0.05
# Quantile of level 0.999 of the limit of the Kolmogorov-Smirnov statistic.
_KS_QUANTILE = 1.95
# Kinds of change of one column in the order in which they are preferred as its description.
_PREFERRED = (
    "value", "shares", "sign", "unit", "location", "precision", "spread", "extremes", "shape",
)  # fmt: skip


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
        n_significant = (logs <= _LOG_NAMED).sum()
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
        if repeated is None or repeated.log_pvalue > _LOG_NAMED:
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
        """Return at most two changes of a column: of its missing values, and of its values.

        `significant` are the significant functions of this column alone.
        """
        found, missing = [], self._functions.missing[column]
        if missing in significant:
            found.append(self._change(missing))
            # Missing values change all functions: compare only the rows without them.
            others = [h for h in significant if h != missing]
            significant = self._significant_without_missing(column, others)
        if significant:
            described = [self._change(h) for h in self._explaining(column, significant)]
            if any(change.kind == "extremes" for change in described):
                # Most of the new multiples, such as 1000, are these extreme values.
                described = [change for change in described if change.kind != "precision"]
            change = min(described, key=lambda change: _PREFERRED.index(change.kind))
            if change.multiple_of is not None:
                change = self._with_coarsest_unit(column, change)
            if change.quantity == "share" and (found or change.kind == "shape"):
                change = self._of_known_values(column, change)
            found.append(change)
        return found

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

    def _significant_without_missing(self, column: int, functions: list[int]) -> list[int]:
        """Return those of `functions` that are also significant among the rows with a value.

        Rows in which `column` is missing are left out, because a change of their share also
        changes the shares of functions.
        """
        n_before, n_after = self._present_rows(column)
        if not (functions and n_before and n_after):
            return []
        before, after = (counts.ones[functions] for counts in self._both)
        logs = log_pvalues(before, n_before, after, n_after) + math.log(len(self.evidence.logs))
        return [h for h, log in zip(functions, logs.tolist(), strict=True) if log <= _LOG_NAMED]

    def _explaining(self, column: int, functions: list[int]) -> list[int]:
        """Return those of `functions` with an effect of at least 80% of the maximum effect.

        `functions` are indices of functions of `column`. The result is sorted by decreasing effect,
        see `_effects`.
        """
        effects = self._effects(column, functions)
        # Ties are in reverse order, because the coarsest unit of precision is the last function.
        order = np.argsort(effects, kind="stable")[::-1].tolist()
        least = min(_EXPLAINS * effects.max(), effects.max())
        return [functions[i] for i in order if effects[i] >= least]

    def _effects(self, column: int, functions: list[int]) -> np.ndarray:
        """Return the effects (len(functions),) of functions of a column.

        The effect is the absolute difference of the shares in the reference and in the window,
        minus four standard errors. If fewer values are rounded in the window than in the reference,
        the effect of a function about rounding is at most the smallest effect of the others.
        """
        n_before, n_after = (max(rows, 1) for rows in self._present_rows(column))
        ones_before, ones_after = (counts.ones[functions] for counts in self._both)
        pooled = (ones_before + ones_after) / (n_before + n_after)
        errors = np.sqrt(pooled * (1.0 - pooled) * (1.0 / n_before + 1.0 / n_after))
        before, after = ones_before / n_before, ones_after / n_after
        effects = np.abs(before - after) - _ERRORS * errors
        # After a shift by a fraction, whole numbers are fractional. The shift describes the change.
        precision = np.array([self._members[h].event == "precision" for h in functions])
        fell = precision & (after < before)
        effects[fell] = np.minimum(effects[fell], effects.min())
        return effects

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
            case "column" | "deviation":
                return self._number_change(h, change)
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
        if self._n_batches is None and n_new >= _EXPLAINS * rows:
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

    def _number_change(self, h: int, change: Change) -> Change:
        """Return the change of a numeric column, described by its median or interquartile range.

        If neither changed enough, the description is the share of values up to the cut point of
        function h.
        """
        member = self._members[h]
        (column,) = member.columns
        (median, spread), (new_median, new_spread) = (
            counts.quartiles[:, column].tolist() for counts in self._described
        )
        before, after = (
            float(counts.ones[h] / max(counts.summaries[0, column], 1.0))
            for counts in self._described
        )
        broad = abs(before - after) >= _BROAD
        n_batches = self._n_batches
        if member.event == "column" and broad and _is_shift(new_median - median, spread):
            kind, factor = _kind_of_shift(
                (median, new_median), (spread, new_spread), self._present_rows(column)
            )
            mirrored = kind != "sign" or self._is_mirrored(column, median, new_median)
            no_factor = change.columns[0] in self._shifted_columns or self._is_exchanged(column)
            if not mirrored or no_factor:
                kind, factor = "location", None
            change = replace(
                change, kind=kind, quantity="median", before=median, after=new_median,
                factor=factor, n_batches=n_batches,
            )  # fmt: skip
            # Medians alone do not decide a factor.
            return replace(change, is_approximate=kind == "unit")
        if member.event == "deviation" and broad and _is_wider(spread, new_spread):
            return replace(
                change, kind="spread", quantity="interquartile range", before=spread,
                after=new_spread, n_batches=n_batches,
            )  # fmt: skip
        change = replace(change, kind="shape", limit=member.value, side="at most")
        return self._deviation_change(h, change) if member.event == "deviation" else change

    def _deviation_change(self, h: int, change: Change) -> Change:
        """Return the change of the share of values near the median of the choosing rows.

        The description states this median, which differs from that of all rows of the reference.
        """
        (column,) = self._members[h].columns
        limit = float(change.limit * self._functions.scale[column])
        change = replace(change, limit=limit, side="within")
        (name,) = change.columns
        if name in rank_columns(self.schema.kinds):
            return change
        center = replace(change, limit=float(self._functions.center[column]), side="above")
        (center,) = for_kinds([center], self.schema.kinds)
        distance = f"{limit:.4g}{' days' * center.is_date}"
        text = f"{name_text(name)} within {distance} of {center._shown_limit}:"
        return replace(change, description=text)

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

    def _is_mirrored(self, column: int, median: float, new_median: float) -> bool:
        """Return whether the values of a column were multiplied by -1, see `is_negated`.

        The shares of values up to the cut points are compared with the bounds for these shares
        after a multiplication or a shift. Multiplied values fit if they agree up to chance, or as
        well as shifted ones. `median` and `new_median` are those of the column.
        """
        cuts = sorted(
            (member.value, h)
            for h, member in enumerate(self._members)
            if member.event == "column" and member.columns == (column,)
        )
        points, own = np.array([value for value, _ in cuts]), [h for _, h in cuts]
        n_before, n_after = (max(1.0, counts.summaries[0, column]) for counts in self._both)
        before, after = (counts.ones[own] for counts in self._both)
        before, after = before / n_before, after / n_after
        positive = 1.0 - float(np.interp(0.0, points, before))
        new_positive = 1.0 - float(np.interp(0.0, points, after))
        steps = np.array([0.0, *before, 1.0])
        # Values between two cut points, if not all values are cut points.
        between = any(
            each.event == "beyond" and each.upper and each.columns == (column,)
            for each in self._members
        )

        def error(
            values: np.ndarray, observed: np.ndarray, side: Literal["left", "right"]
        ) -> float:
            """Return the maximum distance by which `observed` shares are outside their bounds.

            The bounds are the shares of X at the cut points next to `values`. `side` is the
            argument of `numpy.searchsorted` for values that equal a cut point.
            """
            index = np.searchsorted(points, values, side)
            return float(
                np.maximum(steps[index] - observed, observed - steps[index + between]).max()
            )

        chance = _KS_QUANTILE * math.sqrt(1.0 / n_before + 1.0 / n_after)
        shifted = error(points - (new_median - median), after, "right")
        mirrored = error(-points, 1.0 - after, "left")
        below, up_to = (int(np.searchsorted(points, -new_median, s)) for s in ("left", "right"))
        return is_negated(
            (positive, new_positive),
            positive if new_positive > 0.5 else 1.0 - positive,
            (float(steps[below]), float(steps[up_to + between])),
            fits=mirrored <= max(shifted, chance),
            shift_is_worse=shifted > mirrored + chance,
        )


def _category_of(member: Member, schema: Schema) -> str | None:
    """Return the name of the category that a function counts; None if it is not a single one."""
    if member.event not in ("shares", "crossed") or member.value == UNSEEN:
        return None
    column = member.columns[-1]
    return schema[schema.names[column]].categories[int(member.value)]


def _is_shift(shift: float, spread: float) -> bool:
    """Return whether a shift of the median exceeds a tenth of the interquartile range `spread`."""
    return _MOVED * spread < abs(shift) < math.inf


def _is_wider(before: float, after: float) -> bool:
    """Return whether two interquartile ranges differ by a factor of at least 1.2.

    False if one of them is 0.
    """
    ratio = after / before if min(before, after) > 0 else 1.0
    return _WIDENED <= max(ratio, 1.0 / ratio) < math.inf


def _kind_of_shift(
    medians: tuple[float, float], spreads: tuple[float, float], sizes: Sequence[int]
) -> tuple[str, float | None]:
    """Return the kind of a change of the median, and the factor if the values were multiplied.

    `medians` and `spreads` are medians and interquartile ranges before and after the change, and
    `sizes` the numbers of values. If their ratios agree, the kind is "sign" for a factor of about
    -1, and "unit" for a factor of at least 3 or at most 1/3. The factor is a power of ten if the
    ratio of the medians is near it and differs by at most two standard errors. Otherwise it is
    rounded to two significant digits, or to one if its error is large. For other changes, the kind
    is "location", and the factor is None.
    """
    factor, widened = (after / before if before else 0.0 for before, after in (medians, spreads))
    if not (0.0 < abs(factor) < math.inf and 0.0 < widened < math.inf):
        return "location", None
    size = math.log(abs(factor))
    if abs(size - math.log(widened)) > _SAME:
        return "location", None
    if factor < 0 and abs(size) <= _SAME:
        return "sign", -1.0
    if factor > 0 and abs(size) >= math.log(_FACTOR):
        each = zip(medians, spreads, sizes, strict=True)
        error = _MEDIAN_ERROR * math.hypot(*(r / abs(m) / math.sqrt(max(n, 1)) for m, r, n in each))
        most = _MOST_ERRORS * error
        named = approximate_factor(factor, lambda near: abs(math.log(factor / near)) <= most)
        return "unit", named if error <= _ONE_DIGIT else float(f"{named:.1g}")
    return "location", None
