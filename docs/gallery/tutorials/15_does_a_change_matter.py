"""
When does a significant change matter?
======================================

With many rows, every table differs significantly from every other. A p-value does not tell whether
a change is large. `changed_share` does: it is a lower confidence bound for the share of rows that
changed. It has a zero point and the same meaning in every table.
"""

# %%
# Two changes of one large table
# ------------------------------
#
# The weather at Newark in one year, hour by hour. The rows are shuffled and divided into
# two halves, which then have the same distribution.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import isodepth

year = pd.read_csv("../../../examples/weather/year.csv.gz")
year = year[["temp", "wind_speed", "pressure", "visib"]]
year = year.sample(frac=1, random_state=0, ignore_index=True)
half = len(year) // 2
before, after = year[:half], year[half:]


def test(before: pd.DataFrame, after: pd.DataFrame) -> isodepth.typing.TwoSampleResult:
    return isodepth.two_sample_test(before, after, n_permutations=99, random_state=0)


print(len(before), "and", len(after), "rows")
print(test(before, after).headline)

# %%
# A thermometer that reads one degree Fahrenheit too high changes every row a little. A thermometer
# that reads 15 degrees too high changes much more. Both changes have the smallest possible p-value.

for degrees in (1, 15):
    result = test(before, after.assign(temp=after["temp"] + degrees))
    print(f"{degrees:2} degrees: p = {result.pvalue:g}, {result.changed_share_text}")

# %%
# The bound is about rows and not about degrees. At least this share of the rows of the second table
# has no counterpart in the first, however rows of the same values are matched.
#
# Rare events
# -----------
#
# If 2% of the temperatures are -9999, at most 2% of the rows changed, and the bound is close to it.

wrong = after.copy()
wrong.iloc[: len(wrong) // 50, wrong.columns.get_loc("temp")] = -9999
result = test(before, wrong)
print(result.headline)
print(result.changed_share_text)

# %%
# The bound grows with the number of rows
# ---------------------------------------
#
# The bound is a claim that holds with 95% confidence. With few rows little can be claimed. With
# many rows the bound approaches the share of rows that changed, which is the dashed line.

rng = np.random.default_rng(0)
sizes = [100, 300, 1000, 3000]
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for shift, truth in ((0.3, 0.119), (1.0, 0.383), (2.0, 0.683)):
    bounds = []
    for n in sizes:
        X, Y = rng.normal(size=(2, n, 3))
        bounds.append(test(X, Y + [shift, 0, 0]).changed_share)
    (line,) = ax.plot(sizes, bounds, marker="o", label=f"shift of {shift:g} standard deviations")
    ax.axhline(truth, color=line.get_color(), linestyle="--", linewidth=0.8)
ax.set(xscale="log", xlabel="rows of each sample", ylabel="changed share, at least", ylim=(0, 0.75))
ax.legend()

# %%
# A threshold that means something
# --------------------------------
#
# With ``tolerance=0.05`` the test ignores changes of fewer than 5% of the rows.

small = after.assign(temp=after["temp"] + 1)
result = isodepth.two_sample_test(before, small, tolerance=0.05, n_permutations=99, random_state=0)
print(result.headline)

# %%
# On the command line, ``isodepth test A B --max-changed 5%`` ends with exit code 1 if more than
# 5% of the rows changed with 95% confidence. :doc:`/guarantees` has the theorem and its
# assumptions.
