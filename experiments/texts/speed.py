"""Time per pair of texts: DepthScore, Sliced-W with equal K, and the published algorithm.

Token vectors are in memory, and all references are included. The published DepthScore is
implemented from its description (the paper's Algorithms 1 and 4: AI-IRW depth and the gap along K =
10,000 random directions, five random levels), for one pair at a time. Sliced-W is timed as computed
by POT, and with the projections of each text computed once, which is a lower bound on the time.
Slow methods are timed on a subset of the pairs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers import authors
from experiments.baselines import random_directions, sliced_wasserstein
from experiments.texts.corpus import DataMissingError, load_webnlg
from experiments.texts.embedding_metrics import unit_vectors_of
from experiments.texts.embeddings import StoredEncoder
from isodepth.text import DepthScore, Encoder

Pairs = list[tuple[np.ndarray, np.ndarray]]


def published_depth_score(x: np.ndarray, y: np.ndarray, K: int = 10_000) -> float:
    """Compute the distance of two texts by Algorithms 1 and 4 of the paper.

    `x` and `y` are their token vectors. Levels and K directions are random.
    """
    rng = np.random.default_rng(0)
    return authors.distance(x, y, "ai_irw", K=K, n_alpha=5, eps=0.01, rng=rng)


def kept_projections(texts: Sequence[np.ndarray], pairs: Sequence[tuple[int, int]], K: int) -> None:
    """Compute the sliced Wasserstein distances of pairs of texts, for measuring their time.

    Each text is projected on K directions and sorted once, not once per pair.
    """
    directions = random_directions(texts[0].shape[1], K, 0).astype(np.float32)
    with threadpool_limits(limits=1, user_api="blas"):
        kept = [np.sort(directions @ text.T, axis=1) for text in texts]
        for i, j in pairs:
            a, b, mass = _coupling(kept[i].shape[1], kept[j].shape[1])
            gaps = kept[i][:, a] - kept[j][:, b]
            float((np.square(gaps) @ mass.astype(np.float32)).mean() ** 0.5)


def _coupling(n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the optimal coupling of n and m sorted points of equal mass: indices and masses."""
    # In units of 1 / (n m) all breakpoints are integers.
    edges = np.union1d(np.arange(n + 1) * m, np.arange(m + 1) * n)
    return edges[:-1] // m, edges[:-1] // n, np.diff(edges) / (n * m)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _median_seconds(
    distance: Callable[[np.ndarray, np.ndarray], object],
    texts: Sequence[np.ndarray],
    pairs: Sequence[tuple[int, int]],
    count: int,
) -> float:
    """Return the median time of a distance between two texts, in seconds.

    It is measured for `count` of the pairs.
    """
    chosen = pairs[:: max(1, len(pairs) // count)][:count]
    return median(_seconds(partial(distance, texts[i], texts[j])) for i, j in chosen)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.texts.speed", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with webnlg2020_en.jsonl")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep token vectors there")
    parser.add_argument("--texts", type=int, metavar="N", help="only the first N inputs")
    parser.add_argument("--directions", type=int, default=1000, metavar="K")
    parser.add_argument(
        "--published", type=int, default=9, metavar="N", help="pairs to time it on (default 9)"
    )
    options = parser.parse_args(arguments)
    if options.data is None:
        print("--data DIR is needed: a folder with webnlg2020_en.jsonl", file=sys.stderr)
        return 2
    try:
        corpus = load_webnlg(options.data)
    except DataMissingError as error:
        print(error, file=sys.stderr)
        return 2
    if options.texts:
        corpus = corpus.part(options.texts)
    encoder = StoredEncoder(Encoder(), options.out and options.out / "token_vectors.npz")
    encoder.prepare([*corpus.texts, *(text for group in corpus.references for text in group)])
    _measure(corpus.texts, corpus.references, encoder, options.directions, options.published)
    return 0


def _measure(
    texts: list[str], references: list[list[str]], encoder: StoredEncoder, K: int, published: int
) -> None:
    one = {"n_jobs": 1, "n_directions": K}
    exact, search = (DepthScore(encoder, gap=gap, **one) for gap in ("exact", "search"))
    default = DepthScore(encoder, n_jobs=1)
    for metric in (exact, default, search):  # load everything before timing
        metric.score(texts[:2], references[:2])
    order = list(dict.fromkeys([*texts, *(text for group in references for text in group)]))
    place = {text: i for i, text in enumerate(order)}
    vectors = unit_vectors_of(encoder, order, [])
    whole = [vectors[text].astype(np.float32) for text in order]
    directions = random_directions(whole[0].shape[1], K, 0)
    pairs = [
        (place[text], place[other])
        for text, group in zip(texts, references, strict=True)
        for other in group
    ]
    times = {
        f"DepthScore, K = {K}": _seconds(lambda: exact.score(texts, references)) / len(pairs),
        f"DepthScore, K = {default.n_directions}, the default": _seconds(
            lambda: default.score(texts, references)
        ) / len(pairs),
        f"DepthScore, random directions, K = {K}": _seconds(
            lambda: search.score(texts, references)
        ) / len(pairs),
        f"Sliced-W of POT, K = {K}": _median_seconds(
            partial(sliced_wasserstein, directions=directions), whole, pairs, 20 * published
        ),
        f"Sliced-W, K = {K}, projections kept": _seconds(
            lambda: kept_projections(whole, pairs, K)
        ) / len(pairs),
        "published DepthScore, K = 10000": _median_seconds(
            published_depth_score, whole, pairs, published
        ),
    }  # fmt: skip
    ours = times[f"DepthScore, K = {K}"]
    print(f"{len(pairs)} pairs of {len(order)} texts, one thread\n")
    print("| | milliseconds a pair | relative to DepthScore |\n| --- | --- | --- |")
    for name, seconds in times.items():
        print(f"| {name} | {1000 * seconds:.2f} | {seconds / ours:.2f} |")


if __name__ == "__main__":
    raise SystemExit(main())
