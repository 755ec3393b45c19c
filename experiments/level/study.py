"""Rejections at 5% under equal distributions, in 52 settings of untidy tables.

    python -m experiments level --runs 1000 --jobs 16
    python -m experiments level --settings "constant column" "empty column"

One JSON line per setting and 100 data sets. A run continues its file.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.level.settings import SETTINGS
from experiments.options import add_names
from experiments.tables.study import append_results, read_lines

#: Data sets per line of the file.
CHUNK = 100


def pvalues(setting: str, numbers: Iterable[int], n_permutations: int = 199) -> list[float]:
    """Compute the p-values of several data sets of a setting, one per entry of `numbers`.

    The number of a data set is a part of its seed.
    """
    import isodepth

    found = []
    for number in numbers:
        rng = np.random.default_rng([number, zlib.crc32(setting.encode())])
        x, y, options = SETTINGS[setting](rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = isodepth.two_sample_test(
                x, y, n_permutations=n_permutations, random_state=number, n_jobs=1,
                **{"nan_policy": "keep"} | options,
            )  # fmt: skip
        found.append(float(result.pvalue))
    return found


def _evaluate(job: tuple[str, int, int]) -> dict[str, Any]:
    setting, chunk, n_permutations = job
    line = {"setting": setting, "chunk": chunk, "n_permutations": n_permutations}
    try:
        found = pvalues(setting, range(CHUNK * chunk, CHUNK * (chunk + 1)), n_permutations)
    except Exception as error:  # a failure is a result
        return {**line, "error": f"{type(error).__name__}: {error}"[:300]}
    return {**line, "pvalues": found}


def summary(lines: Iterable[dict[str, Any]]) -> str:
    """Return the rates of rejection of each setting in percent, as a Markdown table."""
    found: dict[str, list[float]] = {}
    errors = []
    for line in lines:
        found.setdefault(line["setting"], []).extend(line.get("pvalues", []))
        if "error" in line:
            errors.append(f"* {line['setting']}: `{line['error']}`")
    text = ["| setting | data sets | rejected at 5% | at 20% |", "|---|---:|---:|---:|"]
    for name in SETTINGS:
        p = np.array(found.get(name, []))
        if len(p):
            rates = [f"{100 * np.mean(p <= a + 1e-12):.1f}" for a in (0.05, 0.2)]
            text.append(f"| {name} | {len(p)} | {' | '.join(rates)} |")
    return "\n".join([*text, *sorted(set(errors))])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study with command-line arguments, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="data sets per setting")
    add_names(parser, "--settings", SETTINGS)
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/level/level.jsonl"))
    options = parser.parse_args(arguments)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    known = {(line["setting"], line["chunk"]) for line in read_lines(options.out)}
    jobs = [
        (setting, chunk, options.permutations)
        for chunk in range(-(-options.runs // CHUNK))
        for setting in options.settings
        if (setting, chunk) not in known
    ]
    append_results(options.out, _evaluate, jobs, options.jobs)
    print(summary(read_lines(options.out)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
