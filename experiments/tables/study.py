"""Detections of isodepth on real tables with known changes.

    python -m experiments tables --set tuning --splits 4 --size 600 --jobs 2
    python -m experiments tables --summary out/tables/tuning-600.jsonl

One JSON line per comparison. A run continues its file: comparisons that it contains are not
computed again. Seeds are functions of the table, the change and the split.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from experiments.options import add_names
from experiments.tables.changes import (
    CENTERED,
    CHANGES,
    WORDS,
    Changed,
    add_garbage,
    change,
    halves,
)
from experiments.tables.sources import SETS, load


class Pair(NamedTuple):
    """One comparison: a random split of a table into two samples, and a change of the second.

    If `garbage`, the second sample also has contaminated rows.
    """

    table: str
    change: str
    garbage: bool
    split: int


def pairs(
    tables: Sequence[str], n_splits: int, changes: Sequence[str], garbage: Sequence[bool] = (False,)
) -> list[Pair]:
    """Return all comparisons of tables, changes and splits, those of the first split first."""
    return [
        Pair(table, name, with_garbage, split)
        for split in range(n_splits)
        for table in tables
        for name in changes
        for with_garbage in garbage
    ]


def make(pair: Pair, max_rows: int) -> tuple[Any, Any, Changed] | None:
    """Return both samples of a comparison, and the change of the second sample.

    The samples have at most `max_rows` rows. Return None if the table cannot have the change.
    """
    frame = load(pair.table)
    seed = 1000 * (zlib.crc32(pair.table.encode()) % 1_000_000) + pair.split
    x, y = halves(frame, seed, max_rows)
    changed = change(pair.change, y, seed)
    if changed is None:
        return None
    return x, add_garbage(changed.frame, seed) if pair.garbage else changed.frame, changed


def evaluate(
    pair: Pair, max_rows: int, n_permutations: int, tolerance: float | None
) -> dict[str, Any]:
    """Run the test for one comparison, and return its result or its exception as a JSON line."""
    import isodepth

    line: dict[str, Any] = pair._asdict()
    made = make(pair, max_rows)
    if made is None:
        return {**line, "impossible": True}
    x, y, changed = made
    line |= {"changed": list(changed.columns), "detail": changed.detail, "n": len(y)}
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = isodepth.two_sample_test(
                x, y, nan_policy="keep", n_permutations=n_permutations, tolerance=tolerance,
                random_state=pair.split,
            )  # fmt: skip
            line |= {"pvalue": float(result.pvalue), "headline": result.headline}
            line["seconds"] = time.perf_counter() - start
            line["named"] = [list(c.columns) for c in result.changes]
            line["kinds"] = [str(c.kind) for c in result.changes]
            if hasattr(result, "changed_share"):
                line["changed_share"] = float(result.changed_share)
            if hasattr(result, "checks"):
                line["checks"] = [str(check) for check in result.checks]
    except Exception as error:  # a failure is a result
        line["error"] = f"{type(error).__name__}: {error}"[:300]
    return line


def judge(line: dict[str, Any]) -> dict[str, Any]:
    """Compare a result with the change that was made.

    detected : the p-value is at most 5%.
    first : the first change names a changed column. None if whole rows are repeated.
    others : a change names no changed column. A change of dependence is right if it names a changed
        column together with other columns.
    words : the headline names the kind of the change. None if the change has no pattern. For a
        column with a median of zero, the words for a change of scale and of unit are both right.
    """
    detected = line["pvalue"] <= 0.05
    changed, named = set(line["changed"]), line["named"]
    pattern = WORDS.get(line["change"])
    if line["detail"].endswith(CENTERED):
        pattern = f"{WORDS['scale']}|{WORDS['unit']}"
    return {
        "detected": detected,
        "first": bool(named and changed & set(named[0])) if changed else None,
        "others": any(columns and not changed & set(columns) for columns in named),
        "words": bool(re.search(pattern, line["headline"])) if pattern else None,
    }


def summary(lines: Iterable[dict[str, Any]]) -> str:
    """Return the percentages of detections and of right names per change, as a Markdown table."""
    lines = [line for line in lines if not line.get("impossible")]
    failed = [line for line in lines if "error" in line]
    judged = [(line, judge(line)) for line in lines if "error" not in line]
    text = [
        "| change | comparisons | detected | changed column first | other columns named "
        "| kind in the headline | failed |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in CHANGES:
        answers = [answer for line, answer in judged if line["change"] == name]
        if not answers:
            continue
        hits = [answer for answer in answers if answer["detected"]]
        cells = [_percent(answers, "detected")]
        cells += [_percent(hits, key) for key in ("first", "others", "words")]
        failures = sum(line["change"] == name for line in failed)
        text.append(f"| {name} | {len(answers)} | {' | '.join(cells)} | {failures} |")
    text += ["", "Detected: percent of the comparisons. The next three columns: percent of the"
             " detections."]  # fmt: skip
    text += [f"* {t}: `{e}`" for t, e in sorted({(f["table"], f["error"]) for f in failed})]
    return "\n".join(text)


def _percent(answers: list[dict[str, Any]], key: str) -> str:
    values = [answer[key] for answer in answers if answer[key] is not None]
    return f"{100 * sum(values) / len(values):.0f}" if values else ""


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of results with one JSON object per line; return the objects as a list."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append_results(
    path: Path, function: Callable[[Any], Any], jobs: Sequence[Any], n_processes: int
) -> None:
    """Append the results of `function` for all `jobs` to a file, one JSON line per job, in order.

    They are computed by `n_processes` processes of one thread.
    """
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with path.open("a") as file, ExitStack() as stack:
        results: Iterable[Any] = map(function, jobs)
        if n_processes > 1:
            pool = stack.enter_context(ProcessPoolExecutor(n_processes))
            results = pool.map(function, jobs)
        for done, line in enumerate(results, start=1):
            file.write(json.dumps(line) + "\n")
            file.flush()
            if done % 200 == 0:
                print(f"{done} of {len(jobs)}", flush=True)


def _evaluate(job: tuple[Any, ...]) -> dict[str, Any]:
    return evaluate(*job)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study with command-line arguments, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--set", choices=list(SETS), default="tuning")
    parser.add_argument("--size", type=int, default=600, help="maximum number of rows per half")
    parser.add_argument("--splits", type=int, default=4)
    add_names(parser, "--changes", CHANGES)
    parser.add_argument("--tables", nargs="+", help="names instead of a set")
    parser.add_argument("--garbage", action="store_true", help="5%% of garbage in the second half")
    parser.add_argument("--tolerance", type=float)
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="file of results (JSON lines)")
    parser.add_argument("--summary", type=Path, nargs="+", help="only summarize these files")
    options = parser.parse_args(arguments)
    if options.summary:
        print(summary([line for path in options.summary for line in read_lines(path)]))
        return 0
    out = options.out or Path(f"out/tables/{options.set}-{options.size}.jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    known = {Pair(*(line[field] for field in Pair._fields)) for line in read_lines(out)}
    tables = options.tables or SETS[options.set]
    wanted = pairs(tables, options.splits, options.changes, (options.garbage,))
    jobs = [
        (pair, options.size, options.permutations, options.tolerance)
        for pair in wanted
        if pair not in known
    ]
    append_results(out, _evaluate, jobs, options.jobs)
    print(
        summary(
            line for line in read_lines(out) if Pair(*(line[f] for f in Pair._fields)) in wanted
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
