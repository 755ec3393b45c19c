"""
Data larger than memory
=======================

:func:`isodepth.scan` opens a sample that is read in chunks: a folder of files, a memory map, a
function that yields one frame after another. The result can be used in place of an array, and
memory is bounded whatever the number of rows.
"""

import tempfile
from pathlib import Path

import pandas as pd

import isodepth

# %%
# 24,000 flights out of New York in 2013 (``examples/flights`` of the repository), one Parquet file
# for each month. (These data fit into memory, so that the result can be checked; the code is the
# same for larger data.)

columns = ["dep_delay", "arr_delay", "air_time", "distance"]
flights = pd.read_csv("../../../examples/flights/year.csv.gz")
folder = Path(tempfile.mkdtemp())
for month, rows in flights.groupby("month"):
    season = folder / ("summer" if month in (6, 7, 8) else "rest")
    season.mkdir(exist_ok=True)
    rows[columns].to_parquet(season / f"{month:02}.parquet")
print(sorted(str(path.relative_to(folder)) for path in folder.rglob("*.parquet"))[:4], "...")

# %%
# Two folders, compared. ``memory_mb`` bounds the memory.

options = {"scale": [30, 30, 60, 500], "n_directions": 100, "random_state": 0, "memory_mb": 64}
summer, rest = (isodepth.scan(folder / name) for name in ("summer", "rest"))
result = isodepth.compare(summer, rest, **options)
print(result)

# %%
# With the default depth the numbers are those of the same rows in memory, up to rounding: medians,
# deviations and levels are order statistics, found by counting, and support values are maxima.
# The size of the chunks does not matter.

is_summer = flights["month"].isin([6, 7, 8])
in_memory = flights.loc[is_summer, columns], flights.loc[~is_summer, columns]
same = isodepth.distance(*in_memory, levels=20, refine=0, **options)
print(abs(result.distance / same - 1) < 1e-12)

# %%
# A comparison in chunks has its gaps on a grid of levels. The difference is in the
# outer regions, in the delays.

picture = result.plot("gaps")

# %%
# **Any source of chunks.** A function is called once for every pass; the rows are never in memory
# all at once.


def months():
    """One frame a month."""
    for path in sorted((folder / "rest").glob("*.parquet")):
        yield pd.read_parquet(path)


table = isodepth.Metric(levels=20, refine=0, **options).table(isodepth.scan(months))
print(table)

# %%
# A table is small, whatever the size of the data: it can be saved and compared with others.
# :doc:`/scale` says what is exact for which depth, what a pass costs, and how to use a cluster
# (Dask).
