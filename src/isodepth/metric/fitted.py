"""FittedMetric: directions and levels sampled once, for regions of many samples and any pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isodepth.core.directions import seeded_vectors, unit_vectors
from isodepth.core.envelopes import envelope_plan, tail_units
from isodepth.core.levels import LevelPlan, exact_plan, level_plan, midpoint_levels, power_mean
from isodepth.core.regions import TrimmedRegions
from isodepth.core.sample import Sample
from isodepth.data.missing import MissingPair
from isodepth.data.validation import check_same_columns, check_same_width
from isodepth.depth.resolve import DepthSource, depth_key, depth_text
from isodepth.engine.gap_passes import write_quantiles, write_supports
from isodepth.engine.resources import Resources, thread_map, worker_count
from isodepth.errors import InvalidInputError
from isodepth.gap.gaps import Gaps, find_gaps
from isodepth.metric.comparison import Comparison
from isodepth.metric.inputs import prepare, prepare_sides, refuse_envelopes
from isodepth.metric.settings import draws_at_random
from isodepth.metric.signature import Signature, directions_text, scale_text, seed_text


@dataclass(frozen=True, eq=False)
class Origin:
    """Where regions come from.

    The power p, the share eps, the levels and the way of finding gaps do not matter to regions;
    the depth and the directions along which it is computed do.

    Attributes
    ----------
    source : DepthSource
    directions : ndarray of shape (K, d)
    family, count : str or ndarray, and int
        `directions` and `n_directions` of the metric.
    seed : str
        Its random state, as in a signature.
    scale : ndarray of shape (d,) or None
        What the columns were divided by.
    """

    source: DepthSource
    directions: np.ndarray
    family: Any
    count: int
    seed: str
    scale: np.ndarray | None = None

    @property
    def depth(self) -> str:
        """The depth with its settings, as in a signature."""
        return depth_text(self.source)

    @property
    def dirs(self) -> str:
        """Family and number of the directions, as in a signature."""
        return directions_text(self.family, self.count)

    def differences(self, other: Origin) -> list[str]:
        """What differs, each with the values of both; empty where regions can be compared."""
        if self is other:
            return []
        found = []
        if self.source is not other.source and depth_key(self.source) != depth_key(other.source):
            found.append(f"depth ({self.depth} and {other.depth})")
        if self.directions is not other.directions and not np.array_equal(
            self.directions, other.directions
        ):
            found.append(f"directions ({self._recipe} and {other._recipe})")
        if self.scale is not other.scale:
            texts = [scale_text(scale) or "none" for scale in (self.scale, other.scale)]
            if texts[0] != texts[1]:
                found.append(f"scale ({' and '.join(texts)})")
        return found

    @property
    def _recipe(self) -> str:
        return f"{self.dirs} with seed {self.seed}"


@dataclass(frozen=True, eq=False, repr=False)
class FittedMetric:
    """A metric with its directions and levels sampled: fit each sample once, compare any two.

    Made by :meth:`isodepth.Metric.fit`. Everything it compares is looked at along the same
    directions, also where the metric has no fixed seed, and nothing is sampled again: what many
    pairs, or the permutations of a test, have in common is done once.

    Attributes
    ----------
    options : mapping
        The fields of the metric.
    origin : Origin
        The depth, and the directions of shape (K, d).
    directions : ndarray of shape (K, d)
        The directions, in the precision in which they are used.
    betas : ndarray of shape (L,), or None
        The levels; None for exact ones.

    Examples
    --------
    >>> import isodepth
    >>> fitted = isodepth.Metric(depth="halfspace").fit(n_features=1)
    >>> a, b, c = fitted.all_regions([[[0.0], [1.0]], [[3.0], [4.0]], [[0.0], [5.0]]])
    >>> fitted.distance(a, b), fitted.distance(a, c)
    (3.0, 4.0)
    """

    options: Mapping[str, Any]
    origin: Origin
    directions: np.ndarray
    betas: np.ndarray | None

    @property
    def source(self) -> DepthSource:
        """The depth."""
        return self.origin.source

    @property
    def resources(self) -> Resources:
        """Threads and memory that may be used."""
        return Resources(self.options["n_jobs"], self.options["memory_mb"])

    # -- one sample -------------------------------------------------------------------------

    def regions(self, X: Any, weights: Any = None) -> TrimmedRegions:
        """The nested regions of one sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        weights : array-like of shape (n,) or None
        """
        return self.all_regions([X], [weights], names=["X"])[0]

    def all_regions(
        self,
        samples: Iterable[Any],
        weights: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
    ) -> list[TrimmedRegions]:
        """The nested regions of many samples, fitted in parallel.

        Parameters
        ----------
        samples : iterable of N array-likes or data frames of shape (n_i, d)
        weights : sequence of N arrays of shape (n_i,) or None, or None
        names : how to call the samples in messages; ``samples[i]`` if None

        Returns
        -------
        regions : list of N TrimmedRegions
        """
        refuse_envelopes(self.options["region"])
        given = list(samples)
        each = [None] * len(given) if weights is None else list(weights)
        if len(each) != len(given):
            raise InvalidInputError(
                f"weights must have one entry for each of {len(given)} samples, got {len(each)}"
            )
        called = names or [f"samples[{i}]" for i in range(len(given))]
        checked = [
            self._checked(X, w, name) for X, w, name in zip(given, each, called, strict=True)
        ]
        clouds = [Sample.of(points, w, resources=self.resources) for points, _, w in checked]
        self.source.warn_if_uninformative(*clouds)
        work = sum(len(points) for points, _, _ in checked) * len(self.directions)
        workers = worker_count(self.options["n_jobs"], len(given) // 2, work)
        # One sample a task; where there are too few of them, directions are shared out instead.
        inner = self if workers == 1 else replace(self, options={**self.options, "n_jobs": 1})

        def fit(i: int) -> TrimmedRegions:
            points, columns, w = checked[i]
            return inner.fit_regions(points, w, columns, clouds[i])

        return thread_map(fit, range(len(given)), workers)

    def fit_regions(
        self,
        points: np.ndarray,
        weights: np.ndarray | None,
        columns: tuple[str, ...] | None,
        sample: Sample,
    ) -> TrimmedRegions:
        """The regions of points (n, d) that have been checked and merged to `sample`."""
        depths = self.source.all_depths(sample, points, weights, self.directions, self.resources)
        return self.order_regions(points, weights, columns, sample, depths, self.resources)

    def order_regions(
        self,
        points: np.ndarray,
        weights: np.ndarray | None,
        columns: tuple[str, ...] | None,
        sample: Sample,
        depths: tuple[np.ndarray, np.ndarray],
        resources: Resources,
    ) -> TrimmedRegions:
        """The regions of points (n, d) by depths (u,) of `sample` and (n,) of the points."""
        distinct, depth = depths
        tolerance = self.source.tie_tolerance if points.dtype == np.float64 else 0.0
        return TrimmedRegions.from_depths(
            sample,
            distinct,
            points=points,
            depth=depth,
            weights=weights,
            columns=columns,
            tie_tolerance=tolerance,
            origin=self.origin,
            resources=resources,
        )

    # -- two samples ------------------------------------------------------------------------

    def distance(self, x: TrimmedRegions, y: TrimmedRegions) -> float:
        """DR_{p,eps} between the samples of two regions made along these directions."""
        gaps = self.gaps(x, y)
        return self.mean(gaps.values, gaps.plan)

    def compare(self, x: TrimmedRegions, y: TrimmedRegions) -> Comparison:
        """Like `distance`, with the levels and directions where the samples differ."""
        gaps = self.gaps(x, y)
        return Comparison(
            distance=self.mean(gaps.values, gaps.plan),
            regions=(x, y),
            signature=str(self.signature(str(x.ordered.dtype))),
            columns=check_same_columns(x.columns, y.columns),
            _gaps=gaps,
            _power=(self.options["p"], self._length),
            _q=self.options["q"],
            _envelope=self.options["region"] == "envelope",
            _resources=self.resources,
            _fitted=self,
        )

    def plan(self, x: TrimmedRegions, y: TrimmedRegions) -> LevelPlan:
        """The levels at which two regions are compared."""
        self.check(x, "x")
        self.check(y, "y")
        check_same_width(x.n_features, y.n_features)
        check_same_columns(x.columns, y.columns)
        if x.points.dtype != y.points.dtype:
            raise InvalidInputError(
                f"the regions of X were made in {x.points.dtype} and those of Y in "
                f"{y.points.dtype}; make both in one precision"
            )
        if self.options["region"] == "envelope":
            return envelope_plan(x.sample, y.sample, self.options["eps"], self.betas)
        if self.betas is None:
            return exact_plan(x, y, self.options["eps"])
        return level_plan(x, y, self.betas)

    def gaps(self, x: TrimmedRegions, y: TrimmedRegions) -> Gaps:
        """How far apart two regions are at each level of their plan."""
        plan = self.plan(x, y)
        resources = self.resources
        if self.options["region"] != "envelope":
            for regions in (x, y):
                regions.put_in_order(resources)
        return find_gaps(
            x,
            y,
            plan,
            self.directions,
            way=self.options["gap"],
            region=self.options["region"],
            q=self.options["q"],
            refine=self.options["refine"],
            resources=resources,
        )

    def mean(self, gaps: np.ndarray, plan: LevelPlan) -> float:
        """The distance that gaps (L,) at the levels of a plan add up to."""
        return power_mean(gaps, plan.shares, self.options["p"], self._length)

    # -- tables -----------------------------------------------------------------------------

    @property
    def table_shape(self) -> tuple[int, int]:
        """Shape (L, 2K) of a table."""
        assert self.betas is not None
        return len(self.betas), 2 * len(self.directions)

    def table_signature(self, dtype: str) -> Signature:
        """The signature of tables of samples of that precision."""
        return replace(Signature.of(self.options, dtype), refine=0)

    def write_table(self, regions: TrimmedRegions, out: np.ndarray) -> None:
        """Write the support values of regions to `out` (L, 2K)."""
        assert self.betas is not None
        if self.options["region"] == "envelope":
            sample = regions.sample
            tails = tail_units(self.betas, sample.total)
            weighted = (sample.points, sample.masses)
            write_quantiles(weighted, tails, self.directions, out, self.resources)
            return
        sizes = regions.prefix_sizes(self.betas)
        write_supports(regions.ordered, sizes, self.directions, out, self.resources)

    # -- what follows from the settings -----------------------------------------------------

    def signature(self, dtype: str | None = None) -> Signature:
        """How numbers are made in that precision, said only where it is not the usual one."""
        return Signature.of(self.options, dtype if dtype == "float32" else self.options["dtype"])

    def check(self, regions: Any, name: str) -> None:
        """Check that regions are of this metric's depth and directions, and say what differs."""
        if not isinstance(regions, TrimmedRegions) or not isinstance(regions.origin, Origin):
            raise InvalidInputError(
                f"{name} must be TrimmedRegions as Metric.regions makes them, got "
                f"{type(regions).__name__}"
            )
        found = regions.origin.differences(self.origin)
        if found:
            raise InvalidInputError(
                f"the regions of {name} do not fit this metric: they differ in "
                f"{', '.join(found)}; make them with this metric (without an integer random_state "
                "directions are sampled anew each time: give one, or use Metric.fit)"
            )

    @property
    def _length(self) -> float:
        return 1.0 if self.options["normalize"] else 1.0 - self.options["eps"]

    def _checked(
        self, X: Any, weights: Any, name: str
    ) -> tuple[np.ndarray, tuple[str, ...] | None, np.ndarray | None]:
        points, columns, checked, _ = prepare(
            X,
            weights,
            name,
            dtype=self.options["dtype"],
            nan_policy=self.options["nan_policy"],
            scale=self.origin.scale,
        )
        check_same_width(points.shape[1], self.directions.shape[1], name, "the directions")
        if points.dtype != self.directions.dtype == np.float32:
            raise InvalidInputError(
                f"{name} is {points.dtype}, and the directions were sampled for data in "
                f"{self.directions.dtype}; leave out dtype in Metric.fit"
            )
        return points, columns, checked

    def __repr__(self) -> str:
        count, width = self.directions.shape
        return f"FittedMetric({count} directions in {width} dimension(s), {self.signature()})"


