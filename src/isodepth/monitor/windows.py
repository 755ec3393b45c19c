"""Windows of the last 1, 2, 4, 8, ... batches, their tests, and the changes that these tests find.

A window of 2^j batches is tested whenever it ends at a multiple of 2^(j - 1), counted from the
first batch of the stream. A restart removes the windows that began before it. `docs/guarantees.md`
proves the guarantees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from isodepth.data.columns.kinds import date_columns
from isodepth.data.validation import check_integer, check_number
from isodepth.errors import InvalidOptionError
from isodepth.geometry.weights import contaminated_rows
from isodepth.monitor.functions import Counts, Functions
from isodepth.monitor.reader import BatchReader
from isodepth.monitor.repeated import REPEATED_LEVEL, RepeatedCounts
from isodepth.results.changes import Change, with_dates
from isodepth.rowfunctions.families import UNSEEN, Member
from isodepth.significance.features import direction_text
from isodepth.significance.fisher import least_changed, log_adjusted_pvalues, log_pvalues

# Default of alpha, and maximum patience.
_ALPHA, _MOST_PATIENCE = 0.01, 100
# Logarithm of the maximum adjusted p-value of a reported change, and maximum number of changes in a
# verdict.
_LOG_NAMED, _MOST_CHANGES = math.log(0.05), 10
# Probability that the lower bound on the share of changed rows exceeds the share.
_UNCOVERED = 0.05
# Minimum shift of the median, as a fraction of the interquartile range, that is called a change of
# location, and minimum factor between these ranges that is called a change of spread.
_MOVED, _WIDENED = 0.1, 1.2
# Minimum difference of shares of values that medians and interquartile ranges may describe. Fewer
# changed values do not move quartiles noticeably.
_BROAD = 0.05
# Minimum effect of a function that may describe the change of its column, relative to the maximum
# effect of a function of the column. The effect is the difference of shares of rows, minus four
# standard errors, because the maximum over many functions would otherwise favor noisy shares.
_EXPLAINS, _ERRORS = 0.8, 4.0
# Minimum factor between medians that is called a change of the unit, and maximum absolute
# logarithm of the ratio between two factors that count as equal.
_FACTOR, _SAME = 3.0, 0.25
# Kinds of change of one column in the order in which they are preferred as its description.
_PREFERRED = (
    "value", "shares", "sign", "unit", "location", "precision", "spread", "extremes", "shape",
)  # fmt: skip


def pvalue_of(log: float) -> float:
    """Return exp(log), but at least the minimum normal number 2**-1022, and at most 1."""
    return max(math.exp(min(0.0, log)), 2.0**-1022)


class DyadicSums(NamedTuple):
    """Counts of the latest block of 2**j batches that ends at a multiple of 2**j, for each j."""

    end: int = 0  # number of batches so far
    blocks: tuple[Counts | None, ...] = ()  # None if batches of the block precede a restart

    def restarted(self) -> DyadicSums:
        """Return sums without any batch; the numbering of the batches continues."""
        return DyadicSums(self.end, (None,) * len(self.blocks))

    def add(self, batch: Counts) -> tuple[DyadicSums, list[Counts]]:
        """Return the sums with one more batch, and the counts of the last 1, 2, 4, ... batches."""
        end, blocks, windows = self.end + 1, [*self.blocks, None], [batch]
        for scale, before in enumerate(blocks):
            blocks[scale] = windows[-1]
            if before is None:
                break
            windows.append(before + windows[-1])
            if end % 2 ** (scale + 1):
                break
        return DyadicSums(end, tuple(blocks[: end.bit_length()])), windows


class Evidence(NamedTuple):
    """Result of the tests of a batch. The fields from `pvalue` on are described in `Verdict`."""

    functions: Functions
    both: tuple[Counts, Counts]  # counts of the reference and of the strongest window
    logs: np.ndarray  # (H,), logarithm of the adjusted p-value of each function
    repeated: RepeatedCounts | None  # with an adjusted p-value
    pvalue: float
    window: int
    window_pvalue: float
    threshold: float
    changed_share: float | None = None
    beyond_blocks: bool = False
    score: float | None = None
    exact: bool = True

    def changes(self, reader: BatchReader, unseen: dict[int, str]) -> list[Change]:
        """Return the changes of the window, strongest first.

        `unseen` is the most frequent new value of each category column with new values.
        A column is listed if a function of this column alone changed, a pair of columns only if
        neither column is, and a change of all columns together only if nothing else is.
        """
        members = self.functions.members
        n_significant = (self.logs <= _LOG_NAMED).sum()
        significant = np.argsort(self.logs, kind="stable")[:n_significant].tolist()
        columns: dict[int, list[int]] = {}
        for h in significant:
            if len(members[h].columns) == 1:
                columns.setdefault(members[h].columns[0], []).append(h)
        found = self._repeated_rows()
        for column, functions in columns.items():
            found += self._column_changes(column, functions, reader, unseen)
        pairs = [h for h in significant if len(members[h].columns) == 2][:3]
        pairs = [h for h in pairs if not columns.keys() & {*members[h].columns}]
        found += [self._change(h, reader, unseen) for h in pairs]
        found = found or [self._change(h, reader, unseen) for h in significant[:1]]
        found = sorted(found, key=lambda change: change.pvalue)[:_MOST_CHANGES]
        if self.changed_share is not None:
            found = [self._with_changed_share(change, reader) for change in found]
        return with_dates(found, date_columns(reader.kinds))

    def _repeated_rows(self) -> list[Change]:
        """Return the change of the share of repeated rows, if it is significant."""
        if self.repeated is None or self.repeated.log_pvalue > _LOG_NAMED:
            return []
        before, after, log = self.repeated
        return [Member("repeated").change((), None, before, after, pvalue_of(log))]

    def _column_changes(
        self, column: int, significant: list[int], reader: BatchReader, unseen: dict[int, str]
    ) -> list[Change]:
        """Return at most two changes of a column: of its missing values, and of its values.

        `significant` are the significant functions of this column alone.
        """
        found, missing = [], self.functions.missing[column]
        if missing in significant:
            found.append(self._change(missing, reader, unseen))
            # Missing values change all functions: compare only the rows without them.
            others = [h for h in significant if h != missing]
            significant = self._significant_without_missing(column, others)
        if significant:
            effects = self._effects(column, significant)
            # Among equal effects the last is first: the coarsest unit of precision.
            order = np.argsort(effects, kind="stable")[::-1].tolist()
            least = min(_EXPLAINS * effects.max(), effects.max())
            explaining = [significant[i] for i in order if effects[i] >= least]
            described = [self._change(h, reader, unseen) for h in explaining]
            found.append(min(described, key=lambda change: _PREFERRED.index(change.kind)))
        return found

    def _present_rows(self, column: int) -> list[int]:
        """Return the numbers of rows of the reference and of the window that have a value."""
        return [int(c.n_rows - c.ones[self.functions.missing[column]]) for c in self.both]

    def _significant_without_missing(self, column: int, functions: list[int]) -> list[int]:
        """Return the functions of a column that also changed among the rows that have a value."""
        n, m = self._present_rows(column)
        if not (functions and n and m):
            return []
        a, b = (counts.ones[functions] for counts in self.both)
        logs = log_pvalues(a, n, b, m) + math.log(len(self.logs))
        return [h for h, log in zip(functions, logs.tolist(), strict=True) if log <= _LOG_NAMED]

    def _effects(self, column: int, functions: list[int]) -> np.ndarray:
        """Return the effect of each function of a column, see `_EXPLAINS`."""
        n, m = (max(rows, 1) for rows in self._present_rows(column))
        a, b = (counts.ones[functions] for counts in self.both)
        share = (a + b) / (n + m)
        errors = np.sqrt(share * (1.0 - share) * (1.0 / n + 1.0 / m))
        effects = np.abs(a / n - b / m) - _ERRORS * errors
        # Any shift of whole numbers makes them fractional, which does not describe it.
        precision = np.array([self.functions.members[h].event == "precision" for h in functions])
        fell = precision & (b / m < a / n)
        effects[fell] = np.minimum(effects[fell], effects.min())
        return effects

    def _with_changed_share(self, change: Change, reader: BatchReader) -> Change:
        """Add the lower bound for the share of rows that changed in the columns of a change.

        Repeated rows have no such bound: their function depends on other rows.
        """
        if change.kind == "repeated":
            return change
        columns = tuple(reader.names.index(name) for name in change.columns)
        hs = [h for h, member in enumerate(self.functions.members) if member.columns == columns]
        (n, a, _), (m, b, _) = self.both
        level = _confidence_error(self.window.bit_length() - 1) * len(hs) / len(a)
        return replace(change, changed_share=least_changed(a[hs], n, b[hs], m, level) / m)

    def _change(self, h: int, reader: BatchReader, unseen: dict[int, str]) -> Change:
        """Return the change that function h detects; the arguments are those of `changes`."""
        member = self.functions.members[h]
        names = tuple(reader.names[c] for c in member.columns)
        category = _category_of(member, reader, unseen)
        pvalue = pvalue_of(float(self.logs[h]))
        change = member.change(names, category, *self._shares(h), pvalue)
        if member.event in ("column", "deviation"):
            return self._number_change(h, change)
        if member.event == "beyond" and not member.columns:
            return replace(change, kind="extremes")
        if member.event == "beyond":
            side = "above" if member.upper else "below"
            return replace(change, kind="extremes", limit=member.value, side=side)
        if member.event == "crossed":
            limit = self.functions.median_within(member)
            return replace(change, kind="dependence", limit=limit, side="at most")
        if member.event == "pair":
            # Correlation of two normal variables whose product is positive in this share of rows.
            before, after = (math.sin(math.pi * (share - 0.5)) for share in self._shares(h))
            return replace(
                change, kind="dependence", quantity="quadrant correlation", before=before,
                after=after,
            )  # fmt: skip
        if member.event in ("direction", "distance"):
            text = f"share of rows up to a cut point of {self._projection_text(h, reader)}"
            return replace(change, kind="regions", description=text)
        return change

    def _shares(self, h: int) -> tuple[float, float]:
        """Return the shares of rows of the reference and of the window for which function h is 1.

        The share of a function of a category is relative to the rows with this category.
        """
        member, rows = self.functions.members[h], [counts.n_rows for counts in self.both]
        if member.event == "crossed":
            within = Member("shares", member.columns[1:], member.value)
            index = self.functions.members.index(within)
            rows = [max(1, counts.ones[index]) for counts in self.both]
        before, after = (float(c.ones[h] / n) for c, n in zip(self.both, rows, strict=True))
        return before, after

    def _projection_text(self, h: int, reader: BatchReader) -> str:
        """Return a description of the direction of function h, or of the distance."""
        if self.functions.members[h].event == "distance":
            return "the distance from the center"
        text = direction_text(self.functions.direction_of(h), reader.names).strip()
        # The text is "..." if all entries of the direction are small.
        return "a direction" if text == "..." else f"a direction ({text}, standardized)"

    def _number_change(self, h: int, change: Change) -> Change:
        """Return the change of a numeric column by its median or spread, if these changed.

        Otherwise return the change of the share of values up to the cut point of function h.
        """
        member = self.functions.members[h]
        (column,) = member.columns
        (median, spread), (new_median, new_spread) = (
            counts.quartiles[:, column].tolist() for counts in self.both
        )
        before, after = (
            float(counts.ones[h] / max(counts.summaries[0, column], 1.0)) for counts in self.both
        )
        broad = abs(before - after) >= _BROAD
        # A monitor with blocks, which has no changed share, describes the last batch alone.
        joined = self.window > 1 and self.changed_share is not None
        n_batches = self.window if joined else None
        if member.event == "column" and broad and _is_shift(new_median - median, spread):
            kind, factor = _kind_of_shift((median, new_median), (spread, new_spread))
            return replace(
                change, kind=kind, quantity="median", before=median, after=new_median,
                factor=factor, n_batches=n_batches,
            )  # fmt: skip
        if member.event == "deviation" and broad and _is_wider(spread, new_spread):
            return replace(
                change, kind="spread", quantity="interquartile range", before=spread,
                after=new_spread, n_batches=n_batches,
            )  # fmt: skip
        limit, side = member.value, "at most"
        if member.event == "deviation":
            limit, side = float(limit * self.functions.scale[column]), "within"
        return replace(change, kind="shape", before=before, after=after, limit=limit, side=side)


def _category_of(member: Member, reader: BatchReader, unseen: dict[int, str]) -> str | None:
    """Return the category of a function, or the most frequent new value; None without category."""
    if member.event not in ("shares", "crossed"):
        return None
    column = member.columns[-1]
    if member.value == UNSEEN:
        return unseen.get(column, "(other values)")
    return reader.categories[reader.names[column]][int(member.value)]


def _confidence_error(scale: int) -> float:
    """Return the level of the bound on the share of changed rows for windows of 2**scale batches.

    The window is selected among all window lengths, so that their levels must sum to 5%.
    """
    return _UNCOVERED / ((scale + 1) * (scale + 2))


def _is_shift(shift: float, spread: float) -> bool:
    """Return whether a shift of the median is large enough to describe a change."""
    return _MOVED * spread < abs(shift) < math.inf


def _is_wider(before: float, after: float) -> bool:
    """Return whether the ratio of two spreads is large enough to describe a change."""
    ratio = after / before if min(before, after) > 0 else 1.0
    return _WIDENED <= max(ratio, 1.0 / ratio) < math.inf


def _kind_of_shift(
    medians: tuple[float, float], spreads: tuple[float, float]
) -> tuple[str, float | None]:
    """Return the kind of a change of the median, and the factor if the values were multiplied.

    The values were multiplied by a constant, or by -1, if the ratios of the medians and of the
    spreads agree. The factor is a power of ten, or has two significant digits.
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
        power = 10.0 ** round(math.log10(factor))
        near = abs(math.log(factor / power)) <= _SAME
        return "unit", power if near else float(f"{factor:.2g}")
    return "location", None


