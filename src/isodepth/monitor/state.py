"""State of a monitor: how a batch changes it, and how it is written to a file and read again.

A state contains settings, functions of a row with the counts of the reference, the counts of recent
windows, digests of labels and the last verdicts. It contains neither rows of the reference nor of
batches.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.directions import rng_for
from isodepth.data import output
from isodepth.data.records import packed, unpacked
from isodepth.errors import InvalidInputError, InvalidOptionError, UnreadableFileError
from isodepth.monitor.blocks import BlockModel
from isodepth.monitor.functions import LEAST_ROWS, Batch, Counts, Functions, fit_functions
from isodepth.monitor.reader import BatchReader
from isodepth.monitor.verdict import Verdict
from isodepth.monitor.windows import AlarmPolicy, DyadicSums, Evidence
from isodepth.significance.martingale import N_BETS, RankEvidence
from isodepth.significance.samples import row_labels

#: Number of verdicts that a monitor keeps. Of earlier batches with a label, 32 bytes are kept.
HISTORY = 500
# Maximum number of indices of suspicious rows in a verdict.
_MOST_SUSPICIOUS = 100
#: Kind of the file, and kinds of the files that versions 0.1.0 and 0.2.0 wrote.
KIND, _FORMER_KINDS = "monitor", ("depth monitor", "calibrated depth monitor")
# Version of the content of the file. Files of 0.3.0 have none.
_FORMAT = 1
# Products of two stored numbers of rows must fit in int64.
_MOST_ROWS = 1 << 31


class Group(NamedTuple):
    """Reference and windows of one group of rows."""

    functions: Functions
    reference: Counts
    model: BlockModel | None = None  # None without blocks
    sums: DyadicSums = DyadicSums()  # empty with blocks

    def counted(self, parts: Iterable[np.ndarray], unseen: dict[int, str]) -> Batch:
        """Return the counts of a batch given in parts; `unseen` is a field of `Batch`."""
        batch = self.functions.count_batch(parts, unseen, keep_rows=self.model is not None)
        if self.model is not None:
            self.model.check_size(batch.counts.n_rows)
        return batch


@dataclass(eq=False)
class MonitorState:
    """State of a monitor after some batches; each batch creates a new state."""

    policy: AlarmPolicy
    reader: BatchReader
    groups: dict[str | None, Group]  # without groups, the only key is None
    ranks: RankEvidence | None = None  # evidence of the batches of all groups; None without blocks
    n_batches: int = 0
    crossings: int = 0  # number of windows that crossed their level since the last alarm or reset
    alarm_since: int = 0  # number of the batch that raised the alarm; 0 without an alarm
    records: tuple[str, ...] = ()  # verdicts on the last batches as JSON
    #: Row per batch with a label: digests of its label and content, number, `alarm_since`.
    labels: np.ndarray = field(default_factory=lambda: np.empty((0, 4), np.int64))

    def verdict_on(self, label: str, name: str | None, batch: Batch) -> Verdict | None:
        """Return the verdict on an earlier batch with this label; None if there is none."""
        (found,) = np.nonzero(self.labels[:, 0] == _digest(label))
        if not len(found):
            return None
        _, content, number, alarm_since = self.labels[found[0]].tolist()
        if content != _content(name, batch):
            raise InvalidInputError(
                f"batch {number} already has the label {label!r}, with other rows; use another "
                "label"
            )
        if number > self.n_batches - len(self.records):
            return Verdict.from_json(self.records[number - self.n_batches - 1])
        return Verdict(
            batch=number, label=label, group=name, n_rows=batch.counts.n_rows, pvalue=math.nan,
            window=0, window_pvalue=math.nan, threshold=math.nan, crossing=False,
            alarm=alarm_since > 0, alarm_since=alarm_since or None, changed_share=None,
            beyond_blocks=False, changes=[], suspicious=len(batch.suspicious),
            suspicious_rows=batch.suspicious[:_MOST_SUSPICIOUS].tolist(), score=None, exact=False,
        )  # fmt: skip

    def after_batch(
        self, name: str | None, batch: Batch, label: str | None = None
    ) -> tuple[MonitorState, Verdict]:
        """Return the state after a batch of the group `name`, and the verdict on it."""
        group, policy, number = self.groups[name], self.policy, self.n_batches + 1
        functions, reference = group.functions, group.reference
        alarm_since = self.alarm_since if policy.arl is None else 0
        state = replace(self, n_batches=number, alarm_since=alarm_since)
        if self.ranks is None or group.model is None:
            sums, windows = group.sums.add(batch.counts)
            evidence = policy.strongest(functions, reference, windows, sums.end, len(self.groups))
            group = group._replace(sums=sums)
        else:
            evidence, model, state.ranks = group.model.judge(
                batch, functions, reference, self.ranks, number, policy.level
            )
            group = group._replace(model=model)
        state.groups = self.groups | {name: group}
        crossing = evidence.window_pvalue <= evidence.threshold
        if crossing and not state.alarm_since:
            state.crossings += 1
            # With blocks, every crossing is an alarm, because `RankEvidence` already takes
            # `patience` into account.
            if state.crossings >= policy.patience or self.ranks is not None:
                state.crossings, state.alarm_since = 0, number
            if not state.alarm_since or policy.arl is not None:
                state.restart()
        fields = {field: getattr(evidence, field) for field in Evidence._fields[3:]}
        verdict = Verdict(
            batch=number, label=label, group=name, n_rows=batch.counts.n_rows, crossing=crossing,
            alarm=state.alarm_since > 0, alarm_since=state.alarm_since or None,
            changes=evidence.changes(self.reader, batch.unseen), suspicious=len(batch.suspicious),
            suspicious_rows=batch.suspicious[:_MOST_SUSPICIOUS].tolist(), **fields,
        )  # fmt: skip
        state.records = (*self.records[1 - HISTORY :], verdict.to_json())
        if label is not None:
            entry = [_digest(label), _content(name, batch), number, state.alarm_since]
            state.labels = np.vstack([self.labels, np.array([entry], np.int64)])
        return state, verdict

    def restart(self) -> None:
        """Restart all windows; the numbering of the batches continues."""
        self.ranks = self.ranks and self.ranks.restarted()
        self.groups = {k: g._replace(sums=g.sums.restarted()) for k, g in self.groups.items()}


def _digest(text: str) -> int:
    """Return a digest of 63 bits of a string."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def _content(name: str | None, batch: Batch) -> int:
    """Return a digest of the rows of a batch, of their number and of the name of its group."""
    return _digest(f"{batch.digest} {batch.counts.n_rows} {name!r}")


