"""Optional progress bars."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from isodepth.data.extras import load_extra


@contextmanager
def progress_bar(shown: bool, total: int, label: str, unit: str) -> Iterator[Callable[[int], None]]:
    """Yield a function, safe to call from any thread, that adds a number of finished units."""
    if not shown:
        yield lambda count: None
        return
    tqdm = load_extra("tqdm.auto", "progress", "progress=True")

    class Bar(tqdm.tqdm):  # type: ignore[name-defined]
        # The monitor thread of tqdm would outlive the bar.
        monitor_interval = 0

    lock = threading.Lock()
    with Bar(total=total, desc=label, unit=unit, unit_scale=total > 10_000) as bar:

        def advance(count: int) -> None:
            with lock:
                bar.update(count)

        yield advance
