"""The two statements of the paper on shifted laws, as bounds."""

from __future__ import annotations

from typing import Any

from isodepth.data.validation import check_number
from isodepth.theory.gaussian import GaussianPair
from isodepth.theory.levels import check_eps
from isodepth.theory.radii import radius_power_mean


def gaussian_bounds(
    m1: Any, S1: Any, m2: Any, S2: Any, eps: float = 0.1, sharp: bool = False
) -> tuple[float, float]:
    """Bounds of DR_{1,eps} for two Gaussian laws, from their means and the gap of their shapes.

    The paper shows that DR_{1,eps} differs from ``|m1 - m2|`` by at most C_eps times the supremum
    over unit vectors u of ``|c(u)|``, where ``c(u) = sqrt(u'S1u) - sqrt(u'S2u)``.

    Parameters
    ----------
    m1, m2 : array-like of shape (d,), or numbers when d = 1
    S1, S2 : array-like of shape (d, d), or variances when d = 1
    eps : float in (0, 1], default 0.1
    sharp : bool, default False
        Use that Gaussian regions are symmetric, which gives a better lower bound.

    Returns
    -------
    lower, upper : float
        Where the lower bound of the paper is negative, it is replaced by 0.

    Notes
    -----
    The constant is an integral of Phi^{-1}(1 - alpha(beta)). The halfspace depth at the radius r
    of a Gaussian law in R^d is Phi(-r), so this is simply r(beta) = sqrt(chi2.ppf(beta, d)); it
    grows with d, and is Phi^{-1}((1+beta)/2) only for d = 1. Like the distance it has to be
    averaged: C_eps is 1/(1-eps) times the integral over [0, 1-eps], the mean of r. The statement
    does not hold for the integrals without 1/(1-eps) that the paper prints: with equal covariances
    these give the distance ``(1-eps) |m1 - m2|``, not ``|m1 - m2|``.

    With `sharp`: u and -u both count, and c is even, so the supremum of ``|<u, m1-m2> + r c(u)|``
    is that of ``|<u, m1-m2>| + r |c(u)|``. Hence the distance is never less than ``|m1 - m2|``,
    nor less than C_eps times the supremum of ``|c|``: the larger of the two is the lower bound.

    Examples
    --------
    >>> from isodepth.theory import gaussian_bounds, gaussian_distance
    >>> laws = [0, 0], [[1, 0], [0, 2]], [5, 0], [[4, 0], [0, 1]]
    >>> lower, upper = gaussian_bounds(*laws)
    >>> lower <= gaussian_distance(*laws, p=1) <= upper
    True
    """
    pair = GaussianPair.of(m1, S1, m2, S2)
    spread = radius_power_mean(pair.d, check_eps(eps), 1.0) * pair.distance_of_shapes()
    middle = pair.distance_of_means
    lower = max(middle, spread) if sharp else max(middle - spread, 0.0)
    return lower, middle + spread


def translation_bounds(
    centerd_2: float, centerd_1: float, shift: float, symmetric: bool = False
) -> tuple[float, float]:
    """Bounds of DR_{2,eps} squared for two laws, from the distances of their centered versions.

    Let mu* and nu* be mu and nu moved by -m1 and -m2. The paper shows that DR_2(mu, nu)^2 differs
    from ``DR_2(mu*, nu*)^2 + |m1 - m2|^2`` by at most ``2 DR_1(mu*, nu*) |m1 - m2|``.

    Parameters
    ----------
    centerd_2 : float >= 0
        DR_{2,eps}(mu*, nu*).
    centerd_1 : float >= 0
        DR_{1,eps}(mu*, nu*), with the same depth and eps; at most `centerd_2`.
    shift : float >= 0
        ``|m1 - m2|``.
    symmetric : bool, default False
        Whether mu* and nu* are both symmetric about 0, which gives a better lower bound: the
        distance then is at least `shift` and at least `centerd_2`.

    Returns
    -------
    lower, upper : float
        Bounds of the *square* of DR_{2,eps}(mu, nu).

    Notes
    -----
    It holds for every depth whose regions move along with the data, not only for the halfspace
    depth, and m1, m2 may be any two points, not only the means. The distances must be averages over
    beta (``normalize=True``): without the factor 1/(1-eps) the paper's statement needs
    ``(1-eps) |m1 - m2|^2`` in place of ``|m1 - m2|^2``.

    Examples
    --------
    >>> from isodepth.theory import translation_bounds
    >>> translation_bounds(centerd_2=2.0, centerd_1=1.5, shift=3.0)
    (4.0, 22.0)
    """
    centerd_2 = check_number(centerd_2, "centerd_2", 0.0, high_open=True)
    centerd_1 = check_number(centerd_1, "centerd_1", 0.0, high_open=True)
    shift = check_number(shift, "shift", 0.0, high_open=True)
    middle = centerd_2**2 + shift**2
    width = 2 * centerd_1 * shift
    lower = max(centerd_2, shift) ** 2 if symmetric else max(middle - width, 0.0)
    return lower, middle + width