# From so many threads on, each with so many elementary operations, two samples are prepared side
# by side.
_FEW_THREADS = 4
_WORTH_A_THREAD = 250_000

Pair = tuple[FittedMetric, TrimmedRegions, TrimmedRegions, MissingPair | None]


def fit_metric(
    settings: Mapping[str, Any],
    source: DepthSource,
    width: int,
    *,
    given: np.ndarray | None = None,
    dtype: str | None = None,
    scale: np.ndarray | None = None,
) -> FittedMetric:
    """Draw the directions, unless they are given, and the levels for data of `width` columns.

    Parameters
    ----------
    settings : the fields of a metric
    given : ndarray of shape (K, width) or None
    dtype : the precision of the samples to come, where it is known
    scale : ndarray of shape (width,) or None
        What columns are divided by, where that is no word.
    """
    if settings["region"] == "exact" and width > 2:
        raise InvalidInputError(
            f"region='exact' is for data of one or two columns, got {width}; use region='sample'"
        )
    directions, betas = _draw(settings, width, given)
    used = directions if dtype is None else directions.astype(dtype, copy=False)
    seed = seed_text(settings["random_state"])
    family, count = settings["directions"], settings["n_directions"]
    origin = Origin(source, directions, family, count, seed, scale)
    return FittedMetric(settings, origin, used, betas)


