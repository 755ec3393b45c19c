"""A new user's trial: 25 accidents in 20 real tables, and every printed sentence checked.

    python -m experiments trial --jobs 2
    python -m experiments trial --set practice --tables ISLR/Credit --accidents unit clean
    python -m experiments trial --jobs 2 --resume       # continue an interrupted run

Each table is split at random into X and Y, and one accident happens to Y. All sentences of the
test, of the suspicious rows and of a monitor are parsed, and their numbers computed again with
pandas (`experiments.trial.claims`). Some comparisons are also made with CSV files, by `scan` and on
the command line, and with a report. The folder `--out` has `sentences.csv`, `comparisons.csv` and
`summary.md`.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.options import add_names
from experiments.tables.study import append_results, read_lines
from experiments.trial import answers, claims
from experiments.trial.accidents import ACCIDENTS, Accident, happen
from experiments.trial.answers import Answer
from experiments.trial.tables import SETS, load

#: Of this many comparisons, one is also made by `scan`, one on the command line, one has a report.
EVERY = 9
#: Maximum number of examples of each kind in the summary.
EXAMPLES = 6

Row = dict[str, Any]


def compare(table: str, name: str) -> tuple[Row, list[Row]]:
    """Return the result of one comparison, and its claims."""
    frame, seed = load(table), zlib.crc32(table.encode())
    order = np.random.default_rng([0x7A1, seed]).permutation(len(frame))
    middle = len(order) // 2
    x, y = (
        frame.iloc[np.sort(part)].reset_index(drop=True)
        for part in (order[:middle], order[middle:])
    )
    accident = happen(name, y, seed)
    line: Row = {"table": table, "accident": name}
    if accident is None:
        return {**line, "impossible": True}, []
    start, number = time.process_time(), (list(ACCIDENTS).index(name) + seed) % EVERY
    rows: list[Row] = []
    line["columns"] = ", ".join(accident.columns[:4])
    planted = accident.columns[0] if accident.columns else None
    for answer in _answers(line, x, accident.frame, number, planted):
        found = sentences(answer, accident)
        rows += [
            {"table": table, "accident": name, "source": answer.source, **row} for row in found
        ]
        if answer.source == "two_sample_test":
            line |= judgment(answer, accident)
        if answer.source == "monitor":
            line["alarm"] = answer.significant
    claims.forget_models()
    line["seconds"] = round(time.process_time() - start, 1)
    return line, _distinct(rows)


def _answers(line: Row, x: Any, y: Any, number: int, planted: str | None) -> Iterator[Answer]:
    """Yield the answers of all calls; an exception is recorded in `line`.

    `planted` is the changed column. A message of `InvalidInputError` about it is a detection.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calls: dict[str, Callable[[], Answer]] = {
            "two_sample_test": lambda: answers.in_memory(x, y, number == 0),
            "monitor": lambda: answers.monitored(x, y),
        }
        if number == 1:
            calls["scan"] = lambda: answers.from_files(x, y, folder)
        if number == 2:
            calls["command line"] = lambda: answers.command(x, y, folder)
        for source, call in calls.items():
            try:
                yield answers.quietly(call)
            except Exception as error:  # a failure is a result
                message = f"{source}: {type(error).__name__}: {error}"[:400]
                # A message about the changed column tells the user what happened.
                if type(error).__name__ == "InvalidInputError" and repr(planted) in message:
                    if source == "two_sample_test":
                        line |= {"refused": True, "found": True, "first": True}
                    continue
                line["error"] = " | ".join(filter(None, [line.get("error", ""), message]))


def sentences(answer: Answer, accident: Accident) -> list[Row]:
    """Return the distinct claims of an answer with their verdicts."""
    case = claims.Case(
        answer.x, answer.y, accident, answer.pvalue, 0.05,
        answer.compared or [c for c in answer.x if c in answer.y], answer.counts,
    )  # fmt: skip
    return [
        {"kind": each.kind, "verdict": each.verdict, "why": each.why, "claim": each.text}
        for text in dict.fromkeys(answer.lines)
        for each in claims.judge(text, case)
    ]


def _distinct(rows: Sequence[Row]) -> list[Row]:
    """Return the rows without those whose claim occurs in an earlier row."""
    return list(
        {(row["source"] == "monitor", row["claim"]): row for row in reversed(rows)}.values()
    )[::-1]


def judgment(answer: Answer, accident: Accident) -> Row:
    """Return whether the accident was found, and whether its column is named first.

    found : the test is significant, or the headline names a changed column after "but".
    first : a changed column is the first that the headline names, or repeated rows if rows were
        copied.
    """
    sentence, planted = answer.headline, {*accident.columns}
    case = claims.Case(answer.x, answer.y, accident)
    tail = sentence.partition(": " if answer.significant else ", but ")[2]
    places = {name: tail.find(name) for name in case.columns if name in tail}
    # Of names that start at the same place, the longest is meant.
    named = min(places, key=lambda n: (places[n], -len(n)), default=None)
    copies = bool(accident.facts.get("copies")) and "repeated rows" in tail
    found = answer.significant or (bool(tail) and any(name in tail for name in planted)) or copies
    return {
        "pvalue": answer.pvalue, "significant": answer.significant, "found": found,
        "first": bool(found and (named in planted or copies)), "headline": sentence,
    }  # fmt: skip


