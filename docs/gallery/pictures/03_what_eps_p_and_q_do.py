"""
What eps, p and q do
====================

Three numbers define the distance: ``eps`` is the outermost share that is left out,
``p`` how levels are averaged, ``q`` how directions are.
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
# **eps** cuts the profile of gaps on the right. The outermost share of each sample is left
# out. The distance is the mean of the rest.

result = isodepth.compare(X, Y, eps=0.01, scale="pooled", random_state=0)
edges = np.append(result.levels[:, 0], result.levels[-1, 1])
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
# **p** is the order of the mean over levels: 1 is the average, 2 the default, ∞ the largest.
# **q** does the same with directions: ∞, the default, is the largest difference, as in the
# paper; 2 the root mean square over all directions, scaled so that a shift by *m* has distance
# *m*.
#
# For a pure shift all of them agree. For a change of scale they do not: every direction differs
# a little, and at every level by a different amount.

rng = np.random.default_rng(0)
base = rng.normal(size=(3000, 3))
cases = {"shift by (1, 1, 0)": base + [1, 1, 0], "one column doubled": base * [2, 1, 1]}
powers = [1, 2, 4, 8, np.inf]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, varied in zip(axes, ("p", "q"), strict=True):
    for (name, other), color in zip(cases.items(), ("#0072b2", "#d55e00"), strict=True):
        found = [
            isodepth.distance(base, other, **{varied: power}, random_state=0) for power in powers
        ]
        ax.plot(range(len(powers)), found, marker="o", color=color, label=name)
    ax.set(xlabel=varied, xticks=range(len(powers)), xticklabels=["1", "2", "4", "8", "∞"])
axes[0].set(ylabel="distance", ylim=(0, None), title="mean over levels (q = ∞)")
axes[1].set_title("mean over directions (p = 2)")
axes[0].legend()

# %%
# **Noise.** The largest of many noisy differences is large, their mean is not. The distance
# between two samples of the same distribution, 300 rows each:

dimensions = [2, 5, 10, 20, 40]
fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for q, color, name in ((np.inf, "#d55e00", "q = ∞"), (2, "#0072b2", "q = 2")):
    found = [
        isodepth.distance(*rng.normal(size=(2, 300, d)), q=q, random_state=0) for d in dimensions
    ]
    ax.plot(dimensions, found, marker="o", color=color, label=name)
ax.set(xlabel="columns", ylabel="distance", title="Two samples of the same distribution")
ax.legend()
