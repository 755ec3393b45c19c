"""Monitors in files: tables or shares, calibration and stream, and none of the rows.

A monitor that only scores is a table and its settings, as 0.1.0 wrote it; a calibrated one has a
kind of its own. `Autosave` keeps a monitor in a file while it is used: one process at a time,
written after every batch, and then its log, one line of JSON for each batch. A process that is
killed between the two, or a disk that is full, leaves a log that lacks lines or ends in the middle
of one; lines follow from the state, and the next write adds what is missing.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.api import Metric
from isodepth.data.archive import check_archive_target, read_archive, unreadable, write_archive
from isodepth.data.arrays import column_labels
from isodepth.data.kinds import ColumnKind, check_kinds
from isodepth.data.missing import NAN_POLICIES, MissingReport
from isodepth.data.output import check_target, locked
from isodepth.data.validation import check_choice
from isodepth.errors import (
    BusyFileError,
    InvalidOptionError,
    IsodepthError,
    LogWarning,
    UnreadableFileError,
)
from isodepth.metric.signature import Signature
from isodepth.metric.table import table_arrays, table_from, table_header
from isodepth.monitor.batches import BatchReader
from isodepth.monitor.calibration import SAMPLINGS, Calibration, Stratum
from isodepth.monitor.evidence import AlarmPolicy, ExceedanceEvidence, RankEvidence
from isodepth.monitor.mixed_scorer import CategoryShares, MixedScorer, Scorer, ShareChange
from isodepth.monitor.scorer import NumberScorer, RegionScorer, ShareScorer
from isodepth.monitor.verdict import MonitorState, Record

UNCALIBRATED = "depth monitor"
CALIBRATED = "calibrated depth monitor"

PathLike = str | os.PathLike[str]
Arrays = Mapping[str, np.ndarray]

# Numbers of a record that are whole, and those that are not.
_WHOLE = Record._fields.index("score")
_NUMBERS = Record._fields.index("columns")
# The checksum that our files end with says which state they hold.
_DIGEST_LENGTH = 64
# So much of the end of a log is read: more than two lines of a monitor.
_LONGEST_TAIL = 1 << 24
# What the names of the parts of a scorer with a tolerance are in a file.
_SHARE_PARTS = ("centers", "widths", "cuts", "shares")


# -- monitors that only score ---------------------------------------------------------------------


def write_uncalibrated(path: PathLike, scorer: RegionScorer) -> None:
    """Write a table and how it was made."""
    _refuse_own_depth(scorer)
    header, arrays = table_header(scorer.reference), table_arrays(scorer.reference)
    arrays |= _own_directions(scorer)
    if scorer.metric.nan_policy != "raise":
        header["nan_policy"] = scorer.metric.nan_policy
    write_archive(path, UNCALIBRATED, header, arrays)


def read_uncalibrated(header: Mapping[str, Any], arrays: Arrays, path: PathLike) -> RegionScorer:
    """The scorer of a monitor that only scores, or of one group and size."""
    table = table_from(header, arrays, path)
    signature = Signature.parse(table.signature)
    try:
        metric = Metric(
            **signature.options(arrays.get("directions"), arrays.get("scale")),
            nan_policy=header.get("nan_policy", "raise"),
        )
    except (IsodepthError, ArithmeticError) as error:
        raise UnreadableFileError(f"{os.fspath(path)}: {error}") from None
    differing = signature.differences(Signature.parse(metric.signature))
    if differing:
        raise unreadable(path, f"its {', '.join(differing)} are not those of its reference")
    return RegionScorer(metric, [table], [1])


def _refuse_own_depth(scorer: NumberScorer | None) -> None:
    if isinstance(scorer, RegionScorer) and "custom:" in scorer.signature:
        raise InvalidOptionError(
            "a monitor whose depth is the caller's own object cannot be saved, got "
            f"{scorer.metric.depth!r}; use one of the depths of isodepth"
        )


def _own_directions(scorer: RegionScorer) -> dict[str, np.ndarray]:
    given = scorer.metric.directions
    return {} if isinstance(given, str) else {"directions": given}


# -- calibrated monitors --------------------------------------------------------------------------


def write_state(path: PathLike, state: MonitorState) -> None:
    """Write all of a calibrated monitor."""
    reader, policy, records = state.reader, state.policy, state.records
    scorers, groups = list(state.scorers.values()), list(state.scorers)
    strata, mixed = state.calibration.strata, [s for s in scorers if isinstance(s, MixedScorer)]
    numbers: list[Any] = [scorer.numbers for scorer in mixed] or scorers
    first = numbers[0]
    _refuse_own_depth(first)
    header = {
        "policy": [policy.alpha, policy.arl, policy.tolerance, policy.patience],
        "dtype": reader.dtype,
        "scaled": scorers[0].scale is not None,
        "nan_policy": reader.nan_policy,
        "width": reader.n_features,
        "columns": None if reader.columns is None else list(reader.columns),
        "missing": [reader.missing.n_rows, reader.missing.n_dropped],
        "missing_counts": [count for _, count in reader.missing.counts],
        "groups": groups,
        "sampling": state.calibration.sampling,
        "strata": [[groups.index(s.group), s.size, s.smallest, len(s.scores)] for s in strata],
        "seed": state.seed,
        "count": state.evidence.count,
        "alarm_since": state.alarm_since,
        "labels": [record.label for record in records],
        "kinds": reader.kinds,
        "categories": reader.categories,
        "changes": [record.categories for record in records],
    }
    rows = np.array([record[:_NUMBERS] for record in records], dtype=np.float64)
    arrays = {
        "calibration": np.concatenate([s.scores for s in strata]),
        "records": rows.reshape(-1, _NUMBERS),
        "contributions": _stacked([r.columns for r in records], len(reader.names), np.float64),
        "missing": _stacked([r.missing for r in records], reader.n_features, np.int64),
    }
    if mixed:
        arrays["counts"] = np.array([scorer.shares.counts for scorer in mixed])
        arrays["units"] = np.array([scorer.units for scorer in mixed])
    if isinstance(state.evidence, RankEvidence):
        arrays["logs"] = state.evidence.logs
    else:
        arrays["ranks"] = np.array(state.evidence.ranks, dtype=np.int64).reshape(-1, 2)
    if scorers[0].scale is not None:
        arrays["scale"] = np.array([scorer.scale for scorer in scorers])
    if isinstance(first, RegionScorer):
        header["signatures"] = [scorer.signature for scorer in numbers]
        header["algorithm"] = first.reference.algorithm
        header["table_sizes"] = first.sizes
        tables = [[table.values for table in scorer.tables] for scorer in numbers]
        arrays |= {"tables": np.array(tables), **_own_directions(first)}
    elif first is not None:
        arrays |= {name: np.stack([getattr(s, name) for s in numbers]) for name in _SHARE_PARTS}
        arrays["directions"] = first.directions
    write_archive(path, CALIBRATED, header, arrays)


def _stacked(rows: list[np.ndarray], width: int, dtype: Any) -> np.ndarray:
    return np.array(rows, dtype=dtype).reshape(len(rows), width)


def read_monitor(path: PathLike) -> MonitorState | RegionScorer:
    """What a file of either kind holds; anything odd raises UnreadableFileError.

    Sizes are checked against the arrays that are there before anything is made of them.
    """
    header, arrays = read_archive(path, UNCALIBRATED, CALIBRATED)
    if header["kind"] == UNCALIBRATED:
        return read_uncalibrated(header, arrays, path)
    try:
        return _read_state(header, arrays, path)
    except UnreadableFileError:
        raise
    except (
        IsodepthError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
    ) as error:  # fmt: skip
        raise unreadable(path, f"it lacks a part of a monitor ({error!r:.200})") from None


def _read_state(header: Mapping[str, Any], arrays: Arrays, path: PathLike) -> MonitorState:
    alpha, arl, tolerance, patience = header["policy"]
    policy = AlarmPolicy.checked(alpha, arl, tolerance, patience)
    reader = _read_reader(header)
    groups = header["groups"]
    _demand(header["scaled"] is ("scale" in arrays), "scale")
    _demand(len(groups) > 0 and len(set(groups)) == len(groups), "groups")
    _demand(groups == [None] or all(isinstance(group, str) for group in groups), "groups")
    parts = ("scale", "tables", "units", "counts", *_SHARE_PARTS)
    _demand(all(len(arrays[part]) == len(groups) for part in parts if part in arrays), "groups")
    scorers: dict[str | None, Scorer] = {}
    for at, group in enumerate(groups):
        own = {**arrays, "scale": arrays["scale"][at]} if header["scaled"] else dict(arrays)
        scorer: Any = None
        if reader.n_features and policy.tolerance > 0:
            scorer = _read_shares(own, at, reader.n_features, policy.tolerance)
        elif reader.n_features:
            scorer = _read_regions(header, own, at, path)
        if reader.categories:
            shares = _read_category_shares(arrays["counts"][at], reader)
            units = arrays["units"][at]
            _demand(units.shape == (2, 2) and np.isfinite(units).all(), "units")
            _demand((units[:, 1] > 0).all(), "units")
            scorer = MixedScorer(scorer, shares, policy.tolerance, units)
        scorers[group] = scorer
    calibration = _read_calibration(header, arrays["calibration"], groups)
    records = _read_records(header, arrays, reader, len(calibration.strata))
    # Every batch of the past must be of a size that can be judged.
    for n_rows, at in {(r.n_rows + r.n_dropped, r.stratum) for r in records}:
        calibration.null_scores(n_rows, calibration.strata[at].group)
    since, count = _count(header["alarm_since"]), _count(header["count"])
    _demand(max(since, count) <= len(records), "count")
    evidence = policy.evidence(calibration.sizes)
    if isinstance(evidence, ExceedanceEvidence):
        ranks = arrays["ranks"]
        _demand(ranks.shape == (count, 2) and ranks.dtype == np.int64, "ranks")
        _demand((ranks >= 0).all() and (ranks[:, 0] < len(calibration.strata)).all(), "ranks")
        evidence.ranks = [(int(stratum), int(rank)) for stratum, rank in ranks]
    else:
        logs = arrays["logs"]
        _demand(logs.shape == evidence.logs.shape and (logs < np.inf).all(), "logs")
        evidence.logs, evidence.count = logs, count
    seed = _count(header["seed"])
    return MonitorState(policy, reader, scorers, calibration, seed, evidence, records, since)


def _read_reader(header: Mapping[str, Any]) -> BatchReader:
    categories = {name: tuple(own) for name, own in header["categories"].items()}
    texts = [value for own in categories.values() for value in own]
    _demand(all(isinstance(text, str) for text in texts), "categories")
    width, columns = _count(header["width"], 0 if categories else 1), header["columns"]
    rows, dropped = (_count(number) for number in header["missing"])
    counts = [_count(number) for number in header["missing_counts"]]
    _demand(len(counts) == width and 0 <= dropped < rows, "missing")
    if columns is not None:
        _demand([type(name) for name in columns] == [str] * width, "columns")
        columns = tuple(columns)
    dtype = check_choice(header["dtype"], "dtype", ("float32", "float64"))
    nan_policy = check_choice(header["nan_policy"], "nan_policy", NAN_POLICIES)
    names = columns or column_labels(width)
    report = MissingReport(rows, dropped, tuple(zip(names, counts, strict=True)))
    kinds = tuple(ColumnKind(*map(str, each[:4]), *each[4:]) for each in header["kinds"])
    _demand([k.column for k in kinds if k.use == "shares"] == list(categories), "kinds")
    check_kinds({each.column: each.given for each in kinds if each.given is not None})
    return BatchReader(width, columns, dtype, nan_policy, report, categories, kinds)


def _read_category_shares(counts: np.ndarray, reader: BatchReader) -> CategoryShares:
    sizes = [len(values) for values in reader.categories.values()]
    starts = CategoryShares.fit(np.empty((0, len(sizes))), sizes).starts
    _demand(counts.shape == starts[-1:] and counts.dtype == np.int64, "counts")
    rows = np.add.reduceat(counts, starts[:-1])
    _demand((counts >= 0).all() and rows[0] > 0 and (rows == rows[0]).all(), "counts")
    return CategoryShares(counts, starts)


def _read_regions(
    header: Mapping[str, Any], arrays: dict[str, np.ndarray], at: int, path: PathLike
) -> RegionScorer:
    sizes, tables = [_count(size, 1) for size in header["table_sizes"]], arrays["tables"][at]
    _demand(len(tables) == len(sizes) > 0 and sizes == sorted(set(sizes)), "tables")
    made = {**header, "signature": header["signatures"][at], "nan_policy": "raise"}
    _demand(len(header["signatures"]) == len(header["groups"]), "signatures")
    parts = [read_uncalibrated(made, {**arrays, "values": table}, path) for table in tables]
    return RegionScorer(parts[0].metric, [part.reference for part in parts], sizes)


def _read_shares(arrays: Arrays, at: int, width: int, tolerance: float) -> ShareScorer:
    directions, scale = arrays["directions"], arrays.get("scale")
    centers, widths, cuts, shares = (arrays[name][at] for name in _SHARE_PARTS)
    count = len(directions)
    _demand(directions.shape == (count, width) and count >= width, "directions")
    _demand(centers.shape == widths.shape == (count,) and (widths > 0).all(), "widths")
    _demand(cuts.shape == shares.shape == (len(cuts), count + 2) and len(cuts) > 0, "cuts")
    _demand((np.diff(cuts, axis=0) >= 0).all() and (np.abs(shares - 0.5) <= 0.5).all(), "cuts")
    if scale is not None:
        _demand(scale.shape == (width,) and (scale > 0).all() and np.isfinite(scale).all(), "scale")
    for part in (directions, centers, widths, cuts):
        _demand(part.dtype == np.float64 and np.isfinite(part).all(), "directions")
    return ShareScorer(directions, tolerance, scale, centers, widths, cuts, shares)


def _read_calibration(
    header: Mapping[str, Any], scores: np.ndarray, groups: list[str | None]
) -> Calibration:
    strata, at = [], 0
    _demand(scores.ndim == 1, "calibration")
    for entry in header["strata"]:
        group, size, smallest, count = (_count(number) for number in entry)
        own = scores[at : at + count]
        _demand(count > 0 and 0 < smallest <= size, "strata")
        _demand(np.isfinite(own).all() and (np.diff(own) >= 0).all(), "calibration")
        strata.append(Stratum(groups[group], size, smallest, own))
        at += count
    _demand(at == len(scores) and {s.group for s in strata} == set(groups), "strata")
    return Calibration(strata, check_choice(header["sampling"], "sampling", SAMPLINGS))


def _read_records(
    header: Mapping[str, Any], arrays: Arrays, reader: BatchReader, n_strata: int
) -> list[Record]:
    numbers, columns, missing = arrays["records"], arrays["contributions"], arrays["missing"]
    labels, n = header["labels"], len(numbers)
    changes = [
        [ShareChange(str(a), str(b), float(x), float(y), bool(new)) for a, b, x, y, new in own]
        for own in header["changes"]
    ]
    _demand(len(changes) == n, "changes")
    _demand(numbers.shape == (n, _NUMBERS) and np.isfinite(numbers).all(), "records")
    _demand(columns.shape == (n, len(reader.names)) and np.isfinite(columns).all(), "contributions")
    _demand(missing.shape == (n, reader.n_features) and missing.dtype == np.int64, "missing")
    _demand((missing >= 0).all() and isinstance(labels, list) and len(labels) == n, "labels")
    _demand(all(label is None or isinstance(label, str) for label in labels), "labels")
    whole = numbers[:, :_WHOLE].astype(np.int64)
    _demand((whole == numbers[:, :_WHOLE]).all() and (whole >= 0).all(), "records")
    _demand((whole[:, 0] > 0).all() and (whole[:, 2] < n_strata).all(), "records")
    scores = numbers[:, _WHOLE:].tolist()
    rest = zip(whole.tolist(), scores, columns, missing, labels, changes, strict=True)
    return [
        Record._make([*row[:3], bool(row[3]), bool(row[4]), row[5], *own, *others])
        for row, own, *others in rest
    ]


def _count(value: Any, least: int = 0) -> int:
    if type(value) is not int or value < least:
        raise ValueError(f"{value!r:.80} is no count")
    return value


def _demand(holds: Any, part: str) -> None:
    if not holds:
        raise ValueError(f"its {part} make no sense")


# -- while it is used -----------------------------------------------------------------------------


class Autosave:
    """Where a monitor and its log are kept; nowhere if `path` is None.

    Attributes
    ----------
    path, log : Path or None
    """

    def __init__(self, path: Any = None, log: Any = None) -> None:
        if path is None and log is not None:
            raise InvalidOptionError(
                f"a log is kept in step with the saved monitor, got log={os.fspath(log)!r} and no "
                "path; give path='monitor.npz' as well"
            )
        self.path: Path | None = None if path is None else check_archive_target(path)
        self.log: Path | None = None if log is None else check_target(log)
        self._digest = b""

    @contextmanager
    def locked(self, reading: bool = False) -> Iterator[None]:
        """No other process changes the file; an error if one has, unless it is read anew."""
        if self.path is None:
            yield
            return
        with locked(self.path):
            if not reading and self._found() != self._digest:
                raise BusyFileError(
                    f"{self.path} has been changed since this monitor was read or saved, most "
                    "likely by another process that checked a batch; go on from DepthMonitor.load("
                    f"{str(self.path)!r}, autosave=True)"
                )
            yield
            if reading:
                self._digest = self._found()

    def save(self, state: MonitorState) -> None:
        """Write the state."""
        if self.path is not None:
            write_state(self.path, state)
            self._digest = self._found()

    def _found(self) -> bytes:
        assert self.path is not None
        try:
            with open(self.path, "rb") as file:
                file.seek(-_DIGEST_LENGTH, 2)
                return file.read()
        except OSError:
            return b""

    def log_end(self, state: Any) -> tuple[int, int]:
        """How many bytes and batches the whole lines of the log have, without touching it.

        It is an error if it is not the log of `state`; None stands for a monitor that has seen
        nothing.
        """
        if self.log is None or not self.log.exists():
            return 0, 0
        try:
            line, torn, size = _last_lines(self.log)
        except OSError as error:
            raise UnreadableFileError(f"cannot read {self.log}: {error.strerror}") from None
        count, number = 0 if state is None else len(state.records), 0
        known = True
        if line:
            number, score = _batch_and_score(line)
            known = 1 <= number <= count and state.records[number - 1].score == score
        if torn:
            known &= number < count and _line(state, number + 1).startswith(torn)
        if not known:
            raise InvalidOptionError(
                f"{self.log} ends with {(line + torn)[-80:]!r}, which is not what this monitor has "
                f"said of its {count} batch(es); give another file"
            )
        return size, number

    def write_log(self, state: MonitorState, end: tuple[int, int]) -> None:
        """Add the lines that the log lacks; what stands after its last whole line goes.

        Where the disk does not take a line, a warning says so, and the next call adds it.
        """
        (size, number), count = end, len(state.records)
        if self.log is None or number == count:
            return
        lines = b"".join(_line(state, batch) for batch in range(number + 1, count + 1))
        try:
            with open(self.log, "r+b" if self.log.exists() else "xb") as file:
                file.truncate(size)
                file.seek(size)
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            warnings.warn(
                f"batch {count} is counted and saved, but its line could not be added to "
                f"{self.log} ({error.strerror or error}); do not check it again: the line follows "
                "with the next batch",
                LogWarning,
                stacklevel=3,
            )


def _line(state: Any, number: int) -> bytes:
    return state.verdict(number).to_json().encode() + b"\n"


def _batch_and_score(line: bytes) -> tuple[int, Any]:
    """What a line of a log says; batch 0 where it is none."""
    try:
        said = json.loads(line)
        return (said["batch"], said["score"]) if type(said["batch"]) is int else (0, None)
    except (ValueError, KeyError, TypeError):
        return 0, None


def _last_lines(path: Path) -> tuple[bytes, bytes, int]:
    """The last whole line, what stands after it, and how many bytes whole lines take."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _LONGEST_TAIL))
        whole, end, torn = file.read().rpartition(b"\n")
    return whole.rpartition(b"\n")[2] + end, torn, size - len(torn)
