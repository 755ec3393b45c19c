"""Side-by-side study: every tool on every table, change and split.

    python -m experiments drift --splits 40 --jobs 2 --out out/drift
    .venv-peers/bin/python -m experiments.drift.peers --splits 40 --out out/drift
    python -m experiments drift --report --out out/drift

One JSON line per tool and pair of tables. A run continues the files of a former run: pairs that are
already there are not computed again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from experiments.answers.changes import CHANGES, add_garbage, change
from experiments.answers.tables import TABLES, halves, load

PACKAGES = (
    "evidently", "alibi-detect", "torch", "numpy", "scipy", "scikit-learn", "pandas",
)  # fmt: skip
#: Changes whose wrong rows a tool could list.
WRONG_ROWS = ("units", "sentinel")


class Pair(NamedTuple):
    """One pair of tables: a random split, a change of the second half, and garbage rows or not."""

    table: str
    change: str
    garbage: bool
    split: int


def pairs(n_splits: int, tables: Sequence[str] = TABLES) -> list[Pair]:
    """Return all pairs of the study, split by split."""
    return [
        Pair(table, name, garbage, split)
        for split in range(n_splits)
        for table in tables
        for name in CHANGES
        for garbage in (False, True)
    ]


def _make(pair: Pair) -> Any:
    """Return both samples of a pair, and the change of the second one."""
    table = load(pair.table)
    seed = 1000 * pair.split + TABLES.index(pair.table)
    x, y = halves(table, seed)
    changed = change(pair.change, table, y, seed)
    frame = add_garbage(table, changed.frame, seed) if pair.garbage else changed.frame
    return x, frame, changed


def evaluate(pair: Pair, tools: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run all tools on one pair; an exception of a tool is recorded as its message."""
    x, y, changed = _make(pair)
    lines = []
    for name, tool in tools.items():
        line: dict[str, Any] = {**pair._asdict(), "tool": name}
        try:
            answer = tool(x, y, pair.split)
            right = bool(changed.columns) and answer.column in changed.columns
            line |= {"detected": answer.detected, "right": right, "seconds": answer.seconds}
        except Exception as error:  # a tool that fails is a result
            line["error"] = f"{type(error).__name__}: {error}"[:200]
        if name == "isodepth" and pair.change in WRONG_ROWS and not pair.garbage:
            from experiments.drift.tools import isodepth_rows

            rows = isodepth_rows(x, y, pair.split)
            line["rows_found"] = float(changed.rows[rows].sum() / max(changed.rows.sum(), 1))
            line["rows_false"] = float((~changed.rows[rows]).sum() / max(len(rows), 1))
        lines.append(line)
    return lines


def _evaluate(job: tuple[Pair, Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    from experiments.drift.tools import TOOLS

    pair, tools = job
    return evaluate(pair, TOOLS if tools is None else tools)


def versions() -> dict[str, str]:
    """Return the versions of the packages that are installed here."""
    installed = {"python": platform.python_version(), "machine": platform.machine()}
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    if find_spec("isodepth"):  # a source tree need not be installed
        import isodepth

        installed["isodepth"] = isodepth.__version__
    return installed


def run(
    out: Path, name: str, n_splits: int, jobs: int, tools: Mapping[str, Any] | None = None
) -> None:
    """Append the missing pairs to `out`/`name`.jsonl."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.jsonl"
    known = set()
    if path.exists():
        known = {
            Pair(*(line[field] for field in Pair._fields))
            for line in map(json.loads, path.read_text().splitlines())
        }
    todo = [pair for pair in pairs(n_splits) if pair not in known]
    (out / f"{name}-versions.json").write_text(json.dumps(versions(), indent=1))
    with path.open("a") as file:
        if jobs == 1:
            results = (evaluate(pair, tools) if tools else _evaluate((pair, None)) for pair in todo)
            _write(file, results, len(todo))
        else:
            # One thread per process.
            os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            with ProcessPoolExecutor(jobs) as pool:
                _write(file, pool.map(_evaluate, ((p, None) for p in todo), chunksize=4), len(todo))


def _write(file: Any, results: Any, total: int) -> None:
    for done, lines in enumerate(results, start=1):
        # One write per pair, so that an interrupted run contains no part of a pair.
        file.write("".join(json.dumps(line) + "\n" for line in lines))
        file.flush()
        if done % 50 == 0 or done == total:
            print(f"{done} of {total} pairs", flush=True)


def main(arguments: Sequence[str] | None = None, tools: Mapping[str, Any] | None = None) -> int:
    """Run from the command line; `tools` are those of another environment."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/drift"))
    parser.add_argument("--report", action="store_true", help="write the tables of all runs")
    options = parser.parse_args(arguments)
    if options.report:
        from experiments.drift.report import write_report

        print(write_report(options.out))
        return 0
    run(options.out, "peers" if tools else "ours", options.splits, options.jobs, tools)
    return 0
