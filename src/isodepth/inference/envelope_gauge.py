"""How far a batch is from a reference, whatever a share of its rows may be.

A row is looked at through functions: its projections on directions, those on the axes among them,
and its outlyingness, which sees a change of scale in many dimensions. Of n values of a function let
f = floor(c n) be foreign and m = n - f clean. The j-th smallest clean value lies between the j-th
and the (j + f)-th smallest of all, whatever the foreign ones are. So the gap between two such
intervals, 0 where they meet, is never more than the gap between the clean quantiles.

`score` takes these gaps, `plain` those between the quantiles of rows that are known to be clean:
the largest over functions of the root mean square over levels, in units of the function's spread in
the reference. For batches of which at most the share c is foreign, `score` is never more than the
`plain` of any m of their clean rows.
"""

from __future__ import annotations

import math

import numpy as np

from isodepth._version import __version__
from isodepth.core.scaling import pooled_spread, scaled
from isodepth.engine.threads import single_threaded_blas
from isodepth.errors import InvalidOptionError

LEVELS = 19
_BLOCK = 16


def foreign_rows(n: int, tolerance: float) -> int:
    """How many of n rows may be foreign."""
    # 0.05 * 20 is a little more than 1 in some products of floats, and a little less in others.
    return math.floor(tolerance * n + 1e-9)


