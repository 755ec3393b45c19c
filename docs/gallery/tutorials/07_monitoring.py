"""
Monitoring: when to raise an alarm
==================================

Batches of data arrive one after another, and no two are alike. :class:`isodepth.DepthMonitor`
learns from a reference how undrifted batches score, and raises an alarm when the evidence for a
change, over all batches so far, is strong enough. The probability that it ever raises a false alarm
is at most ``alpha``, however long the stream is.
"""

import pandas as pd

import isodepth
from isodepth.plot import monitor_timeline

# %%
# 24,000 flights out of New York in 2013, in random order, from ``examples/flights`` of the
# repository. The first 16,000 are the reference; each batch is 200 of the others.

columns = ["dep_delay", "arr_delay", "air_time", "distance"]
flights = pd.read_csv("../../../examples/flights/year.csv.gz")
shuffled = flights[columns].sample(frac=1, random_state=0)
first = shuffled[:16_000]
batches = [shuffled[start : start + 200] for start in range(16_000, 24_000, 200)]

monitor = isodepth.DepthMonitor(first, batch_size=200, alpha=0.01, n_directions=50, random_state=0)
print(monitor.calibration.sampling)

# %%
# Twenty batches without a change: no alarm.

for batch in batches[:20]:
    verdict = monitor.check(batch)
print(verdict)

# %%
# Now a clock is wrong, and all arrival delays are recorded 20 minutes too long.

for batch in batches[20:28]:
    verdict = monitor.check(batch + [0, 20, 0, 0])
print(verdict)

# %%
# Scores with the band of undrifted batches, the evidence with the threshold of the alarm, and the
# contributions of the columns to each batch:

figure = monitor_timeline(monitor)

# %%
# **Rows of one day have more in common** than rows drawn from a whole year: a storm delays all
# of them. Then rows sampled at random are the wrong comparison, and a stream without a change soon
# raises an alarm. ``blocks`` takes whole days (weeks, machines) as the batches of the reference
# instead; :doc:`/monitoring` shows this for a year of flights.
#
# **Contaminated rows.** With ``tolerance=0.05``, 5% of the rows of each batch may have any values.
# ``patience=2`` never raises an alarm for a single batch.

patient = isodepth.DepthMonitor(first, batch_size=200, patience=2, n_directions=50, random_state=0)
storm = batches[28] + [180, 180, 0, 0]
verdict = patient.check(storm)
print(f"one terrible day: p = {verdict.pvalue:.4f}, alarm: {verdict.alarm}")
