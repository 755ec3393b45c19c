"""Variables of the template for the report of many samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from isodepth.data.results import LabeledMatrix
from isodepth.errors import InvalidInputError
from isodepth.plot.many_samples import distance_matrix, sample_map, symmetric_matrix
from isodepth.plot.style import loose_axes
from isodepth.report.figures import WIDTH

_MAX_PAIRS, _MAX_SAMPLES = 500, 2000


def matrix_context(matrix: LabeledMatrix) -> dict[str, Any]:
    """Return the variables of `matrix.html`."""
    count = len(symmetric_matrix(matrix))
    if count > _MAX_SAMPLES:
        raise InvalidInputError(
            f"a report has at most {_MAX_SAMPLES} samples, got {count}; select a part of them"
        )
    rows, columns = np.triu_indices(count, 1)
    values = np.array(matrix.values, dtype=float)
    distances = values[rows, columns]
    names = matrix.labels
    order = np.argsort(distances, kind="stable")
    pairs = [(names[rows[k]], names[columns[k]], float(distances[k])) for k in order]
    first, second, increasing = zip(*pairs[:_MAX_PAIRS], strict=True)
    figures = {
        "matrix": distance_matrix(matrix, loose_axes(WIDTH, 5.4)),
        "map": sample_map(matrix, loose_axes(WIDTH, 4.6)),
    }
    mean = values.sum(axis=1) / (count - 1)
    np.fill_diagonal(values, np.inf)
    samples = {
        "sample": list(names),
        "nearest": [names[j] for j in values.argmin(axis=1)],
        "its distance": values.min(axis=1).tolist(),
        "mean distance from all others": mean.tolist(),
    }
    return {
        "closest": pairs[0], "furthest": pairs[-1], "distances": distances, "count": count,
        "signature": matrix.signature, "figures": figures, "samples": samples,
        "pairs": {"one": first, "other": second, "distance": increasing}, "most_pairs": _MAX_PAIRS,
    }  # fmt: skip
