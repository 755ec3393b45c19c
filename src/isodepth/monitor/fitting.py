"""From options and a reference to a calibrated monitor: everything is checked before any work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.core.scaling import check_scale, column_units
from isodepth.data.missing import NAN_POLICIES
from isodepth.data.seeds import integer_seed, rng_for
from isodepth.data.validation import check_choice, check_integer
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.many.pairwise import table_metric
from isodepth.metric.base import MEMORY_MB
from isodepth.monitor.batches import BatchReader, complete
from isodepth.monitor.calibration import (
    Calibration,
    Split,
    Stratum,
    calibrate,
    check_sizes,
    split_blocks,
    split_rows,
)
from isodepth.monitor.evidence import AlarmPolicy
from isodepth.monitor.mixed_scorer import MixedScorer, Scorer
from isodepth.monitor.scorer import (
    LEVELS,
    NumberScorer,
    RegionScorer,
    ShareScorer,
    mean_table,
    samples_of,
    share_directions,
)
from isodepth.monitor.verdict import MonitorState
from isodepth.significance.settings import row_labels

DIRECTIONS = 200
_SHARE_OPTIONS = (
    "n_directions", "directions", "levels", "scale", "nan_policy", "dtype", "random_state",
)  # fmt: skip

#: What turns rows of a reference, and their blocks if any, into a scorer.
Maker = Callable[[np.ndarray, np.ndarray | None], NumberScorer]


def fit_monitor(
    reference: Any,
    policy: AlarmPolicy,
    options: Mapping[str, Any],
    *,
    batch_size: Any = None,
    blocks: Any = None,
    groups: Any = None,
    kinds: Any = None,
) -> MonitorState:
    """Share out the reference, and calibrate."""
    if blocks is not None and batch_size is not None:
        raise InvalidOptionError(
            f"each block is a batch, so that batch_size={batch_size!r} and blocks do not go "
            "together; leave one of them out"
        )
    sizes = () if blocks is not None else check_sizes(batch_size)
    odd = [name for name in options if policy.tolerance > 0 and name not in _SHARE_OPTIONS]
    if odd:
        raise InvalidOptionError(
            "with a tolerance batches are compared by shares of rows up to cut points of functions "
            f"of a row, and {', '.join(odd)} do(es) not apply; leave out, or use tolerance=0"
        )
    options = dict(options)
    nan_policy = check_choice(options.pop("nan_policy", "raise"), "nan_policy", NAN_POLICIES)
    seed = _seed(options.get("random_state"))
    # A label for each row needs all of them, in their order.
    drawn = None if blocks is not None or groups is not None else seed
    memory_mb = options.get("memory_mb", MEMORY_MB)
    reader, points = BatchReader.of_reference(
        reference, options.get("dtype"), nan_policy, memory_mb, drawn, kinds
    )
    rng = rng_for(seed, "splits")
    block_of = None if blocks is None else _labels(blocks, len(points), "blocks")
    members: dict[str | None, np.ndarray] = {None: np.arange(len(points))}
    if groups is not None:
        labels = _labels(groups, len(points), "groups")
        members = {str(group): np.flatnonzero(labels == group) for group in np.unique(labels)}
    splits: dict[str | None, Split] = {}
    for group, rows in members.items():
        if block_of is None:
            own = split_rows(len(rows), sizes, rng)
        else:
            own = split_blocks(block_of[rows], rng)
        batches = [[rows[batch] for batch in of_size] for of_size in own.batches]
        splits[group] = own._replace(scorer=rows[own.scorer], batches=batches)
    make = _maker(reader, policy.tolerance, options, seed, sizes, rng)
    scorers: dict[str | None, Scorer] = {}
    strata: list[Stratum] = []
    for group, split in splits.items():
        own_blocks = None if block_of is None else block_of[split.scorer]
        held = points[split.scorer]
        if reader.categories:
            counts = [len(values) for values in reader.categories.values()]
            size = max(sizes, default=split.sizes[0][1])
            scorer: Scorer = MixedScorer.fit(
                make, held, own_blocks, counts, policy.tolerance, size, rng
            )
        else:
            scorer = make(held, own_blocks)
        scorers[group] = scorer

        def score(rows: np.ndarray, scorer: Scorer = scorer) -> float:
            return scorer.null_score(complete(points[rows]), len(rows))

        strata += calibrate(split, group, score)
    samplings = {split.sampling for split in splits.values()}
    sampling = "resampled" if "resampled" in samplings else samplings.pop()
    calibration = Calibration(strata, sampling)
    evidence = policy.evidence(calibration.sizes)
    return MonitorState(policy, reader, scorers, calibration, seed, evidence, [])


def _maker(
    reader: BatchReader,
    tolerance: float,
    options: dict[str, Any],
    seed: int,
    sizes: tuple[int, ...],
    rng: np.random.Generator,
) -> Maker:
    """What makes the scorers of all groups, with the same directions.

    Every group has units of its own: what is a large change depends on how much it varies.
    """
    scale_of = _scale_of(options.pop("scale", "reference"), reader.n_features)
    if tolerance > 0:
        count = check_integer(options.get("n_directions", DIRECTIONS // 2), "n_directions", 1)
        levels = check_integer(options.get("levels", LEVELS), "levels", 1)
        directions = share_directions(reader.n_features, options.get("directions"), count, seed)

        def shares(points: np.ndarray, _: np.ndarray | None) -> NumberScorer:
            whole = complete(points)
            return ShareScorer.fit(whole, directions, tolerance, levels, scale_of(whole))

        return shares
    # Orthonormal bases see all columns alike, which makes for better contributions of the columns.
    defaults = {"q": 2, "n_directions": DIRECTIONS, "directions": "orthogonal"}
    unscaled = table_metric({**defaults, **options, "dtype": reader.dtype, "random_state": seed})

    def regions(points: np.ndarray, blocks: np.ndarray | None) -> NumberScorer:
        metric = replace(unscaled, scale=scale_of(complete(points)))
        if blocks is None:
            drawn = [samples_of(len(points), n, rng) for n in sizes]
        else:
            drawn = [[np.flatnonzero(blocks == label) for label in np.unique(blocks)]]
        tables = [
            mean_table([complete(points[rows]) for rows in of_size], reader.columns, metric)
            for of_size in drawn
        ]
        return RegionScorer(metric, tables, list(sizes) or [len(points)])

    return regions


def _scale_of(scale: Any, width: int) -> Callable[[np.ndarray], np.ndarray | None]:
    """What gives the units of the columns (d,), from rows (n, d) where they are learned."""
    if isinstance(scale, str):
        if scale != "reference":
            raise InvalidOptionError(
                f"a monitor has one reference, got scale={scale!r}; use scale='reference', or give "
                "one number for each column"
            )
        return column_units
    given = None if scale is None else check_scale(scale, width)
    return lambda points: given


def _seed(random_state: Any) -> int:
    if random_state is None or isinstance(random_state, np.random.Generator):
        return integer_seed(random_state)
    return check_integer(random_state, "random_state", 0)


def _labels(labels: Any, n: int, name: str) -> np.ndarray:
    """The labels of n rows, as texts."""
    array = row_labels(labels, name)
    if array.shape != (n,):
        raise InvalidInputError(
            f"{name} must hold one label for each of the {n} rows of the reference, got shape "
            f"{array.shape}"
        )
    return array.astype(str)
