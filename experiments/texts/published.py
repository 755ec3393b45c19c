"""Cells of the paper's two tables on text, times 100: Pearson r, Kendall tau, Spearman rho."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Cells = tuple[float, float, float]

#: Judgments of the columns of each table.
WEBNLG_JUDGMENTS = ("correctness", "data_coverage", "relevance")
SUMMARIZATION_JUDGMENTS = ("abstractive", "extractive")

#: Table "WebNLG 2020 (full results)": system level, correctness, data coverage, relevance.
WEBNLG: dict[str, tuple[Cells, Cells, Cells]] = {
    "DR": ((89.4, 80.0, 92.6), (84.2, 58.3, 72.3), (86.2, 62.7, 72.9)),
    "W": ((86.2, 73.0, 86.7), (80.4, 45.3, 62.3), (83.8, 51.3, 67.6)),
    "Sliced-W": ((86.1, 73.0, 85.8), (80.9, 45.5, 60.0), (82.0, 51.3, 68.2)),
    "MMD": ((25.4, 71.7, 8.3), (19.1, 45.3, 10.0), (26.1, 51.3, 15.0)),
    "BERTScore": ((85.5, 73.3, 83.4), (74.7, 53.3, 68.2), (83.3, 65.0, 79.4)),
    "MoverScore": ((84.1, 73.3, 84.1), (78.7, 53.3, 66.2), (82.1, 65.0, 77.4)),
    "BLEU": ((77.6, 60.0, 66.3), (55.7, 36.6, 50.2), (63.0, 51.6, 65.2)),
    "ROUGE-1": ((80.6, 65.0, 65.0), (76.5, 60.3, 76.3), (64.3, 56.7, 69.2)),
    "ROUGE-2": ((73.6, 58.3, 63.3), (54.7, 35.0, 43.1), (62.0, 46.7, 60.8)),
    "METEOR": ((86.5, 70.0, 66.3), (77.3, 46.6, 50.2), (82.1, 58.6, 65.2)),
    "TER": ((79.6, 58.0, 78.3), (69.7, 38.0, 58.2), (75.0, 77.6, 70.2)),
}

#: Table "Summarization": abstractive and extractive systems, at an unstated level.
SUMMARIZATION: dict[str, tuple[Cells, Cells]] = {
    "DR": ((72.1, 72.1, 70.1), (91.5, 91.5, 69.2)),
    "W": ((71.0, 70.4, 71.1), (74.2, 74.2, 40.0)),
    "Sliced-W": ((70.1, 68.7, 71.0), (72.4, 73.9, 69.2)),
    "MMD": ((68.2, 67.5, 67.9), (75.6, 75.6, 56.1)),
    "BERTScore": ((71.7, 71.9, 72.0), (70.9, 72.9, 73.8)),
    "MoverScore": ((72.4, 71.9, 73.0), (76.1, 76.1, 47.4)),
    "ROUGE-1": ((73.5, 73.0, 74.4), (72.2, 74.0, 69.1)),
    "ROUGE-2": ((73.0, 73.5, 73.0), (55.1, 53.2, 69.1)),
    "JS-2": ((68.9, 6.8, 69.8), (92.9, 5.5, 19.0)),
}


def by_judgment(
    table: Mapping[str, Sequence[Cells]], judgments: Sequence[str]
) -> dict[str, dict[str, Cells]]:
    """Return the published correlations as a dictionary: judgment -> metric -> cells.

    `table` maps a metric to its cells in the order of `judgments`.
    """
    return {
        judgment: {name: cells[place] for name, cells in table.items()}
        for place, judgment in enumerate(judgments)
    }