@dataclass(frozen=True)
class AlarmPolicy:
    """Options that decide when an alarm is raised; see `Monitor`."""

    alpha: float | None = None
    arl: float | None = None
    tolerance: float | None = None
    patience: int = 1

    def __post_init__(self) -> None:
        checked: dict[str, float] = {}
        if self.tolerance is not None:
            checked["tolerance"] = check_number(self.tolerance, "tolerance", 0, 0.5, high_open=True)
        if self.arl is None:
            alpha = _ALPHA if self.alpha is None else self.alpha
            checked["alpha"] = check_number(alpha, "alpha", 0, 1, low_open=True, high_open=True)
        elif self.alpha is None:
            checked["arl"] = check_number(self.arl, "arl", 1, low_open=True, high_open=True)
        else:
            raise InvalidOptionError(
                f"alpha and arl exclude each other, got {self.alpha!r} and {self.arl!r}; remove one"
            )
        checked["patience"] = check_integer(self.patience, "patience", 1, high=_MOST_PATIENCE)
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # a frozen dataclass refuses assignments

    @property
    def level(self) -> float:
        """Level `alpha`, or 1 / `arl`, from which the levels of all windows are derived.

        With blocks there are no windows. The evidence of `RankEvidence` is then significant if
        1 / evidence is at most this level.
        """
        return self.alpha or 1.0 / (self.arl or 1.0)

    def window_level(self, scale: int, end: int, n_groups: int = 1) -> float:
        """Return the level of the test of the last 2**scale batches after `end` batches.

        The false alarm probability is divided among the window lengths with weights that sum to 1,
        and among the windows of one length in proportion to 1 / (k log(k)^2), k = 2, 3, .... The
        sum of these terms is 2.1097, so that the factor 0.47 makes it at most 1.
        """
        weight, step = 1.0 / ((scale + 1) * (scale + 2)), max(1, 2**scale // 2)
        if self.arl is not None:
            fraction = weight * step / 2.0
        else:
            k = (end - 2**scale) // step + 2
            fraction = weight * (0.47 / (k * math.log(k) ** 2)) / n_groups
        return min(1.0, self.patience * self.level * fraction)

    def strongest(
        self,
        functions: Functions,
        reference: Counts,
        windows: list[Counts],
        end: int,
        n_groups: int,
        repeated: RepeatedCounts | None,
    ) -> Evidence:
        """Return the window with the smallest ratio of p-value to level, after `end` batches.

        The level of the window of one batch is divided among its functions and the test of
        repeated rows.
        """
        (n, a, _), tests = reference, []
        tolerance = self.tolerance or 0.0
        if tolerance > 0:
            # A contaminated row can turn a clean row into a repeated one.
            repeated = None
        for scale, (m, b, _) in enumerate(windows):
            logs = log_adjusted_pvalues(a, n, b, m, contaminated_rows(tolerance, m))
            level, smallest = self.window_level(scale, end, n_groups), float(logs.min())
            if repeated is not None and scale == 0:
                logs = np.minimum(logs - math.log1p(-REPEATED_LEVEL), 0.0)
                adjusted = min(repeated.log_pvalue - math.log(REPEATED_LEVEL), 0.0)
                repeated = repeated._replace(log_pvalue=adjusted)
                smallest = min(float(logs.min()), adjusted)
            tests.append((smallest - math.log(level), scale, logs, pvalue_of(smallest), level))
        _, scale, logs, pvalue, level = min(tests, key=lambda test: test[0])
        m, b, _ = windows[scale]
        error, changed = _confidence_error(scale), 0.0
        if pvalue <= error or tolerance > 0:
            changed = least_changed(a, n, b, m, error) / m
        both = reference, windows[scale]
        return Evidence(
            functions, both, logs, repeated, pvalue=tests[0][3], window=2**scale,
            window_pvalue=pvalue, threshold=level, changed_share=changed,
        )  # fmt: skip
