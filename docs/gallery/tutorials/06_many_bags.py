"""
Many bags
=========

A *bag* is a whole sample: a week of weather, a patient, an image. Each bag is fitted once, and all
bags are compared with each other: distances, clusters, neighbors.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering
from sklearn.manifold import ClassicalMDS

import isodepth

# %%
# Hourly weather at Newark in 2013 (``examples/weather`` of the repository), divided into 52 weeks:

weather = pd.read_csv("../../../examples/weather/year.csv.gz")
columns = ["temp", "dewp", "wind_speed", "pressure"]
rows = weather.dropna(subset=columns)
dates = pd.to_datetime(rows[["month", "day"]].assign(year=2013))
hourly = rows[columns].assign(week=np.minimum((dates.dt.day_of_year - 1) // 7, 51) + 1)
sizes = hourly["week"].value_counts()
print(len(sizes), "weeks of", sizes.min(), "to", sizes.max(), "rows")

# %%
# :func:`isodepth.pairwise` computes a region table of each week, with common directions, and
# compares these tables. ``by`` is the column of the labels. Lists and dictionaries of
# samples are accepted as well. ``q=2`` averages over directions.

options = {"q": 2, "directions": "orthogonal", "n_directions": 200, "scale": "pooled"}
matrix = isodepth.pairwise(hourly, by="week", **options, random_state=0)
print(matrix.to_frame()[27].nsmallest(3))

# %%
# All distances as a heat map. The dendrogram puts weeks of similar weather next to each other:

ax = matrix.plot()

# %%
# A map of the weeks (the numbers) by classical multidimensional scaling: weeks of similar weather
# are close to each other. Summer is on one side, winter on the other, spring and autumn in between.

month = rows.groupby(hourly["week"])["month"].median().astype(int).to_numpy()
places = ClassicalMDS(metric="precomputed").fit_transform(matrix.values)
ax = plt.figure().subplots()
for season, name in enumerate(["winter", "spring", "summer", "autumn"]):
    ax.plot(*places[month % 12 // 3 == season].T, "o^sD"[season], label=name)
for week, place in zip(matrix.labels, places, strict=True):
    ax.annotate(str(week), place)
ax.legend()

# %%
# Clusters, by any method of scikit-learn that accepts distances:

clusters = AgglomerativeClustering(3, metric="precomputed", linkage="average")
labels = clusters.fit_predict(matrix.values)
for label in np.unique(labels):
    print("cluster", label, "weeks", ", ".join(str(i + 1) for i in np.flatnonzero(labels == label)))

# %%
# **The nearest of many.** ``tables.distances`` compares one region table with all others. Which
# weeks were similar to the first week of July?

bags = [rows[columns] for _, rows in hourly.groupby("week")]
tables = isodepth.region_tables(bags, **options, random_state=0)
distances = tables.distances(tables[26])
nearest = distances.argsort()[:4]
print("weeks", nearest + 1, "at", distances[nearest].round(2))

# %%
# **Points of a Euclidean space.** With ``p = q = 2`` the rows of
# :class:`isodepth.RegionTransformer` are points whose Euclidean distance *is* the distance of the
# bags, for KMeans, PCA or an index of vectors:

rows = isodepth.RegionTransformer(
    p=2, q=2, directions="orthogonal", n_directions=200, scale="pooled", random_state=0
).fit_transform(bags)
print(rows.shape, np.linalg.norm(rows[0] - rows[30]).round(6), matrix.values[0, 30].round(6))