def fit_state(
    reference: Any, policy: AlarmPolicy, blocks: Any, groups: Any, kinds: Any, nan_policy: str,
    seed: int,
) -> MonitorState:  # fmt: skip
    """Return the state before the first batch; the arguments are those of `Monitor`."""
    # Do not sample a source that does not fit into memory if there are labels of all its rows.
    sampling = seed if blocks is None and groups is None else None
    reader, rows = BatchReader.of_reference(reference, nan_policy, kinds, sampling)
    days, sites = (
        None if labels is None else row_labels(labels, name, len(rows), "the reference").astype(str)
        for labels, name in ((blocks, "blocks"), (groups, "groups"))
    )
    rng, fitted = rng_for(seed, "splits"), {}
    for name in (None,) if sites is None else np.unique(sites).tolist():
        mask = slice(None) if sites is None else sites == name
        part, width = rows[mask], reader.width
        title = "the reference" if name is None else f"group {name!r} of the reference"
        if len(part) < LEAST_ROWS:
            message = f"{title} has {len(part)} rows, and a monitor needs at least {LEAST_ROWS}"
            raise InvalidInputError(message)
        if days is None:
            fitted[name] = Group(*fit_functions(part, width, rng, reader.names, title))
        else:
            fitted[name] = Group(*BlockModel.fit(part, days[mask], width, rng, seed))
    ranks = None if days is None else RankEvidence.start(policy.arl is not None, policy.patience)
    return MonitorState(policy, reader, fitted, ranks)


def check_new(path: Any, overwrite: bool) -> Path:
    """Return the path of a new monitor; a file there must be a monitor, and `overwrite` True."""
    target = output.check_archive_target(path)
    if target.exists():
        try:
            output.read_archive(target, KIND, *_FORMER_KINDS)
        except UnreadableFileError:
            message = f"{target} exists and is not a readable monitor; give another path"
            raise InvalidOptionError(message) from None
        if not overwrite:
            raise InvalidOptionError(
                f"{target} already contains a monitor; continue it with "
                f"Monitor.load({str(target)!r}, autosave=True), or give overwrite=True"
            )
    return target


def write_state(path: str | os.PathLike[str], state: MonitorState) -> None:
    """Write the state of a monitor to a file; an existing file is replaced atomically."""
    output.write_archive(path, KIND, {"content": _FORMAT, "state": packed(state)}, {})


