"""BaseMetric: a frozen object with all settings of the distance, which compares arrays.

The subclass `isodepth.Metric` also compares tensors, and samples that are read in chunks. It is in
another module, because the packages for tensors and chunks import this module.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeVar

import numpy as np

from isodepth.core.directions import FAMILIES, draws_at_random
from isodepth.core.regions import Sample, TrimmedRegions
from isodepth.core.scaling import SCALES, check_scale, check_scale_width, warn_of_different_spreads
from isodepth.data.missing import NAN_POLICIES
from isodepth.data.validation import (
    check_boolean,
    check_choice,
    check_direction_rows,
    check_integer,
    check_n_jobs,
    check_number,
    refuse_chunks,
    unknown_option,
)
from isodepth.depth.resolve import private_copy
from isodepth.errors import InvalidOptionError
from isodepth.hull import WAYS
from isodepth.metric.comparison import Comparison
from isodepth.metric.fitted import FittedMetric, Settings, fit_both, fit_metric, prepare
from isodepth.metric.signature import signature_of
from isodepth.metric.table import STORAGES

#: Line of a docstring that `with_metric_options` replaces with the descriptions of parameters.
OPTIONS_LINE = "{options of Metric}"

Documented = TypeVar("Documented", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, eq=False)
class BaseMetric(Settings):
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
        covariance. Its directions are those of the metric, the same for both samples. Any estimator
        with `fit` and `score_samples`, and any function of the points (and of the weights, if there
        are any) is accepted as well. Estimators are copied. With the projection depth a share of up
        to `eps` of contaminated rows has a bounded effect; other depths tolerate less
        contamination.
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
    levels : "exact", int or "monte-carlo"
        How to average over the levels in [0, 1 - eps]: "exact" integrates over all levels, an
        integer uses a midpoint grid with that number of levels, and "monte-carlo" uses `n_levels`
        random levels, as in the paper.
    n_levels : int or None
        Number of random levels; only with ``levels="monte-carlo"``.
    normalize : bool
        True averages over the levels in [0, 1 - eps], so that DR = |m1 - m2| for Gaussians of equal
        covariance with means m1 and m2. False integrates over the levels without the factor
        1 / (1 - eps), as in the paper.
    refine : int or None
        Number of steps of local ascent from the best sampled directions towards the supremum over
        all directions. With ``refine=0`` the maximum is too small in more than a few dimensions.
        Refinement never lowers a gap. None means 20 for q = inf, and 0 for a finite q and for
        tensors that require grad, because a refined distance has no gradient.
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
        deviation is used instead, which tolerates a fraction 0.5.
    nan_policy : {"raise", "omit"}
        Treatment of missing values: raise an error, or drop the rows with missing values.
        Infinite values are always an error.
    dtype : {"float32", "float64"} or None
        Precision of the projections; None means float32 for float32 data and float64 otherwise.
    random_state : None, int or numpy.random.Generator
        Seed or generator of the random directions and levels. The same integer gives the same
        directions on any machine, and the same bits with any `n_jobs`. With None every call samples
        new directions: two calls give slightly different numbers, which cannot be reproduced. Use
        an integer if numbers are compared with each other, published or tested.
    n_jobs : int or None
        Number of threads; None for all available cores. The result does not depend on it.
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
    'DR|depth=halfspace|p=2|eps=0.2|levels=exact|dirs=uniform:1000|refine=20|seed=0|v=0.3.0'
    """

    def __post_init__(self) -> None:
        gap, q = check_choice(self.gap, "gap", WAYS), check_number(self.q, "q", 1)
        if gap == "exact" and q < math.inf:
            raise InvalidOptionError(
                f"gap={gap!r} is the exact supremum over directions, which is q=inf; got q={q:g}, "
                "a mean over the given directions: remove gap",
                option="gap",
            )
        check_choice(self.nan_policy, "nan_policy", NAN_POLICIES)
        if self.dtype is not None:
            check_choice(self.dtype, "dtype", ("float32", "float64"))
        check_n_jobs(self.n_jobs)
        if self.memory_mb is not None:
            check_number(self.memory_mb, "memory_mb", 0, low_open=True, high_open=True)
        _check_refine(self.refine, q)
        seed = self.random_state
        if not isinstance(seed, np.random.Generator | None):
            seed = check_integer(seed, "random_state", 0, "; or a numpy.random.Generator, or None")
        directions, n_directions = _checked_directions(self.directions, self.n_directions)
        checked = {
            "depth": self.depth if isinstance(self.depth, str) else private_copy(self.depth),
            "p": check_number(self.p, "p", 0, low_open=True),
            "q": q,
            "eps": check_number(self.eps, "eps", 0, 1, low_open=True),
            "n_directions": n_directions,
            "directions": directions,
            "levels": _checked_levels(self.levels, self.n_levels),
            "normalize": check_boolean(self.normalize, "normalize"),
            "scale": _checked_scale(self.scale),
            "random_state": seed,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        _ = self.source  # raises an error if the option `depth` is invalid

    @classmethod
    def paper(cls, n_alpha: int, K: int, **options: Any) -> Self:
        """Return the metric of Algorithm 1 of the paper, with random levels and uniform directions.

        The paper is Staerman et al., arXiv 2103.12711.

        Parameters
        ----------
        n_alpha : int
            Number of random levels.
        K : int
            Number of independent uniform directions.
        **options
            The other parameters of this class: `depth`, `p`, `q`, `eps`, `normalize`, `gap`,
            `scale`, `nan_policy`, `dtype`, `random_state`, `n_jobs`, `memory_mb`.

        Examples
        --------
        >>> from isodepth import Metric
        >>> Metric.paper(20, 100, depth="halfspace", eps=0.3, random_state=1).signature
        'DR|depth=halfspace|p=2|eps=0.3|levels=monte-carlo:20|dirs=uniform:100|refine=0|seed=1|v=0.3.0'
        """
        return cls(
            levels="monte-carlo",
            n_levels=n_alpha,
            n_directions=K,
            directions="uniform",
            refine=0,
            **options,
        )

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Create a metric from keyword options; an unknown option raises InvalidOptionError."""
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                raise unknown_option(name, names)
        return cls(**options)

    @property
    def signature(self) -> str:
        """Settings that determine the distance, as a short string."""
        return signature_of(self, self.dtype, self.steps)

    def compare(self, X: Any, Y: Any, weights: Any = None) -> Comparison:
        """Compare two samples.

        The result has the distance, and the gap between the trimmed regions at each level with its
        maximizing direction.
        """
        fitted, x, y, missing = fit_both(self, X, Y, weights)
        comparison = fitted.compare(x, y)
        if self.scale is None:
            warn_of_different_spreads(x.sample.points, y.sample.points, comparison.columns)
        return comparison if missing is None else replace(comparison, missing=missing)

    def regions(self, X: Any, weights: Any = None) -> TrimmedRegions:
        """Compute the nested depth-trimmed regions of one sample.

        The result stores the depth function, the directions and the scale that define the regions.
        :meth:`isodepth.FittedMetric.distance` compares the regions of two samples if these settings
        are equal. Use `with_directions` to compute regions of many samples with the same
        directions.

        Parameters
        ----------
        X : array-like or data frame of shape (n, d)
        weights : array-like of shape (n,) or None
        """
        return self._fit_one(X, weights, "Metric.regions")[1]

    def with_directions(self, n_features: int, dtype: str | None = None) -> FittedMetric:
        """Sample the directions and levels once, to compare many samples.

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
        check_integer(n_features, "n_features", 1)
        if dtype is not None:
            check_choice(dtype, "dtype", STORAGES)
        refuse_learned_scale(self.scale)
        if self.scale is not None:
            check_scale_width(self.scale, n_features)
        return fit_metric(self, n_features, dtype=dtype, scale=self.scale)

    def check_for_tables(self, storage: str = "float64") -> None:
        """Check that region tables from separate calls of this metric will be comparable.

        Comparable tables need an integer `levels`, the same directions in every call, and
        ``gap="search"``. `storage` is the dtype of the tables.
        """
        check_choice(storage, "storage", STORAGES)
        random = draws_at_random(self.directions) and not isinstance(self.random_state, int)
        wrong = {"levels": isinstance(self.levels, str), "random_state": random}
        wrong["gap"] = self.gap != "search"
        for name in (name for name, refused in wrong.items() if refused):
            raise InvalidOptionError(
                f"tables need a fixed grid of levels (an integer, such as levels=20), the same "
                "directions in each call (an integer, such as random_state=0, or an array of "
                f"directions) and gap='search'; got {name}={getattr(self, name)!r}",
                option=name,
            )

    def _fit_one(self, X: Any, weights: Any, purpose: str) -> tuple[FittedMetric, TrimmedRegions]:
        """Return the metric with sampled directions, and the regions of one sample.

        `purpose` is the name of the calling method, for messages.
        """
        refuse_chunks(X, purpose)
        refuse_learned_scale(self.scale)
        points, columns, checked, *_ = prepare(X, weights, "X", self, self.scale, "weights")
        fitted = self.with_directions(points.shape[1])
        sample = Sample.of(points, checked)
        self.source.warn_if_uninformative(sample)
        return fitted, fitted.fit_regions(points, checked, columns, sample)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature})"


