"""Peak memory of one distance, each in a new process."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.harness.child import run_python

MB = 1e6


def measure(quick: bool) -> list[dict[str, Any]]:
    """Measure the peak memory of distances of a million points, and of one other case.

    In the other case, the algorithm of the authors has large matrices. The peak does not depend on
    K, because only blocks of directions are stored. The quick run uses 64 directions.
    """
    if quick:
        cases = [("isodepth", depth, 1_000_000, 64) for depth in ("halfspace", "projection")]
        cases += [("isodepth", "halfspace", 20_000, 500), ("authors", "halfspace", 20_000, 500)]
    else:
        cases = [("isodepth", depth, 1_000_000, 1000) for depth in ("halfspace", "projection")]
        for depth in ("halfspace", "projection"):
            cases.append(("isodepth", depth, 200_000, 500))
            cases += [(who, depth, 20_000, 500) for who in ("isodepth", "authors")]
    return [peak_of(who, depth, n, 10, K) for who, depth, n, K in cases]


def peak_of(who: str, depth: str, n: int, d: int, K: int) -> dict[str, Any]:
    """Return the peak memory of one distance in a separate process.

    `who` is the implementation: isodepth or the algorithm of the authors.
    """
    case = {"who": who, "depth": depth, "n": n, "d": d, "K": K}
    case["dtype"] = "float32" if who == "isodepth" else "float64"
    result = json.loads(run_python("-m", "benchmarks.sections.memory", json.dumps(case)))
    return case | result


def measure_here(case: dict[str, Any]) -> dict[str, float]:
    """Run one case in this process and return its peak memory."""
    from benchmarks.harness.contenders import load_all, ours, the_authors
    from benchmarks.harness.data import pair

    make = ours if case["who"] == "isodepth" else the_authors
    load_all()
    X, Y = pair(case["n"], case["d"], case["dtype"])
    run = make(X, Y, case["depth"], case["K"])
    forget_peak()
    before, interpreter_peak = resident(), peak()
    run()
    inputs = X.nbytes + Y.nbytes
    return {
        "inputs_mb": inputs / MB,
        # Memory added by the call to a process with inputs and modules.
        "added_mb": (peak() - before) / MB,
        # Stricter: all memory of the process except the inputs.
        "above_inputs_mb": (peak() - inputs) / MB,
        "before_mb": before / MB,
        "peak_before_mb": interpreter_peak / MB,
    }


def forget_peak() -> None:
    """Reset the peak memory of the process, if the system supports it (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def resident() -> float:
    """Return the resident memory of this process in bytes."""
    return _status("VmRSS") or peak()


def peak() -> float:
    """Return the peak resident memory of this process in bytes."""
    import resource

    # Kilobytes on Linux, bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(field: str) -> float | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    matches = [line for line in lines if line.startswith(f"{field}:")]
    return float(matches[0].split()[1]) * 1024 if matches else None


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the peak memory of the distances in MB, as a Markdown table."""
    lines = [
        "MB of 10^6 bytes. *Added*: by the call, to a process that holds the inputs. *Above "
        "inputs*: all of the process but the inputs, with interpreter, modules and machine code.",
        "",
        "| | n = m | d | K | inputs | added | above inputs |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        lines.append(
            f"| {r['who']}, {r['depth']}, {r['dtype']} | {r['n']} | {r['d']} | {r['K']} | "
            f"{r['inputs_mb']:.0f} | {r['added_mb']:.0f} | {r['above_inputs_mb']:.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(json.dumps(measure_here(json.loads(sys.argv[1]))))
