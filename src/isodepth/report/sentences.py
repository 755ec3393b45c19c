"""Headlines, remarks and short summaries of results, as strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from isodepth.data.arrays import listed
from isodepth.data.kinds import attention_lines, column_lines
from isodepth.data.results import p_text

# Columns are listed until their contributions sum to 60%, but at most three columns.
_NAMED_SUM, _MAX_NAMED = 0.6, 3
# Maximum numbers of changes and of suspicious rows in a summary, which then has about 12 lines.
_MAX_CHANGES, _MAX_ROWS = 4, 3
NOT_COMPUTED = "chance_level() gives the distances of random splits"


class Headline(NamedTuple):
    """Headline of a report and its status: "differs", "alike" or "open" (undecided)."""

    sentence: str
    kind: str


def largest_contributions(shares: Sequence[tuple[str, float]]) -> str:
    """Return a string with the columns that contribute most, and their contributions.

    Columns are listed until their contributions sum to 60%, at most three.

    Examples
    --------
    >>> largest_contributions([("dewp", 0.35), ("temp", 0.33), ("wind", 0.32)])
    'dewp 35%, temp 33%'
    """
    named, total = [], 0.0
    for name, share in shares[:_MAX_NAMED]:
        named.append(f"{name} {share:.0%}")
        total += share
        if total >= _NAMED_SUM:
            break
    return ", ".join(named)


def comparison_headline(result: Any, names: Sequence[str]) -> Headline:
    """Return the headline of a result: whether the samples differ, and the strongest change.

    If many rows have one unusual value in common, such as -9999, the headline describes these rows
    instead of the strongest change, because they may cause all changes. `names` are the names of
    the two samples.
    """
    x, y = names
    test = _test_of(result)
    if test is None:
        return Headline(f"{x} and {y} are at distance {result.distance:.3g}, not tested.", "open")
    p = f"p = {p_text(test.pvalue)}"
    beyond = f" beyond a tolerance of {test.tolerance:g}" if test.tolerance else ""
    if not test.significant:
        return Headline(f"No significant difference between {x} and {y}{beyond} ({p}).", "alike")
    change = test._headlined_rows(names) or test.strongest_change
    return Headline(f"{y} differs from {x}{beyond} ({p}): {change}.", "differs")


def _test_of(result: Any) -> Any:
    return result if result.result_type == "test" else result.test


def remarks(result: Any, rows: Any, names: Sequence[str]) -> list[str]:
    """Return short remarks that a summary and a report show below the headline.

    Subjects of the remarks are columns of doubtful kind, unusual values that many rows have in
    common, the number of further changes, suspicious rows, categories of only one sample, notes
    about numeric columns, columns that were not compared, and dropped rows.

    Parameters
    ----------
    result : Comparison or TwoSampleResult
    rows : SuspiciousRows or None
    """
    test = _test_of(result)
    kinds = (test or result).kinds
    parts = attention_lines(kinds)
    headlined = test._headlined_rows(names) if test is not None and test.significant else ""
    wrong = [each.text(names["XY".index(each.sample)]) for each in result.repeated_values]
    parts += [text for text in wrong if text != headlined]
    if headlined:
        parts.append(f"strongest change: {test.strongest_change}")
    if test is not None and len(test.changes) > 1:
        parts.append(_count(len(test.changes) - 1, "more change"))
    if rows is not None:
        parts.append(rows.summary(names))
        if rows.values:
            parts.append(f"{_count(len(rows.values), 'value')} of categories in one sample only")
    parts += [line for line in column_lines(kinds) if line.startswith("numbers: ")]
    omitted = [kind.column for kind in kinds if kind.use == "left out"]
    if omitted:
        parts.append(f"not compared: {listed(omitted, 3)}")
    missing = result.missing
    if missing is not None and (missing.x.n_dropped or missing.y.n_dropped):
        dropped = missing.x.n_dropped + missing.y.n_dropped
        difference = missing.difference(names) if test is None else ""
        parts.append(f"{_count(dropped, 'row')} dropped: {difference or 'missing values'}")
    return parts


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def distance_sentence(comparison: Any, chance: Any) -> str:
    """Return a sentence that compares the distance with the level of chance.

    The level of chance consists of the distances between random splits of the pooled rows.

    Parameters
    ----------
    chance : ChanceLevel or str
        Level of chance, or the reason why it was not computed.
    """
    sentence = f"distance {comparison.distance:.4g} in {comparison.units}; {chance}"
    if comparison.test is not None and not isinstance(chance, str):
        sentence += " (the test uses more than the distance)"
    return sentence


def summary_lines(
    result: Any, names: Sequence[str] = ("X", "Y"), *, rows: Any = None, chance: Any = NOT_COMPUTED
) -> list[str]:
    """Return a summary of a comparison or a test in about 12 lines, in the order of the report.

    Parameters
    ----------
    result : Comparison or TwoSampleResult
    rows : SuspiciousRows or None
    chance : ChanceLevel or str
        Distances between random splits of the pooled rows, or the reason why there are none.
    """
    test = _test_of(result)
    comparison = None if result is test else result
    keeps_rows = comparison is None or comparison._keeps_rows
    lines = [comparison_headline(result, names).sentence]
    lines += ["; ".join(remarks(result, rows, names))]
    if test is not None:
        # The first change is skipped. It is already in the headline, or in the remarks if the
        # headline is about an unusual value that many rows have in common.
        lines += [str(change) for change in test.changes[1 : 1 + _MAX_CHANGES]]
        lines.append(test.tolerance_range)
    else:
        lines.append(f"largest contributions: {largest_contributions(result.contributions)}")
    if rows is not None:
        repeated = {(each.sample, each.value) for each in rows.repeated}
        single = [row for row in rows.rows if (row.sample, row.value) not in repeated]
        lines += [row.text(names["XY".index(row.sample)]) for row in single[:_MAX_ROWS]]
    elif keeps_rows:
        lines.append("suspicious_rows() lists the rows that look wrong")
    if comparison is not None:
        if chance is NOT_COMPUTED and not keeps_rows:
            chance = "a level of chance needs the rows, which were read in chunks"
        lines.append(distance_sentence(comparison, chance))
    lines.append(result.signature)
    moved = getattr(result, "moved_from", None)
    lines += [f"rows were copied from {moved} to the host"] if moved else []
    return [line for line in lines if line]


def monitor_headline(verdicts: Sequence[Any], alarm: bool) -> Headline:
    """Return the headline of a monitor, given the verdicts on all batches.

    `alarm` is True if there is an alarm after the last batch.
    """
    if not verdicts:
        return Headline("No batch has been checked yet.", "open")
    last = verdicts[-1]
    if last.extreme:
        named = f": {last.changes[0].text}" if last.changes else ""
        return Headline(f"Batch {last.batch} is far beyond all blocks{named}.", "differs")
    alarms = [verdict.batch for verdict in verdicts if verdict.alarm]
    if alarm:
        text = f"Alarm since batch {last.alarm_since} of {last.batch}"
        return Headline(f"{text}: {last.changes[0]}." if last.changes else f"{text}.", "differs")
    if alarms:
        text = f"No alarm now, after one until batch {alarms[-1]} of {last.batch}."
        return Headline(text, "open")
    count = "1 batch" if last.batch == 1 else f"{last.batch} batches"
    return Headline(f"No alarm in {count} (last p-value {last.pvalue:.2g}).", "alike")


def alarm_promise(summary: dict[str, Any]) -> str:
    """Return a sentence with the bound on the false alarms of a monitor.

    `summary` is the output of `Monitor.to_dict`.
    """
    policy = summary["policy"]
    if policy["arl"] is not None:
        text = f"On average at least {policy['arl']:g} batches lie between false alarms"
    else:
        text = f"Without a change, the probability of any alarm is at most {policy['alpha']:g}"
    if policy["tolerance"]:
        text += f", with up to {policy['tolerance']:.0%} contaminated rows"
    if policy["patience"] > 1:
        text += f"; an alarm takes {policy['patience']} crossings"
    unit = "blocks" if any(group["blocks"] for group in summary["groups"]) else "rows"
    return f"{text}, if {unit} are exchangeable."
