"""
Which columns?
==============

A distance in thirteen columns is of little use if nobody knows which of them moved. Three
answers, from the quickest to the most careful, and the rows that stand outside.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import isodepth

wine = load_wine(as_frame=True)
first, second = (wine.data[wine.target == grower] for grower in (0, 1))

# %%
# **Shares.** ``column_shares`` averages the squared entries of the directions in which the
# regions are furthest apart over all levels, with weights gap². For a pure shift by *m* they
# are ``m_j² / |m|²``. Without ``scale`` the column with the largest numbers would decide alone:

result = isodepth.compare(first, second, scale="pooled", random_state=0)
for column, share in result.column_shares[:5]:
    print(f"{column:30}{share:.0%}")

# %%
# **Tests.** The columns of a test have a gap along their own axis, and a p-value adjusted for
# all of them: the chance that the *largest* gap of any column is as large. A column can carry a
# difference together with others without being different by itself, and the other way round.

test = isodepth.two_sample_test(first, second, random_state=0)
for column in test.columns:
    print(f"{column.column:30}gap {column.gap:5.2f}   p = {column.pvalue:.3f}")

# %%
# Both beside each other:

names = [column.column for column in test.columns]
shares = dict(result.column_shares)
at = np.arange(len(names))
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 4.5), layout="constrained", sharey=True)
left.barh(at, [100 * shares[name] for name in names], color="#1f4e79")
left.set(xlabel="share of the distance, %", yticks=at, yticklabels=names)
colors = ["#c1440e" if column.pvalue <= 0.05 else "#b8b8b8" for column in test.columns]
right.barh(at, [column.gap for column in test.columns], color=colors)
right.set(xlabel="gap along the column, in spreads")
right.set_title("red: p ≤ 0.05, adjusted", loc="left", fontsize="medium")
left.invert_yaxis()

# %%
# **Rows.** ``rows_outside`` lists the rows of the second sample that lie outside of the
# outermost region of the first, with how far they stick out, the furthest first. With 59 rows
# in 13 columns every other row lies outside; in the three columns that stand out it means
# something:

few = names[:3]
outside = isodepth.compare(first[few], second[few], scale="pooled", random_state=0).rows_outside()
print(f"{len(outside.rows)} of {len(second)} rows outside; the furthest:")
print(second.iloc[outside.rows[:3]][few].to_string())
