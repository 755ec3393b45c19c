"""Comparison of two samples: their distance, gaps between regions, contributions of columns.

The region of level beta of a sample is the smallest set of its deepest rows with more than a
fraction beta of the total weight. The gap of a level is the distance between the regions of both
samples. It is computed along directions, which are unit vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from isodepth.base.export import Headline, ResultMixin, equal_values, keys, printable
from isodepth.base.options import Integer
from isodepth.base.readonly import read_only
from isodepth.base.seeds import rng_for
from isodepth.base.words import counted, listed
from isodepth.errors import InvalidInputError, UnavailableError
from isodepth.functions.changes import Contribution
from isodepth.geometry.hull import upper_bounds
from isodepth.geometry.regions import Gaps, write_supports
from isodepth.geometry.scaling import SCALES, warn_of_different_spreads
from isodepth.geometry.trimmed import TrimmedRegions
from isodepth.metric.attribution import (
    LargestGap,
    contribution_rows,
    largest_contributions,
    shares_of_directions,
    shares_of_levels,
)
from isodepth.metric.gradient import Gradient, gradient_of_comparison
from isodepth.metric.settings import RandomLevels
from isodepth.metric.signature import signature_text
from isodepth.rows.kept import KeptRows, ReleasedRows
from isodepth.rows.pair_result import PairResult
from isodepth.rows.rows import TwoSamples
from isodepth.rows.suspicious.results import SuspiciousRows
from isodepth.table.arrays import column_labels
from isodepth.table.kinds import ColumnKind, attention_suffix
from isodepth.table.missing import MissingPair

# Options of the metric that are not in the code which repeats a comparison. The code has the
# `nan_policy` that the test needs too.
_NOT_REPEATED = ("nan_policy", "n_jobs", "memory_mb")
# Relative width of the bounds on gaps in `Comparison.supremum_bounds`. Smaller values take longer.
_BOUND_SLACK = 0.02
# Number of different splits below which distances between random splits tell little.
_FEW_SPLITS = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class ChanceLevel(ResultMixin):
    """Distances between the two parts of random splits of the pooled rows of two samples.

    They show how large the distance is if both samples have the same distribution.

    Attributes
    ----------
    distances : ndarray of shape (n_splits,), increasing
    """

    _result_type = "chance_level"
    _more_in_json = keys("interval")

    distances: np.ndarray
    # Remark if the rows have few different splits, else "".
    _few_splits: str = field(init=False, repr=False, default="")

    @property
    def n_splits(self) -> int:
        """Number of random splits."""
        return len(self.distances)

    @property
    def interval(self) -> tuple[float, float]:
        """The 0.05 and 0.95 quantiles of the distances.

        With up to 19 splits, they are the minimum and the maximum.
        """
        low, high = np.quantile(self.distances, [0.05, 0.95], method="weibull")
        return float(low), float(high)

    def _rows(self) -> dict[str, list[Any]]:
        return {"distance": self.distances.tolist()}

    def __str__(self) -> str:
        low, high = self.interval
        splits = f"{self.n_splits} random splits of the same rows: {low:.3g} to {high:.3g}"
        return f"{splits} ({self._few_splits})" if self._few_splits else splits


def few_splits(n_x: int, n_y: int, units: str) -> str:
    """Return a remark if n_x + n_y units, such as rows, have few splits into n_x and n_y units.

    The remark is "" if there are at least 1000. With fewer, some random splits are equal or nearly
    equal to the given one, and their distances are as large although the samples differ.

    Examples
    --------
    >>> few_splits(5, 5, "rows")
    '10 rows have only 126 different splits, too few to judge the distance'
    """
    n = n_x + n_y
    if n >= 2 * _FEW_SPLITS:
        return ""
    count = math.comb(n, n_x) // (1 + (n_x == n_y))  # two parts of equal size may be exchanged
    if count >= _FEW_SPLITS:
        return ""
    splits = "1 different split" if count == 1 else f"{count} different splits"
    return f"{n} {units} have only {splits}, too few to judge the distance"


class RegionSizes(NamedTuple):
    """Numbers of rows and columns of a sample whose regions were deleted by `without_rows`."""

    n_rows: int
    n_features: int


@dataclass(eq=False)
class RowsOfRegions(KeptRows):
    """Rows of two samples, taken from their regions. Rows with missing values are not included.

    Attributes
    ----------
    regions : pair of TrimmedRegions
    columns : tuple of str or None
        Names of the columns.
    """

    regions: tuple[TrimmedRegions, TrimmedRegions]
    columns: tuple[str, ...] | None

    @cached_property
    def samples(self) -> TwoSamples:
        x, y = (_unscaled_points(each) for each in self.regions)
        return TwoSamples((x, y), tuple(self.columns or column_labels(x.shape[1])), {})


def _unscaled_points(regions: TrimmedRegions) -> np.ndarray:
    """Return the points (n, d) of a sample's regions in the units of the data, before scaling."""
    scale = getattr(regions._origin, "scale", None)
    return regions.points if scale is None else regions.points * np.asarray(scale, dtype=float)


