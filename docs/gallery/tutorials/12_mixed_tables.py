"""
Tables with categories
======================

Most tables have numbers, texts, dates and identifiers. 600 flights out of New York in January
2013 and 600 in July, from ``examples/flights`` of the repository: what differs between the two
months?
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
# Every column gets a kind. **Numbers** are in the distance and in the test; of **categories**
# (texts, booleans, categorical columns) the shares of the values are in the test. Dates and
# identifiers are left out. The result lists every column and says what was done with it.

result = isodepth.compare(
    january, july, nan_policy="omit", scale="pooled", n_permutations=199, random_state=0
)
for each in result.kinds:
    print(f"{each.column:10} {each.kind:10} {each.use:9} {each.note}")

# %%
# ``kinds`` says what the type of a column does not: ``"category"`` for codes such as zip codes,
# ``"numeric"`` for dates (days since 1970) and ordered categories (their ranks), a list of values
# in their order, or ``"omit"``.
#
# The size of the effect comes first: with many rows any difference is significant. Then what
# changed in which columns:

print(result.test)

# %%
# The shares of the categories side by side. Carriers and airports are about the same in both
# months; delays are not, and those of the carrier EV grew more than the others. The test looks for
# such a change as well: it compares the ranks of numbers within each category.

picture = result.plot("shares")

# %%
# **A report** for somebody who was not there:

result.report(Path(mkdtemp()) / "flights.html", names=("January", "July"))

# %%
# **The same on the command line**, ``isodepth test examples/flights/january.csv ...``; a column of
# numbers is made a category with ``--category NAME``, one of dates a number with
# ``--numeric NAME``:

files = [str(folder / "january.csv"), str(folder / "july.csv")]
main(["test", *files, "--nan-policy", "omit", "--permutations", "199"])

# %%
# **A stream of batches** is compared by numbers and categories together. The verdict names values
# that the reference does not have, and shares that moved.

reference = pd.concat([january, july], ignore_index=True).drop(columns=["date", "tailnum"])
monitor = isodepth.DepthMonitor(
    reference, batch_size=50, nan_policy="omit", n_directions=50, random_state=0
)
batch = reference.sample(50, random_state=1)
batch.loc[batch.index[:10], "carrier"] = "ZZ"
print(monitor.check(batch))
