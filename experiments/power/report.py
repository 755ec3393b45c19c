"""Tables, verdicts and figures of the study, from what is on disk."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from experiments.power.cells import METHODS, Cell, cells
from experiments.power.results import Rate, finished

ALPHA = 0.05


def rates(folder: Path, alpha: float = ALPHA) -> dict[str, dict[str, Rate]]:
    """Rejections of every method in every cell that has been measured."""
    values: dict[str, dict[str, dict[str, float]]] = {}
    for line in finished(folder):
        for method, found in line["p"].items():
            # A test that was done twice gave the same: it counts once.
            values.setdefault(line["cell"], {}).setdefault(method, {}).update(found)
    return {
        key: {
            # P-values are multiples of 1 / (B + 1): what is a hair above a level is on it.
            method: Rate(sum(p <= alpha * (1 + 1e-6) for p in found.values()), len(found))
            for method, found in by_method.items()
        }
        for key, by_method in values.items()
    }


def most_allowed(tests: int, alpha: float = ALPHA) -> float:
    """The largest share of rejections within two standard errors of the level."""
    return alpha + 2 * math.sqrt(alpha * (1 - alpha) / tests)


def table(
    chosen: Sequence[Cell], found: dict[str, dict[str, Rate]], heads: Sequence[str]
) -> list[str]:
    """Markdown: a row a cell, a column a method; percent of rejections."""
    methods = [m for m in METHODS if any(m in found.get(cell.key, {}) for cell in chosen)]
    lines = [
        "| " + " | ".join([*heads, *methods]) + " |",
        "|" + "---|" * (len(heads) + len(methods)),
    ]
    for cell in chosen:
        here = found.get(cell.key)
        if here is None:
            continue
        names = {
            "kind": cell.kind, "n": f"{cell.n}", "d": f"{cell.d}", "share": f"{cell.share:.0%}",
            "in": "both" if cell.both else "one",
        }  # fmt: skip
        marks = [f"{100 * here[m].share:.3g}" if m in here else "" for m in methods]
        lines.append("| " + " | ".join([*(names[head] for head in heads), *marks]) + " |")
    return lines


def verdicts(size: str, folder: Path) -> list[str]:
    """What was promised, beside what was measured."""
    every = cells(size)
    at5, at1 = rates(folder), rates(folder, 0.01)
    lines = []
    for cell in every:
        if cell.group == "level" and cell.key in at5:
            five, one = at5[cell.key]["DR q=2"], at1[cell.key]["DR q=2"]
            good = 0.043 <= five.share <= 0.057 and 0.007 <= one.share <= 0.013
            lines.append(
                f"{_word(good)}: clean null, {cell.kind}, {five.tests} tests: {five.share:.4f} at "
                f"5%, {one.share:.4f} at 1%"
            )
    lines += _dirty(every, at5)
    for cell in every:
        if cell.group == "power" and cell.key in at5:
            rate = at5[cell.key]["DR tolerance 0.05"]
            lines.append(
                f"{_word(rate.share >= 0.9)}: power at {cell.kind}, n = {cell.n}, d = {cell.d}: "
                f"{rate.share:.3f} of {rate.tests}"
            )
    return lines


def _dirty(every: Iterable[Cell], found: dict[str, dict[str, Rate]]) -> list[str]:
    method = "DR tolerance 0.05"
    there = [(cell, found[cell.key][method]) for cell in every
             if cell.group == "tolerance" and cell.key in found]  # fmt: skip
    if not there:
        return []
    worst = max(there, key=lambda pair: pair[1].share)
    over = [(cell, rate) for cell, rate in there if rate.share > most_allowed(rate.tests)]
    complete = sum(rate.tests >= cell.tests for cell, rate in there)
    lines = [
        f"{_word(not over)}: tolerance 5%, contamination 5%: {len(there)} cells ({complete} "
        f"complete), {len(over)} above the level plus two standard errors; the most is "
        f"{worst[1].share:.3f} of {worst[1].tests} ({worst[0].key})"
    ]
    lines += [f"  above: {cell.key}: {rate.share:.3f} of {rate.tests}" for cell, rate in over]
    return lines


def publish(size: str, folder: Path, page: Path) -> None:
    """Fill the tables of a page, between `<!-- study: NAME -->` and `<!-- /study -->`."""
    every, found = cells(size), rates(folder)
    blocks = {
        "promises": [f"* {line}" for line in verdicts(size, folder)],
        "tolerance": _part(every, found, "tolerance", ["kind", "in", "n", "d"]),
        "power": _part(every, found, "power", ["kind", "n", "d"]),
        "masked": _part(every, found, "masked", ["kind", "n", "d"]),
        "laws": _part(every, found, "laws", ["kind", "n", "d"]),
        "dirt": _part(every, found, "dirt", ["kind", "share", "n"]),
    }
    text = page.read_text(encoding="utf-8")
    for name, lines in blocks.items():
        start, stop = f"<!-- study: {name} -->\n", "<!-- /study -->"
        head, _, rest = text.partition(start)
        _, _, tail = rest.partition(stop)
        text = head + start + "".join(f"{line}\n" for line in lines) + stop + tail
    page.write_text(text, encoding="utf-8")


def _part(
    every: Iterable[Cell], found: dict[str, dict[str, Rate]], group: str, heads: Sequence[str]
) -> list[str]:
    chosen = [cell for cell in every if cell.group == group]
    if not any(cell.key in found for cell in chosen):
        return ["*Not measured yet.*"]
    return table(chosen, found, heads)


def _word(good: bool) -> str:
    return "holds" if good else "DOES NOT HOLD"


def write_report(size: str, folder: Path) -> None:
    """Write tables.md, rates.json and, where matplotlib is there, the figures."""
    every, found = cells(size), rates(folder)
    parts: list[tuple[str, list[Cell], list[str]]] = [
        ("Level, clean null", [c for c in every if c.group == "level"], ["kind", "n", "d"]),
        ("Power", [c for c in every if c.group == "power"], ["kind", "n", "d"]),
        (
            "Contamination of 5%",
            [c for c in every if c.group == "tolerance"],
            ["kind", "in", "n", "d"],
        ),
        ("Power with 5% of dirt in both samples", [c for c in every if c.group == "masked"],
         ["kind", "n", "d"]),
        ("Dirt in one sample, d = 5", [c for c in every if c.group == "dirt"],
         ["kind", "share", "n"]),
        ("Laws", [c for c in every if c.group == "laws"], ["kind", "n", "d"]),
    ]  # fmt: skip
    lines: list[str] = []
    for title, chosen, heads in parts:
        if any(cell.key in found for cell in chosen):
            lines += [f"## {title}", "", *table(chosen, found, heads), ""]
    spoken = verdicts(size, folder)
    print("\n".join(spoken))
    text = "\n".join([*lines, "## Verdicts", "", *(f"* {line}" for line in spoken), ""])
    (folder / "tables.md").write_text(text, encoding="utf-8")
    plain: dict[str, Any] = {
        key: {method: list(rate) for method, rate in by.items()} for key, by in found.items()
    }
    (folder / "rates.json").write_text(json.dumps(plain, indent=0, sort_keys=True))
    try:
        from experiments.power.figures import draw
    except ImportError as error:
        print(f"no picture: {error}")
        return
    draw(every, found, folder)
