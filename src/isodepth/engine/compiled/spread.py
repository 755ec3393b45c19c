"""Compiled: outlyingness of projections whose median and MAD are known."""

from __future__ import annotations

from isodepth.engine.compiled.lite.loop import loop


@loop
def raise_outlyingness(projection, middle, mad, out, direction, where):
    """Raise `out` (n,) to |projection - middle| / mad."""
    n = projection.shape[0]
    if where.shape[0] > 0:
        for i in range(n):
            x = abs(projection[i] - middle) / mad
            if x > out[i]:
                out[i] = x
                where[i] = direction
    else:
        scale = projection.dtype.type(1.0) / mad
        for i in range(n):
            x = abs(projection[i] - middle) * scale
            out[i] = x if x > out[i] else out[i]
