"""Cells of the study of power: settings in which tests are repeated, the most important first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from experiments.power import laws
from experiments.power.rivals import kernel_tests, kolmogorov_smirnov

#: The names of the methods, in the order of the tables.
METHODS = (
    "aggregated",
    "regions",
    "tolerance 0.05",
    "tolerance 0.1",
    "energy",
    "mmd",
    "dcmmd 0.05",
    "dcmmd 0.1",
    "ks + holm",
    "any column",
    "column 0",
    "column 1",
    "right kind",
)
#: A batch has tests of one part only, so that the results of rivals remain if our test changes.
PARTS = ("ours", "rivals")
# Rows: tests, those without a tolerance and those of the rivals among them, and permutations.
_CONTAMINATED = {500: (200, 200, 200, 199), 3000: (200, 50, 50, 199), 10000: (20, 10, 0, 99)}
_LAWS = (
    "shift 0.35",
    "diagonal shift 0.35",
    "random shift 0.35",
    "scale 1.15",
    "correlation 0.5",
    "t2",
    "mixture inside",
    "sides swapped",
)


@dataclass(frozen=True)
class Cell:
    """Setting in which tests are repeated.

    Attributes
    ----------
    group : str
        One of `experiments.power.report.PARTS`.
    kind : str
        Distributions of the samples, see `laws`.
    n, d : int
        Number of rows per sample, and number of columns.
    share : float
        Share of contaminated rows.
    both : bool
        Whether both samples have contaminated rows.
    tests : int
        Number of tests.
    rival_tests : int
        Number of these tests that the kernel tests repeat: their time grows with the square of n.
    plain_tests : int
        Number of these tests that the test without a tolerance repeats.
    n_permutations : int
    regions, wider : bool
        Whether the test on regions alone, and a tolerance of 0.1, are included.
    """

    group: str
    kind: str
    n: int
    d: int
    share: float = 0.0
    both: bool = False
    tests: int = 200
    rival_tests: int = 200
    plain_tests: int = 200
    n_permutations: int = 199
    regions: bool = False
    wider: bool = False

    @property
    def key(self) -> str:
        """Name of the cell in files, from which the seeds of its tests are derived."""
        side = "both" if self.both else "one"
        return f"{self.group}|{self.kind}|n={self.n}|d={self.d}|c={self.share:g}|{side}"

    def test(self, number: int, part: str) -> dict[str, float]:
        """Return the p-values of one pair of samples, by method.

        `part` selects the group of methods. `number` is the number of the pair, which is a part of
        its seed.
        """
        words = np.random.SeedSequence([number, *self.key.encode()]).generate_state(4)
        rng = np.random.default_rng(words)
        seed = int(words[0])
        if self.group == "level":
            x, y, blocks = laws.null(self.kind, self.n, self.d, rng)
            result = self._result(x, y, seed, blocks=blocks)
            smallest = min(column.pvalue for column in result.column_tests)
            return {"aggregated": result.pvalue, "any column": smallest}
        if self.group == "columns":
            return self._columns(*laws.unchanged_column(self.kind, self.n, rng), seed)
        x, y = self._draw(rng)
        if self.group == "kinds":
            return self._kind(x, y, seed)
        return (
            self._ours(x, y, seed, number) if part == "ours" else self._rivals(x, y, seed, number)
        )

    def _ours(self, x: np.ndarray, y: np.ndarray, seed: int, number: int) -> dict[str, float]:
        found = {}
        if number < self.plain_tests:
            result = self._result(x, y, seed)
            found["aggregated"] = result.pvalue
            if self.regions:
                # The p-value of this statistic alone is that of the test with method="regions".
                own = {component.name: component.pvalue for component in result.components}
                found["regions"] = own["regions"]
        for share in self._shares:
            found[f"tolerance {share:g}"] = self._result(x, y, seed, tolerance=share).pvalue
        return found

    def _rivals(self, x: np.ndarray, y: np.ndarray, seed: int, number: int) -> dict[str, float]:
        found = {"ks + holm": kolmogorov_smirnov(x, y)}
        if number < self.rival_tests:
            found |= kernel_tests(x, y, self._shares, self.n_permutations, seed)
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the groups of methods that are measured separately."""
        return ("ours",) if self.group in ("level", "columns", "kinds") else PARTS

    @property
    def _shares(self) -> tuple[float, ...]:
        if self.group == "held out":
            return ()
        return (0.05, 0.1) if self.wider else (0.05,)

    def _draw(self, rng: np.random.Generator) -> laws.Pair:
        if self.group == "attacks" and self.kind == "selective":
            return laws.selective(self.n, self.d, self.share, rng)
        if self.group == "attacks":
            return laws.ATTACKS[self.kind](self.n, self.d, int(self.share * self.n + 1e-9), rng)
        if self.group in ("tolerance", "shares"):
            return laws.contaminated(self.kind, self.n, self.d, self.share, self.both, rng)
        if self.group == "masked":
            return laws.masked(self.kind, self.n, self.d, self.share, rng)
        if self.group == "held out":
            return laws.held_out(self.kind, self.n, self.d, rng)
        if self.kind == "null":
            x, y = rng.standard_normal((2, self.n, self.d))
            return x, y
        return laws.changed(self.kind, self.n, self.d, rng)

    def _columns(self, x: np.ndarray, y: np.ndarray, seed: int) -> dict[str, float]:
        """Return the p-values of column 0, which is unchanged, and of column 1, which changed."""
        found = {}
        for column in self._result(x, y, seed).column_tests:
            found[column.column] = column.pvalue
        return found

    def _kind(self, x: np.ndarray, y: np.ndarray, seed: int) -> dict[str, float]:
        """Return {"right kind": 0} if the first named change has the right kind and column, else 1.

        The dictionary is empty if the test is not significant.
        """
        result = self._result(x, y, seed)
        if not result.significant:
            return {}
        wanted = laws.PURE[self.kind]
        columns = ("column 0", "column 1") if wanted == "dependence" else ("column 0",)
        right = bool(result.changes) and (
            (result.changes[0].kind, result.changes[0].columns) == (wanted, columns)
        )
        return {"right kind": 0.0 if right else 1.0}

    def _result(self, x: np.ndarray, y: np.ndarray, seed: int, **options: Any) -> Any:
        from isodepth import two_sample_test

        return two_sample_test(
            x, y, n_permutations=self.n_permutations, random_state=seed, n_jobs=1, **options
        )


