"""Results of a few hundred calls of public functions, compared with recorded results.

values.json has at most 24 numbers of each result, and the sum of all, as hexadecimal floats. A
change of the code that is not meant to change results must reproduce them bit by bit on the machine
where they were recorded. On another processor they agree up to rounding.

    python tests/recorded/cases.py            # compare bit by bit, and list the differences
    python tests/recorded/cases.py --write    # record again, after an intended change of results
"""

from __future__ import annotations

import itertools
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import isodepth
from isodepth import theory
from isodepth.geometry import hull
from isodepth.geometry.directions import unit_vectors
from isodepth.text import DepthScore

VALUES = Path(__file__).with_name("values.json")

Case = tuple[str, Callable[[], Any]]

DEPTHS = ("projection", "halfspace", "irw", "ai_irw")
# (n, m, d): fewer points than dimensions, equal and unequal sizes, sorts and tiles of every kind.
SIZES = ((1, 1, 2), (4, 7, 3), (9, 6, 12), (40, 40, 1), (60, 75, 2), (300, 210, 4), (900, 1100, 7))


def _pair(seed: int, n: int, m: int, d: int, kind: str = "normal") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, n, m, d])
    if kind == "lattice":
        # Thirds of the mass on one value would make a MAD zero; these do not.
        return rng.integers(0, 9, (n, d)) * 1.0, rng.integers(1, 12, (m, d)) * 1.0
    if kind == "heavy":
        return rng.standard_t(1.5, (n, d)), rng.standard_t(1.5, (m, d)) + 1.0
    return rng.standard_normal((n, d)), 1.3 * rng.standard_normal((m, d)) + 0.4


def _weights(seed: int, n: int, m: int, kind: str) -> tuple[np.ndarray, np.ndarray | None]:
    rng = np.random.default_rng([seed, n, m])
    if kind == "integers":
        return rng.integers(0, 5, n) + (np.arange(n) == 0), rng.integers(1, 4, m)
    return rng.uniform(0.1, 1.0, n), None


def _distances() -> Iterator[Case]:
    for depth, (n, m, d), dtype in itertools.product(DEPTHS, SIZES, ("float64", "float32")):
        x, y = _pair(1, n, m, d)
        for refine in (0, 20):
            options = {"depth": depth, "refine": refine, "dtype": dtype, "n_directions": 97}
            yield (
                f"distance {depth} {n}x{m}x{d} {dtype} refine={refine}",
                lambda x=x, y=y, options=options: isodepth.distance(
                    x, y, random_state=3, **options
                ),
            )
    for depth, kind in itertools.product(DEPTHS, ("lattice", "heavy")):
        x, y = _pair(2, 150, 130, 3, kind)
        for eps, p in ((0.3, 1), (0.05, 3.5), (1.0, 2), (0.2, float("inf")), (0.1, 0.5)):
            options = {"depth": depth, "eps": eps, "p": p, "n_directions": 60}
            yield (
                f"distance {depth} {kind} eps={eps} p={p}",
                lambda x=x, y=y, options=options: isodepth.distance(
                    x, y, random_state=4, **options
                ),
            )
    for depth, kind in itertools.product(DEPTHS, ("integers", "floats")):
        for n, m, d in ((5, 8, 3), (80, 64, 2), (400, 500, 5)):
            x, y = _pair(3, n, m, d)
            weights = _weights(3, n, m, kind)
            yield (
                f"distance {depth} weights={kind} {n}x{m}x{d}",
                lambda x=x, y=y, weights=weights, depth=depth: isodepth.distance(
                    x, y, weights=weights, depth=depth, n_directions=80, random_state=5
                ),
            )


