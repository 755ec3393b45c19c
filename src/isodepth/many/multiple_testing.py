"""Two-sample tests of all pairs of many samples, with p-values adjusted for multiple testing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from isodepth.base.annotations import (
    KindsLike,
    LabelsLike,
    RandomStateLike,
    TestNanPolicy,
    VectorLike,
)
from isodepth.base.declared import TEST
from isodepth.base.export import ResultMixin, keys, label_column, label_texts
from isodepth.base.messages import Group, sample_name
from isodepth.base.options import MOST
from isodepth.base.progress import progress_bar
from isodepth.base.readonly import read_only
from isodepth.base.words import listed
from isodepth.errors import InvalidInputError, InvalidOptionError, UnknownLabelError
from isodepth.geometry.directions import integer_seed
from isodepth.many.collections import SamplesLike, as_list, labeled
from isodepth.metric.metric import Metric
from isodepth.significance.permutations import fewest_labelings, too_few_permutations
from isodepth.significance.result import TwoSampleResult
from isodepth.significance.two_sample import two_sample_test

# The default number of permutations is chosen so that the level is at least this multiple of the
# minimum adjusted p-value that a test can have.
_ATTAINABLE = 2.5
# Settings of which each pair may have another value, such as its number of blocks.
_OF_PAIRS = ("blocks", "n_directions")


class TwoSampleOptions(TypedDict, total=False):
    """Types of the options that `pairwise_test` passes to `isodepth.two_sample_test`."""

    method: Literal["aggregated", "regions"] | Metric
    tolerance: float | None
    blocks: LabelsLike | None
    scale: Literal["pooled"] | VectorLike | None
    nan_policy: TestNanPolicy
    kinds: KindsLike | None
    max_rows: int | None
    n_directions: int | None
    bounds: bool
    random_state: RandomStateLike
    n_jobs: int | None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairwiseTestResult(ResultMixin):
    """Two-sample tests of all pairs of samples, the result of :func:`isodepth.pairwise_test`.

    ``result[a, b]`` is the test of the pair of samples with the labels a and b, which are in the
    order of `labels`: a is X, and b is Y. ``(a, b) in result`` is whether there is this pair. A
    loop over the result is a loop over `tests`.

    Attributes
    ----------
    labels : tuple of N labels
        Strings, or other values such as integers, as they were passed.
    pairs : tuple of M = N (N - 1) / 2 pairs of labels
    tests : tuple of M TwoSampleResult
        Tests in the order of `pairs`, as are the p-values.
    pvalues : ndarray of shape (M,)
        Unadjusted p-values.
    adjusted_pvalues : ndarray of shape (M,)
        P-values adjusted by Holm's method. If all pairs with an adjusted p-value of at most a are
        rejected, the probability of one or more false rejections is at most a.
    differs : bool ndarray of shape (M,)
        Whether each pair differs: its adjusted p-value is at most `alpha`. The attribute
        `significant` of a test of a pair refers to the unadjusted p-value.
    alpha : float
        Significance level: a pair differs if its adjusted p-value is at most `alpha`.
    n_permutations : int
        Number of permutations per pair.
    settings : dict
        Options of the tests, as in :class:`isodepth.typing.TwoSampleResult`. `blocks` and
        `n_directions` are those that were passed, because their values may differ between pairs.

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> bags = {"may": rng.normal(size=(80, 2)), "june": rng.normal(size=(80, 2)) + [1, 0]}
    >>> tests = isodepth.pairwise_test(bags, random_state=0)
    >>> ("may", "june") in tests, tests["may", "june"].pvalue, tests.differs.tolist()
    (True, 0.001, [True])
    """

    _result_type = "pairwise_test"
    _in_json = keys(
        "headline", "significant", "alpha", labels="_label_texts", tests="_rows_of_pairs",
        settings="_json_settings",
    )  # fmt: skip

    labels: tuple[Any, ...]
    pairs: tuple[tuple[Any, Any], ...]
    tests: tuple[TwoSampleResult, ...]
    pvalues: np.ndarray
    adjusted_pvalues: np.ndarray
    alpha: float
    settings: dict[str, Any]

    def __len__(self) -> int:
        return len(self.tests)

    def __iter__(self) -> Iterator[TwoSampleResult]:
        return iter(self.tests)

    @property
    def differs(self) -> np.ndarray:
        """Bool array (M,): whether the adjusted p-value of each pair is at most `alpha`.

        Rounding errors are tolerated.
        """
        return read_only(self.adjusted_pvalues <= self.alpha * (1 + 1e-12))

    @property
    def n_permutations(self) -> int:
        """Number of permutations per pair."""
        return self.settings["n_permutations"]

    @property
    def significant(self) -> bool:
        """Whether any pair differs: an adjusted p-value is at most `alpha`.

        If all samples have the same distribution, the probability of this is at most `alpha`.
        """
        return bool(self.differs.any())

    @property
    def headline(self) -> str:
        """One sentence: the number of pairs that differ, and a warning of too few permutations."""
        differ = int(self.differs.sum())
        pairs = "1 pair" if len(self) == 1 else f"{len(self)} pairs"
        found = f"{differ} of {pairs} of {len(self.labels)} samples differ"
        too_few = too_few_permutations(self.n_permutations, self.alpha, len(self))
        ending = f"; {too_few}" if too_few and not differ else ""
        return f"{found} (adjusted p <= {self.alpha}){ending}."

    def __getitem__(self, pair: tuple[Any, Any]) -> TwoSampleResult:
        """Return the test of the pair of samples with these labels, in the order of `labels`."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidInputError(
                f"a pair consists of two labels, as in result['a', 'b']; got {pair!r}"
            )
        names, tests = label_texts(pair), self._by_texts
        if names in tests:
            return tests[names]
        if names[::-1] in tests:
            y, x = pair
            raise UnknownLabelError(
                f"the test of {x!r} and {y!r} is available in this order only, with {x!r} as X and "
                f"{y!r} as Y; use result[{x!r}, {y!r}]"
            )
        raise UnknownLabelError(
            f"there is no pair {pair[0]!r} and {pair[1]!r}; the samples are "
            f"{listed(label_texts(self.labels))}"
        )

    def __contains__(self, pair: Any) -> bool:
        return isinstance(pair, tuple) and label_texts(pair) in self._by_texts

    @property
    def _by_texts(self) -> dict[tuple[str, ...], TwoSampleResult]:
        return dict(zip(map(label_texts, self.pairs), self.tests, strict=True))

    def __bool__(self) -> bool:
        raise TypeError(
            "a result of pairwise_test has no truth value; use result.significant, or compare "
            "result.adjusted_pvalues with a level"
        )

    @property
    def _label_texts(self) -> tuple[str, ...]:
        return label_texts(self.labels)

    @property
    def _rows_of_pairs(self) -> list[dict[str, Any]]:
        """One dictionary per pair of samples, with the entries of its row in `to_frame`."""
        rows = self._rows()
        rows |= {name: list(label_texts(rows[name])) for name in ("first", "second")}
        return [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]

    def _rows(self) -> dict[str, list[Any]]:
        first, second = zip(*combinations(label_column(self.labels), 2), strict=True)
        return {
            "first": list(first),
            "second": list(second),
            "statistic": [test.statistic for test in self.tests],
            "pvalue": self.pvalues.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
            "differs": self.differs.tolist(),
            "change": [
                test._strongest_change if differs else ""
                for test, differs in zip(self.tests, self.differs, strict=True)
            ],
        }

    def __repr__(self) -> str:
        order = np.argsort(self.adjusted_pvalues, kind="stable")
        differ = order[self.differs[order]]
        lines = [self.headline]
        for k in differ[:10]:
            a, b = label_texts(self.pairs[k])
            lines.append(f"{a} and {b}: adjusted p = {self.adjusted_pvalues[k]:.3g}")
        if len(differ) > 10:
            lines.append(f"and {len(differ) - 10} more")
        return "\n  ".join(lines)


