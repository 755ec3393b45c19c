"""State of a monitor, and the change of the state by a batch.

The state has four parts:

- settings: when an alarm is raised, and which columns are read;
- the reference: for each group, functions of a row and their counts, and hashes of rows;
- the stream: the number of batches, and for each group the counts of recent windows and the current
  alarm;
- the history: the last 500 verdicts, and digests of the groups, labels and rows of all batches with
  labels.

A state is never modified. A batch or a reset creates a new state, so that a monitor whose file
cannot be written keeps the old one. The state does not contain rows. `isodepth.monitor.saved`
writes it to files.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from isodepth.base.seeds import rng_for
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.functions.changes import Change
from isodepth.monitor.blocks import BlockModel
from isodepth.monitor.changes import window_changes
from isodepth.monitor.choice import LEAST_ROWS, fit_functions
from isodepth.monitor.columns import UsualValues
from isodepth.monitor.functions import Batch, BatchFold, Counts, Functions
from isodepth.monitor.labels import row_label_strings
from isodepth.monitor.reading import read_reference
from isodepth.monitor.verdict import Verdict
from isodepth.monitor.windows import AlarmPolicy, DyadicSums, ReferenceHashes
from isodepth.significance.martingale import RankEvidence
from isodepth.table.frames import split_labels
from isodepth.table.table import Schema, Table

#: Number of verdicts that a monitor keeps. Each label takes 32 bytes, also of earlier batches.
HISTORY = 500
# Maximum number of indices of suspicious rows in a verdict.
_MOST_SUSPICIOUS = 100


class Group(NamedTuple):
    """Reference, recent windows and alarm of one group of rows, such as one site.

    Without groups, a monitor has one `Group` for all rows.
    """

    functions: Functions
    reference: Counts
    usual: UsualValues
    model: BlockModel | None = None  # None without blocks
    sums: DyadicSums = DyadicSums()  # empty with blocks
    hashes: ReferenceHashes | None = None  # to find repeated rows; None with blocks
    crossings: int = 0  # windows that crossed their threshold since the last alarm or reset
    alarm_since: int = 0  # number of the batch that raised the alarm; 0 without an alarm
    #: Counts of all rows of the reference, which describe changes. None with blocks, where
    #: `reference` has all rows.
    all_rows: Counts | None = None

    def counted(self, rows: Iterable[Table]) -> Batch:
        """Count the functions of this group in the rows of a batch, and check its size.

        With blocks, an error is raised if the batch has fewer rows than the smallest block, or over
        10% more than the largest.
        """
        batch = BatchFold(self.functions, self.usual, self.model is not None).run(rows)
        if self.model is not None:
            self.model.check_size(batch.counts.n_rows)
        return batch


@dataclass(frozen=True, eq=False)
class MonitorState:
    """State of a monitor after some batches; each batch creates a new state."""

    policy: AlarmPolicy
    schema: Schema  # of the reference
    nan_policy: str  # "keep" or "raise"
    groups: dict[str | None, Group]  # without groups, the only key is None
    #: Evidence of the batches of each group; None without blocks.
    ranks: dict[str | None, RankEvidence] | None = None
    n_batches: int = 0
    records: tuple[str, ...] = ()  # verdicts on the last batches as JSON
    seed: int = 0  # integer from `random_state`
    blocks: str | int | None = None  # name of the column with the labels, or number of blocks
    grouping: str | int | None = None  # name of the column with the groups, or number of groups
    #: One row per batch with a label: digest of its group and label, digest of its content, number
    #: of the batch, `alarm_since` of its group.
    labels: np.ndarray = field(default_factory=lambda: np.empty((0, 4), np.int64))

    def verdict_on(self, label: str, name: str | None, batch: Batch) -> Verdict | None:
        """Return the verdict on an earlier batch of the group `name` with this label, or None.

        Raise an error if the earlier batch has other rows.
        """
        entry = self._entry(_label_digest(name, label))
        if entry is None:
            return None
        _, content, number, alarm_since = entry
        if content != _content(name, batch):
            raise InvalidInputError(
                f"batch {number} already has the label {label!r}, with other rows; use another "
                "label"
            )
        if number > self.n_batches - len(self.records):
            return Verdict._from_json(self.records[number - self.n_batches - 1])
        return Verdict(
            batch_number=number, label=label, group=name, n_rows=batch.counts.n_rows,
            pvalue=math.nan, n_window_batches=0, window_pvalue=math.nan, threshold=math.nan,
            crossed=False, alarm=alarm_since > 0, alarm_since=alarm_since or None,
            changed_share=None, beyond_blocks=False, changes=(), n_suspicious=len(batch.suspicious),
            suspicious_indices=tuple(batch.suspicious[:_MOST_SUSPICIOUS].tolist()),
            score=None, exact_guarantee=False,
        )  # fmt: skip

    def _entry(self, digest: int) -> list[int] | None:
        """Return the entry of the attribute `labels` for a batch, or None if it has none.

        `digest` is the digest of the group and label of the batch. The entry has this digest, the
        digest of the rows of the batch, the number of the batch, and the value of `alarm_since`
        after it.
        """
        (found,) = np.nonzero(self.labels[:, 0] == digest)
        return self.labels[found[0]].tolist() if len(found) else None

    def after_batch(
        self, name: str | None, batch: Batch, label: str | None = None
    ) -> tuple[MonitorState, Verdict]:
        """Return the state after a batch of the group `name`, and the verdict on it."""
        group, policy, number = self.groups[name], self.policy, self.n_batches + 1
        functions, reference, ranks = group.functions, group.reference, self.ranks
        if ranks is None or group.model is None:
            sums, windows = group.sums.add(batch.counts)
            repeated = None if group.hashes is None else group.hashes.test(batch.hashes)
            evidence = policy.strongest(
                functions, reference, windows, sums.end, len(self.groups), repeated
            )
            group = group._replace(sums=sums)
        else:
            level = policy.evidence_level(len(self.groups))
            evidence, model, after = group.model.judge(
                batch, functions, reference, ranks[name], number, level
            )
            group, ranks = group._replace(model=model), ranks | {name: after}
        crossed = evidence.window_pvalue <= evidence.threshold
        group, restart = self._alarm_after(group, crossed)
        alarm_since = group.alarm_since
        changes: list[Change] = []
        if evidence.is_significant:
            changes = window_changes(evidence, self.schema, batch, group.all_rows or reference)
        verdict = Verdict(
            batch_number=number, label=label, group=name, n_rows=batch.counts.n_rows,
            pvalue=evidence.pvalue, n_window_batches=evidence.n_window_batches,
            window_pvalue=evidence.window_pvalue, threshold=evidence.threshold, crossed=crossed,
            alarm=alarm_since > 0, alarm_since=alarm_since or None,
            changed_share=evidence.changed_share, beyond_blocks=evidence.beyond_blocks,
            changes=tuple(changes),
            n_suspicious=len(batch.suspicious),
            suspicious_indices=tuple(batch.suspicious[:_MOST_SUSPICIOUS].tolist()),
            score=evidence.score, exact_guarantee=evidence.exact,
        )  # fmt: skip
        labels = self.labels
        if label is not None:
            entry = [_label_digest(name, label), _content(name, batch), number, alarm_since]
            labels = np.vstack([labels, np.array([entry], np.int64)])
        state = replace(
            self, groups=self.groups | {name: group}, ranks=ranks, n_batches=number, labels=labels,
            records=(*self.records[1 - HISTORY :], verdict.to_json()),
        )  # fmt: skip
        return state._restarted([name]) if restart else state, verdict

    def _alarm_after(self, group: Group, crossed: bool) -> tuple[Group, bool]:
        """Return a group with its alarm after the next batch, and whether its windows start anew.

        `group` is the group of the batch, and `crossed` is whether the window p-value of the batch
        is at most the threshold. A crossing raises the alarm of the group if it is number
        `patience` of this group since its last alarm. With `arl`, an alarm lasts for one batch of
        the group.
        """
        restarting = self.policy.arl is not None
        crossings, alarm_since = group.crossings, 0 if restarting else group.alarm_since
        if not crossed or alarm_since:
            return group._replace(alarm_since=alarm_since), False
        crossings += 1
        # With blocks, every crossing is an alarm, because `RankEvidence` already takes `patience`
        # into account.
        if crossings >= self.policy.patience or group.model is not None:
            crossings, alarm_since = 0, self.n_batches + 1
        group = group._replace(crossings=crossings, alarm_since=alarm_since)
        return group, not alarm_since or restarting

    def reset(self, names: Iterable[str | None]) -> MonitorState:
        """Return the state without alarms of the groups `names`, and with their windows restarted.

        Tests of these groups are omitted, and other groups do not change. No level is used twice:
        a level of a window depends on the number of batches of its group, which continues. With
        blocks, the wealth of all bets is discarded, and no capital is added.
        """
        names = list(names)
        cleared = {n: self.groups[n]._replace(crossings=0, alarm_since=0) for n in names}
        return replace(self, groups=self.groups | cleared)._restarted(names)

    def _restarted(self, names: list[str | None]) -> MonitorState:
        """Return the state with the windows of the groups `names` restarted.

        The numbering of the batches continues.
        """
        groups = {n: self.groups[n]._replace(sums=self.groups[n].sums.restarted()) for n in names}
        ranks = self.ranks
        if ranks is not None:
            ranks = ranks | {name: ranks[name].restarted() for name in names}
        return replace(self, groups=self.groups | groups, ranks=ranks)


def _digest(text: str) -> int:
    """Return a digest of a string as an integer of 63 bits."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def _label_digest(name: str | None, label: str) -> int:
    """Return a digest of the label of a batch and of the name of its group."""
    # A label is printable. With the null character, the string differs from every label.
    return _digest(label if name is None else f"{name!r}\0{label}")


