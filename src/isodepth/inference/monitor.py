"""DepthMonitor: one reference, fitted once, against batch after batch."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np

from isodepth.data.matching import in_order
from isodepth.data.results import ReportableResult, plain
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.inference.calibration import Calibration
from isodepth.inference.keeping import Keeper
from isodepth.inference.plain import plain_gauge, refuse_without_batches
from isodepth.inference.table_gauge import TableGauge
from isodepth.inference.verdict import Verdict, log_rows, middle, verdict_of
from isodepth.inference.watching import Fitted, Gauge, Promise, check_paths, fit_watching
from isodepth.many.pairwise import NOT_FOR_TABLES, TABLE_OPTIONS
from isodepth.metric.docstrings import with_metric_options

_OPTIONS = {
    "levels": TABLE_OPTIONS["levels"],
    "region": TABLE_OPTIONS["region"],
    "scale": """\
        scale : None, "reference" or array of shape (d,)
            What each column, of batches too, is divided by before anything else; "reference" takes
            its spread in the reference, which is kept.""",
    "random_state": """\
        random_state : None, int or numpy.random.Generator, default None
            Where directions and the batches of the calibration come from; None draws them once, and
            keeps them.""",
}


@with_metric_options(leave_out=NOT_FOR_TABLES, instead=_OPTIONS)
class DepthMonitor(ReportableResult):
    """How far each new batch of data is from a reference, and whether that is unusual.

    The reference is turned into a table when the monitor is made; a batch costs one fit of its own
    and a comparison of two tables. A saved monitor holds tables, scores and settings, none of the
    reference's rows.

    With `batch_size` (or `blocks`) the monitor knows when to ring: a part of the reference makes
    the table, and the rest the scores of undrifted batches. `check` then judges a batch against
    these, and gathers evidence over the whole stream. Without, there is `score` alone.

    Where batches are judged the defaults are ``q=2``, ``directions="orthogonal"`` with
    ``n_directions=200``, and ``scale="reference"``. With a tolerance, of the options of the metric
    only `n_directions`, `directions`, `levels`, `scale`, `nan_policy`, `dtype` and `random_state`
    apply.

    Parameters
    ----------
    reference : array-like or data frame of shape (n, d), or what :func:`isodepth.scan` gives
        With `batch_size`, of a source that does not fit into `memory_mb` as many rows as do are
        drawn at random: the table and the calibration need no more. A batch may be a source too.
    weights : array-like of shape (n,) or None
        Not with `batch_size` or `blocks`.
    batch_size : int or sequence of int, optional
        Rows of the batches to come, those with missing values counted. Sizes between declared ones
        are judged by interpolation.
    blocks : array-like of shape (n,), optional
        In place of `batch_size`: a label for each row of the reference, such as its week, where
        rows of one batch have more in common than rows of different ones. Each block is one
        undrifted batch.
    groups : array-like of shape (n,), optional
        A label for each row, such as its weekday or site: every group has a table and a calibration
        of its own, and a batch is of one group (``check(batch, group=...)``).
    alpha : float in (0, 1), default 0.01
        The chance that an undrifted stream, however long, ever rings.
    arl : float > 1, optional
        In place of `alpha`: the mean number of batches between false alarms is at least this. The
        evidence begins anew after each alarm.
    tolerance : float in [0, 0.5)
        Share of rows of each batch (and of the reference) that may be anything at all. Batches are
        then compared by what such rows cannot explain of the quantiles along directions and of
        the outlyingness.
    patience : int
        How many batches it takes to ring: with 2, no single batch ever does, however corrupt.
    path : str or path-like, optional
        Save the monitor there now and after every check, whole or not at all.
    log : str or path-like, optional
        Add each verdict to this file, one line of JSON a batch; with `path`.
    {options of Metric}

    Attributes
    ----------
    reference : RegionTable
        With groups, a dictionary of them; with a tolerance, the quantiles of the reference.
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
        path: str | os.PathLike[str] | None = None,
        log: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        self._fitted: Fitted | None = None
        self._promise: Promise | None = None
        self._keeper = Keeper(None, None)
        if batch_size is None and blocks is None:
            refuse_without_batches(
                groups=groups, alpha=alpha, arl=arl, tolerance=tolerance or None,
                patience=None if patience == 1 else patience, path=path, log=log,
            )  # fmt: skip
            self._gauges: dict[str | None, Gauge] = {None: plain_gauge(reference, weights, options)}
            return
        if weights is not None:
            raise InvalidOptionError(
                "rows are shared out one by one between the table and the calibration, and weights "
                "do not go with batch_size or blocks; leave them out"
            )
        self._promise = Promise.checked(alpha, arl, tolerance, patience)
        self._keeper = Keeper(*check_paths(path, log))
        self._keeper.check_new()
        self._fitted = fit_watching(reference, batch_size, blocks, groups, self._promise, options)
        self._gauges = self._fitted.gauges
        self._keeper.start(self._fitted, self._promise)

    # -- what it says -----------------------------------------------------------------------

    @property
    def reference(self) -> Any:
        """The table of the reference, or one for each group."""
        tables = {group: getattr(g, "reference", g) for group, g in self._gauges.items()}
        return tables.get(None, tables)

    @property
    def signature(self) -> str:
        """How scores are made."""
        return next(iter(self._gauges.values())).signature

    @property
    def calibration(self) -> Calibration | None:
        """The scores of undrifted batches."""
        return None if self._fitted is None else self._fitted.calibration

    @property
    def nan_policy(self) -> str:
        """What becomes of rows with missing values in a batch: "raise" or "omit"."""
        return self._judging()[0].reader.nan_policy

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the columns, where the reference had any."""
        if self._fitted is not None:
            return self._fitted.reader.columns
        gauge = self._gauges[None]
        return gauge.reference.columns if isinstance(gauge, TableGauge) else None

    def score(self, batch: Any, weights: Any = None, *, group: Any = None) -> float:
        """Distance of a batch from the reference; nothing is remembered.

        Parameters
        ----------
        batch : array-like or data frame of shape (m, d), or what :func:`isodepth.scan` gives
        weights : array-like of shape (m,) or None
        group : str, where there are groups

        Returns
        -------
        distance : float
        """
        gauge = self._gauge(None if group is None else str(group))
        if self._fitted is None:
            names = self.reference.columns
            return gauge.measure(in_order(batch, names, "batch", "the reference"), 1, weights)
        points, checked, report = self._fitted.reader.read(batch, weights)
        return gauge.measure(points, report.n_rows, checked)

    def check(self, batch: Any, *, group: Any = None) -> Verdict:
        """Judge the next batch of the stream.

        Parameters
        ----------
        batch : array-like or data frame of shape (m, d), or what :func:`isodepth.scan` gives
        group : where there are groups, which one it is of

        Returns
        -------
        verdict : Verdict
        """
        fitted, promise = self._judging()
        name = None if group is None else str(group)
        points, _, report = fitted.reader.read(batch)
        usual = fitted.calibration.usual(report.n_rows, name)
        score, shares = self._gauge(name).score(points, report.n_rows)
        with self._keeper.locked():
            stream = fitted.stream.copy()
            counts = np.array([count for _, count in report.counts], dtype=np.int64)
            stream.take_in(
                score, usual, fitted.calibration, len(points), shares, counts, report.n_dropped
            )
            after = fitted._replace(stream=stream)
            verdict = verdict_of(after, promise, len(stream.past) - 1)
            # In the file first: where that fails, the monitor is the one before this batch.
            self._keeper.keep(after, promise, verdict)
            self._fitted = after
            self._keeper.note(verdict)
        return verdict

    @property
    def verdicts(self) -> list[Verdict]:
        """What was said about every batch so far."""
        fitted, promise = self._judging()
        return [verdict_of(fitted, promise, i) for i in range(len(fitted.stream.past))]

    def to_dict(self) -> dict[str, Any]:
        """What it is and what it has seen, as numbers, texts, lists and dictionaries.

        With `promise` (alpha, arl, tolerance, patience), `usual` (for every group and size the
        number of calibration scores and the middle 98% of them), `calibration` (how they were
        made), `columns`, `signature` and `verdicts`.
        """
        fitted, promise = self._judging()
        usual = []
        for stratum in fitted.calibration.strata:
            low, high = middle(stratum.scores)
            usual.append(
                {"group": stratum.group, "rows": stratum.size, "n": len(stratum.scores),
                 "low": low, "high": high}
            )  # fmt: skip
        return plain(
            {
                "signature": self.signature,
                "columns": list(fitted.reader.names),
                "promise": asdict(promise),
                "calibration": fitted.calibration.way,
                "usual": usual,
                "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            }
        )

    def _rows(self) -> dict[str, list[Any]]:
        """One row a batch; none where the monitor only scores."""
        verdicts = [] if self._fitted is None else self.verdicts
        return log_rows(verdicts)

    def reset(self) -> None:
        """Begin to gather evidence anew, after an alarm has been seen to.

        The scores so far stay known and later ones are ranked among them. The promise about false
        alarms holds for the time from here on.
        """
        fitted, promise = self._judging()
        with self._keeper.locked():
            stream = fitted.stream.copy()
            stream.reset()
            after = fitted._replace(stream=stream)
            self._keeper.keep(after, promise, None)
            self._fitted = after

    def _gauge(self, group: str | None) -> Gauge:
        if group not in self._gauges:
            known = ", ".join(repr(name) for name in self._gauges)
            raise InvalidInputError(
                f"the monitor has no groups, got group={group!r}; leave it out"
                if None in self._gauges
                else f"group must be one of {known}, got {group!r}"
            )
        return self._gauges[group]

    def _judging(self) -> tuple[Fitted, Promise]:
        if self._fitted is None or self._promise is None:
            raise InvalidOptionError(
                "this monitor does not know what is usual: it was made without batch_size or "
                "blocks, and only scores batches; make it again with DepthMonitor(reference, "
                "batch_size=...)"
            )
        return self._fitted, self._promise

    # -- files ------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the monitor to an .npz file; a file already there is replaced whole or not at all.

        A depth that is the caller's own object cannot be saved.
        """
        from isodepth.inference.monitor_file import write_plain, write_watching

        if self._fitted is None or self._promise is None:
            gauge = self._gauges[None]
            assert isinstance(gauge, TableGauge)
            write_plain(path, gauge)
        else:
            write_watching(path, self._fitted, self._promise, self._keeper.last)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        autosave: bool = False,
        log: str | os.PathLike[str] | None = None,
    ) -> DepthMonitor:
        """Read what `save` wrote; a damaged or foreign file raises UnreadableFileError.

        Parameters
        ----------
        path : str or path-like
        autosave : bool
            Save the monitor there after every check, as ``DepthMonitor(..., path=path)`` does.
        log : str or path-like, optional
            Go on with this log, with `autosave`. A last line that got lost when a process was
            killed is added.
        """
        from isodepth.inference.monitor_file import (
            WATCHING,
            read_monitor_file,
            read_plain,
            read_watching,
        )

        keeper = Keeper(*check_paths(path if autosave else None, log))
        monitor = cls.__new__(cls)
        monitor._fitted, monitor._promise = None, None
        with keeper.reading():
            kind, header, arrays = read_monitor_file(path)
            if kind == WATCHING:
                fitted, promise, keeper.last = read_watching(header, arrays, path)
                monitor._fitted, monitor._promise = fitted, promise
                monitor._gauges = fitted.gauges
                keeper.go_on(len(fitted.stream.past))
            else:
                monitor._gauges = {None: read_plain(header, arrays, path)}
                if autosave:
                    monitor._judging()
        monitor._keeper = keeper
        return monitor

    def __repr__(self) -> str:
        gauge = next(iter(self._gauges.values()))
        width = gauge.n_features
        text = f"DepthMonitor({width} column(s)"
        if self._fitted is not None and self._promise is not None:
            count, way = len(self._fitted.stream.past), self._fitted.calibration.way
            text += f", {count} batch(es) checked, {way} calibration"
        return f"{text})\n  {self.signature}"
