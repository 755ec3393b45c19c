"""Units of the columns: `scale="pooled"` and `scale="reference"` for samples in chunks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.chunked.limits import Limits
from isodepth.chunked.passes import FlatPass, LookPass, Pass
from isodepth.chunked.preparation import preparation_of
from isodepth.chunked.rows import Frame
from isodepth.chunked.runner import Runner
from isodepth.chunked.selection import by_digits, digit_search, median_ranks
from isodepth.chunked.sources import Source
from isodepth.chunked.table import draw
from isodepth.errors import InvalidOptionError
from isodepth.metric.base import BaseMetric


def column_spreads(sources: list[Source], metric: BaseMetric, run: Runner) -> np.ndarray:
    """The spread (d,) of the columns in several sources together, with the bits it has in memory.

    Every column is looked at digit by digit, in double precision.
    """
    if any(source.weighted for source in sources):
        raise InvalidOptionError(
            f"scale={metric.scale!r} of weighted samples in chunks is not known; give one number "
            "for each column (scale=array)"
        )
    width = sources[0].n_features
    options = {**metric._options(), "dtype": "float64"}
    limits = Limits.of(draw(metric, width, None), "float64")
    # Checked in the precision in which they are compared; the bits are those of that precision.
    precision = metric.dtype or sources[0].dtype
    preparations = [
        replace(preparation_of(source, options, None), dtype=precision) for source in sources
    ]
    total = 0
    for source, preparation in zip(sources, preparations, strict=True):
        total += run.fold(source, None, LookPass(preparation, 1), limits)["looked"].n_present

    def fold(work: Pass) -> Any:
        states = [
            run.fold(source, preparation.later(), _Doubles(work), limits)
            for source, preparation in zip(sources, preparations, strict=True)
        ]
        for state in states[1:]:
            work.merge(states[0], state)
        return states[0]

    # A product with a unit vector is the column itself.
    frame = Frame(np.zeros(width), 0, np.eye(width))
    both = frame.along(np.tile(np.arange(width), 2))
    ranks = np.repeat(median_ranks(total), width)
    middles = _between(by_digits(fold, both, None, ranks))
    spreads = _between(by_digits(fold, both, np.tile(middles, 2), ranks))
    flat = np.flatnonzero(spreads == 0)
    if len(flat):
        along = frame.along(np.tile(flat, 2))
        empty = np.zeros(len(flat), dtype=bool)

        def counts(prefixes: np.ndarray, shift: int) -> np.ndarray:
            work = FlatPass(along, np.tile(middles[flat], 2), None, prefixes, shift)
            found = fold(work).counts
            if shift == 56:
                empty[:] = found[: len(flat)].sum(axis=1) == 0
            return found

        positive = _between(digit_search(counts, np.dtype(np.float64), None, len(flat)))
        spreads[flat] = np.where(empty, 1.0, positive)
    return spreads


def _between(ends: np.ndarray) -> np.ndarray:
    lower, upper = np.split(ends, 2)
    return lower + (upper - lower) / 2


class _Doubles:
    """A pass that sees the rows in double precision."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def start(self) -> Any:
        return self.work.start()

    def step(self, state: Any, rows: Any) -> None:
        self.work.step(state, rows._replace(points=rows.points.astype(np.float64)))

    def merge(self, state: Any, other: Any) -> None:
        self.work.merge(state, other)
