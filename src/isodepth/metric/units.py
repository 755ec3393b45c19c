"""Columns in units so different that one of them decides a comparison alone."""

from __future__ import annotations

import warnings

import numpy as np

from isodepth.core.scaling import pooled_spread
from isodepth.data.arrays import column_labels
from isodepth.errors import ScaleWarning

#: From this ratio of spreads on, a comparison says so.
WIDE = 100.0
# A hint needs no more rows of each sample than these.
_LOOKED_AT = 256


def warn_of_units(x: np.ndarray, y: np.ndarray, columns: tuple[str, ...] | None) -> None:
    """Warn where one column of two samples (n, d), (m, d) spreads far more widely than another."""
    if x.shape[1] == 1:
        return
    rows = np.concatenate([part[:: -(-len(part) // _LOOKED_AT)] for part in (x, y)])
    varied = np.flatnonzero((rows != rows[0]).any(axis=0))
    if len(varied) < 2:
        return
    spread = pooled_spread(rows[:, varied])
    if not spread.max() / WIDE > spread.min():
        return
    labels = columns or column_labels(x.shape[1])
    widest, narrowest = (labels[varied[at]] for at in (spread.argmax(), spread.argmin()))
    warnings.warn(
        f"the columns have very different spreads: {spread.max():.3g} in {widest} and "
        f"{spread.min():.3g} in {narrowest}, so that the former decides alone; scale='pooled' "
        "compares every column in units of its own spread",
        ScaleWarning,
        stacklevel=4,
    )
