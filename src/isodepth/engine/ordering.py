"""The order of many numbers, by NumPy or by our own sort."""

from __future__ import annotations

import numpy as np

# Up to this many NumPy is about as fast, and nothing has to be compiled for them.
_FEW = 4096


def order_of(values: np.ndarray) -> np.ndarray:
    """Indices (n,) that sort finite `values` (n,): the same ones on every machine."""
    if len(values) <= _FEW:
        # The default of NumPy puts equal values in an order that depends on the processor.
        return values.argsort(kind="stable")
    from isodepth.engine.compiled.sorting import sort_with_index, sort_workspace

    workspace = sort_workspace(len(values), values.dtype)
    sort_with_index(np.ascontiguousarray(values), workspace)
    return workspace.index.astype(np.intp)
