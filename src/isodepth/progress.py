"""A progress bar when asked for, and nothing otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from isodepth.errors import MissingExtraError


@contextmanager
def progress_bar(shown: bool, total: int, label: str, unit: str) -> Iterator[Callable[[int], None]]:
    """Give a function that any thread may call to say that so many more units are done."""
    if not shown:
        yield lambda count: None
        return
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError(
            "progress=True needs the package tqdm: pip install tqdm, or leave progress out"
        ) from None

    class Bar(tqdm):
        # No thread of tqdm's own: it would outlive the bar.
        monitor_interval = 0

    lock = threading.Lock()
    with Bar(total=total, desc=label, unit=unit, unit_scale=total > 10_000) as bar:

        def advance(count: int) -> None:
            with lock:
                bar.update(count)

        yield advance
