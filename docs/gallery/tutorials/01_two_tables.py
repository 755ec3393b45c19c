"""
Two tables
==========

Hourly weather at the three airports of New York, June against July 2013: how far apart are the
two months, at which levels, and in which columns? The files are in ``examples/weather`` of the
repository.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import isodepth
from isodepth.plot import nested_regions

columns = ["temp", "dewp", "humid", "wind_speed", "pressure", "visib"]
folder = Path("../../../examples/weather")
june, july = (pd.read_csv(folder / f"{month}.csv")[columns] for month in ("june", "july"))
print(june.describe().loc[["count", "mean", "std", "min", "max"]].round(1).to_string())

# %%
# Columns are in different units, and some values are missing. ``scale="pooled"`` divides every
# column by its spread in both tables together, and ``nan_policy="omit"`` drops the rows with
# missing values. The distance is one number, in units of these spreads:

options = {"scale": "pooled", "nan_policy": "omit", "random_state": 0}
print(isodepth.distance(june, july, **options))

# %%
# :func:`isodepth.compare` returns more: the contributions of the columns, the level of the maximum
# gap, and suspicious rows. The signature contains all settings.

result = isodepth.compare(june, july, **options)
print(result)

# %%
# The gap at level β is the Hausdorff distance between the regions with the deepest fraction β of
# each month. It is large even on the left: July differs in its most typical hours, not only in
# extreme ones.

ax = result.plot("gap_profile")

# %%
# The two months in the plane of their largest difference, with the regions of a quarter, a half,
# three quarters and all of the rows that are compared. Crosses are the trimmed rows, the outermost
# 10%.

ax = nested_regions(result, names=("June", "July"))

# %%
# **Wrong rows** are trimmed if their share is below ``eps``, 10% by default. They use up a part of
# ``eps``, so ``eps`` should be at least twice their share. Suppose that a thermometer reports wrong
# values in 5% of the hours of July:

rng = np.random.default_rng(2024)
broken = july.copy()
hit = rng.choice(len(broken), size=len(broken) // 20, replace=False)
broken.iloc[hit, columns.index("temp")] = 999.0

for name, table in (("July", july), ("July, 5% of it broken", broken)):
    shift = table["temp"].mean() - june["temp"].mean()
    distance = isodepth.distance(june, table, **options)
    print(f"{name:24}mean temperature {shift:+5.1f} °F   distance {distance:.2f}")
