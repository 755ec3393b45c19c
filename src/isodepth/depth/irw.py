"""Integrated rank-weighted depth, plain and affine-invariant."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.core.sample import Sample
from isodepth.depth.base import Depth, standardize
from isodepth.depth.whitening import check_covariance, outside_span, shrinks, whitening_matrix
from isodepth.engine.depth_passes import mean_rank_weight
from isodepth.engine.resources import Resources


class IRWDepth(Depth):
    """Integrated rank-weighted depth: the mean over directions of min(F, 1 - F).

    F is the mid-rank distribution function (P(<) + P(<=)) / 2 of the projected sample. An average
    needs far fewer directions than a minimum, and it tells points apart also where there are fewer
    points than dimensions; it is not affine invariant.

    Parameters
    ----------
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.

    Attributes
    ----------
    depth_ : ndarray of shape (n,)
        Depth of each row of the fitted sample.

    Examples
    --------
    >>> from isodepth import IRWDepth
    >>> IRWDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_
    array([0.1, 0.3, 0.5, 0.3, 0.1])
    """

    name = "irw"
    affine_invariant = False

    def of_sample(self, sample: Sample, directions: np.ndarray, resources: Resources) -> np.ndarray:
        return mean_rank_weight(
            sample.points, directions, weights=sample.masses, resources=resources
        )

    def of_points(
        self, sample: Sample, points: np.ndarray, directions: np.ndarray, resources: Resources
    ) -> np.ndarray:
        return mean_rank_weight(
            sample.points, directions, weights=sample.masses, queries=points, resources=resources
        )


class AIIRWDepth(Depth):
    """Affine-invariant integrated rank-weighted depth: IRW of the whitened sample.

    Parameters
    ----------
    covariance : {"empirical", "mcd", "ledoit-wolf"} or scikit-learn covariance estimator
        What to whiten with. "mcd" (minimum covariance determinant) is robust to outliers;
        "ledoit-wolf" shrinks towards a multiple of the identity and so stays informative with fewer
        points than dimensions, at the price of exact affine invariance.
    n_directions, directions, random_state, n_jobs
        As for every depth, see :class:`isodepth.depth.base.Depth`.

    Attributes
    ----------
    depth_ : ndarray of shape (n,)
        Depth of each row of the fitted sample.
    whitening_ : ndarray of shape (d, d)
        The depth is the IRW depth of ``X @ whitening_.T``.

    Examples
    --------
    >>> from isodepth import AIIRWDepth
    >>> AIIRWDepth().fit([[1.0], [2.0], [4.0], [8.0], [16.0]]).depth_
    array([0.1, 0.3, 0.5, 0.3, 0.1])
    """

    name = "ai_irw"

    def __init__(
        self,
        *,
        covariance: Any = "empirical",
        n_directions: int = 1000,
        directions: Any = "uniform",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_directions=n_directions,
            directions=directions,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.covariance = covariance

    def check_options(self) -> None:
        super().check_options()
        check_covariance(self.covariance)

    def is_uninformative(self, sample: Sample) -> bool:
        return not shrinks(self.covariance) and super().is_uninformative(sample)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> AIIRWDepth:
        super().fit(X, sample_weight=sample_weight)
        self.whitening_ = self._matrix(self._sample)
        return self

    def of_sample(self, sample: Sample, directions: np.ndarray, resources: Resources) -> np.ndarray:
        whitened = self._whiten(sample, sample.points)
        return mean_rank_weight(whitened, directions, weights=sample.masses, resources=resources)

    def of_points(
        self, sample: Sample, points: np.ndarray, directions: np.ndarray, resources: Resources
    ) -> np.ndarray:
        depths = mean_rank_weight(
            self._whiten(sample, sample.points),
            directions,
            weights=sample.masses,
            queries=self._whiten(sample, points),
            resources=resources,
        )
        if not shrinks(self.covariance):
            # Off the flat that holds the sample, a point is infinitely far out.
            depths[outside_span(sample, points)] = 0.0
        return depths

    def tied_depth(self, sample: Sample) -> np.ndarray:
        # The whitened corners of a simplex lie at g / sqrt(share), g a uniformly random direction
        # orthogonal to sqrt(share): only the weights are left to tell points apart.
        if sample.masses is None:
            ranks = 2 * np.arange(sample.n_points) + 1
            mean = np.minimum(ranks, 2 * sample.n_points - ranks).mean() / (2 * sample.n_points)
            return np.full(sample.n_points, mean)
        roots = np.sqrt(sample.shares)
        corners = np.diag(1 / roots) - roots
        rng = np.random.default_rng(0)
        directions = rng.standard_normal((4096, sample.n_points))
        depths = mean_rank_weight(corners, directions, weights=sample.masses)
        # Points of one weight have one depth; what the average removes is Monte-Carlo noise.
        _, group = np.unique(sample.masses, return_inverse=True)
        return (np.bincount(group, depths) / np.bincount(group))[group]

    def _whiten(self, sample: Sample, points: np.ndarray) -> np.ndarray:
        moved = standardize(sample, points)
        matrix = self._matrix(sample, moved if points is sample.points else None)
        return moved @ matrix.T.astype(moved.dtype)

    def _matrix(self, sample: Sample, moved: np.ndarray | None = None) -> np.ndarray:
        """The whitening matrix; `moved` (u, d) are the standardized points where they are known."""
        # Robust estimates are costly: keep the one of the last sample.
        known = getattr(self, "_known", None)
        if known is None or known[0] is not sample:
            if moved is None:
                moved = standardize(sample, sample.points)
            known = self._known = (sample, whitening_matrix(sample, moved, self.covariance))
        return known[1]