def _content(name: str | None, batch: Batch) -> int:
    """Return a digest of the rows of a batch, of their number and of the name of its group."""
    return _digest(f"{int(batch.hashes.sum()) % 2**63} {batch.counts.n_rows} {name!r}")


def fit_state(
    reference: Any, policy: AlarmPolicy, blocks: Any, groups: Any, kinds: Any, nan_policy: str,
    seed: int,
) -> MonitorState:  # fmt: skip
    """Return the state of a new monitor, before the first batch.

    `policy` contains the options of alarms, and `seed` is an integer from `random_state`. The other
    arguments are the options of `Monitor` with the same names.
    """
    if isinstance(blocks, str) and isinstance(groups, str) and blocks == groups:
        raise InvalidOptionError(
            f"blocks and groups are both {blocks!r}; a group needs several blocks, so name two "
            "columns"
        )
    names = [labels if isinstance(labels, str) else None for labels in (blocks, groups)]
    if isinstance(blocks, str):
        reference, blocks = split_labels(reference, blocks, "blocks", "the reference")
    if isinstance(groups, str):
        reference, groups = split_labels(reference, groups, "groups", "the reference")
    # Do not sample a source that does not fit into memory if there are labels of all its rows.
    sampling = seed if blocks is None and groups is None else None
    rows = read_reference(reference, kinds, nan_policy, sampling)
    days, sites = (
        None if labels is None else row_label_strings(labels, name, len(rows))
        for labels, name in ((blocks, "blocks"), (groups, "groups"))
    )
    rng, fitted = rng_for(seed, "splits"), {}
    for name in (None,) if sites is None else np.unique(sites).tolist():
        part = rows if sites is None else rows.take(sites == name)
        title = "the reference" if name is None else f"group {name!r} of the reference"
        if len(part) < LEAST_ROWS:
            raise InvalidInputError(
                f"{title} must have at least {LEAST_ROWS} rows for a monitor, got {len(part)}; "
                "use more rows"
            )
        if np.isnan(part.numbers).all() and (part.codes < 0).all():
            raise InvalidInputError(
                f"all values of {title} are missing, so batches cannot be compared with it; use "
                "rows with values"
            )
        usual = UsualValues.of_numbers(part.numbers)
        if days is None:
            functions, counts, of_all, hashes = fit_functions(part, rng, title)
            fitted[name] = Group(functions, counts, usual, hashes=hashes, all_rows=of_all)
        else:
            own = days if sites is None else days[sites == name]
            functions, counts, model = BlockModel.fit(part, own, rng, seed)
            fitted[name] = Group(functions, counts, usual, model)
    start = RankEvidence.start(policy.arl is not None, policy.patience)
    ranks = None if days is None else dict.fromkeys(fitted, start)
    used_blocks, used_groups = (
        len(np.unique(labels)) if name is None and labels is not None else name
        for name, labels in zip(names, (days, sites), strict=True)
    )
    return MonitorState(
        policy, rows.schema, nan_policy, fitted, ranks, seed=seed, blocks=used_blocks,
        grouping=used_groups,
    )  # fmt: skip
