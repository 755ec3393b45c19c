"""What a result says, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from isodepth.data.results import p_text

# Columns are named until they make up this much of a difference, three at most.
_NAMED_SHARE = 0.6
_MOST_NAMED = 3


class Headline(NamedTuple):
    """The sentence to read first, and its kind: "differs", "alike" or "open"."""

    sentence: str
    kind: str


def largest_contributions(shares: Sequence[tuple[str, float]]) -> str:
    """The leading columns with their shares.

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


def comparison_headline(comparison: Any, test: Any, names: Sequence[str]) -> Headline:
    """Whether two samples differ by the test, with the distance beside it.

    Either may be None: a comparison that was not tested, and a test of categories alone. Values
    that are missing more often in one of the samples are a difference of their own.
    """
    x, y = names
    size = largest = ""
    left_out = (comparison if test is None else test).missing
    difference = left_out.difference(names) if left_out else ""
    missing = f"; {difference}" if difference else ""
    if comparison is not None:
        size = f"; distance {comparison.distance:.3g}"
        largest = f"; largest contributions: {largest_contributions(comparison.contributions)}"
    if test is None:
        apart = f"distance {comparison.distance:.3g}"
        return Headline(f"{y} is at {apart} from {x}, not tested{largest}{missing}.", "open")
    beyond = f" beyond a share {test.tolerance:g} of contaminated rows" if test.tolerance else ""
    p = f"p = {p_text(test.pvalue)}"
    if not test.significant:
        text = f"No significant difference between {x} and {y}{beyond}: {p}{size}{missing}."
        return Headline(text, "alike")
    parts = [p, test.strongest_change, test.tolerance_range]
    text = ", ".join(filter(None, parts))
    text = f"{y} differs significantly from {x}{beyond}: {text}{size}{largest}{missing}."
    return Headline(text, "differs")


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
