"""
Regions
=======

A depth measures how central a row is. The region of level β contains the deepest rows, slightly
more than a fraction β of them. Regions are nested, from the center outwards. isodepth compares two
samples through their regions.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull
from sklearn.datasets import load_iris

import isodepth

iris = load_iris(as_frame=True)
flowers = iris.data.loc[iris.target == 1, ["sepal length (cm)", "sepal width (cm)"]].to_numpy()
regions = isodepth.Metric(directions="equispaced").regions(flowers)

# %%
# **Nested regions.** Fifty flowers of *Iris versicolor*, darker if they are deeper, with the
# regions of levels 0.1 to 0.9.


def outline(points):
    """Return the closed boundary of a convex hull."""
    corners = ConvexHull(points).vertices
    return points[np.append(corners, corners[0])]


levels = (0.1, 0.3, 0.5, 0.7, 0.9)
fig, ax = plt.subplots(figsize=(6.5, 4.8), layout="constrained")
for beta, shade in zip(levels, plt.cm.Blues(np.linspace(0.95, 0.4, len(levels))), strict=True):
    line = outline(flowers[regions.indices(beta)])
    ax.plot(*line.T, color=shade, linewidth=2, label=f"β = {beta}")
order = np.argsort(np.argsort(regions.depths))
ax.scatter(*flowers.T, c=order, cmap="Blues", s=30, edgecolor="0.4", linewidth=0.6, zorder=3)
ax.set(xlabel="sepal length (cm)", ylabel="sepal width (cm)", title="Regions of one sample")
ax.legend(title="level")

# %%
# **Support functions.** A convex region is described by its extent in every direction *u*: h(u) =
# max ⟨x, u⟩ over the rows inside. A running maximum in the order of depth yields h(u) for all
# levels in one pass.

angle = np.deg2rad(35)
u = np.array([np.cos(angle), np.sin(angle)])
center = flowers[regions.indices(0.0)].mean(axis=0)
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
left.plot(*flowers.T, "o", color="0.8", markersize=4)
for beta, color in ((0.5, "#0072b2"), (0.9, "#56b4e9")):
    inside = flowers[regions.indices(beta)]
    left.plot(*outline(inside).T, color=color, linewidth=2)
    touched = inside[np.argmax(inside @ u)]
    along = touched + np.outer([-0.8, 0.8], [-u[1], u[0]])
    left.plot(*along.T, color=color, linestyle="--")
    left.plot(*touched, "o", color=color, markersize=8)
left.annotate("", center + 1.9 * u, center, arrowprops={"arrowstyle": "->", "linewidth": 1.5})
left.annotate("u", center + 1.95 * u)
left.set(xlabel="sepal length (cm)", ylabel="sepal width (cm)", aspect="equal")
left.set_title("Extent of two regions along u")
betas = np.linspace(0, 0.99, 200)
right.step(betas, np.ravel(regions.support(u, betas)), where="post", color="#0072b2", linewidth=2)
right.set(xlabel="level β", ylabel="h(u)", title="One direction, all levels")

# %%
# **Depths.** The ``projection`` depth measures distances from the median in units of the spread,
# the ``halfspace`` depth counts rows, and ``irw`` averages ranks. The figure shows the outermost
# region with ``eps = 0.1`` after five flowers are moved far away. The region of ``projection``
# excludes all five. The other depths use ranks instead of distances, and their regions contain
# one (``irw``) and all (``halfspace``) of them.

spoilt = flowers.copy()
spoilt[:5] = [8.2, 3.4] + 0.1 * np.random.default_rng(2024).normal(size=(5, 2))
fig, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
ax.plot(*spoilt.T, "o", color="0.75", markersize=4)
styles = {"projection": ("#0072b2", "-"), "halfspace": ("#d55e00", "--"), "irw": ("#009e73", "-.")}
for depth, (color, style) in styles.items():
    one = isodepth.Metric(depth=depth, directions="equispaced").regions(spoilt)
    line = outline(spoilt[one.indices(0.89)])
    ax.plot(*line.T, color=color, linestyle=style, linewidth=2, label=depth)
ax.set(xlabel="sepal length (cm)", ylabel="sepal width (cm)", title="Five rows far away")
ax.legend(title="depth", loc="lower right")
