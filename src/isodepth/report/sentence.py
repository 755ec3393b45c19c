"""The verdict in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: p-values up to this one are called a difference.
LEVEL = 0.05
# Columns are named until they carry this much of a difference, three at most.
_CARRIED = 0.6
_MOST_NAMED = 3


def carriers(shares: Sequence[tuple[str, float]]) -> str:
    """The leading columns with their shares: "dewp 35%, temp 33%"."""
    named, total = [], 0.0
    for name, share in shares[:_MOST_NAMED]:
        named.append(f"{name} {share:.0%}")
        total += share
        if total >= _CARRIED:
            break
    return ", ".join(named)


def comparison_sentence(comparison: Any, names: Sequence[str]) -> tuple[str, str]:
    """What a comparison says, and its kind: "differs", "alike" or, where untested, "open"."""
    x, y = names
    carried = carriers(comparison.column_shares)
    test = comparison.test
    if test is None:
        return (
            f"{y} is at distance {comparison.distance:.3g} from {x}, carried by {carried}; "
            "it was not tested how much of that is chance.",
            "open",
        )
    expected = comparison.null_profile.expected
    numbers = (
        f"distance {comparison.distance:.3g} where {expected:.3g} is expected of equal laws, "
        f"p = {test.pvalue:.2g}"
    )
    beyond = f" by more than a share {test.tolerance:g} of foreign rows" if test.tolerance else ""
    if test.pvalue <= LEVEL:
        return f"{y} differs from {x}{beyond}: {numbers}; carried by {carried}.", "differs"
    return f"No difference between {x} and {y}{beyond} beyond chance: {numbers}.", "alike"


def monitor_sentence(verdicts: Sequence[Any]) -> tuple[str, str]:
    """What a monitor has to say after all batches so far."""
    if not verdicts:
        return "No batch has been checked yet.", "open"
    last = verdicts[-1]
    rang = [verdict.batch for verdict in verdicts if verdict.alarm]
    if last.alarm:
        begun = f"since batch {last.alarm_since} of {last.batch}"
        return (
            f"The alarm rings {begun}: evidence {last.evidence:.3g}, which rings at "
            f"{last.threshold:g}; the last batch is carried by {carriers(last.columns)}.",
            "differs",
        )
    if rang:
        return (
            f"The alarm rang before, last at batch {rang[-1]} of {last.batch}, and does not ring "
            f"now: evidence {last.evidence:.3g}, which rings at {last.threshold:g}.",
            "open",
        )
    return (
        f"No alarm in {last.batch} batch(es): evidence {last.evidence:.3g}, which rings at "
        f"{last.threshold:g}.",
        "alike",
    )


def matrix_sentence(pairs: Sequence[tuple[str, str, float]]) -> tuple[str, str]:
    """Which of many samples are closest and furthest; pairs by rising distance."""
    a, b, near = pairs[0]
    if len(pairs) == 1:
        return f"{a} and {b} are at distance {near:.3g}.", "open"
    c, d, far = pairs[-1]
    return (
        f"{a} and {b} are closest to each other, at distance {near:.3g}; {c} and {d} are furthest "
        f"apart, at {far:.3g}.",
        "open",
    )
