"""Delays of the online detectors of alibi-detect, whose requirements conflict with ours.

Both detectors take one row at a time and have an expected run time without a change, in rows. It is
set to 12,000 rows, the 120 batches of a stream of `experiments.monitoring.delays`. Their thresholds
come from a simulation that takes minutes, so that all streams have one reference. A stream has four
clean batches before the change, which fill the longest window. False alarms are counted on 60 clean
batches.

Run with the Python of their environment (`make drift-peers` creates it):

    .venv-peers/bin/python -m experiments.monitoring.peers --streams 10
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.monitoring.streams import CHANGES, Batch, normal

D, ROWS, CLEAN, WATCHED = 5, 100, 60, 60
EXPECTED_RUN_TIME = 12_000
WINDOWS = [100, 400]


def mmd(reference: np.ndarray) -> Callable[[np.ndarray], Any]:
    """Online MMD with a window of 100 rows and 500 rows of the reference."""
    from alibi_detect.cd import MMDDriftOnline

    detector = MMDDriftOnline(
        reference[:500].astype(np.float32), ert=EXPECTED_RUN_TIME, window_size=WINDOWS[0],
        backend="pytorch", n_bootstraps=500, verbose=False, device="cpu",
    )  # fmt: skip
    return _by_rows(detector, lambda rows: rows.astype(np.float32))


def fisher(reference: np.ndarray) -> Callable[[np.ndarray], Any]:
    """Online Fisher's exact test of the sign of each column, which must be binary."""
    from alibi_detect.cd import FETDriftOnline

    detector = FETDriftOnline(
        (reference > 0).astype(int), ert=EXPECTED_RUN_TIME, window_sizes=WINDOWS,
        n_bootstraps=1000, verbose=False,
    )  # fmt: skip
    return _by_rows(detector, lambda rows: (rows > 0).astype(int))


def _by_rows(detector: Any, prepare: Callable[[np.ndarray], np.ndarray]) -> Callable[..., Any]:
    def check(rows: np.ndarray | None) -> bool:
        """Return whether any row of a batch raises an alarm; None starts again."""
        if rows is None:
            detector.reset_state()
            return False
        return any(detector.predict(row)["data"]["is_drift"] for row in prepare(rows))

    return check


def delay(check: Callable[..., bool], batch: Batch, rng: np.random.Generator) -> float:
    """Return the delay of one stream; 0 for an alarm before the change, inf for none."""
    check(None)
    for _ in range(max(WINDOWS) // ROWS):
        if check(normal(rng, ROWS, D)):
            return 0.0
    for number in range(1, WATCHED + 1):
        if check(batch(rng, ROWS, D)):
            return float(number)
    return math.inf


def main() -> None:
    """Print false alarms and median delays of each detector."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--changes", nargs="+", default=list(CHANGES))
    parser.add_argument("--detectors", nargs="+", default=["fisher", "mmd"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    reference = normal(np.random.default_rng(35), 1000, D)
    for name in options.detectors:
        check = {"fisher": fisher, "mmd": mmd}[name](reference)
        alarms = 0
        for seed in range(options.streams):
            check(None)
            rng = np.random.default_rng([seed, 0, 3535])
            alarms += any(check(normal(rng, ROWS, D)) for _ in range(CLEAN))
            print(f"{name}: {alarms} false alarms in {seed + 1} streams", flush=True)
        for number, change in enumerate(options.changes, 1):
            delays = [
                delay(check, CHANGES[change], np.random.default_rng([seed, number, 3535]))
                for seed in range(options.streams)
            ]
            print(f"{name}: {change:16} {sorted(delays)}", flush=True)


if __name__ == "__main__":
    main()
