"""Tests of all pairs: adjustment by Holm's method, tests of single pairs, invalid input."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.many.multiple_testing import holm_adjusted

RNG = np.random.default_rng(0)
BAGS = {"a": RNG.normal(size=(40, 2)), "b": RNG.normal(size=(30, 2)), "c": RNG.normal(size=(50, 2))}
BAGS["c"] += [2, 0]


@settings(derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([0.001, 0.01, 0.02, 0.3, 1.0]), min_size=1, max_size=8))
def test_adjusted_is_the_smallest_level_at_which_holm_rejects(pvalues: list[float]) -> None:
    """The adjusted p-value is the smallest level at which Holm's method rejects.

    Holm rejects the k-th smallest p-value if p_(j) <= level / (M - j + 1) for all j <= k.
    """
    found = holm_adjusted(np.array(pvalues))
    levels = sorted({min(1.0, p * k) for p in pvalues for k in range(1, len(pvalues) + 1)})
    for i, p in enumerate(pvalues):
        for level in levels:
            ordered = sorted(pvalues)
            stop = next(
                (k for k, each in enumerate(ordered) if each * (len(ordered) - k) > level), None
            )
            rejected = stop is None or p < ordered[stop]
            assert (found[i] <= level) == (rejected or level == 1.0)


def test_each_pair_is_the_test_of_two_samples() -> None:
    result = isodepth.pairwise_test(samples=BAGS, random_state=3, n_permutations=199)
    assert result.labels == ("a", "b", "c")
    assert result.pairs == (("a", "b"), ("a", "c"), ("b", "c"))
    for (first, second), test, p in zip(result.pairs, result.tests, result.pvalues, strict=True):
        alone = isodepth.two_sample_test(
            BAGS[first], BAGS[second], random_state=3, n_permutations=199
        )
        assert alone.pvalue == test.pvalue == p
        assert alone.statistic == test.statistic
        with pytest.raises(InvalidInputError, match=rf"use result\['{first}', '{second}'\]"):
            result[second, first]
    np.testing.assert_array_equal(result.adjusted_pvalues, holm_adjusted(result.pvalues))
    assert result.headline == "2 of 3 pairs of 3 samples differ (adjusted p <= 0.05)."
    assert repr(result).splitlines()[0] == result.headline
    assert (result.significant, len(result), [*result]) == (True, 3, [*result.tests])
    frame = result.to_frame()
    assert frame["adjusted_pvalue"].tolist() == result.adjusted_pvalues.tolist()
    assert frame["change"].tolist()[0] == ""
    assert "median" in frame["change"].tolist()[1]
    assert json.loads(result.to_json())["tests"][1]["second"] == "c"
    with pytest.raises(InvalidInputError, match="there is no pair 'a' and 7; the samples are a, b"):
        result["a", 7]
    with pytest.raises(InvalidInputError, match="two labels"):
        result["a"]  # type: ignore[index]


def test_texts_of_a_pair_have_its_labels(tmp_path) -> None:
    result = isodepth.pairwise_test(BAGS, random_state=0, n_permutations=99)
    test = result["a", "c"]
    assert test.headline.startswith("c differs from a (p = 0.01")
    assert str(test).startswith(test.headline)
    assert "c differs from a (p = 0.01)" in test._repr_html_()
    assert test.to_dict()["headline"] == test.without_rows().headline == test.headline
    assert pickle.loads(pickle.dumps(test)).headline == test.headline
    assert result["a", "b"].headline.startswith("No significant difference between a and b (p =")
    test.report(tmp_path / "pair.html")
    assert "c differs from a (p = 0.01)" in (tmp_path / "pair.html").read_text("utf-8")
    unnamed = isodepth.pairwise_test([BAGS["a"], BAGS["c"]], random_state=0, n_permutations=99)
    assert unnamed[0, 1] == test
    assert unnamed[0, 1].headline.startswith("sample 1 differs from sample 0 (p = 0.01")


def test_the_headline_says_if_no_rejection_is_possible() -> None:
    x = np.random.default_rng(0).normal(size=(40, 2))
    few = isodepth.pairwise_test([x, x + 10, x - 10], n_permutations=49, random_state=0)
    assert few.headline == (
        "0 of 3 pairs of 3 samples differ (adjusted p <= 0.05); 49 permutations cannot give an "
        "adjusted p-value of at most 0.05, at least 59 are needed."
    )
    enough = isodepth.pairwise_test([x, x + 10, x - 10], n_permutations=59, random_state=0)
    assert enough.headline == "3 of 3 pairs of 3 samples differ (adjusted p <= 0.05)."


def test_alpha_is_the_level_of_adjusted_pvalues() -> None:
    result = isodepth.pairwise_test(BAGS, n_permutations=999, random_state=0)
    assert result.adjusted_pvalues.tolist() == [result.pvalues[0], 0.003, 0.003]
    low, at = (
        isodepth.pairwise_test(BAGS, n_permutations=999, random_state=0, alpha=alpha)
        for alpha in (0.0029, 0.003)
    )
    assert (low.significant, at.significant) == (False, True)
    assert at.headline == "2 of 3 pairs of 3 samples differ (adjusted p <= 0.003)."
    assert low.headline == (
        "0 of 3 pairs of 3 samples differ (adjusted p <= 0.0029); 999 permutations cannot give an "
        "adjusted p-value of at most 0.0029, at least 1034 are needed."
    )
    assert repr(low) == low.headline
    assert at.alpha == at.settings["alpha"] == at.to_dict()["alpha"] == at[("a", "b")].alpha
    # 36 pairs and 1199 permutations: the smallest adjusted p-value is 0.03, up to rounding.
    smallest = np.full(3, (1 / 1200) * 36)
    assert smallest[0] > 0.03
    assert replace(at, alpha=0.03, adjusted_pvalues=smallest).significant
    for wrong in (0, 1, 95):
        with pytest.raises(InvalidOptionError, match="alpha must lie in"):
            isodepth.pairwise_test(BAGS, alpha=wrong)
    with pytest.raises(InvalidOptionError, match="alpha=1e-300 needs more than 2147483647"):
        isodepth.pairwise_test(BAGS, alpha=1e-300)


def test_samples_by_a_column_and_categories() -> None:
    frame = pd.DataFrame(np.concatenate(list(BAGS.values())), columns=["u", "v"])
    frame["kind"] = np.where(np.arange(120) % 3 == 0, "x", "y")
    frame["month"] = np.repeat([5, 6, 7], [40, 30, 50])
    result = isodepth.pairwise_test(frame, by="month", random_state=0, n_permutations=99)
    assert result.labels == (5, 6, 7)
    assert result[5, 7].pvalue == 0.01
    assert {"u", "v", "kind"} == {kind.column for kind in result[5, 6].kinds}


def test_settings_repeat_the_tests_of_all_pairs() -> None:
    frame = pd.DataFrame(np.concatenate([*BAGS.values(), BAGS["a"] * 1.0]), columns=["u", "v"])
    frame["sample"] = np.repeat([1, 2, 3, 4], [40, 30, 50, 40])
    frame["day"] = np.arange(160) // 5
    frame.loc[frame["sample"] < 3, "v"] = 0.0  # constant in one pair, which has other directions
    options = {"by": "sample", "n_permutations": 39}
    found = isodepth.pairwise_test(frame, **options, blocks="day", random_state=4)
    assert found.settings["blocks"] == "day"
    again = isodepth.pairwise_test(frame, **options | found.settings)
    assert again == found
    assert (again.settings, again.significant) == (found.settings, False)
    assert found.headline == (
        "0 of 6 pairs of 4 samples differ (adjusted p <= 0.05); 39 permutations cannot give an "
        "adjusted p-value of at most 0.05, at least 119 are needed."
    )
    one = isodepth.pairwise_test([BAGS["a"], BAGS["b"]], n_permutations=39, random_state=0)
    assert one.headline == "0 of 1 pair of 2 samples differ (adjusted p <= 0.05)."


def test_permutations_suffice_for_many_pairs() -> None:
    bags = [RNG.normal(size=(8, 1)) + 9 * i for i in range(7)]
    result = isodepth.pairwise_test(bags, random_state=0)
    assert result.n_permutations == 50 * 21 - 1
    assert {test.n_permutations for test in result.tests} == {result.n_permutations}
    assert {len(test.null_distribution) for test in result.tests} == {result.n_permutations}
    assert result.adjusted_pvalues.max() <= 0.02
    assert str(result).splitlines()[-1] == "  and 11 more"


@pytest.mark.parametrize("seed", [None, 4, np.random.default_rng(4)])
def test_one_seed_is_used_for_all_pairs(seed: object) -> None:
    result = isodepth.pairwise_test(BAGS, n_permutations=39, random_state=seed)  # type: ignore[arg-type]
    again = isodepth.pairwise_test(BAGS, **result.settings)
    assert again.pvalues.tolist() == result.pvalues.tolist()
    assert {test.settings["random_state"] for test in result} == {result.settings["random_state"]}


def test_a_change_is_listed_only_for_pairs_that_differ() -> None:
    """A p-value of 0.05 is significant for one pair, and not after the adjustment for three."""
    result = isodepth.pairwise_test(list(BAGS.values()), n_permutations=19, random_state=0)
    assert not result.differs.any()
    assert any(test.significant for test in result)
    assert result.to_frame()["differs"].tolist() == [False] * 3
    assert result.to_frame()["change"].tolist() == [""] * 3
    assert result["0", "2"].headline.startswith("sample 2 differs from sample 0 (p = 0.05)")


@pytest.mark.parametrize(
    ("samples", "options", "error", "words"),
    [
        ([BAGS["a"]], {}, InvalidInputError, "two samples, got 1"),
        (BAGS, {"n_permutations": 0}, InvalidOptionError, "n_permutations"),
        (BAGS, {"by": "month"}, InvalidOptionError, "data frame"),
        (BAGS["a"], {}, InvalidInputError, "sequence of samples"),
        (
            {"may": BAGS["a"], "june": BAGS["a"][:1]},
            {},
            InvalidInputError,
            r"Y must have at least 2 rows .*\nX is samples\['may'\], Y is samples\['june'\]",
        ),
    ],
)
def test_bad_input(samples, options, error, words) -> None:
    with pytest.raises(error, match=words):
        isodepth.pairwise_test(samples, **options)
