"""
Pictures and reports
====================

A result can be shown as a figure, sent to a colleague as one HTML file, or passed to
another program. June against July once more, with a test:
"""

from pathlib import Path

import pandas as pd

import isodepth
from isodepth.plot import bagplot, depth_contours, nested_regions

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
# **A notebook** shows a result with its columns: the contribution of each to the distance, how far
# apart the months are along it, and whether that is significant.

result

# %%
# **The gap at every level.** The hatched band shows the gaps when whole days are assigned to the
# two months at random. The observed gaps are above it at every level.

ax = result.plot()

# %%
# **The two samples** in the plane in which they differ most, with regions of four levels.

ax = nested_regions(result, names=("June", "July"))

# %%
# **The columns**, and **the null distribution**. Columns that are not significant are hollow.

ax = result.plot("columns")

# %%

ax = result.plot("null")

# %%
# **One sample in the plane**: depths as contours, labeled with the share of the rows inside, and
# a bagplot, which is a boxplot in two dimensions.

ax = depth_contours(july.dropna(), columns=("temp", "dewp"))

# %%

ax = bagplot(july.dropna(), columns=("wind_speed", "dewp"))

# %%
# Every function takes axes (``ax=``) and returns them, so that figures can be combined and
# changed. There are more for :doc:`many samples </tutorials/06_many_bags>` and for
# :doc:`monitors </tutorials/07_monitoring>`.
#
# **For programs** there are dictionaries, JSON and data frames of pandas, polars or pyarrow:

print(result.to_frame().round(3).to_string())

# %%

print(result.test.to_json(indent=1)[:320], "...")

# %%
# **A report** is one HTML file with all of this: the conclusion in a sentence, figures, tables
# that can be sorted and filtered, rows that lie outside, the settings and how to repeat it. It is
# self-contained. On the command line it is
# ``isodepth report june.csv july.csv -o report.html``.

result.report("report.html", names=("June", "July"))
size = Path("report.html").stat().st_size
print(f"report.html: {size / 1e3:.0f} kB")
Path("report.html").unlink()
