"""warm_up: afterwards nothing is left to compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import numpy as np
import isodepth

isodepth.warm_up(["projection", "halfspace"])
from isodepth.engine.compiled.lite.entries import journal
before = len(journal)
rng = np.random.default_rng(0)
for n in (30, 5000):
    X, Y = rng.standard_normal((2, n, 3))
    for depth in ("projection", "halfspace"):
        isodepth.distance(X, Y, depth=depth, n_directions=20)
        isodepth.distance(X, Y, depth=depth, n_directions=20, weights=(rng.random(n) + 0.1, None))
    isodepth.distance(X, Y, q=2, n_directions=20)
    for weights in (None, (rng.integers(1, 9, n), None)):
        isodepth.distance(X, Y, region="envelope", n_directions=20, weights=weights, levels=5)
    isodepth.pairwise([X, Y], n_directions=20, random_state=0)
    for tolerance in (0.0, 0.05):
        isodepth.two_sample_test(X, Y, n_permutations=2, tolerance=tolerance)
print(sorted({one.name for one in journal[before:]}), "numba" in sys.modules)
"""


def test_nothing_is_compiled_after_warming_up() -> None:
    source = Path(__file__).parents[1] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[] False"
