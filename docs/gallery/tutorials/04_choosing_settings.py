"""
Choosing eps, depth, q and directions
=====================================

The effect of the settings on real data: the trimmed fraction, the order of the rows, the maximum or
mean over directions, and the number of directions. :doc:`/choosing` has the advice without the
data.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import isodepth

table = load_breast_cancer(as_frame=True)
columns = ["mean radius", "mean texture", "mean smoothness", "mean symmetry"]
benign = table.data.loc[table.target == 1, columns].to_numpy()
malignant = table.data.loc[table.target == 0, columns].to_numpy()
scale = np.median(np.abs(benign - np.median(benign, axis=0)), axis=0)

# %%
# eps: share of wrong rows
# ------------------------
#
# Replace a share of the rows of one sample by wrong values. The distance increases slowly as long
# as the share is below ``eps``, and breaks down above it. It increases because wrong rows are
# trimmed first, so fewer clean rows are trimmed. Choose ``eps`` at least twice as large as the
# share that may be wrong. With a larger ``eps``, differences in the outer parts are not detected.

rng = np.random.default_rng(2024)
shares = np.linspace(0, 0.3, 13)
order = rng.permutation(len(malignant))
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for eps, color in ((0.05, "#56b4e9"), (0.1, "#0072b2"), (0.2, "#d55e00")):
    distances = []
    for share in shares:
        spoilt = malignant.copy()
        spoilt[order[: round(share * len(spoilt))]] = 50 * scale
        distances.append(isodepth.distance(benign, spoilt, eps=eps, scale=scale, random_state=0))
    ax.plot(100 * shares, distances, marker="o", markersize=4, color=color, label=f"eps = {eps}")
    ax.axvline(100 * eps, color=color, linewidth=0.8, linestyle=":")
ax.set(xlabel="wrong rows, %", ylabel="distance", yscale="log", ylim=(6, 60))
ax.set(yticks=[6, 10, 20, 50], yticklabels=["6", "10", "20", "50"], title="Bounded below eps")
ax.minorticks_off()
ax.legend()

# %%
# depth: order of the rows
# ------------------------
#
# * ``"projection"``, the default: outliers have the smallest depths if they are fewer than half of
#   the rows.
# * ``"halfspace"``: based on ranks; a cluster of outliers can be deep.
# * ``"irw"``: a mean over directions instead of a minimum; for fewer rows than columns.
# * ``"ai_irw"``: IRW after whitening with the covariance, which is not robust.

for depth in ("projection", "halfspace", "irw", "ai_irw"):
    clean = isodepth.distance(benign, malignant, depth=depth, scale=scale, random_state=0)
    spoilt = malignant.copy()
    spoilt[order[: len(spoilt) // 20]] = 50 * scale
    wrong = isodepth.distance(benign, spoilt, depth=depth, scale=scale, random_state=0)
    print(f"{depth:12}clean {clean:.3f}   with 5% wrong rows {wrong:.3f}")

# %%
# q: maximum or mean over directions
# ----------------------------------
#
# ``q=inf``, the default and the definition of the paper, uses the direction of the maximum
# difference: a Hausdorff distance. ``q=2`` averages over directions. Both give *m* for a shift by
# *m*. The effect of noise grows with the number of columns. It is smaller for the mean than for the
# maximum. Two samples of the same distribution:

print("columns   q=inf     q=2")
for d in (2, 10, 50):
    X, Y = rng.normal(size=(2, 300, d))
    maximum, mean = (isodepth.distance(X, Y, q=q, random_state=0) for q in (np.inf, 2))
    print(f"{d:7}   {maximum:.3f}   {mean:.3f}")

# %%
# Use ``q=2`` to detect differences in many columns, and ``q=inf`` for the Hausdorff distance
# between regions.
#
# Number and family of directions
# -------------------------------
#
# With ``q=inf`` the search starts from ``n_directions`` random directions and continues by ascent
# (``refine``). Without ascent, a thousand directions yield 41% of the distance in fifty columns.
# With ascent, fifty directions are enough. (The distance of samples is slightly larger than that of
# their distributions.)

X = rng.normal(size=(500, 50))
Y = rng.normal(size=(500, 50)) + 4
print(f"distance of the distributions: {4 * np.sqrt(50):.2f}")
for refine in (0, 20):
    for n_directions in (50, 1000):
        start = time.perf_counter()
        distance = isodepth.distance(X, Y, n_directions=n_directions, refine=refine, random_state=0)
        seconds = time.perf_counter() - start
        print(
            f"refine={refine:<3} n_directions={n_directions:<5} {distance:5.2f}   "
            f"{1000 * seconds:.0f} ms"
        )

# %%
# Distances of many samples (``pairwise``) are refined only with ``refine=20``, which takes longer.
# Otherwise use ``q=2`` with ``directions="orthogonal"`` for more than a few columns. In the plane
# ``directions="equispaced"`` is better than random directions.
