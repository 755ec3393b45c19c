"""Functions with the names, arguments and results of the code that the authors published.

:func:`DRPM` and :class:`DepthScoreMetric` use the same random directions as that code, so that the
results are equal up to rounding. They are for comparisons with published numbers: the functions of
isodepth are faster and more accurate. The two differences from the code of the authors, each with a
warning, are the absolute value of differences and percentiles that are not rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isodepth.base.options import UNLIMITED, Choice, Integer, Number
from isodepth.errors import InvalidInputError, warn_user
from isodepth.geometry.regions import power_mean
from isodepth.table.validation import check_points, check_same_width
from isodepth.text.clouds import check_texts, clean_clouds
from isodepth.text.encoder import CachedEncoder, Encoder

__all__ = ["DRPM", "DepthScoreMetric"]

_DEPTHS = ("tukey", "projection", "irw", "ai_irw")


def DRPM(
    X: Any,
    Y: Any,
    n_alpha: int = 10,
    data_depth: str = "irw",
    eps_min: float = 0,
    eps_max: float = 1,
    p: float = 2,
    n_dirs: int | None = None,
    random_state: int | None = None,
) -> float:
    """Compute the distance of two samples as the script ``DRPM.py`` of the authors does.

    The regions of a level have the points whose depth is at least a percentile of all depths. The
    levels are `n_alpha` equidistant percentiles, from ``100 * eps_min``, the whole convex hull for
    0, to ``100 * eps_max``, the deepest point for 1.

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (m, d)
    n_alpha : int
        Number of levels.
    data_depth : {"irw", "ai_irw", "projection", "tukey"}
        "tukey" is the halfspace depth, with each direction used once, and "ai_irw" is whitened with
        the robust covariance MCD. Each depth has directions of its own, which differ from those of
        the support functions.
    eps_min, eps_max : float in [0, 1]
        First and last level. `eps_min` is the `eps` of :class:`isodepth.Metric`, and `eps_max` has
        no counterpart.
    p : float
        Order of the mean over levels.
    n_dirs : int or None
        Number of directions; None for 100 d.
    random_state : int or None
        Seed of the directions; None for 0. As in the script, the seed is always 0 for "irw" and
        "ai_irw".

    Returns
    -------
    distance : float

    Warns
    -----
    UserWarning
        If the script gives another number. It raises differences of support functions to the power
        `p` without absolute value, and rounds the first and last percentile down to an integer.

    Examples
    --------
    >>> import numpy as np
    >>> from isodepth.compat import DRPM
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 3)), rng.normal(size=(150, 3)) + [1, 0, 0]
    >>> round(DRPM(X, Y, data_depth="projection"), 6)
    1.375792
    """
    x, y = check_points(X, "X", "float64")[0], check_points(Y, "Y", "float64")[0]
    check_same_width(x.shape[1], y.shape[1])
    Choice(_DEPTHS).check("data_depth", data_depth)
    seed = 0 if random_state is None else Integer(0, UNLIMITED).check("random_state", random_state)
    n_dirs = 100 * x.shape[1] if n_dirs is None else Integer(1).check("n_dirs", n_dirs)
    levels = _levels(n_alpha, eps_min, eps_max)
    return _distance(x, y, data_depth, levels, p, n_dirs, seed, robust=True)


class DepthScoreMetric:
    """Distance between the token vectors of texts, as in ``depth_score.py`` of the authors.

    Each text is the set of its token vectors, special tokens included, scaled to length one. The
    distance is that of :func:`DRPM` with 10,000 directions.

    Parameters
    ----------
    model_name : str or callable
        Name on the Hugging Face hub, a folder, or a function that maps a list of texts to a list of
        arrays of shape (tokens, width).
    layers_to_consider : int
        Index of the hidden state of the model; without effect for a function.
    considered_measure : {"irw", "ai_irw"}
        Depth. "ai_irw" is whitened with the empirical covariance. For the other measures of the
        authors see POT (``ot.emd2``, ``ot.sliced_wasserstein_distance``) and geomloss.
    p : float or None
        Order of the mean over levels; None for 5.
    eps : float in [0, 1] or None
        First level; None for 0.3. The last level is 1.
    n_alpha : int or None
        Number of levels; None for 5.

    Examples
    --------
    >>> from isodepth.compat import DepthScoreMetric
    >>> def letters(texts):  # a toy encoder: each letter is a token in two dimensions
    ...     return [[[ord(c) % 7, ord(c) % 5] for c in text] for text in texts]
    >>> metric = DepthScoreMetric(letters, p=2)
    >>> metric.evaluate_batch(["abcd"], ["abcd"])
    {'depth_score': [0.0]}
    """

    def __init__(
        self,
        model_name: str | Callable[[Sequence[str]], Sequence[Any]] = "bert-base-uncased",
        layers_to_consider: int = 9,
        considered_measure: str = "irw",
        p: float | None = None,
        eps: float | None = None,
        n_alpha: int | None = None,
    ) -> None:
        Choice(("irw", "ai_irw")).check("considered_measure", considered_measure)
        self.considered_measure = considered_measure
        self.p = 5 if p is None else p
        self.eps = 0.3 if eps is None else eps
        self.n_alpha = 5 if n_alpha is None else n_alpha
        self.model_name = model_name
        self.layers_to_consider = layers_to_consider
        self._encoder: Any = model_name
        if not callable(model_name):
            self._encoder = Encoder(
                model=model_name,
                layer=layers_to_consider,
                special_tokens="keep",
                dtype="float32",
                progress=False,
            )

    def evaluate_batch(
        self,
        batch_hyps: str | Sequence[str],
        batch_refs: str | Sequence[str],
        idf_hyps: Any = None,
        idf_ref: Any = None,
    ) -> dict[str, list[float]]:
        """Return the distance of each hypothesis from its reference, for the key "depth_score".

        Lower is closer. `idf_hyps` and `idf_ref` have no effect.
        """
        hyps = [batch_hyps] if isinstance(batch_hyps, str) else batch_hyps
        refs = [batch_refs] if isinstance(batch_refs, str) else batch_refs
        texts, references = check_texts(hyps, refs)
        encoder = CachedEncoder(self._encoder)
        encoder([*texts, *(group[0] for group in references)])
        clouds = dict(zip(encoder.cache, clean_clouds(encoder.cache.values(), True), strict=True))
        pairs = zip([group[0] for group in references], texts, strict=True)
        return {"depth_score": [self._score(clouds[r], clouds[text]) for r, text in pairs]}

    def _score(self, reference: np.ndarray | None, text: np.ndarray | None) -> float:
        if reference is None or text is None:
            raise InvalidInputError("texts must have at least one token; remove empty texts")
        x, y = reference.astype(float), text.astype(float)
        levels = _levels(self.n_alpha, self.eps, 1.0)
        return _distance(x, y, self.considered_measure, levels, self.p, 10_000, 0, robust=False)


def _levels(n_alpha: Any, eps_min: Any, eps_max: Any) -> tuple[np.ndarray, bool]:
    """Return the percentiles of depths, and whether the authors use the same percentiles."""
    low = Number(0, 1).check("eps_min", eps_min)
    high = Number(low, 1).check("eps_max", eps_max)
    first, last = round(100 * low, 9), round(100 * high, 9)
    same = (int(low * 100), int(high * 100)) == (first, last)
    return np.linspace(first, last, Integer(1).check("n_alpha", n_alpha)), same


def _distance(
    x: np.ndarray,
    y: np.ndarray,
    depth: str,
    levels: tuple[np.ndarray, bool],
    p: Any,
    n_dirs: int,
    seed: int,
    *,
    robust: bool,
) -> float:
    """Return the mean of order p over levels of the maximum difference of support functions.

    `robust` selects the covariance of "ai_irw": MCD or the empirical covariance.
    """
    p = Number(0, low_open=True, high_open=True).check("p", p)
    percentiles, same_levels = levels
    # The code of the authors sets the seed to 0 in each call of the IRW depth.
    restarts = "irw" in depth
    stream = np.random.RandomState(0 if restarts else seed)
    depth_x = _depths(x, depth, n_dirs, stream, robust)
    if restarts:
        stream.seed(0)
    depth_y = _depths(y, depth, n_dirs, stream, robust)
    directions = _unit_vectors(stream, n_dirs, x.shape[1])
    supports = []
    for points, depths in ((x, depth_x), (y, depth_y)):
        order = np.argsort(-depths)
        maxima = np.maximum.accumulate(points[order] @ directions.T)
        cuts = np.percentile(depths, percentiles)
        supports.append(maxima[np.searchsorted(-depths[order], -cuts, "right") - 1])
    signed = supports[0] - supports[1]
    shares = np.full(len(percentiles), 1 / len(percentiles))
    distance = power_mean(np.abs(signed).max(axis=1), shares, p)
    with np.errstate(all="ignore"):
        published = float(np.mean(np.max(signed**p, axis=1)) ** np.float64(1 / p))
    reasons = []
    if not math.isclose(published, distance, rel_tol=1e-9, abs_tol=1e-300):
        reasons.append(
            f"raises differences to the power {p:g} without absolute value, which gives "
            f"{published:.4g} instead of {distance:.4g}"
        )
    if not same_levels:
        reasons.append("rounds eps_min and eps_max down to whole percents")
    if reasons:
        warn_user(f"the code of the authors {' and '.join(reasons)}", UserWarning)
    return distance


def _unit_vectors(stream: np.random.RandomState, count: int, d: int) -> np.ndarray:
    vectors = stream.standard_normal((count, d))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _depths(
    points: np.ndarray, depth: str, n_dirs: int, stream: np.random.RandomState, robust: bool
) -> np.ndarray:
    """Return the depth (n,) of each of the `points` (n, d) in their own sample."""
    if depth == "ai_irw":
        points = _whitened(points, stream, robust)
    n, d = points.shape
    projections = points @ _unit_vectors(stream, n_dirs, d).T
    if depth == "projection":
        deviations = np.abs(projections - np.median(projections, axis=0))
        return 1 / (1 + (deviations / np.median(deviations, axis=0)).max(axis=1))
    below = np.empty((n, n_dirs))
    ranks = np.arange(1, n + 1)[:, None] / n
    np.put_along_axis(below, np.argsort(projections, axis=0), ranks, axis=0)
    return below.min(axis=1) if depth == "tukey" else np.minimum(below, 1 - below).mean(axis=1)


def _whitened(points: np.ndarray, stream: np.random.RandomState, robust: bool) -> np.ndarray:
    """Return the points with a covariance equal to the identity.

    If the covariance is singular, the principal components are whitened by their empirical one.
    """
    covariance = np.atleast_2d(np.cov(points.T))
    if robust:
        from sklearn.covariance import MinCovDet

        covariance = MinCovDet(random_state=stream).fit(points).covariance_
    rank = int(np.linalg.matrix_rank(covariance))
    if rank < points.shape[1]:
        centered = points - points.mean(axis=0)
        points = centered @ np.linalg.svd(centered, full_matrices=False)[2][:rank].T
        covariance = np.atleast_2d(np.cov(points.T))
    axes, variances, _ = np.linalg.svd(covariance)
    return points @ (axes / np.sqrt(variances))


def __dir__() -> list[str]:
    return __all__
