"""Parts are taken by whoever comes: each of them once, by any number of workers."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

from isodepth.engine.compiled import turns
from isodepth.engine.compiled.turns import Parts, take_part


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("at_a_time", [1, 3, 50])
@pytest.mark.parametrize("came", [1, 4])
def test_every_part_is_taken_once(
    together: bool, at_a_time: int, came: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four workers are expected; all parts are done as well where one comes alone."""
    monkeypatch.setattr(turns, "translated", lambda: together)
    cuts = [0, 2, 3, 7, 8, 20, 21, 30]
    parts = Parts(cuts, at_a_time, workers=4)
    calls, taken, lock = iter(range(parts.calls)), [], threading.Lock()

    def work() -> None:
        left = np.zeros(2, np.int64)
        mine = []
        while True:
            with lock:
                number = next(calls, None)
            if number is None:
                break
            turn = parts.turn(number, left)
            before = len(mine)
            while (part := take_part(turn)) != (0, 0):
                mine.append(part)
            assert len(mine) - before <= at_a_time
        assert left[1] == len(mine)
        with lock:
            taken.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(came)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(itertools.pairwise(cuts))
