"""State of a monitor and its file: counts of the reference and of windows, but no rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from isodepth.core.directions import rng_for
from isodepth.data import output
from isodepth.data.records import packed, unpacked
from isodepth.errors import (
    DependenceWarning,
    InvalidInputError,
    InvalidOptionError,
    UnreadableFileError,
)
from isodepth.monitor.blocks import BlockModel
from isodepth.monitor.functions import Counts, Functions, split_reference, total
from isodepth.monitor.reader import BatchReader
from isodepth.monitor.verdict import Verdict, WindowChanges
from isodepth.monitor.windows import AlarmPolicy, DyadicSums
from isodepth.significance.martingale import N_BETS, RankEvidence
from isodepth.significance.samples import row_labels

#: Number of verdicts that a monitor keeps. It is limited so that files do not grow forever.
HISTORY = 500
# Minimum number of rows of a group, and of each part of the reference that the warning about
# dependent rows compares.
_LEAST_ROWS = 20
# Maximum and minimum number of these parts, and approximate probability of a wrong warning.
_PARTS, _LEAST_PARTS, _LEVEL = 50, 5, 1e-3
# The warning does not use functions with values 0 or 1 in less than this share of the rows: their
# counts are not nearly normal.
_RARE = 0.1
#: Kind of the file, and kinds of the files that versions 0.1.0 and 0.2.0 wrote.
KIND, _FORMER_KINDS = "monitor", ("depth monitor", "calibrated depth monitor")
# Products of two stored numbers of rows must fit in int64.
_MOST_ROWS = 1 << 31


class Group(NamedTuple):
    """Reference and windows of one group of rows."""

    functions: Functions
    reference: Counts
    model: BlockModel | None = None  # only with blocks
    sums: DyadicSums = DyadicSums()

    def counted(self, parts: Iterable[np.ndarray]) -> tuple[Counts, np.ndarray | None]:
        """Return the counts of a batch that is given in parts, and with blocks its rows."""
        if self.model is None:
            return total(map(self.functions.count, parts)), None
        rows = np.concatenate(list(parts))
        self.model.check_size(len(rows))
        return self.functions.count(rows), rows


@dataclass(eq=False)
class MonitorState:
    """State of a monitor after some batches; each batch creates a new state."""

    policy: AlarmPolicy
    reader: BatchReader
    groups: dict[str | None, Group]  # without groups, the only key is None
    ranks: RankEvidence | None = None  # only with blocks
    n_batches: int = 0
    crossings: int = 0  # number of windows that crossed their level since the last alarm or reset
    alarm_since: int = 0  # number of the batch that raised the alarm; 0 without an alarm
    #: One entry for each of the last batches: label, checksum of its counts, verdict as JSON.
    records: tuple[tuple[str | None, int, str], ...] = ()

    def after_batch(
        self, name: str | None, counts: Counts, rows: np.ndarray | None, unseen: dict[int, str],
        label: str | None = None,
    ) -> tuple[MonitorState, Verdict]:  # fmt: skip
        """Return the state after a batch of the group `name`, and the verdict on it."""
        group, policy, number = self.groups[name], self.policy, self.n_batches + 1
        state = replace(self, n_batches=number)
        if self.ranks is None or group.model is None or rows is None:
            sums, windows = group.sums.add(counts)
            evidence = policy.strongest(group.reference, windows, sums.end, len(self.groups))
            state.groups = self.groups | {name: group._replace(sums=sums)}
        else:
            evidence, model, state.ranks = group.model.judge(
                rows, counts, group.functions, group.reference, self.ranks, number, policy.level
            )
            state.groups = self.groups | {name: group._replace(model=model)}
        crossing = evidence.window_pvalue <= evidence.threshold
        if policy.arl is not None:
            state.alarm_since = 0
        if crossing and not state.alarm_since:
            state.crossings += 1
            # With blocks, a crossing is an alarm: the evidence is already a minimum over the
            # batches that `patience` allows to ignore.
            if state.crossings >= policy.patience or self.ranks is not None:
                state.crossings, state.alarm_since = 0, number
            if not state.alarm_since or policy.arl is not None:
                state.restart()
        fields = evidence._asdict()
        both = group.reference, fields.pop("counts")
        changes = WindowChanges(self.reader, group.functions, both, fields.pop("logs"), unseen)
        verdict = Verdict(
            batch=number, label=label, group=name, n_rows=counts.n_rows, crossing=crossing,
            alarm=state.alarm_since > 0, alarm_since=state.alarm_since or None,
            changes=changes.strongest(), suspicious=counts.suspicious, **fields,
        )  # fmt: skip
        state.records = (*self.records[1 - HISTORY :], (label, counts.digest, verdict.to_json()))
        return state, verdict

    def restart(self) -> None:
        """Restart all windows, but continue the numbers of the batches."""
        self.ranks = self.ranks and RankEvidence.start(self.ranks.restarting, self.policy.patience)
        self.groups = {k: g._replace(sums=g.sums.restarted()) for k, g in self.groups.items()}


def fit_state(
    reference: Any, policy: AlarmPolicy, blocks: Any, groups: Any, kinds: Any, nan_policy: str,
    seed: int,
) -> MonitorState:  # fmt: skip
    """Fit a monitor to a reference; see `Monitor`."""
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
        if len(part) < _LEAST_ROWS:
            raise InvalidInputError(
                f"{title} has {len(part)} rows, and a monitor needs at least {_LEAST_ROWS}"
            )
        if days is None:
            choosing, counted = split_reference(len(part), rng)
            functions = Functions.choose(part[choosing], width, rng)
            counts = _count_in_order(functions, part[counted], reader.names, title)
            fitted[name] = Group(functions, counts)
        else:
            fitted[name] = Group(*BlockModel.fit(part, days[mask], width, rng, seed))
    ranks = None if days is None else RankEvidence.start(policy.arl is not None, policy.patience)
    return MonitorState(policy, reader, fitted, ranks)


def _count_in_order(
    functions: Functions, rows: np.ndarray, names: Sequence[str], title: str
) -> Counts:
    """Return the counts of the reference, and warn if consecutive rows depend on each other.

    For independent rows, the squared deviations of the counts in consecutive parts, divided by
    their variance, have a sum that is nearly chi-squared.
    """
    count = max(1, min(_PARTS, len(rows) // _LEAST_ROWS))
    ends = np.linspace(0, len(rows), count + 1).astype(np.int64)
    parts = [functions.count(part) for part in np.split(rows, ends[1:-1])]
    counts = total(parts)
    share = counts.ones / counts.n_rows
    named = np.array([bool(member.columns) for member in functions.members])
    usable = np.flatnonzero(named & (share > _RARE) & (share < 1 - _RARE))
    if count < _LEAST_PARTS or not len(usable):
        return counts
    expected = np.array([[part.n_rows] for part in parts], dtype=np.float64) * share[usable]
    squares = (np.array([part.ones[usable] for part in parts]) - expected) ** 2
    factors = (squares / (expected * (1 - share[usable]))).sum(axis=0) / (count - 1)
    strongest = int(factors.argmax())
    if len(usable) * chdtrc(count - 1, (count - 1) * factors[strongest]) <= _LEVEL:
        columns = " and ".join(names[c] for c in functions.members[usable[strongest]].columns)
        warnings.warn(
            f"consecutive rows of {title} are more alike than shuffled rows: counts in {count} "
            f"consecutive parts have {factors[strongest]:.1f} times the variance of independent "
            f"rows (strongest in {columns}). False alarms may be more frequent than stated. "
            "Pass blocks=..., such as the day or user of each row, and check whole blocks as "
            "batches. Ignore this if the order of the reference has no meaning for the batches",
            DependenceWarning,
            stacklevel=4,
        )
    return counts


# -- files ----------------------------------------------------------------------------------------


def check_new(path: Any, overwrite: bool) -> Path:
    """Refuse to replace an existing file, unless it is a monitor and `overwrite` is True."""
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
    """Write a monitor; an existing file is replaced atomically."""
    output.write_archive(path, KIND, {"state": packed(state)}, {})


def read_state(path: str | os.PathLike[str]) -> MonitorState:
    """Read the state of a monitor from a file; raise UnreadableFileError if it is not valid."""
    header, _ = output.read_archive(path, KIND, *_FORMER_KINDS)
    if header["kind"] != KIND:
        raise UnreadableFileError(
            f"{os.fspath(path)} is a monitor of isodepth 0.2.0 or earlier; fit the monitor again"
        )
    try:
        state: MonitorState = unpacked(MonitorState, header["state"])
        _check(state)
    except Exception as error:
        # Catch every exception: each means that the file was not written by `write_state`.
        raise output.unreadable(path, f"it lacks a part of a monitor ({error!r:.200})") from None
    return state


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
        rows = np.hstack([np.vstack([f.center, f.center * np.nan]), np.zeros((2, len(sizes)))])
        counts = f.count(rows)
        valid += [
            f.center.shape == f.scale.shape == (reader.width,),
            all(np.isfinite(array).all() for array in numbers),
            (f.scale > 0).all() and (f.middles[1] > 0).all() and f.middles.shape[0] == 2,
            all((k < n).all() for k, n in zip(f.known, sizes, strict=True)),
            all(0 < c.n_rows < _MOST_ROWS for c in stored),
            all((c.ones <= c.n_rows).all() for c in stored),
            all(c.ones.shape == counts.ones.shape == (len(f.members),) for c in stored),
            len(group.sums.blocks) <= group.sums.end.bit_length(),
        ]
        state.after_batch(name, counts, rows, {})
    if not all(valid):
        raise ValueError("its parts are inconsistent")
