"""
From CSV to report
==================

442 patients with diabetes (``sklearn.datasets.load_diabetes``): what distinguishes those whose
disease progressed quickly? From a file to a report, in Python and on the command line.
"""

from pathlib import Path
from tempfile import mkdtemp

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
# **On the command line** the rows of one file are told apart by a column: ``--group-by progress``.
# Two groups are compared and tested, more are compared with each other. ``sex`` is coded as 1 and
# 2, and is a category:

main(
    ["report", str(file), "--group-by", "progress", "--category", "sex",
     "--permutations", "199", "-o", str(file.with_suffix(".html"))]
)  # fmt: skip

# %%
# **In Python** :func:`isodepth.read_table` with ``keep_text=True`` reads columns of all kinds. Any
# data frame does as well.

patients = isodepth.read_table(file, keep_text=True).to_pandas()
slow, quick = (
    patients[patients["progress"] == name].drop(columns="progress") for name in ("slow", "quick")
)
result = isodepth.compare(
    slow, quick, kinds={"sex": "category"}, scale="pooled", n_permutations=199, random_state=0
)
print(result)

# %%
# How far apart the groups are in every column, and whether that is significant:

print(result.test.to_frame().round(3).to_string(index=False))

# %%
# Sex has the same shares in both groups; the body mass index and s5 (the logarithm of the
# triglycerides) differ most.

picture = result.plot("columns")