def _checked_directions(directions: Any, n_directions: Any) -> tuple[Any, int]:
    """Check the options `directions` and `n_directions`.

    Return `directions`, as the name of a family or an array of unit vectors, and the number of
    directions.
    """
    if isinstance(directions, str):
        check_choice(directions, "directions", FAMILIES)
        return directions, check_integer(n_directions, "n_directions", 1)
    directions = check_direction_rows(directions)
    if n_directions not in (Settings.n_directions, len(directions)):
        raise InvalidOptionError(
            f"n_directions has no effect with an array of {len(directions)} directions, got "
            f"{n_directions!r}; remove it",
            option="n_directions",
        )
    directions.setflags(write=False)
    return directions, len(directions)


def refuse_learned_scale(scale: Any) -> None:
    """Raise an error if the scale is "pooled" or "reference", which are estimated from samples."""
    if isinstance(scale, str):
        raise InvalidOptionError(
            f"scale={scale!r} is estimated from the samples of a comparison, got a single sample; "
            "use an array with one number per column, or compute the tables of all samples with "
            "isodepth.region_tables(..., scale='pooled')",
            option="scale",
        )


def _checked_levels(levels: Any, n_levels: Any) -> Any:
    if isinstance(levels, str):
        check_choice(levels, "levels", ("exact", "monte-carlo"))
    else:
        levels = check_integer(levels, "levels", 1, "; or 'exact', or 'monte-carlo'")
    if levels == "monte-carlo":
        if n_levels is None:
            raise InvalidOptionError(
                "levels='monte-carlo' needs n_levels, such as n_levels=20", option="n_levels"
            )
        check_integer(n_levels, "n_levels", 1)
    elif n_levels is not None:
        raise InvalidOptionError(
            f"n_levels={n_levels!r} needs levels='monte-carlo', got levels={levels!r}; use "
            f"levels={n_levels!r} for a grid with that number of levels",
            option="n_levels",
        )
    return levels


