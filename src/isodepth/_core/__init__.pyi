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
    The largest differences (F, count) of shares in half-lines and in intervals, and the absolute differences of mean clipped ranks; values outside limits (F, 2) have the middle rank.
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
    DR between the two parts of each labeling of points (n, d); bit b of words[i, r] says whether row r is in the first part of labeling 64 i + b.
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
    """Largest |<u, x> - median| / MAD of points or queries over directions."""

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
    Smallest weight of a closed halfspace at points or queries over directions.
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
    """The mean over directions of min(F, 1 - F), F being the mid-rank."""

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
    Sums over directions of |2 F - 1| times the total weight, and of its square.
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
    """Stable order of finite values."""

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
    Center (d,) of the points, and the exponent of two of the typical distance from it.
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
    Distinct rows in lexicographic order, the index of each row, and sums of weights unless equal.
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
    The q-quantile of each row of (K, n), with weights (n,), by linear interpolation.
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
    The mean of (2 F - 1)**2 over all directions, from squared distances (n, n).
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
    Smallest masses (m,) of closed halfspaces that contain each of the queries (m, d).
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
    Weights (m, n) of the nearest points, distances (m,) of the queries, and their lower bounds.
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
    Bounds of the Hausdorff distances of first[:stops[0, l]] and second[:stops[1, l]] for each l: lower (L,), at least what is attained already, upper (L,), directions (L, d) and sides (L,).
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
    n_climbers: int,
    steps: int,
    slack: float,
    n_threads: int,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """
    Directions (J, d), J <= n_climbers, of larger gaps at these levels than along the starts (C, d).
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
    """The gap of each level, and the code of the maximizing direction."""

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
    Supports (L, 2 K) of each level along directions (K, d) and their opposites.
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
    """Distances between tables; without columns, of all pairs."""

def tie_ends(
    falling: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    tolerance: float,
) -> Annotated[NDArray[numpy.int64], dict(order="C")]:
    """Ends of the groups of equal depth."""

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
    The pieces on which both samples are constant, their shares, and their prefix sizes.
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
    """(length * sum of shares * gaps^p)^(1/p)."""

class Chunk32:
    """Rows (n, d) of a chunk and directions (K, d), moved and scaled."""

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
        Counts (3, K) for brackets (K,): the weight below, the weight inside, how many numbers are inside or -1 for more than `most` (K,); these numbers, and their weights.
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
        Add weights to counts (K, 16 * 2**bits) in cells around the middle of each direction.
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
        Largest |<u, x> - median| / MAD (n,); the scale takes the place of a MAD that is zero.
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
        The smallest, or the sum, over directions of the bounds (K, cells, 2) of cells: (n, 2).
        """

class Chunk64:
    """Rows (n, d) of a chunk and directions (K, d), moved and scaled."""

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
        Counts (3, K) for brackets (K,): the weight below, the weight inside, how many numbers are inside or -1 for more than `most` (K,); these numbers, and their weights.
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
        Add weights to counts (K, 16 * 2**bits) in cells around the middle of each direction.
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
        Largest |<u, x> - median| / MAD (n,); the scale takes the place of a MAD that is zero.
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
        The smallest, or the sum, over directions of the bounds (K, cells, 2) of cells: (n, 2).
        """

instruction_set: str
