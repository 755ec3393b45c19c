"""From options and a reference to a calibrated monitor: everything is checked before any work."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isodepth.core.directions import unit_vectors
from isodepth.core.scaling import check_scale, pooled_spread
from isodepth.data.archive import SUFFIX
from isodepth.data.missing import NAN_POLICIES
from isodepth.data.output import check_target
from isodepth.data.validation import check_choice, check_direction_rows, check_integer, check_number
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.inference.alarms import RankEvidence
from isodepth.inference.batches import BatchReader, complete
from isodepth.inference.calibration import (
    Calibration,
    Split,
    Stratum,
    calibrate,
    check_sizes,
    split_blocks,
    split_rows,
)
from isodepth.inference.envelope_gauge import LEVELS, EnvelopeGauge, foreign_rows
from isodepth.inference.exceedances import ExceedanceEvidence
from isodepth.inference.stream import Stream
from isodepth.inference.table_gauge import TableGauge, samples_of
from isodepth.many.pairwise import table_metric
from isodepth.metric.settings import MEMORY_MB

ALPHA = 0.01
DIRECTIONS = 200
_ENVELOPE_OPTIONS = (
    "n_directions", "directions", "levels", "scale", "nan_policy", "dtype", "random_state",
)  # fmt: skip

Gauge = TableGauge | EnvelopeGauge


@dataclass(frozen=True)
class Promise:
    """When a monitor rings, and what that promises.

    Attributes
    ----------
    alpha : float or None
        Chance that an undrifted stream ever rings.
    arl : float or None
        Mean number of batches between false alarms, where there is no `alpha`.
    tolerance : float
    patience : int
    """

    alpha: float | None
    arl: float | None
    tolerance: float
    patience: int

    @classmethod
    def checked(cls, alpha: Any, arl: Any, tolerance: Any, patience: Any) -> Promise:
        """What the options of a monitor ask for."""
        if arl is not None:
            if alpha is not None:
                raise InvalidOptionError(
                    "alpha bounds the chance of ever ringing falsely and arl the mean time between "
                    f"false alarms, got alpha={alpha!r} and arl={arl!r}; give one of them"
                )
            arl = check_number(arl, "arl", 1, low_open=True, high_open=True)
        else:
            alpha = ALPHA if alpha is None else alpha
            alpha = check_number(alpha, "alpha", 0, 1, low_open=True, high_open=True)
        tolerance = check_number(tolerance, "tolerance", 0, 0.5, high_open=True)
        return cls(alpha, arl, tolerance, check_integer(patience, "patience", 1))

    @property
    def threshold(self) -> float:
        """The evidence at which it rings."""
        return self.arl if self.arl is not None else 1.0 / (self.alpha or ALPHA)

    def evidence(self, calibration: Calibration) -> RankEvidence | ExceedanceEvidence:
        """The evidence of a stream that has not begun."""
        how = (self.threshold, self.arl is not None, self.patience)
        if self.tolerance > 0:
            return ExceedanceEvidence(calibration.sizes, *how)
        return RankEvidence(*how)


class Fitted(NamedTuple):
    """What a monitor is made of."""

    reader: BatchReader
    gauges: dict[str | None, Gauge]
    calibration: Calibration
    stream: Stream


def check_paths(path: Any, log: Any) -> tuple[Path | None, Path | None]:
    """Check where a monitor and its log are to be kept."""
    if path is None:
        if log is not None:
            raise InvalidOptionError(
                f"a log is kept in step with the saved monitor, got log={os.fspath(log)!r} and no "
                "path; give path='monitor.npz' as well"
            )
        return None, None
    target = check_target(path)
    if target.suffix.lower() != SUFFIX:
        raise InvalidOptionError(f"monitor files are named *{SUFFIX}, got {os.fspath(path)!r}")
    return target, None if log is None else check_target(log)


def fit_watching(
    reference: Any,
    batch_size: Any,
    blocks: Any,
    groups: Any,
    promise: Promise,
    options: Mapping[str, Any],
) -> Fitted:
    """Share out the reference, and calibrate."""
    sizes = _checked_sizes(batch_size, blocks)
    options = _checked_options(options, promise.tolerance)
    nan_policy = check_choice(options.pop("nan_policy", "raise"), "nan_policy", NAN_POLICIES)
    seed = _seed(options.get("random_state"))
    memory_mb = options.get("memory_mb", MEMORY_MB)
    # A label for each row needs all of them, in their order.
    drawn = None if blocks is not None or groups is not None else seed
    reader, points = BatchReader.of_reference(
        reference, options.get("dtype"), nan_policy, memory_mb, drawn
    )
    rng = np.random.default_rng([seed, 0])
    block_of = None if blocks is None else _labels(blocks, len(points), "blocks")
    members = _members(groups, len(points))
    clean = tuple(size - foreign_rows(size, promise.tolerance) for size in sizes)
    splits: dict[str | None, Split] = {}
    for group, rows in members.items():
        own = split_rows(len(rows), clean, rng) if sizes else split_blocks(block_of[rows], rng)  # type: ignore[index]
        batches = [[rows[batch] for batch in of_size] for of_size in own.batches]
        splits[group] = Split(rows[own.table], batches, own.way)
    make = _gauge_maker(reader, promise.tolerance, options, seed, sizes, rng)
    gauges: dict[str | None, Gauge] = {}
    strata: list[Stratum] = []
    for group, split in splits.items():
        own_blocks = None if block_of is None else block_of[split.table]
        gauge = gauges[group] = make(points[split.table], own_blocks)

        def score(rows: np.ndarray, gauge: Gauge = gauge) -> float:
            if not sizes:
                left = len(rows) - foreign_rows(len(rows), promise.tolerance)
                rows = rows if left == len(rows) else rng.permutation(rows)[:left]
            return gauge.plain(complete(points[rows]), len(rows))

        strata += calibrate(split, sizes, group, score)
    ways = {split.way for split in splits.values()}
    calibration = Calibration(strata, "resampled" if "resampled" in ways else ways.pop())
    return Fitted(reader, gauges, calibration, Stream(seed, promise.evidence(calibration)))


def _gauge_maker(
    reader: BatchReader,
    tolerance: float,
    options: dict[str, Any],
    seed: int,
    sizes: tuple[int, ...],
    rng: np.random.Generator,
) -> Callable[[np.ndarray, np.ndarray | None], Gauge]:
    """What turns rows of a reference into a gauge; all have the same directions.

    Every group has units of its own: what is a large change depends on how much it varies.
    """
    units = options.pop("scale", "reference")
    _check_scale(units, reader.n_features)
    if tolerance > 0:
        directions = envelope_directions(
            reader.n_features, options.get("n_directions"), options.get("directions"), seed
        )
        levels = check_integer(options.get("levels", LEVELS), "levels", 1)

        def envelope(points: np.ndarray, _: np.ndarray | None) -> Gauge:
            whole = complete(points)
            return EnvelopeGauge.fit(whole, directions, tolerance, levels, _scale(units, whole))

        return envelope
    # Orthonormal bases see all columns alike, which makes for better shares of the columns.
    usual = {"q": 2, "n_directions": DIRECTIONS, "directions": "orthogonal"}
    plain = table_metric({**usual, **options, "dtype": reader.dtype, "random_state": seed})

    def tables(points: np.ndarray, blocks: np.ndarray | None) -> Gauge:
        metric = replace(plain, scale=_scale(units, complete(points)))
        if blocks is None:
            drawn = [samples_of(len(points), n, rng) for n in sizes]
            samples = [[complete(points[rows]) for rows in of_size] for of_size in drawn]
            return TableGauge.fit_samples(samples, sizes, reader.columns, metric)
        samples = [[complete(points[blocks == label]) for label in np.unique(blocks)]]
        return TableGauge.fit_samples(samples, [len(points)], reader.columns, metric)

    return tables


def envelope_directions(width: int, count: Any, family: Any, seed: int) -> np.ndarray:
    """The axes and `count` further directions, or the caller's own."""
    if family is not None and not isinstance(family, str):
        return check_direction_rows(family, width)
    axes = np.eye(width)
    if width == 1:
        return axes
    count = check_integer(DIRECTIONS // 2 if count is None else count, "n_directions", 1)
    rng = np.random.default_rng(seed)
    return np.vstack([axes, unit_vectors(width, count, family or "uniform", rng)])


def _checked_sizes(batch_size: Any, blocks: Any) -> tuple[int, ...]:
    if blocks is None:
        return check_sizes(batch_size)
    if batch_size is not None:
        raise InvalidOptionError(
            f"each block is a batch, so that batch_size={batch_size!r} and blocks do not go "
            "together; leave one of them out"
        )
    return ()


def _checked_options(options: Mapping[str, Any], tolerance: float) -> dict[str, Any]:
    if tolerance > 0:
        odd = [name for name in options if name not in _ENVELOPE_OPTIONS]
        if odd:
            raise InvalidOptionError(
                f"with a tolerance batches are compared by their quantiles along functions of a "
                f"row, and {', '.join(odd)} do(es) not apply; leave out, or use tolerance=0"
            )
    return dict(options)


def _check_scale(scale: Any, width: int) -> None:
    if isinstance(scale, str):
        if scale != "reference":
            raise InvalidOptionError(
                "a monitor has one reference: scale must be 'reference', None or one number for "
                f"each column, got {scale!r}"
            )
    elif scale is not None:
        check_scale(scale, width)


def _scale(scale: Any, points: np.ndarray) -> np.ndarray | None:
    """The units of the columns (d,), from the rows (n, d) of the table where they are asked for."""
    if scale is None:
        return None
    return pooled_spread(points) if isinstance(scale, str) else check_scale(scale)


def _seed(random_state: Any) -> int:
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(2**31))
    return check_integer(random_state, "random_state", 0)


def _labels(labels: Any, n: int, name: str) -> np.ndarray:
    """The labels of n rows, as texts."""
    array = np.asarray(labels)
    if array.shape != (n,):
        raise InvalidInputError(
            f"{name} must hold one label for each of the {n} rows of the reference, got shape "
            f"{array.shape}"
        )
    missing = array != array
    if array.dtype == object:
        missing = missing | np.array([label is None for label in array])
    if np.any(missing):
        raise InvalidInputError(
            f"{name} must not be missing, got no label for {int(np.sum(missing))} row(s)"
        )
    return array.astype(str)


def _members(groups: Any, n: int) -> dict[str | None, np.ndarray]:
    """The rows of each group."""
    if groups is None:
        return {None: np.arange(n)}
    labels = _labels(groups, n, "groups")
    return {str(group): np.flatnonzero(labels == group) for group in np.unique(labels)}
