"""Operations on tiles of 64 bytes, and whether what is translated can be trusted here.

A tile is a row of `lanes(dtype)` numbers that lie side by side in an array. The vector instructions
are written in the language of LLVM, which changes, like all that is translated; so they are tried
out when they are first needed. Where that fails numba takes over, with plain loops in place of the
vectors and a warning: slower, with the same results. The environment variable
ISODEPTH_PLAIN_LOOPS=1 chooses this at once.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np

from isodepth.engine.compiled.jit import plain_loops_wanted
from isodepth.engine.compiled.vector_lanes import (
    TILE_BYTES,
    follow_four,
    follow_one,
    multiply_four,
    multiply_one,
    nearest,
    nearest_folded,
    widest_gap,
)
from isodepth.errors import PlainLoopsWarning

__all__ = [
    "TILE_BYTES", "check_precision", "follow_four", "follow_one", "lanes", "multiply_four",
    "multiply_one", "nearest", "nearest_folded", "translated", "widest_gap",
]  # fmt: skip


def lanes(dtype: Any) -> int:
    """How many numbers stand side by side in a tile."""
    return TILE_BYTES // np.dtype(dtype).itemsize


_faulty: list[str] = []


def translated() -> bool:
    """Whether loops are translated, and not left to numba."""
    return not (plain_loops_wanted() or _faulty) and _trusted("d")


@cache
def check_precision(code: str) -> None:
    """Try the vector instructions in another precision, where it is first used.

    `code` is the character that NumPy has for a dtype: its name takes longer to find out.
    """
    if code != "d" and not plain_loops_wanted():
        _trusted(code)


@cache
def _trusted(code: str) -> bool:
    fault = _fault_of_vectors(np.dtype(code).name)
    if fault is None:
        return True
    if not _faulty:
        warnings.warn(
            f"the vector instructions of isodepth {fault}; plain loops are used instead, which are "
            "slower and give the same results. This should not happen: please report it with the "
            "versions of numba and llvmlite",
            PlainLoopsWarning,
            stacklevel=2,
        )
    _faulty.append(fault)
    return False


def _fault_of_vectors(dtype: str) -> str | None:
    """What is wrong with the vector instructions here; None if nothing is."""
    try:
        from isodepth.engine.compiled.lanes_trial import works

        return None if works(dtype) else f"compute wrong numbers in {dtype}"
    except Warning:
        # Asked for as an error; it says nothing about the instructions.
        raise
    except Exception as error:
        return f"cannot be compiled ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
