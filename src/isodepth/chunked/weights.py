"""Weights of a stream as integer masses: the same integers as in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isodepth.core.sample import TOTAL_BITS, exact_masses, trailing_zeros
from isodepth.data.missing import MissingReport
from isodepth.errors import InvalidInputError

#: Integers in proportion are looked for up to this size, so that more distinct weights have none.
MOST_DISTINCT = 1 << 20


@dataclass(frozen=True)
class MassRule:
    """How weights become masses: by a table, or by a power of two.

    Attributes
    ----------
    weights, integers : ndarrays of shape (k,), or None
    exponents : (int, int)
        Otherwise masses are weights times 2**-first, rounded at 2**-second.
    divisor : int
        Or, where that is not 0, integers divided by it.
    """

    weights: np.ndarray | None
    integers: np.ndarray | None
    exponents: tuple[int, int] = (0, 0)
    divisor: int = 0

    def masses(self, weights: np.ndarray) -> np.ndarray:
        """The masses (n,), int64, of positive weights (n,)."""
        if self.weights is not None:
            assert self.integers is not None
            places = np.searchsorted(self.weights, weights).clip(0, len(self.weights) - 1)
            if not np.array_equal(self.weights[places], weights):
                raise InvalidInputError("the weights have changed between two readings of the data")
            return self.integers[places]
        if self.divisor:
            return weights.astype(np.int64) // self.divisor
        first, second = self.exponents
        integers = np.rint(np.ldexp(np.ldexp(weights, -first), second)).astype(np.int64)
        return np.maximum(integers, 1)


@dataclass
class Looked:
    """What the first look at the data finds: rows, missing values and weights."""

    n_rows: int = 0
    n_dropped: int = 0
    missing: np.ndarray | None = None
    n_present: int = 0
    weights: np.ndarray | None = field(default_factory=lambda: np.empty(0))
    counts: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    largest: float = 0.0
    needed: int = -(1 << 20)
    whole: bool = True
    divisor: int = 0
    sums: dict[int, int] = field(default_factory=dict)

    def add(self, n_rows: int, n_left: int, weights: Any, missing: Any) -> None:
        """Take in a chunk of so many rows, of which so many have no missing value."""
        self.n_rows += n_rows
        self.n_dropped += n_rows - n_left
        if missing is not None:
            counts = missing.sum(axis=0)
            self.missing = counts if self.missing is None else self.missing + counts
        if weights is None:
            self.n_present += n_left
            return
        positive = weights[weights > 0]
        self.n_present += len(positive)
        if len(positive):
            self._add_weights(*np.unique(positive, return_counts=True))

    def _add_weights(self, weights: np.ndarray, counts: np.ndarray) -> None:
        mantissas, exponents = np.frexp(weights)
        self.largest = max(self.largest, float(weights[-1]))
        self.needed = max(self.needed, int((53 - trailing_zeros(mantissas) - exponents).max()))
        self.whole = self.whole and bool((weights == np.rint(weights)).all())
        if self.whole and self.largest < 2.0**62:
            self.divisor = math.gcd(self.divisor, int(np.gcd.reduce(weights.astype(np.int64))))
        # Exact sums, exponent by exponent: they do not depend on the order of chunks.
        whole = (mantissas * 2.0**53).astype(np.int64)
        for exponent in np.unique(exponents).tolist():
            own = exponents == exponent
            total = sum(int(m) * int(c) for m, c in zip(whole[own], counts[own], strict=True))
            self.sums[exponent] = self.sums.get(exponent, 0) + total
        self._add_distinct(weights, counts)

    def _add_distinct(self, weights: np.ndarray | None, counts: np.ndarray) -> None:
        if self.weights is None or weights is None:
            self.weights, self.counts = None, np.empty(0, dtype=np.int64)
            return
        both, inverse = np.unique(np.concatenate([self.weights, weights]), return_inverse=True)
        total = np.zeros(len(both), dtype=np.int64)
        np.add.at(total, inverse, np.concatenate([self.counts, counts]))
        self.weights, self.counts = both, total
        if len(both) > MOST_DISTINCT:
            self._add_distinct(None, counts)

    def merge(self, other: Looked) -> None:
        """Take in what another has seen."""
        self.n_rows += other.n_rows
        self.n_dropped += other.n_dropped
        self.n_present += other.n_present
        if other.missing is not None:
            mine = self.missing
            self.missing = other.missing if mine is None else mine + other.missing
        self.largest = max(self.largest, other.largest)
        self.needed = max(self.needed, other.needed)
        self.whole = self.whole and other.whole
        self.divisor = math.gcd(self.divisor, other.divisor)
        for exponent, total in other.sums.items():
            self.sums[exponent] = self.sums.get(exponent, 0) + total
        self._add_distinct(other.weights, other.counts)

    def rule(self) -> MassRule:
        """How the weights become masses."""
        if self.weights is not None:
            return MassRule(self.weights, exact_masses(self.weights, self.counts))
        total = sum(part << (exponent + 1100) for exponent, part in self.sums.items())
        if self.whole and self.largest < 2.0**50 and total < 1 << (53 + 53 + 1100):
            return MassRule(None, None, divisor=self.divisor)
        first = math.frexp(self.largest)[1]
        # In units of the power of two above the largest weight.
        scaled_bits = total.bit_length() - 53 - 1100 - first
        return MassRule(None, None, (first, min(self.needed + first, TOTAL_BITS - scaled_bits)))

    def report(self, labels: tuple[str, ...]) -> MissingReport:
        """What was left out, as in memory."""
        counts = np.zeros(len(labels), dtype=int) if self.missing is None else self.missing
        pairs = tuple(zip(labels, counts.tolist(), strict=True))
        return MissingReport(self.n_rows, self.n_dropped, pairs)
