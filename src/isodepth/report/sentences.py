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
    """What a monitor has found after all batches so far; `alarm`: whether there is one now."""
    if not verdicts:
        return Headline("No batch has been checked yet.", "open")
    last = verdicts[-1]
    evidence = f"evidence {last.evidence:.3g}, threshold {last.threshold:g}"
    alarms = [verdict.batch for verdict in verdicts if verdict.alarm]
    if alarm and last.evidence >= last.threshold:
        text = f"Alarm since batch {last.alarm_since} of {last.batch}: {evidence}"
        largest = largest_contributions(last.columns)
        named = "".join(f", {change}" for change in last.categories)
        text = f"{text}; largest contributions to the last batch: {largest}{named}."
        return Headline(text, "differs")
    if alarm:
        text = (
            f"The alarm of batch {last.alarm_since} has not been reset, but the evidence has "
            f"fallen below the threshold since (batch {last.batch}: {evidence})."
        )
        return Headline(text, "open")
    if alarms:
        text = f"No alarm now, after one until batch {alarms[-1]} of {last.batch}"
        # Before the next batch, the last evidence is that of the alarm that was reset.
        return Headline(f"{text}{'.' if last.alarm else f': {evidence}.'}", "open")
    return Headline(f"No alarm in {last.batch} batch(es): {evidence}.", "alike")


def alarm_promise(summary: dict[str, Any]) -> str:
    """What the alarms of a monitor promise, from its `to_dict`."""
    policy = summary["policy"]
    if policy["arl"] is not None:
        text = f"On average at least {policy['arl']:g} batches lie between false alarms"
    else:
        text = f"Without drift, the probability of any alarm is at most {policy['alpha']:g}"
    if policy["tolerance"]:
        text += f", with up to {policy['tolerance']:.0%} of the rows of a batch contaminated"
    if policy["patience"] > 1:
        text += f"; an alarm takes {policy['patience']} batches"
    if summary["calibration"] == "resampled":
        text += "; approximately, as undrifted batches were resampled"
    return f"{text}."
