"""Optional progress bars."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from isodepth.base.extras import load_extra


@contextmanager
def progress_bar(shown: bool, total: int, label: str, unit: str) -> Iterator[Callable[[int], None]]:
    """Show a progress bar of `total` units inside a ``with`` statement, if `shown` is true.

    The context manager yields a function. The caller passes to it the number of units that were
    completed since the last call. Any thread may call the function.
    """
    if not shown:
        yield lambda count: None
        return
    tqdm = load_extra("tqdm.auto", "progress", "progress=True")

    class Bar(tqdm.tqdm):  # type: ignore[name-defined]
        # The interval 0 disables the monitor thread of tqdm, which would continue to run after the
        # progress bar is closed.
        monitor_interval = 0

    lock = threading.Lock()
    with Bar(total=total, desc=label, unit=unit, unit_scale=total > 10_000) as bar:

        def advance(count: int) -> None:
            with lock:
                bar.update(count)

        yield advance
