"""
Data larger than memory
=======================

:func:`isodepth.scan` opens a sample that is read in chunks: a folder of files, a memory map, a
function that yields frames. The result can be used instead of an array, and the memory is bounded
for any number of rows.
"""

import tempfile
from pathlib import Path

import pandas as pd

import isodepth

# %%
# 24,000 flights from New York in 2013 (``examples/flights`` of the repository), one Parquet file
# per month. (These data fit into memory, so the result can be checked. The code is the same for
# larger data.)

columns = ["dep_delay", "arr_delay", "air_time", "distance"]
flights = pd.read_csv("../../../examples/flights/year.csv.gz")
folder = Path(tempfile.mkdtemp())
for month, rows in flights.groupby("month"):
    season = folder / ("summer" if month in (6, 7, 8) else "rest")
    season.mkdir(exist_ok=True)
    rows[columns].to_parquet(season / f"{month:02}.parquet")
print(sorted(str(path.relative_to(folder)) for path in folder.rglob("*.parquet"))[:4], "...")

# %%
# ``memory_mb`` bounds the memory of the comparison. Samples that are read in chunks are compared on
# a grid of levels, without refinement: ``levels=20, refine=0``. These are also the defaults, with a
# warning, because samples in memory have others.

options = {"scale": [30, 30, 60, 500], "n_directions": 100, "random_state": 0, "memory_mb": 64}
options |= {"levels": 20, "refine": 0}
summer, rest = (isodepth.scan(folder / name) for name in ("summer", "rest"))
result = isodepth.compare(summer, rest, **options)
print(result)

# %%
# With the default depth the result equals that of the same rows in memory, up to rounding: medians,
# deviations and levels are order statistics, found by counting, and support values are maxima.

is_summer = flights["month"].isin([6, 7, 8])
in_memory = flights.loc[is_summer, columns], flights.loc[~is_summer, columns]
same = isodepth.distance(*in_memory, **options)
print(abs(result.distance / same - 1) < 1e-12)

# %%
# A comparison in chunks has its gaps on a grid of levels. The difference is in the outer regions.

ax = result.plot("gap_profile")

# %%
# **Any source of chunks.** A function is called once per pass. The rows are never in memory at the
# same time.


def months():
    """Yield one frame per month."""
    for path in sorted((folder / "rest").glob("*.parquet")):
        yield pd.read_parquet(path)


table = isodepth.Metric(**options).region_table(isodepth.scan(months))
print(table)

# %%
# A region table is small for any size of the data. It can be saved and compared with others.
# :doc:`/scale` describes the accuracy of each depth, the cost of a pass, and the use of a cluster
# (Dask).
