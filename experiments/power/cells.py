"""What is measured: cells, the most important first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from experiments.power import laws
from experiments.power.rivals import kernel_tests, kolmogorov_smirnov

#: The names of the methods, in the order of the tables.
METHODS = (
    "DR q=2",
    "DR q=inf",
    "DR tolerance 0.05",
    "DR tolerance 0.1",
    "energy",
    "mmd",
    "dcmmd 0.05",
    "dcmmd 0.1",
    "ks + holm",
)
_SIZES_OF_BOTH = (500, 3000, 10000)
_KINDS = tuple(laws.FOREIGN)
_LAWS = (
    "shift 0.35",
    "diagonal shift 0.35",
    "scale 1.15",
    "correlation 0.5",
    "t2",
    "mixture inside",
    "sides swapped",
)


@dataclass(frozen=True)
class Cell:
    """One situation.

    Attributes
    ----------
    group : {"level", "tolerance", "power", "masked", "dirt", "laws"}
    kind : str
        What the samples are, see `laws`.
    n, d : int
    share : float
        Of foreign rows.
    both : bool
        Whether both samples have them.
    tests : int
    rival_tests : int
        How many of them the kernel tests take part in: their time grows with the square of n.
    n_resamples : int
    plain, largest, wider : bool
        Whether DR with q = 2, with q = inf, and with a tolerance of 0.1 takes part.
    """

    group: str
    kind: str
    n: int
    d: int
    share: float = 0.0
    both: bool = False
    tests: int = 200
    rival_tests: int = 200
    n_resamples: int = 199
    plain: bool = True
    largest: bool = False
    wider: bool = False

    @property
    def key(self) -> str:
        """Names the cell in files and seeds its tests."""
        side = "both" if self.both else "one"
        return f"{self.group}|{self.kind}|n={self.n}|d={self.d}|c={self.share:g}|{side}"

    def test(self, number: int) -> dict[str, float]:
        """P-values of all methods that take part in a test."""
        words = np.random.SeedSequence([number, *self.key.encode()]).generate_state(4)
        rng = np.random.default_rng(words)
        seed = int(words[0])
        if self.group == "level":
            x, y, blocks = laws.null(self.kind, self.n, self.d, rng)
            return {"DR q=2": self._ours(x, y, seed, blocks=blocks)}
        if self.group in ("tolerance", "dirt"):
            x, y = laws.contaminated(self.kind, self.n, self.d, self.share, self.both, rng)
        elif self.group == "masked":
            x, y = laws.masked(self.kind, self.n, self.d, self.share, rng)
        elif self.kind == "null":
            x, y = rng.standard_normal((2, self.n, self.d))
        else:
            x, y = laws.changed(self.kind, self.n, self.d, rng)
        found = {}
        if self.plain and (self.n <= 3000 or number < self.rival_tests):
            found["DR q=2"] = self._ours(x, y, seed)
        if self.largest:
            found["DR q=inf"] = self._ours(x, y, seed, q=np.inf)
        found["DR tolerance 0.05"] = self._ours(x, y, seed, tolerance=0.05)
        if self.wider:
            found["DR tolerance 0.1"] = self._ours(x, y, seed, tolerance=0.1)
        if number < self.rival_tests:
            shares = (0.05, 0.1) if self.wider else (0.05,)
            found |= kernel_tests(x, y, shares, self.n_resamples, seed)
        found["ks + holm"] = kolmogorov_smirnov(x, y)
        return found

    def _ours(self, x: np.ndarray, y: np.ndarray, seed: int, **options: object) -> float:
        from isodepth import two_sample_test

        return two_sample_test(
            x, y, n_permutations=self.n_resamples, random_state=seed, n_jobs=1, **options
        ).pvalue


def _rivals_of(n: int) -> int:
    return 200 if n <= 500 else 50 if n <= 3000 else 10


def _all_cells() -> Iterator[Cell]:
    for kind in ("normal", "ties", "blocks"):
        yield Cell("level", kind, 100, 3, tests=4000, rival_tests=0)
    for kind in ("shift 0.6", "scale 1.3"):
        yield Cell("power", kind, 500, 5, wider=True)
    for kind in ("shift 0.35", "scale 1.15"):
        for d in (5, 20):
            yield Cell("power", kind, 2000, d, rival_tests=50, wider=True)
    for change, n, d in (("shift 0.6", 500, 5), ("scale 1.3", 500, 5),
                         ("shift 0.35", 2000, 20), ("scale 1.15", 2000, 20)):  # fmt: skip
        for dirt in ("far", "near", "wide"):
            yield Cell(
                "masked", f"{change} with {dirt}", n, d, 0.05, True, tests=100, rival_tests=0,
                plain=False,
            )  # fmt: skip
    for n in _SIZES_OF_BOTH:
        for d in (5, 20):
            for both in (False, True):
                for kind in _KINDS:
                    yield Cell(
                        "tolerance", kind, n, d, 0.05, both, rival_tests=_rivals_of(n),
                        n_resamples=199 if n < 10000 else 99,
                    )  # fmt: skip
    for n in (200, 1000, 10000):
        yield from _wide_tables(n)


def _wide_tables(n: int) -> Iterator[Cell]:
    """One law, other laws, and other shares of foreign rows; of 10000 rows only some of it."""
    large = n == 10000
    rivals = {200: 100, 1000: 30, 10000: 10}[n]
    tests, n_resamples = (20, 99) if large else (100, 199)
    shared = Cell(
        "laws", "null", n, 5, tests=tests, rival_tests=rivals, n_resamples=n_resamples,
        largest=True, wider=True,
    )  # fmt: skip
    for d in (5, 20) if large else (2, 5, 20, 50):
        yield replace(shared, d=d, tests=tests if large else 200)
        for kind in () if large else _LAWS:
            yield replace(shared, kind=kind, d=d)
    for share in (0.02, 0.05, 0.1):
        for kind in _KINDS:
            yield replace(shared, group="dirt", kind=kind, share=share)


def cells(size: str) -> list[Cell]:
    """The cells of a size: "full", "reduced" (a few minutes on two cores) or "quick"."""
    found = list(_all_cells())
    if size == "full":
        return found
    limit, tests = (1000, 20) if size == "reduced" else (200, 2)
    return [
        replace(cell, tests=min(cell.tests, tests), rival_tests=min(cell.rival_tests, tests))
        for cell in found
        if cell.n <= limit
    ]