def pairwise_test(
    samples: SamplesLike,
    *,
    by: str | Sequence[str] | None = None,
    n_permutations: int | None = None,
    alpha: float = 0.05,
    progress: bool = False,
    **options: Unpack[TwoSampleOptions],
) -> PairwiseTestResult:
    """Test every pair of many samples, with p-values adjusted for the number of pairs.

    Each pair is tested by :func:`isodepth.two_sample_test`. The p-values are adjusted by Holm's
    method, which needs no assumption on how the tests depend on each other.

    Parameters
    ----------
    samples : sequence of N samples of shape (n_i, d), dictionary, or frame with `by`
        As in :func:`isodepth.pairwise`.
    by : str or sequence of str, optional
        Columns of one frame whose values define the samples.
    n_permutations : int or None
        Number of permutations per pair. None means 2.5 / `alpha` times the number of pairs, minus
        1, but at least 999. The smallest attainable adjusted p-value is then at most 0.4 `alpha`.
    alpha : float in (0, 1)
        Significance level: a pair differs if its adjusted p-value is at most `alpha`. The test of a
        pair has this level without an adjustment.
    progress : bool
        Show a progress bar (needs tqdm).
    **options
        Options of :func:`isodepth.two_sample_test`, for all pairs. The default of `bounds` is
        False: the tests have no `changed_share`.

    Returns
    -------
    result : PairwiseTestResult

    Examples
    --------
    >>> import numpy as np, isodepth
    >>> rng = np.random.default_rng(0)
    >>> months = {"may": rng.normal(size=(80, 2)), "june": rng.normal(size=(80, 2)),
    ...           "july": rng.normal(size=(80, 2)) + [1, 0]}
    >>> isodepth.pairwise_test(months, random_state=0)
    2 of 3 pairs of 3 samples differ (adjusted p <= 0.05).
      may and july: adjusted p = 0.003
      june and july: adjusted p = 0.003
    """
    inputs, labels = labeled(samples, by)
    inputs = as_list(inputs, "samples")
    if len(inputs) < 2:
        raise InvalidInputError(f"pairwise_test needs at least two samples, got {len(inputs)}")
    names = tuple(labels or map(str, range(len(inputs))))
    pairs = list(combinations(range(len(inputs)), 2))
    alpha = TEST["alpha"].check(alpha)
    if n_permutations is None:
        n_permutations = max(999, fewest_labelings(alpha, _ATTAINABLE * len(pairs)) - 1)
        if n_permutations > MOST:
            raise InvalidOptionError(
                f"alpha={alpha} needs more than {MOST} permutations per pair, the maximum; use a "
                "larger alpha",
                option="alpha",
            )
    n_permutations = TEST["n_permutations"].check(n_permutations)
    # One seed for all pairs, so that `settings` repeat the result.
    options["random_state"] = integer_seed(options.get("random_state"))
    options.setdefault("bounds", False)
    tests = []
    with progress_bar(progress, len(pairs), "tests", "pair") as advance:
        for i, j in pairs:
            try:
                test = two_sample_test(
                    inputs[i], inputs[j], n_permutations=n_permutations, alpha=alpha, **options
                )
            except InvalidInputError as error:
                x, y = (sample_name(Group("samples", labels), k) for k in (i, j))
                error.add_note(f"X is {x}, Y is {y}")
                raise
            both = (names[i], names[j])
            shown = [f"sample {name}" for name in both] if labels is None else label_texts(both)
            tests.append(test._with(_names=tuple(shown)))
            advance(1)
    pvalues = np.array([test.pvalue for test in tests])
    named = tuple((names[i], names[j]) for i, j in pairs)
    return PairwiseTestResult(
        labels=names,
        pairs=named,
        tests=tuple(tests),
        pvalues=pvalues,
        adjusted_pvalues=holm_adjusted(pvalues),
        alpha=alpha,
        settings=tests[0].settings | {name: options.get(name) for name in _OF_PAIRS},
    )


def holm_adjusted(pvalues: np.ndarray) -> np.ndarray:
    """Return M p-values (M,), adjusted by Holm's method.

    The smallest p-value is multiplied by M, the second smallest by M - 1, and so on. The result for
    a p-value is the maximum of its product and the products of all smaller p-values, but at most 1.

    Examples
    --------
    >>> holm_adjusted(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(pvalues, kind="stable")
    raised = pvalues[order] * np.arange(len(pvalues), 0, -1)
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted
