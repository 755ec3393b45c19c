"""Sentences and short summaries of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from isodepth.data.arrays import listed
from isodepth.data.kinds import attention_lines, column_lines
from isodepth.data.results import p_text

# Columns are named until their contributions reach this sum, three at most.
_NAMED_SHARE = 0.6
_MOST_NAMED = 3
# Changes and rows in a summary of at most 12 lines.
_MOST_CHANGES, _MOST_ROWS = 4, 3
# Rows with one unusual value are named in the headline from this fraction of a sample on.
_HEADLINE_SHARE = 0.05
NOT_COMPUTED = "chance_level() gives the distances of random splits"


class Headline(NamedTuple):
    """Headline of a report and its status: "differs", "alike" or "open"."""

    sentence: str
    kind: str


def largest_contributions(shares: Sequence[tuple[str, float]]) -> str:
    """List the columns with the largest contributions.

    Examples
    --------
    >>> largest_contributions([("dewp", 0.35), ("temp", 0.33), ("wind", 0.32)])
    'dewp 35%, temp 33%'
    """
    named, total = [], 0.0
    for name, share in shares[:_MOST_NAMED]:
        named.append(f"{name} {share:.0%}")
        total += share
        if total >= _NAMED_SHARE:
            break
    return ", ".join(named)


def comparison_headline(
    comparison: Any, test: Any, names: Sequence[str], rows: Any = None
) -> Headline:
    """Return one sentence of at most 25 words: whether the samples differ, and how.

    One of `comparison` and `test` may be None. If many rows have one unusual value, such as -9999,
    the headline names these rows: they may cause all other changes.

    Parameters
    ----------
    rows : SuspiciousRows or None
    """
    x, y = names
    if test is None:
        return Headline(
            f"{x} and {y} are at distance {comparison.distance:.3g}, not tested.", "open"
        )
    p = f"p = {p_text(test.pvalue)}"
    beyond = f" beyond a tolerance of {test.tolerance:g}" if test.tolerance else ""
    if not test.significant:
        return Headline(f"No significant difference between {x} and {y}{beyond} ({p}).", "alike")
    wrong = _wrong_rows(rows, names, _HEADLINE_SHARE)
    change = wrong[0] if wrong else test.strongest_change
    return Headline(f"{y} differs from {x}{beyond} ({p}): {change}.", "differs")


def _wrong_rows(rows: Any, names: Sequence[str], least: float = 0.0) -> list[str]:
    """Describe rows with one unusual value, if they are a fraction of at least `least`."""
    repeated = () if rows is None else rows.repeated
    return [
        each.text(names["XY".index(each.sample)]) for each in repeated if each.fraction >= least
    ]


def remarks(result: Any, test: Any, rows: Any, names: Sequence[str]) -> list[str]:
    """Return the parts of the second line: doubtful columns, wrong rows, more changes.

    Parameters
    ----------
    rows : SuspiciousRows or None
    """
    kinds = (result if test is None else test).kinds
    parts = attention_lines(kinds)
    wrong = _wrong_rows(rows, names)
    headlined = test is not None and test.significant and _wrong_rows(rows, names, _HEADLINE_SHARE)
    parts += wrong[1:] if headlined else wrong
    if headlined:
        parts.append(f"strongest change: {test.strongest_change}")
    if test is not None and len(test.changes) > 1:
        more = len(test.changes) - 1
        parts.append(f"{more} more change{'s' * (more > 1)}")
    if rows is not None:
        parts.append(rows.summary(names))
        if rows.values:
            count = len(rows.values)
            parts.append(f"{count} value{'s' * (count > 1)} of categories in one sample only")
    parts += [line for line in column_lines(kinds) if line.startswith("numbers: ")]
    omitted = [kind.column for kind in kinds if kind.use == "left out"]
    if omitted:
        parts.append(f"not compared: {listed(omitted, 3)}")
    missing = result.missing
    if missing is not None and (missing.x.n_dropped or missing.y.n_dropped):
        dropped = missing.x.n_dropped + missing.y.n_dropped
        difference = missing.difference(names) if test is None else ""
        parts.append(f"{dropped} rows dropped: {difference or 'missing values'}")
    return parts


def distance_sentence(comparison: Any, chance: Any) -> str:
    """Describe the distance beside the level of chance, or the reason for its omission.

    Parameters
    ----------
    chance : ChanceLevel or str
    """
    sentence = f"distance {comparison.distance:.4g} in {comparison.units}; {chance}"
    if comparison.test is not None and not isinstance(chance, str):
        sentence += " (the test looks at more than the distance)"
    return sentence


def summary_lines(
    result: Any,
    names: Sequence[str] = ("X", "Y"),
    *,
    rows: Any = None,
    chance: Any = NOT_COMPUTED,
) -> list[str]:
    """Return at most 12 lines about a comparison or a test, in the order of its report.

    Parameters
    ----------
    result : Comparison or TwoSampleResult
    rows : SuspiciousRows or None
    chance : ChanceLevel, or str with the reason for its omission
    """
    alone = result.result_type == "test"
    test, comparison = (result, None) if alone else (result.test, result)
    lines = [comparison_headline(comparison, test, names, rows).sentence]
    second = "; ".join(remarks(result, test, rows, names))
    lines += [second] if second else []
    if test is not None:
        lines += [str(change) for change in test.changes[1 : 1 + _MOST_CHANGES]]
        lines += [test.tolerance_range] if test.tolerance_range else []
    elif comparison is not None:
        lines.append(f"largest contributions: {largest_contributions(comparison.contributions)}")
    if rows is not None:
        repeated = {(each.sample, each.value) for each in rows.repeated}
        single = [row for row in rows.rows if (row.sample, row.value) not in repeated]
        lines += [row.text(names["XY".index(row.sample)]) for row in single[:_MOST_ROWS]]
    elif getattr(result, "keeps_rows", True):
        lines.append("suspicious_rows() lists the rows that look wrong")
    if comparison is not None:
        if chance is NOT_COMPUTED and not comparison.keeps_rows:
            chance = "a level of chance needs the rows, which were read in chunks"
        lines.append(distance_sentence(comparison, chance))
        lines.append(comparison.signature)
    if test is not None and comparison is None:
        lines.append(test.signature)
    moved = getattr(result, "moved_from", None)
    return [*lines, f"rows were copied from {moved} to the host"] if moved else lines


def monitor_headline(verdicts: Sequence[Any], alarm: bool) -> Headline:
    """Return the headline of a monitor; `alarm` tells whether there is an alarm now."""
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
    """Return the guarantee of a monitor, from its `to_dict`."""
    policy = summary["policy"]
    if policy["arl"] is not None:
        text = f"On average at least {policy['arl']:g} batches lie between false alarms"
    else:
        text = f"Without a change, the probability of any alarm is at most {policy['alpha']:g}"
    if policy["tolerance"]:
        text += f", with up to {policy['tolerance']:.0%} contaminated rows"
    if policy["patience"] > 1:
        text += f"; an alarm takes {policy['patience']} crossings"
    unit = "blocks" if any(own["blocks"] for own in summary["groups"]) else "rows"
    return f"{text}, if {unit} are exchangeable."
