"""
From CSV to report
==================

From a file to a report, in Python and on the command line. The data: 442 patients with diabetes
(``sklearn.datasets.load_diabetes``). How do patients whose disease progressed quickly differ from
the others?
"""

from pathlib import Path
from tempfile import mkdtemp

import pandas as pd
from sklearn.datasets import load_diabetes

import isodepth
from isodepth.cli import main

table = load_diabetes(as_frame=True, scaled=False).frame
table["sex"] = table["sex"].astype(int)
progress = table.pop("target")
table["progress"] = (progress > progress.median()).map({False: "slow", True: "quick"})
file = Path(mkdtemp()) / "patients.csv"
table.to_csv(file, index=False)
print(file.read_text()[:250])

# %%
# **On the command line**, ``--by progress`` divides the rows of one file into groups. Two
# groups are compared and tested. For more groups use ``isodepth pairwise``. ``sex`` is coded as 1
# and 2, and is a category:

main(
    ["report", str(file), "--by", "progress", "--category", "sex",
     "--n-permutations", "199", "-o", str(file.with_suffix(".html"))]
)  # fmt: skip

# %%
# **In Python**, with pandas:

patients = pd.read_csv(file)
slow, quick = (
    patients[patients["progress"] == name].drop(columns="progress") for name in ("slow", "quick")
)
result = isodepth.two_sample_test(
    slow, quick, kinds={"sex": "category"}, n_permutations=199, random_state=0
)
print(result)

# %%
# The test of every column:

print(result.to_frame().round(3).to_string(index=False))

# %%
# Sex has about the same shares in both groups. The body mass index and s5 (the logarithm of the
# triglycerides) differ most.

ax = result.plot("contributions")
