"""State of a monitor and its file: functions, counts of the reference and of windows, no rows."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.directions import rng_for
from isodepth.data import output
from isodepth.data.records import packed, unpacked
from isodepth.errors import InvalidInputError, InvalidOptionError, UnreadableFileError
from isodepth.monitor.blocks import BlockModel
from isodepth.monitor.functions import LEAST_ROWS, Counts, Functions, fit_functions, total
from isodepth.monitor.reader import BatchReader
from isodepth.monitor.verdict import Verdict
from isodepth.monitor.windows import AlarmPolicy, DyadicSums, Evidence
from isodepth.significance.martingale import N_BETS, RankEvidence
from isodepth.significance.samples import row_labels

#: Number of verdicts that a monitor keeps, so that its file does not grow without limit.
HISTORY = 500
#: Kind of the file, and kinds of the files that versions 0.1.0 and 0.2.0 wrote.
KIND, _FORMER_KINDS = "monitor", ("depth monitor", "calibrated depth monitor")
# Products of two stored numbers of rows must fit in int64.
_MOST_ROWS = 1 << 31


class Group(NamedTuple):
    """Reference and windows of one group of rows."""

    functions: Functions
    reference: Counts
    model: BlockModel | None = None  # None without blocks
    sums: DyadicSums = DyadicSums()  # empty with blocks

    def counted(self, parts: Iterable[np.ndarray]) -> tuple[Counts, np.ndarray | None]:
        """Return the counts of a batch given in parts, and its rows (None without blocks)."""
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
    ranks: RankEvidence | None = None  # evidence of the batches of all groups; None without blocks
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
        functions, reference = group.functions, group.reference
        alarm_since = self.alarm_since if policy.arl is None else 0
        state = replace(self, n_batches=number, alarm_since=alarm_since)
        if self.ranks is None or group.model is None or rows is None:
            sums, windows = group.sums.add(counts)
            evidence = policy.strongest(functions, reference, windows, sums.end, len(self.groups))
            group = group._replace(sums=sums)
        else:
            evidence, model, state.ranks = group.model.judge(
                rows, counts, functions, reference, self.ranks, number, policy.level
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
            batch=number, label=label, group=name, n_rows=counts.n_rows, crossing=crossing,
            alarm=state.alarm_since > 0, alarm_since=state.alarm_since or None,
            changes=evidence.changes(self.reader, unseen), suspicious=counts.suspicious, **fields,
        )  # fmt: skip
        state.records = (*self.records[1 - HISTORY :], (label, counts.digest, verdict.to_json()))
        return state, verdict

    def restart(self) -> None:
        """Restart all windows; the numbering of the batches continues."""
        self.ranks = self.ranks and RankEvidence.start(self.ranks.restarting, self.policy.patience)
        self.groups = {k: g._replace(sums=g.sums.restarted()) for k, g in self.groups.items()}


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
        len({*reader.names}) == reader.width + len(sizes) > 0,
        None not in state.groups or len(state.groups) == 1,
        all((group.model is None) is (ranks is None) for group in state.groups.values()),
        not ranks or (ranks.logs.shape == (state.policy.patience, N_BETS) and ranks.n_batches >= 0),
    ]
    for name, group in state.groups.items():
        f, stored = group.functions, [group.reference, *filter(None, group.sums.blocks)]
        numbers = f.center, f.scale, f.directions, f.middles, f.medians, *f.cuts
        rows = np.hstack([np.vstack([f.center, f.center * np.nan]), np.zeros((2, len(sizes)))])
        counts = f.count(rows)
        valid += [
            f.center.shape == f.scale.shape == (reader.width,),
            all(np.isfinite(array).all() for array in numbers),
            (f.scale > 0).all() and (f.middles[1] > 0).all(),
            all((np.diff(k, append=n) > 0).all() for k, n in zip(f.known, sizes, strict=True)),
            all(0 < c.n_rows < _MOST_ROWS for c in stored),
            all((c.ones <= c.n_rows).all() for c in stored),
            all(c.ones.shape == counts.ones.shape == (len(f.members),) for c in stored),
            all(c.summaries.shape == counts.summaries.shape for c in stored),
            len(group.sums.blocks) <= group.sums.end.bit_length(),
        ]
        state.after_batch(name, counts, rows, {})
    if not all(valid):
        raise ValueError("its parts are inconsistent")
