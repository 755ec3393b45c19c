"""Comparison of two samples with a test of them, as the command `compare` combines them."""

from __future__ import annotations

from typing import Any

import isodepth
from isodepth.significance.result import TestedComparison


def compare_and_test(
    X: Any,
    Y: Any,
    *,
    n_permutations: int,
    tolerance: float | None = None,
    blocks: Any = None,
    kinds: Any = None,
    **options: Any,
) -> TestedComparison:
    compared = isodepth.compare(X, Y, kinds=kinds, **options)
    policy = "raise" if options.get("nan_policy") == "raise" else "keep"
    test = isodepth.two_sample_test(
        X,
        Y,
        n_permutations=n_permutations,
        tolerance=tolerance,
        blocks=blocks,
        kinds=kinds,
        nan_policy=policy,
        random_state=compared.settings["random_state"],
    )
    return TestedComparison.of(compared, test)
