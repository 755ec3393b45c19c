"""Distances between the same token clouds: Wasserstein, sliced Wasserstein, MMD."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isodepth.baselines import mmd, sliced_wasserstein, wasserstein
from isodepth.core.directions import unit_vectors
from isodepth.data.validation import check_choice, check_integer
from isodepth.errors import InvalidOptionError
from isodepth.text.clouds import EMPTY, clean_clouds, embed
from isodepth.text.encoding.encoder import Encoder
from isodepth.text.references import REDUCTIONS, check_texts, score_groups


class CloudDistance:
    """A distance between the token clouds of candidate and reference.

    Parameters
    ----------
    encoder : callable or None
        Maps texts to token vectors; None for the default :class:`isodepth.text.Encoder`.
    l2_normalize : bool
        Whether every token vector is scaled to length one.
    empty : {"origin", "nan", "error"}
        What a text without tokens is, as in :class:`isodepth.text.DepthScore`.
    multi_ref : {"best", "mean", "first"}
        What is done with several references.
    """

    name = "distance"
    higher_is_better = False

    def __init__(
        self,
        encoder: Callable[[Sequence[str]], Sequence[Any]] | None = None,
        *,
        l2_normalize: bool = True,
        empty: str = "origin",
        multi_ref: str = "mean",
    ) -> None:
        if isinstance(encoder, str):
            raise InvalidOptionError(f"encoder must be a callable, such as Encoder({encoder!r})")
        self.encoder = Encoder() if encoder is None else encoder
        self.l2_normalize = l2_normalize
        self.empty = check_choice(empty, "empty", EMPTY)
        self.multi_ref = check_choice(multi_ref, "multi_ref", REDUCTIONS)

    def distance(self, x: np.ndarray, y: np.ndarray) -> float:
        """Between two clouds of shape (n, d) and (m, d)."""
        raise NotImplementedError

    def score(
        self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]
    ) -> list[float]:
        """Distance of each candidate from its reference(s): lower is closer."""
        texts, groups = check_texts(candidates, references)
        raw = embed(self.encoder, [*texts, *(text for group in groups for text in group)])
        cleaned = clean_clouds(raw.values(), self.l2_normalize, self.empty)
        clouds = dict(zip(raw, cleaned, strict=True))

        def distances(pairs: list[tuple[int, str]]) -> list[float]:
            return [self._between(clouds[texts[i]], clouds[text]) for i, text in pairs]

        return score_groups(groups, distances, self.multi_ref, self.higher_is_better)

    def _between(self, x: np.ndarray | None, y: np.ndarray | None) -> float:
        return float("nan") if x is None or y is None else self.distance(x, y)


class WassersteinScore(CloudDistance):
    """Wasserstein distance between token clouds, with p = 1 the mover's distance of texts.

    Parameters
    ----------
    encoder, l2_normalize, empty, multi_ref
        As in :class:`CloudDistance`.
    p : float in [1, inf)
    """

    name = "W"

    def __init__(self, encoder: Any = None, *, p: float = 1, **options: Any) -> None:
        super().__init__(encoder, **options)
        self.p = p

    def distance(self, x: np.ndarray, y: np.ndarray) -> float:
        """Between two clouds of shape (n, d) and (m, d)."""
        return wasserstein(x, y, p=self.p)


class SlicedWassersteinScore(CloudDistance):
    """Sliced Wasserstein distance between token clouds, along directions shared by all pairs.

    Parameters
    ----------
    encoder, l2_normalize, empty, multi_ref
        As in :class:`CloudDistance`.
    p : float in [1, inf)
    n_directions : int
    random_state : int
    """

    name = "Sliced-W"

    def __init__(
        self,
        encoder: Any = None,
        *,
        p: float = 2,
        n_directions: int = 1000,
        random_state: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(encoder, **options)
        self.p = p
        self.n_directions = check_integer(n_directions, "n_directions", 1)
        self.random_state = check_integer(random_state, "random_state", 0)
        self._directions: np.ndarray | None = None

    def distance(self, x: np.ndarray, y: np.ndarray) -> float:
        """Between two clouds of shape (n, d) and (m, d)."""
        if self._directions is None or self._directions.shape[1] != x.shape[1]:
            rng = np.random.default_rng(self.random_state)
            self._directions = unit_vectors(x.shape[1], self.n_directions, "uniform", rng)
        return sliced_wasserstein(x, y, p=self.p, directions=self._directions)


class MMDScore(CloudDistance):
    """Maximum mean discrepancy with a Gaussian kernel between token clouds.

    Parameters
    ----------
    encoder, l2_normalize, empty, multi_ref
        As in :class:`CloudDistance`.
    bandwidth : float
        Fixed for all texts: scores with a bandwidth for each pair could not be compared. Vectors
        of length one differ by 0 to 2.
    """

    name = "MMD"

    def __init__(self, encoder: Any = None, *, bandwidth: float = 0.7, **options: Any) -> None:
        super().__init__(encoder, **options)
        self.bandwidth = bandwidth

    def distance(self, x: np.ndarray, y: np.ndarray) -> float:
        """Between two clouds of shape (n, d) and (m, d)."""
        return mmd(x, y, bandwidth=self.bandwidth)
