"""Monitors in files: tables, calibration and stream, and never a row.

Two kinds: a plain monitor is a table and its settings, as 0.1.0 wrote it; one that judges batches
has a kind of its own, which earlier versions refuse instead of reading half of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from isodepth.api import Metric
from isodepth.data.archive import read_archive, unreadable, write_archive
from isodepth.data.missing import NAN_POLICIES, MissingReport
from isodepth.data.validation import check_choice
from isodepth.errors import InvalidOptionError, IsodepthError, UnreadableFileError
from isodepth.inference.alarms import N_BETS, RankEvidence
from isodepth.inference.batches import BatchReader
from isodepth.inference.calibration import WAYS, Calibration, Stratum
from isodepth.inference.envelope_gauge import EnvelopeGauge
from isodepth.inference.exceedances import ExceedanceEvidence
from isodepth.inference.stream import Past, Stream
from isodepth.inference.table_gauge import TableGauge
from isodepth.inference.watching import Fitted, Gauge, Promise
from isodepth.metric.signature import Signature
from isodepth.metric.table import table_arrays, table_from, table_header

PLAIN = "depth monitor"
WATCHING = "calibrated depth monitor"

Path = str | os.PathLike[str]


# -- plain ones -----------------------------------------------------------------------------------


def write_plain(path: Path, gauge: TableGauge) -> None:
    """Write a table and how it was made."""
    refuse_foreign(gauge)
    header, arrays = table_header(gauge.reference), table_arrays(gauge.reference)
    arrays |= _own_directions(gauge)
    if gauge.metric.nan_policy != "raise":
        header["nan_policy"] = gauge.metric.nan_policy
    write_archive(path, PLAIN, header, arrays)


def read_plain(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], path: Path
) -> TableGauge:
    """The gauge of a file of the plain kind, or of one group."""
    table = table_from(header, arrays, path)
    signature = Signature.parse(table.signature)
    try:
        metric = Metric(
            **signature.options(arrays.get("directions"), arrays.get("scale")),
            nan_policy=header.get("nan_policy", "raise"),
        )
    except IsodepthError as error:
        raise UnreadableFileError(f"{os.fspath(path)}: {error}") from None
    differing = signature.differences(Signature.parse(metric.signature))
    if differing:
        raise unreadable(path, f"its {', '.join(differing)} are not those of its reference")
    return TableGauge(metric, [table], [1])


def refuse_foreign(gauge: Gauge) -> None:
    """A depth that is the caller's own object cannot be written down."""
    if isinstance(gauge, TableGauge) and "custom:" in gauge.signature:
        raise InvalidOptionError(
            "a monitor whose depth is the caller's own object cannot be saved, got "
            f"{gauge.metric.depth!r}; use one of the depths of isodepth"
        )


def _own_directions(gauge: TableGauge) -> dict[str, np.ndarray]:
    given = gauge.metric.directions
    return {} if isinstance(given, str) else {"directions": given}


# -- those that judge -----------------------------------------------------------------------------


def write_watching(path: Path, fitted: Fitted, promise: Promise, last: str | None) -> None:
    """Write all of a monitor that judges batches; `last` is the last line of its log."""
    reader, gauges, calibration, stream = fitted
    first = next(iter(gauges.values()))
    refuse_foreign(first)
    groups = list(gauges)
    header = {
        "promise": [promise.alpha, promise.arl, promise.tolerance, promise.patience],
        "dtype": reader.dtype,
        "scaled": first.scale is not None,
        "nan_policy": reader.nan_policy,
        "width": reader.n_features,
        "columns": None if reader.columns is None else list(reader.columns),
        "missing": [reader.missing.n_rows, reader.missing.n_dropped],
        "missing_counts": [count for _, count in reader.missing.counts],
        "groups": groups,
        "way": calibration.way,
        "strata": [
            [groups.index(s.group), s.size, s.smallest, len(s.scores)] for s in calibration.strata
        ],
        "seed": stream.seed,
        "count": stream.evidence.count,
        "alarm_since": stream.alarm_since,
        "last": last,
    }
    arrays = {
        "calibration": np.concatenate([s.scores for s in calibration.strata]),
        "past": np.array(stream.past, dtype=np.float64).reshape(-1, len(Past._fields)),
        "shares": np.reshape(stream.shares, (-1, reader.n_features)).astype(np.float64),
        "missing": np.reshape(stream.missing, (-1, reader.n_features)).astype(np.int64),
        **_evidence_arrays(stream),
    }
    if first.scale is not None:
        arrays["scale"] = np.array([gauge.scale for gauge in gauges.values()])
    if isinstance(first, TableGauge):
        header["signatures"] = [gauge.signature for gauge in gauges.values()]
        header["algorithm"] = first.reference.algorithm
        header["table_sizes"] = first.sizes
        tables = [[t.values for t in gauge.tables] for gauge in gauges.values()]  # type: ignore[union-attr]
        arrays |= {"tables": np.array(tables), **_own_directions(first)}
    else:
        kept = [gauge.arrays() for gauge in gauges.values()]  # type: ignore[union-attr]
        arrays |= {name: np.stack([one[name] for one in kept]) for name in kept[0]}
        arrays["directions"] = first.directions
    write_archive(path, WATCHING, header, arrays)


