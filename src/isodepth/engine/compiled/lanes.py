"""Operations on tiles of 64 bytes: by vector instructions, or by plain loops where these fail.

A tile is a row of `lanes(dtype)` numbers that lie side by side in an array. The vector instructions
are written in the language of the compiler, LLVM, which changes; so they are tried out when they
are first needed. Where they cannot be compiled or compute something else, plain loops take their
place, with a warning: slower, with the same results. The environment variable
ISODEPTH_PLAIN_LOOPS=1 chooses these at once.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np

from isodepth.engine.compiled.jit import plain_loops_wanted, stop_caching
from isodepth.errors import IsodepthError, PlainLoopsWarning

#: The size of a tile.
TILE_BYTES = 64


def lanes(dtype: Any) -> int:
    """How many numbers stand side by side in a tile."""
    return TILE_BYTES // np.dtype(dtype).itemsize


def _fault_of_vectors(dtype: str) -> str | None:
    """What is wrong with the vector instructions here; None if nothing is."""
    try:
        from isodepth.engine.compiled.lanes_trial import works

        return None if works(dtype) else f"compute wrong numbers in {dtype}"
    except Exception as error:
        return f"cannot be compiled ({type(error).__name__}: {' '.join(str(error).split())[:200]})"


def _use_vectors() -> bool:
    if plain_loops_wanted():
        return False
    fault = _fault_of_vectors("float64")
    if fault is None:
        return True
    # What is compiled from here on must not be taken for what the vectors would have given.
    stop_caching()
    warnings.warn(
        f"the vector instructions of isodepth {fault}; plain loops are used instead, which are "
        "slower and give the same results. This should not happen: please report it with the "
        "versions of numba and llvmlite",
        PlainLoopsWarning,
        stacklevel=2,
    )
    return False


# Loops that are compiled from here on call one or the other: it is chosen once, for all precisions.
operations: Any
if _use_vectors():
    import isodepth.engine.compiled.vector_lanes as operations
else:
    import isodepth.engine.compiled.plain_lanes as operations

multiply_four, multiply_one = operations.multiply_four, operations.multiply_one
follow_four, follow_one = operations.follow_four, operations.follow_one
widest_gap = operations.widest_gap
nearest, nearest_folded = operations.nearest, operations.nearest_folded


@cache
def check_precision(code: str) -> None:
    """Try the vector instructions in another precision, where it is first used.

    `code` is the character that NumPy has for a dtype: its name takes longer to find out.
    """
    if not operations.__name__.endswith("plain_lanes") and code != "d":
        fault = _fault_of_vectors(np.dtype(code).name)
        if fault is not None:
            raise IsodepthError(
                f"the vector instructions of isodepth {fault}; set the environment variable "
                "ISODEPTH_PLAIN_LOOPS=1 before Python starts, or use dtype='float64', and please "
                "report it with the versions of numba and llvmlite"
            )
