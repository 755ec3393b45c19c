"""
Effect of eps, p and q
======================

Three numbers define the distance: ``eps`` is the trimmed fraction, ``p`` the order of the mean over
levels, and ``q`` the order of the mean over directions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import isodepth

wine = load_wine(as_frame=True)
columns = ["alcohol", "flavanoids", "color_intensity"]
X, Y = (wine.data.loc[wine.target == kind, columns].to_numpy(copy=True) for kind in (0, 1))
Y[:4] *= 4  # 4 of 71 rows are wrong

# %%
# **eps** cuts off the profile of gaps on the right: the outermost fraction of each sample is
# trimmed. The distance is the mean of the rest.

result = isodepth.compare(X, Y, eps=0.01, scale="pooled", random_state=0)
edges = np.append(result.level_intervals[:, 0], result.level_intervals[-1, 1])
fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
for ax, eps in zip(axes, (0.3, 0.1, 0.01), strict=True):
    ax.stairs(result.gaps, edges, color="0.7")
    kept = edges[:-1] < 1 - eps
    ax.stairs(result.gaps[kept], edges[: kept.sum() + 1], fill=True, color="#0072b2", alpha=0.35)
    ax.axvline(1 - eps, color="#d55e00", linestyle="--")
    distance = isodepth.distance(X, Y, eps=eps, scale="pooled", random_state=0)
    ax.axhline(distance, color="#0072b2", linewidth=1)
    ax.set(title=f"eps = {eps}: distance {distance:.2f}", xlabel="level β", xlim=(0, 1))
axes[0].set(ylabel="gap", ylim=(0, 20))

# %%
# **p** is the order of the mean over levels: 1 for the average, 2 by default, ∞ for the maximum.
# **q** is the order of the mean over directions: ∞, the default, for the maximum, as in the paper;
# 2 for the root mean square over all directions, scaled such that a shift by *m* has distance *m*.
#
# For a shift all of them agree. For a change of scale they do not, because the difference depends
# on the direction and the level.

rng = np.random.default_rng(2024)
base = rng.normal(size=(3000, 3))
cases = {"shift by (1, 1, 0)": base + [1, 1, 0], "one column doubled": base * [2, 1, 1]}
powers = [1, 2, 4, 8, np.inf]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, varied in zip(axes, ("p", "q"), strict=True):
    for (name, other), color in zip(cases.items(), ("#0072b2", "#d55e00"), strict=True):
        distances = [
            isodepth.distance(base, other, **{varied: power}, random_state=0) for power in powers
        ]
        ax.plot(range(len(powers)), distances, marker="o", color=color, label=name)
    ax.set(xlabel=varied, xticks=range(len(powers)), xticklabels=["1", "2", "4", "8", "∞"])
axes[0].set(ylabel="distance", ylim=(0, None), title="mean over levels (q = ∞)")
axes[1].set_title("mean over directions (p = 2)")
axes[0].legend()

# %%
# **Noise.** The maximum of many noisy differences is larger than their mean. The distance between
# two samples of the same distribution, 300 rows each:

dimensions = [2, 5, 10, 20, 40]
fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for q, color, name in ((np.inf, "#d55e00", "q = ∞"), (2, "#0072b2", "q = 2")):
    distances = [
        isodepth.distance(*rng.normal(size=(2, 300, d)), q=q, random_state=0) for d in dimensions
    ]
    ax.plot(dimensions, distances, marker="o", color=color, label=name)
ax.set(xlabel="columns", ylabel="distance", title="Two samples of the same distribution")
ax.legend()
