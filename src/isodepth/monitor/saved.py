"""Files of monitors.

A file contains one object in JSON: the state of the monitor, with the names of the fields of each
class as keys. Arrays are stored as dtype, shape and bytes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from isodepth.base import output
from isodepth.base.messages import InPython
from isodepth.base.options import option_error
from isodepth.base.records import FieldNames, packed, unpacked
from isodepth.errors import InvalidOptionError, UnreadableFileError
from isodepth.metric.region_table import RegionTable
from isodepth.monitor.blocks import BlockModel
from isodepth.monitor.columns import UsualValues
from isodepth.monitor.functions import (
    BatchFold,
    Counts,
    Functions,
    Relation,
    Thresholds,
    feature_names,
)
from isodepth.monitor.state import HISTORY, Group, MonitorState
from isodepth.monitor.verdict import Verdict
from isodepth.monitor.windows import AlarmPolicy, DyadicSums, ReferenceHashes
from isodepth.significance.martingale import N_BETS, RankEvidence
from isodepth.table.columns import Column, Note
from isodepth.table.numerals import STYLES, Style
from isodepth.table.table import Schema, Table

KIND = "monitor"
# Version of the content of the file.
_FORMAT = 1
# Products of two stored numbers of rows must fit in int64.
_MOST_ROWS = 1 << 31

#: Keys in the file of the fields of each stored class.
NAMES: FieldNames = {
    type_: {name: name for name in get_type_hints(type_)}
    for type_ in (
        MonitorState, AlarmPolicy, Schema, Column, Note, Style, Group, UsualValues, Functions,
        Thresholds, Counts, ReferenceHashes, DyadicSums, RankEvidence, BlockModel, RegionTable,
    )
}  # fmt: skip


def check_new(path: Any, overwrite: bool) -> Path:
    """Check the path of a new monitor, and return it.

    An existing file must be a monitor, and is an error unless `overwrite` is True.
    """
    target = output.check_archive_target(path)
    if target.exists():
        try:
            output.read_archive(target, KIND)
        except UnreadableFileError:
            message = f"{target} exists and is not a readable monitor; give another path"
            raise InvalidOptionError(message) from None
        if not overwrite:
            load = InPython(f"continue it with Monitor.load({str(target)!r}), or ")
            template = "{target} already contains a monitor; {load}give {--overwrite=True}"
            raise option_error(template, target=target, load=load)
    return target


def write_state(path: str | os.PathLike[str], state: MonitorState) -> None:
    """Write the state of a monitor to a file; an existing file is replaced atomically."""
    output.write_archive(path, KIND, {"content": _FORMAT, "state": packed(state, NAMES)}, {})


def read_state(path: str | os.PathLike[str]) -> MonitorState:
    """Read the state of a monitor from a file; raise UnreadableFileError if it is not valid."""
    header, _ = output.read_archive(path, KIND)
    if (found := header.get("content")) != _FORMAT:
        raise UnreadableFileError(
            f"{os.fspath(path)} is a monitor in format {found!r:.20}, and this version "
            f"reads format {_FORMAT}; update isodepth"
        )
    try:
        state: MonitorState = unpacked(MonitorState, header["state"], NAMES)
        _check(state)
    except Exception as error:
        # Catch every exception: each means that the file was not written by `write_state`.
        raise output.unreadable(path, f"it lacks a part of a monitor ({error!r:.200})") from None
    return state


def _check(state: MonitorState) -> None:
    """Raise an error if a value is out of range, or if a test batch of 2 rows cannot be checked."""
    _check_history(state)
    names, ranks = state.schema.names, state.ranks
    _require(len({*names}) == len(names) > 0, "columns")
    styles = (column.styles for column in state.schema.columns)
    _require(all({*each} <= {*STYLES} for each in styles), "styles of numbers")
    _require(ranks is None or ranks.keys() == state.groups.keys(), "evidence of ranks")
    for evidence in (ranks or {}).values():
        _require(evidence.logs.shape == (state.policy.patience, N_BETS), "evidence of ranks")
        _require(0 <= evidence.n_restart <= evidence.n_batches, "evidence of ranks")
    _require(None not in state.groups or len(state.groups) == 1, "groups")
    for name, group in state.groups.items():
        _check_functions(group.functions, state.schema)
        # A row of medians and a row of missing values, both with the first categories.
        center, n_categories = group.functions.center, len(group.functions.known)
        codes = np.zeros((2, n_categories), np.int32)
        rows = Table(np.vstack([center, center * np.nan]), codes, state.schema)
        batch = BatchFold(group.functions, group.usual, keep_numbers=True).run([rows])
        _require(all(part.shape == (2, len(center)) for part in group.usual), "ranges")
        _check_counts(group, batch.counts)
        _require((group.model is None) is (ranks is None), "blocks")
        state.after_batch(name, batch)


def _require(valid: Any, part: str) -> None:
    if not valid:
        raise ValueError(f"inconsistent {part}")


def _check_history(state: MonitorState) -> None:
    """Check the numbers of batches, the labels and the stored verdicts."""
    labels = state.labels
    for group in state.groups.values():
        _require(0 <= group.alarm_since <= state.n_batches and group.crossings >= 0, "alarms")
    _require(len(state.records) == min(state.n_batches, HISTORY), "number of verdicts")
    verdicts = [Verdict._from_json(line) for line in state.records]
    numbers = range(state.n_batches - len(verdicts) + 1, state.n_batches + 1)
    _require(
        [v.batch_number for v in verdicts] == list(numbers) and all(map(str, verdicts)), "verdicts"
    )
    _require(labels.shape == (len(labels), 4), "labels")
    _require(len(np.unique(labels[:, 0])) == len(labels), "labels")
    _require((labels[:, 2] > 0).all() and (labels[:, 2:] <= state.n_batches).all(), "labels")


def _check_functions(functions: Functions, schema: Schema) -> None:
    """Check shapes and ranges of the numbers that define the functions of a row."""
    f, t, width = functions, functions.thresholds, len(schema.numeric)
    known = zip(f.known, schema.categorical, strict=True)
    _require(f.center.shape == f.scale.shape == (width,), "scales")
    _require(f.middles.shape == (2, len(f.directions)), "scales")
    numbers = f.center, f.scale, f.directions, f.middles, f.medians, t.value
    _require(all(np.isfinite(array).all() for array in numbers), "functions")
    _require((f.scale > 0).all() and (f.middles[1] > 0).all(), "scales")
    _require(
        all((np.diff(k, append=len(column.categories)) > 0).all() for k, column in known),
        "categories",
    )
    n_features = len(feature_names(width, len(f.directions)))
    for integers, count in ((t.feature, n_features), (t.relation, len(Relation)), (t.upper, 2)):
        _require(integers.shape == t.value.shape, "thresholds")
        _require(np.isin(integers, np.arange(count)).all(), "thresholds")


def _check_counts(group: Group, counted: Counts) -> None:
    """Raise an error if counts or hashes of a group are not valid.

    The counts of the reference and of windows must have the shapes of `counted`, the counts of a
    test batch. A group must have hashes of rows of the reference, except with blocks.
    """
    _require((group.hashes is None) is (group.model is not None), "hashes")
    if group.hashes is not None:
        distinct, counts, multiplicities = group.hashes
        _require(distinct.shape == counts.shape == (len(distinct),) and len(distinct), "hashes")
        _require((np.diff(distinct) > 0).all() and (counts > 0).all(), "hashes")
        _require(counts.sum() < _MOST_ROWS, "hashes")
        k, rows = multiplicities
        _require(k.shape == rows.shape == (len(k),) and len(k), "multiplicities")
        _require((k > 0).all() and (rows >= k).all(), "multiplicities")
        _require(rows.sum() < _MOST_ROWS, "multiplicities")
    for c in filter(None, (group.reference, group.all_rows, *group.sums.runs)):
        _require(0 < c.n_rows < _MOST_ROWS and (c.ones <= c.n_rows).all(), "counts")
        _require(c.ones.shape == counted.ones.shape == (len(group.functions.members),), "counts")
        _require(c.summaries.shape == counted.summaries.shape, "medians")
    _require(len(group.sums.runs) <= group.sums.end.bit_length(), "windows")
