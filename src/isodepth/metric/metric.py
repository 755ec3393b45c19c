"""Metric: one frozen value that holds all settings, and the pipeline they describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isodepth.core.directions import seeded_vectors, unit_vectors
from isodepth.core.levels import exact_plan, level_plan, power_mean
from isodepth.core.regions import TrimmedRegions
from isodepth.core.sample import Sample
from isodepth.data.validation import (
    check_choice,
    check_pair,
    check_points,
    check_weights,
    split_weights,
)
from isodepth.engine.threads import single_threaded_blas
from isodepth.errors import InvalidInputError
from isodepth.gap.supremum import Gaps, find_gaps
from isodepth.metric.comparison import Comparison
from isodepth.metric.settings import Settings
from isodepth.metric.signature import write_signature
from isodepth.metric.table import STORAGES, RegionTable
from isodepth.metric.table_maker import TableMaker, check_table_settings


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Metric(Settings):
    """The pseudo-metric DR_{p,eps}: all its settings, checked once.

    Parameters
    ----------
    depth : {"projection", "halfspace", "irw", "ai_irw"}, estimator or callable
        How points are ordered from the centre outwards. A depth estimator contributes its own
        settings (such as a covariance); directions come from the metric, the same for both samples.
        Any estimator with `fit` and `score_samples` and any function of the points (and the
        weights, when given) is taken as well.
    p : float in (0, inf]
        Power of the mean over levels; inf takes the largest gap. Below 1 the triangle inequality
        only holds for the p-th power.
    eps : float in (0, 1]
        Share of the least deep mass that is ignored.
    n_directions : int
    directions : {"uniform", "sobol", "orthogonal", "equispaced"} or array of shape (K, d)
        See :func:`isodepth.directions.unit_vectors`. Each vector is used with both signs.
    levels : "exact", int or "monte-carlo"
        Integrate over beta exactly, over a midpoint grid of that many levels, or over `n_levels`
        random levels (the paper).
    n_levels : int or None
        Only with ``levels="monte-carlo"``.
    normalize : bool
        Average over [0, 1 - eps] (so that DR = |m1 - m2| for Gaussians of one covariance); False
        gives the plain integral of the paper's definition.
    refine : int
        Steps of ascent from the best directions found, for a supremum that random directions miss
        in more than a few dimensions; 0 switches it off. It never lowers a gap.
    gap : {"search", "exact"}
        `search` takes the largest gap over the directions, refined; `exact` the Hausdorff distance
        of the convex hulls, for few points or few dimensions.
    region : {"sample", "exact"}
        Regions as convex hulls of the sample points inside (the paper), or, for the halfspace depth
        in the plane, all points of the plane that are deep enough, with exact depths.
    dtype : {"float32", "float64"} or None
        Precision of the heavy steps; None keeps float32 data in float32 and takes float64
        otherwise.
    random_state : None, int or numpy.random.Generator
    n_jobs : int or None
        Threads; None for all cores. The result does not depend on it.
    memory_mb : float
        How much scratch memory all threads together may take for blocks of directions; fewer of
        them are used where it is short. One thread with one direction is the least. The result
        does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth import Metric
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> metric = Metric(depth="halfspace", eps=0.2, random_state=0)
    >>> round(metric.distance(X, X + [3, 0, 0]), 3)
    3.0
    >>> metric.signature
    'DR|depth=halfspace|p=2|eps=0.2|levels=exact|dirs=uniform:1000|refine=20|seed=0|v=0.1.0'
    """

    @classmethod
    def paper(cls, n_alpha: int, K: int, **options: Any) -> Metric:
        """Algorithm 1 of the paper: K independent uniform directions, `n_alpha` random levels.

        Examples
        --------
        >>> from isodepth import Metric
        >>> Metric.paper(20, 100, depth="halfspace", eps=0.3, random_state=1).signature
        'DR|depth=halfspace|p=2|eps=0.3|levels=monte-carlo:20|dirs=uniform:100|refine=0|seed=1|v=0.1.0'
        """
        return cls(
            levels="monte-carlo",
            n_levels=n_alpha,
            n_directions=K,
            directions="uniform",
            refine=0,
            **options,
        )

    def distance(self, X: Any, Y: Any, weights: Any = None) -> float:
        """DR_{p,eps} between two samples.

        Parameters
        ----------
        X, Y : array-likes or data frames of shape (n, d) and (m, d), or TrimmedRegions
        weights : pair (wx, wy) or None
            Weights of the rows of each, of shape (n,) and (m,); either may be None.

        Returns
        -------
        distance : float
        """
        with single_threaded_blas():
            _, _, gaps = self._between(X, Y, weights)
            return power_mean(gaps.values, gaps.plan.shares, self.p, self._length)

    def compare(self, X: Any, Y: Any, weights: Any = None) -> Comparison:
        """Like `distance`, with the levels and directions where the samples differ."""
        with single_threaded_blas():
            regions, columns, gaps = self._between(X, Y, weights)
        precision = "float32" if regions[0].ordered.dtype == np.float32 else self.dtype
        return Comparison(
            distance=power_mean(gaps.values, gaps.plan.shares, self.p, self._length),
            regions=regions,
            signature=write_signature(self._options(), precision),
            columns=columns,
            _gaps=gaps,
            _power=(self.p, self._length),
        )

    def regions(self, X: Any, weights: Any = None) -> TrimmedRegions:
        """The nested regions of one sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        weights : array-like of shape (n,) or None
        """
        points, columns = check_points(X, "X", self.dtype)
        checked = check_weights(weights, len(points))
        directions, _ = self._draw(points.shape[1])
        sample = Sample.of(points, checked)
        self._source.warn_if_uninformative(sample)
        return self._regions(points, checked, columns, sample, directions)

    def table(self, X: Any, weights: Any = None, *, storage: str = "float64") -> RegionTable:
        """The regions of one sample on a fixed grid, for comparing it with many others.

        Needs an integer number of `levels` and an integer `random_state` (or an array of
        directions). Tables cannot be refined: `refine` does not apply, and the signature of the
        table says ``refine=0``.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        weights : array-like of shape (n,) or None
        storage : {"float64", "float32"}
            Precision of the stored support values.

        Returns
        -------
        table : RegionTable, with values of shape (levels, 2 * n_directions)
        """
        points, columns = check_points(X, "X", self.dtype)
        checked = check_weights(weights, len(points))
        maker = self.table_maker(points.shape[1], str(points.dtype), storage)
        sample = Sample.of(points, checked)
        self._source.warn_if_uninformative(sample)
        values = np.empty(maker.shape, dtype=storage)
        with single_threaded_blas():
            maker.fill(points, checked, sample, values)
        return RegionTable(values, maker.signature, points.shape[1], columns)

    def table_maker(self, width: int, dtype: str, storage: str = "float64") -> TableMaker:
        """What makes tables of samples of that many columns and that precision, one like another.

        :func:`isodepth.tables` and :func:`isodepth.pairwise` are made of this.
        """
        check_choice(storage, "storage", STORAGES)
        check_table_settings(self.levels, self.directions, self.random_state, self.gap)
        directions, betas = self._draw(width)
        return TableMaker(
            regions_of=lambda points, weights, sample: self._regions(
                points, weights, None, sample, directions
            ),
            warn_if_uninformative=self._source.warn_if_uninformative,
            directions=directions,
            betas=betas,
            storage=storage,
            signature=write_signature({**self._options(), "refine": 0}, dtype),
            dtype=dtype,
            resources=self._resources,
        )

    # -- the pipeline -----------------------------------------------------------------------

    def _draw(self, width: int) -> tuple[np.ndarray, Any]:
        """Directions (K, width), and the levels, None for exact ones."""
        if isinstance(self.random_state, int) and self.levels != "monte-carlo":
            seed = self.random_state
            return seeded_vectors(width, self.n_directions, self.directions, seed), self._grid
        rng = np.random.default_rng(self.random_state)
        directions = unit_vectors(width, self.n_directions, self.directions, rng)
        if self.levels == "monte-carlo":
            return directions, rng.uniform(0.0, 1.0 - self.eps, self.n_levels)
        return directions, self._grid

    def _between(
        self, X: Any, Y: Any, weights: Any
    ) -> tuple[tuple[TrimmedRegions, TrimmedRegions], tuple[str, ...] | None, Gaps]:
        wx, wy = split_weights(weights)
        if isinstance(X, TrimmedRegions) or isinstance(Y, TrimmedRegions):
            x, y, columns = self._pair_with_regions(X, Y)
        else:
            x, y, columns = check_pair(X, Y, self.dtype)
        wx = check_weights(wx, len(x), "weights of X")
        wy = check_weights(wy, len(y), "weights of Y")
        if self.region == "exact" and x.shape[1] > 2:
            raise InvalidInputError(
                f"region='exact' is for data of one or two columns, got {x.shape[1]}; use "
                "region='sample'"
            )
        directions, betas = self._draw(x.shape[1])
        sample_x = X.sample if isinstance(X, TrimmedRegions) else Sample.of(x, wx)
        sample_y = Y.sample if isinstance(Y, TrimmedRegions) else Sample.of(y, wy)
        self._source.warn_if_uninformative(sample_x, sample_y)
        if not isinstance(X, TrimmedRegions):
            X = self._regions(x, wx, columns, sample_x, directions)
        if not isinstance(Y, TrimmedRegions):
            Y = self._regions(y, wy, columns, sample_y, directions)
        plan = exact_plan(X, Y, self.eps) if betas is None else level_plan(X, Y, betas)
        gaps = find_gaps(
            X,
            Y,
            plan,
            directions,
            way=self.gap,
            region=self.region,
            refine=self.refine,
            resources=self._resources,
        )
        return (X, Y), columns, gaps

    def _regions(
        self,
        points: np.ndarray,
        weights: np.ndarray | None,
        columns: tuple[str, ...] | None,
        sample: Sample,
        directions: np.ndarray,
    ) -> TrimmedRegions:
        source = self._source
        distinct, depth = source.all_depths(sample, points, weights, directions, self._resources)
        tolerance = source.tie_tolerance if points.dtype == np.float64 else 0.0
        return TrimmedRegions.from_depths(
            points, weights, columns, sample, depth, distinct, tolerance
        )

    def _pair_with_regions(
        self, X: Any, Y: Any
    ) -> tuple[np.ndarray, np.ndarray, tuple[str, ...] | None]:
        tables = [s.points if isinstance(s, TrimmedRegions) else s for s in (X, Y)]
        x, y, _ = check_pair(tables[0], tables[1], self.dtype)
        for name, given, checked in (("X", X, x), ("Y", Y, y)):
            if isinstance(given, TrimmedRegions) and given.points.dtype != checked.dtype:
                raise InvalidInputError(
                    f"the regions of {name} were made in {given.points.dtype} and the other "
                    f"sample is {checked.dtype}; convert one of them"
                )
        names = [getattr(s, "columns", None) for s in (X, Y) if isinstance(s, TrimmedRegions)]
        return x, y, next((n for n in names if n), None)
