"""DepthMonitor: one reference, fitted once, against batch after batch."""

from __future__ import annotations

import copy
import math
import os
import threading
from dataclasses import asdict
from typing import Any

from isodepth.data.kinds import ColumnKind
from isodepth.data.matching import in_order
from isodepth.data.results import plain
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.many.pairwise import NOT_FOR_TABLES
from isodepth.metric.docstrings import with_metric_options
from isodepth.monitor.calibration import Calibration, central_interval
from isodepth.monitor.evidence import AlarmPolicy
from isodepth.monitor.fitting import fit_monitor
from isodepth.monitor.mixed_scorer import Scorer
from isodepth.monitor.persistence import Autosave, read_monitor, write_state, write_uncalibrated
from isodepth.monitor.scorer import RegionScorer
from isodepth.monitor.uncalibrated import refuse_calibrated_options, uncalibrated_scorer
from isodepth.monitor.verdict import MonitorState, Verdict
from isodepth.results import ReportableResult

_LONGEST_LABEL = 200
# Scores of the same rows agree to rounding, on other machines as well.
_SAME_SCORE = 1e-6


@with_metric_options(NOT_FOR_TABLES)
class DepthMonitor(ReportableResult):
    """How far each new batch of data is from a reference, and whether that is unusual.

    The table of the reference is computed when the monitor is made; a batch needs a table of its
    own and a comparison of two tables. A saved monitor contains tables, scores and settings, but no
    rows of the reference.

    With `batch_size` (or `blocks`) the monitor is calibrated: the table is computed from one part
    of the reference, and the scores of undrifted batches from the rest. `check` compares the score
    of a batch with these, and collects evidence over the whole stream. A monitor without them has
    only `score`.

    The defaults of a calibrated monitor are ``q=2``, ``directions="orthogonal"`` with
    ``n_directions=200``, and ``scale="reference"``. With a tolerance, of the options of the metric
    only `n_directions`, `directions`, `levels`, `scale`, `nan_policy`, `dtype` and `random_state`
    apply. Threads may share a monitor: batches are counted one at a time.

    Parameters
    ----------
    reference : array-like or data frame of shape (n, d), or what :func:`isodepth.scan` gives
        With `batch_size`, of a source that does not fit into `memory_mb` as many rows as do are
        drawn at random: the table and the calibration need no more. A batch may be a source too.
    weights : array-like of shape (n,) or None
        Not with `batch_size` or `blocks`.
    batch_size : int or sequence of int, optional
        Rows of the batches to come, those with missing values counted. Sizes between declared ones
        are interpolated.
    blocks : array-like of shape (n,), optional
        In place of `batch_size`: a label for each row of the reference, such as its week, where
        rows of one batch have more in common than rows of different ones. Each block is one
        undrifted batch; batches smaller than all blocks, or more than a tenth larger, are refused.
    groups : array-like of shape (n,), optional
        A label for each row, such as its weekday or site: every group has a table and a calibration
        of its own, and a batch is of one group (``check(batch, group=...)``).
    alpha : float in (0, 1), default 0.01
        The probability that an undrifted stream, however long, ever raises an alarm.
    arl : float > 1, optional
        In place of `alpha`: the mean number of batches between false alarms is at least this. The
        evidence starts again after each alarm.
    tolerance : float in [0, 0.5)
        Share of rows of each batch that may be contaminated, whatever they are. Batches are then
        compared by what such rows cannot explain of the shares of rows up to cut points of columns,
        directions and outlyingness. The reference is taken to be clean; if it is not, add its own
        share of contaminated rows.
    patience : int, 1 to 100
        Number of batches that an alarm needs at least: with 2, no single batch raises one.
    kinds : dict, optional
        What columns of data frames hold, as in :func:`isodepth.two_sample_test`. Texts, booleans
        and categories are compared by the shares of their values, if the monitor is calibrated.
    path : str or path-like, optional
        Save the monitor there now and after every check, atomically.
    log : str or path-like, optional
        Add each verdict to this file, one line of JSON for each batch; with `path`. A file that is
        not the log of this monitor is refused and left as it is.
    levels : int, default 20
        How many levels there are, in the middles of as many equal parts of [0, 1 - eps]. Tables
        share a fixed grid: neither exact nor random levels are possible.
    region : {"sample", "envelope"}, default "sample"
        Regions as convex hulls of the sample points inside (the paper), or the directional
        quantile envelopes, regions of equal depth, which need no depth.
    scale : None, "reference" or array of shape (d,)
        What each column, of batches too, is divided by before anything else; "reference" takes
        its spread in the reference, which is kept.
    random_state : None, int or numpy.random.Generator, default None
        Where directions and the batches of the calibration come from; None draws them once, and
        keeps them.
    {options of Metric}

    Attributes
    ----------
    signature : str
        How scores are made.
    calibration : Calibration or None

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> monitor = isodepth.DepthMonitor(rng.normal(size=(2000, 3)), random_state=0)
    >>> monitor.score(rng.normal(size=(500, 3))) < 0.5
    True
    >>> round(monitor.score(rng.normal(size=(500, 3)) + [4, 0, 0]))
    4

    >>> reference = rng.normal(size=(20000, 3))
    >>> monitor = isodepth.DepthMonitor(reference, batch_size=100, n_directions=50, random_state=0)
    >>> any(monitor.check(rng.normal(size=(100, 3))).alarm for _ in range(20))
    False
    >>> verdicts = [monitor.check(rng.normal(size=(100, 3)) + [1, 0, 0]) for _ in range(4)]
    >>> [verdict.alarm for verdict in verdicts], verdicts[-1].columns[0][0]
    ([False, False, True, True], 'column 0')
    """

    result_type = "monitor"

    def __init__(
        self,
        reference: Any,
        *,
        weights: Any = None,
        batch_size: Any = None,
        blocks: Any = None,
        groups: Any = None,
        alpha: float | None = None,
        arl: float | None = None,
        tolerance: float = 0.0,
        patience: int = 1,
        kinds: dict[str, Any] | None = None,
        path: str | os.PathLike[str] | None = None,
        log: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        self._lock = threading.RLock()
        self._state: MonitorState | None = None
        self._autosave = Autosave()
        if batch_size is None and blocks is None:
            refuse_calibrated_options(
                groups=groups, alpha=alpha, arl=arl, tolerance=tolerance or None,
                patience=None if patience == 1 else patience, kinds=kinds, path=path, log=log,
            )  # fmt: skip
            scorer = uncalibrated_scorer(reference, weights, options)
            self._scorers: dict[str | None, Scorer] = {None: scorer}
            return
        if weights is not None:
            raise InvalidOptionError(
                "rows of the reference are shared out one by one, and weights do not go with "
                "batch_size or blocks; leave them out"
            )
        policy = AlarmPolicy.checked(alpha, arl, tolerance, patience)
        self._autosave = Autosave(path, log)
        self._autosave.log_end(None)
        self._state = fit_monitor(
            reference, policy, options, batch_size=batch_size, blocks=blocks, groups=groups,
            kinds=kinds,
        )  # fmt: skip
        self._scorers = self._state.scorers
        with self._autosave.locked(reading=True):
            self._autosave.save(self._state)

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, which every copy has for itself."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Of copies that save themselves to one file, only the first to check a batch may go on.
        own = {"_autosave": copy.copy(state["_autosave"]), "_lock": threading.RLock()}
        self.__dict__.update(state | own)

    # -- what it says -----------------------------------------------------------------------

    @property
    def signature(self) -> str:
        """How scores are made."""
        return next(iter(self._scorers.values())).signature

    @property
    def calibration(self) -> Calibration | None:
        """The scores of undrifted batches."""
        return None if self._state is None else self._state.calibration

    @property
    def nan_policy(self) -> str:
        """What becomes of rows with missing values in a batch: "raise" or "omit"."""
        return self._calibrated().reader.nan_policy

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the columns, categories last, where the reference had any."""
        if self._state is None:
            return self._uncalibrated().reference.columns
        reader = self._state.reader
        return None if reader.columns is None else reader.names

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """Every column of a reference that was a data frame, with its kind and its use."""
        return self._calibrated().reader.kinds

    @property
    def alarm(self) -> bool:
        """Whether an alarm was raised and not reset; with `arl`, by the last batch."""
        return self._calibrated().alarm_since > 0

    @property
    def verdicts(self) -> list[Verdict]:
        """What was said about every batch so far."""
        state = self._calibrated()
        return [state.verdict(number + 1) for number in range(len(state.records))]

    def score(self, batch: Any, weights: Any = None, *, group: Any = None) -> float:
        """Distance of a batch from the reference; nothing is remembered.

        Parameters
        ----------
        batch : array-like or data frame of shape (m, d), or what :func:`isodepth.scan` gives
        weights : array-like of shape (m,) or None
            Where the monitor is not calibrated.
        group : str, where there are groups

        Returns
        -------
        distance : float
        """
        scorer = self._scorer(None if group is None else str(group))
        if self._state is None:
            batch = in_order(batch, self.columns, "batch", "the reference")
            return self._uncalibrated().score(batch, 1, weights)
        if weights is not None:
            raise InvalidOptionError(
                "a calibrated monitor compares batches of as many rows, and weights do not apply; "
                "leave them out, or make the monitor without batch_size and blocks"
            )
        rows = self._state.reader.read(batch)
        return scorer.score_and_columns(rows.points, rows.report.n_rows)[0]

    def check(self, batch: Any, *, group: Any = None, label: Any = None) -> Verdict:
        """Check the next batch of the stream.

        Parameters
        ----------
        batch : array-like or data frame of shape (m, d), or what :func:`isodepth.scan` gives
        group : where there are groups, which one it is of
        label : str, date or number, optional
            What to call the batch, such as its day. A batch that comes again with its label is not
            counted again: the verdict is the earlier one. Other rows with a label that is known are
            refused.

        Returns
        -------
        verdict : Verdict
        """
        state = self._calibrated()
        name, label = None if group is None else str(group), _checked_label(label)
        scorer, rows = self._scorer(name), state.reader.read(batch)
        null = state.calibration.null_scores(rows.report.n_rows, name)
        score, columns = scorer.score_and_columns(rows.points, rows.report.n_rows)
        with self._lock, self._autosave.locked():
            state = self._calibrated()
            labels = [record.label for record in state.records]
            if label is not None and label in labels:
                earlier = state.verdict(labels.index(label) + 1)
                same = math.isclose(earlier.score, score, rel_tol=_SAME_SCORE, abs_tol=1e-12)
                if not same or (earlier.group, earlier.n_rows) != (name, len(rows.points)):
                    raise InvalidInputError(
                        f"batch {earlier.batch} has the label {label!r} already, and other rows "
                        f"(score {earlier.score:.6g}, this one {score:.6g}); give another label"
                    )
                return earlier
            end = self._autosave.log_end(state)
            # In the file first: where that fails, nothing has happened.
            after = state.after_batch(rows, null, score, columns, label)
            self._autosave.save(after)
            self._state = after
            self._autosave.write_log(after, end)
        return after.verdict(len(after.records))

    def reset(self) -> None:
        """Start to collect evidence again, after an alarm has been seen to.

        The scores so far stay known and later ones are ranked among them. The promise about false
        alarms holds for the time from here on.
        """
        with self._lock, self._autosave.locked():
            after = self._calibrated().reset()
            self._autosave.save(after)
            self._state = after

    def to_dict(self) -> dict[str, Any]:
        """What it is and what it has seen, as numbers, texts, lists and dictionaries.

        With `policy` (alpha, arl, tolerance, patience), `null_intervals` (for every group and size
        the number of calibration scores and the interval that holds 98% of them), `calibration`
        (how they were made), `columns`, `kinds`, `signature`, `alarm` (whether there is one now)
        and `verdicts`.
        """
        state = self._calibrated()
        intervals = []
        for stratum in state.calibration.strata:
            low, high = central_interval(stratum.scores)
            intervals.append(
                {"group": stratum.group, "rows": stratum.size, "n": len(stratum.scores),
                 "low": low, "high": high}
            )  # fmt: skip
        return plain(
            {
                "signature": self.signature,
                "columns": list(state.reader.names),
                "kinds": list(state.reader.kinds),
                "policy": asdict(state.policy),
                "calibration": state.calibration.sampling,
                "null_intervals": intervals,
                "alarm": self.alarm,
                "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            }
        )

    def _rows(self) -> dict[str, list[Any]]:
        """One row for each batch, with the column that contributes most."""
        verdicts = [] if self._state is None else self.verdicts
        names = ("batch", "label", "group", "n_rows", "score", "pvalue", "evidence", "alarm")
        rows = {name: [getattr(verdict, name) for verdict in verdicts] for name in names}
        rows["null_low"] = [verdict.null_interval[0] for verdict in verdicts]
        rows["null_high"] = [verdict.null_interval[1] for verdict in verdicts]
        rows["leading_column"] = [verdict.columns[0][0] for verdict in verdicts]
        rows["leading_share"] = [verdict.columns[0][1] for verdict in verdicts]
        return rows

    def _scorer(self, group: str | None) -> Scorer:
        if group not in self._scorers:
            known = ", ".join(repr(name) for name in self._scorers)
            raise InvalidInputError(
                f"the monitor has no groups, got group={group!r}; leave it out"
                if None in self._scorers
                else f"group must be one of {known}, got {group!r}"
            )
        return self._scorers[group]

    def _uncalibrated(self) -> RegionScorer:
        scorer = self._scorers[None]
        assert isinstance(scorer, RegionScorer)
        return scorer

    def _calibrated(self) -> MonitorState:
        if self._state is None:
            raise InvalidOptionError(
                "this monitor is not calibrated: it was made without batch_size or blocks, and "
                "only scores batches; make it again with DepthMonitor(reference, batch_size=...)"
            )
        return self._state

    # -- files ------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the monitor to an .npz file; a file already there is replaced whole or not at all.

        A depth that is the caller's own object cannot be saved.
        """
        if self._state is not None:
            write_state(path, self._state)
            return
        write_uncalibrated(path, self._uncalibrated())

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        autosave: bool = False,
        log: str | os.PathLike[str] | None = None,
    ) -> DepthMonitor:
        """Read what `save` wrote; a damaged file or another one raises UnreadableFileError.

        Parameters
        ----------
        path : str or path-like
        autosave : bool
            Save the monitor there after every check, as ``DepthMonitor(..., path=path)`` does.
        log : str or path-like, optional
            Go on with this log, with `autosave`. Last lines that got lost when a process was killed
            or the disk was full are added.
        """
        monitor = cls.__new__(cls)
        store = Autosave(path if autosave else None, log)
        with store.locked(reading=True):
            found = read_monitor(path)
            state = found if isinstance(found, MonitorState) else None
            scorers = {None: found} if state is None else state.scorers
            monitor.__setstate__({"_state": state, "_scorers": scorers, "_autosave": store})
            monitor._autosave = store
            if autosave:
                monitor._calibrated()
            if state is not None:
                store.write_log(state, store.log_end(state))
        return monitor

    def __repr__(self) -> str:
        width = next(iter(self._scorers.values())).n_features
        text = f"DepthMonitor({width} column(s)"
        if self._state is not None:
            count, sampling = len(self._state.records), self._state.calibration.sampling
            text += f", {count} batch(es) checked, {sampling} calibration"
        return f"{text})\n  {self.signature}"


def _checked_label(label: Any) -> str | None:
    if label is None:
        return None
    text = str(label)
    if not text or len(text) > _LONGEST_LABEL or not text.isprintable():
        raise InvalidInputError(
            f"label must be a text of 1 to {_LONGEST_LABEL} printable characters, got {text!r:.80}"
        )
    return text
