"""Types of the arguments of public functions, which `isodepth.typing` publishes.

Data frames and tensors are described by the attributes that they have in all libraries, so that
annotations do not need these libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np


class FrameLike(Protocol):
    """Data frame, such as those of pandas, polars or Dask."""

    @property
    def columns(self) -> Any: ...

    def __len__(self) -> int: ...


class TensorLike(Protocol):
    """Tensor of torch."""

    @property
    def requires_grad(self) -> bool: ...

    def detach(self) -> Any: ...


class SupportsArray(Protocol):
    """Array, or an object that NumPy converts to an array by its method `__array__`."""

    def __array__(self) -> np.ndarray: ...


class DepthEstimator(Protocol):
    """Estimator whose `score_samples` returns the depth of each row."""

    def fit(self, X: Any, /) -> Any: ...

    def score_samples(self, X: Any, /) -> Any: ...


class CovarianceEstimator(Protocol):
    """Covariance estimator of scikit-learn."""

    def fit(self, X: Any, /) -> Any: ...


#: Sample in memory, with one row per observation: an array-like, a data frame or a tensor.
TableLike: TypeAlias = SupportsArray | Sequence[Any] | FrameLike | TensorLike
#: One number per row, such as weights, or per column.
VectorLike: TypeAlias = SupportsArray | Sequence[float]
#: Depth function: a name, an estimator, or a function of the points and possibly their weights.
DepthLike: TypeAlias = (
    Literal["projection", "halfspace", "irw", "ai_irw"] | DepthEstimator | Callable[..., Any]
)
#: Family of directions, or an array of shape (K, d).
DirectionsLike: TypeAlias = (
    Literal["uniform", "sobol", "orthogonal", "equispaced"]
    | SupportsArray
    | Sequence[Sequence[float]]
)
#: Units of the columns: a rule, or an array with one number per column.
ScaleLike: TypeAlias = Literal["pooled", "reference"] | VectorLike | None
#: Estimate of a covariance: a name, or an estimator.
CovarianceLike: TypeAlias = Literal["empirical", "mcd", "ledoit-wolf"] | CovarianceEstimator
#: Kinds of columns by their names, which may be integers.
KindsLike: TypeAlias = Mapping[Any, Any]
#: Labels of the rows, a pair of them for two samples, or the name of the column with the labels.
LabelsLike: TypeAlias = SupportsArray | Sequence[Any]
#: Treatment of missing values in distances.
NanPolicy: TypeAlias = Literal["raise", "omit"]
#: Treatment of missing values in tests and monitors.
TestNanPolicy: TypeAlias = Literal["keep", "raise"]
#: Precision of floating-point numbers: a name, or a type or dtype of NumPy.
Precision: TypeAlias = Literal["float32", "float64"] | type[np.floating[Any]] | np.dtype[Any]
#: Seed or generator of random numbers.
RandomStateLike: TypeAlias = int | np.random.Generator | np.random.RandomState | None