def _evidence_arrays(stream: Stream) -> dict[str, np.ndarray]:
    if isinstance(stream.evidence, RankEvidence):
        return {"logs": stream.evidence.logs}
    return {"ranks": np.array(stream.evidence.ranks, dtype=np.int64).reshape(-1, 2)}


def read_watching(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], path: Path
) -> tuple[Fitted, Promise, str | None]:
    """All of a monitor that judges batches; anything odd raises UnreadableFileError."""
    try:
        return _read_watching(header, arrays, path)
    except UnreadableFileError:
        raise
    except (IsodepthError, KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise unreadable(path, f"it lacks a part of a monitor ({error!r:.200})") from None


def _read_watching(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], path: Path
) -> tuple[Fitted, Promise, str | None]:
    alpha, arl, tolerance, patience = header["promise"]
    promise = Promise.checked(alpha, arl, tolerance, patience)
    reader = _reader(header)
    _demand(header["scaled"] is ("scale" in arrays), "scale")
    groups = header["groups"]
    _demand(len(groups) > 0 and len(set(groups)) == len(groups), "groups")
    _demand(groups == [None] or all(isinstance(group, str) for group in groups), "groups")
    gauges: dict[str | None, Gauge] = {}
    for at, group in enumerate(groups):
        if tolerance > 0:
            gauges[group] = _envelope_gauge(arrays, at, reader.n_features, tolerance)
        else:
            gauges[group] = _table_gauge(header, arrays, at, path)
    calibration = _calibration(header, arrays["calibration"], groups)
    stream = _stream(header, arrays, promise, calibration, reader.n_features)
    last = header["last"]
    _demand(last is None or isinstance(last, str), "last")
    return Fitted(reader, gauges, calibration, stream), promise, last


def _reader(header: Mapping[str, Any]) -> BatchReader:
    width, columns = _count(header["width"], 1), header["columns"]
    if columns is not None:
        _demand([type(name) for name in columns] == [str] * width, "columns")
        columns = tuple(columns)
    check_choice(header["dtype"], "dtype", ("float32", "float64"))
    check_choice(header["nan_policy"], "nan_policy", NAN_POLICIES)
    rows, dropped = (_count(number) for number in header["missing"])
    counts = [_count(number) for number in header["missing_counts"]]
    _demand(len(counts) == width and 0 <= dropped < rows, "missing")
    plain = BatchReader(
        width, columns, header["dtype"], header["nan_policy"], MissingReport(rows, dropped, ())
    )
    report = MissingReport(rows, dropped, tuple(zip(plain.names, counts, strict=True)))
    return BatchReader(width, columns, header["dtype"], header["nan_policy"], report)


def _table_gauge(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], at: int, path: Path
) -> TableGauge:
    sizes, tables = [_count(size, 1) for size in header["table_sizes"]], arrays["tables"][at]
    _demand(len(tables) == len(sizes) > 0 and sizes == sorted(set(sizes)), "tables")
    made = {**header, "signature": header["signatures"][at], "nan_policy": "raise"}
    own = {**arrays, "scale": arrays["scale"][at]} if header["scaled"] else dict(arrays)
    parts = [read_plain(made, {**own, "values": table}, path) for table in tables]
    return TableGauge(parts[0].metric, [part.reference for part in parts], sizes)


