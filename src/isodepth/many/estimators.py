"""Transformers for scikit-learn whose input X is a list of samples, called bags.

`RegionTransformer` computes a vector of features for each bag, and `DistanceTransformer` a matrix
of distances between bags. This module is imported at its first use, because scikit-learn takes
seconds to import.

An element of X is a whole sample, and samples have different sizes. A two-dimensional array is
therefore refused (tag ``two_d_array=False``), and the checks of `sklearn.utils.estimator_checks`
that fit such an array do not apply. The tests of this package run the other checks, and test
pickling, refitting, pipelines and grid searches with bags.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from isodepth.base.annotations import (
    DepthLike,
    DirectionsLike,
    NanPolicy,
    Precision,
    RandomStateLike,
    ScaleLike,
    TableLike,
)
from isodepth.base.declared import TABLE_DTYPE, TABLES
from isodepth.base.options import takes
from isodepth.errors import NotFittedError
from isodepth.geometry.directions import mean_of_direction
from isodepth.geometry.regions import Nested
from isodepth.many.collections import (
    SampleGroup,
    as_list,
    names_of,
    prepare_group,
    with_shared_scale,
)
from isodepth.many.pairwise import TABLE_LEVELS, fit_tables, table_metric
from isodepth.many.refined import fill_refined_distances, fit_regions
from isodepth.metric.region_table import RegionTables, check_comparable, fill_distances
from isodepth.table.arrays import precision_of
from isodepth.table.validation import check_same_width, refuse_chunks

# Options of the transformers, without those that `fit` does not need.
_OPTIONS = TABLES.without("memory_mb")


@takes()
@dataclass(kw_only=True, eq=False, repr=False)
class _BagTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of transformers whose input is a list of samples, called bags.

    It has the options of the metric as parameters, and computes region tables: the support values
    of the nested trimmed regions of each bag.
    """

    depth: DepthLike = "projection"
    p: float = 2
    q: float = math.inf
    eps: float = 0.1
    n_directions: int = 1000
    directions: DirectionsLike = "uniform"
    levels: int = TABLE_LEVELS
    normalize: bool = True
    scale: ScaleLike = None
    nan_policy: NanPolicy = "raise"
    dtype: Precision | None = None
    table_dtype: Precision = "float64"
    random_state: RandomStateLike = None
    n_jobs: int | None = None

    def _fit_metric(self, X: Any, count: int | None = None) -> SampleGroup:
        """Fit the metric to the bags X, and return the first `count` bags, or all if it is None.

        The attribute `metric_` is a metric with a fixed seed, scale and dtype, so that later bags
        are comparable.
        """
        options = self.get_params(deep=False)
        TABLE_DTYPE.check(options.pop("table_dtype"))
        bags = as_list(X, "X")
        metric = table_metric(options, refine=options.pop("refine", 0))
        # Bags after the first `count` bags are needed only to estimate a common scale.
        needed = bags if isinstance(metric.scale, str) else bags[:count]
        _refuse_chunks(needed)
        group = prepare_group(needed, None, metric, names_of("X", len(needed)), convert=True)
        metric = replace(metric, dtype=precision_of(group.samples[0].points))
        self.metric_ = with_shared_scale(metric, group)
        self.n_features_in_ = group.width
        self._columns = group.columns
        return group._replace(samples=group.samples[:count], names=group.names[:count])

    def _fit_tables(self, X: Any, count: int | None = None) -> RegionTables:
        """Fit the metric to the bags X, and return the region tables of the first `count` bags."""
        stack = fit_tables(self._fit_metric(X, count), self.metric_, self.table_dtype, False)
        self._first = stack._table(0)
        return stack

    def _group(self, X: Any) -> SampleGroup:
        """Validate bags, and bring their columns into the order of the fitted bags."""
        self._check_is_fitted()
        bags, like = as_list(X, "X"), "the fitted bags"
        names = names_of("X", len(bags))
        return prepare_group(bags, None, self.metric_, names, self._columns, like)

    def _tables(self, X: Any) -> RegionTables:
        stack = fit_tables(self._group(X), self.metric_, self.table_dtype, False)
        check_comparable(self._first, stack._table(0), "the fitted bags", "X")
        return stack

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the output, such as "regiontransformer0".

        Parameters
        ----------
        input_features : ignored
        """
        self._check_is_fitted()
        return super().get_feature_names_out(input_features)

    def _check_is_fitted(self) -> None:
        if not hasattr(self, "metric_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit(X) first")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.no_validation = True
        return tags


def _refuse_chunks(bags: Sequence[Any]) -> None:
    """Raise an error if any of the bags is read in chunks."""
    for i, bag in enumerate(bags):
        refuse_chunks(bag, f"X[{i}]")


@takes(_OPTIONS)
class RegionTransformer(_BagTransformer):
    """Transform each bag of points into one row of features, its flattened region table.

    A region table contains the support values of the nested trimmed regions of a bag, at all levels
    and along all directions. If p = q, the rows are scaled so that the l_p distance between two
    rows is the distance DR between the bags. For ``p=2, q=2`` this is the Euclidean distance, so
    KMeans, PCA or a nearest-neighbor index can be applied to the rows directly.

    Parameters
    ----------
    levels : int, default 20
        Number L of regions of each bag. The region of level beta is the smallest set of deepest
        points with more than a fraction beta of all points. Levels are the midpoints of L intervals
        of equal length that divide [0, 1 - eps].
    scale : None, "pooled" or array of shape (d,), default None
        Divisors of the columns; "pooled" is the robust standard deviation in all fitted bags.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default None
        Seed of the directions. With None, `fit` samples new directions and keeps them.
    {options}
    table_dtype : {"float64", "float32"}, default "float64"
        Precision of the stored support values.

    Attributes
    ----------
    metric_ : Metric
        Metric with the dtype, the scale and the seed of the directions that `fit` determined.
    n_features_in_ : int
        Number of columns of the bags.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(n, 3)) for n in (50, 80, 65)]
    >>> transformer = isodepth.RegionTransformer(n_directions=10, random_state=0)
    >>> rows = transformer.fit_transform(bags)
    >>> rows.shape
    (3, 400)
    """

    def fit(self, X: Iterable[TableLike], y: Any = None) -> RegionTransformer:
        """Check the settings, sample the directions, and estimate the scale if `scale` is a string.

        Parameters
        ----------
        X : sequence of bags of shape (n_i, d)
        y : ignored
        """
        self._n_features_out = self._fit_tables(X, 1)[0].values.size
        return self

    def transform(self, X: Iterable[TableLike]) -> np.ndarray:
        """Compute the features of bags: the support values of their trimmed regions.

        If p = q < inf, they are multiplied by a factor, so that the l_p distance between two rows
        is the distance DR between the bags.

        Parameters
        ----------
        X : sequence of N bags of shape (n_i, d)

        Returns
        -------
        rows : ndarray of shape (N, levels * 2 * K)
            K is the number of directions: `n_directions`, the length of an array `directions`, or 1
            for bags with one column.
        """
        stack = self._tables(X)
        rows = stack.values.reshape(len(stack), -1)
        return rows if self._unit == 1 else rows * rows.dtype.type(self._unit)

    @property
    def _unit(self) -> float:
        """Factor by which the rows of features are multiplied.

        If p = q < inf, the l_p distance between two rows is then the distance DR between their
        bags. Otherwise the factor is 1.
        """
        p, q = self.metric_.p, self.metric_.q
        if p != q or math.isinf(p):
            return 1.0
        share = self.metric_._length / self._first.values.size
        return share ** (1 / p) / mean_of_direction(self._first.n_features, q)


@takes(_OPTIONS)
@dataclass(kw_only=True, eq=False, repr=False)
class DistanceTransformer(_BagTransformer):
    """Transform each bag of points into one row of features, its distances DR to the fitted bags.

    In a pipeline this transformer precedes estimators with ``metric="precomputed"`` or
    ``affinity="precomputed_nearest_neighbors"``.

    Parameters
    ----------
    levels : int, default 20
        Number L of regions of each bag. The region of level beta is the smallest set of deepest
        points with more than a fraction beta of all points. Levels are the midpoints of L intervals
        of equal length that divide [0, 1 - eps].
    refine : int, default 0
        Number of steps of local ascent from the best directions of each pair of bags, see
        :class:`isodepth.Metric`; needs ``q=inf``. With 0, distances with ``q=inf`` and more than a
        few columns are smaller than those of :func:`isodepth.distance`. With a positive number, the
        rows of the fitted bags are kept, and distances take much longer.
    scale : None, "pooled" or array of shape (d,), default None
        Divisors of the columns; "pooled" is the robust standard deviation in all fitted bags.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default None
        Seed of the directions. With None, `fit` samples new directions and keeps them.
    {options}
    table_dtype : {"float64", "float32"}, default "float64"
        Precision of the stored support values, which are not used with a positive `refine`.

    Attributes
    ----------
    metric_ : Metric
        Metric with the dtype, the scale and the seed of the directions that `fit` determined.
    tables_ : RegionTables or None
        Support values of the trimmed regions of the fitted bags. None with a positive `refine`.
    n_features_in_ : int
        Number of columns of the bags.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(60, 2)) + [shift, 0] for shift in (0, 0, 0, 3, 3, 3)]
    >>> model = make_pipeline(
    ...     isodepth.DistanceTransformer(n_directions=50, random_state=0),
    ...     KNeighborsClassifier(n_neighbors=1, metric="precomputed"),
    ... )
    >>> model.fit(bags, [0, 0, 0, 1, 1, 1]).predict([rng.normal(size=(80, 2)) + [3, 0]])
    array([1])
    """

    refine: int = 0

    def fit(self, X: Iterable[TableLike], y: Any = None) -> DistanceTransformer:
        """Compute and store the trimmed regions of N bags, for distances to these bags.

        Parameters
        ----------
        X : sequence of N bags of shape (n_i, d)
        y : ignored
        """
        self.tables_: RegionTables | None = None
        self._regions: list[Nested] | None = None
        if self.refine:
            group = self._fit_metric(X)
            _, (self._regions,) = fit_regions([group], self.metric_, False)
        else:
            self.tables_ = self._fit_tables(X)
        self._n_features_out = len(self._regions or self.tables_ or ())
        return self

    def fit_transform(self, X: Iterable[TableLike], y: Any = None) -> np.ndarray:
        """Fit to N bags and compute the symmetric matrix (N, N) of the distances between them.

        The argument `y` is ignored.
        """
        self.fit(X)
        out = np.empty((self._n_features_out, self._n_features_out))
        if self._regions is not None:
            fitted = self.metric_.with_directions(self.n_features_in_)
            fill_refined_distances(fitted, self._regions, None, out)
        elif self.tables_ is not None:
            fill_distances(self.tables_, None, out, self.n_jobs)
        return out

    def transform(self, X: Iterable[TableLike]) -> np.ndarray:
        """Compute the distances (M, N) of M bags to the N fitted bags."""
        self._check_is_fitted()
        if self._regions is not None:
            bags = as_list(X, "X")
            _refuse_chunks(bags)
            group = self._group(bags)
            width = group.width
            check_same_width(self.n_features_in_, width, "the fitted bags", "X")
            fitted, (regions,) = fit_regions([group], self.metric_, False)
            out = np.empty((len(regions), self._n_features_out))
            fill_refined_distances(fitted, regions, self._regions, out)
            return out
        assert self.tables_ is not None
        stack = self._tables(X)
        out = np.empty((len(stack), self._n_features_out))
        fill_distances(stack, self.tables_, out, self.n_jobs)
        return out
