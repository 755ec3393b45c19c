"""Reading and writing of monitor files, which have counts, settings and verdicts but no rows."""

from __future__ import annotations

import base64
import functools
import os
import types
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.data import output
from isodepth.errors import BusyFileError, InvalidOptionError, UnreadableFileError
from isodepth.monitor.blocks import N_BETS
from isodepth.monitor.functions import Rows
from isodepth.monitor.state import HISTORY, CountedBatch, MonitorState
from isodepth.monitor.verdict import Verdict

KIND = "monitor"
#: Kinds of monitor files that versions 0.1.0 and 0.2.0 wrote.
FORMER_KINDS = ("depth monitor", "calibrated depth monitor")
# Stored values must be below these limits: products of two numbers of rows must fit in int64, and
# every integer must be finite as a float.
_MOST_ROWS, _MOST_INTEGER = 1 << 31, 1 << 256
# Number of bytes at the end of a file that serve as its digest: they contain a checksum.
_DIGEST_LENGTH = 64


class MonitorFile:
    """File to which a monitor is saved after every batch; no file if `path` is None.

    Only one process at a time can change the file. It is replaced atomically, before the batch is
    counted.
    """

    def __init__(self, path: Any = None) -> None:
        self.path: Path | None = None if path is None else output.check_archive_target(path)
        self.digest = self._stored_digest()

    def check_new(self, overwrite: bool) -> None:
        """Refuse to replace an existing file, unless it is a monitor and `overwrite` is True."""
        if self.path is None or not self.path.exists():
            return
        try:
            output.read_archive(self.path, KIND, *FORMER_KINDS)
        except UnreadableFileError:
            raise InvalidOptionError(
                f"{self.path} exists and is not a readable monitor; give another path"
            ) from None
        if not overwrite:
            raise InvalidOptionError(
                f"{self.path} already contains a monitor; continue it with "
                f"Monitor.load({str(self.path)!r}, autosave=True), or give overwrite=True"
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the file; raise an error if the file is not as this monitor saved it."""
        if self.path is None:
            yield
            return
        with output.locked(self.path):
            if self._stored_digest() != self.digest:
                raise BusyFileError(
                    f"{self.path} has been changed since this monitor was read or saved; continue "
                    f"with Monitor.load({str(self.path)!r}, autosave=True)"
                )
            yield

    def save(self, state: MonitorState) -> None:
        """Write the state."""
        if self.path is not None:
            write_state(self.path, state)
            self.digest = self._stored_digest()

    def _stored_digest(self) -> bytes:
        try:
            return self.path.read_bytes()[-_DIGEST_LENGTH:] if self.path else b""
        except OSError:
            return b""


def write_state(path: str | os.PathLike[str], state: MonitorState) -> None:
    """Write a monitor."""
    output.write_archive(path, KIND, {"state": _packed(state)}, {})


def _packed(value: Any) -> Any:
    """Convert a value to JSON types; an array becomes the list of its dtype, shape and bytes."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, base64.b64encode(value.tobytes()).decode()
    kind: Any = type(value)
    if fields := _fields(kind):
        return {name: _packed(getattr(value, name)) for name in fields}
    if isinstance(value, dict):
        return [_packed(pair) for pair in value.items()]
    return [_packed(each) for each in value] if isinstance(value, list | tuple) else value


def read_state(path: str | os.PathLike[str]) -> MonitorState:
    """Read the state of a monitor from a file; raise UnreadableFileError if it is not valid."""
    header, _ = output.read_archive(path, KIND, *FORMER_KINDS)
    if header["kind"] != KIND:
        raise UnreadableFileError(
            f"{os.fspath(path)} is a monitor of isodepth 0.2.0 or earlier; fit the monitor again"
        )
    try:
        state = _unpacked(MonitorState, header["state"])
        _check(state)
    except Exception as error:
        # Catch every exception: each means that the file was not written by `write_state`.
        raise output.unreadable(path, f"it lacks a part of a monitor ({error!r:.200})") from None
    return state


def _unpacked(kind: Any, value: Any) -> Any:
    """Convert a JSON value back to the type `kind`, and check the types of all fields."""
    inner = typing.get_args(kind)
    if kind is Any:
        return value
    if isinstance(kind, types.UnionType):
        return None if value is None else _unpacked(inner[0], value)
    if kind is np.ndarray:
        dtype, shape, data = value
        if np.dtype(dtype).kind not in "fi":
            raise TypeError(f"an array of {dtype}")
        array = np.frombuffer(base64.b64decode(data), dtype).reshape(shape)
        # Stored integer arrays are counts, codes and indices: none of them can be negative.
        if np.isnan(array).any() or (array.dtype.kind == "i" and (array < 0).any()):
            raise ValueError("an array with NaN or a negative integer")
        return array
    if typing.get_origin(kind) is dict:
        return {_unpacked(inner[0], key): _unpacked(inner[1], each) for key, each in value}
    if typing.get_origin(kind) is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(_unpacked(*each) for each in zip(kinds, value, strict=True))
    if fields := _fields(kind):
        return kind(**{name: _unpacked(own, value[name]) for name, own in fields.items()})
    if type(value) is not kind or (kind is int and abs(value) >= _MOST_INTEGER):
        raise TypeError(f"{value!r:.80} in place of {kind.__name__}")
    return value


@functools.cache
def _fields(kind: type) -> dict[str, Any]:
    """Return the types of the fields of a class of isodepth; {} for a class of another package."""
    return typing.get_type_hints(kind) if kind.__module__.startswith("isodepth.") else {}


def _check(state: MonitorState) -> None:
    """Raise an error if values are out of range, or if a group cannot check a test batch."""
    reader, ranks = state.reader, state.ranks
    sizes = [len(values) for values in reader.categories.values()]
    valid: list[Any] = [
        0 <= state.alarm_since <= state.n_batches and state.crossings >= 0,
        len(state.records) <= min(state.n_batches, HISTORY),
        all(str(Verdict.from_json(line)) for _, _, line in state.records),
        len(reader.names) == reader.width + len(sizes) > 0,
        None not in state.groups or len(state.groups) == 1,
        all((group.model is None) is (ranks is None) for group in state.groups.values()),
    ]
    if ranks is not None:
        valid += [ranks.logs.shape == (state.policy.patience, N_BETS), ranks.n_batches >= 0]
    for name, group in state.groups.items():
        f, stored = group.functions, [group.reference, *filter(None, group.sums.blocks)]
        numbers = f.center, f.scale, f.directions, f.middles, f.medians, *f.cuts
        rows = Rows(np.vstack([f.center, f.center * np.nan]), np.zeros((2, len(sizes)), np.int64))
        batch = CountedBatch(f.count(rows), {}, rows)
        valid += [
            f.center.shape == f.scale.shape == (reader.width,),
            all(np.isfinite(array).all() for array in numbers),
            (f.scale > 0).all() and (f.middles[1] > 0).all() and f.middles.shape[0] == 2,
            all((k >= 0).all() and (k < n).all() for k, n in zip(f.known, sizes, strict=True)),
            all(0 < c.n_rows < _MOST_ROWS for c in stored),
            all(((c.ones >= 0) & (c.ones <= c.n_rows)).all() for c in stored),
            all(c.ones.shape == batch.counts.ones.shape == (len(f.members),) for c in stored),
            len(group.sums.blocks) <= group.sums.end.bit_length(),
        ]
        state.after_batch(name, batch, None)
    if not all(valid):
        raise ValueError("its parts are inconsistent")
