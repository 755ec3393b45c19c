# Written by `make stubs`.

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

def instruction_sets() -> list:
    """The instruction sets of this processor, narrowest first."""

@overload
def project(
    points: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.float32], dict(order="C")]: ...
@overload
def project(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """Projections (K, n) of points (n, d) on directions (K, d)."""

instruction_set: str
