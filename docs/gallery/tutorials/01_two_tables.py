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
# column by its robust spread in both tables together; ``nan_policy="omit"`` leaves out the rows
# with missing values. The distance is one number, in units of those spreads:

options = {"scale": "pooled", "nan_policy": "omit", "random_state": 0}
print(isodepth.distance(june, july, **options))

# %%
# :func:`isodepth.compare` says more: the columns with the *largest contributions* to the distance,
# and the level of the *largest gap*. The last line is the signature: it describes how the number
# was computed, and :meth:`isodepth.Metric.from_signature` makes the same metric from it.

result = isodepth.compare(june, july, **options)
print(result)

# %%
# The gap at level β is the Hausdorff distance between the regions that hold the deepest share β
# of each month. It is already large on the left: July differs in its most
# typical hours, not only in extreme ones.

picture = result.plot("gaps")

# %%
# The two months in the plane that shows their difference best, with the regions that hold a
# quarter, a half, three quarters and all of the share that is compared. Crosses are the rows
# that are left out as the outermost 10%.

picture = nested_regions(result, names=("June", "July"))

# %%
# **A few wrong rows** change the distance little as long as their share is below ``eps``, by
# default 10%. Let a thermometer report wrong values in 5% of the hours of July:

rng = np.random.default_rng(0)
broken = july.copy()
hit = rng.choice(len(broken), size=len(broken) // 20, replace=False)
broken.iloc[hit, columns.index("temp")] = 999.0

for name, table in (("July", july), ("July, 5% of it broken", broken)):
    shift = table["temp"].mean() - june["temp"].mean()
    distance = isodepth.distance(june, table, **options)
    print(f"{name:24}mean temperature {shift:+5.1f} °F   distance {distance:.2f}")
