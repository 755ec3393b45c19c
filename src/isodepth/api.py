"""Public API: the class `Metric`, and the functions `distance` and `compare`.

Methods and functions accept arrays, data frames, tensors, and samples that are read in chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack, overload

import numpy as np

from isodepth.base.options import (
    ALPHA,
    MOST,
    check_alpha,
    check_boolean,
    check_class_options,
    check_dtype,
    check_integer,
)
from isodepth.errors import (
    ColumnWarning,
    InvalidOptionError,
    ScaleWarning,
    UnknownOptionError,
    warn_user,
)
from isodepth.geometry.directions import integer_seed
from isodepth.geometry.regions import Sample, TrimmedRegions
from isodepth.geometry.scaling import aligned_scale, warn_of_different_spreads
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import (
    FittedMetric,
    compare_arrays,
    fit_both,
    fit_for_one_sample,
    prepare,
    refuse_learned_scale,
)
from isodepth.metric.region_table import RegionTable
from isodepth.metric.settings import (
    MetricOptions,
    MetricSettings,
    PaperOptions,
    RandomLevels,
    check_for_tables,
    settings_of_data,
    with_metric_options,
)
from isodepth.rows.kept import RowsInMemory
from isodepth.significance.samples import named_blocks
from isodepth.significance.two_sample import two_sample_test
from isodepth.table.kinds import (
    ColumnKind,
    check_kinds,
    column_lines,
    matched_frames,
    numeric_columns,
)
from isodepth.table.validation import copy_of_sample, is_chunked, is_tensor, refuse_chunks

if TYPE_CHECKING:
    import torch

    from isodepth.base.annotations import (
        KindsLike,
        LabelsLike,
        Precision,
        TableLike,
        TensorLike,
        VectorLike,
    )
    from isodepth.stream.source import SampleLike


# A constructor of its own, so that its errors name Metric.
@check_class_options
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Metric(MetricSettings):
    __doc__ = MetricSettings.__doc__

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
            from isodepth.torch.distance import distance as tensor_distance

            return tensor_distance(self, X, Y, weights)
        fitted, x, y, _ = fit_both(_with_integer_seed(self), X, Y, weights)
        if self.scale is None and used:
            warn_of_different_spreads(x._sample.points, y._sample.points, x.columns)
        return fitted.distance(x, y)

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
        distance. It is also issued by :func:`isodepth.compare` with a test, if the test finds a
        change of other columns than that with the largest contribution because of the units.

        The result keeps a copy of the rows of both samples, and does not change if the caller
        changes X or Y. Read-only arrays (``X.setflags(write=False)``) and samples that are read in
        chunks are not copied.

        If X and Y are tensors, the result has plain numbers and is not differentiable by autograd;
        see `Comparison.gradient`.
        """
        metric = _with_integer_seed(self)
        compared = metric._compare(copy_of_sample(X), copy_of_sample(Y), weights, kinds)
        _warn_of_units(compared)
        of_data = settings_of_data(kinds, weights)
        return compared._with(settings=compared.settings | of_data) if of_data else compared

    def _compare(self, X: Any, Y: Any, weights: Any, kinds: KindsLike | None) -> Comparison:
        """Compare two samples without copying them.

        The result keeps the samples, for example for `suspicious_rows`, so that their values must
        not be changed later.
        """
        if is_chunked(X) or is_chunked(Y):
            from isodepth.metric.chunked import entry

            compared = entry.compare(self, X, Y, weights, kinds=kinds)
            entry.warn_of_replaced_defaults(self, compared)
            return compared
        X, Y, used, inputs = _numeric(X, Y, kinds)
        kept = RowsInMemory(*inputs)
        if is_tensor(X) or is_tensor(Y):
            from isodepth.torch.distance import compare as compare_tensors

            return compare_tensors(self, X, Y, weights)._with(_kept=kept)
        return compare_arrays(self, X, Y, weights)._with(kinds=used, _kept=kept)

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
        return fit_for_one_sample(self, n_features, dtype)

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
        table_dtype = check_dtype(table_dtype, "table_dtype")
        check_for_tables(self)
        if is_chunked(X):
            from isodepth.metric.chunked import entry

            return entry.region_table(self, X, weights, table_dtype)
        fitted, regions = self._fit_one(X, weights, "a table of rows")
        values = np.empty(fitted._table_shape, dtype=table_dtype)
        fitted._write_table(regions, values)
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
        refuse_learned_scale(self.scale)
        points, columns, checked, *_ = prepare(X, weights, "X", self, self._units, "weights")
        fitted = self.with_directions(points.shape[1])
        sample = Sample.of(points, checked)
        self._source._warn_if_uninformative(sample)
        return fitted, fitted._fit_regions(points, checked, columns, sample)


