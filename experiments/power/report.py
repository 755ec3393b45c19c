"""Tables, verdicts and figures of the study of power, from the results on disk."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from experiments.power.cells import METHODS, Cell, cells
from experiments.power.results import Rate, finished

ALPHA = 0.05
#: Tables: group of the cells, title, and attributes that distinguish the cells.
PARTS = {
    "level": ("Level, same distribution", ["kind", "n", "d"]),
    "columns": ("Columns called different", ["kind", "n"]),
    "kinds": ("Kind and column named rightly, of rejections", ["kind", "n"]),
    "laws": ("Power", ["kind", "n", "d"]),
    "held out": ("Power against other changes", ["kind", "n", "d"]),
    "power": ("Power with a tolerance", ["kind", "n", "d"]),
    "masked": ("Power with 5% contaminated rows in both samples", ["kind", "n", "d"]),
    "tolerance": ("Contamination of 5%", ["kind", "in", "n", "d"]),
    "attacks": ("Contamination that looks at the clean rows, discrete columns", ["kind", "n", "d"]),
    "shares": ("Other shares of contaminated rows, d = 5", ["kind", "share", "n"]),
}

#: The table on the page for everyone.
SUMMARY = {
    ("laws", "null", 200, 5), ("laws", "shift 0.35", 200, 5), ("laws", "random shift 0.35", 200, 5),
    ("laws", "random shift 0.35", 1000, 50), ("laws", "scale 1.15", 200, 5),
    ("laws", "correlation 0.5", 200, 5),
    ("laws", "mixture inside", 1000, 5), ("laws", "sides swapped", 1000, 5),
}  # fmt: skip
SUMMARY_METHODS = ("aggregated", "regions", "tolerance 0.05", "energy", "mmd", "ks + holm")


def rates(folder: Path, alpha: float = ALPHA) -> dict[str, dict[str, Rate]]:
    """Return the rejection rates of every method in every finished cell, by cell and method."""
    values: dict[str, dict[str, dict[str, float]]] = {}
    for line in finished(folder):
        for method, found in line["p"].items():
            # A repeated test has the same p-value and is counted once.
            values.setdefault(line["cell"], {}).setdefault(method, {}).update(found)
    return {
        key: {
            # P-values are multiples of 1 / (B + 1). Rounding may put one just above the level.
            method: Rate(sum(p <= alpha * (1 + 1e-6) for p in found.values()), len(found))
            for method, found in by_method.items()
        }
        for key, by_method in values.items()
    }


def most_allowed(tests: int, alpha: float = ALPHA, errors: float = 2.0) -> float:
    """Return the maximum rejection rate that agrees with the level `alpha`.

    It is within `errors` standard errors of `alpha`, for this number of tests.
    """
    return alpha + errors * math.sqrt(alpha * (1 - alpha) / tests)


#: Methods that are measured separately from our tests, and kept if our tests change.
RIVALS = {"energy", "mmd", "dcmmd 0.05", "dcmmd 0.1", "ks + holm"}


def table(
    chosen: Sequence[Cell],
    found: dict[str, dict[str, Rate]],
    heads: Sequence[str],
    allowed: Sequence[str] = METHODS,
) -> list[str]:
    """Return a Markdown table of rejections in percent: rows are cells, columns are methods.

    `chosen` are the cells, `found` has the rates, `heads` are the names of the cell attributes in
    the first columns, and `allowed` the methods.
    """
    methods = [m for m in allowed if any(m in found.get(cell.key, {}) for cell in chosen)]
    lines = [
        "| " + " | ".join([*heads, *methods]) + " |",
        "|" + "---|" * (len(heads) + len(methods)),
    ]
    for cell in chosen:
        here = found.get(cell.key, {})
        if not here.keys() - RIVALS:  # not measured with this version of the test
            continue
        names = {
            "kind": cell.kind, "n": f"{cell.n}", "d": f"{cell.d}", "share": f"{cell.share:.0%}",
            "in": "both" if cell.both else "one",
        }  # fmt: skip
        marks = [f"{100 * here[m].share:.3g}" if m in here else "" for m in methods]
        lines.append("| " + " | ".join([*(names[head] for head in heads), *marks]) + " |")
    return lines


def verdicts(size: str, folder: Path) -> list[str]:
    """Return the expected and the measured properties of the test, as lines of Markdown.

    `size` is that of the study, see `cells`, and `folder` has its results.
    """
    every = cells(size)
    at5, at1 = rates(folder), rates(folder, 0.01)
    lines = []
    for cell in (cell for cell in every if cell.group == "level" and cell.key in at5):
        for method, five in at5[cell.key].items():
            one = at1[cell.key][method]
            # Three standard errors; adjusted p-values, and ties, may be below.
            good = five.share <= most_allowed(five.tests, 0.05, 3) and one.share <= most_allowed(
                one.tests, 0.01, 3
            )
            lines.append(
                f"{_word(good)}: same distribution, {cell.kind}, {method}, {five.tests} tests: "
                f"{five.share:.4f} at 5%, {one.share:.4f} at 1%"
            )
    lines += _at_most(every, at5, "columns", "column 0", "unchanged column called")
    for group, what in (("tolerance", "contamination 5%"), ("attacks", "attacks with 5%")):
        lines += _at_most(every, at5, group, "tolerance 0.05", f"tolerance 5%, {what}")
    lines += _behind(every, at5)
    for cell in every:
        if cell.group == "kinds" and cell.n >= 1000 and "right kind" in at5.get(cell.key, {}):
            rate = at5[cell.key]["right kind"]
            lines.append(
                f"{_word(rate.share >= 0.9)}: {cell.kind} is named rightly in {rate.share:.3f} of "
                f"{rate.tests} rejections, n = {cell.n}"
            )
    return lines


def _at_most(
    every: Iterable[Cell], found: dict[str, dict[str, Rate]], group: str, method: str, what: str
) -> list[str]:
    """Return lines of the report about the level of a method in the cells of a group.

    The rule is that the method rejects in at most 5% of the tests of each cell, up to two standard
    errors. `what` describes the rule.
    """
    there = [(cell, found[cell.key][method]) for cell in every
             if cell.group == group and cell.kind != "selective"
             and method in found.get(cell.key, {})]  # fmt: skip
    if not there:
        return []
    worst = max(there, key=lambda pair: pair[1].share)
    over = [(cell, rate) for cell, rate in there if rate.share > most_allowed(rate.tests)]
    complete = sum(rate.tests >= cell.tests for cell, rate in there)
    lines = [
        f"{_word(not over)}: {what}: {len(there)} cells ({complete} complete), {len(over)} above "
        f"the level plus two standard errors; the most is {worst[1].share:.3f} of "
        f"{worst[1].tests} ({worst[0].key})"
    ]
    lines += [f"  above: {cell.key}: {rate.share:.3f} of {rate.tests}" for cell, rate in over]
    return lines


def _behind(every: Iterable[Cell], found: dict[str, dict[str, Rate]]) -> list[str]:
    """Return lines of the report about differences in power from the best of other methods.

    They have the largest difference over cells with 200 and with 1000 rows.
    """
    others = ("regions", "energy", "mmd", "ks + holm")
    lines = _held_out_summary(every, found)
    for n, allowed in ((200, 0.10), (1000, 0.05)):
        gaps = [
            (max(found[cell.key][m].share for m in others if m in found[cell.key])
             - found[cell.key]["aggregated"].share, cell)
            for cell in every
            if cell.group == "laws" and cell.n == n and cell.kind != "null"
            and "aggregated" in found.get(cell.key, {})
        ]  # fmt: skip
        if gaps:
            gap, cell = max(gaps, key=lambda pair: pair[0])
            lines.append(
                f"{_word(gap <= allowed)}: n = {n}, {len(gaps)} cells: at most {100 * gap:.1f} "
                f"points behind the best of {', '.join(others)} ({cell.key})"
            )
    return lines


def _held_out_summary(every: Iterable[Cell], found: dict[str, dict[str, Rate]]) -> list[str]:
    """Return lines with the mean power of each method on held-out changes.

    Changes are held out if they were not used to choose the weights of the statistics. The
    difference of isodepth from the best method is included.
    """
    methods = ("aggregated", "energy", "mmd", "ks + holm")
    chosen = [cell for cell in every if cell.group == "held out"
              and all(m in found.get(cell.key, {}) for m in methods)]  # fmt: skip
    if not chosen:
        return []
    shares = {m: [found[cell.key][m].share for cell in chosen] for m in methods}
    best = [max(row) for row in zip(*(shares[m] for m in methods), strict=True)]
    gaps = [b - own for b, own in zip(best, shares["aggregated"], strict=True)]
    worst = max(range(len(gaps)), key=gaps.__getitem__)
    means = ", ".join(f"{m} {100 * sum(v) / len(v):.1f}%" for m, v in shares.items())
    near = sum(gap <= 0.05 + 1e-9 for gap in gaps) / len(gaps)
    return [
        f"{_word(gaps[worst] <= 0.10 + 1e-9)}: held-out changes, {len(chosen)} cells: mean power "
        f"{means}; within 5 points of the best in {near:.0%} of cells, at most "
        f"{100 * gaps[worst]:.0f} points behind ({chosen[worst].key})"
    ]


def publish(size: str, folder: Path, page: Path) -> None:
    """Write the tables of a study into a page, between `<!-- study: NAME -->` and its end mark.

    The end mark is `<!-- /study -->`. `size` is that of the study, see `cells`, and `folder` has
    its results.
    """
    every, found = cells(size), rates(folder)
    blocks = {name: _part(every, found, name, heads) for name, (_, heads) in PARTS.items()}
    blocks["promises"] = [f"* {line}" for line in verdicts(size, folder)]
    chosen = [cell for cell in every if (cell.group, cell.kind, cell.n, cell.d) in SUMMARY]
    blocks["summary"] = table(chosen, found, ["kind", "n", "d"], SUMMARY_METHODS)
    text = page.read_text(encoding="utf-8")
    for name, lines in blocks.items():
        start, stop = f"<!-- study: {name} -->\n", "<!-- /study -->"
        if start not in text:
            continue
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
    """Write tables.md, rates.json and, if matplotlib is installed, the figures into a folder.

    `size` is that of the study, see `cells`. The folder has its results.
    """
    every, found = cells(size), rates(folder)
    lines: list[str] = []
    for group, (title, heads) in PARTS.items():
        chosen = [cell for cell in every if cell.group == group]
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
