"""
Gaps
====

Two samples are compared region by region: the deepest half of one with the deepest half of the
other, and so on. The gap is the distance between two such regions. The distance of the samples is
the mean of the gaps over levels.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull
from sklearn.datasets import load_iris

import isodepth
from isodepth.plot import gap_profile

iris = load_iris(as_frame=True)
columns = ["sepal length (cm)", "sepal width (cm)"]
X, Y = (iris.data.loc[iris.target == kind, columns].to_numpy() for kind in (1, 2))
result = isodepth.compare(X, Y, scale=None, directions="equispaced")


def outline(points):
    """Return the closed boundary of a convex hull."""
    corners = ConvexHull(points).vertices
    return points[np.append(corners, corners[0])]


# %%
# **The gap of one level** is the Hausdorff distance of the two regions: the maximum distance from a
# point of one region to the other region. For convex regions it is the maximum difference of their
# support functions over all directions, ``|h_X(u) - h_Y(u)|``. The dashed lines touch the regions
# in the maximizing direction.

fig, axes = plt.subplots(1, 3, figsize=(10.5, 3), layout="constrained", sharex=True, sharey=True)
middles = result.levels
for ax, beta in zip(axes, (0.1, 0.5, 0.85), strict=True):
    level = int(np.argmin(np.abs(middles - beta)))
    u = result.gap_directions[level]
    for points, regions, color in zip((X, Y), result.regions, ("#0072b2", "#d55e00"), strict=True):
        ax.plot(*points.T, "o", color=color, markersize=3, alpha=0.3)
        inside = points[regions.indices(middles[level])]
        if len(inside) > 2:
            ax.fill(*outline(inside).T, color=color, alpha=0.2)
            ax.plot(*outline(inside).T, color=color, linewidth=2)
        touched = inside[np.argmax(inside @ u)]
        along = touched + np.outer([-1, 1], [-u[1], u[0]])
        ax.plot(*along.T, color=color, linestyle="--", linewidth=1)
        ax.plot(*touched, "o", color=color, markersize=6)
    ax.set(title=f"β = {beta}: gap {result.gaps[level]:.2f}", xlabel="sepal length (cm)")
    ax.set(aspect="equal", xlim=(4.6, 8.2), ylim=(1.8, 4))
axes[0].set_ylabel("sepal width (cm)")

# %%
# **The gaps of all levels** are the profile of a comparison. Large gaps on the left mean that the
# centers differ. Gaps that only increase to the right mean that the outer parts differ. The
# distance is their mean of order ``p`` over the levels up to 1 - ``eps``.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
gap_profile(result, ax=ax)

# %%
# **Typical profiles.** A shift, a change of scale and heavier tails, 2000 rows each:

rng = np.random.default_rng(2024)
base = rng.normal(size=(2000, 2))
others = {
    "shifted by (1, 0)": rng.normal(size=(2000, 2)) + [1, 0],
    "1.5 times as wide": 1.5 * rng.normal(size=(2000, 2)),
    "heavier tails": rng.standard_t(3, size=(2000, 2)),
    "same distribution": rng.normal(size=(2000, 2)),
}
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
styles = zip(("#0072b2", "#d55e00", "#009e73", "0.6"), ("-", "--", "-.", ":"), strict=True)
for (name, other), (color, style) in zip(others.items(), styles, strict=True):
    one = isodepth.compare(base, other, eps=0.01, levels=100, scale=None, directions="equispaced")
    ax.plot(one.levels, one.gaps, color=color, linestyle=style, linewidth=2, label=name)
ax.set(xlabel="level β", ylabel="gap", title="Profiles of four differences", ylim=(0, 4))
ax.legend()

# %%
# **Limits.** Regions are convex. An annulus and a disc with the same boundary have
# regions of the same shape: the distance is a pseudo-metric. If differences inside matter, use
# optimal transport, MMD or the energy distance (:doc:`/alternatives`).
