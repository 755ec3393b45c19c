"""Public API: the class `Metric`, and the functions `distance` and `compare`.

Methods and functions accept arrays, data frames, tensors, and samples that are read in chunks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, Unpack, cast, overload

import numpy as np

from isodepth.base.annotations import (
    DepthLike,
    DirectionsLike,
    NanPolicy,
    RandomStateLike,
    ScaleLike,
)
from isodepth.base.compiled import Resources, available_cores
from isodepth.base.declared import DISTANCE, METRIC, TABLE_DTYPE
from isodepth.base.export import ReadOnlyFields, equal_values
from isodepth.base.options import (
    Integer,
    shows,
    takes,
    unknown_option,
)
from isodepth.base.seeds import rng_for
from isodepth.errors import (
    ColumnWarning,
    InvalidOptionError,
    UnknownOptionError,
    warn_user,
)
from isodepth.geometry.depth import BY_NAME
from isodepth.geometry.depth.base import DepthSource
from isodepth.geometry.depth.resolve import private_copy, resolve_depth, same_depth
from isodepth.geometry.directions import integer_seed, vectors_of
from isodepth.geometry.regions import Sample
from isodepth.geometry.scaling import (
    NamedScale,
    aligned_scale,
    check_scale_width,
    scaled,
    units_of_samples,
    warn_of_different_spreads,
)
from isodepth.geometry.trimmed import TrimmedRegions
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import (
    FittedMetric,
    FittedPair,
    Origin,
    fit_both,
)
from isodepth.metric.region_table import RegionTable
from isodepth.metric.settings import (
    LEVEL_BYTES,
    MEMORY_MB,
    REFINE,
    MetricOptions,
    PaperOptions,
    RandomLevels,
    check_for_tables,
    check_level_memory,
    checked_options,
    midpoint_levels,
    settings_of_data,
    used_settings,
)
from isodepth.metric.signature import signature_text
from isodepth.rows.kept import RowsInMemory
from isodepth.table.frames import in_order, labels_of
from isodepth.table.kinds import (
    ColumnKind,
    check_kinds,
    column_lines,
    matched_frames,
    numeric_columns,
)
from isodepth.table.missing import MissingPair
from isodepth.table.validation import (
    SampleRows,
    as_pair,
    copy_of_sample,
    is_chunked,
    is_tensor,
    read_sample,
    refuse_chunks,
    split_weights,
)

if TYPE_CHECKING:
    import torch

    from isodepth.base.annotations import (
        KindsLike,
        Precision,
        TableLike,
        TensorLike,
        VectorLike,
    )
    from isodepth.stream.source import SampleLike


@takes()
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Metric(ReadOnlyFields):
    """Pseudo-metric DR_{p,eps} between samples, with all its settings.

    The region of level beta of a sample is the smallest set of its deepest points that has more
    than a fraction beta of the mass. The gap of a level is, by default, the Hausdorff distance
    between the convex hulls of the regions of both samples. DR_{p,eps} is the mean of order p of
    the gaps over the levels in [0, 1 - eps]. "The paper" is Staerman et al., arXiv 2103.12711.

    Parameters
    ----------
    depth : str, estimator or callable
        Depth function that orders the points from the center outwards: "projection", "halfspace",
        "irw" or "ai_irw". A depth estimator of isodepth has settings of its own, such as a
        covariance. Its directions are those of the metric, the same for both samples: the estimator
        must have the default values of `n_directions`, `directions`, `random_state` and `n_jobs`,
        which are options of the metric. Any estimator with `fit` and `score_samples`, and any
        function of the points (and of the weights, if there are any) is accepted as well.
        Estimators are copied, and neither they nor functions are called by several threads at once.
        With the projection depth a share of up to `eps` of contaminated rows has a bounded effect;
        other depths tolerate less contamination.
    p : float in (0, inf]
        Order of the mean over levels; inf is the maximum. For p < 1 the triangle inequality holds
        for the p-th power only. As p tends to 0, the mean tends to the geometric mean.
    q : float in [1, inf]
        Order of the mean over directions u of ``|h_X(u) - h_Y(u)|``, where h is the support
        function of a region. inf is the maximum, which is the Hausdorff distance of the regions, as
        in the paper. For a finite q, the mean over the directions and their opposites is divided by
        its value for a translation of length one. A translation by m then has distance |m| for
        every q. With a finite q the distance has a smaller upward bias in many dimensions and is
        smoother.
        With p = q = 2 samples are embedded isometrically in a Hilbert space.
    eps : float in (0, 1]
        Fraction of the mass that is trimmed: the least deep points.
    n_directions : int
        Number of directions; the computing time is proportional to it.
    directions : {"uniform", "sobol", "orthogonal", "equispaced"} or array of shape (K, d)
        See :func:`isodepth.unit_vectors`. Each vector is used with both signs.
    levels : "exact", int or None
        How to average over the levels in [0, 1 - eps]: "exact" integrates over all levels, and an
        integer uses a midpoint grid with that number of levels. None means "exact" for samples in
        memory, and 20 for samples that are read in chunks, for which "exact" is an error. The
        random levels of the paper are those of :meth:`isodepth.Metric.paper`. More than 1000 levels
        are an error if they need more than `memory_mb`.
    normalize : bool
        True averages over the levels in [0, 1 - eps], so that DR = |m1 - m2| for Gaussians of equal
        covariance with means m1 and m2. False integrates over the levels without the factor
        1 / (1 - eps), as in the paper.
    refine : int or None
        Number of steps of local ascent from the best sampled directions towards the supremum over
        all directions. With ``refine=0`` the maximum is too small in more than a few dimensions.
        Refinement never lowers a gap. None means 20 for q = inf, and 0 for a finite q, for
        ``gap="exact"``, for samples that are read in chunks, and for tensors that require grad,
        because a refined distance has no gradient. A positive value with a finite q,
        ``gap="exact"`` or samples that are read in chunks is an error.
    gap : {"search", "exact"}
        How to compute the gap of a level for q = inf. "search" takes the maximum over the
        directions and refines it. "exact" computes the Hausdorff distance of the convex hulls, for
        few points or few dimensions.
    scale : None, "pooled", "reference" or array of shape (d,)
        Units of the columns. None compares coordinates as they are, as in the paper: the column
        with the largest spread dominates. "pooled" divides each column by its robust standard
        deviation in both samples together, "reference" by that of X alone. The robust standard
        deviation is that of the values clipped at their 0.2 and 0.8 quantiles, normalized to 1 for
        a standard normal column. It tolerates a fraction 0.2 of contaminated rows at one end of the
        column. If more than half of the values are equal, the orders of the quantiles are closer to
        0 and 1. The unit of a constant column is 1. For eps > 0.2 the normalized median absolute
        deviation is used instead, which tolerates a fraction 0.5. An array has the divisors in the
        order of the columns; the values of a pandas Series with names are matched by column name.
    nan_policy : {"raise", "omit"}
        Treatment of missing values: raise an error, or drop the rows with missing values.
        Infinite values are always an error.
    dtype : {"float32", "float64"}, NumPy dtype or None
        Precision of the projections; None means float32 for float32 data and float64 otherwise.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Seed or generator of the random directions and levels. The same integer gives the same
        directions on any machine, and the same bits with any `n_jobs`. With None every call samples
        new directions: two calls give slightly different numbers, which cannot be reproduced. Use
        an integer if numbers are compared with each other, published or tested.
    n_jobs : int or None
        Number of threads; None or -1 for all available cores. The result does not depend on it.
    memory_mb : float or None
        Working memory of all threads together, in which blocks of directions are processed. With
        little memory fewer threads are used, at least one. A block has at least one direction, even
        if it needs more memory. The result does not depend on this option. None means 256 on the
        host; for tensors on another device a part of the free memory, at most 8 GB.

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
    'DR|depth=halfspace|p=2|eps=0.2|levels=exact|dirs=uniform:1000|refine=20|seed=0|v=0.4.0'
    """

    depth: DepthLike = "projection"
    p: float = 2
    q: float = math.inf
    eps: float = 0.1
    n_directions: int = 1000
    directions: DirectionsLike = "uniform"
    levels: Literal["exact"] | int | RandomLevels | None = None
    normalize: bool = True
    refine: int | None = None
    gap: Literal["search", "exact"] = "search"
    scale: ScaleLike = None
    nan_policy: NanPolicy = "raise"
    dtype: Precision | None = None
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    memory_mb: float | None = None

    def __post_init__(self) -> None:
        values = checked_options({each.name: getattr(self, each.name) for each in fields(self)})
        if not isinstance(self.depth, str):
            values["depth"] = private_copy(self.depth)
        for name, value in values.items():
            object.__setattr__(self, name, value)
        super().__post_init__()
        _ = self._source  # raises an error if the option `depth` is invalid

    def __eq__(self, other: object) -> bool:
        """Return whether all options are equal; a depth of the user is equal only to itself."""
        if type(self) is not type(other):
            return NotImplemented
        names = [each.name for each in fields(self) if each.name != "depth"]
        same = all(equal_values(getattr(self, name), getattr(other, name)) for name in names)
        return same and same_depth(self._source, other._source)

    def __hash__(self) -> int:
        return hash((self.p, self.q, self.eps, self.n_directions))

    @property
    def _dtype(self) -> str | None:
        """Name of the precision, or None. The constructor has replaced types by names."""
        return cast("str | None", self.dtype)

    @property
    def signature(self) -> str:
        """Settings that determine the distance of samples in memory, as a short string.

        `Comparison.signature` has the settings of a comparison, also of samples that are read in
        chunks.
        """
        return signature_text(used_settings(self, self._dtype, self._steps))

    @cached_property
    def _source(self) -> DepthSource:
        """Depth function that the option `depth` selects."""
        name = self.depth
        return BY_NAME[name]() if isinstance(name, str) and name in BY_NAME else resolve_depth(name)

    @property
    def _steps(self) -> int:
        """Number of steps of local ascent that refine the directions: `refine`, or its default."""
        if self.refine is None:
            return REFINE if math.isinf(self.q) and self.gap == "search" else 0
        return self.refine

    @property
    def _units(self) -> Any:
        """The option `scale` after its validation: None, a string, or an array (d,)."""
        return self.scale

    @property
    def _memory_levels(self) -> Any:
        """Levels for samples in memory: `levels`, or its default."""
        return "exact" if self.levels is None else self.levels

    @property
    def _length(self) -> float:
        """Factor of the mean over levels: 1, or 1 - eps if `normalize` is false."""
        return 1.0 if self.normalize else 1.0 - self.eps

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature})"

    @classmethod
    def paper(cls, *, n_levels: int, n_directions: int, **options: Unpack[PaperOptions]) -> Self:
        """Return the metric of Algorithm 1 of the paper, with random levels and uniform directions.

        The paper is Staerman et al., arXiv 2103.12711.

        Parameters
        ----------
        n_levels : int
            Number of random levels. The attribute `levels` of the returned metric is a
            :class:`isodepth.typing.RandomLevels`.
        n_directions : int
            Number of independent uniform directions.
        **options
            The other parameters of this class: `depth`, `p`, `q`, `eps`, `normalize`, `gap`,
            `scale`, `nan_policy`, `dtype`, `random_state`, `n_jobs`, `memory_mb`.

        Examples
        --------
        >>> from isodepth import Metric
        >>> Metric.paper(n_levels=20, n_directions=100, eps=0.3, random_state=1).signature
        'DR|depth=projection|p=2|eps=0.3|levels=monte-carlo:20|dirs=uniform:100|refine=0|seed=1|v=0.4.0'
        """
        for name, value in {"levels": "random", "directions": "'uniform'", "refine": 0}.items():
            if name in options:
                raise UnknownOptionError(
                    f"{name} is not an option of Metric.paper, in which it is always {value}; "
                    "remove it, or use Metric",
                    option=name,
                )
        return cls(
            levels=RandomLevels(n_levels),
            n_directions=n_directions,
            directions="uniform",
            refine=0,
            **options,
        )

    @overload
    def distance(  # type: ignore[overload-overlap]
        self,
        X: TensorLike,
        Y: TensorLike,
        *,
        weights: Sequence[VectorLike | None] | None = None,
        kinds: KindsLike | None = None,
    ) -> torch.Tensor: ...

    @overload
    def distance(
        self,
        X: SampleLike,
        Y: SampleLike,
        *,
        weights: Sequence[VectorLike | None] | None = None,
        kinds: KindsLike | None = None,
    ) -> float: ...

    def distance(
        self,
        X: SampleLike,
        Y: SampleLike,
        *,
        weights: Sequence[VectorLike | None] | None = None,
        kinds: KindsLike | None = None,
    ) -> Any:
        """Compute the distance DR_{p,eps} between two samples; p and eps are options.

        Parameters
        ----------
        X, Y : array-likes or data frames of shape (n, d) and (m, d)
            Columns of frames are matched by name, in the order of X. Non-numeric columns, and
            columns that only one frame has, are left out, with a
            :class:`isodepth.errors.ColumnWarning`. X and Y may also be torch tensors on one device,
            which may require grad. Sources of :func:`isodepth.scan` and Dask collections are read
            in chunks. They are compared with ``levels=20, refine=0`` by default, so that the
            distance is usually smaller than that of the same rows in memory. An
            :class:`isodepth.errors.ApproximationWarning` is then issued, unless q is finite or both
            options are set.
        weights : pair (wx, wy) or None
            Weights of the rows of X and Y, of shape (n,) and (m,). None for equal weights, also as
            an entry of the pair.
        kinds : dict or None
            Kinds of columns by their names, which may be integers, see
            :func:`isodepth.two_sample_test`. The columns of a source without names are 0, 1, ...
            Columns of kind "category" or "omit" are left out without a warning.

        Returns
        -------
        distance : float, or a zero-dimensional tensor if X and Y are tensors

        Notes
        -----
        For data frames whose columns have very different spreads, a
        :class:`isodepth.errors.ScaleWarning` is issued if `scale` is None, as in `compare`.
        """
        if is_chunked(X) or is_chunked(Y):
            from isodepth.metric.chunked import entry

            compared = entry.compare(self, X, Y, weights, kinds=kinds)
            entry.warn_of_replaced_defaults(self, compared)
            _warn_of_omitted(compared.kinds, kinds)
            return compared.distance
        X, Y, used, _ = _numeric(X, Y, kinds)
        _warn_of_omitted(used, kinds)
        if is_tensor(X) or is_tensor(Y):
            from isodepth.metric.tensors import distance as tensor_distance

            return tensor_distance(self, X, Y, weights)
        metric = self if self.random_state is None else self._seeded()
        fitted, x, y, _ = metric._fit_pair(X, Y, weights)
        if self.scale is None and used:
            columns = tuple(each.column for each in used if each.use == "numeric")
            warn_of_different_spreads(x.sample.points, y.sample.points, columns)
        return fitted._distance(x, y)

    def compare(
        self,
        X: SampleLike,
        Y: SampleLike,
        *,
        weights: Sequence[VectorLike | None] | None = None,
        kinds: KindsLike | None = None,
    ) -> Comparison:
        """Compare two samples: distance, gaps between trimmed regions, contributions of columns.

        The parameters are those of `distance`. The result is a :class:`Comparison`, which has for
        each level the gap and its maximizing direction. The attribute `kinds` of the result lists
        every column of data frames, including non-numeric columns and columns that only one frame
        has.

        If `scale` is None, a :class:`isodepth.errors.ScaleWarning` is issued if one column has more
        than a hundred times the spread of another. The column with the larger spread dominates the
        distance.

        The result keeps a copy of the rows of both samples, and does not change if the caller
        changes X or Y. Read-only arrays (``X.setflags(write=False)``) and samples that are read in
        chunks are not copied.

        If X and Y are tensors, the result has plain numbers and is not differentiable by autograd;
        see `Comparison.gradient`.
        """
        metric = self._seeded()
        compared = metric._compare(copy_of_sample(X), copy_of_sample(Y), weights, kinds)
        compared._warn_of_units()
        return compared

    def _compare(self, X: Any, Y: Any, weights: Any, kinds: KindsLike | None) -> Comparison:
        """Compare two samples without copying them, and without a warning about their units.

        The result keeps the samples, for example for `suspicious_rows`, so that their values must
        not be changed later.
        """
        compared = self._compare_samples(X, Y, weights, kinds)
        of_data = settings_of_data(kinds, weights)
        return compared._with(settings=compared.settings | of_data) if of_data else compared

    def _compare_samples(self, X: Any, Y: Any, weights: Any, kinds: KindsLike | None) -> Comparison:
        if is_chunked(X) or is_chunked(Y):
            from isodepth.metric.chunked import entry

            compared = entry.compare(self, X, Y, weights, kinds=kinds)
            entry.warn_of_replaced_defaults(self, compared)
            return compared
        X, Y, used, inputs = _numeric(X, Y, kinds)
        kept = RowsInMemory(*inputs)
        if is_tensor(X) or is_tensor(Y):
            from isodepth.metric.tensors import compare as compare_tensors

            return compare_tensors(self, X, Y, weights)._with(_kept=kept)
        return self._compare_arrays(X, Y, weights)._with(kinds=used, _kept=kept)

    def regions(self, X: TableLike, *, weights: VectorLike | None = None) -> TrimmedRegions:
        """Return the nested depth-trimmed regions of one sample.

        The result stores the depth function, the directions and the scale that define the regions.
        Regions of two samples can be compared if these settings are equal. Use `with_directions` to
        compute regions of many samples with the same directions, and to compare them.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        weights : array-like of shape (n,) or None
            Weight of each row; None for equal weights.

        Returns
        -------
        regions : TrimmedRegions
        """
        return self._fit_one(copy_of_sample(X), weights, "Metric.regions")[1]

    def with_directions(self, n_features: int, *, dtype: Precision | None = None) -> FittedMetric:
        """Return a metric with sampled directions and levels, to compare many samples.

        Parameters
        ----------
        n_features : int
            Number of columns of the samples.
        dtype : {"float64", "float32"} or None
            Precision of the samples, if it is known. The directions are then converted to this
            precision once, and not again for each sample.

        Returns
        -------
        fitted : FittedMetric
            Computes `regions` and `all_regions` of samples, and the `distance` of two of them.

        Examples
        --------
        >>> import numpy as np
        >>> from isodepth import Metric
        >>> rng = np.random.default_rng(0)
        >>> fitted = Metric(depth="irw").with_directions(n_features=2)
        >>> x, y = fitted.all_regions([rng.normal(size=(50, 2)), rng.normal(size=(60, 2)) + 5])
        >>> fitted.distance(x, x), fitted.distance(x, y) > 6
        (0.0, True)
        """
        hint = "; it is the number of columns of the samples"
        Integer(1).check("n_features", n_features, hint)
        precision = METRIC["dtype"].check(dtype)
        _refuse_learned_scale(self.scale)
        # Named divisors are matched with the columns of each sample.
        if self.scale is not None and not isinstance(self.scale, NamedScale):
            check_scale_width(self._units, n_features)
        return self._fitted(n_features, precision, self._units)

    def region_table(
        self,
        X: SampleLike,
        *,
        weights: VectorLike | None = None,
        table_dtype: Precision = "float64",
    ) -> RegionTable:
        """Compute the region table of one sample, to compare it with many other tables.

        The table contains the support values of the trimmed regions of the sample, on a fixed grid
        of levels and directions. The metric needs an integer `levels`, and an integer
        `random_state` or fixed directions. Tables cannot be refined: `refine` has no effect, and
        the signature of the table contains ``refine=0``.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d), or a source of :func:`isodepth.scan`
        weights : array-like of shape (n,) or None
            Weight of each row; None for equal weights.
        table_dtype : {"float64", "float32"}
            Precision of the stored support values.

        Returns
        -------
        table : RegionTable, with values of shape (levels, 2 * K)
            K is the number of directions: the length of an array `directions`, otherwise
            `n_directions`, or 1 if X has one column.
        """
        precision = TABLE_DTYPE.check(table_dtype)
        check_for_tables(self)
        if is_chunked(X):
            from isodepth.metric.chunked import entry

            return entry.region_table(self, X, weights, precision)
        fitted, regions = self._fit_one(X, weights, "a table of rows")
        values = np.empty(fitted._table_shape, dtype=precision)
        fitted._write_table(regions._nested, values)
        settings = fitted._table_settings(str(regions.points.dtype))
        return RegionTable(
            values=values,
            settings=settings,
            n_features=regions.n_features,
            columns=regions.columns,
            scale=aligned_scale(self._units, regions.columns),
        )

    def _fit_one(self, X: Any, weights: Any, purpose: str) -> tuple[FittedMetric, TrimmedRegions]:
        """Return the metric with sampled directions, and the regions of one sample.

        `purpose` names the method that needs all rows, such as "Metric.regions", for messages.
        """
        refuse_chunks(X, purpose)
        _refuse_learned_scale(self.scale)
        points, columns, checked, *_ = self._read(X, weights, "X", self._units, "weights")
        fitted = self.with_directions(points.shape[1])
        sample = Sample.of(points, checked, resources=fitted._resources)
        self._source._warn_if_uninformative(sample)
        return fitted, fitted._fit_regions(sample, columns)

    def _seeded(self) -> Metric:
        """Return a metric with an integer as `random_state`, whose settings repeat the result."""
        if isinstance(self.random_state, int):
            return self
        copy = object.__new__(type(self))
        vars(copy).update(vars(self), random_state=integer_seed(self.random_state))
        return copy

    # -- steps of a comparison ----------------------------------------------------------------

    def _fitted(
        self, width: int, dtype: str | None = None, scale: np.ndarray | None = None
    ) -> FittedMetric:
        """Sample the directions and the levels for data with `width` columns.

        `dtype` is the dtype of the samples, to which the directions are converted, or None if it is
        unknown. `scale` (width,) are the divisors of the columns, or None.
        """
        levels, seed = self.levels, self.random_state
        n_levels = levels.n_levels if isinstance(levels, RandomLevels) else levels
        if isinstance(n_levels, int):
            check_level_memory(n_levels, LEVEL_BYTES, self.memory_mb)
        betas = midpoint_levels(levels, self.eps) if isinstance(levels, int) else None
        directions = vectors_of(width, self.n_directions, self.directions, seed)
        if isinstance(levels, RandomLevels):
            betas = rng_for(seed, "levels").uniform(0.0, 1.0 - self.eps, levels.n_levels)
        used = np.asarray(directions, dtype).view()
        resources = Resources(self.n_jobs or available_cores(), self.memory_mb or MEMORY_MB)
        return FittedMetric(self, Origin(self._source, directions, scale), used, betas, resources)

    def _read(
        self, X: Any, weights: Any, name: str, scale: np.ndarray | None, weights_name: str = ""
    ) -> SampleRows:
        """Validate one sample and divide its columns by `scale` (d,), unless it is None.

        Rows with missing values are dropped if `nan_policy` is "omit". `name` and `weights_name`
        are the names of `X` and `weights` in messages.
        """
        policy = self.nan_policy
        sample = read_sample(X, weights, name, self._dtype, policy, weights_name=weights_name)
        if scale is None:
            return sample
        scale = aligned_scale(scale, sample.columns)
        return sample._replace(points=scaled(sample.points, scale, name, sample.columns))

    def _fit_pair(self, X: Any, Y: Any, weights: Any, way: str = "_nest") -> FittedPair:
        """Sample directions and compute the regions of two samples in memory.

        `weights` is a pair with the weights of the rows of X and of Y, or None. `way` is the method
        of `FittedMetric` that computes the regions, see `fit_both`.
        """
        if not (isinstance(X, np.ndarray) and isinstance(Y, np.ndarray)):
            Y = in_order(Y, labels_of(X), "Y", "X")
        weights_x, weights_y = split_weights(weights)
        x, y = as_pair(self._read(X, weights_x, "X", None), self._read(Y, weights_y, "Y", None))
        scale = self._pair_scale(x, y)
        if scale is not None:
            x, y = (
                side._replace(points=scaled(side.points, scale, name, side.columns))
                for name, side in (("X", x), ("Y", y))
            )
        missing = None
        if x.missing is not None and y.missing is not None:
            missing = MissingPair(x.missing, y.missing, kept=(x.kept, y.kept))
            if missing._many_dropped:
                advice = "leave out these columns, or use two_sample_test, which drops no row"
                warn_user(f"{missing._many_dropped}; {advice}", ColumnWarning)
        fitted = self._fitted(x.points.shape[1], scale=scale)
        regions = fit_both(fitted, (x, y), way)
        nested = regions if way == "_nest" else [each._nested for each in regions]
        self._source._warn_if_uninformative(*(each.sample for each in nested))
        return FittedPair(fitted, regions[0], regions[1], missing)

    def _pair_scale(self, x: SampleRows, y: SampleRows) -> np.ndarray | None:
        """Return the divisors (d,) of the columns of two samples, which the option `scale` defines.

        Return None if the option is None.
        """
        if self.scale is None:
            return None
        if isinstance(self.scale, str):
            used = (x, y) if self.scale == "pooled" else (x,)
            points, row_weights = [side.points for side in used], [side.weights for side in used]
            return units_of_samples(points, row_weights, self.eps)
        return aligned_scale(self._units, x.columns)

    def _compare_arrays(self, X: Any, Y: Any, weights: Any = None) -> Comparison:
        """Compare two samples in memory, which may be arrays or data frames."""
        fitted, x, y, missing = self._fit_pair(X, Y, weights, "_fit_regions")
        comparison = fitted.compare(x, y)
        return comparison if missing is None else comparison._with(missing=missing)


def _refuse_learned_scale(scale: Any) -> None:
    """Raise an error if the scale is "pooled" or "reference", which are estimated from samples."""
    if isinstance(scale, str):
        raise InvalidOptionError(
            f"scale={scale!r} is estimated from the samples of a comparison, got a single sample; "
            "use an array with one number per column, or compute the tables of all samples with "
            "isodepth.region_tables(..., scale='pooled')",
            option="scale",
        )


def _warn_of_omitted(used: Sequence[ColumnKind], kinds: Any) -> None:
    """Warn of columns that a distance does not use, unless the option `kinds` leaves them out.

    `used` has the kinds of all columns.
    """
    unused = [each for each in used if each.use != "numeric"]
    given = check_kinds(kinds) if unused else {}
    omitted = [
        # The warning about the kind of such a column was issued when the column was read.
        replace(each, note="", attention=False)
        if each.use == "category" and each.attention
        else each
        for each in unused
        if given.get(each.column) not in ("category", "omit")
    ]
    if omitted:
        warn_user(
            f"the distance compares the numeric columns that X and Y have in common; "
            f"{'; '.join(column_lines(omitted))} (compare lists every column, and two_sample_test "
            "compares categories)",
            ColumnWarning,
        )


class _NumericPair(NamedTuple):
    """Numeric columns that two samples have in common.

    Attributes
    ----------
    X, Y : samples
        With these columns only.
    columns : tuple of ColumnKind
        Kinds of all columns of data frames, including those of only one sample; () for arrays.
    inputs : tuple (X, Y, kinds)
        The samples with all common columns, and the entries of the option `kinds` for them.
    """

    X: Any
    Y: Any
    columns: tuple[ColumnKind, ...]
    inputs: tuple[Any, Any, Any]


def _numeric(X: Any, Y: Any, kinds: Any) -> _NumericPair:
    """Return the common numeric columns of two samples.

    `kinds` maps the names of columns to their kinds, or is None, as in `Metric.distance`.
    """
    if kinds is None and isinstance(X, np.ndarray):
        return _NumericPair(X, Y, (), (X, Y, kinds))
    X, Y, kinds, unmatched = matched_frames(X, Y, kinds)
    x, y, used = numeric_columns(X, Y, kinds)
    return _NumericPair(x, y, (*used, *unmatched), (X, Y, kinds))


def _metric_of(options: Mapping[str, Any]) -> Metric:
    """Return the metric with the options of `distance` or `compare`."""
    if not options:
        return DEFAULT
    for name in options:
        if name not in DISTANCE:
            raise unknown_option(name, [*DISTANCE])
    return Metric(**options)


#: Metric with the default options, which are not checked at each call.
DEFAULT = Metric()


@overload
def distance(  # type: ignore[overload-overlap]
    X: TensorLike,
    Y: TensorLike,
    *,
    weights: Sequence[VectorLike | None] | None = None,
    kinds: KindsLike | None = None,
    **options: Unpack[MetricOptions],
) -> torch.Tensor: ...


@overload
def distance(
    X: SampleLike,
    Y: SampleLike,
    *,
    weights: Sequence[VectorLike | None] | None = None,
    kinds: KindsLike | None = None,
    **options: Unpack[MetricOptions],
) -> float: ...


@shows(DISTANCE)
def distance(
    X: SampleLike,
    Y: SampleLike,
    *,
    weights: Sequence[VectorLike | None] | None = None,
    kinds: KindsLike | None = None,
    **options: Unpack[MetricOptions],
) -> Any:
    """Compute DR_{p,eps} between two samples, a distance that is robust to outliers.

    DR is the mean of order `p`, over levels, of the distances between the depth-trimmed regions of
    both samples. These are by default Hausdorff distances between the convex hulls of the regions.
    :class:`isodepth.Metric` explains the options.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
        One observation per row. Columns of frames are matched by name, in the order of X.
        Non-numeric columns, and columns that only one frame has, are left out, with a warning. X
        and Y may also be torch tensors on one device, sources of :func:`isodepth.scan`, or Dask
        collections. The last two are compared with ``levels=20, refine=0`` by default, so that the
        distance is usually smaller than that of the same rows in memory. An
        :class:`isodepth.errors.ApproximationWarning` is then issued, unless q is finite or both
        options are set.
    weights : pair (wx, wy) or None
        Weights of the rows, of shape (n,) and (m,). None for equal weights, also as an entry of the
        pair.
    kinds : dict or None
        Kinds of columns, if their types are not sufficient: "numeric", "category", "omit", a list
        of values in their order, or an integer to subtract; see :func:`isodepth.two_sample_test`.
        Keys are names of columns of data frames, which may be integers. The columns of a source
        without names are 0, 1, ... Arrays have numeric columns only.
    {options}

    Returns
    -------
    distance : float, or a zero-dimensional tensor if X and Y are tensors

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> isodepth.distance(X, X, random_state=0)
    0.0
    >>> round(isodepth.distance(X, X + [3, 4], random_state=0), 3)
    5.0
    """
    return _metric_of(options).distance(X, Y, weights=weights, kinds=kinds)


@shows(DISTANCE)
def compare(
    X: SampleLike,
    Y: SampleLike,
    *,
    weights: Sequence[VectorLike | None] | None = None,
    kinds: KindsLike | None = None,
    **options: Unpack[MetricOptions],
) -> Comparison:
    """Compare two samples by their distance, and by the contributions of columns to it.

    :class:`isodepth.Metric` explains the options.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
        One observation per row. Columns of frames are matched by name, in the order of X. The
        distance uses numeric columns only; :func:`isodepth.two_sample_test` also compares
        categories. Columns that only one frame has are not compared, but listed in the result. X
        and Y may also be torch tensors on one device, sources of :func:`isodepth.scan`, or Dask
        collections. The last two are compared with ``levels=20, refine=0`` by default, see
        :func:`isodepth.distance`.
    weights : pair (wx, wy) or None
        Weights of the rows, of shape (n,) and (m,). None for equal weights, also as an entry of the
        pair.
    kinds : dict or None
        Kinds of columns, if their types are not sufficient: "numeric", "category", "omit", a list
        of values in their order, or an integer to subtract; see :func:`isodepth.two_sample_test`.
        Keys are names of columns of data frames, which may be integers. The columns of a source
        without names are 0, 1, ... Arrays have numeric columns only.
    {options}

    Returns
    -------
    comparison : Comparison

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> isodepth.compare(X, X + [3, 4], scale=None, random_state=0)
    X and Y are at distance 5, not tested.
      largest contributions: column 1 64%
      suspicious_rows() lists the rows that look wrong
      distance 5 in the units of the columns; chance_level() gives the distances of random splits
    """
    return _metric_of(options).compare(X, Y, weights=weights, kinds=kinds)