def _all_cells() -> Iterator[Cell]:
    for kind in ("normal", "ties", "blocks"):
        yield Cell("level", kind, 100, 3, tests=4000, rival_tests=0)
    yield Cell("level", "d > n", 20, 40, tests=4000, rival_tests=0, n_permutations=99)
    for n in (200, 1000):
        for kind in laws.UNCHANGED:
            yield Cell("columns", kind, n, 2)
        for kind in laws.PURE:
            yield Cell("kinds", kind, n, 5)
    attack = Cell("attacks", "selective", 1000, 5, 0.05, True, 200, 0, 0, wider=True)
    for kind in laws.ATTACKS:
        for d in (1, 5) if kind.startswith("binary") else (5,):
            yield replace(attack, kind=kind, d=d)
    yield attack
    for kind in ("shift 0.6", "scale 1.3"):
        yield Cell("power", kind, 500, 5, wider=True)
    for kind in ("shift 0.35", "diagonal shift 0.35", "random shift 0.35", "scale 1.15"):
        for d in (5, 20):
            yield Cell("power", kind, 2000, d, rival_tests=50, wider=True)
    for change, n, d in (("shift 0.6", 500, 5), ("scale 1.3", 500, 5),
                         ("shift 0.35", 2000, 20), ("scale 1.15", 2000, 20)):  # fmt: skip
        for contamination in ("far", "near", "wide"):
            yield Cell(
                "masked", f"{change} with {contamination}", n, d, 0.05, True, tests=100,
                rival_tests=0, plain_tests=0,
            )  # fmt: skip
    yield from _contaminated(500)
    for n in (200, 1000):
        yield from _wide_tables(n)
    for n in (3000, 10000):
        yield from _contaminated(n)


def _contaminated(n: int) -> Iterator[Cell]:
    """Yield cells with all contaminations, of one sample and of both.

    For a larger n there are fewer tests.
    """
    tests, plain_tests, rival_tests, n_permutations = _CONTAMINATED[n]
    for d in (5, 20):
        for both in (False, True):
            for kind in laws.CONTAMINATIONS:
                yield Cell(
                    "tolerance", kind, n, d, 0.05, both, tests, rival_tests, plain_tests,
                    n_permutations,
                )  # fmt: skip


def _wide_tables(n: int) -> Iterator[Cell]:
    """Yield cells with up to 50 columns: equal distributions, changes, and contaminated rows.

    Contaminated rows have other shares than in `_contaminated`. Each sample has n rows.
    """
    shared = Cell("laws", "null", n, 5, rival_tests=200 if n == 200 else 100, regions=True)
    for d in (2, 5, 20, 50):
        for kind in ("null", *_LAWS):
            yield replace(shared, kind=kind, d=d)
    for share in (0.02, 0.1):
        for kind in laws.CONTAMINATIONS:
            yield replace(shared, group="shares", kind=kind, share=share, tests=100, wider=True)


def _held_out() -> Iterator[Cell]:
    """Yield cells with changes of distributions that did not influence the design of the test.

    The weights of its statistics were chosen with other changes.
    """
    for n, d in ((200, 2), (200, 10), (500, 5), (500, 40), (1000, 10), (1000, 50)):
        for kind in laws.HELD_OUT:
            yield Cell("held out", kind, n, d, tests=100)


def cells(size: str) -> list[Cell]:
    """Return the cells of a size of the study.

    The size is "full", "reduced" (a few minutes on two cores), "quick", or "held-out" (other kinds
    of change).
    """
    if size == "held-out":
        return list(_held_out())
    found = list(_all_cells())
    if size == "full":
        return found
    limit, tests = (1000, 20) if size == "reduced" else (200, 2)
    return [
        replace(cell, tests=min(cell.tests, tests), rival_tests=min(cell.rival_tests, tests))
        for cell in found
        if cell.n <= limit
    ]
