"""
Figures and reports
===================

A result can be shown as a figure, sent to a colleague as one HTML file, or passed to another
program. Weather in June and July, with a test:
"""

from pathlib import Path

import pandas as pd

import isodepth
from isodepth.plot import nested_regions

columns = ["temp", "dewp", "humid", "wind_speed", "pressure", "visib"]
folder = Path("../../../examples/weather")
june, july = (pd.read_csv(folder / f"{month}.csv")[[*columns, "day"]] for month in ("june", "july"))
days = june.pop("day"), july.pop("day")
result = isodepth.compare(
    june,
    july,
    scale="pooled",
    nan_policy="omit",
    q=2,
    n_directions=300,
    n_permutations=199,
    blocks=days,
    random_state=0,
)

# %%
# **A summary**, and a data frame of the columns: the contribution of each to the distance, its
# change, and its p-value.

print(result)

# %%

result.to_frame()

# %%
# **The gap at every level.** The hatched band contains the gaps when whole days are assigned to the
# two months at random. The observed gaps are above it at every level.

ax = result.plot()

# %%
# **The two samples** in the plane of their largest difference, with regions of four levels.

ax = nested_regions(result, names=("June", "July"))

# %%
# **The columns**, and **the null distribution**. Columns that are not significant are hollow.

ax = result.plot("columns")

# %%

ax = result.plot("null")

# %%
# Every function accepts axes (``ax=``) and returns them, so figures can be combined and modified.
# There is one more for :doc:`monitors </tutorials/07_monitoring>`.
#
# **For programs**: dictionaries, JSON and data frames of pandas, polars or pyarrow:

print(result.to_frame().round(3).to_string())

# %%

print(result.test.to_json(indent=1)[:320], "...")

# %%
# **A report** is one self-contained HTML file: the headline, the changes with figures, the rows
# that look wrong, the settings and how to repeat it. On the command line: ``isodepth report
# june.csv july.csv -o report.html``.

result.report("report.html", names=("June", "July"))
size = Path("report.html").stat().st_size
print(f"report.html: {size / 1e3:.0f} kB")
Path("report.html").unlink()
