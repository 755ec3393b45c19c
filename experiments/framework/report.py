"""`python -m experiments report`: write verdicts and figures of a run into the documentation."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.framework.experiment import Experiment, Results
from experiments.framework.figure import save
from experiments.framework.run import DEFAULT_FOLDERS, describe, load
from experiments.framework.verdict import FAILS, HOLDS, IN_PART, Verdict
from experiments.registry import ENTRIES

_COUNTS = re.compile(r"<!-- COUNTS -->\n.*?<!-- /COUNTS -->", re.DOTALL)
_VERDICT = re.compile(r"\| .* \| \*\*(.*?)\*\* \| `.*` \|$")
_PLACE = re.compile(r"<!-- VERDICTS -->\n.*?<!-- /VERDICTS -->", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments report", description=__doc__)
    parser.add_argument(
        "--results", type=Path, nargs="+", default=[DEFAULT_FOLDERS["reduced"]], metavar="DIR",
        help="folders with CSV files; of each experiment the first that is complete is taken, and "
        "where there is none what the page says of it stays",
    )  # fmt: skip
    parser.add_argument("--page", type=Path, default=Path("docs/reproduction.md"))
    parser.add_argument("--counts", action="store_true", help="only print the numbers of verdicts")
    options = parser.parse_args(arguments)
    if options.counts:
        print(counts(collect(options.results)[0].splitlines()))
        return 0
    page = options.page.read_text(encoding="utf-8")
    place = _PLACE.search(page)
    if not place:
        raise SystemExit(f"{options.page} has no place marked <!-- VERDICTS -->")
    table, pictures = collect(options.results, place[0].splitlines(), draw=True)
    filled = _PLACE.sub(lambda _: f"<!-- VERDICTS -->\n\n{table}\n<!-- /VERDICTS -->", page)
    summary = f"<!-- COUNTS -->\n\n{counts(table.splitlines())}\n\n<!-- /COUNTS -->"
    filled = _COUNTS.sub(lambda _: summary, filled)
    options.page.write_text(filled, encoding="utf-8")
    figures = options.page.parent / "figures"
    figures.mkdir(exist_ok=True)
    for name, picture in pictures.items():
        save(picture, figures / f"{name}.png")
    print(f"{options.page}: {len(pictures)} pictures in {figures}")
    return 0


def counts(lines: Sequence[str]) -> str:
    """Return the numbers of verdicts in a table of verdicts as a sentence.

    `lines` are the lines of the page. Statements of isodepth are counted apart.
    """
    found: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for line in lines:
        if match := _VERDICT.match(line):
            found[line.startswith("| (isodepth)")][match[1]] += 1

    def part(own: bool, noun: str) -> str:
        sizes = [found[own][outcome] for outcome in (HOLDS, IN_PART, FAILS)]
        verbs = ("hold", "hold in part", "do not hold")
        text = [f"{size} {verb}" for size, verb in zip(sizes, verbs, strict=True)]
        return f"Of {sum(sizes)} {noun}, {text[0]}, {text[1]} and {text[2]}."

    return f"{part(False, 'statements of the paper')} {part(True, 'statements of isodepth')}"


def collect(
    folders: Sequence[Path], former: Sequence[str] = (), draw: bool = False
) -> tuple[str, dict[str, Any]]:
    """Return the table of verdicts of the experiments in `folders` as Markdown, and the figures.

    Verdicts are computed from the CSV files in the folders. The second result maps names to
    figures; it is empty if `draw` is false. `former` has the lines of the previous table, which
    are kept for experiments without files.
    """
    rows: list[str] = []
    sizes: list[str] = []
    pictures: dict[str, Any] = {}
    for entry in ENTRIES.values():
        experiment = getattr(entry.load(), "EXPERIMENT", None) if entry.exists else None
        if not isinstance(experiment, Experiment):
            continue
        loaded = next(filter(None, (load(experiment, folder) for folder in folders)), None)
        if loaded is None:
            print(f"{entry.name}: no complete results in {', '.join(map(str, folders))}")
            rows += [line for line in former if line.endswith(f"| {_command(entry.name)} |")]
            sizes += [line for line in former if line.startswith(f"- `{entry.name}` (")]
            continue
        results, size = loaded
        rows += [_row(entry.name, verdict) for verdict in experiment.judge(results)]
        sizes.append(f"- `{entry.name}` ({size}): {describe(results.settings)}")
        pictures |= _pictures(experiment, results) if draw else {}
    head = ["| statement | measured | verdict | command |", "|---|---|---|---|"]
    made = ["", "The sizes of this run:", "", *sizes, ""]
    return "\n".join([*head, *rows, *made]), pictures


def _pictures(experiment: Experiment, results: Results) -> dict[str, Any]:
    try:
        return dict(experiment.draw(results))
    except Exception as error:  # Some figures show data that may be missing here.
        print(f"{experiment.name}: no picture, {error}")
        return {}


def _row(name: str, verdict: Verdict) -> str:
    whose = "" if verdict.source == "paper" else f"({verdict.source}) "
    cells = [whose + verdict.statement, verdict.measured, f"**{verdict.outcome}**"]
    cells.append(_command(name))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _command(name: str) -> str:
    return f"`python -m experiments {name}`"