@dataclass(frozen=True, eq=False)
class ComparisonDetails:
    """Results of a comparison that are not public.

    Attributes
    ----------
    gaps : Gaps
        Gap between both regions at each level.
    fitted : FittedMetric
        Metric with the directions along which the samples were compared.
    regions : pair of TrimmedRegions, SourceRegions or RegionSizes
        Regions of both samples; only their sizes if the regions were released.
    contributions : tuple of Contribution or None
        `Comparison.contributions`, if the regions from which they are computed were released.
    """

    gaps: Gaps
    fitted: Any  # FittedMetric, whose module imports this one
    regions: tuple[Any, Any]
    contributions: tuple[Contribution, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(PairResult):
    """Result of :func:`isodepth.compare`.

    Attributes
    ----------
    distance : float
        Distance DR_{p,eps} between the samples; `float(comparison)` is the same.
    settings : dict
        Settings of the metric by the names of its options, with the values that were used. Arrays
        and objects are described by strings. `n_jobs` and `memory_mb`, which do not affect the
        distance, are excluded.
    columns : tuple of str or None
        Names of the columns; None if they have no names.
    missing : MissingPair or None
        With ``nan_policy="omit"``: number of dropped rows, the columns with missing values, and
        the shares of missing values in both samples. Otherwise None.
    kinds : tuple of ColumnKind
        Kind and use of every column of data frames. Non-numeric columns do not enter the distance.
        Empty for arrays.
    distance_bounds : pair of float or None
        For samples that were read in chunks: lower and upper bounds on the distance that exact
        depths along the same directions would give. Both equal `distance` if the depths are exact.
        None for samples in memory.
    headline : str
        The result in one sentence.
    gaps : ndarray of shape (L,)
        Gap between the regions of both samples at each level; `levels` has the levels.
    largest_gap : LargestGap
        Level with the largest gap, its direction, and the contributions of the columns.
    contributions : tuple of Contribution
        Fraction of the distance that belongs to each column.
    regions : pair of TrimmedRegions
        Nested depth-trimmed regions of X and of Y.
    n_rows, n_used_rows : pair of int
        Numbers of rows of X and Y, as they were passed and in the distance.

    Examples
    --------
    >>> import isodepth
    >>> result = isodepth.compare([[0.0], [1.0], [2.0]], [[3.0], [4.0], [5.0]], scale=None)
    >>> result.headline
    'X and Y are at distance 3, not tested.'
    >>> result.distance
    3.0
    >>> result.contributions
    (Contribution(column='column 0', fraction=1.0),)
    >>> result.largest_gap.gap
    3.0
    >>> result.chance_level().n_splits
    19
    """

    _result_type = "comparison"
    _in_json = keys(
        "headline", "distance", "units", "n_rows", "n_used_rows", "contributions", "largest_gap",
        "levels", "gaps", "missing", "kinds", "signature", settings="_json_settings", test="_test",
    )  # fmt: skip
    _more_in_json = keys("distance_bounds")

    distance: float
    settings: dict[str, Any]
    columns: tuple[str, ...] | None
    missing: MissingPair | None = None
    kinds: tuple[ColumnKind, ...] = ()
    distance_bounds: tuple[float, float] | None = None
    _details: ComparisonDetails | None = field(init=False, repr=False, default=None)
    _kept: KeptRows | ReleasedRows | None = field(init=False, repr=False, default=None)

    @property
    def signature(self) -> str:
        """Settings that determine the distance, as a short string."""
        return signature_text(self.settings)

    @property
    def _gaps(self) -> Gaps:
        return self._required(self._details).gaps

    @property
    def _fitted(self) -> Any:
        return self._required(self._details).fitted

    @property
    def _regions(self) -> tuple[Any, Any]:
        """Regions of X and of Y.

        They are SourceRegions if the rows were read in chunks, and RegionSizes if `without_rows`
        released the regions.
        """
        return self._required(self._details).regions

    @property
    def regions(self) -> tuple[TrimmedRegions, TrimmedRegions]:
        """Nested depth-trimmed regions of X and of Y."""
        if isinstance(self._regions[0], RegionSizes):
            raise UnavailableError(
                f"this {type(self).__name__} has no regions, because without_rows() released them; "
                "use the original result"
            )
        if not isinstance(self._regions[0], TrimmedRegions):
            raise UnavailableError(
                f"this {type(self).__name__} has no regions, because the rows were read in chunks; "
                "use Metric.region_table for their support values, or compare arrays"
            )
        return self._regions

    @property
    def levels(self) -> np.ndarray:
        """Levels beta, of shape (L,), at which the regions of both samples are compared.

        The region of level beta is the smallest set of deepest rows that has more than a fraction
        beta of the mass. With ``levels="exact"`` these are the midpoints of `level_intervals`.
        """
        levels = self._gaps.plan.levels
        return read_only(levels.mean(axis=1) if levels.ndim == 2 else levels)

    @property
    def level_intervals(self) -> np.ndarray | None:
        """Intervals [start, stop) of levels in which both regions are constant, of shape (L, 2).

        None unless ``levels="exact"``.
        """
        levels = self._gaps.plan.levels
        return read_only(levels) if levels.ndim == 2 else None

    @property
    def n_rows(self) -> tuple[int, int]:
        """Numbers of rows of X and Y, as they were passed."""
        if self.missing is None:
            return self.n_used_rows
        return self.missing.x.n_rows, self.missing.y.n_rows

    @property
    def n_used_rows(self) -> tuple[int, int]:
        """Numbers of rows of X and Y in the distance: `n_rows` minus the dropped rows."""
        x, y = self._regions
        return x.n_rows, y.n_rows

    @property
    def units(self) -> str:
        """Units of `distance` and `gaps` as a string, determined by the option ``scale``."""
        scale = self.settings["scale"]
        if scale is None:
            return "the units of the columns"
        by = "robust standard deviations" if scale in SCALES else "given scales"
        return f"{by} of the columns"

    @property
    def level_widths(self) -> np.ndarray:
        """Widths (L,) of the levels, divided by their sum 1 - eps.

        The distance is the mean of order p of the gaps with these weights. With ``normalize=False``
        the mean is multiplied by ``(1 - eps)**(1 / p)``.
        """
        return read_only(self._gaps.plan.shares)

    @property
    def _search_directions(self) -> np.ndarray:
        """Unit vectors (J, d) along which the gaps between regions were evaluated, one per row.

        These are the sampled directions, followed by the directions that refinement found. With
        ``gap="exact"`` they are the maximizing directions of the levels.
        """
        return read_only(self._gaps.vectors)

    @property
    def gaps(self) -> np.ndarray:
        """Gap at each level, of shape (L,): the Hausdorff distance between both regions.

        With a finite ``q`` the gap is a scaled mean of order q, over all directions, of the
        absolute differences between the support functions; see `Metric`.
        """
        return read_only(self._gaps.values)

    @property
    def gap_directions(self) -> np.ndarray:
        """Unit vectors (L, d), one per level, along which the gaps are attained.

        With a finite ``q`` these are the directions with the largest difference between the support
        functions of both regions.
        """
        return read_only(self._gaps.directions())

    def supremum_bounds(self) -> tuple[float, float]:
        """Compute a lower and an upper bound on the distance with the supremum over directions.

        The lower bound is `distance`, which is attained along the sampled and refined directions.
        The upper bound exceeds the supremum by at most 2%. The distance with ``gap="exact"`` lies
        between the bounds, up to rounding. The bounds refer to the computed regions: they do not
        include the error of depths that are computed along sampled directions. The call may take
        longer than the comparison, because every vertex of the regions is considered.

        Returns
        -------
        low, high : float

        Raises
        ------
        InvalidInputError
            If `q` is finite, or if the rows were read in chunks or released by `without_rows`.

        Examples
        --------
        >>> import numpy as np, isodepth
        >>> X = np.random.default_rng(0).normal(size=(100, 10))
        >>> coarse = isodepth.compare(X, X + 1, refine=0, random_state=0, scale=None)
        >>> low, high = coarse.supremum_bounds()
        >>> low < 10**0.5 <= high <= 1.02 * 10**0.5
        True
        """
        settings = self._fitted.metric
        if settings.q < math.inf:
            raise InvalidInputError(
                f"bounds exist for the supremum over directions, q=inf; this comparison has "
                f"q={settings.q:g}, a mean over directions"
            )
        self._require_rows("bounds need")
        if self._gaps.exact:
            return self.distance, self.distance
        x, y = (regions._nested.points for regions in self.regions)
        plan = self._gaps.plan
        upper = upper_bounds(x, y, np.stack(plan.prefix_sizes), self.gaps, _BOUND_SLACK)
        return self.distance, self._fitted._mean(upper, plan)

    def _headline(self, names: Sequence[str]) -> Headline:
        x, y = names
        dropped = "" if self.missing is None else self.missing._many_dropped
        ending = f"; {dropped}" if dropped else ""
        text = f"{x} and {y} are at distance {self.distance:.3g}, not tested{ending}"
        return Headline(f"{text}{attention_suffix(self.kinds)}.", "open")

    def _remarks(self, rows: SuspiciousRows | None, names: Sequence[str]) -> list[str]:
        omitted = [kind.column for kind in self.kinds if kind.use == "omit"]
        return [
            *super()._remarks(rows, names),
            *([f"not compared: {listed(omitted, 3)}"] if omitted else []),
            *self._dropped("" if self.missing is None else self.missing._difference(names)),
        ]

    def _dropped(self, difference: str = "") -> list[str]:
        """Return a phrase with the number of dropped rows and `difference`, a reason; or []."""
        if self.missing is None or not any(self.missing.n_dropped):
            return []
        dropped = counted(sum(self.missing.n_dropped), "row")
        return [f"{dropped} dropped: {difference or 'missing values'}"]

    def _difference_lines(self, names: Sequence[str]) -> list[str]:
        if self._has_typical_rows:
            return ["typical_rows() lists the rows that are most typical of the difference"]
        if not self.contributions:
            return []
        return [f"largest contributions: {largest_contributions(self.contributions)}"]

    def _last_lines(self, chance: ChanceLevel | str | None) -> list[str]:
        if chance is None:
            chance = (
                "chance_level() gives the distances of random splits" if self._keeps_rows
                else "a level of chance needs the rows, which this result does not have"
            )  # fmt: skip
        return [self._distance_sentence(chance)]

    def _distance_sentence(self, chance: ChanceLevel | str, name: str = "distance") -> str:
        """Return a sentence with the distance, called `name`, and the level of chance.

        The level of chance consists of the distances between random splits of the pooled rows, or
        is the reason why there are none.
        """
        return f"{name} {self.distance:.4g} in {self.units}; {chance}"

    def gradient(self) -> Gradient:
        """Compute the derivative of the distance with respect to each entry of X and Y.

        The derivative is exact almost everywhere. At each level only two rows have a nonzero
        derivative: the outermost row of each region along the direction of the gap. With a finite
        ``q`` there are two such rows per direction. The derivative of a point is divided equally
        among the rows that are equal to it. With ``gap="exact"`` one of the two points is a convex
        combination of rows, among which its derivative is divided. The gradient of a distance of 0
        is 0. A ``scale`` passed as an array is included in the derivative.

        There is no gradient, and InvalidOptionError is raised, if the scale is estimated from the
        data, or if the distance is refined: ``refine`` above 0 (as by default for ``q=inf``) in
        more than one dimension, with ``gap="search"``.

        Returns
        -------
        gradient : Gradient
            With `x` of shape (n, d) and `y` of shape (m, d).

        Examples
        --------
        >>> import isodepth
        >>> result = isodepth.compare([[0.0], [2.0]], [[5.0]], scale=None, p=1)
        >>> result.distance, result.gradient().x.ravel(), result.gradient().y.ravel()
        (5.0, array([-1.,  0.]), array([1.]))
        """
        self._require_rows("the gradient needs")
        return gradient_of_comparison(self)

    @cached_property
    def contributions(self) -> tuple[Contribution, ...]:
        """Contribution of each column to the distance, largest first; the sum is 1.

        Contributions are the squared entries of the maximizing directions of the levels. They are
        averaged over levels, and the weight of a level is its width times its squared gap. With a
        finite ``q`` they are computed from the squared entries of all directions. For a translation
        by a vector m the contribution of column j is m_j^2 / |m|^2, up to the error of sampled
        directions. If the distance is 0, the tuple is empty.
        """
        details = self._required(self._details)
        if details.contributions is not None:
            return details.contributions
        q = details.fitted.metric.q
        if q < math.inf:
            plan_shares, vectors = self._gaps.plan.shares, self._gaps.vectors
            return self._named(
                shares_of_directions(self._differences, plan_shares, vectors, self.gaps, q)
            )
        return self._named(shares_of_levels(self._gaps))

    def chance_level(self, n_splits: int = 19) -> ChanceLevel:
        """Compute the distances between random splits of the pooled rows.

        Two samples of the same distribution have a positive distance. The distances between random
        splits show how large this distance is for samples of the given sizes. The first
        call takes the time of `n_splits` comparisons. Later calls with the same `n_splits` return
        the same result. Rows that were read in chunks or released by `without_rows`, and rows with
        weights, cannot be split: InvalidInputError is raised.

        If the rows have few different splits, the string of the result has a remark. For example, 5
        and 5 rows have 126 splits. Some random splits are then nearly the given one.

        Parameters
        ----------
        n_splits : int
            Number of random splits.

        Returns
        -------
        level : ChanceLevel
        """
        Integer(1).check("n_splits", n_splits)
        if n_splits not in self._chance_levels:
            distances = np.sort(self._chance_distances(n_splits))
            level = ChanceLevel(distances=distances)
            self._chance_levels[n_splits] = level._with(_few_splits=self._few_splits())
        return self._chance_levels[n_splits]

    @cached_property
    def _chance_levels(self) -> dict[int, ChanceLevel]:
        """Results of `chance_level` by the number of splits."""
        return {}

    def _few_splits(self) -> str:
        """Return a remark if the rows have few different splits, else ""."""
        return few_splits(*self.n_used_rows, "rows")

    def _chance_distances(self, n_splits: int) -> np.ndarray:
        """Return the distances between the parts of random splits, see `chance_level`."""
        self._require_rows("random splits need")
        if any(regions.weights is not None for regions in self.regions):
            raise InvalidInputError(
                "rows with weights cannot be split at random; compare them without weights"
            )
        x, y = (regions.points for regions in self.regions)
        points, fitted = np.concatenate([x, y]), self._fitted
        rng = rng_for(0, "splits")
        distances = []
        for _ in range(n_splits):
            order = rng.permutation(len(points))
            parts = (points[order[: len(x)]], points[order[len(x) :]])
            distances.append(fitted._distance(*map(fitted._nest_rows, parts)))
        return np.array(distances)

    @property
    def _splitting_cost(self) -> int:
        """Number of projections of a row on a direction that one split in `chance_level` needs.

        It determines the time of `chance_level`. It is 2**62 if the rows are not in memory.
        """
        if not self._keeps_rows:
            return 1 << 62
        return sum(r.n_rows for r in self._regions) * len(self._fitted.directions)

    def _differences(self, part: slice) -> np.ndarray:
        """Return the differences (L, 2B) of the support functions of both regions at each level.

        They are computed along the B directions in the slice `part`, and along their opposites.
        """
        if self._in_chunks:
            x, y = (side.table.values for side in self._regions)
            return np.hstack([each[:, part] for each in np.split(x - y, 2, axis=1)])
        directions = self._gaps.vectors[part]
        return self._supports(0, directions) - self._supports(1, directions)

    def _supports(self, side: int, directions: np.ndarray, levels: Any = slice(None)) -> np.ndarray:
        """Return the support values (L, 2B) of the regions of one sample at L levels.

        The support value of a region along u is the maximum of <x, u> over its points x. The values
        are those along B directions and then those along their opposites. `side` is 0 for X and 1
        for Y. `levels` selects levels by indices or a slice.
        """
        plan, regions = self._gaps.plan, self.regions[side]
        sizes = plan.prefix_sizes[side][levels]
        out = np.empty((len(sizes), 2 * len(directions)))
        write_supports(regions._nested.points, sizes, directions, out, self._fitted._resources)
        return out

    def _warn_of_units(self) -> None:
        """Warn if a column dominates the distance because of its units."""
        details = self._details
        if details is None or self.settings["scale"] is not None:
            return
        if isinstance(details.regions[0], TrimmedRegions):  # not for samples in chunks
            x, y = (regions._nested.sample.points for regions in details.regions)
            warn_of_different_spreads(x, y, self.columns)

    def _named(self, shares: np.ndarray | None) -> tuple[Contribution, ...]:
        """Return the contributions `shares` (d,) with the names of the columns, largest first.

        Return () if `shares` is None.
        """
        if shares is None:
            return ()
        names = self.columns or column_labels(len(shares))
        ranked = sorted(range(len(shares)), key=lambda j: -shares[j])
        # Rounding may make the only contribution slightly larger than 1.
        return tuple(Contribution(names[j], min(float(shares[j]), 1.0)) for j in ranked)

    @property
    def largest_gap(self) -> LargestGap:
        """Largest gap between the regions of both samples, with its level and its direction."""
        at = int(self.gaps.argmax())
        direction = self._gaps.directions(slice(at, at + 1))[0]
        return LargestGap(
            level=float(self.levels[at]),
            gap=float(self.gaps[at]),
            direction=direction,
            contributions=self._named(direction**2 if self.gaps[at] > 0 else None),
        )

    @property
    def _in_chunks(self) -> bool:
        """Whether the samples were read in chunks."""
        return self.distance_bounds is not None

    @property
    def _has_all_rows(self) -> bool:
        return not self._in_chunks

    @property
    def _keeps_rows(self) -> bool:
        """Whether this object has the rows of both samples.

        It does not if they were read in chunks, or released by `without_rows`.
        """
        return isinstance(self._regions[0], TrimmedRegions)

    def _require_rows(self, what: str) -> None:
        """Raise InvalidInputError if the rows are not in memory; `what` starts its message."""
        if self._keeps_rows:
            return
        if isinstance(self._regions[0], RegionSizes):
            _ = self._kept_rows  # raises the error about released rows
        raise InvalidInputError(
            f"{what} the rows of both samples in memory, and these were read in chunks; compare a "
            "part of them that fits into memory"
        )

    def without_rows(self) -> Self:
        # The docstring is that of the base class.
        x, y = self._regions
        if self._keeps_rows:
            x, y = (RegionSizes(each.n_rows, each.n_features) for each in (x, y))
        details = self._required(self._details)
        details = replace(
            details,
            regions=(x, y),
            contributions=self.contributions,
        )
        return self._with(_details=details, _kept=ReleasedRows(self._repeated_values, (), None))

    def _changed_options(self) -> dict[str, Any] | None:
        """Return the seed, and the options that differ from their defaults in `isodepth.compare`.

        `nan_policy`, `n_jobs` and `memory_mb` are excluded. Random levels are the entry `n_levels`,
        as in `Metric.paper`. Return None if an option is an array or another object that cannot be
        written as a literal.
        """
        metric = self._fitted.metric
        usual = {each.name: each.default for each in fields(metric)}
        options = {name: getattr(metric, name) for name in usual if name not in _NOT_REPEATED}
        if isinstance(options["levels"], RandomLevels):
            usual["n_levels"], options["n_levels"] = None, options.pop("levels").n_levels
        if not all(isinstance(value, str | int | float | None) for value in options.values()):
            return None
        return {k: v for k, v in options.items() if k == "random_state" or v != usual[k]}

    # -- conversion to other types ----------------------------------------------------------

    def _rows(self) -> dict[str, list[Any]]:
        """Return a table with one row per column of the samples: its contribution.

        Contributions to a distance of 0 are 0.
        """
        names = self.columns or column_labels(self._fitted.directions.shape[1])
        return contribution_rows(self.contributions or [Contribution(name, 0.0) for name in names])

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        if same is not True or not isinstance(other, Comparison):
            return same
        regions = (each and each.regions for each in (self._details, other._details))
        return equal_values(*regions)

    def __bool__(self) -> bool:
        raise TypeError(
            "a comparison has no truth value; use result.distance, or the attribute `significant` "
            "of isodepth.two_sample_test"
        )

    def __float__(self) -> float:
        return self.distance

    def __repr__(self) -> str:
        lines = self._summary(self._names)
        if self.distance_bounds is not None:
            low, high = self.distance_bounds
            n_levels, n_directions = len(self._gaps.values), len(self._gaps.vectors)
            noun = "direction" if n_directions == 1 else "directions"
            how = f"{n_levels} levels, {n_directions} {noun}, no refinement"
            exact = f"exact depths would give between {low:.6g} and {high:.6g}"
            lines[1:1] = [f"read in chunks: {how}", *([exact] if low < high else [])]
        return printable("\n  ".join(lines))
