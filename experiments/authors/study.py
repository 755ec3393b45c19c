"""The authors' script DRPM side by side with `isodepth.compat` and with `isodepth.Metric`.

The script is not part of this project. Clone https://github.com/GuillaumeStaermanML/DRPM and give
its folder with --code. Times are processor times on one thread, minima of runs in turns. isodepth
uses every direction with both signs.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isodepth import AIIRWDepth, Metric
from isodepth.compat import DRPM

#: Depths of the script, and those of isodepth.
DEPTHS: dict[str, Any] = {
    "projection": "projection",
    "tukey": "halfspace",
    "irw": "irw",
    "ai_irw": AIIRWDepth(covariance="mcd"),
}
SHAPES = ((1000, 5), (1000, 50), (10_000, 10))
N_ALPHA = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments authors", description=__doc__)
    parser.add_argument("--code", type=Path, required=True, metavar="DIR", help="clone of DRPM")
    parser.add_argument("--cases", type=int, default=240, help="random cases of equality")
    parser.add_argument("--runs", type=int, default=5, help="runs of each measured time")
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(options.code))
    try:
        script = __import__("DRPM").DRPM
    except ImportError as error:
        print(f"no DRPM.py in {options.code}: {error}", file=sys.stderr)
        return 2
    print(equality(script, options.cases))
    print(f"\n{signs(script)}\n\n{distances(script)}\n\n{times(script, options.runs)}")
    return 0


def equality(script: Callable[..., float], cases: int) -> str:
    """Compare `isodepth.compat.DRPM` with the script in random cases with an even power."""
    largest = 0.0
    for case in range(cases):
        rng = np.random.default_rng(case)
        n, m, d = rng.integers(20, 200), rng.integers(20, 200), rng.integers(1, 8)
        X = rng.normal(size=(n, d))
        Y = rng.normal(size=(m, d)) * rng.uniform(0.5, 2) + rng.normal(size=d)
        settings = {
            "n_alpha": int(rng.integers(1, 20)),
            "data_depth": str(rng.choice(list(DEPTHS))),
            "eps_min": int(rng.integers(0, 5)) / 10,
            "eps_max": float(rng.choice([0.75, 1.0])),
            "p": int(rng.choice([2, 4])),
            "n_dirs": int(rng.integers(5, 200)),
            "random_state": int(rng.integers(5)),
        }
        largest = max(largest, abs(DRPM(X, Y, **settings) / script(X, Y, **settings) - 1))
    return (
        f"{cases} random cases: largest relative difference of compat from the script {largest:.1e}"
    )


def signs(script: Callable[..., float]) -> str:
    """Show the script with an odd power, for samples of different spread."""
    X = np.random.default_rng(0).normal(size=(500, 3))
    Y = 2 * np.random.default_rng(1).normal(size=(500, 3))
    settings: dict[str, Any] = {"p": 5, "eps_min": 0.3, "eps_max": 0.9, "n_alpha": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = [f(*pair, **settings) for f in (script, DRPM) for pair in ((X, Y), (Y, X))]
    return (
        "p = 5, X = N(0, I), Y = N(0, 4 I): the script gives {:.4f} for (X, Y) and {:.4f} for "
        "(Y, X), compat {:.4f} and {:.4f}".format(*values)
    )


def distances(script: Callable[..., float]) -> str:
    """Compare distances of the script with refined and exact ones, with its default directions."""
    lines = [
        "| d | script | isodepth, refine=0 | isodepth | exact supremum |",
        "|---|---|---|---|---|",
    ]
    for d in (2, 5, 10, 20):
        rows = []
        for run in range(10):
            rng = np.random.default_rng([d, run])
            X, Y = (
                rng.normal(size=(1000, d)),
                rng.normal(size=(1000, d)) @ np.diag(np.linspace(0.5, 2, d)),
            )
            theirs = script(X, Y, data_depth="projection", eps_min=0.1, p=2)
            common: dict[str, Any] = {"n_directions": 100 * d, "random_state": run}
            rows.append(
                [
                    theirs,
                    Metric(refine=0, **common).distance(X, Y),
                    Metric(**common).distance(X, Y),
                    Metric(gap="exact", **common).distance(X, Y),
                ]
            )
        means = np.mean(rows, axis=0)
        cells = [f"{means[0]:.3f}", *(f"{v:.3f} ({v / means[0] - 1:+.0%})" for v in means[1:])]
        lines.append(f"| {d} | " + " | ".join(cells) + " |")
    head = "N(0, I) and N(0, diag(0.25..4)), n = 1000, 100 d directions, eps = 0.1, p = 2, 10 runs:"
    return "\n".join([head, "", *lines])


def times(script: Callable[..., float], runs: int) -> str:
    """Return the processor times of the script over those of isodepth, as a Markdown table."""
    lines = ["| n x d | depth | script, s | over compat | over refine=0 | over default |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for n, d in SHAPES:
        rng = np.random.default_rng(d)
        X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, d)) + 1
        for name, depth in DEPTHS.items():
            common: dict[str, Any] = {"depth": depth, "n_directions": 1000, "n_jobs": 1}
            theirs: dict[str, Any] = {
                "data_depth": name, "n_dirs": 1000, "n_alpha": N_ALPHA, "eps_min": 0.1,
            }  # fmt: skip
            calls = [
                lambda theirs=theirs, X=X, Y=Y: script(X, Y, **theirs),
                lambda theirs=theirs, X=X, Y=Y: DRPM(X, Y, **theirs),
                lambda c=common, X=X, Y=Y: Metric(refine=0, levels=N_ALPHA, **c).distance(X, Y),
                lambda c=common, X=X, Y=Y: Metric(**c).distance(X, Y),
            ]
            spent = np.min([[_seconds(call) for call in calls] for _ in range(runs)], axis=0)
            cells = " | ".join(f"{spent[0] / other:.1f}" for other in spent[1:])
            lines.append(f"| {n} x {d} | {name} | {spent[0]:.2f} | {cells} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(["K = 1000, processor time on one thread:", "", *lines])


def _seconds(call: Callable[[], float]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start
