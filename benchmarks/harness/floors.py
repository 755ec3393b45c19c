"""The rates at which this machine multiplies, sorts and sweeps: one thread, float32."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.harness.timing import Box, alternate

_SIDE = 512
# Half a megabyte, as much as a block of projections takes.
_SWEPT = 1 << 17
_SWEEPS = 20


@dataclass(frozen=True)
class Floors:
    """Seconds for the smallest piece of each kind of work.

    Attributes
    ----------
    product : one multiplication and one addition within a large product
    sort : a number of one projection (n,), sorted with its fellows
    sort_column : a number of one column (n,) of the data, sorted with its fellows in float64
    sweep : a number of a block in cache, read and folded into a result
    """

    product: float
    sort: float
    sort_column: float
    sweep: float

    def rates(self) -> dict[str, float]:
        """The same in the units people quote."""
        return {
            "product_gflops": 2e-9 / self.product,
            "sort_ns": 1e9 * self.sort,
            "sort_column_ns": 1e9 * self.sort_column,
            "sweep_ns": 1e9 * self.sweep,
            "sweep_gb_per_s": 4e-9 / self.sweep,
        }


def measure_floors(X: np.ndarray, K: int, box: Box) -> Floors:
    """Rates on this machine, now; `X` (n, d) gives the projections that are sorted."""
    rng = np.random.default_rng(0)
    n, d = X.shape
    square = rng.standard_normal((_SIDE, _SIDE), dtype=np.float32)
    product = np.empty_like(square)
    rows = min(K, 50)
    projections = rng.standard_normal((rows, d), dtype=np.float32) @ X.T
    column = X[:, 0].astype(np.float64)
    block = rng.standard_normal(_SWEPT, dtype=np.float32)
    timings = alternate(
        {
            "product": lambda: np.matmul(square, square, out=product),
            "sort": lambda: np.sort(projections, axis=1),
            "sort column": lambda: np.sort(column),
            # The reduction of NumPy that reads fastest.
            "sweep": lambda: [np.dot(block, block) for _ in range(_SWEEPS)],
        },
        # These take microseconds: many turns cost nothing.
        replace(box, least=max(box.least, 20), most=max(box.most, 200)),
    )
    return Floors(
        product=timings["product"].seconds / _SIDE**3,
        sort=timings["sort"].seconds / (rows * n),
        sort_column=timings["sort column"].seconds / n,
        sweep=timings["sweep"].seconds / (_SWEEPS * _SWEPT),
    )
