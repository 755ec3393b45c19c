"""DepthMonitor: one reference, fitted once, against batch after batch."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from isodepth.core.scaling import spread_of_samples
from isodepth.data.frames import Table
from isodepth.errors import InvalidOptionError, IsodepthError, UnreadableFileError
from isodepth.many.pairwise import table_metric
from isodepth.metric.metric import Metric
from isodepth.metric.preparation import Prepared, prepare
from isodepth.metric.signature import Signature
from isodepth.metric.table import table_arrays, table_from, table_header

_KIND = "depth monitor"


class DepthMonitor:
    """How far each new batch of data is from a reference.

    The reference is turned into a table when the monitor is made; a batch costs one fit of its own
    and a comparison of two tables. A saved monitor holds the table and the settings, none of the
    reference's rows.

    Parameters
    ----------
    reference : array-like or data frame of shape (n, d)
    weights : array-like of shape (n,) or None
    **options
        The fields of :class:`Metric`, with ``levels=20`` by default. Without a `random_state`
        directions are drawn once and kept. ``scale="reference"`` divides every column, of batches
        too, by its spread in the reference, which is kept.

    Attributes
    ----------
    reference : RegionTable
    signature : str

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> monitor = isodepth.DepthMonitor(rng.normal(size=(2000, 3)), random_state=0)
    >>> monitor.score(rng.normal(size=(500, 3))) < 0.5
    True
    >>> round(monitor.score(rng.normal(size=(500, 3)) + [4, 0, 0]))
    4
    """

    def __init__(self, reference: Any, *, weights: Any = None, **options: Any) -> None:
        metric = table_metric(options)
        given = prepare(
            reference, weights, "reference",
            dtype=metric.dtype, nan_policy=metric.nan_policy, scale=None,
        )  # fmt: skip
        # Whatever a batch comes in, it is computed in the precision of the reference.
        metric = replace(metric, dtype=str(given.points.dtype))
        if isinstance(metric.scale, str):
            metric = replace(metric, scale=_reference_scale(metric.scale, given))
        self._metric = metric
        self.reference = self._metric.table(Table(given.points, given.columns), given.weights)

    @property
    def signature(self) -> str:
        """How scores are made."""
        return self.reference.signature

    def score(self, batch: Any, weights: Any = None) -> float:
        """Distance of a batch from the reference.

        Parameters
        ----------
        batch : array-like or data frame of shape (m, d)
        weights : array-like of shape (m,) or None

        Returns
        -------
        distance : float
        """
        table = self._metric.table(batch, weights)
        return self.reference.distance_to(table)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the monitor to an .npz file; a file already there is replaced whole or not at all.

        A depth that is the caller's own object cannot be saved.
        """
        from isodepth.data.archive import write_file

        if "foreign:" in self.signature:
            raise InvalidOptionError(
                "a monitor whose depth is the caller's own object cannot be saved, got "
                f"{self._metric.depth!r}; use one of the depths of isodepth"
            )
        arrays = table_arrays(self.reference)
        if not isinstance(self._metric.directions, str):
            arrays["directions"] = self._metric.directions
        header = table_header(self.reference)
        if self._metric.nan_policy != "raise":
            header["nan_policy"] = self._metric.nan_policy
        write_file(path, _KIND, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DepthMonitor:
        """Read what `save` wrote; a damaged or foreign file raises UnreadableFileError."""
        from isodepth.data.archive import read_file, unreadable

        header, arrays = read_file(path, _KIND)
        monitor = cls.__new__(cls)
        monitor.reference = table_from(header, arrays, path)
        signature = Signature.parse(monitor.signature)
        try:
            monitor._metric = Metric(
                **signature.options(arrays.get("directions"), arrays.get("scale")),
                nan_policy=header.get("nan_policy", "raise"),
            )
        except IsodepthError as error:
            raise UnreadableFileError(f"{os.fspath(path)}: {error}") from None
        differing = signature.differences(Signature.parse(monitor._metric.signature))
        if differing:
            raise unreadable(path, f"its {', '.join(differing)} are not those of its reference")
        return monitor

    def __repr__(self) -> str:
        return f"DepthMonitor({self.reference.n_features} column(s))\n  {self.signature}"


def _reference_scale(word: str, given: Prepared) -> np.ndarray:
    """The spread (d,) of the columns of the reference, where `word` asks for it."""
    if word == "pooled":
        raise InvalidOptionError(
            "scale='pooled' needs both samples, and a monitor knows its reference alone; use "
            "scale='reference', the spread of the reference"
        )
    return spread_of_samples([given.points], [given.weights])
