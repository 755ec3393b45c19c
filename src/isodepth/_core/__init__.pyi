# Written by `make stubs`.

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

EXACT_GAP: float = 1e-13

WORTH_A_THREAD: int = 250000

class StopFlag:
    """Flag that ends computations of the threads that watch it."""

    def __init__(self) -> None: ...
    def watch(self) -> None:
        """Let all computations of this thread end after the flag is set."""

    def set(self) -> None: ...

def share_differences(
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    count: int,
    cuts: int,
    clip: tuple[float, float],
    limits: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
]:
    """
    Three statistics (F, count) of the functions `values` (F, n) for each labeling: the maximum differences of shares in half-lines and in intervals, and the absolute differences of mean clipped ranks. Values outside `limits` (F, 2) have the middle rank.
    """

def label_distances(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    words: Annotated[
        NDArray[numpy.uint64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    count: int,
    betas: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    q: float,
    p: float,
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """
    Distance DR (count,) between the two parts of each labeling of points (n, d). Bit b of words[i, r] is 1 if row r is in the first part of labeling 64 i + b.
    """

@overload
def largest_outlyingness(
    points: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    queries: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
    memory_mb: float = 256.0,
) -> Annotated[NDArray[numpy.float32], dict(order="C")]: ...
@overload
def largest_outlyingness(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    queries: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
    memory_mb: float = 256.0,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """Maximum over directions u of |<u, x> - median| / MAD, per query (m,)."""

@overload
def smallest_halfspace(
    points: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    queries: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
    memory_mb: float = 256.0,
) -> Annotated[NDArray[numpy.int64], dict(order="C")]: ...
@overload
def smallest_halfspace(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    queries: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
    memory_mb: float = 256.0,
) -> Annotated[NDArray[numpy.int64], dict(order="C")]:
    """
    Minimum weight (m,) of closed halfspaces with the query on the boundary, over directions.
    """

@overload
def mean_rank_weight(
    points: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    queries: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
    memory_mb: float = 256.0,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]: ...
@overload
def mean_rank_weight(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    queries: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
    memory_mb: float = 256.0,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """Mean over directions of min(F, 1 - F), per query (m,); F: mid-rank."""

@overload
def centered_rank_sums(
    points: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(order="C")],
    Annotated[NDArray[numpy.int64], dict(order="C")],
]: ...
@overload
def centered_rank_sums(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> tuple[
    Annotated[NDArray[numpy.int64], dict(order="C")],
    Annotated[NDArray[numpy.int64], dict(order="C")],
]:
    """
    Sums over directions of W |2 F - 1| and of its square, (n,) each, for the total weight W.
    """

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

@overload
def order(
    values: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.int64], dict(order="C")]: ...
@overload
def order(
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.int64], dict(order="C")]:
    """Indices (n,) that sort finite values stably."""

@overload
def take_rows(
    rows: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    order: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.float32], dict(order="C")]: ...
@overload
def take_rows(
    rows: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    order: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """Rows of a table (n, d) in another order."""

@overload
def center_and_exponent(
    points: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple: ...
@overload
def center_and_exponent(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple:
    """
    Center (d,) of the points, and the integer e for which 2**e is near their spread.
    """

@overload
def distinct_rows(
    rows: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
) -> tuple: ...
@overload
def distinct_rows(
    rows: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
) -> tuple:
    """
    Distinct rows (u, d) in lexicographic order, the index (n,) of each row among them, and the total weight (u,) of each distinct row, or None if all are equal.
    """

@overload
def quantile(
    rows: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    q: float,
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.float32], dict(order="C")]: ...
@overload
def quantile(
    rows: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    q: float,
    weights: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """
    The q-quantile (K,) of each of `rows` (K, n), with weights (n,), by linear interpolation.
    """

def mean_squared_rank(
    distances: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    shares: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """
    Mean of (2 F - 1)**2 over all directions, (n,), from squared distances (n, n).
    """

def halfspace_masses(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    masses: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    queries: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_threads: int = 1,
) -> Annotated[NDArray[numpy.int64], dict(order="C")]:
    """
    Minimum mass of a closed halfspace that contains the query, for each of the queries (m, d).
    """

def nearest_in_hull(
    points: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    queries: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
]:
    """
    Nearest points of the hull of points (n, d) to queries (m, d): their weights (m, n), the distances (m,), and lower bounds (m,) on the exact distances.
    """

def hull_levels(
    first: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    second: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    stops: Annotated[
        NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    attained: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    slack: float,
    limit: float,
    n_threads: int = 1,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.int64], dict(order="C")],
]:
    """
    Bounds of the Hausdorff distance of the hulls of first[:stops[0, l]] and second[:stops[1, l]] for each level l. Return lower bounds (L,), not below `attained`, upper bounds (L,), unit vectors (L, d) that attain the lower bounds, and the index (L,) of the hull that extends farther, or -1 if the lower bound is `attained`. Upper bounds are invalid if `limit` coordinates were read.
    """

def ascent(
    first: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    second: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    stops: Annotated[
        NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    starts: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_ascents: int,
    steps: int,
    slack: float,
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """
    Unit vectors (J, d), J <= n_ascents, found by local ascent. The candidates for its start are the starts (C, d), the unit vectors between the means of both samples at each level, and the opposites of these vectors.
    """

@overload
def gaps(
    x: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    y: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    prefix_sizes_x: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    prefix_sizes_y: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    q: float,
    n_threads: int,
    memory_mb: float,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.int64], dict(order="C")],
]: ...
@overload
def gaps(
    x: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    prefix_sizes_x: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    prefix_sizes_y: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    q: float,
    n_threads: int,
    memory_mb: float,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.int64], dict(order="C")],
]:
    """Gap (L,) of each level, and code (L,) of the maximizing direction."""

@overload
def refined_gaps(
    x: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    y: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    prefix_sizes_x: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    prefix_sizes_y: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    shares: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_ascents: int,
    steps: int,
    slack: float,
    points_x: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None,
    points_y: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None,
    exponent: int,
    limit: float,
    n_threads: int,
    memory_mb: float,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.int64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
]: ...
@overload
def refined_gaps(
    x: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    prefix_sizes_x: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    prefix_sizes_y: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    shares: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_ascents: int,
    steps: int,
    slack: float,
    points_x: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None,
    points_y: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ]
    | None,
    exponent: int,
    limit: float,
    n_threads: int,
    memory_mb: float,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.int64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
]:
    """
    Gap (L,) of each level, raised by local ascent and a search of vertices, code (L,) of the maximizing vector, and the vectors that were found: those of the ascent (J, d), and those of the search (R, r) in the coordinates of its points.
    """

@overload
def supports(
    ordered: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    prefix_sizes: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_threads: int,
    memory_mb: float,
) -> Annotated[NDArray[numpy.float32], dict(order="C")]: ...
@overload
def supports(
    ordered: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    prefix_sizes: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    directions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    n_threads: int,
    memory_mb: float,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """
    Support values (L, 2 K) of the regions along directions and their opposites.
    """

@overload
def table_distances(
    rows: Annotated[
        NDArray[numpy.float32],
        dict(shape=(None, None, None), order="C", device="cpu", writable=False),
    ],
    columns: Annotated[
        NDArray[numpy.float32],
        dict(shape=(None, None, None), order="C", device="cpu", writable=False),
    ]
    | None,
    p: float,
    q: float,
    length: float,
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]: ...
@overload
def table_distances(
    rows: Annotated[
        NDArray[numpy.float64],
        dict(shape=(None, None, None), order="C", device="cpu", writable=False),
    ],
    columns: Annotated[
        NDArray[numpy.float64],
        dict(shape=(None, None, None), order="C", device="cpu", writable=False),
    ]
    | None,
    p: float,
    q: float,
    length: float,
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """
    Distances (N, M) of tables `rows` from `columns`; of all pairs of rows if None.
    """

def tie_ends(
    falling: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    tolerance: float,
) -> Annotated[NDArray[numpy.int64], dict(order="C")]:
    """End index of each group of equal depths."""

def merge_levels(
    masses_x: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    counts_x: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    masses_y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    counts_y: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    end: float,
    last: float,
) -> tuple[
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.float64], dict(order="C")],
    Annotated[NDArray[numpy.int64], dict(order="C")],
    Annotated[NDArray[numpy.int64], dict(order="C")],
]:
    """
    Intervals (L, 2) of levels on which both regions are constant, their lengths as fractions of `end`, and the numbers of points in both regions.
    """

def power_mean(
    gaps: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    shares: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    p: float,
    length: float,
) -> float:
    """Return (length * sum(shares * gaps**p)) ** (1 / p)."""

class Chunk32:
    """Rows (points - center) / 2**exponent of a chunk, and directions."""

    def __init__(
        self,
        points: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        center: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        exponent: int,
        directions: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        weights: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        n_threads: int,
    ) -> None: ...
    def numbers_inside(
        self,
        low: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        high: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        most: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        centers: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        typical: float | None,
    ) -> tuple:
        """
        Return counts (3, K), values and weights for the bracket [low, high) of each direction. Values are projections, or their distances from `centers` (K,). The counts are the weight below the bracket, the weight inside, and the number of returned values: -1 if it would exceed `most`.
        """

    def count_rank_cells(
        self,
        counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu")],
        middles: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        scales: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        bits: int,
    ) -> None:
        """
        Add the weight of each row to `counts` (K, 16 * 2**bits), at its cell on each direction.
        """

    def outlyingness(
        self,
        medians: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        mads: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        scales: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        typical: float,
    ) -> Annotated[NDArray[numpy.float32], dict(order="C")]:
        """
        Maximum over directions u of |<u, x> - median| / MAD, (n,); `scales` replace zero MADs.
        """

    def rank_bounds(
        self,
        bounds: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None, None), order="C", device="cpu", writable=False),
        ],
        smallest: bool,
        middles: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        scales: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        bits: int,
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """
        Minimum over directions if `smallest`, otherwise sum, of the two `bounds` (K, cells, 2) of the cell of each row, (n, 2).
        """

