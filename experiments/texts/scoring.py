"""Score a corpus with every metric; interrupted runs are resumed."""

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
    """Scores of one metric.

    Attributes
    ----------
    name : str
    runs : list of ndarrays of shape (texts, systems), one per seed
        Oriented so that larger is better.
    seconds : float
        Duration of the first run.
    """

    name: str
    runs: list[np.ndarray]
    seconds: float


def score_all(
    corpus: Corpus, contenders: Sequence[Contender], seeds: int, file: Path | None, about: str
) -> dict[str, Scored]:
    """Return the scores of a corpus by each metric in `contenders`, by the name of the metric.

    Parameters
    ----------
    file : Path or None
        Cache of scores, one JSON object per line.
    about : str
        Settings besides the metric. Lines of the file with other settings are ignored.
    """
    known = _read(file, about)
    scored = {}
    for contender in contenders:
        runs, seconds = [], []
        for seed in range(seeds if contender.random else 1):
            entry = _known_or_scored(corpus, contender, seed, known, file, about)
            if seed == 0:
                for note in entry.get("notes", ()):
                    print(f"  {contender.name}: {note}")
            table = corpus.table(entry["scores"])
            runs.append(table if entry["higher_is_better"] else -table)
            seconds.append(entry["seconds"])
        scored[contender.name] = Scored(contender.name, runs, seconds[0])
    return scored


def _known_or_scored(
    corpus: Corpus,
    contender: Contender,
    seed: int,
    known: dict[str, dict],
    file: Path | None,
    about: str,
) -> dict:
    """Return the scores of one metric and seed, their time, and their warnings.

    If they are among the stored results `known`, nothing is computed.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        metric = contender.make(seed)
        # Scores with the same name but other settings are not used.
        key = f"{contender.name} | {seed} | {getattr(metric, 'signature', '')}"
        direction = {"higher_is_better": metric.higher_is_better}
        if key in known:
            return known[key] | direction
        start = time.perf_counter()
        values = list(metric.score(corpus.texts, corpus.references))
        seconds = time.perf_counter() - start
    notes = list(dict.fromkeys(str(w.message) for w in caught if w.category is UserWarning))
    entry = {"about": about, "key": key, "scores": values, "seconds": seconds, "notes": notes}
    _append(file, entry)
    print(f"  {contender.name} | {seed}".ljust(34) + f" {seconds:8.1f} s", flush=True)
    return entry | direction


def _read(file: Path | None, about: str) -> dict[str, dict]:
    if file is None or not file.is_file():
        return {}
    scores = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # truncated line
            continue
        if entry["about"] == about:
            scores[entry["key"]] = entry
    return scores


def _append(file: Path | None, entry: dict) -> None:
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(entry) + "\n")
