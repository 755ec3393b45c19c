"""
Figures and reports
===================

A result can be shown as a figure, sent to a colleague as one HTML file, or passed to another
program. A test of the weather in June and July:
"""

from pathlib import Path

import pandas as pd

import isodepth
from isodepth.plot import bagplot, nested_regions

columns = ["temp", "dewp", "humid", "wind_speed", "pressure", "visib"]
folder = Path("../../../examples/weather")
june, july = (pd.read_csv(folder / f"{month}.csv")[[*columns, "day"]] for month in ("june", "july"))
days = june.pop("day"), july.pop("day")
result = isodepth.two_sample_test(
    june, july, n_directions=300, n_permutations=199, blocks=days, random_state=0
)

# %%
# **In a notebook**, a result shows its headline, the changes with small figures, and the rows that
# look wrong. The text of the same summary is ``print(result)``.

result

# %%
# A data frame of the columns: the change of each, its size, and its p-value.

result.to_frame()

# %%
# **The gap at every level.** The hatched band contains the gaps when whole days are assigned to the
# two months at random. The observed gaps are above it at every level.

ax = result.plot("gap_profile")

# %%
# **The two samples** in the plane of their largest difference, with regions of four levels.

ax = nested_regions(result, names=("June", "July"))

# %%
# **The columns**, and **the null distribution**. Columns that are not significant are hollow.

ax = result.plot("contributions")

# %%

ax = result.plot()

# %%
# Every function accepts axes (``ax=``) and returns them, so figures can be combined and modified.
# There are figures for :doc:`monitors </tutorials/07_monitoring>` and for
# :doc:`distance matrices </tutorials/06_many_bags>`.
#
# **One sample**: the bagplot is a boxplot of two columns. The bag contains the deepest half of the
# rows. Rows outside the bag inflated by 3 are outliers.

ax = bagplot(june[["humid", "wind_speed"]].dropna())

# %%
# **For programs**: dictionaries, JSON and data frames of pandas, polars or pyarrow:

print(result.to_json(indent=1)[:320], "...")

# %%
# **A report** is one self-contained HTML file: the headline, the changes with figures, the rows
# that look wrong, the settings and how to repeat it. On the command line: ``isodepth report
# june.csv july.csv -o report.html``.

result.report("report.html", names=("June", "July"))
size = Path("report.html").stat().st_size
print(f"report.html: {size / 1e3:.0f} kB")
Path("report.html").unlink()
