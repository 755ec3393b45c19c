"""An office watched by its sensors: does the monitor notice the weekend?

Needs ``pip install river isodepth[plot,frames]``. The series holds temperature, humidity, light and
CO2 of an office every 16 minutes, from a Wednesday evening to a Tuesday morning (Candanedo and
Feldheim 2016). Five people marked its changes: all of them near observations 234 to 238, Saturday
morning, when nobody comes, and 415 to 417, Monday morning, when everybody is back.

Run: ``python examples/monitoring/occupancy.py [FOLDER]``; figures go to the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import isodepth
from isodepth.plot import timeline

#: Observations of one batch: an hour and a half.
ROWS = 6
#: Reference and stream, as observations counted from 0.
PARTS = {
    "working days": (slice(0, 204), slice(204, 509)),
    "weekend": (slice(234, 400), slice(400, 509)),
}


def load() -> tuple[pd.DataFrame, np.ndarray, pd.Series]:
    """Sensors (509, 4), by day or by night, and the times."""
    import river.drift.datasets as datasets

    series = pd.read_csv(Path(datasets.__file__).with_name("occupancy.csv"), parse_dates=["time"])
    names = {"V1": "temperature", "V2": "humidity", "V3": "light", "V4": "CO2"}
    hour = series.time.dt.hour
    group = np.where((hour >= 8) & (hour < 18), "day", "night")
    return series[list(names)].rename(columns=names), group, series.time


def batches(group: np.ndarray, stream: slice) -> list[slice]:
    """Runs of ROWS observations of one group; what is left over at its end is skipped."""
    found, start = [], stream.start
    while start < stream.stop:
        stop = start + 1
        while stop < stream.stop and group[stop] == group[start] and stop - start < ROWS:
            stop += 1
        if stop - start == ROWS:
            found.append(slice(start, stop))
        start = stop
    return found


def watch(
    name: str, sensors: pd.DataFrame, group: np.ndarray, times: pd.Series, folder: Path
) -> None:
    """Print and draw what a monitor of one part of the week says about the rest."""
    reference, stream = PARTS[name]
    monitor = isodepth.Monitor(
        sensors.iloc[reference], groups=group[reference], alpha=0.05, random_state=0
    )
    print(f"\nreference: {name}, observations {reference.start + 1} to {reference.stop}")
    labels = []
    for rows in batches(group, stream):
        verdict = monitor.check(sensors.iloc[rows], group=group[rows.start])
        labels.append(times[rows.start].strftime("%a %H:%M"))
        change = verdict.changes[0].text if verdict.changes else ""
        print(
            f"{rows.start + 1:4d}  {labels[-1]}  {verdict.group:5}  p {verdict.pvalue:8.2g}  "
            f"window p {verdict.window_pvalue:8.2g}  {'ALARM' if verdict.alarm else '':5}  {change}"
        )
    figure = timeline(monitor, labels=labels)
    figure.savefig(folder / f"monitoring_{name.split()[0]}.png", dpi=150)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for part in PARTS:
        watch(part, *load(), target)
