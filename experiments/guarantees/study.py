"""Error rates of guarantees that the tests check with few data sets: rows 8 to 11 of the table.

    python -m experiments guarantees --runs 200 --jobs 16
    python -m experiments guarantees --parts blocks --runs 1000

One JSON line per setting and 20 data sets or streams. A run continues its file.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.guarantees import alarms, bounds, chunks
from experiments.guarantees.setting import Setting
from experiments.options import add_names
from experiments.tables.study import append_results, read_lines

#: Data sets or streams per line of the file.
CHUNK = 20
PARTS: dict[str, list[Setting]] = {
    "changed share": bounds.SETTINGS,
    "patience and groups": alarms.WINDOW_SETTINGS,
    "blocks": alarms.BLOCK_SETTINGS,
    "chunks": chunks.SETTINGS,
}
SETTINGS = {
    f"{part}: {setting.name}": setting for part, found in PARTS.items() for setting in found
}


def measured(name: str, numbers: Iterable[int]) -> dict[str, list[float]]:
    """Run the simulation of the setting `name` once per number in `numbers`.

    A number is a part of the seed of its run. Return the measured values by their names.
    """
    found: dict[str, list[float]] = {}
    for number in numbers:
        rng = np.random.default_rng([number, zlib.crc32(name.encode())])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # small or dependent references
            result = SETTINGS[name].run(rng, number)
        for key, value in result.items():
            found.setdefault(key, []).append(value)
    return found


def _evaluate(job: tuple[str, int]) -> dict[str, Any]:
    name, chunk = job
    line = {"setting": name, "chunk": chunk}
    try:
        return {**line, "measured": measured(name, range(CHUNK * chunk, CHUNK * (chunk + 1)))}
    except Exception as error:  # a failure is a result
        return {**line, "error": f"{type(error).__name__}: {error}"[:300]}


def summary(lines: Iterable[dict[str, Any]]) -> str:
    """Return the means of the measured numbers and their limits in percent, as a Markdown table.

    The standard error is that of a rate that equals the limit. For the mean of other numbers, it is
    the estimated one if that is larger.
    """
    values: dict[tuple[str, str], list[float]] = {}
    errors = set()
    for line in lines:
        for key, found in line.get("measured", {}).items():
            values.setdefault((line["setting"], key), []).extend(found)
        if "error" in line:
            errors.add(f"* {line['setting']}: `{line['error']}`")
    text = ["| setting | quantity | runs | mean (%) | limit (%) | standard errors above |",
            "|---|---|---:|---:|---:|---:|"]  # fmt: skip
    largest: dict[tuple[str, str, float], list[tuple[float, int, str]]] = {}
    for name, setting in SETTINGS.items():
        for (owner, key), found in values.items():
            if owner != name:
                continue
            mean, cells = float(np.mean(found)), ["", ""]
            if key in setting.limits:
                limit = setting.limits[key]
                spread = np.sqrt(limit * (1 - limit))
                if not {*found} <= {0.0, 1.0}:
                    spread = max(spread, float(np.std(found)))
                cells = [f"{100 * limit:g}", f"{(mean - limit) * len(found) ** 0.5 / spread:+.1f}"]
                part = name.partition(":")[0]
                largest.setdefault((part, key, limit), []).append((mean, len(found), name))
            text.append(
                f"| {name} | {key} | {len(found)} | {100 * mean:.2f} | {' | '.join(cells)} |"
            )
    text.append("")
    for (part, key, limit), found_means in largest.items():
        mean, runs, name = max(found_means)
        total = sum(n for _, n, _ in found_means)
        overall = sum(m * n for m, n, _ in found_means) / total
        text.append(
            f"* {part}, {key}, limit {limit:.0%}: at most {mean:.2%} of {runs} runs ({name}), and "
            f"{overall:.2%} of all {total}"
        )
    return "\n".join([*text, *sorted(errors)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study with command-line arguments, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200, help="data sets or streams per setting")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    add_names(parser, "--settings", SETTINGS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/guarantees/guarantees.jsonl"))
    options = parser.parse_args(arguments)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    known = {(line["setting"], line["chunk"]) for line in read_lines(options.out)}
    jobs = [
        (name, chunk)
        for chunk in range(-(-options.runs // CHUNK))
        for name in options.settings
        if name.partition(":")[0] in options.parts and (name, chunk) not in known
    ]
    append_results(options.out, _evaluate, jobs, options.jobs)
    print(summary(read_lines(options.out)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