def _with_integer_seed(metric: Metric) -> Metric:
    """Return a metric with an integer as `random_state`, so that its settings repeat the result."""
    if isinstance(metric.random_state, int):
        return metric
    return replace(metric, random_state=integer_seed(metric.random_state))


def _warn_of_units(comparison: Comparison) -> None:
    """Warn if a column dominates the distance because of its units."""
    details = comparison._details
    if comparison.test is not None and comparison._units_note:
        warn_user(comparison._units_note, ScaleWarning)
    elif comparison.settings["scale"] is None and details is not None:
        x, y = details.regions
        if isinstance(x, TrimmedRegions):  # not for samples in chunks
            warn_of_different_spreads(x._sample.points, y._sample.points, comparison.columns)


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


@with_metric_options()
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
    {options of Metric}

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
    return Metric._from_options(options, distance).distance(X, Y, weights=weights, kinds=kinds)


@with_metric_options()
def compare(
    X: SampleLike,
    Y: SampleLike,
    *,
    weights: Sequence[VectorLike | None] | None = None,
    kinds: KindsLike | None = None,
    n_permutations: int = 0,
    tolerance: float | None = None,
    alpha: float = 0.05,
    blocks: LabelsLike | None = None,
    progress: bool = False,
    **options: Unpack[MetricOptions],
) -> Comparison:
    """Compare two samples by their distance, the contributions of columns, and optionally a test.

    Parameters
    ----------
    X, Y : array-likes or data frames of shape (n, d) and (m, d)
        One observation per row. Columns of frames are matched by name, in the order of X. The
        distance uses numeric columns only, and the test also compares categories. Columns that only
        one frame has are not compared, but listed in the result. X and Y may also be torch tensors
        on one device, sources of :func:`isodepth.scan`, or Dask collections. The last two are
        compared with ``levels=20, refine=0`` by default, see :func:`isodepth.distance`.
    weights : pair (wx, wy) or None
        Weights of the rows, of shape (n,) and (m,). None for equal weights, also as an entry of the
        pair.
    kinds : dict or None
        Kinds of columns, if their types are not sufficient: "numeric", "category", "omit", a list
        of values in their order, or an integer to subtract; see :func:`isodepth.two_sample_test`.
        Keys are names of columns of data frames, which may be integers. The columns of a source
        without names are 0, 1, ... Arrays have numeric columns only.
    n_permutations : int
        Number of permutations of a test by :func:`isodepth.two_sample_test`; 0 means no test. The
        result of the test is the attribute `test` of the comparison. The test uses the given
        `random_state` and `n_jobs`, but its own directions. The units of the test are robust
        standard deviations of the columns, unless `scale` is an array. The test does not support
        weights. With ``nan_policy="omit"``, the distance drops rows and the test keeps them.
    tolerance, alpha, blocks
        Options of the test, see :func:`isodepth.two_sample_test`.
    progress : bool
        Whether to show a progress bar for the test (needs tqdm).
    {options of Metric}

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
    metric = _with_integer_seed(Metric._from_options(options, compare))
    of_test: dict[str, Any] = {"tolerance": tolerance, "blocks": blocks}
    of_test["progress"] = check_boolean(progress, "progress") or None
    of_test = {name: value for name, value in of_test.items() if value is not None}
    if check_alpha(alpha) != ALPHA:
        of_test["alpha"] = alpha
    if not check_integer(n_permutations, "n_permutations", 0, "; 0 means no test", high=MOST):
        if of_test:
            name = next(iter(of_test))
            raise InvalidOptionError(
                f"{name} is an option of the test, which needs n_permutations, such as 999; pass "
                "both or neither",
                option=name,
            )
        return metric.compare(X, Y, weights=weights, kinds=kinds)
    if weights is not None:
        raise InvalidOptionError(
            "n_permutations needs rows of equal weight, got weights: rows with different weights "
            "are not exchangeable; remove one of them",
            option="n_permutations",
        )
    of_test["nan_policy"] = "raise" if metric.nan_policy == "raise" else "keep"
    of_test |= {"random_state": metric.random_state, "n_jobs": options.get("n_jobs")}
    if isinstance(metric.scale, np.ndarray):
        of_test["scale"] = metric.scale
    X, Y = copy_of_sample(X), copy_of_sample(Y)  # the comparison and the test keep the same rows
    X, Y, of_test["blocks"] = named_blocks(X, Y, blocks)
    comparison = metric._compare(X, Y, None, kinds)
    comparison = comparison._with(settings=comparison.settings | settings_of_data(kinds))
    test = two_sample_test(X, Y, n_permutations=n_permutations, kinds=kinds, **of_test)
    if "nan_policy" not in options:
        # Without missing values, the default of the test has the same result.
        test = test._with(settings=test.settings | {"nan_policy": "keep"})
    comparison = comparison._with_test(test)
    _warn_of_units(comparison)
    return comparison
