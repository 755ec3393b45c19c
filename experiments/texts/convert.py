"""Convert the data of the public repositories to the files that the experiments read.

    python -m experiments.texts.convert webnlg challenge-2020 DATA
    python -m experiments.texts.convert realsumm REALSumm DATA

The first folder is a clone of https://github.com/WebNLG/challenge-2020 or
https://github.com/neulab/REALSumm, the second is where the tidy files go.

WebNLG reads `submissions/rdf2text/en/SYSTEM/primary.en` (line i is the output for sample i),
`evaluation/references/references-en.json` (references, category, size) and
`evaluation/human-evaluation/results/en/SYSTEM/primary.json` (ratings of 0 to 100 by several
workers, which are averaged). REALSumm reads `scores_dicts/abs.pkl` and `ext.pkl`, pickled
dictionaries of documents; nothing but plain values is unpickled.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from experiments.texts.corpus import REALSUMM_FILES, WEBNLG_FILE, DataMissingError

_RATINGS = {
    "correctness": "Correctness",
    "data_coverage": "DataCoverage",
    "relevance": "Relevance",
    "fluency": "Fluency",
    "text_structure": "TextStructure",
}
_SUMMARY_SCORES = {
    "litepyramid_recall": "litepyramid_recall",
    "rouge_1_f": "rouge_1_f_score",
    "rouge_2_f": "rouge_2_f_score",
    "rouge_l_f": "rouge_l_f_score",
    "js_2": "js-2",
    "mover_score": "mover_score",
    "bert_f": "bert_f_score",
}
_PICKLES = {"abstractive": "abs.pkl", "extractive": "ext.pkl"}


def webnlg_rows(clone: Path) -> list[dict[str, Any]]:
    """Return the rated texts of WebNLG, one dictionary per text.

    `clone` is a clone of its repository. The keys are those of `Corpus` files, see
    `experiments.texts.corpus`.
    """
    entries = _json(clone / "evaluation/references/references-en.json")["entries"]
    about = {number: entry for item in entries for number, entry in item.items()}
    results = clone / "evaluation/human-evaluation/results/en"
    rows = []
    for ratings_file in sorted(results.glob("*/primary.json")):
        system = ratings_file.parent.name
        output_file = clone / "submissions/rdf2text/en" / system / "primary.en"
        if not output_file.is_file():
            raise DataMissingError(f"there is no {output_file}")
        outputs = output_file.read_text(encoding="utf-8").split("\n")
        for number, workers in _json(ratings_file).items():
            if not workers:
                continue
            entry = about[number]
            rows.append(
                {
                    "sample_id": int(number),
                    "system": system,
                    "text": outputs[int(number) - 1].strip(),
                    "references": [item["lex"] for item in entry["lexicalisations"]],
                    "category": entry["category"],
                    "size": int(entry["size"]),
                    **{
                        name: fmean(worker[key] for worker in workers.values())
                        for name, key in _RATINGS.items()
                    },
                }
            )
    if not rows:
        raise DataMissingError(f"there are no ratings in {results}")
    return rows


def realsumm_rows(clone: Path, kind: str) -> list[dict[str, Any]]:
    """Return the summaries of REALSumm with their scores, one dictionary per summary.

    `clone` is a clone of its repository, and `kind` is "abstractive" or "extractive", the kind of
    systems that wrote the summaries.
    """
    path = clone / "scores_dicts" / _PICKLES[kind]
    if not path.is_file():
        raise DataMissingError(f"there is no {path}")
    with path.open("rb") as file:
        documents = _PlainUnpickler(file).load()
    return [
        {
            "doc_id": int(document["doc_id"]),
            "system": system.removesuffix(".txt"),
            "text": summary["system_summary"],
            "reference": document["ref_summ"],
            **{
                name: float(summary["scores"][key])
                for name, key in _SUMMARY_SCORES.items()
                if key in summary["scores"]
            },
        }
        for document in documents.values()
        for system, summary in document["system_summaries"].items()
    ]


class _PlainUnpickler(pickle.Unpickler):
    """Unpickler that only accepts numbers, strings, lists and dictionaries: no code runs."""

    def find_class(self, module: str, name: str) -> Any:
        if (module.partition(".")[0], name) in (("numpy", "dtype"), ("numpy", "scalar")):
            return super().find_class(module, name)
        if (module, name) == ("collections", "defaultdict"):
            return lambda *_: {}
        raise pickle.UnpicklingError(f"refusing to unpickle {module}.{name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with command-line arguments, by default `sys.argv[1:]`, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.texts.convert",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("which", choices=("webnlg", "realsumm"))
    parser.add_argument("clone", type=Path, help="a clone of the public repository")
    parser.add_argument("data", type=Path, help="folder for the tidy files")
    options = parser.parse_args(arguments)
    try:
        if options.which == "webnlg":
            written = {WEBNLG_FILE: webnlg_rows(options.clone)}
        else:
            written = {
                file: realsumm_rows(options.clone, kind) for kind, file in REALSUMM_FILES.items()
            }
    except DataMissingError as error:
        print(error, file=sys.stderr)
        return 2
    options.data.mkdir(parents=True, exist_ok=True)
    for name, rows in written.items():
        _write(options.data / name, rows)
        print(f"{options.data / name}: {len(rows)} rows")
    return 0


def _json(path: Path) -> Any:
    if not path.is_file():
        raise DataMissingError(f"there is no {path}")
    return json.loads(path.read_text(encoding="utf-8"))


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
