"""Sentences of results agree with their own numbers, whatever these are."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np

from isodepth.data.results import p_text
from isodepth.report.sentences import comparison_headline
from isodepth.significance.result import Change, ColumnTest, Component, TwoSampleResult

KINDS = ("location", "spread", "shape", "shares")
SIZES = {"very small": (0, 0.08), "small": (0.08, 0.2), "medium": (0.2, 0.31), "large": (0.31, 2)}


def random_result(rng: np.random.Generator) -> TwoSampleResult:
    """A result as the test makes them: parts differ only if the whole does."""
    null = rng.normal(size=int(rng.integers(5, 2000)))
    p = float(rng.choice([rng.uniform(), 0.05, rng.uniform(0.0499, 0.0501), 1 / (1 + len(null))]))
    columns = []
    for at in range(int(rng.integers(1, 9))):
        own = max(p, float(rng.choice([rng.uniform(), 0.001])))
        shift = None if rng.random() < 0.3 else float(rng.normal() * 10.0 ** rng.integers(-3, 2))
        kind = "shares" if shift is None else str(rng.choice(KINDS[:3]))
        columns.append(ColumnTest(f"column {at}", kind, float(rng.beta(0.5, 2)), shift, own))
    changes = [
        Change(c.kind, (c.column,), f"the {c.kind} of {c.column}", c.pvalue)
        for c in columns
        if c.pvalue <= 0.05 and rng.random() < 0.8
    ]
    tolerance = None if rng.random() < 0.5 else float(rng.uniform(0, 0.3))
    smallest = None
    if tolerance is not None:
        low, high = (tolerance, 1.0) if p <= 0.05 else (0.0, tolerance)
        smallest = float(rng.uniform(low, high))
    return TwoSampleResult(
        statistic=float(rng.normal()), pvalue=p, null_distribution=null,
        components=[Component("columns", "location", "column 0", 1.0, p)],
        changes=changes, columns=columns, n_rows=(100, 200), method="aggregated",
        tolerance=tolerance, smallest_tolerance=smallest, missing=None, notes=(), kinds=(),
        shares=[], signature="two-sample|seed=0",
    )  # fmt: skip


def contradictions(text: str, result: TwoSampleResult) -> list[str]:
    """What a sentence says that its numbers do not."""
    p, found = result.pvalue, []
    shown = float(re.search(r"p = ([\d.e-]+\d)", text).group(1))  # type: ignore[union-attr]
    if (shown <= 0.05) != (p <= 0.05) or not np.isclose(shown, p, rtol=1e-2):
        found.append("p")
    differs = re.search(r"samples differ|differs significantly|effect", text, re.IGNORECASE)
    none = re.search(r"no significant difference", text, re.IGNORECASE)
    if bool(differs) == bool(none) or bool(none) != (p > 0.05):
        found.append("whether they differ")
    effect = re.search(r"((?:very )?\w+) effect by columns, largest in (column \d)", text)
    if effect:
        column = next(c for c in result.columns if c.column == effect.group(2))
        low, high = SIZES[effect.group(1)]
        below = [c for c in result.columns if c.pvalue <= 0.05]
        if not low <= column.difference < high or column not in below:
            found.append("effect")
        if column.difference < max(c.difference for c in below):
            found.append("largest")
        if ("medians" in text) != (column.shift is not None):
            found.append("medians")
    if (effect is None) == (p <= 0.05 and any(c.pvalue <= 0.05 for c in result.columns)):
        found.append("effect is missing")
    bound = re.search(r"every tolerance below ([\d.e-]+)%", text)
    if bound and not (
        np.isclose(float(bound.group(1)), 100 * result.smallest_tolerance, rtol=0.05)
        and result.smallest_tolerance > (result.tolerance or 0)
    ):
        found.append("tolerance")
    if bool(bound) != (p <= 0.05 and result.smallest_tolerance is not None):
        found.append("tolerance is missing")
    return found


def test_no_sentence_contradicts_its_numbers() -> None:
    rng = np.random.default_rng(0)
    for number in range(1000):
        result = random_result(rng)
        comparison: Any = SimpleNamespace(
            distance=rng.exponential(), contributions=[("column 0", 0.7), ("column 1", 0.3)]
        )
        for about in (comparison, None):
            headline = comparison_headline(about, result, ("June", "July"))
            assert contradictions(headline.sentence, result) == [], (number, headline.sentence)
            assert headline.kind == ("differs" if result.significant else "alike")
        assert contradictions(result.summary, result) == [], (number, result.summary)


def test_pvalues_are_shown_on_their_side_of_the_level() -> None:
    assert [p_text(p) for p in (0.05, 0.0501, 0.050001, 0.3333333)] == [
        "0.05", "0.0501", "0.050001", "0.333",
    ]  # fmt: skip
