"""Human judgments of generated texts, from JSON lines.

Each line is one JSON object, for one output of a system:

* WebNLG: `sample_id`, `system`, `text`, `references` (a list) and mean ratings such as
  `correctness`;
* REALSumm: `doc_id`, `system`, `text`, `reference`, `litepyramid_recall`, and the scores that its
  authors published.

`python -m experiments.texts.convert` writes these files from the public repositories.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.texts.human_correlation import as_table

WEBNLG_FILE = "webnlg2020_en.jsonl"
#: The human reference is rated as well, but is not a system.
WEBNLG_REFERENCE = "WebNLG-2020-reference"
CRITERIA = ("correctness", "data_coverage", "relevance")

REALSUMM_FILES = {"abstractive": "realsumm_abs.jsonl", "extractive": "realsumm_ext.jsonl"}
#: Scores published by the authors of REALSumm, by the name of the metric.
REALSUMM_PUBLISHED = {
    "ROUGE-1": "rouge_1_f",
    "ROUGE-2": "rouge_2_f",
    "ROUGE-L": "rouge_l_f",
    "JS-2": "js_2",
    "MoverScore": "mover_score",
    "BERTScore": "bert_f",
}


class DataMissingError(Exception):
    """Error for missing data files."""


@dataclass(frozen=True)
class Corpus:
    """Outputs of systems with references and judgments, row by row.

    Attributes
    ----------
    ids, systems, texts : lists of length N
    references : list of N lists
    human : mapping from a criterion to N ratings
    published : mapping from a metric to N scores of others
    """

    name: str
    ids: list[int]
    systems: list[str]
    texts: list[str]
    references: list[list[str]]
    human: dict[str, list[float]]
    published: dict[str, list[float]]

    def table(self, values: Sequence[float]) -> np.ndarray:
        """Return one value per row of the corpus as an array (texts, systems)."""
        return as_table(self.ids, self.systems, values)

    def ratings(self, criterion: str) -> np.ndarray:
        """Return the human ratings of a criterion as an array (texts, systems)."""
        return self.table(self.human[criterion])

    @property
    def n_texts(self) -> int:
        """Number of inputs, each with an output of every system."""
        return len(set(self.ids))

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(set(self.systems))

    def first_references(self) -> Corpus:
        """Return the corpus with only the first reference of each text."""
        return self._with(references=[group[:1] for group in self.references])

    def part(self, n_texts: int) -> Corpus:
        """Return the corpus with the outputs for its first `n_texts` inputs only."""
        kept = set(sorted(set(self.ids))[:n_texts])
        rows = [i for i, text in enumerate(self.ids) if text in kept]
        return self._with(
            ids=[self.ids[i] for i in rows],
            systems=[self.systems[i] for i in rows],
            texts=[self.texts[i] for i in rows],
            references=[self.references[i] for i in rows],
            human={key: [values[i] for i in rows] for key, values in self.human.items()},
            published={key: [values[i] for i in rows] for key, values in self.published.items()},
        )

    def _with(self, **changed: Any) -> Corpus:
        return Corpus(**{**self.__dict__, **changed})


#: Half of the texts on which defaults were chosen, and half on which they are reported: every other
#: text in the order of their numbers. Fixed before any text was scored.
CHOOSING, REPORTING = slice(0, None, 2), slice(1, None, 2)


def load_webnlg(folder: Path) -> Corpus:
    """Load WebNLG 2020, English, 16 systems."""
    rows = [row for row in _read(folder / WEBNLG_FILE) if row["system"] != WEBNLG_REFERENCE]
    return Corpus(
        name="WebNLG 2020",
        ids=[row["sample_id"] for row in rows],
        systems=[row["system"] for row in rows],
        texts=[row["text"] for row in rows],
        references=[row["references"] for row in rows],
        human={criterion: [row[criterion] for row in rows] for criterion in CRITERIA},
        published={},
    )


def load_realsumm(folder: Path, kind: str) -> Corpus:
    """Load the corpus REALSumm with the summaries of one kind of systems.

    `kind` is "abstractive" (14 systems) or "extractive" (11 systems).
    """
    rows = _read(folder / REALSUMM_FILES[kind])
    there = [name for name, key in REALSUMM_PUBLISHED.items() if all(key in row for row in rows)]
    return Corpus(
        name=f"REALSumm, {kind}",
        ids=[row["doc_id"] for row in rows],
        systems=[row["system"] for row in rows],
        texts=[row["text"] for row in rows],
        references=[[row["reference"]] for row in rows],
        human={"litepyramid_recall": [row["litepyramid_recall"] for row in rows]},
        published={name: [row[REALSUMM_PUBLISHED[name]] for row in rows] for name in there},
    )


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise DataMissingError(
            f"there is no {path.name} in {path.parent}; python -m experiments.texts.convert "
            "writes it from the public repository of the data"
        )
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
