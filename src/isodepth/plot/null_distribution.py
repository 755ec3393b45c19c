"""What chance gives, and what was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isodepth.plot.style import DASHED, FAINT, MARK, QUIET, dress, legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isodepth.significance.result import TwoSampleResult


def null_distribution(test: TwoSampleResult, ax: Axes | None = None) -> Axes:
    """Draw the statistics of all relabelings, and where the observed one lies.

    Parameters
    ----------
    test : TwoSampleResult
        What `isodepth.two_sample_test` returns, or the `test` of a comparison.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> from isodepth.plot import null_distribution
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((60, 2)), 2 * rng.standard_normal((60, 2))
    >>> test = isodepth.two_sample_test(X, Y, n_permutations=99, random_state=0)
    >>> null_distribution(test).get_xlabel()
    'distance between the two samples'
    """
    if ax is None:
        ax = new_axes(8, 3.4)
    null = np.asarray(test.null_distribution, dtype=float)
    n_bins = int(np.clip(np.sqrt(len(null)) * 1.5, 5, 40))
    ax.hist(
        null, bins=n_bins, facecolor=FAINT, edgecolor=QUIET, linewidth=0.8,
        label=f"{len(null)} relabelings of the same rows",
    )  # fmt: skip
    bound = float(np.quantile(null, 0.95))
    ax.axvline(bound, color=QUIET, linestyle=DASHED, linewidth=1.2, label="95% of them lie below")
    ax.axvline(test.statistic, color=MARK, linewidth=2.2)
    low, high = min(null.min(), test.statistic), max(null.max(), test.statistic)
    room = 0.06 * (high - low) or 0.5
    ax.set_xlim(low - room, high + room)
    left = test.statistic > (low + high) / 2
    ax.annotate(
        f"observed {test.statistic:.4g}, p = {test.pvalue:.3g}",
        (test.statistic, 0.75), xycoords=("data", "axes fraction"),
        xytext=(-6 if left else 6, 0), textcoords="offset points",
        ha="right" if left else "left", color=MARK, fontsize="small", fontweight="bold",
    )  # fmt: skip
    beyond = f", beyond a share {test.tolerance:g} of foreign rows" if test.tolerance else ""
    ax.set_xlabel(f"distance between the two samples{beyond}")
    ax.set_ylabel("relabelings")
    dress(ax, "Could it be chance?")
    top = ax.get_ylim()[1]
    ax.set_ylim(0, 1.3 * top)
    legend(ax, loc="upper left", ncols=2)
    return ax