# -- summary --------------------------------------------------------------------------------------


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else ""


def summary(comparisons: Sequence[Row], rows: Sequence[Row]) -> str:
    """Return detections by accident, and verdicts of sentences by kind, as Markdown."""
    made = [each for each in comparisons if not each.get("impossible")]
    text = [
        "| accident | comparisons | found | right column first | alarm of the monitor |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in [*ACCIDENTS, "all accidents"]:
        own = [
            each for each in made
            if each["accident"] == name
            or (name == "all accidents" and each["accident"] != "clean")
        ]  # fmt: skip
        tested = [each for each in own if "found" in each]
        key = "significant" if name == "clean" else "found"
        cells = [
            _percent(sum(bool(each.get(k)) for each in tested), len(tested))
            for k in (key, "first", "alarm")
        ]
        text.append(f"| {name} | {len(own)} | {' | '.join(cells)} |")
    counts = Counter((row["kind"], row["verdict"]) for row in rows)
    text += ["", "| kind of sentence | sentences | true | false | not recomputable |",
             "|---|---:|---:|---:|---:|"]  # fmt: skip
    kinds = [k for k in claims.kinds() if any(counts[k, v] for v in ("true", "false", "unclear"))]
    for kind in [*kinds, "all"]:
        verdicts = [
            sum(n for (k, v), n in counts.items() if v == verdict and kind in (k, "all"))
            for verdict in ("true", "false", "unclear")
        ]
        text.append(f"| {kind} | {sum(verdicts)} | {' | '.join(map(str, verdicts))} |")
    wrong = [row for row in rows if row["verdict"] != "true"]
    text += ["", f"False or not recomputable: {len(wrong)} of {len(rows)} sentences "
             f"({_percent(len(wrong), len(rows))}); false: "
             f"{_percent(sum(row['verdict'] == 'false' for row in rows), len(rows))}."]  # fmt: skip
    for kind in kinds:
        of_kind = [row for row in wrong if row["kind"] == kind]
        for row in of_kind[:EXAMPLES]:
            text.append(
                f"* {row['verdict']}, {kind}: {row['table']}, {row['accident']}, {row['source']}: "
                f"`{row['claim']}` ({row['why']})"
            )
        if len(of_kind) > EXAMPLES:
            text.append(f"* ... and {len(of_kind) - EXAMPLES} more of kind {kind}")
    failed = [each for each in made if each.get("error")]
    text += ["", f"Failed calls: {len(failed)}"]
    text += [f"* {each['table']}, {each['accident']}: `{each['error']}`" for each in failed]
    refused = [each for each in made if each.get("refused")]
    text += ["", f"Refused with a message that names the changed column: {len(refused)}"]
    seconds = sum(float(each.get("seconds") or 0) for each in made)
    text += ["", f"{len(made)} comparisons, {seconds / 60:.1f} minutes of processor time without"
             " the command line"]  # fmt: skip
    return "\n".join(text) + "\n"


def _write(path: Path, rows: Iterable[Row], names: Sequence[str]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def _job(job: tuple[str, str]) -> tuple[Row, list[Row]]:
    return compare(*job)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trial with command-line arguments, and return the exit code.

    The exit code is 1 if more than 1% of the sentences are false or not recomputable.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", choices=list(SETS), default="trial")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="some tables of the set")
    add_names(parser, "--accidents", ACCIDENTS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="continue an interrupted run")
    parser.add_argument("--out", type=Path, default=Path("out/trial"))
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    jobs = [(t, a) for t in options.tables or SETS[options.set] for a in options.accidents]
    lines = options.out / "lines.jsonl"
    if not options.resume:
        lines.unlink(missing_ok=True)
    stored: list[Any] = read_lines(lines)
    known = {(done["table"], done["accident"]) for done, _ in stored}
    append_results(lines, _job, [job for job in jobs if job not in known], options.jobs)
    finished: list[Any] = read_lines(lines)
    results = [each for each in finished if (each[0]["table"], each[0]["accident"]) in jobs]
    comparisons, rows = [each[0] for each in results], [row for each in results for row in each[1]]
    _write(options.out / "comparisons.csv", comparisons, [
        "table", "accident", "columns", "pvalue", "significant", "found", "first", "alarm",
        "headline", "seconds", "impossible", "refused", "error",
    ])  # fmt: skip
    names = ["table", "accident", "source", "kind", "verdict", "claim", "why"]
    _write(options.out / "sentences.csv", rows, names)
    text = summary(comparisons, rows)
    (options.out / "summary.md").write_text(text)
    print(text, end="")
    wrong = sum(row["verdict"] != "true" for row in rows)
    return int(wrong > 0.01 * len(rows))


if __name__ == "__main__":
    raise SystemExit(main())