def quantile_ranks(n: int, levels: int) -> np.ndarray:
    """Ranks, from 0, of the quantiles of levels l / (levels + 1) among n values, of shape (L,).

    The smallest value with at least that share of all values up to it, in whole numbers.
    """
    level = np.arange(1, levels + 1)
    return -(-level * n // (levels + 1)) - 1


class EnvelopeGauge:
    """Quantiles of a reference along functions of a row, and how far batches are from them.

    Attributes
    ----------
    directions : ndarray of shape (K, d)
    tolerance : float in [0, 0.5)
    scale : ndarray of shape (d,) or None
        What the columns are divided by first.
    centers, widths : ndarrays of shape (K,)
        Median and robust spread of the reference along each direction.
    spreads : ndarray of shape (K + 1,)
        Robust spread of each function: those along directions, and that of the outlyingness.
    quantiles : ndarray of shape (3, L, K + 1)
        Of the reference: the lower and upper ends of what the clean quantiles can be, and the
        quantiles of all rows, in units of the spreads.
    """

    def __init__(
        self,
        directions: np.ndarray,
        tolerance: float,
        scale: np.ndarray | None,
        centers: np.ndarray,
        widths: np.ndarray,
        spreads: np.ndarray,
        quantiles: np.ndarray,
    ) -> None:
        self.directions = directions
        self.tolerance = tolerance
        self.scale = scale
        self.centers = centers
        self.widths = widths
        self.spreads = spreads
        self.quantiles = quantiles

    @classmethod
    def fit(
        cls,
        points: np.ndarray,
        directions: np.ndarray,
        tolerance: float,
        levels: int = LEVELS,
        scale: np.ndarray | None = None,
    ) -> EnvelopeGauge:
        """The gauge of a reference (n, d)."""
        units = points if scale is None else scaled(points, scale, "reference")
        centers, widths = np.empty(len(directions)), np.empty(len(directions))
        outlyingness = np.zeros(len(points))
        for part in _blocks(len(directions)):
            values = _projections(directions[part], units)
            centers[part], widths[part] = np.median(values, axis=1), pooled_spread(values.T)
            _raise_outlyingness(outlyingness, values, centers[part], widths[part])
        spreads = np.append(widths, pooled_spread(outlyingness[:, None]))
        gauge = cls(directions, tolerance, scale, centers, widths, spreads, np.empty((3, 0, 0)))
        gauge.quantiles = gauge._quantiles(points, foreign_rows(len(points), tolerance), levels)
        return gauge

    @property
    def n_features(self) -> int:
        """Columns of the data."""
        return self.directions.shape[1]

    @property
    def signature(self) -> str:
        """How scores are made."""
        count, width = self.directions.shape
        return (
            f"intervals|tolerance={self.tolerance:g}|levels={self.quantiles.shape[1]}"
            f"|dirs={count}x{width}|scale={'none' if self.scale is None else 'given'}"
            f"|v={__version__}"
        )

    def measure(self, points: np.ndarray, n_rows: int, weights: np.ndarray | None = None) -> float:
        """The score of a batch (n, d), without its columns."""
        if weights is not None:
            raise InvalidOptionError(
                "with a tolerance rows are counted, and weights do not apply; repeat rows instead"
            )
        return self.score(points, n_rows)[0]

    def plain(self, points: np.ndarray, n_rows: int) -> float:
        """The distance of rows (n, d) that are known to be clean, left of `n_rows` or not."""
        found = self._quantiles(points, 0, self.quantiles.shape[1])
        return float(_root_mean_squares(np.abs(found[2] - self.quantiles[2])).max())

    def score(self, points: np.ndarray, n_rows: int) -> tuple[float, np.ndarray]:
        """What of the distance of a batch (n, d) its foreign rows cannot explain, and where.

        Parameters
        ----------
        points : ndarray of shape (n, d)
        n_rows : int
            How many rows the batch had before those with missing values were left out. The share
            of foreign ones is one of these.

        Returns
        -------
        score : float
        shares : ndarray of shape (d,)
            How much each column has to do with it: squared entries of the direction of the largest
            gap of each level, with the squared gaps as weights. Where no gap is left, those of the
            gaps between all rows.
        """
        # One clean row at least, or nothing is known.
        foreign = min(foreign_rows(n_rows, self.tolerance), len(points) - 1)
        lower, upper, every = self._quantiles(points, foreign, self.quantiles.shape[1])
        x_lower, x_upper, x_every = self.quantiles
        gaps = plain = np.abs(every - x_every)
        if foreign > 0:
            gaps = np.maximum(0.0, np.maximum(x_lower - upper, lower - x_upper))
        along = gaps[:, :-1] if gaps[:, :-1].any() else plain[:, :-1]
        return float(_root_mean_squares(gaps).max()), column_shares(along, self.directions)

    def arrays(self) -> dict[str, np.ndarray]:
        """What a file keeps of it."""
        places = np.concatenate([self.centers, self.widths, self.spreads])
        return {"places": places, "quantiles": self.quantiles}

    @classmethod
    def restored(
        cls,
        directions: np.ndarray,
        tolerance: float,
        scale: np.ndarray | None,
        places: np.ndarray,
        quantiles: np.ndarray,
    ) -> EnvelopeGauge:
        """The gauge of which `arrays` were kept."""
        centers, widths, spreads = np.split(places, [len(directions), 2 * len(directions)])
        return cls(directions, tolerance, scale, centers, widths, spreads, quantiles)

    def _quantiles(self, points: np.ndarray, foreign: int, levels: int) -> np.ndarray:
        """Quantiles (3, L, K + 1) of the functions of rows (n, d), as `quantiles` holds them."""
        n, count = len(points), len(self.directions)
        low = quantile_ranks(n - foreign, levels)
        ranks = np.stack([low, low + foreign, quantile_ranks(n, levels)])
        units = points if self.scale is None else scaled(points, self.scale, "batch")
        found = np.empty((*ranks.shape, count + 1))
        outlyingness = np.zeros(n)
        for part in _blocks(count):
            values = _projections(self.directions[part], units)
            _raise_outlyingness(outlyingness, values, self.centers[part], self.widths[part])
            values.sort(axis=1)
            found[:, :, part] = np.moveaxis(values[:, ranks], 0, -1)
        outlyingness.sort()
        found[:, :, count] = outlyingness[ranks]
        found /= self.spreads
        return found


def _blocks(count: int) -> list[slice]:
    """So many functions at a time: all values of all functions of many rows take much memory."""
    return [slice(start, min(start + _BLOCK, count)) for start in range(0, count, _BLOCK)]


def _projections(directions: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Values (B, n) of rows (n, d) along directions (B, d)."""
    # For so little work a second thread costs more than it does.
    with single_threaded_blas():
        return directions @ points.T.astype(np.float64, copy=False)


def _raise_outlyingness(
    outlyingness: np.ndarray, values: np.ndarray, centers: np.ndarray, widths: np.ndarray
) -> None:
    """Raise the outlyingness (n,) to that along directions with values (B, n)."""
    away = values - centers[:, None]
    np.abs(away, out=away)
    away /= widths[:, None]
    np.maximum(outlyingness, away.max(axis=0), out=outlyingness)


def column_shares(gaps: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """How much each column has to do with gaps (L, K) along directions (K, d), of shape (d,).

    Squared entries of the direction of the largest gap of each level, averaged with the squares of
    these gaps as weights: a single level is unstable, their mean is not.
    """
    where = gaps.argmax(axis=1)
    largest = np.take_along_axis(gaps, where[:, None], axis=1)[:, 0]
    top = largest.max()
    # Gaps in units of the largest: squares neither overflow nor vanish together.
    weights = np.square(largest / top) if top > 0 else np.ones(len(largest))
    return (weights / weights.sum()) @ np.square(directions[where])


def _root_mean_squares(gaps: np.ndarray) -> np.ndarray:
    top = gaps.max()
    if top == 0:
        return np.zeros(gaps.shape[1])
    return top * np.sqrt(np.mean(np.square(gaps / top), axis=0))
