"""Monitor, which compares batches with a reference at a bounded probability of false alarms."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Unpack

from isodepth.base import output
from isodepth.base.annotations import KindsLike, LabelsLike, RandomStateLike, TestNanPolicy
from isodepth.base.declared import MONITOR
from isodepth.base.export import DrawnResult, Headline, keys, table_of
from isodepth.base.messages import Message
from isodepth.base.options import Boolean, option_error, takes
from isodepth.base.paths import as_path
from isodepth.base.showing import MonitorReportOptions, showing
from isodepth.base.words import FEW, listed
from isodepth.errors import (
    BusyFileError,
    InvalidInputError,
    UnreadableFileError,
)
from isodepth.geometry.directions import integer_seed
from isodepth.monitor.labels import (
    batch_label,
    check_block,
    check_group,
    group_of,
    label_string,
)
from isodepth.monitor.reading import batch_tables, open_batch
from isodepth.monitor.saved import check_new, read_state, write_state
from isodepth.monitor.state import MonitorState, fit_state
from isodepth.monitor.verdict import Verdict
from isodepth.monitor.windows import AlarmPolicy
from isodepth.stream.source import SampleLike
from isodepth.table.kinds import ColumnKind


@takes()
class Monitor(DrawnResult):
    """Compare batches of a stream with a reference, and raise an alarm if they change.

    About a thousand functions of a row with values 0 and 1 are chosen from a quarter of the
    reference. Rows with value 1 are counted in the rest of the reference and in the last 1, 2, 4,
    8, ... batches, and the counts are compared by Fisher's exact test. For independent rows the
    probability of any false alarm is at most `alpha`, for every distribution and all batch sizes. A
    monitor holds counts and other statistics, and hashes of rows, but no rows. Threads may share a
    monitor.

    Parameters
    ----------
    reference : array-like or data frame of shape (n, d), or the result of :func:`isodepth.scan`
        If a source does not fit into memory, a random subset of its rows is used.
    alpha : float in (0, 1), default 0.01
        Upper bound on the probability of any false alarm, however long the stream is.
    arl : float > 1, optional
        In place of `alpha`: lower bound on the mean number of batches between false alarms. Windows
        restart after each alarm.
    tolerance : float in [0, 0.5), optional
        Share of rows in a window that may be arbitrary (contaminated) without raising an alarm, if
        the other rows are exchangeable with those of the reference.
    patience : int, 1 to 100, default 1
        Number of windows with a p-value up to their threshold that raise an alarm. These windows
        have no batch in common. Windows are counted separately for each group.
    blocks : str or array-like of shape (n,), optional
        Label of each row of the reference, such as its day, if rows with the same label depend on
        each other. Batches are then compared with whole blocks and must have about as many rows.
        A string is the name of the column with the labels, which is then not compared. `blocks` and
        `tolerance` exclude each other.
    groups : str or array-like of shape (n,), optional
        Label of each row of the reference, such as its site, or the name of the column with the
        labels, which is then not compared. Each group has its own reference, windows and alarm, and
        an equal part of `alpha`; a batch belongs to one group (``check(batch, group=...)``).
        Batches of different groups may depend on each other.
    kinds : dict, optional
        Kinds of columns of data frames, as in :func:`isodepth.two_sample_test`.
    nan_policy : {"keep", "raise"}, default "keep"
        With "keep", missing values are counted like a category, and no row is dropped. With
        "raise", they are an error.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default None
        Seed of the choice of functions, and of other random choices.
    path : str or path-like, optional
        Save the monitor to this file now and after every batch. :meth:`load` reads the file.
    overwrite : bool, default False
        Replace an existing monitor at `path`, with its history.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(7)
    >>> monitor = isodepth.Monitor(rng.normal(size=(5000, 3)), random_state=0)
    >>> any(monitor.check(rng.normal(size=(100, 3))).alarm for _ in range(20))
    False
    >>> verdict = monitor.check(rng.normal(size=(100, 3)) + [0, 1, 0])
    >>> verdict.alarm, verdict.changes[0].columns, verdict.changes[0].kind
    (True, ('column 1',), 'location')
    """

    _result_type = "monitor"
    _in_json = keys(
        "columns", "kinds", "settings", "n_batches", "alarm", "verdicts", groups="_group_states"
    )

    # A monitor changes with every batch: like estimators, two monitors are never equal.
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(
        self,
        reference: SampleLike,
        *,
        alpha: float | None = None,
        arl: float | None = None,
        tolerance: float | None = None,
        patience: int = 1,
        blocks: LabelsLike | None = None,
        groups: LabelsLike | None = None,
        kinds: KindsLike | None = None,
        nan_policy: TestNanPolicy = "keep",
        random_state: RandomStateLike = None,
        path: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> None:
        policy = AlarmPolicy(alpha, arl, tolerance, patience)
        if blocks is not None and policy.tolerance is not None:
            raise option_error(
                "{--tolerance=} has no guarantee with {--blocks}; remove one of the two",
                tolerance=tolerance,
            )
        MONITOR.check({"overwrite": overwrite, "nan_policy": nan_policy})
        if overwrite and path is None:
            raise option_error("{--overwrite} has no effect without {--path}; remove it")
        seed = integer_seed(random_state)
        self._path = None if path is None else check_new(path, overwrite)
        self._digest, self._lock = output.archive_digest(self._path), threading.RLock()
        state = fit_state(reference, policy, blocks, groups, kinds, nan_policy, seed)
        with self._locked():
            self._continue_with(state)

    def __getstate__(self) -> dict[str, Any]:
        # A copy has its own lock, but the same file: after one of the two has checked a batch, the
        # other finds a changed file and refuses.
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the monitor and its file; raise an error if the file was changed elsewhere."""
        if self._path is None:
            with self._lock:
                yield
            return
        with self._lock, output.locked(self._path):
            if self._digest and not self._path.exists():
                raise BusyFileError(
                    f"{self._path} has been removed since this monitor was read or saved; write it "
                    f"again with save({str(self._path)!r})"
                )
            if output.archive_digest(self._path) != self._digest:
                raise BusyFileError(
                    f"{self._path} has been changed since this monitor was read or saved; continue "
                    f"with Monitor.load({str(self._path)!r})"
                )
            yield

    def _continue_with(self, state: MonitorState) -> None:
        # Save first: if saving fails, the batch is not counted.
        if self._path is not None:
            write_state(self._path, state)
            self._digest = output.archive_digest(self._path)
        self._state = state

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns in the order of the reference; None if it has no names.

        Columns that are not compared are left out.
        """
        schema = self._state.schema
        if not schema.named:
            return None
        return tuple(column.name for column in schema.columns if column.use != "omit")

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """Name, kind and use of each column of the reference; empty if columns have no names."""
        return self._state.schema.kinds

    @property
    def settings(self) -> dict[str, Any]:
        """Options of the monitor by name, with the values that were used.

        `random_state` is an integer, also if it was None. `blocks` and `groups` are names of
        columns, or the number of blocks or groups if labels were passed. ``Monitor(reference,
        **settings)``, with the same labels, repeats the monitor.
        """
        state = self._state
        kinds = {kind.column: kind.option for kind in self.kinds if kind.option is not None}
        return {
            **asdict(state.policy), "blocks": state.blocks, "groups": state.grouping,
            "kinds": kinds or None, "nan_policy": state.nan_policy,
            "random_state": state.seed,
        }  # fmt: skip

    @property
    def n_batches(self) -> int:
        """Number of batches checked so far."""
        return self._state.n_batches

    @property
    def alarm(self) -> bool:
        """Whether any group has an alarm.

        It lasts until `reset`, or with `arl` until the next batch of the group.
        """
        return any(group.alarm_since for group in self._state.groups.values())

    @property
    def alarm_groups(self) -> tuple[str, ...]:
        """Groups that have an alarm; empty if the monitor has no groups."""
        groups = self._state.groups.items()
        return tuple(n for n, group in groups if n is not None and group.alarm_since)

    @property
    def verdicts(self) -> list[Verdict]:
        """Verdicts on the last 500 batches."""
        return [Verdict._from_json(line) for line in self._state.records]

    def check(self, batch: SampleLike, *, label: Any = None, group: Any = None) -> Verdict:
        """Check the next batch of the stream, and return the verdict on it.

        Parameters
        ----------
        batch : array-like or data frame of shape (m, d), or the result of :func:`isodepth.scan`
            Columns of data frames are matched by name; columns that the reference does not have
            are ignored. If the columns of the reference have names, a batch without names is an
            error. A batch that cannot be read is not counted.
        label : str, date or number, optional
            Name of the batch within its group. Equal numbers or dates of different types are the
            same label, such as 7 and 7.0, or a date and a timestamp at midnight. A batch with the
            label of an earlier batch of the same group is not counted again: the earlier verdict is
            returned, or an error is raised if the rows differ. Of verdicts that are no longer among
            the last 500, only the batch and the alarm are known.
        group : str, date or number, only if the reference has groups
            Group that the batch belongs to. If `groups` is the name of a column, and the batch has
            this column, all of its values must be this group, which is also the default. Likewise,
            a column named by `blocks` must have one value in the batch.

        Returns
        -------
        verdict : Verdict
        """
        label, state = None if label is None else batch_label(label), self._state
        sample = open_batch(batch)
        group = None if group is None else label_string(group)
        if isinstance(state.grouping, str):
            if group is None:
                group = group_of(sample, state.grouping, state.groups)
            elif group in state.groups:
                check_group(sample, state.grouping, group)
        self._check_group(group)
        if isinstance(state.blocks, str):
            check_block(sample, state.blocks)
        counted = state.groups[group].counted(batch_tables(state.schema, sample, state.nan_policy))
        with self._locked():
            earlier = None if label is None else self._state.verdict_on(label, group, counted)
            if earlier is not None:
                return earlier
            state, verdict = self._state.after_batch(group, counted, label)
            self._continue_with(state)
        return verdict

    def reset(self, group: Any = None) -> None:
        """Clear the alarm, and restart all windows: later windows have no earlier batches.

        The bound on the probability of a false alarm holds for the whole stream, however often and
        whenever groups are reset. A reset only omits tests of windows that began before it. Each
        group has its own part of `alpha`, and the parts of omitted tests are not used again. With
        `blocks`, a reset discards the wealth of all bets and adds no capital.

        Parameters
        ----------
        group : str, date or number, optional
            Reset only this group. By default, all groups are reset.
        """
        if group is not None:
            group = label_string(group)
            self._check_group(group)
        with self._locked():
            names = self._state.groups if group is None else [group]
            self._continue_with(self._state.reset(names))

    def _check_group(self, group: str | None) -> None:
        """Raise an error if `group` is not a group of the monitor; None if it has no groups."""
        groups = self._state.groups
        if group in groups:
            return
        if None in groups:
            template = "{--group=} has no effect: the monitor has no groups; remove {--group}"
            raise InvalidInputError(Message(template, group=group))
        names = ", ".join(map(repr, groups))
        received = "none is given" if group is None else f"got {group!r}"
        template = "{--group} must be one of {names}; {received}"
        raise InvalidInputError(Message(template, names=names, received=received))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the monitor to an .npz file; an existing monitor is replaced atomically.

        A file that is not a monitor is never replaced.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which ends in .npz.
        overwrite : bool, default False
            Whether another monitor, and its history, may be replaced. The file to which this
            monitor is saved after every batch is always replaced.
        """
        MONITOR["overwrite"].check(overwrite)
        target = output.check_archive_target(path)
        own = self._path is not None and target.resolve() == self._path.resolve()
        write_state(check_new(target, overwrite or own), self._state)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, autosave: bool = True) -> Monitor:
        """Read a saved monitor from a file, and return it.

        The monitor is saved to this file after every batch, like a new monitor with this `path`.
        With ``autosave=False``, the file never changes: batches are counted in memory only.
        """
        monitor = cls.__new__(cls)
        saved = (
            as_path(path, UnreadableFileError) if Boolean().check("autosave", autosave) else None
        )
        # Read the digest first: if the file changes in between, the next batch is refused.
        digest = output.archive_digest(saved)
        monitor.__setstate__({"_path": saved, "_digest": digest, "_state": read_state(path)})
        return monitor

    def report(self, path: str | os.PathLike[str], **options: Unpack[MonitorReportOptions]) -> None:
        """Write a report as one self-contained HTML file.

        Reports of the same monitor with the same options are identical files.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which ends in .html or .htm. An existing file is replaced atomically.
        **options
            Optional: `title` of the page; `labels`, names of the batches; `notes`, warnings to show
            in the report; `command`, the command line that reproduces the report.
        """
        showing().write(self, path, **options)

    @property
    def _group_states(self) -> list[dict[str, Any]]:
        """Sizes of each group, and the first batch of its alarm."""
        return [
            {"group": name, "n_rows": group.reference.n_rows,
             "n_functions": len(group.reference.ones),
             "n_blocks": None if group.model is None else len(group.model.sizes),
             "alarm_since": group.alarm_since or None}
            for name, group in self._state.groups.items()
        ]  # fmt: skip

    @property
    def _headline(self) -> Headline:
        """Headline about all batches."""
        verdicts, groups = self.verdicts, self._group_states
        if not verdicts:
            return Headline("No batch has been checked yet.", "open")
        last = verdicts[-1]
        if last.beyond_blocks:
            named = f": {last.changes[0].text}" if last.changes else ""
            batch = f"Batch {last.batch_number}" + (f" of group {last.group}" if last.group else "")
            return Headline(f"{batch} is far beyond all blocks{named}.", "differs")
        since = {each["group"]: each["alarm_since"] for each in groups if each["alarm_since"]}
        if len(since) > 1:
            named = listed([f"{name} since batch {number}" for name, number in since.items()], FEW)
            return Headline(f"Alarm in {len(since)} of {len(groups)} groups: {named}.", "differs")
        if since:
            ((name, number),) = since.items()
            of_group = "" if name is None else f" of group {name}"
            text = f"Alarm{of_group} since batch {number} of {last.batch_number}"
            latest = next((each for each in reversed(verdicts) if each.group == name), last)
            changes = f": {latest.changes[0]}" if latest.changes else ""
            return Headline(f"{text}{changes}.", "differs")
        alarms = [verdict.batch_number for verdict in verdicts if verdict.alarm]
        if alarms:
            text = f"No alarm now, after one until batch {alarms[-1]} of {last.batch_number}."
            return Headline(text, "open")
        count = "1 batch" if last.batch_number == 1 else f"{last.batch_number} batches"
        return Headline(f"No alarm in {count} (last p-value {last.pvalue:.2g}).", "alike")

    @property
    def _guarantee(self) -> str:
        """Sentence with the bound on false alarms."""
        settings = self.settings
        if settings["arl"] is not None:
            text = f"On average at least {settings['arl']:g} batches lie between false alarms"
        else:
            text = (
                f"Without a change, the probability of any alarm is at most {settings['alpha']:g}"
            )
        if settings["tolerance"]:
            text += f", with up to {settings['tolerance']:.0%} contaminated rows"
        if settings["patience"] > 1:
            text += f"; an alarm takes {settings['patience']} crossings"
        unit = "blocks" if any(group["n_blocks"] for group in self._group_states) else "rows"
        return f"{text}, if {unit} are exchangeable."

    def _rows(self) -> dict[str, list[Any]]:
        """Return a table with one row per stored verdict, as a dictionary of columns."""
        names = ("batch_number", "label", "group", "n_rows", "pvalue", "n_window_batches",
                 "window_pvalue", "threshold", "alarm")  # fmt: skip
        rows = table_of(self.verdicts, names)
        return rows | {"change": [verdict._strongest_change for verdict in self.verdicts]}

    def __repr__(self) -> str:
        state = self._state
        rows = sum(group.reference.n_rows for group in state.groups.values())
        alarms = [
            f"alarm{'' if name is None else f' of group {name}'} since batch {group.alarm_since}"
            for name, group in state.groups.items() if group.alarm_since
        ]  # fmt: skip
        columns = f"{len(state.schema.names)} column{'s' * (len(state.schema.names) != 1)}"
        batches = "1 batch" if state.n_batches == 1 else f"{state.n_batches} batches"
        compared = f"compares with {rows} rows of the reference"
        alarm = listed(alarms, FEW) or "no alarm"
        return f"Monitor({columns}, {compared}, {batches} checked, {alarm})"
