"""Settings in words, and how to repeat a result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from isodepth.api import Metric
from isodepth.errors import IsodepthError
from isodepth.metric.signature import Signature
from isodepth.report.parts import table

_WORDS = {
    "depth": "depth that orders the rows of each sample",
    "statistic": "statistic of the test",
    "tolerance": "share of foreign rows that is tolerated",
    "resamples": "relabelings of the test",
    "blocks": "what changes sides together",
    "p": "power of the mean over levels",
    "q": "power of the mean over directions (inf: the largest)",
    "eps": "share of the outermost rows that is left out",
    "levels": "levels",
    "dirs": "directions: family and number",
    "refine": "steps of refinement",
    "seed": "random seed",
    "gap": "how the largest gap is found",
    "region": "kind of region",
    "scale": "units of the columns",
    "normalize": "mean over levels, or plain integral",
    "dtype": "precision",
    "v": "version of isodepth",
}


def settings_table(signature: str) -> str:
    """The settings that a signature holds, in words."""
    parts = [part.partition("=") for part in signature.split("|")[1:]]
    return table(
        {
            "setting": [_WORDS.get(key, key) for key, _, _ in parts],
            "name": [key for key, _, _ in parts],
            "value": [value for _, _, value in parts],
        }
    )


def compare_call(comparison: Any, sources: Sequence[str] | None) -> str:
    """Python that makes the comparison again, as far as its signature says how."""
    lines = ["import isodepth", ""]
    if sources is not None:
        lines += [
            f"X = isodepth.readers.read_table({json.dumps(sources[0])})",
            f"Y = isodepth.readers.read_table({json.dumps(sources[1])})",
        ]
        lines[0] = "import isodepth, isodepth.readers"
    options = metric_options(comparison.signature)
    if options is None:
        lines += [
            "# Directions, scales or a depth of one's own were used: give them again.",
            "result = isodepth.compare(X, Y, ...)",
        ]
        return "\n".join(lines)
    if comparison.missing is not None:
        options["nan_policy"] = "omit"
    test = comparison.test
    if test is not None:
        options["n_resamples"] = len(test.null_distribution)
        if test.tolerance:
            options["tolerance"] = test.tolerance
        if test._blocks is not None:
            lines.append("# blocks: the label of each row's block, for X and for Y")
    inner = ", ".join(f"{name}={value!r}" for name, value in options.items())
    if test is not None and test._blocks is not None:
        inner += ", blocks=(of_x, of_y)"
    lines += [f"result = isodepth.compare(X, Y, {inner})", 'result.report("report.html")']
    return "\n".join(lines)


def metric_options(signature: str) -> dict[str, Any] | None:
    """What to give `isodepth.compare`, without what is usual; None where a signature cannot say."""
    try:
        options = Signature.parse(signature).options()
        usual = Metric()
        Metric(**options)
    except IsodepthError:
        return None
    return {
        name: value
        for name, value in options.items()
        if getattr(usual, name) != value or name == "random_state"
    }
