"""
Is it significant?
==================

The distance of two samples of the same distribution is not zero.
:func:`isodepth.two_sample_test` decides whether a difference is larger than chance, and lists the
changes.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

import isodepth
from isodepth.plot import null_distribution

# %%
# First test: the wines of one grower, assigned at random to two samples. Any difference is due to
# chance. Second test: the wines of two growers.

wine = load_wine(as_frame=True)
first, second = (wine.data[wine.target == grower] for grower in (0, 1))
half = np.random.default_rng(2024).permutation(len(second)) < len(second) // 2

alike = isodepth.two_sample_test(second[half], second[~half], random_state=0)
apart = isodepth.two_sample_test(first, second, random_state=0)
print(alike.headline)
print(apart.headline)

# %%
# The p-value is the fraction of label permutations, including the observed labels, with a statistic
# at least as large as the observed one. It is exact for any distribution and any number of rows if
# the rows are exchangeable. ``components`` are the combined statistics, and ``null_distribution``
# contains the statistics of the permutations.

for component in apart.components:
    print(f"{component.name:16}{component.feature:28}p = {component.pvalue}")

fig, axes = plt.subplots(2, 1, figsize=(7.5, 6.4), layout="constrained")
for ax, test, name in zip(axes, (alike, apart), ("One grower, split", "Two growers"), strict=True):
    null_distribution(test, ax=ax)
    ax.set_title(name, loc="left", fontweight="bold")

# %%
# The profile of gaps of a test shows the distance at each level of depth, and the band of the gaps
# under permutation.

ax = apart.plot("gap_profile")

# %%
# **Dependent rows.** Hours of one day are not independent: a warm morning is followed by a warm
# noon. If they are permuted one by one, the test underestimates the variation due to chance. There
# is no reason why the odd and the even days of July should differ, but with single hours the test
# rejects. ``blocks`` names the column of the day, which is not compared. The rows of a day are
# permuted together, and the difference is not significant.

columns = ["temp", "dewp", "wind_speed", "pressure"]
july = pd.read_csv(Path("../../../examples/weather/july.csv")).dropna(subset=columns)
odd, even = july[july["day"] % 2 == 1], july[july["day"] % 2 == 0]

by_hour = isodepth.two_sample_test(odd[columns], even[columns], random_state=0)
with_day = [*columns, "day"]
by_day = isodepth.two_sample_test(odd[with_day], even[with_day], blocks="day", random_state=0)
for name, test in (("hours", by_hour), ("days", by_day)):
    by_chance = test.null_distribution.mean()
    print(f"{name:6}observed {test.statistic:.2f}, by chance {by_chance:.2f}, p = {test.pvalue}")

# %%
# **Wrong rows.** If some rows are contaminated, the distributions differ, and with enough rows
# every consistent test rejects. With ``tolerance=0.05`` the test rejects only if the difference is
# larger than 5% of wrong rows in each sample can explain.

rng = np.random.default_rng(1)
X, Y = rng.normal(size=(2, 2000, 3))
X[:80] = [9, 9, 0]
plain = isodepth.two_sample_test(X, Y, random_state=0)
tolerant = isodepth.two_sample_test(X, Y, tolerance=0.05, random_state=0)
print(f"plain p = {plain.pvalue}, with a tolerance p = {tolerant.pvalue}")
print(plain.changed_share_text)

# %%
# More in :doc:`/significance` and :doc:`/guarantees`: proofs, simulations, and a comparison with
# other tests.