def read_state(path: str | os.PathLike[str]) -> MonitorState:
    """Read the state of a monitor from a file; raise UnreadableFileError if it is not valid."""
    header, _ = output.read_archive(path, KIND, *_FORMER_KINDS)
    if header["kind"] != KIND or "content" not in header:
        raise UnreadableFileError(
            f"{os.fspath(path)} is a monitor of isodepth 0.3.0 or earlier; fit the monitor again"
        )
    if header["content"] != _FORMAT:
        raise UnreadableFileError(
            f"{os.fspath(path)} is a monitor in format {header['content']!r:.20}, and this version "
            f"reads format {_FORMAT}; update isodepth"
        )
    try:
        state: MonitorState = unpacked(MonitorState, header["state"])
        _check(state)
    except Exception as error:
        # Catch every exception: each means that the file was not written by `write_state`.
        raise output.unreadable(path, f"it lacks a part of a monitor ({error!r:.200})") from None
    return state


def _check(state: MonitorState) -> None:
    """Raise an error if a value is out of range, or if a group cannot check a test batch."""
    _check_history(state)
    _check_columns(state.reader)
    _require(None not in state.groups or len(state.groups) == 1, "groups")
    for name, group in state.groups.items():
        _check_functions(group.functions, state.reader)
        batch = group.functions.count_batch([_test_rows(group.functions)], {}, keep_rows=True)
        _check_counts(group, batch.counts)
        _require((group.model is None) is (state.ranks is None), "blocks")
        state.after_batch(name, batch)


def _require(valid: Any, part: str) -> None:
    if not valid:
        raise ValueError(f"inconsistent {part}")


def _check_history(state: MonitorState) -> None:
    """Check the numbers of batches, the labels, the stored verdicts and the evidence of ranks."""
    ranks, labels = state.ranks, state.labels
    _require(0 <= state.alarm_since <= state.n_batches and state.crossings >= 0, "alarms")
    _require(len(state.records) == min(state.n_batches, HISTORY), "number of verdicts")
    verdicts = [Verdict.from_json(line) for line in state.records]
    numbers = range(state.n_batches - len(verdicts) + 1, state.n_batches + 1)
    _require([v.batch for v in verdicts] == list(numbers) and all(map(str, verdicts)), "verdicts")
    _require(labels.shape == (len(labels), 4), "labels")
    _require(len(np.unique(labels[:, 0])) == len(labels), "labels")
    _require((labels[:, 2] > 0).all() and (labels[:, 2:] <= state.n_batches).all(), "labels")
    if ranks is not None:
        _require(ranks.logs.shape == (state.policy.patience, N_BETS), "evidence of ranks")
        _require(0 <= ranks.n_restart <= ranks.n_batches, "evidence of ranks")


def _check_columns(reader: BatchReader) -> None:
    """Check that the names of columns are unique, and that their number fits."""
    names = reader.names
    _require(len({*names}) == len(names) == reader.width + len(reader.categories) > 0, "columns")


def _check_functions(functions: Functions, reader: BatchReader) -> None:
    """Check shapes and ranges of the numbers that define the functions of a row."""
    f, sizes = functions, [len(values) for values in reader.categories.values()]
    numbers = f.center, f.scale, f.directions, f.middles, f.medians, *f.cuts
    known = zip(f.known, sizes, strict=True)
    _require(f.center.shape == f.scale.shape == (reader.width,), "scales")
    _require(all(np.isfinite(array).all() for array in numbers), "functions")
    _require((f.scale > 0).all() and (f.middles[1] > 0).all(), "scales")
    _require(all((np.diff(k, append=n) > 0).all() for k, n in known), "categories")
    for chosen, count, most in ((f.single, 2, reader.width), (f.extreme, 3, len(f.cuts)),
                                (f.beyond, 3, len(f.cuts))):  # fmt: skip
        _require(chosen.shape[:1] == (count,) and np.isfinite(chosen).all(), "values")
        _require(np.isin(chosen[0], np.arange(most)).all(), "values")


def _test_rows(functions: Functions) -> np.ndarray:
    """Return a row of medians and a row of missing values, both with the first categories."""
    center, n_categories = functions.center, len(functions.known)
    return np.hstack([np.vstack([center, center * np.nan]), np.zeros((2, n_categories))])


def _check_counts(group: Group, counted: Counts) -> None:
    """Check the counts of the reference and of windows; `counted` has the required shapes."""
    for c in (group.reference, *filter(None, group.sums.blocks)):
        _require(0 < c.n_rows < _MOST_ROWS and (c.ones <= c.n_rows).all(), "counts")
        _require(c.ones.shape == counted.ones.shape == (len(group.functions.members),), "counts")
        _require(c.summaries.shape == counted.summaries.shape, "medians")
    _require(len(group.sums.blocks) <= group.sums.end.bit_length(), "windows")
