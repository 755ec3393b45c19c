"""Monitor: batches against a reference, with a bounded probability of false alarms."""

from __future__ import annotations

import copy
import json
import os
import threading
from dataclasses import asdict
from typing import Any

from isodepth.core.directions import integer_seed
from isodepth.data.kinds import ColumnKind
from isodepth.data.missing import NAN_POLICIES
from isodepth.data.results import plain
from isodepth.data.validation import check_boolean, check_choice
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.monitor.persistence import Autosave, read_state, write_state
from isodepth.monitor.state import fit_state
from isodepth.monitor.verdict import Verdict
from isodepth.monitor.windows import AlarmPolicy
from isodepth.results import ReportableResult

_LONGEST_LABEL = 200


class Monitor(ReportableResult):
    """Compare batches of a stream with a reference, and raise an alarm if they change.

    About a thousand functions of a row with values 0 and 1 are chosen from a quarter of the
    reference: columns, deviations, directions and distances up to cut points, signs of products of
    two columns, categories, missing values. The rest of the reference and the last 1, 2, 4, 8, ...
    batches are counted, and the counts are compared by Fisher's exact test. For independent rows
    the probability of any false alarm is at most `alpha`, for every distribution and all batch
    sizes. A monitor holds counts, but no rows. Threads may share a monitor.

    Parameters
    ----------
    reference : array-like or data frame of shape (n, d), or the result of :func:`isodepth.scan`
        Of a source that does not fit into memory, rows are drawn at random.
    alpha : float in (0, 1), default 0.01
        Upper bound on the probability of any false alarm, however long the stream is.
    arl : float > 1, optional
        In place of `alpha`: lower bound on the mean number of batches between false alarms. Windows
        restart after each alarm.
    tolerance : float in [0, 0.5), default 0
        Share of arbitrary rows in a window that never raise an alarm. The other rows must be
        exchangeable with those of the reference.
    patience : int, 1 to 100
        Number of windows without common batches that must cross their thresholds. With 2, a single
        batch cannot raise an alarm.
    blocks : array-like of shape (n,), optional
        Label of each row of the reference, such as its day, if rows with the same label depend on
        each other. Batches are then compared with whole blocks and must have about as many rows.
        Only with ``tolerance=0``.
    groups : array-like of shape (n,), optional
        Label of each row of the reference, such as its site. Each group has a reference and windows
        of its own; a batch belongs to one group (``check(batch, group=...)``).
    kinds : dict, optional
        Kinds of columns of data frames, as in :func:`isodepth.two_sample_test`.
    nan_policy : {"raise", "omit"}, default "raise"
        With "omit" a missing value is a property of a row that is counted like any other.
    random_state : None, int or numpy.random.Generator, default None
        Seed of the choice of functions.
    path : str or path-like, optional
        Save the monitor to this file now and after every batch. An existing file is never replaced
        without `overwrite`.
    overwrite : bool, default False
        Replace an existing monitor at `path`, with its history.

    See Also
    --------
    isodepth.two_sample_test : compare two samples once.

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

    result_type = "monitor"

    def __init__(
        self,
        reference: Any,
        *,
        alpha: float | None = None,
        arl: float | None = None,
        tolerance: float = 0.0,
        patience: int = 1,
        blocks: Any = None,
        groups: Any = None,
        kinds: dict[str, Any] | None = None,
        nan_policy: str = "raise",
        random_state: Any = None,
        path: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> None:
        self._lock = threading.RLock()
        policy = AlarmPolicy.checked(alpha, arl, tolerance, patience)
        if blocks is not None and policy.tolerance > 0:
            raise InvalidOptionError(
                f"tolerance has no effect with blocks, got tolerance={tolerance!r}; remove one"
            )
        if check_boolean(overwrite, "overwrite") and path is None:
            raise InvalidOptionError("overwrite has no effect without path; remove it")
        self._autosave = Autosave(path)
        self._autosave.check_new(overwrite)
        self._state = fit_state(
            reference, policy, blocks, groups, kinds,
            check_choice(nan_policy, "nan_policy", NAN_POLICIES), integer_seed(random_state),
        )  # fmt: skip
        with self._autosave.locked(reading=True):
            self._autosave.check_new(overwrite)
            self._autosave.save(self._state)

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock: every copy has its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Of copies that save to one file, only the first that checks a batch may continue.
        own = {"_autosave": copy.copy(state["_autosave"]), "_lock": threading.RLock()}
        self.__dict__.update(state | own)

    @property
    def nan_policy(self) -> str:
        """Treatment of missing values: "raise" or "omit"."""
        return self._state.reader.nan_policy

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns, categories last; None if the reference has no names."""
        reader = self._state.reader
        return None if reader.columns is None else reader.names

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """Columns of a reference that was a data frame, with kind and use."""
        return self._state.reader.kinds

    @property
    def n_batches(self) -> int:
        """Number of batches checked so far."""
        return self._state.n_batches

    @property
    def n_functions(self) -> int:
        """Number of functions that are counted; the maximum over groups."""
        return max(len(group.reference.ones) for group in self._state.groups.values())

    @property
    def alarm(self) -> bool:
        """Whether an alarm was raised and not reset; with `arl`, by the last batch."""
        return self._state.alarm_since > 0

    @property
    def verdicts(self) -> list[Verdict]:
        """Verdicts on the last 500 batches."""
        return [Verdict.from_json(record.line) for record in self._state.records]

    def check(self, batch: Any, label: Any = None, group: Any = None) -> Verdict:
        """Check the next batch of the stream.

        Parameters
        ----------
        batch : array-like or data frame of shape (m, d), or the result of :func:`isodepth.scan`
            Columns of data frames are matched by name; columns that the reference does not have
            are ignored. A batch that cannot be read is not counted.
        label : str, date or number, optional
            Name of the batch. A batch with the label of one of the last 500 batches is not counted
            again: the earlier verdict is returned, or an error is raised if the rows differ.
        group : str, only if the reference has groups

        Returns
        -------
        verdict : Verdict
        """
        state, text = self._state, _checked_label(label)
        name = None if group is None else str(group)
        if name not in state.groups:
            known = ", ".join(repr(each) for each in state.groups)
            raise InvalidInputError(
                f"the monitor has no groups, got group={group!r}; leave it out"
                if None in state.groups
                else f"group must be one of {known}, got {name!r}"
            )
        reference = state.groups[name]
        counted = reference.counted(*state.reader.read(batch))
        if reference.model is not None:
            reference.model.check_size(counted.counts.n_rows)
        with self._lock, self._autosave.locked():
            state = self._state
            for record in state.records:
                if text is not None and record.label == text:
                    earlier = Verdict.from_json(record.line)
                    if record.digest != counted.digest or earlier.group != name:
                        raise InvalidInputError(
                            f"batch {earlier.batch} has the label {text!r} already, and other "
                            "rows; give another label"
                        )
                    return earlier
            after, verdict = state.after_batch(name, counted, text)
            # The file first: if saving fails, the batch is not counted.
            self._autosave.save(after)
            self._state = after
        return verdict

    def reset(self) -> None:
        """Clear the alarm and restart all windows.

        The bound on the probability of a false alarm holds for the whole stream, resets included.
        """
        with self._lock, self._autosave.locked():
            after = self._state.reset()
            self._autosave.save(after)
            self._state = after

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the monitor to an .npz file; an existing file is replaced atomically."""
        write_state(path, self._state)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, autosave: bool = False) -> Monitor:
        """Read a saved monitor.

        Parameters
        ----------
        path : str or path-like
        autosave : bool, default False
            Save the monitor to this file after every batch, as ``Monitor(..., path=path)`` does.
        """
        monitor = cls.__new__(cls)
        store = Autosave(path if check_boolean(autosave, "autosave") else None)
        with store.locked(reading=True):
            monitor.__setstate__({"_state": read_state(path), "_autosave": store})
        monitor._autosave = store
        return monitor

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain numbers and strings, with all verdicts that are kept."""
        state = self._state
        groups = [
            {"group": name, "rows": group.reference.n_rows, "functions": len(group.reference.ones),
             "blocks": None if group.model is None else group.model.n_blocks}
            for name, group in state.groups.items()
        ]  # fmt: skip
        return plain(
            {
                "columns": list(state.reader.names),
                "kinds": list(state.reader.kinds),
                "policy": asdict(state.policy),
                "groups": groups,
                "n_batches": state.n_batches,
                "alarm": self.alarm,
                "verdicts": [json.loads(record.line) for record in state.records],
            }
        )

    def _rows(self) -> dict[str, list[Any]]:
        """One row per batch, with the strongest change."""
        verdicts = self.verdicts
        names = ("batch", "label", "group", "n_rows", "pvalue", "window", "window_pvalue",
                 "threshold", "alarm")  # fmt: skip
        rows = {name: [getattr(verdict, name) for verdict in verdicts] for name in names}
        rows["change"] = [v.changes[0].text if v.changes else "" for v in verdicts]
        return rows

    def __repr__(self) -> str:
        state = self._state
        width = len(state.reader.names)
        rows = sum(group.reference.n_rows for group in state.groups.values())
        columns = f"{width} {'column' if width == 1 else 'columns'}"
        batches = f"{state.n_batches} {'batch' if state.n_batches == 1 else 'batches'}"
        alarm = f"alarm since batch {state.alarm_since}" if self.alarm else "no alarm"
        return f"Monitor({columns}, {rows} reference rows, {batches} checked, {alarm})"


def _checked_label(label: Any) -> str | None:
    if label is None:
        return None
    text = str(label)
    if not text or len(text) > _LONGEST_LABEL or not text.isprintable():
        raise InvalidInputError(
            f"label must have 1 to {_LONGEST_LABEL} printable characters, got {text!r:.80}"
        )
    return text