class Chunk64:
    """Rows (points - center) / 2**exponent of a chunk, and directions."""

    def __init__(
        self,
        points: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        center: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        exponent: int,
        directions: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        weights: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        n_threads: int,
    ) -> None: ...
    def numbers_inside(
        self,
        low: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        high: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        most: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        centers: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        typical: float | None,
    ) -> tuple:
        """
        Return counts (3, K), values and weights for the bracket [low, high) of each direction. Values are projections, or their distances from `centers` (K,). The counts are the weight below the bracket, the weight inside, and the number of returned values: -1 if it would exceed `most`.
        """

    def count_rank_cells(
        self,
        counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu")],
        middles: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        scales: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        bits: int,
    ) -> None:
        """
        Add the weight of each row to `counts` (K, 16 * 2**bits), at its cell on each direction.
        """

    def outlyingness(
        self,
        medians: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        mads: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        scales: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        typical: float,
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """
        Maximum over directions u of |<u, x> - median| / MAD, (n,); `scales` replace zero MADs.
        """

    def rank_bounds(
        self,
        bounds: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None, None), order="C", device="cpu", writable=False),
        ],
        smallest: bool,
        middles: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        scales: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        bits: int,
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """
        Minimum over directions if `smallest`, otherwise sum, of the two `bounds` (K, cells, 2) of the cell of each row, (n, 2).
        """

instruction_set: str
