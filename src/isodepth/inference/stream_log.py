"""The log of a monitor: one line of JSON a batch, in step with the saved state.

The state is written first and holds the last line too. A process that is killed between the two
leaves a log that lacks this line, or holds a part of it; whoever goes on repairs that first.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from isodepth.errors import InvalidOptionError

_BLOCK = 1 << 16


def repair_log(path: Path, last: str | None, count: int) -> None:
    """Bring a log in step with a state of `count` batches, of which `last` is the last line.

    What follows the last newline was never finished and goes. A log that was moved away or emptied
    begins anew.
    """
    if not path.exists():
        if last is not None:
            _append(path, last)
        return
    with open(path, "r+b") as file:
        _cut_unfinished(file)
        there = _last_batch(file)
    if there > count:
        raise InvalidOptionError(
            f"{path} goes up to batch {there}, and the monitor has seen {count}: it is the log of "
            "another monitor, or of a later state of this one; give another file"
        )
    if last is not None and there < count:
        _append(path, last)


def append_log(path: Path, line: str) -> None:
    """Add one line, and see to it that it is on the disk."""
    _append(path, line)


def _append(path: Path, line: str) -> None:
    with open(path, "ab") as file:
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _cut_unfinished(file: Any) -> None:
    end = file.seek(0, os.SEEK_END)
    at = _newline_before(file, end)
    if at + 1 < end:
        file.truncate(at + 1)


def _newline_before(file: Any, end: int) -> int:
    """Where the last newline before `end` is, -1 where there is none."""
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found
        end = start
    return -1


def _last_batch(file: Any) -> int:
    """The number in the last line, 0 where there is none."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return 0
    start = _newline_before(file, end - 1) + 1
    file.seek(start)
    line = file.read(end - start)
    try:
        number = json.loads(line)["batch"]
    except (ValueError, KeyError, TypeError):
        number = None
    if type(number) is not int:
        raise InvalidOptionError(
            f"{getattr(file, 'name', 'the log')} does not end with a line of a monitor, got "
            f"{line[:80]!r}; give another file"
        )
    return number
