"""The report of many samples."""

from __future__ import annotations

import numpy as np

from isodepth.errors import InvalidInputError
from isodepth.many.distance_matrix import DistanceMatrix
from isodepth.plot.distance_matrix import distance_matrix
from isodepth.plot.matrices import among_themselves
from isodepth.plot.sample_map import sample_map
from isodepth.plot.sample_tree import sample_tree
from isodepth.plot.style import loose_axes
from isodepth.report.parts import code, paragraph, section, table, tiles, verdict
from isodepth.report.pictures import WIDTH, picture
from isodepth.report.sentence import matrix_sentence
from isodepth.report.settings import settings_table

_MOST_PAIRS = 500
_MOST_SAMPLES = 2000


def matrix_parts(matrix: DistanceMatrix, command: str | None) -> tuple[str, list[str]]:
    """The lead and the sections of the report of distances of samples among themselves."""
    among_themselves(matrix, 2)
    if len(matrix) > _MOST_SAMPLES:
        raise InvalidInputError(
            f"a report shows at most {_MOST_SAMPLES} samples, got {len(matrix)}; take some of them"
        )
    rows, columns = np.triu_indices(len(matrix), 1)
    distances = np.asarray(matrix.values, dtype=float)[rows, columns]
    order = np.argsort(distances, kind="stable")
    names = matrix.labels
    pairs = [(names[rows[k]], names[columns[k]], float(distances[k])) for k in order]
    sentence, kind = matrix_sentence(pairs)
    lead = verdict(sentence, kind) + tiles(
        [
            ("samples", f"{len(matrix):,}"),
            ("pairs", f"{len(pairs):,}"),
            ("median distance", f"{np.median(distances):.3g}"),
            ("largest distance", f"{distances.max():.3g}"),
        ]
    )
    sections = [_pictures(matrix, sentence), _samples(matrix), _pairs(pairs)]
    if matrix.signature:
        sections.append(
            section("Settings", code(matrix.signature), settings_table(matrix.signature))
        )
    return lead, [*sections, _repeat(command)]


def _pictures(matrix: DistanceMatrix, sentence: str) -> str:
    count = len(matrix)
    found = [
        picture(
            lambda: distance_matrix(matrix, loose_axes(WIDTH, 5.4)),
            f"Distances between {count} samples. {sentence}",
            "The darker, the further apart. Samples that are close to each other stand side by "
            "side; the tree on top joins them step by step.",
        ),
        picture(
            lambda: sample_map(matrix, loose_axes(WIDTH, 4.6)),
            f"{count} samples as places on a map.",
            "Distances on the map are as close to those between the samples as a plane allows.",
        ),
    ]
    if count <= 60:
        found.append(
            picture(
                lambda: sample_tree(matrix, loose_axes(WIDTH, 1.3 + 0.2 * count)),
                f"Tree of {count} samples, joined by average distance.",
                "Samples are joined at their average distance, the closest first.",
            )
        )
    return section("Pictures", *found)


def _samples(matrix: DistanceMatrix) -> str:
    values = np.array(matrix.values, dtype=float)
    mean = values.sum(axis=1) / (len(matrix) - 1)
    np.fill_diagonal(values, np.inf)
    nearest = values.argmin(axis=1)
    return section(
        "Samples",
        paragraph(
            "A sample whose mean distance from all others is large stands apart. Click a heading "
            "to sort.",
            "quiet",
        ),
        table(
            {
                "sample": list(matrix.labels),
                "nearest": [matrix.labels[j] for j in nearest],
                "its distance": values.min(axis=1).tolist(),
                "mean distance from all others": mean.tolist(),
            },
            name="samples",
            filtered=len(matrix) > 5,
        ),
    )


def _pairs(pairs: list[tuple[str, str, float]]) -> str:
    shown = pairs[:_MOST_PAIRS]
    which = "All pairs" if len(shown) == len(pairs) else f"The {_MOST_PAIRS} closest pairs"
    return section(
        "Pairs",
        paragraph(f"{which}, by rising distance.", "quiet"),
        table(
            {
                "one": [one for one, _, _ in shown],
                "other": [other for _, other, _ in shown],
                "distance": [distance for _, _, distance in shown],
            },
            name="pairs",
            filtered=len(shown) > 5,
        ),
    )


def _repeat(command: str | None) -> str:
    parts = [] if command is None else [paragraph("On the command line:"), code(command)]
    text = (
        "import isodepth\n\ndistances = isodepth.pairwise(samples, ...)  # with these settings\n"
        'isodepth.DistanceMatrix.of(distances, names).report("report.html")'
    )
    return section("How to repeat it", *parts, paragraph("In Python:"), code(text))
