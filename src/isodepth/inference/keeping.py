"""A monitor kept in a file while it is used: one process at a time, written after every batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isodepth.data.output import locked
from isodepth.errors import BusyFileError
from isodepth.inference.stream_log import append_log, repair_log
from isodepth.inference.verdict import Verdict
from isodepth.inference.watching import Fitted, Promise

# The checksum that our files end with says which state they hold.
_DIGEST_LENGTH = 64


class Keeper:
    """Where a monitor and its log are kept; nowhere if `path` is None.

    Attributes
    ----------
    path, log : Path or None
    last : str or None
        The line of the log that belongs to the state: it is in the file of the monitor too, so that
        a log which lacks it can be repaired.
    """

    def __init__(self, path: Path | None, log: Path | None) -> None:
        self.path = path
        self.log = log
        self.last: str | None = None
        self._digest = b""

    def check_new(self) -> None:
        """Check that a new monitor can begin with its log."""
        if self.log is not None:
            repair_log(self.log, None, 0)

    def start(self, fitted: Fitted, promise: Promise) -> None:
        """Keep a monitor that has seen nothing, in place of whatever was there."""
        if self.path is not None:
            with locked(self.path):
                self._write(fitted, promise)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Nobody changes the file while it is read to go on from."""
        if self.path is None:
            yield
        else:
            with locked(self.path):
                yield
                self._digest = self._found()

    def go_on(self, count: int) -> None:
        """Go on from a state of so many batches."""
        if self.log is not None:
            repair_log(self.log, self.last, count)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else changes the file; an error if somebody has."""
        if self.path is None:
            yield
            return
        with locked(self.path):
            if self._found() != self._digest:
                raise BusyFileError(
                    f"{self.path} has been changed since this monitor was read or saved, most "
                    "likely by another process that checked a batch; go on from DepthMonitor.load("
                    f"{str(self.path)!r}, autosave=True)"
                )
            yield

    def keep(self, fitted: Fitted, promise: Promise, verdict: Verdict | None) -> None:
        """Write the state after a batch."""
        before = self.last
        if verdict is not None:
            self.last = verdict.to_json()
        try:
            if self.path is not None:
                self._write(fitted, promise)
        except BaseException:
            self.last = before
            raise

    def note(self, verdict: Verdict) -> None:
        """Add the line of a batch to the log."""
        if self.log is not None:
            append_log(self.log, verdict.to_json())

    def _write(self, fitted: Fitted, promise: Promise) -> None:
        from isodepth.inference.monitor_file import write_watching

        assert self.path is not None
        write_watching(self.path, fitted, promise, self.last)
        self._digest = self._found()

    def _found(self) -> bytes:
        assert self.path is not None
        try:
            with open(self.path, "rb") as file:
                file.seek(-_DIGEST_LENGTH, 2)
                return file.read()
        except OSError:
            return b""