def fit_both(
    settings: Mapping[str, Any], source: DepthSource, X: Any, Y: Any, weights: Any
) -> Pair:
    """The regions of both sides of a comparison, and the metric they were made with."""
    (x, y, columns, wx, wy), scale, missing = prepare_sides(
        X,
        Y,
        weights,
        dtype=settings["dtype"],
        nan_policy=settings["nan_policy"],
        scale=settings["scale"],
    )
    fitted = _fitting(settings, source, x.shape[1], X, Y, scale)
    # Depths take all threads. What comes before and after is short and uses few: for large samples
    # it is done side by side.
    resources = fitted.resources
    n_threads = resources.n_threads
    worth = min(len(x), len(y)) * len(fitted.directions) // _WORTH_A_THREAD
    at_once = 2 if min(worth, n_threads) >= _FEW_THREADS else 1
    shared = Resources(n_threads // at_once)

    def merge(side: tuple[Any, np.ndarray, Any]) -> Sample:
        given, points, own = side
        known = isinstance(given, TrimmedRegions)
        return given.sample if known else Sample.of(points, own, resources=shared)

    def order(i: int) -> TrimmedRegions:
        given, points, own = sides[i]
        if isinstance(given, TrimmedRegions):
            return given
        regions = fitted.order_regions(points, own, columns, samples[i], depths[i], shared)
        if settings["region"] != "envelope":
            regions.put_in_order(shared)
        return regions

    sides = (X, x, wx), (Y, y, wy)
    samples = thread_map(merge, sides, at_once)
    source.warn_if_uninformative(*samples)
    depths = {
        i: source.all_depths(samples[i], points, own, fitted.directions, resources)
        for i, (given, points, own) in enumerate(sides)
        if not isinstance(given, TrimmedRegions)
    }
    X, Y = thread_map(order, range(2), at_once)
    return fitted, X, Y, missing


def _draw(
    settings: Mapping[str, Any], width: int, given: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Directions (K, width), and the levels, None for exact ones."""
    levels, seed = settings["levels"], settings["random_state"]
    family, count = settings["directions"], settings["n_directions"]
    grid = None if isinstance(levels, str) else midpoint_levels(levels, settings["eps"])
    if isinstance(seed, int) and levels != "monte-carlo":
        return seeded_vectors(width, count, family, seed), grid
    rng = np.random.default_rng(seed)
    if given is None:
        given = unit_vectors(width, count, family, rng)
    if levels == "monte-carlo":
        return given, rng.uniform(0.0, 1.0 - settings["eps"], settings["n_levels"])
    return given, grid


def _fitting(
    settings: Mapping[str, Any],
    source: DepthSource,
    width: int,
    X: Any,
    Y: Any,
    scale: np.ndarray | None,
) -> FittedMetric:
    """The metric with the directions of the regions among the two sides, or an error."""
    named = [(n, s) for n, s in (("X", X), ("Y", Y)) if isinstance(s, TrimmedRegions)]
    family, count = settings["directions"], settings["n_directions"]
    fixed = isinstance(settings["random_state"], int) or not draws_at_random(family)
    directions = None
    if named and not fixed:
        # Nothing says which directions this metric should have fitted: those of the regions are as
        # good as any, if it could have fitted them.
        origin = named[0][1].origin
        if origin.dirs == f"{family}:{count}":
            directions = origin.directions
    fitted = fit_metric(settings, source, width, given=directions, scale=scale)
    for name, regions in named:
        fitted.check(regions, name)
    return fitted
