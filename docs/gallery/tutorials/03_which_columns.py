"""
Which columns?
==============

Which of thirteen columns differ between two samples? By their contributions to the distance, and by
tests; and which rows lie outside the other sample?
"""

from sklearn.datasets import load_wine

import isodepth

wine = load_wine(as_frame=True)
first, second = (wine.data[wine.target == grower] for grower in (0, 1))

# %%
# **Shares.** ``contributions`` averages the squared entries of the directions in which the
# regions are furthest apart over all levels, with weights gap². For a pure shift by *m* they
# are ``m_j² / |m|²``. Without ``scale`` the column with the largest numbers would dominate:

result = isodepth.compare(first, second, scale="pooled", random_state=0)
for column, share in result.contributions[:5]:
    print(f"{column:30}{share:.0%}")

# %%
# **Tests.** The test of each column uses its own values only: what changed about it, the largest
# difference between the shares of rows up to a value, and a p-value adjusted for all columns. A
# column can contribute to a distance together with others without being different by itself, and
# the other way round.

test = isodepth.two_sample_test(first, second, random_state=0)
for column in test.columns:
    print(f"{column.column:30}{column.kind:10}{column.difference:5.2f}   p = {column.pvalue:.3f}")

# %%
# Both in one picture: ``compare(..., n_permutations=...)`` makes the test along with the
# comparison.

both = isodepth.compare(first, second, n_permutations=199, scale="pooled", random_state=0)
picture = both.plot("columns")

# %%
# The same as a data frame, for a notebook or a file:

print(both.to_frame().round(3).head().to_string())

# %%
# **Rows.** ``rows_outside`` lists the rows of the second sample that lie outside of the
# outermost region of the first, the farthest first. In 13 columns nearly every row is outside;
# in three columns the list is informative. Which wines of the first grower are unlike those of the
# second?

minerals = ["malic_acid", "ash", "magnesium"]
compared = isodepth.compare(second[minerals], first[minerals], scale="pooled", random_state=0)
outside = compared.rows_outside()
print(f"{len(outside.rows)} of {len(first)} wines; the furthest:")
print(first.iloc[outside.rows[:3]][minerals].to_string())
picture = compared.plot("regions")
