"""What the report of many samples shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.data.results import LabeledMatrix
from isodepth.errors import InvalidInputError
from isodepth.plot.many_samples import distance_matrix, sample_map, sample_tree, symmetric_matrix
from isodepth.plot.style import loose_axes
from isodepth.report.pictures import WIDTH

_MOST_PAIRS = 500
_MOST_SAMPLES = 2000
_MOST_LEAVES = 60


def matrix_context(matrix: LabeledMatrix) -> dict[str, Any]:
    """What the template of distances between samples is filled with."""
    count = len(symmetric_matrix(matrix))
    if count > _MOST_SAMPLES:
        raise InvalidInputError(
            f"a report shows at most {_MOST_SAMPLES} samples, got {count}; take some of them"
        )
    rows, columns = np.triu_indices(count, 1)
    distances = np.asarray(matrix.values, dtype=float)[rows, columns]
    order = np.argsort(distances, kind="stable")
    names = matrix.labels
    pairs = [(names[rows[k]], names[columns[k]], float(distances[k])) for k in order]
    ones, others, apart = zip(*pairs[:_MOST_PAIRS], strict=True)
    drawn = {
        "matrix": distance_matrix(matrix, loose_axes(WIDTH, 5.4)),
        "map": sample_map(matrix, loose_axes(WIDTH, 4.6)),
    }
    if count <= _MOST_LEAVES:
        drawn["tree"] = sample_tree(matrix, loose_axes(WIDTH, 1.3 + 0.2 * count))
    return {
        "closest": pairs[0],
        "furthest": pairs[-1],
        "distances": distances,
        "signature": matrix.signature,
        "count": count,
        "pictures": drawn,
        "samples": _samples(matrix),
        "pairs": {"one": ones, "other": others, "distance": apart},
        "most_pairs": _MOST_PAIRS,
    }


def _samples(matrix: LabeledMatrix) -> dict[str, Any]:
    values = np.array(matrix.values, dtype=float)
    mean = values.sum(axis=1) / (len(matrix) - 1)
    np.fill_diagonal(values, np.inf)
    return {
        "sample": list(matrix.labels),
        "nearest": [matrix.labels[j] for j in values.argmin(axis=1)],
        "its distance": values.min(axis=1).tolist(),
        "mean distance from all others": mean.tolist(),
    }