def _ways() -> Iterator[Case]:
    x, y = _pair(6, 120, 100, 3)
    for family, d in itertools.product(("uniform", "sobol", "orthogonal", "equispaced"), (1, 2, 5)):
        if family == "equispaced" and d > 2:
            continue
        yield (
            f"directions {family} d={d}",
            lambda family=family, d=d: unit_vectors(
                d, 11, directions=family, random_state=np.random.default_rng(7)
            ),
        )
        a, b = _pair(7, 70, 90, d)
        yield (
            f"distance along {family} d={d}",
            lambda a=a, b=b, family=family: isodepth.distance(
                a, b, directions=family, n_directions=33, random_state=7
            ),
        )
    for name, options in {
        "gap=exact": {"gap": "exact"},
        "levels=7": {"levels": 7},
        "plain integral": {"normalize": False, "eps": 0.25},
        "given directions": {"directions": np.eye(3), "n_directions": 3},
        "generator": {"random_state": 12},
    }.items():
        for depth in DEPTHS:
            yield (
                f"distance {name} {depth}",
                lambda options=options, depth=depth: isodepth.distance(
                    x, y, **{"random_state": 8, "n_directions": 50, "depth": depth, **options}
                ),
            )
    for depth in DEPTHS:
        metric = isodepth.Metric.paper(
            n_levels=15, n_directions=40, depth=depth, eps=0.3, random_state=9
        )
        yield f"the paper's algorithm {depth}", lambda metric=metric: metric.distance(x, y)


def _comparisons() -> Iterator[Case]:
    for depth, (n, m, d) in itertools.product(DEPTHS, ((25, 30, 2), (200, 150, 6))):
        x, y = _pair(10, n, m, d)
        result = isodepth.Metric(depth=depth, n_directions=64, random_state=10)

        def told(result: Any = result, x: Any = x, y: Any = y) -> Any:
            found = result.compare(x, y)
            return [found.distance, *found.gaps, *found.gap_directions[::9].ravel()]

        yield f"compare {depth} {n}x{m}x{d}", told


def _depths() -> Iterator[Case]:
    kinds = {
        "projection": isodepth.ProjectionDepth,
        "halfspace": isodepth.HalfspaceDepth,
        "irw": isodepth.IRWDepth,
        "ai_irw": isodepth.AIIRWDepth,
    }
    for (name, kind), (n, m, d) in itertools.product(
        kinds.items(), ((6, 5, 2), (30, 20, 40), (90, 40, 3), (700, 100, 5))
    ):
        x, y = _pair(11, n, m, d)

        def told(kind: Any = kind, x: Any = x, y: Any = y, n: int = n) -> Any:
            weights = np.arange(n) % 3
            plain = kind(n_directions=70, random_state=11).fit(x)
            heavy = kind(n_directions=70, random_state=11).fit(x, sample_weight=weights)
            return [*plain.depth_, *plain.score_samples(y), *heavy.depth_, *heavy.score_samples(y)]

        yield f"depth {name} {n}x{m}x{d}", told
    x, y = _pair(12, 60, 30, 2)
    yield (
        "exact HalfspaceDepth",
        lambda: [
            *isodepth.HalfspaceDepth(algorithm="exact").fit(x).depth_,
            *isodepth.HalfspaceDepth(algorithm="exact").fit(x).score_samples(y),
        ],
    )
    solid, _ = _pair(13, 40, 1, 3)
    yield (
        "exact halfspace in space",
        lambda: isodepth.HalfspaceDepth(algorithm="exact").fit(solid).depth_,
    )
    for covariance in ("mcd", "ledoit-wolf"):
        yield (
            f"ai_irw {covariance}",
            lambda covariance=covariance: (
                isodepth.AIIRWDepth(covariance=covariance, n_directions=50, random_state=0)
                .fit(_pair(13, 120, 1, 4)[0])
                .depth_
            ),
        )


