"""Compiled: workers take the next part of what is to be done without asking the interpreter.

The interpreter serves one thread at a time, and waking the next takes longer than many a part. So
a worker calls one loop, which takes parts from a counter that all workers share until none is left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isodepth.engine.compiled.lanes import translated
from isodepth.engine.compiled.lite.kinds import Array, LiteError, Number
from isodepth.engine.compiled.lite.loop import loop
from isodepth.engine.compiled.lite.writer import Writer
from isodepth.engine.compiled.vector_lanes import Operation


class Turn(NamedTuple):
    """What a worker may take."""

    cuts: Any  # int64 (parts + 1,), rising: part i is cuts[i]..cuts[i + 1]
    counter: Any  # int64 (1,), the part to take next; perhaps shared with others
    left: Any  # int64 (2,): how many parts may be taken now; how many this worker has taken


class Parts:
    """What is to be done, cut up at rising numbers, and taken by any number of workers.

    A worker makes calls, numbered 0, 1, ... by all workers together, and takes at most `at_a_time`
    parts in each.
    """

    def __init__(self, cuts: list[int], at_a_time: int, workers: int) -> None:
        self._cuts = np.array(cuts, np.int64)
        self._counter = np.zeros(1, np.int64)
        self._at_a_time = at_a_time
        self._together = translated()
        needed = -(-(len(cuts) - 1) // at_a_time)
        #: How many calls it takes; who comes late finds nothing left to do.
        self.calls = needed + workers if self._together else needed

    def turn(self, number: int, left: np.ndarray) -> Turn:
        """What may be taken in call `number` by the worker that keeps count in `left` (2,)."""
        left[0] = self._at_a_time
        if self._together:
            return Turn(self._cuts, self._counter, left)
        # Plain loops cannot count together: each call has parts of its own.
        first = number * self._at_a_time
        own = self._cuts[first : first + self._at_a_time + 1]
        return Turn(own, np.zeros(1, np.int64), left)


def _write_take_next(out: Writer, counter: Any) -> Number:
    if not isinstance(counter, Array) or counter.type.element != "q" or not counter.type.dense:
        raise LiteError(f"take_next takes an array of int64 numbers, got {counter}")
    return Number("i64", out.set(f"atomicrmw add ptr {counter.data}, i64 1 monotonic, align 8"))


#: `take_next(counter)`: raise counter[0] by one, whoever else does, and return what it was.
take_next = Operation(_write_take_next, "take_next")


@loop
def take_part(turn):
    """Where the next part begins and ends; 0 and 0 where there is none, or none for now."""
    if turn.left[0] <= 0:
        return 0, 0
    turn.left[0] -= 1
    part = take_next(turn.counter)
    if part + 1 >= turn.cuts.shape[0]:
        return 0, 0
    turn.left[1] += 1
    return turn.cuts[part], turn.cuts[part + 1]