def _envelope_gauge(
    arrays: Mapping[str, np.ndarray], at: int, width: int, tolerance: float
) -> EnvelopeGauge:
    directions = arrays["directions"]
    scale = arrays["scale"][at] if "scale" in arrays else None
    places, quantiles = arrays["places"][at], arrays["quantiles"][at]
    count = len(directions)
    _demand(directions.shape == (count, width) and np.isfinite(directions).all(), "directions")
    _demand(places.shape == (3 * count + 1,) and np.isfinite(places).all(), "places")
    _demand((places[count:] > 0).all(), "places")
    shape = (3, quantiles.shape[1], count + 1)
    _demand(quantiles.shape == shape and np.isfinite(quantiles).all(), "quantiles")
    if scale is not None:
        _demand(scale.shape == (width,) and (scale > 0).all() and np.isfinite(scale).all(), "scale")
    return EnvelopeGauge.restored(directions, tolerance, scale, places, quantiles)


def _calibration(
    header: Mapping[str, Any], scores: np.ndarray, groups: list[str | None]
) -> Calibration:
    strata, at = [], 0
    _demand(scores.ndim == 1, "calibration")
    for entry in header["strata"]:
        group, size, smallest, count = (_count(number) for number in entry)
        own = scores[at : at + count]
        _demand(count > 0 and len(own) == count and 0 < smallest <= size, "strata")
        _demand(np.isfinite(own).all() and (np.diff(own) >= 0).all(), "calibration")
        strata.append(Stratum(groups[group], size, smallest, own))
        at += count
    _demand(at == len(scores) and {s.group for s in strata} == set(groups), "strata")
    check_choice(header["way"], "way", WAYS)
    return Calibration(strata, header["way"])


def _stream(
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    promise: Promise,
    calibration: Calibration,
    width: int,
) -> Stream:
    past, shares, missing = arrays["past"], arrays["shares"], arrays["missing"]
    n, n_whole = len(past), Past._fields.index("score")
    _demand(past.shape == (n, len(Past._fields)) and np.isfinite(past).all(), "past")
    _demand(shares.shape == (n, width) and np.isfinite(shares).all(), "shares")
    _demand(missing.shape == (n, width) and missing.dtype == np.int64, "missing")
    _demand((missing >= 0).all(), "missing")
    whole = past[:, :n_whole].astype(np.int64)
    _demand((whole == past[:, :n_whole]).all() and (whole >= 0).all(), "past")
    _demand((whole[:, 2] < len(calibration.strata)).all(), "past")
    records = [
        Past._make([*counts[:3], bool(counts[3]), counts[4], *numbers])
        for counts, numbers in zip(whole.tolist(), past[:, n_whole:].tolist(), strict=True)
    ]
    seed, since = _count(header["seed"]), _count(header["alarm_since"])
    evidence = promise.evidence(calibration)
    count = _count(header["count"])
    _demand(count <= n and since <= n, "count")
    if isinstance(evidence, ExceedanceEvidence):
        ranks = arrays["ranks"]
        _demand(ranks.shape == (count, 2) and ranks.dtype == np.int64, "ranks")
        _demand((ranks >= 0).all(), "ranks")
        _demand((ranks[:, 0] < len(calibration.strata)).all(), "ranks")
        evidence.ranks = [(int(stratum), int(rank)) for stratum, rank in ranks]
    else:
        logs = arrays["logs"]
        _demand(logs.shape == (promise.patience, N_BETS) and not np.isnan(logs).any(), "logs")
        _demand((logs < np.inf).all(), "logs")
        evidence.logs, evidence.count = logs, count
    return Stream(seed, evidence, records, list(shares), list(missing), since)


def _count(value: Any, least: int = 0) -> int:
    if type(value) is not int or value < least:
        raise ValueError(f"{value!r:.80} is no count")
    return value


def _demand(holds: Any, part: str) -> None:
    if not holds:
        raise ValueError(f"its {part} make no sense")


def read_monitor_file(
    path: Path,
) -> tuple[str, dict[str, Any], dict[str, np.ndarray]]:
    """Kind, header and arrays of a monitor of either kind."""
    header, arrays = read_archive(path, PLAIN, WATCHING)
    return header["kind"], header, arrays
