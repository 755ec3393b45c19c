"""Monitors in files: counts, settings and the last verdicts, without any rows.

Objects become JSON, in which an array is a reference into the two arrays of the file, integers and
floats. `Autosave` keeps a monitor in a file while it is used: one process at a time, written
atomically before a batch counts as checked.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.data.kinds import ColumnKind
from isodepth.data.output import (
    check_archive_target,
    locked,
    read_archive,
    unreadable,
    write_archive,
)
from isodepth.errors import BusyFileError, InvalidOptionError, UnreadableFileError
from isodepth.metric.table import RegionTable
from isodepth.monitor.blocks import N_BETS, BlockModel, RankEvidence
from isodepth.monitor.functions import Counts, Functions, Rows
from isodepth.monitor.reader import BatchReader
from isodepth.monitor.state import HISTORY, Group, MonitorState, Record
from isodepth.monitor.verdict import Verdict
from isodepth.monitor.windows import AlarmPolicy, DyadicSums

KIND = "monitor"
#: Kinds of files of 0.1.0 and 0.2.0.
FORMER_KINDS = ("depth monitor", "calibrated depth monitor")

PathLike = str | os.PathLike[str]

_TYPES = (MonitorState, AlarmPolicy, BatchReader, ColumnKind, Group, Functions, Counts, DyadicSums,
          BlockModel, RegionTable, RankEvidence, Record)  # fmt: skip
_CLASSES: dict[str, Any] = {each.__name__: each for each in _TYPES}
_STORES = {"f": "floats", "i": "integers"}
# Products of two numbers of rows must not overflow.
_MOST_ROWS = 1 << 31
# The checksum at the end of a file identifies its content.
_DIGEST_LENGTH = 64


def write_state(path: PathLike, state: MonitorState) -> None:
    """Write a monitor."""
    arrays: dict[str, list[np.ndarray]] = {"floats": [np.empty(0)], "integers": [np.empty(0, int)]}
    header = {"state": _packed(state, arrays)}
    write_archive(path, KIND, header, {name: np.concatenate(a) for name, a in arrays.items()})


def _packed(value: Any, arrays: dict[str, list[np.ndarray]]) -> Any:
    if isinstance(value, np.ndarray):
        arrays[_STORES[value.dtype.kind]].append(value.ravel())
        return {"array": value.dtype.name, "shape": list(value.shape)}
    if is_dataclass(value) or hasattr(value, "_fields"):
        names = getattr(value, "_fields", None) or [each.name for each in fields(value)]
        content = {name: _packed(getattr(value, name), arrays) for name in names}
        return {"class": type(value).__name__, "fields": content}
    if isinstance(value, dict):
        return {"pairs": [[key, _packed(each, arrays)] for key, each in value.items()]}
    return [_packed(each, arrays) for each in value] if isinstance(value, list | tuple) else value


def read_state(path: PathLike) -> MonitorState:
    """Read a monitor that can check a batch; anything else raises UnreadableFileError."""
    header, arrays = read_archive(path, KIND, *FORMER_KINDS)
    if header["kind"] != KIND:
        raise UnreadableFileError(
            f"{os.fspath(path)} is a monitor of isodepth 0.2.0 or earlier, which this version does "
            "not read; fit the monitor again from its reference"
        )
    try:
        left = {name: arrays[name] for name in _STORES.values()}
        dtypes = [str(array.dtype) for array in left.values()]
        state = _unpacked(header["state"], left)
        if dtypes != ["float64", "int64"] or any(len(array) for array in left.values()):
            raise ValueError("its arrays do not fit its parts")
        _check(state)
    except Exception as error:
        # Any error means that the file was not written by `write_state`.
        raise unreadable(path, f"it lacks a part of a monitor ({error!r:.200})") from None
    return state


def _unpacked(value: Any, left: dict[str, np.ndarray]) -> Any:
    """Restore an object; its arrays are taken from the front of those that are left."""
    if isinstance(value, list):
        return tuple(_unpacked(each, left) for each in value)
    if not isinstance(value, dict):
        return value
    if "pairs" in value:
        return {key: _unpacked(each, left) for key, each in value["pairs"]}
    if "class" in value:
        content = {name: _unpacked(each, left) for name, each in value["fields"].items()}
        return _CLASSES[value["class"]](**content)
    dtype, shape = np.dtype(value["array"]), value["shape"]
    store, size = _STORES[dtype.kind], math.prod(shape)
    if any(type(length) is not int or length < 0 for length in shape) or len(left[store]) < size:
        raise ValueError(f"an array of shape {shape}")
    array, left[store] = left[store][:size].reshape(shape), left[store][size:]
    return array.astype(dtype)


def _check(state: Any) -> None:
    """Check ranges, and then that every group can judge a batch."""
    AlarmPolicy.checked(*vars(state.policy).values())
    reader, ranks = state.reader, state.evidence
    counters = [state.n_batches, state.crossings, state.alarm_since]
    if ranks is not None:
        counters.append(ranks.n_batches)
        _require(ranks.logs.shape == (state.policy.patience, N_BETS))
    sizes = [len(values) for values in reader.categories.values()]
    lines = [Verdict.from_json(record.line) for record in state.records]
    _require(
        type(state.seed) is int and all(type(c) is int and c >= 0 for c in counters),
        state.alarm_since <= state.n_batches and len(lines) <= min(state.n_batches, HISTORY),
        all(isinstance(each.label, str | None) for each in state.records),
        all(str(verdict) for verdict in lines) and isinstance(state.records, tuple),
        len(reader.names) == reader.width + len(sizes) > 0,
        all(isinstance(name, str) for name in reader.names),
        (ranks is None) is all(g.model is None for g in state.groups.values()),
    )
    for name, group in state.groups.items():
        f, stored = group.functions, [group.reference, *filter(None, group.sums.blocks)]
        numbers = f.center, f.scale, f.directions, f.middles, f.cuts, f.medians
        _require(
            isinstance(name, str | None) and (name is not None or len(state.groups) == 1),
            f.center.shape == f.scale.shape == (reader.width,) and (f.n_cuts >= 0).all(),
            all(np.isfinite(array).all() for array in numbers),
            (f.scale > 0).all() and (f.middles[1] > 0).all() and f.middles.shape[0] == 2,
            len(f.known) == len(sizes),
            all((k >= 0).all() and (k < n).all() for k, n in zip(f.known, sizes, strict=True)),
            all(type(c.n_rows) is int and 0 < c.n_rows < _MOST_ROWS for c in stored),
            all(((c.ones >= 0) & (c.ones <= c.n_rows)).all() for c in stored),
            type(group.sums.end) is int and len(group.sums.blocks) <= group.sums.end.bit_length(),
        )
        rows = Rows(np.vstack([f.center, f.center * np.nan]), np.zeros((2, len(sizes)), np.int64))
        batch = group.counted([rows], {})
        _require(*(c.ones.shape == batch.counts.ones.shape == (len(f.members),) for c in stored))
        state.after_batch(name, batch, None)


def _require(*demands: Any) -> None:
    if not all(bool(demand) for demand in demands):
        raise ValueError("its parts are inconsistent")


# -- while it is used -----------------------------------------------------------------------------


class Autosave:
    """File in which a monitor is kept while it is used; none if `path` is None."""

    def __init__(self, path: Any = None) -> None:
        self.path: Path | None = None if path is None else check_archive_target(path)
        self._digest = b""

    def check_new(self, overwrite: bool) -> None:
        """Refuse to replace an existing file, unless it is a monitor and `overwrite` is True."""
        if self.path is None or not self.path.exists():
            return
        try:
            read_archive(self.path, KIND, *FORMER_KINDS)
        except UnreadableFileError:
            raise InvalidOptionError(
                f"{self.path} exists and is not a readable monitor; give another path"
            ) from None
        if not overwrite:
            raise InvalidOptionError(
                f"{self.path} holds a monitor already, which a new one would replace with its "
                f"history; continue it with Monitor.load({str(self.path)!r}, autosave=True), or "
                "replace it with overwrite=True"
            )

    @contextmanager
    def locked(self, reading: bool = False) -> Iterator[None]:
        """Hold the lock of the file; raise if another process has changed it, unless `reading`."""
        if self.path is None:
            yield
            return
        with locked(self.path):
            if not reading and self._stored_digest() != self._digest:
                raise BusyFileError(
                    f"{self.path} has been changed since this monitor was read or saved, probably "
                    "by another process that checked a batch; continue with "
                    f"Monitor.load({str(self.path)!r}, autosave=True)"
                )
            yield
            if reading:
                self._digest = self._stored_digest()

    def save(self, state: MonitorState) -> None:
        """Write the state."""
        if self.path is not None:
            write_state(self.path, state)
            self._digest = self._stored_digest()

    def _stored_digest(self) -> bytes:
        assert self.path is not None
        try:
            with open(self.path, "rb") as file:
                file.seek(-_DIGEST_LENGTH, 2)
                return file.read()
        except OSError:
            return b""
