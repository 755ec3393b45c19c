"""What this process has made ready to run, and whether it can be kept."""

from __future__ import annotations

import isodepth.engine.compiled.lite.loop as loops
from isodepth.engine.compiled.lite.entries import Prepared, journal
from isodepth.engine.compiled.lite.store import check_writable


def made_ready() -> list[Prepared]:
    """The loops made ready so far, in order."""
    return list(journal)


def check_kept() -> None:
    """Raise OSError where compiled code can be written to no folder."""
    check_writable(loops.__file__)
