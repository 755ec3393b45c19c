"""
Is it significant?
==================

Two samples of the same distribution are never at distance zero. :func:`isodepth.two_sample_test`
says whether a difference is larger than chance explains, what kind of difference it is, and in
which columns.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

import isodepth
from isodepth.plot import null_distribution

# %%
# Wines of one grower, assigned at random to two samples: any difference between them is
# chance. The first grower against the second: it is not.

wine = load_wine(as_frame=True)
first, second = (wine.data[wine.target == grower] for grower in (0, 1))
half = np.random.default_rng(0).permutation(len(second)) < len(second) // 2

alike = isodepth.two_sample_test(second[half], second[~half], random_state=0)
apart = isodepth.two_sample_test(first, second, random_state=0)
print(alike.verdict)
print(apart.verdict)

# %%
# The p-value is the share of random permutations of the labels with a statistic at least as large,
# the observed one counted in. It is exact for any distribution and any number of rows, as long as
# rows are exchangeable. ``null_distribution`` holds the statistics of the permutations, and
# ``components`` what was combined.

for component in apart.components:
    print(f"{component.name:12}{component.kind:12}{component.carrier:28}p = {component.pvalue}")

fig, axes = plt.subplots(2, 1, figsize=(7.5, 6.4), layout="constrained")
for ax, test, name in zip(axes, (alike, apart), ("One grower, split", "Two growers"), strict=True):
    null_distribution(test, ax=ax)
    ax.set_title(name, loc="left", fontweight="bold")

# %%
# ``compare(..., n_permutations=199)`` runs the test along with the comparison. The profile of gaps
# then has the band in which those of the same distribution would lie: here they differ at every
# level.

compared = isodepth.compare(
    first, second, n_permutations=199, scale="pooled", n_directions=200, random_state=0
)
picture = compared.plot("gaps")

# %%
# **Rows that depend on each other.** Hours of one day are not independent: a warm morning is
# followed by a warm noon. If they are permuted one by one, the test underestimates what chance can
# do. The odd and the even days of July have no reason to differ. Permuted by hours they seem to;
# ``blocks`` permutes the rows of a day together, and the difference is no longer significant.

columns = ["temp", "dewp", "wind_speed", "pressure"]
july = pd.read_csv(Path("../../../examples/weather/july.csv")).dropna(subset=columns)
odd, even = july[july["day"] % 2 == 1], july[july["day"] % 2 == 0]

by_hour = isodepth.two_sample_test(odd[columns], even[columns], random_state=0)
by_day = isodepth.two_sample_test(
    odd[columns], even[columns], blocks=(odd["day"], even["day"]), random_state=0
)
for name, test in (("hours", by_hour), ("days", by_day)):
    print(
        f"{name:6}observed {test.statistic:.2f}, by chance {test.null_mean:.2f}, p = {test.pvalue}"
    )

# %%
# **Wrong rows.** If a share of the rows is contaminated, the distributions differ, and with enough
# rows every consistent test rejects. ``tolerance=0.05`` asks another question: is the difference
# larger than 5% of wrong rows in each sample can explain?

rng = np.random.default_rng(1)
X, Y = rng.normal(size=(2, 2000, 3))
X[:80] = [9, 9, 0]
plain = isodepth.two_sample_test(X, Y, random_state=0)
tolerant = isodepth.two_sample_test(X, Y, tolerance=0.05, random_state=0)
print(f"plain p = {plain.pvalue}, with a tolerance p = {tolerant.pvalue}")
print(f"smallest tolerance that is not rejected: {tolerant.smallest_tolerance}")

# %%
# More in :doc:`/significance`: what is proved, what is only simulated, and how it compares with
# other tests.
