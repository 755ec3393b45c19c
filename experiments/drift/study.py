"""Side-by-side study: every tool on every table and change, with and without contaminated rows.

    python -m experiments drift --splits 2 --jobs 2
    .venv-peers/bin/python -m experiments.drift.peers --splits 1
    python -m experiments drift --report

Tables and changes are those of `experiments.tables`. One JSON line per tool and pair of tables. A
run continues the files of a former run: pairs that are already there are not computed again.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from experiments.options import add_names
from experiments.tables.changes import CHANGES
from experiments.tables.sources import SETS
from experiments.tables.study import Pair, append_results, make, pairs, read_lines

PACKAGES = (
    "evidently", "alibi-detect", "pandera", "torch", "numpy", "scipy", "scikit-learn", "pandas",
)  # fmt: skip
#: Changes whose wrong rows a tool could list.
WRONG_ROWS = ("x1000 in 3%", "-9999 in 8%")
#: Maximum number of rows of each half.
MAX_ROWS = 1000


def evaluate(pair: Pair, tools: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run all tools on one comparison, and return one JSON line per tool.

    An exception of a tool is recorded as its message. If the table cannot have the change of the
    comparison, the result is a single line with this information.
    """
    made = make(pair, MAX_ROWS)
    if made is None:
        return [{**pair._asdict(), "impossible": True}]
    x, y, changed = made
    lines = []
    for name, tool in tools.items():
        line: dict[str, Any] = {**pair._asdict(), "tool": name}
        try:
            answer = tool(x, y, pair.split)
            line |= {"detected": answer.detected, "seconds": answer.seconds}
            if answer.columns is not None and changed.columns:
                first = answer.columns[0] if answer.columns else ()
                line["first"] = bool({*first} & {*changed.columns})
            if answer.columns is not None:
                wrong = [names for names in answer.columns if not {*names} & {*changed.columns}]
                line["wrong"] = len(wrong)
            if name == "isodepth" and pair.change in WRONG_ROWS and not pair.garbage:
                from experiments.drift.tools import isodepth_rows

                rows = isodepth_rows(x, y, pair.split)
                line["rows_found"] = float(changed.rows[rows].sum() / max(changed.rows.sum(), 1))
                line["rows_false"] = float((~changed.rows[rows]).sum() / max(len(rows), 1))
        except Exception as error:  # a tool that fails is a result
            line["error"] = f"{type(error).__name__}: {error}"[:200]
        lines.append(line)
    return lines


def versions() -> dict[str, str]:
    """Return the versions of Python, isodepth and the installed packages of `PACKAGES`, by name.

    The key "machine" has the machine type.
    """
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
    path: Path, wanted: Sequence[Pair], jobs: int, function: Callable[[Pair], list[dict[str, Any]]]
) -> None:
    """Compute the comparisons in `wanted` that a file lacks, and append their results to the file.

    `function` returns the JSON lines of one comparison. `jobs` is the number of processes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {
        Pair(*(lines[0][field] for field in Pair._fields)) for lines in read_lines(path) if lines
    }
    todo = [pair for pair in wanted if pair not in known]
    path.with_name(f"{path.stem}-versions.json").write_text(json.dumps(versions(), indent=1))
    append_results(path, function, todo, jobs)


def evaluate_ours(pair: Pair, names: Sequence[str]) -> list[dict[str, Any]]:
    """Run isodepth and the tests of SciPy and scikit-learn on one comparison.

    Only tools whose names start with one of `names` are run. Return one JSON line per tool.
    """
    from experiments.drift.tools import TOOLS

    return evaluate(pair, select(TOOLS, names))


def select(tools: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the tools whose names start with one of `names`."""
    return {name: tool for name, tool in tools.items() if name.startswith(tuple(names))}


def main(
    arguments: Sequence[str] | None = None,
    name: str = "ours",
    function: Callable[[Pair, Sequence[str]], list[dict[str, Any]]] = evaluate_ours,
) -> int:
    """Run the study with command-line arguments, and return the exit code.

    `name` is the name of the environment in file names. Each environment has a `function` that runs
    its tools on one comparison, and returns the JSON lines.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--clean-only", action="store_true", help="no comparisons with garbage")
    add_names(parser, "--changes", CHANGES)
    parser.add_argument("--tools", nargs="+", help="first words of the names of some tools")
    parser.add_argument("--out", type=Path, default=Path("out/drift"))
    parser.add_argument("--report", action="store_true", help="write the tables of all runs")
    options = parser.parse_args(arguments)
    if options.report:
        from experiments.drift.report import write_report

        print(write_report(options.out))
        return 0
    garbage = (False,) if options.clean_only else (False, True)
    wanted = [
        pair
        for with_garbage in garbage
        for pair in pairs(SETS["report"], options.splits, options.changes, (with_garbage,))
    ]
    stem = re.sub(r"[^a-zA-Z-]+", "_", "-".join([name, *(options.tools or ())]))
    evaluate_some = partial(function, names=options.tools or ("",))
    run(options.out / f"{stem}.jsonl", wanted, options.jobs, evaluate_some)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
