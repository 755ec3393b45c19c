"""Exact tests of rare events in samples that are read in chunks.

A test of samples that do not fit into memory uses a random subset of their rows, the tested rows.
The tested rows contain few rare events, such as missing values, rare categories and extreme values.
Such events are counted in all other rows. Their definition does not depend on the labels of these
rows: the cut points of extreme values are those of the tested rows of both samples together. So
given the tested rows, the labels of the other rows are exchangeable. Given the number of rows with
an event, the number in X therefore has a hypergeometric distribution. It is independent of the test
of the tested rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from isodepth.functions.changes import Change
from isodepth.functions.families import (
    LEAST_ROWS,
    Extremes,
    Family,
    Member,
    Missing,
    Rows,
    SingleCategories,
)
from isodepth.functions.fisher import log_pvalues
from isodepth.significance.result import ColumnTest, Component, Decision
from isodepth.significance.samples import Samples
from isodepth.stream.passes import Runner
from isodepth.stream.subsets import CountFold, MixedRows, RandomRows

#: Fraction of the significance level that is used for rare events; the rest is used for the test of
#: the tested rows.
RARE_LEVEL = Fraction(1, 5)
# P-values of permutation tests are multiples of 1/n, with n up to this number.
_MOST_LABELINGS = 10**7
# An event is rare if it occurs in at most this fraction of the rows.
_RARE = 0.01


@dataclass(frozen=True)
class EventCounts:
    """Counter of events in a chunk of rows: functions with values 0 and 1 of some families."""

    families: list[Family]

    def __len__(self) -> int:
        return sum(len(family.members) for family in self.families) + 1

    def counts(self, rows: MixedRows) -> np.ndarray:
        """Return the number of rows with each of F events, then the number of all rows (F + 1,)."""
        of_source = Rows(*rows, np.empty(0))
        counts = [family.count(of_source) for family in self.families]
        return np.concatenate([*counts, [len(rows.numbers)]])


class Event(NamedTuple):
    """Rare event with its counts in the rows that were not tested, and its p-value."""

    member: Member
    category: str | None  # name of the category of a function of the event "shares"
    counts: tuple[int, int]  # numbers of rows of X and of Y with the event
    totals: tuple[int, int]  # numbers of rows for which the event is known
    pvalue: float  # of Fisher's exact test, adjusted for the number of events (Bonferroni)

    def change(self, names: Sequence[str]) -> Change:
        """Describe the change of the share of rows with the event.

        `names` are the names of all columns, the numeric columns first. The p-value of the change
        is that of the event divided by 0.2, the part of the level for rare events.
        """
        before, after = (c / max(1, n) for c, n in zip(self.counts, self.totals, strict=True))
        columns = tuple(names[j] for j in self.member.columns)
        pvalue = adjusted_pvalue(self.pvalue, RARE_LEVEL)
        return self.member.change(columns, self.category, before, after, pvalue)


def with_rare_events(
    decision: Decision, samples: Samples, pair: RandomRows, runner: Runner
) -> Decision:
    """Return the decision of a test of random rows, after a test of rare events in the other rows.

    `samples` are the tested rows. The p-value is the minimum of the p-value of the tested rows
    divided by 0.8, and the smallest p-value of a rare event divided by 0.2 (weighted Bonferroni
    method). Significant rare events in columns without another change are added to the changes.
    """
    events = sorted(rare_events(pair, samples.numbers, runner), key=lambda event: event.pvalue)
    decision = _at_level(decision, 1 - RARE_LEVEL)
    if not events:
        return decision
    names = (*samples.names, *pair.schema.category_names)
    changes = decision.changes
    named = {column for change in changes for column in change.columns}
    strongest_of: dict[str, Change] = {}  # by column
    for event in events:
        change = event.change(names)
        if change.pvalue <= decision.alpha and not named & {*change.columns}:
            changes = [*changes, change]
            named |= {*change.columns}
        strongest_of.setdefault(change.columns[0], change)
    label, pvalue = events[0].change(names)._label, events[0].pvalue
    component = Component("rare events", label, -math.log(max(pvalue, 1e-300)), pvalue)
    return replace(
        decision,
        pvalue=min(decision.pvalue, adjusted_pvalue(pvalue, RARE_LEVEL)),
        components=(*decision.components, component),
        column_tests=_with_events(decision.column_tests, strongest_of, decision.alpha),
        changes=changes,
    )


def _with_events(
    tests: Sequence[ColumnTest], events: dict[str, Change], alpha: float
) -> tuple[ColumnTest, ...]:
    """Return the tests of columns with the p-values of rare events that are smaller.

    `events` are the changes of the rare event with the smallest p-value, by column.
    """
    updated = []
    for test in tests:
        change = events.pop(test.column, None)
        if change is not None and change.pvalue < test.pvalue:
            kind = change.kind if change.pvalue <= alpha else None
            test = replace(test, pvalue=change.pvalue, change_kind=test.change_kind or kind)
        updated.append(test)
    return tuple(sorted(updated, key=lambda test: test.pvalue))


def adjusted_pvalue(pvalue: float, part: Fraction) -> float:
    """Return a p-value divided by the fraction `part` of the level, at most 1.

    The result is rounded only once, so that it is at most a level to which it is equal.

    Examples
    --------
    >>> 14 / 100 / 0.8, adjusted_pvalue(14 / 100, Fraction(4, 5))
    (0.17500000000000002, 0.175)
    """
    exact, near = Fraction(pvalue), Fraction(pvalue).limit_denominator(_MOST_LABELINGS)
    return min(1.0, float((near if float(near) == pvalue else exact) / part))


def _at_level(decision: Decision, part: Fraction) -> Decision:
    """Return the decision of a test that has the fraction `part` of the level.

    P-values are divided by `part`. Changes that are then not significant are removed, but the first
    change remains if the test is significant.
    """

    def adjusted(test: Change | ColumnTest) -> Any:
        return replace(test, pvalue=adjusted_pvalue(test.pvalue, part))

    pvalue, alpha = adjusted_pvalue(decision.pvalue, part), decision.alpha
    tests = [adjusted(each) for each in decision.column_tests]
    changes = [adjusted(each) for each in decision.changes] if pvalue <= alpha else []
    return replace(
        decision,
        pvalue=pvalue,
        column_tests=tuple(
            each if each.pvalue <= alpha else replace(each, change_kind=None) for each in tests
        ),
        changes=[*changes[:1], *(each for each in changes[1:] if each.pvalue <= alpha)],
        factor=float(1 / part),
    )


def rare_events(pair: RandomRows, tested: np.ndarray, runner: Runner) -> list[Event]:
    """Return the rare events in the rows of both sources that were not tested.

    An event is rare if at most 1% of these rows, and at least four of them, have it. `tested`
    (n, d) are the numeric columns of the tested rows of both samples.
    """
    categories, d = pair.all_categories(), tested.shape[1]
    # Missing values come first: `counts` of column j are those of member j.
    missing = Missing([Member("missing", (j,)) for j in range(d + len(categories))])
    codes = [
        Member("shares", (j,), float(code))
        for j, values in enumerate(categories, d) for code in range(len(values))
    ]  # fmt: skip
    functions = EventCounts([missing, _rare_extremes(tested), SingleCategories(codes)])
    members = [member for family in functions.families for member in family.members]
    counts = [
        pair.schema.run(
            CountFold(functions, categories, table.origin.row_numbers(len(table))),
            replace(source, _runner=runner),
        )
        for source, table in zip(pair.sources, pair.tables, strict=True)
    ]
    events = []
    for i, member in enumerate(members):
        a, b = (int(each[i]) for each in counts)
        # A missing number is neither extreme nor not extreme.
        unknown = [each[member.columns[0]] if member.event == "extremes" else 0 for each in counts]
        n, m = (int(each[-1] - absent) for each, absent in zip(counts, unknown, strict=True))
        if LEAST_ROWS <= a + b <= _RARE * (n + m):
            log = float(log_pvalues(np.array([a]), n, np.array([b]), m)[0])
            category = None
            if member.event == "shares":
                category = categories[member.columns[0] - d][int(member.value)]
            events.append(Event(member, category, (a, b), (n, m), math.exp(log)))
    return [each._replace(pvalue=min(1.0, each.pvalue * len(events))) for each in events]


def _rare_extremes(tested: np.ndarray) -> Extremes:
    """Return the indicators of extreme values that at most 1% of the rows `tested` (n, d) have."""
    n = len(tested)
    rows = Rows(tested, np.empty((n, 0)), np.full(n, np.nan))
    extremes = Extremes.choose(rows)
    rare = extremes.count(rows) <= _RARE * n
    return Extremes([*compress(extremes.members, rare)])
