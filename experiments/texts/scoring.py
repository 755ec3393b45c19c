"""Score a corpus with every contender, continuing where an interrupted run stopped."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.texts.corpus import Corpus
from experiments.texts.metrics import Contender


@dataclass(frozen=True)
class Scored:
    """The scores of one contender.

    Attributes
    ----------
    name : str
    runs : list of ndarrays of shape (texts, systems), one a seed
    seconds : float
        Of the first run.
    """

    name: str
    runs: list[np.ndarray]
    seconds: float


def score_all(
    corpus: Corpus, contenders: Sequence[Contender], seeds: int, file: Path | None, about: str
) -> dict[str, Scored]:
    """Scores by the name of the contender.

    Parameters
    ----------
    file : Path or None
        Scores are kept there, one JSON object a line, and not computed again.
    about : str
        What the scores depend on besides the contender: other lines of the file are ignored.
    """
    known = _read(file, about)
    scored = {}
    for contender in contenders:
        runs, seconds = [], []
        for seed in range(seeds if contender.random else 1):
            key = f"{contender.name} | {seed}"
            if key not in known:
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    values = contender.make(seed).score(corpus.texts, corpus.references)
                known[key] = {"scores": values, "seconds": time.perf_counter() - start}
                _append(file, {"about": about, "key": key, **known[key]})
                print(f"  {key:32} {known[key]['seconds']:8.1f} s", flush=True)
            runs.append(corpus.table(known[key]["scores"]))
            seconds.append(known[key]["seconds"])
        scored[contender.name] = Scored(contender.name, runs, seconds[0])
    return scored


def _read(file: Path | None, about: str) -> dict[str, dict]:
    if file is None or not file.is_file():
        return {}
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # cut off in the middle
            continue
        if entry["about"] == about:
            found[entry["key"]] = entry
    return found


def _append(file: Path | None, entry: dict) -> None:
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(entry) + "\n")
