"""
Units and missing values
========================

Real tables have columns in different units, and missing values. The data: hourly weather at Newark
in 2013, from ``examples/weather`` of the repository.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import isodepth

weather = pd.read_csv("../../../examples/weather/year.csv.gz")
columns = ["temp", "dewp", "humid", "wind_speed", "pressure", "visib"]
january = weather.loc[weather["month"] == 1, columns]
april = weather.loc[weather["month"] == 4, columns]

# %%
# Missing values
# --------------
#
# By default they are an error that names the columns:

try:
    isodepth.compare(january, april)
except isodepth.errors.InvalidInputError as error:
    print(error)

# %%
# ``nan_policy="omit"`` drops the rows with missing values, and the result counts them. If values
# are missing more often in one of the samples, this is a difference that the remaining rows do not
# show.

result = isodepth.compare(january, april, nan_policy="omit", scale="pooled", random_state=0)
print(result.missing)

# %%
# Units
# -----
#
# The distance is a length, so a column in pascals has a hundred times the weight of the same column
# in hectopascals. With ``scale=None``, the default, :func:`isodepth.compare` issues a
# :class:`isodepth.errors.ScaleWarning` if one column dominates.

in_pascal = [table.assign(pressure=100 * table["pressure"]) for table in (january, april)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", isodepth.errors.ScaleWarning)
    plain = isodepth.compare(*in_pascal, scale=None, nan_policy="omit", random_state=0)
print(*[each.message for each in caught if each.category is isodepth.errors.ScaleWarning])
largest = plain.contributions[0]
print(f"largest contribution: {largest.column} {largest.fraction:.0%}")

# %%
# ``scale="pooled"`` divides every column by its spread in both samples together. The result then
# does not depend on the units. The test, the monitor and the command line do this by default:

pooled = isodepth.compare(*in_pascal, scale="pooled", nan_policy="omit", random_state=0)
print(f"{result.distance:.6f} {pooled.distance:.6f}")

# %%
# ``scale="reference"`` divides by the spread in the first sample. An array is a custom scale, such
# as the required accuracy:

reference = isodepth.compare(january, april, scale="reference", nan_policy="omit", random_state=0)
tolerances = np.array([5, 5, 10, 5, 10, 5])
custom = isodepth.compare(january, april, scale=tolerances, nan_policy="omit", random_state=0)

# %%
# The contributions of the columns with each choice:

choices = {
    "none, pressure in Pa": plain,
    "pooled": pooled,
    "reference": reference,
    "custom": custom,
}
fig, axes = plt.subplots(1, 4, figsize=(9, 3.2), layout="constrained", sharey=True)
at = np.arange(len(columns))
for ax, (name, one) in zip(axes, choices.items(), strict=True):
    fractions = {each.column: each.fraction for each in one.contributions}
    ax.barh(at, [100 * fractions[column] for column in columns], color="#0072b2")
    ax.set_title(f"{name}\ndistance {one.distance:.3g}", fontsize="medium")
    ax.set(xlabel="contribution, %", yticks=at, yticklabels=columns, xlim=(0, 100))
axes[0].invert_yaxis()
