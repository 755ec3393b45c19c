"""
Tables with categories
======================

Most tables have numbers, strings, dates and identifiers. The data: 600 flights from New York in
January 2013 and 600 in July, from ``examples/flights`` of the repository.
"""

from pathlib import Path
from tempfile import mkdtemp

import pandas as pd

import isodepth
from isodepth.cli import main

folder = Path("../../../examples/flights")
january, july = (pd.read_csv(folder / f"{month}.csv") for month in ("january", "july"))
print(july.head().to_string())

# %%
# Every column has a kind. **Numbers** are part of the distance and the test. For **categories**
# (strings, booleans, categorical columns) the test compares the shares of the values. Dates and
# identifiers are not compared. The result lists every column with its kind, and its use in the
# words of the option ``kinds``.

result = isodepth.two_sample_test(january, july, n_permutations=199, random_state=0)
for each in result.kinds:
    print(f"{each.column:10} {each.kind:10} {each.use:9} {each.note}")

# %%
# ``kinds`` overrides the detected use: ``"category"`` for codes such as zip codes, ``"numeric"``
# for dates (days since 1970) and ordered categories (their ranks), a list of values in their order,
# or ``"omit"``.
#
# The test lists the changes in the units of their columns:

print(result)

# %%
# The shares of the categories in both samples:

shares = pd.DataFrame(result.category_shares).set_index(["column", "value"])
ax = shares.plot.barh(figsize=(8, 6))

# %%
# **A report** for a colleague:

result.report(Path(mkdtemp()) / "flights.html", names=("January", "July"))

# %%
# **On the command line**, ``--category NAME`` treats a column of numbers as a category, and
# ``--numeric NAME`` a column of dates as numbers:

files = [str(folder / "january.csv"), str(folder / "july.csv")]
main(["test", *files, "--n-permutations", "199"])

# %%
# **A monitor** compares numbers and categories of batches. The verdict names values that do not
# occur in the reference, and shares that changed.

reference = pd.concat([january, july], ignore_index=True).drop(columns=["date", "tailnum"])
monitor = isodepth.Monitor(reference, random_state=0)
batch = reference.sample(50, random_state=1)
batch.loc[batch.index[:10], "carrier"] = "ZZ"
print(monitor.check(batch))
