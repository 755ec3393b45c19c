"""`python -m experiments NAME`: reproduce one figure or table of the paper."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from experiments.registry import ENTRIES

USAGE = """\
python -m experiments NAME [--runs N] [--size full|reduced|quick] [--quick] [--out DIR]
                           [--seed S] [--jobs N]
python -m experiments list      the names, with the figures and tables of the paper
python -m experiments all       all experiments on synthetic data, one after another
python -m experiments report    write the verdicts and figures of a run into the documentation;
                                --counts prints the numbers of verdicts only
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    name, *rest = (sys.argv[1:] if arguments is None else list(arguments)) or ["--help"]
    if name in ("-h", "--help"):
        print(USAGE, end="")
        return 0
    if name == "list":
        for entry in ENTRIES.values():
            print(f"{entry.name:15}{entry.paper:16}{entry.about}")
        return 0
    if name == "all":
        return _all(rest)
    if name == "report":
        from experiments.framework.report import main as report

        return report(rest)
    if name not in ENTRIES or not ENTRIES[name].exists:
        there = ", ".join(entry.name for entry in ENTRIES.values() if entry.exists)
        print(f"no experiment {name!r}; there are {there}", file=sys.stderr)
        return 2
    return ENTRIES[name].main(rest) or 0


def _all(rest: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m experiments all", description="all options are handed to each experiment"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(ENTRIES))
    options, shared = parser.parse_known_args(rest)
    chosen = options.only or [e.name for e in ENTRIES.values() if e.in_all and e.exists]
    start = time.perf_counter()
    for name in chosen:
        status = ENTRIES[name].main(shared) or 0
        if status:
            return status
    print(f"all of {', '.join(chosen)}: {(time.perf_counter() - start) / 60:.1f} minutes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