def _check_refine(refine: Any, q: float) -> None:
    if refine is None:
        return
    if check_integer(refine, "refine", 0, "; or None, which chooses by q") and q < math.inf:
        raise InvalidOptionError(
            f"refine needs q=inf, the supremum over directions; got refine={refine!r} with "
            f"q={q:g}, a mean over directions; remove refine",
            option="refine",
        )


def _checked_scale(scale: Any) -> Any:
    if scale is None or (isinstance(scale, str) and scale in SCALES):
        return scale
    numbers = check_scale(scale)
    numbers.setflags(write=False)
    return numbers


def with_metric_options(leave_out: Iterable[str] = ()) -> Callable[[Documented], Documented]:
    """Return a decorator that inserts the parameters of `Metric` into a docstring.

    The descriptions of the parameters replace the line OPTIONS_LINE. Parameters that the docstring
    describes itself, and those in `leave_out`, are not inserted.
    """

    def decorate(documented: Documented) -> Documented:
        text = documented.__doc__
        if text is None:  # python -OO removes docstrings
            return documented
        text = inspect.cleandoc(text)
        if f"\n{OPTIONS_LINE}\n" not in text:
            raise ValueError(f"the docstring of {documented.__qualname__} lacks {OPTIONS_LINE!r}")
        known = {*leave_out, *re.findall(r"^(\w+) : ", text, re.MULTILINE)}
        defaults = {f.name: repr(f.default).replace("'", '"') for f in fields(BaseMetric)}
        lines = [
            "\n".join([f"{name} : {kind}, default {defaults[name]}", *description])
            for name, (kind, description) in metric_parameters().items()
            if name not in known
        ]
        documented.__doc__ = text.replace(OPTIONS_LINE, "\n".join(lines))
        return documented

    return decorate


def metric_parameters() -> dict[str, tuple[str, list[str]]]:
    """Return the type and the description of every parameter in the docstring of `BaseMetric`.

    Keys are the names of the parameters. Descriptions are lists of indented lines.
    """
    text = inspect.cleandoc(BaseMetric.__doc__ or "")
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nExamples\n")[0]
    entries = re.findall(r"^(\w+) : (.+)\n((?:    .+\n)+)", f"{section}\n", re.MULTILINE)
    return {name: (kind, lines.splitlines()) for name, kind, lines in entries}