def _many() -> Iterator[Case]:
    rng = np.random.default_rng(14)
    bags = [rng.standard_normal((int(n), 3)) + shift for shift, n in enumerate((30, 50, 44, 61))]
    for depth, table_dtype in itertools.product(DEPTHS, ("float64", "float32")):
        options = {"depth": depth, "n_directions": 45, "random_state": 14}
        yield (
            f"tables {depth} {table_dtype}",
            lambda options=options, table_dtype=table_dtype: isodepth.region_tables(
                bags, table_dtype=table_dtype, levels=6, **options
            ).values[:, ::2, ::7],
        )
        for p in (2, 1, float("inf"), 0.7):
            yield (
                f"pairwise {depth} {table_dtype} p={p}",
                lambda options=options, table_dtype=table_dtype, p=p: isodepth.pairwise(
                    bags, table_dtype=table_dtype, p=p, **options
                ),
            )

        def near(options: Any = options, table_dtype: str = table_dtype) -> Any:
            tables = isodepth.region_tables(bags, table_dtype=table_dtype, **options)
            distances = tables.distances(tables[1])
            nearest = distances.argsort(kind="stable")[:3]
            return [*distances[nearest], *nearest]

        yield f"nearest {depth} {table_dtype}", near
    yield (
        "pairwise of two lists with weights",
        lambda: isodepth.pairwise(
            bags[:2],
            bags[2:],
            weights=(None, [np.arange(44) + 1, None]),
            n_directions=30,
            random_state=1,
        ),
    )
    yield (
        "rows of the transformers",
        lambda: np.concatenate(
            [
                isodepth.RegionTransformer(n_directions=8, random_state=0).fit_transform(bags),
                isodepth.DistanceTransformer(n_directions=8, random_state=0).fit_transform(bags),
            ],
            axis=1,
        ),
    )


def _texts() -> Iterator[Case]:
    def letters(texts: list[str]) -> list[np.ndarray]:
        return [
            np.cos(np.outer([ord(c) + 0.1 * i for i, c in enumerate(text)], np.arange(1, 25)))
            for text in texts
        ]

    candidates = ["a robust distance", "the weather is fine", "x", "many words in one line"]
    references = [["a sound distance"], ["rain again", "fine weather"], ["y"], ["one line"]]
    for depth, gap in itertools.product(("irw_corrected", "dual", "ai_irw"), ("exact", "search")):
        yield (
            f"score {depth} {gap}",
            lambda depth=depth, gap=gap: list(
                DepthScore(letters, depth=depth, gap=gap, n_directions=100).score(
                    candidates, references
                )
            ),
        )


def _geometry_and_theory() -> Iterator[Case]:
    for d in (1, 2, 3, 6):
        x, y = _pair(15, 20, 26, d)
        yield f"hausdorff d={d}", lambda x=x, y=y: hull.hull_distance(x, y).distance
        sizes = np.array([np.arange(1, 21)] * 2)
        yield (
            f"hausdorff levels d={d}",
            lambda x=x, y=y, sizes=sizes: hull.exact_gaps(x, y, sizes)[0],
        )
        yield (
            f"projection to a hull d={d}",
            lambda x=x, y=y: [hull.project_to_hull(y, row[None]).distance[0] for row in x[:5]],
        )
    means, spreads = np.array([[0.0, 1.0], [2.0, -1.0]]), np.array([[1.0, 2.0], [1.5, 0.5]])
    for p, eps in ((1, 0.1), (2, 0.3), (float("inf"), 0.2)):
        yield (
            f"Gaussians p={p} eps={eps}",
            lambda p=p, eps=eps: theory.gaussian_distance(
                means[0], np.diag(spreads[0]), means[1], np.diag(spreads[1]), p=p, eps=eps
            ),
        )


def cases() -> list[Case]:
    """Return all cases: the name of a call, and a function that makes the call."""
    groups = (
        _distances, _ways, _comparisons, _depths, _many, _texts, _geometry_and_theory,
    )  # fmt: skip
    return [case for group in groups for case in group()]


def numbers(run: Callable[[], Any]) -> list[float]:
    """Call the function `run`, and return the numbers of its result as a flat list."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", isodepth.errors.DegenerateDepthWarning)
        return [float(value) for value in np.asarray(run(), dtype=np.float64).ravel()]


def kept(values: list[float]) -> list[str]:
    """Return at most 24 of the values, evenly spaced in the list, and the sum of all."""
    few = values[:: -(-len(values) // 24)] if values else []
    return [value.hex() for value in [*few, float(np.sum(values))]]


def main() -> int:
    found = {name: kept(numbers(run)) for name, run in cases()}
    if "--write" in sys.argv:
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
        VALUES.write_text("{\n" + lines + "\n}\n")
        print(f"{len(found)} settings recorded")
        return 0
    recorded = json.loads(VALUES.read_text())
    changed = [name for name in {**recorded, **found} if recorded.get(name) != found.get(name)]
    print(f"{len(found)} settings, {len(changed)} changed", *changed, sep="\n  ")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
