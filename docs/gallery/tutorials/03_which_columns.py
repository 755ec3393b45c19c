"""
Which columns?
==============

Which of thirteen columns differ between two samples, and which rows do not look like the other
sample?
"""

from sklearn.datasets import load_wine

import isodepth

wine = load_wine(as_frame=True)
first, second = (wine.data[wine.target == grower] for grower in (0, 1))

# %%
# **Contributions** to the distance are the squared entries of the maximizing directions, averaged
# over all levels with weights gap². For a shift by *m* they are ``m_j² / |m|²``. With
# ``scale=None`` the column with the largest numbers would dominate:

result = isodepth.compare(first, second, scale="pooled", random_state=0)
for each in result.contributions[:5]:
    print(f"{each.column:30}{each.fraction:.0%}")

# %%
# **Tests.** The test of a column uses only its own values: the kind of change, the maximum
# difference of the empirical distribution functions, and a p-value adjusted for the number of
# columns. A column can contribute to the distance together with others without a significant change
# of its own, and vice versa.

test = isodepth.two_sample_test(first, second, random_state=0)
for column in test.column_tests:
    kind = column.change_kind or "-"
    print(f"{column.column:30}{kind:10}{column.difference:5.2f}   p = {column.pvalue:.3f}")

# %%
# The differences of the columns in one figure, with the p-values:

ax = test.plot("contributions")

# %%
# The same as a data frame, for a notebook or a file:

print(test.to_frame().round(3).head().to_string())

# %%
# **Rows.** ``suspicious_rows`` lists the rows that do not look like any row of the other sample,
# the most suspicious first, each with its unusual column. Suppose that a decimal point is
# missing in two rows:

wrong = second.copy()
wrong.iloc[:2, wrong.columns.get_loc("alcohol")] *= 10
half = len(second) // 2
result = isodepth.compare(second[half:], wrong[:half], scale="pooled", random_state=0)
print(result.suspicious_rows())
