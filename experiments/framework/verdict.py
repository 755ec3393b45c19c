"""Verdicts: a statement, the measured values, and whether it holds."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

HOLDS = "holds"
IN_PART = "holds in part"
FAILS = "does not hold"
#: Outcome of measurements about which the paper states nothing.
REMARK = "remark"


@dataclass(frozen=True)
class Verdict:
    """Statement with the measured values, and whether it holds.

    Attributes
    ----------
    statement : str
        Statement of the paper or of this library.
    measured : str
        Measured values with their spread.
    outcome : str
        "holds", "does not hold", "holds in part" or "remark".
    source : str
        "paper", or "isodepth" for statements of this library.
    """

    statement: str
    measured: str
    outcome: str
    source: str = "paper"

    def __str__(self) -> str:
        lines = []
        for label, text in (
            (f"{self.source}:", self.statement),
            ("measured:", self.measured),
            ("verdict:", self.outcome.upper()),
        ):
            lines += textwrap.wrap(
                text, 96, initial_indent=f"  {label:10}", subsequent_indent=" " * 12
            )
        return "\n".join(lines)


def outcome(checks: Iterable[bool]) -> str:
    """Return "holds" if all checks hold, "does not hold" if none does, else "holds in part"."""
    results = list(checks)
    if all(results):
        return HOLDS
    return IN_PART if any(results) else FAILS


def percent(value: float, digits: int = 1) -> str:
    """Format a fraction as a percentage with its sign, such as "+1.5%"."""
    return f"{100 * value:+.{digits}f}%"


def spread(values: np.ndarray, digits: int = 1) -> str:
    """Format the mean and the quartiles of relative errors as percentages."""
    low, high = np.quantile(values, [0.25, 0.75])
    return (
        f"{percent(float(np.mean(values)), digits)} "
        f"[{100 * low:+.{digits}f}, {100 * high:+.{digits}f}]"
    )


def mean_and_error(values: np.ndarray, form: str = ".3g") -> str:
    """Format a mean with its standard error; `form` is the format of both numbers."""
    error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{np.mean(values):{form}} ± {error:.1g}"
