"""Sums of functions over the rows of the first sample for many permutations, on a torch device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from isodepth.device.products import working_on

# Number of labels on the device at a time.
_MOST_LABELS = 1 << 27


class DeviceLabels:
    """Labels of rows on a device of torch, see `isodepth.significance.permutations.Permutations`.

    Parameters
    ----------
    words : uint64 ndarray of shape (W, n)
        Bit b of words[w, i] is 1 if row i belongs to the first sample in labeling 64 w + b.
    count : int
        Number of labelings.
    device : str
        Device of torch, such as "cuda:0".

    Examples
    --------
    >>> labels = DeviceLabels(np.array([[1, 3, 2]], np.uint64), 2, "cpu")
    >>> labels.sums(np.array([[1.0, 10.0, 100.0]]))
    array([[ 11., 110.]])
    """

    def __init__(self, words: np.ndarray, count: int, device: str) -> None:
        self._device, self._count = torch.device(device), count
        packed = np.ascontiguousarray(words.T, "<u8").view(np.uint8)
        with working_on(self._device):
            self._packed = torch.from_numpy(packed).to(self._device)
            self._shifts = torch.arange(8, dtype=torch.uint8, device=self._device)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sums (F, count) of F functions over the rows of the first sample.

        `values` (F, n) are the values of the functions at all n rows. There is one sum per function
        and labeling. Sums over blocks of rows have the precision of the values, and are added in
        float64.
        """
        with working_on(self._device):
            return self._sums(self._moved(values)).cpu().numpy()

    def cosine_sums(
        self, values: np.ndarray, n_cosines: int, dtype: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return sums of cosines of ranks over the rows of the first sample, means and ranges.

        The functions of a row are cos(pi j R) for j = 1, ..., `n_cosines`, where R in (0, 1) is the
        rank of the row by one of F values. The functions with j = 1 come first.

        Parameters
        ----------
        values : float64 ndarray of shape (F, n)
            The F values of each of the n rows, NaN if missing. See
            `isodepth.significance.permutations.rank_cosines`.
        n_cosines : int
        dtype : numpy dtype
            Precision of the cosines.

        Returns
        -------
        sums : float64 ndarray of shape (n_cosines * F, count)
            Sum of each function over the rows of the first sample, for each labeling.
        means, ranges : float64 ndarrays of shape (n_cosines * F,)
            Mean over all rows, and maximum minus minimum, of each function.
        """
        with working_on(self._device):
            precision = torch.from_numpy(np.empty(0, dtype)).dtype
            shape = n_cosines, *values.shape
            cosines = torch.empty(shape, dtype=precision, device=self._device)
            for f, each in enumerate(values):
                cosines[:, f] = _rank_cosines(self._moved(each), n_cosines)
            flat = cosines.flatten(0, 1)
            means = flat.mean(dim=1, dtype=torch.float64).cpu().numpy()
            ranges = (flat.amax(dim=1) - flat.amin(dim=1)).double().cpu().numpy()
            return self._sums(flat).cpu().numpy(), means, ranges

    def _moved(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self._device)

    def _sums(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sums (F, count) of values (F, n) over the rows of the first sample."""
        shape = len(values), self._count
        total = torch.zeros(shape, dtype=torch.float64, device=self._device)
        step = max(1, _MOST_LABELS // self._count)
        for first in range(0, len(self._packed), step):
            packed = self._packed[first : first + step, :, None]
            labels = (packed >> self._shifts & 1).flatten(1)[:, : self._count]
            total += values[:, first : first + step] @ labels.to(values.dtype)
        return total


def _rank_cosines(values: torch.Tensor, count: int) -> torch.Tensor:
    """Return cos(pi j R) for j = 1, ..., `count` and the ranks R of `values` (n,).

    The result has shape (count, n). Ranks are mid-ranks, scaled to (0, 1). Missing values (NaN) are
    not ranked, and their cosines are the means of the other cosines.
    """
    rows = (~values.isnan()).nonzero()[:, 0]
    ordered, at = values[rows].sort()
    is_bound = torch.ones(len(rows) + 1, dtype=torch.bool, device=values.device)
    is_bound[1:-1] = ordered[1:] != ordered[:-1]
    bounds = is_bound.nonzero()[:, 0]
    ranks = (bounds[:-1] + bounds[1:]).double() * (0.5 / len(rows))
    frequencies = torch.pi * torch.arange(1, count + 1).to(ranks)[:, None]
    of_rows = torch.cos(frequencies * ranks).repeat_interleave(bounds.diff(), dim=1)
    cosines = of_rows.mean(dim=1, keepdim=True).repeat(1, len(values))
    cosines[:, rows[at]] = of_rows
    return cosines
