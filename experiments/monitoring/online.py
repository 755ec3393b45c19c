"""Run lengths of online detectors and of `Monitor` at equal mean time between false alarms.

alibi-detect takes one row at a time and simulates its thresholds for an expected run time (ERT).
`Monitor(arl=...)` takes batches of 100 rows, with the same bound on its mean time between false
alarms. All detectors have one reference of 1000 rows, and the same streams, which change from their
first row on. "clean" streams do not change. ADWIN of river has its default confidence.
alibi-detect and river need their own environment:

    python -m experiments.monitoring.online --detectors monitor
    .venv-peers/bin/python -m experiments.monitoring.online --detectors CVM MMD FET ADWIN
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from experiments.monitoring.streams import CHANGES, normal

COLUMNS, BATCH, REFERENCE, ERT, LENGTH = 5, 100, 1000, 2000, 6000
WINDOWS = [50, 200]
PROBABILITIES = np.array([0.05, 0.1, 0.2, 0.3, 0.5])

#: A detector takes a reference and returns a function from a stream to the row of its first alarm.
RunLength = Callable[[np.ndarray], float]


def binary(rng: np.random.Generator, n: int, raised: float = 0.0) -> np.ndarray:
    """Return n rows of 0/1 columns; the probability of the first column is higher by `raised`."""
    return (rng.random((n, COLUMNS)) < PROBABILITIES + raised * np.eye(COLUMNS)[0]).astype(float)


def stream(name: str, seed: int) -> np.ndarray:
    """Return the rows of the stream `name`, such as "clean", which change from the first row on."""
    rng = np.random.default_rng([seed, 41])
    if name.startswith("0/1"):
        return binary(rng, LENGTH, 0.1 if name.endswith("0.1") else 0.0)
    return CHANGES.get(name, normal)(rng, LENGTH, COLUMNS)


def monitor(reference: np.ndarray, batch: int = BATCH, ert: float = ERT) -> RunLength:
    """Return a detector: `Monitor` with a mean time between false alarms of `ert` rows."""
    from isodepth import Monitor

    def run_length(rows: np.ndarray) -> float:
        made = Monitor(reference, arl=ert / batch, random_state=0)
        for end in range(batch, len(rows) + 1, batch):
            if made.check(rows[end - batch : end]).alarm:
                return float(end)
        return np.inf

    return run_length


def alibi(name: str, n_bootstraps: int) -> Callable[[np.ndarray], RunLength]:
    """Return an online detector of alibi-detect: "CVM", "MMD" or "FET" (0/1 columns)."""

    def make(reference: np.ndarray) -> RunLength:
        from alibi_detect import cd

        options: dict[str, Any] = {"ert": ERT, "n_bootstraps": n_bootstraps, "verbose": False}
        if name == "MMD":
            options |= {"window_size": WINDOWS[0], "backend": "pytorch"}
        else:
            options |= {"window_sizes": WINDOWS}
        detector = getattr(cd, f"{name}DriftOnline")(reference.astype(np.float32), **options)

        def run_length(rows: np.ndarray) -> float:
            detector.reset_state()
            for number, row in enumerate(rows.astype(np.float32), start=1):
                if np.any(detector.predict(row)["data"]["is_drift"]):
                    return float(number)
            return np.inf

        return run_length

    return make


def adwin(reference: np.ndarray) -> RunLength:
    """Return a detector: ADWIN of river per column, updated with the reference first."""
    from river.drift import ADWIN

    def run_length(rows: np.ndarray) -> float:
        detectors = [ADWIN() for _ in range(COLUMNS)]
        for number, row in enumerate([*reference, *rows], start=1 - len(reference)):
            for detector, value in zip(detectors, row, strict=True):
                detector.update(value)
            if number > 0 and any(detector.drift_detected for detector in detectors):
                return float(number)
        return np.inf

    return run_length


NORMAL = ("clean", "shift 0.3", "shift 0.6", "correlation 0.6", "scale 1.4", "8% far rows")
BINARY = ("0/1 clean", "0/1 probability + 0.1")


def main() -> None:
    """Print one line per detector and stream."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--batch", type=int, default=BATCH, help="rows per batch of the monitor")
    parser.add_argument("--ert", type=float, default=ERT, help="rows to a false alarm, monitor")
    parser.add_argument("--bootstraps", type=int, default=20_000)
    parser.add_argument("--detectors", nargs="+", default=["monitor"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.detectors:
        makers = {"monitor": partial(monitor, batch=options.batch, ert=options.ert), "ADWIN": adwin}
        make = makers.get(name) or alibi(name, options.bootstraps)
        for names, rows in ((NORMAL, normal), (BINARY, binary)):
            if (name == "FET" and names is NORMAL) or (name in ("CVM", "MMD") and names is BINARY):
                continue
            rng = np.random.default_rng(41)
            started = time.process_time()
            reference = (
                binary(rng, REFERENCE) if rows is binary else normal(rng, REFERENCE, COLUMNS)
            )
            run_length = make(reference)
            print(f"{name}: ready after {time.process_time() - started:.0f} s", flush=True)
            for change in names:
                lengths = np.array([run_length(stream(change, s)) for s in range(options.streams)])
                print(
                    f"{name} | {change} | median {np.median(lengths):g} rows | "
                    f"alarms by row {ERT}: {np.mean(lengths <= ERT):.0%}, "
                    f"by row {LENGTH}: {np.mean(lengths <= LENGTH):.0%}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
