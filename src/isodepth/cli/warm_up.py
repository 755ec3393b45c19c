"""The command `isodepth warm-up`: compile everything now, for images and for impatient people."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from isodepth.cli.outputs import as_json
from isodepth.cli.parsers import add_command, add_json
from isodepth.errors import IsodepthError

_PRECISIONS = ("float64", "float32")


def add_warm_up_parser(commands: Any) -> None:
    """Add the command to a parser."""
    parser = add_command(
        commands,
        "warm-up",
        "compile what distances and tests need, once for all processes",
        "Compile what distances and two-sample tests need, in both precisions and for all depths, "
        "and keep it where every later process finds it: in the folder that NUMBA_CACHE_DIR "
        "names, or beside the package, or in ~/.cache/isodepth where that cannot be written. "
        "In a Dockerfile: RUN pip install isodepth && isodepth warm-up",
        ["isodepth warm-up", "isodepth warm-up --json"],
    )
    add_json(parser)
    parser.set_defaults(work=compile_everything, report=warm_up_report, writes=True)


def compile_everything(options: argparse.Namespace) -> dict[str, Any]:
    """Compile, and say what was compiled and where it is kept."""
    from isodepth.api import warm_up
    from isodepth.depth import BY_NAME
    from isodepth.engine.compiled.kept import check_kept, made_ready
    from isodepth.engine.compiled.lanes import translated

    before, start = len(made_ready()), time.perf_counter()
    try:
        check_kept()
    except OSError as reason:
        raise IsodepthError(
            f"compiled code cannot be kept ({reason}); set the environment variable "
            "NUMBA_CACHE_DIR to a folder that can be written"
        ) from None
    warm_up(dtypes=_PRECISIONS)
    seconds = time.perf_counter() - start
    done = made_ready()[before:]
    return {
        "depths": list(BY_NAME),
        "dtypes": list(_PRECISIONS),
        "compiled": sum(not one.found for one in done),
        "found": sum(one.found for one in done),
        "functions": sum(one.functions for one in done),
        "by_numba": not translated(),
        "folders": sorted({os.path.abspath(one.folder) for one in done if one.folder}),
        "seconds": round(seconds, 3),
    }


def warm_up_report(result: dict[str, Any], notes: list[str], options: argparse.Namespace) -> str:
    """What was done, for people or for machines."""
    if options.json:
        return as_json(result, notes)
    lines = [
        f"ready for {', '.join(result['depths'])} in {' and '.join(result['dtypes'])}: "
        f"{result['compiled']} loops ({result['functions']} functions) compiled, "
        f"{result['found']} found, in {result['seconds']:.1f} s",
        *(f"kept in {folder}" for folder in result["folders"]),
    ]
    if result["by_numba"]:
        lines.append("compiled by numba, as the vector instructions of isodepth are not in use")
    return "\n".join(lines)
