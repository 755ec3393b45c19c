"""
Monitoring: when to raise an alarm
==================================

Batches of data arrive one after another, and no two are alike. :class:`isodepth.Monitor` compares
them with a reference and raises an alarm if the evidence for a change is strong enough. The
probability of any false alarm is at most ``alpha``, however long the stream is.
"""

import pandas as pd

import isodepth
from isodepth.plot import timeline

# %%
# 24,000 flights from New York in 2013, in random order, from ``examples/flights`` of the
# repository. The first 16,000 are the reference. Each batch consists of 200 of the others.

columns = ["dep_delay", "arr_delay", "air_time", "distance"]
flights = pd.read_csv("../../../examples/flights/year.csv.gz")
shuffled = flights[columns].sample(frac=1, random_state=7)
reference = shuffled[:16_000]
batches = [shuffled[start : start + 200] for start in range(16_000, 24_000, 200)]

monitor = isodepth.Monitor(reference, alpha=0.01, random_state=0)

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
# The evidence of each batch with the threshold of the alarm:

figure = timeline(monitor)

# %%
# **Dependent rows.** Rows of one day have more in common than rows of a whole year: a storm delays
# all of them. ``blocks`` takes whole days (weeks, machines) as units, see :doc:`/monitoring`.
#
# **Contaminated rows.** With ``tolerance=0.05``, 5% of the rows of each batch may have any values.
# With ``patience=2`` a single batch cannot raise an alarm.

patient = isodepth.Monitor(reference, patience=2, random_state=0)
storm = batches[28] + [180, 180, 0, 0]
verdict = patient.check(storm)
print("alarm after one terrible day:", verdict.alarm)
