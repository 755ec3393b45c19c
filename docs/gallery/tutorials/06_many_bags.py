"""
Many bags
=========

A *bag* is a whole sample: a week of weather, a patient, an image. Each bag is fitted once, and then
all of them are compared: distances, clusters, neighbors.
"""

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering

import isodepth
from isodepth.plot import sample_map

# %%
# Hourly weather at Newark in 2013 (``examples/weather`` of the repository), cut into 52 weeks:

weather = pd.read_csv("../../../examples/weather/year.csv.gz")
columns = ["temp", "dewp", "wind_speed", "pressure"]
rows = weather.dropna(subset=columns)
dates = pd.to_datetime(rows[["month", "day"]].assign(year=2013))
hourly = rows[columns].assign(week=np.minimum((dates.dt.day_of_year - 1) // 7, 51) + 1)
sizes = hourly["week"].value_counts()
print(len(sizes), "weeks of", sizes.min(), "to", sizes.max(), "rows")

# %%
# :func:`isodepth.pairwise` turns each week into a table of its regions, along directions that
# all of them share, and compares the tables. ``by`` names the column of the labels; lists of
# samples, dictionaries and group-bys are accepted as well. ``q=2`` averages over directions.

options = {"q": 2, "directions": "orthogonal", "n_directions": 200, "scale": "pooled"}
matrix = isodepth.pairwise(hourly, by="week", **options, random_state=0)
print(matrix.nearest("27"))

# %%
# A map of the weeks (the numbers): weeks with similar weather are close to each other. The year
# goes back and forth: summer on one side, winter on the other, spring and autumn in between.

seasons = np.array(["winter", "spring", "summer", "autumn"])
month = rows.groupby(hourly["week"])["month"].median().astype(int).to_numpy()
picture = sample_map(matrix, kinds=seasons[month % 12 // 3])

# %%
# The dendrogram of every fourth week: weeks that join at a low height are similar.

some = isodepth.DistanceMatrix.of(matrix.values[::4, ::4], matrix.labels[::4])
picture = some.plot("tree")

# %%
# Clusters, by any method of scikit-learn that accepts distances. They are the warm half of the
# year, the cold half, and the coldest week:

clusters = AgglomerativeClustering(3, metric="precomputed", linkage="average")
found = clusters.fit_predict(matrix.values)
for label in np.unique(found):
    print("cluster", label, "weeks", ", ".join(str(i + 1) for i in np.flatnonzero(found == label)))

# %%
# **The nearest of many.** ``tables.distances`` compares one table with all. Which weeks were
# similar to the first one of July?

bags = [rows[columns] for _, rows in hourly.groupby("week")]
tables = isodepth.tables(bags, **options, random_state=0)
distances = tables.distances(tables[26])
nearest = distances.argsort()[:4]
print("weeks", nearest + 1, "at", distances[nearest].round(2))

# %%
# **Points of a Euclidean space.** With ``p = q = 2`` the rows of
# :class:`isodepth.RegionTransformer` are points whose Euclidean distance *is* the distance of
# the bags, for KMeans, PCA or an index of vectors:

rows = isodepth.RegionTransformer(
    p=2, q=2, directions="orthogonal", n_directions=200, scale="pooled", random_state=0
).fit_transform(bags)
print(rows.shape, np.linalg.norm(rows[0] - rows[30]).round(6), matrix.values[0, 30].round(6))
