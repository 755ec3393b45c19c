"""Headlines, remarks and short summaries of results, as strings.

Results call this module for `repr`. It must therefore not import Jinja, which is slow.

Typical rows are those of X and of Y that are farthest apart along the direction in which the
samples differ most. They replace changes and contributions of columns if there are many unnamed
columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from isodepth.base.messages import joined
from isodepth.base.words import FEW, listed
from isodepth.errors import InvalidInputError
from isodepth.functions.changes import Change, Contribution, at_least
from isodepth.results.protocols import (
    ChanceLevelLike,
    ComparisonLike,
    PairResult,
    TwoSampleTestLike,
    VerdictLike,
)
from isodepth.rows.checks import Check, overlap_sentence, with_names
from isodepth.rows.suspicious import SuspiciousRows
from isodepth.rows.suspicious.results import repeated_texts
from isodepth.rows.typical import TypicalRows
from isodepth.table.kinds import (
    ROW_NUMBERS,
    ColumnKind,
    attention_lines,
    attention_suffix,
    column_lines,
    date_columns,
)

# Columns are listed until their contributions sum to 60%, but at most three columns.
_NAMED_SUM, _MAX_NAMED = 0.6, 3
# Maximum numbers of changes and of suspicious rows in a summary, which then has about 12 lines.
_MAX_CHANGES, _MAX_ROWS = 4, 3
# Kind of the change that says the same as a check of a kind.
_SAME_KIND = {
    "empty": "missing", "constant": "value", "new category": "shares",
    "vanished category": "shares", "repeated rows": "repeated",
}  # fmt: skip
NOT_COMPUTED = "chance_level() gives the distances of random splits"


class Headline(NamedTuple):
    """Headline of a report and its status.

    The status is "differs" for a significant difference or an alarm, "alike" for neither, and
    "open" if nothing was decided.
    """

    sentence: str
    status: str


def largest_contributions(contributions: Sequence[Contribution]) -> str:
    """Return a string with the first columns and their contributions.

    `contributions` are sorted, largest first. Columns are listed until their contributions sum to
    60%, at most three.

    Examples
    --------
    >>> fractions = {"dewp": 0.35, "temp": 0.33, "wind": 0.32}
    >>> largest_contributions([Contribution(*each) for each in fractions.items()])
    'dewp 35%, temp 33%'
    """
    named = named_contributions(contributions)
    return ", ".join(f"{each.column} {each.fraction:.0%}" for each in named)


def named_contributions(contributions: Sequence[Contribution]) -> list[Contribution]:
    """Return the first contributions, until their sum is 60%, at most three."""
    named: list[Contribution] = []
    for each in contributions[:_MAX_NAMED]:
        named.append(each)
        if sum(other.fraction for other in named) >= _NAMED_SUM:
            break
    return named


def comparison_headline(result: PairResult, names: Sequence[str]) -> Headline:
    """Return the headline of a comparison or a test.

    With a test: whether the samples differ, and the strongest change. Without a test: the
    distance. It ends with the columns of doubtful kind, if there are any. `names` are the names of
    the two samples.
    """
    test, doubtful = get_test(result), attention_suffix(tested_result(result).kinds)
    if test is None:
        assert result._result_type == "comparison"
        x, y = names
        dropped = "" if result.missing is None else result.missing._many_dropped
        ending = f"; {dropped}" if dropped else ""
        text = f"{x} and {y} are at distance {result.distance:.3g}, not tested{ending}{doubtful}."
        return Headline(text, "open")
    # Equality is not suggested if most of the data could not be compared, or if the headline names
    # a difference that needs no test, such as a column of one sample only.
    doubts = unused_part(result, names) or test._facts(names)
    doubts = doubts or overlap_sentence(test.checks, names)
    status = "differs" if test.significant else "open" if doubts else "alike"
    return Headline(f"{test._headline_about(names)}{doubtful}.", status)


def get_test(result: PairResult) -> TwoSampleTestLike | None:
    """Return the test of a comparison (or None), or the result itself if it is a test."""
    return result if result._result_type == "test" else result.test


def tested_result(result: PairResult) -> PairResult:
    """Return the test of a result, or the result itself if it has no test."""
    test = get_test(result)
    return result if test is None else test


def remarks(result: PairResult, rows: SuspiciousRows | None, names: Sequence[str]) -> list[str]:
    """Return short remarks that a summary and a report show below the headline.

    Subjects of the remarks are columns of doubtful kind, unusual values that many rows have in
    common, the number of further changes, suspicious rows, notes about numeric columns, and dropped
    rows. With a test, there are also its checks (see `TwoSampleResult.checks`), except for those
    that a listed change repeats; without a test, the columns that were not compared.

    Parameters
    ----------
    result : Comparison or TwoSampleResult
    rows : SuspiciousRows or None
        None to omit the remark about suspicious rows.
    names : pair of str
        Names of X and Y.
    """
    test = get_test(result)
    kinds = tested_result(result).kinds
    parts = attention_lines(kinds)
    headline = "" if test is None else test._headline_about(names)
    texts = repeated_texts(result._repeated_values, names, date_columns(kinds))
    parts += [text for text in texts if text not in headline]
    parts += _further_changes(result)
    if rows is not None:
        parts.append(rows._summary(names))
    lines = column_lines(kinds, codes=False)
    parts += [line for line in lines if line.startswith("numbers: ")]
    if test is not None:
        listed_changes = [] if has_typical_rows(result) else test.changes[: 1 + _MAX_CHANGES]
        checks = [
            check
            for check in test.checks
            if not any(_same_fact(check, change) for change in listed_changes)
        ]
        texts = [with_names(check, names) for check in checks]
        parts += [text for text in texts if text[1:] not in headline]
    elif omitted := [kind.column for kind in kinds if kind.use == "omit"]:
        parts.append(f"not compared: {listed(omitted, 3)}")
    missing = result.missing
    if missing is not None and (missing.x.n_dropped or missing.y.n_dropped):
        dropped = missing.x.n_dropped + missing.y.n_dropped
        difference = missing._difference(names) if test is None else ""
        parts.append(f"{_count(dropped, 'row')} dropped: {difference or 'missing values'}")
    return parts


def _same_fact(check: Check, change: Change) -> bool:
    """Return whether a change says the same as a check, with the p-value of a test."""
    same = change.kind == _SAME_KIND.get(check.kind) and change.columns == check.columns
    return same and (change.value is None or str(change._shown_value) in check.text)


def _further_changes(result: PairResult) -> list[str]:
    """Return a list with one phrase: the number of changes that the headline does not name.

    The list is empty if there is no such change. The headline names one change, or typical rows
    instead if there are many unnamed columns.
    """
    test = get_test(result)
    named = 0 if has_typical_rows(result) else 1
    further = 0 if test is None else len(test.changes) - named
    return [_count(further, "more change" if named else "change")] if further > 0 else []


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def subtitle(result: PairResult, rows: SuspiciousRows | None, names: Sequence[str]) -> str:
    """Return one sentence with the counts of further findings, for the top of a report.

    These are further changes, suspicious `rows` and rows with missing values. The sentence is ""
    if there are none. `names` are the names of the samples.
    """
    parts = _further_changes(result)
    if rows is not None and len(rows):
        parts.append(rows._summary(names))
    missing = result.missing
    if missing is not None and (missing.x.n_dropped or missing.y.n_dropped):
        dropped = missing.x.n_dropped + missing.y.n_dropped
        parts.append(f"{_count(dropped, 'row')} with missing values, left out of the distance")
    if not parts:
        return ""
    *first, last = parts
    return f"Also found: {', '.join(first)}{' and ' if first else ''}{last}."


def unused_part(result: PairResult, names: Sequence[str]) -> str:
    """Return a sentence if less than half of the rows or values of a sample were compared.

    Values of columns that are left out, and missing values, count as not compared. Return "" if at
    least half of the rows and of the values of both samples were compared. `names` are the names of
    the samples.
    """
    tested = tested_result(result)
    missing, kinds = tested.missing, tested.kinds
    for side, name in enumerate(names):
        used = {"values": _used_columns(kinds)}
        if missing is not None:
            report = (missing.x, missing.y)[side]
            known = [1 - (share.before, share.after)[side] for share in missing.shares]
            used["values"] *= sum(known) / max(len(known), 1)
            used["rows"] = 1 - report.n_dropped / max(report.n_rows, 1)
        for noun, fraction in used.items():
            if fraction < 0.5:
                return f"Only {fraction:.0%} of the {noun} of {name} could be compared."
    return ""


def _used_columns(kinds: Sequence[ColumnKind]) -> float:
    """Return the fraction of the columns that are compared, apart from row numbers."""
    kinds = [kind for kind in kinds if kind.note not in ROW_NUMBERS]
    return sum(kind.use != "omit" for kind in kinds) / len(kinds) if kinds else 1.0


def distance_sentence(
    comparison: ComparisonLike, chance: ChanceLevelLike | str, name: str = "distance"
) -> str:
    """Return a sentence with the distance and the level of chance.

    The level of chance consists of the distances between random splits of the pooled rows. A second
    sentence follows if the units of the columns hide the changes that the test of the comparison
    finds.

    Parameters
    ----------
    comparison : Comparison
    chance : ChanceLevel or str
        Level of chance, or the reason why it was not computed.
    name : str
        Name of the distance.
    """
    sentence = f"{name} {comparison.distance:.4g} in {comparison.units}; {chance}"
    if comparison.test is not None and not isinstance(chance, str):
        sentence += " (the test uses more than the distance)"
    note = comparison._units_note
    return f"{sentence}. {note[0].upper()}{note[1:]}" if note else sentence


def summary_lines(
    result: PairResult,
    names: Sequence[str] = ("X", "Y"),
    *,
    rows: SuspiciousRows | None = None,
    chance: ChanceLevelLike | str = NOT_COMPUTED,
) -> list[str]:
    """Return a summary of a comparison or a test in about 12 lines, in the order of the report.

    Parameters
    ----------
    result : Comparison or TwoSampleResult
    names : pair of str
        Names of the samples.
    rows : SuspiciousRows or None
        None to replace the suspicious rows by a hint how to find them.
    chance : ChanceLevel or str
        Distances between random splits of the pooled rows, or the reason why there are none.
    """
    lines = [comparison_headline(result, names).sentence]
    lines.append(joined("; ", remarks(result, rows, names)))
    lines += _difference_lines(result, names)
    lines += _suspicious_lines(result, rows, names)
    if result._result_type == "comparison":
        if chance is NOT_COMPUTED and not result._keeps_rows:
            chance = "a level of chance needs the rows, which this result does not have"
        lines.append(distance_sentence(result, chance))
    if result._result_type == "test" and result.device is not None:
        lines.append(f"rows were copied from {result.device} to the host")
    return [line for line in lines if line]


def _difference_lines(result: PairResult, names: Sequence[str]) -> list[str]:
    """Return the lines of a summary about changes, typical rows or contributions of columns.

    `names` are the names of the samples.
    """
    test = get_test(result)
    if test is not None:
        return [test._tested_rows_text, *_change_lines(test, names)]
    if has_typical_rows(result):
        return ["typical_rows() lists the rows that are most typical of the difference"]
    assert result._result_type == "comparison"
    if not result.contributions:
        return []
    return [f"largest contributions: {largest_contributions(result.contributions)}"]


def _change_lines(test: TwoSampleTestLike, names: Sequence[str]) -> list[str]:
    """Return the lines about changes that the headline does not name, and `changed_share_text`.

    The text is omitted if the bound is below 1%. If the difference is described by typical rows,
    they replace the changes. `names` are the names of the samples.
    """
    share = [test.changed_share_text] if at_least(test.changed_share) else []
    typical = find_typical_rows(test)
    if typical is not None:
        return [*share, *typical._texts(names)]
    headline = test._headline_about(names)
    known = [check for check in test.checks if check.text in headline]
    lines = [
        str(change)
        for change in test.changes[1 : 1 + _MAX_CHANGES]
        if not any(_same_fact(check, change) for check in known)
    ]
    unlisted = len(test.changes) - 1 - _MAX_CHANGES
    if unlisted > 0:
        lines.append(f"and {_count(unlisted, 'more change')}")
    return [*lines, *share]


def _suspicious_lines(
    result: PairResult, rows: SuspiciousRows | None, names: Sequence[str]
) -> list[str]:
    """Return the lines about suspicious rows, except for rows with repeated values.

    If `rows` is None, return a hint about `suspicious_rows` instead, or no line if the rows of the
    samples are not in memory. `names` are the names of the samples.
    """
    if rows is None:
        hint = "suspicious_rows() lists the rows that look wrong"
        return [hint] if result._keeps_rows else []
    repeated = {(each.sample, each.value) for each in rows.repeated_values}
    single = [row for row in rows.rows if (row.sample, row.value) not in repeated]
    return [row._text(names["XY".index(row.sample)]) for row in single[:_MAX_ROWS]]


def has_typical_rows(result: PairResult) -> bool:
    """Return whether a difference is described by typical rows instead of columns.

    This is the case if there are many unnamed columns, because names such as "column 36" do not
    help a reader. It is not the case if a test is not significant.
    """
    test = get_test(result)
    if test is not None and not test.significant:
        return False
    return result._has_typical_rows


def find_typical_rows(result: PairResult) -> TypicalRows | None:
    """Return the typical rows if a difference is described by them; see `has_typical_rows`.

    Otherwise, or if a sample has too few rows, return None.
    """
    # If a sample has too few rows, `typical_rows` raises an error.
    with suppress(InvalidInputError):
        return result.typical_rows() if has_typical_rows(result) else None
    return None


def monitor_headline(verdicts: Sequence[VerdictLike], groups: Sequence[dict[str, Any]]) -> Headline:
    """Return the headline of a monitor, given the verdicts on all batches.

    `groups` is the entry "groups" of `Monitor.to_dict`, with the alarms after the last batch.
    """
    if not verdicts:
        return Headline("No batch has been checked yet.", "open")
    last = verdicts[-1]
    if last.beyond_blocks:
        named = f": {last.changes[0].text}" if last.changes else ""
        batch = f"Batch {last.batch_number}" + (f" of group {last.group}" if last.group else "")
        return Headline(f"{batch} is far beyond all blocks{named}.", "differs")
    alarms = [verdict.batch_number for verdict in verdicts if verdict.alarm]
    since = {each["group"]: each["alarm_since"] for each in groups if each["alarm_since"]}
    if len(since) > 1:
        named = listed([f"{name} since batch {number}" for name, number in since.items()], FEW)
        return Headline(f"Alarm in {len(since)} of {len(groups)} groups: {named}.", "differs")
    if since:
        ((name, number),) = since.items()
        of_group = "" if name is None else f" of group {name}"
        text = f"Alarm{of_group} since batch {number} of {last.batch_number}"
        latest = next((each for each in reversed(verdicts) if each.group == name), last)
        changes = f": {latest.changes[0]}" if latest.changes else ""
        return Headline(f"{text}{changes}.", "differs")
    if alarms:
        text = f"No alarm now, after one until batch {alarms[-1]} of {last.batch_number}."
        return Headline(text, "open")
    count = "1 batch" if last.batch_number == 1 else f"{last.batch_number} batches"
    return Headline(f"No alarm in {count} (last p-value {last.pvalue:.2g}).", "alike")


def alarm_promise(summary: dict[str, Any]) -> str:
    """Return a sentence with the bound on the false alarms of a monitor.

    `summary` is the output of `Monitor.to_dict`.
    """
    settings = summary["settings"]
    if settings["arl"] is not None:
        text = f"On average at least {settings['arl']:g} batches lie between false alarms"
    else:
        text = f"Without a change, the probability of any alarm is at most {settings['alpha']:g}"
    if settings["tolerance"]:
        text += f", with up to {settings['tolerance']:.0%} contaminated rows"
    if settings["patience"] > 1:
        text += f"; an alarm takes {settings['patience']} crossings"
    unit = "blocks" if any(group["n_blocks"] for group in summary["groups"]) else "rows"
    return f"{text}, if {unit} are exchangeable."
