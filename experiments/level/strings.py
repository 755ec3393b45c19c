"""False alarms for tables with strings that are read from files: the level of tests and monitors.

    python -m experiments strings --jobs 16
    python -m experiments strings --runs 20 --settings "codes, test, scan"
    python -m experiments strings --jobs 16 --resume    # continue an interrupted run

Rows without a change are split at random, written to CSV files, and read in several ways. The data
are random splits of 20 real tables with strings, and independent rows with a long-tailed category,
with codes of which one is a rare word, and with booleans of which one is a rare word. The smaller
file often lacks the word that decides the type of a column.

Each setting consists of the data, the tool and the reader. The tool is the two-sample test at 5%,
or a monitor with alpha = 5% that checks a stream of batches. A setting fails if a binomial test at
0.1% / number of settings rejects its level. `two_sample_test` may refuse samples whose types
differ; refusals count as no rejection, and any other error fails. The file `--out` has one CSV row
per run.

The real tables need the packages of `experiments.tables.sources`, or the file that
``python -m experiments.tables.sources --dump`` writes there.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import tempfile
import warnings
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.options import add_names
from experiments.tables.sources import load
from experiments.tables.study import append_results, read_lines

ALPHA, REJECTED = 0.05, 0.001
#: Maximum number of rows of a real table, and number of batches of a stream.
MAX_ROWS, BATCHES = 1200, 12
#: Tables with strings, of sets of earlier studies.
TABLES = (
    "AER/Fatalities", "AER/HMDA", "AER/NMES1988", "AER/TeachingRatings", "Ecdat/Caschool",
    "HSAUR/Forbes2000", "HSAUR/respiratory", "ISLR/Carseats", "ISLR/Credit", "ISLR/OJ",
    "carData/Chile", "causaldata/avocado", "dslabs/us_contagious_diseases", "gt/metro",
    "gt/rx_adsl", "medicaldata/covid_testing", "mosaicData/SaratogaHouses",
    "mosaicData/TenMileRace", "openintro/epa2021", "plm/Produc",
)  # fmt: skip

Rng = np.random.Generator


def _numbers(rng: Rng, n: int) -> dict[str, np.ndarray]:
    return {"size": rng.normal(50, 10, n).round(1), "count": rng.poisson(3, n)}


def _long_tail(offset: float, power: float) -> Callable[[Rng, int], list[pd.DataFrame]]:
    """Return a function that draws 300 rows, and batches of 200, of 3000 products.

    The share of product k is proportional to (offset + k) ** -power.
    """

    def draw(rng: Rng, number: int) -> list[pd.DataFrame]:
        shares = (offset + np.arange(3000)) ** -power
        return [
            pd.DataFrame(
                {"product": [f"p{k}" for k in rng.choice(3000, n, p=shares / shares.sum())]}
            )
            for n in [300, *[200] * BATCHES]
        ]

    return draw


def _words(
    values: Sequence[str], shares: Sequence[float], reference: int, batch: int
) -> Callable[[Rng, int], list[pd.DataFrame]]:
    """Return a function that draws a reference and batches with a column of these strings."""

    def draw(rng: Rng, number: int) -> list[pd.DataFrame]:
        sizes = [reference, *[batch] * BATCHES]
        return [
            pd.DataFrame({"word": rng.choice(values, n, p=shares), **_numbers(rng, n)})
            for n in sizes
        ]

    return draw


def _table(rng: Rng, number: int) -> list[pd.DataFrame]:
    """Split a real table: half of the rows, and batches of a tenth each."""
    frame = load(TABLES[number % len(TABLES)])
    frame = frame.iloc[rng.permutation(len(frame))[:MAX_ROWS]]
    middle = len(frame) // 2
    parts = np.split(np.arange(len(frame)), [middle + k * len(frame) // 10 for k in range(5)])
    return [frame.iloc[part].reset_index(drop=True) for part in parts if len(part)]


_SIX = ["01", "02", "03", "04", "05", "06"]
DATA: dict[str, Callable[[Rng, int], list[pd.DataFrame]]] = {
    "real tables": _table,
    "long-tailed category": _long_tail(1.0, 1.3),
    "rare products": _long_tail(2.0, 1.0),
    "codes": _words([*_SIX, "A1"], [0.995 / 6] * 6 + [0.005], 5000, 200),
    "booleans": _words(["true", "false", "unknown"], [0.5, 0.495, 0.005], 1000, 100),
    "capital booleans": _words(["TRUE", "FALSE", "N"], [0.5, 0.495, 0.005], 1000, 100),
    "hexadecimal codes": _words(["0x1", "0x2", "0xA", "none"], [0.4, 0.4, 0.195, 0.005], 1000, 100),
}


def _arrow(path: str) -> Any:
    from pyarrow.csv import read_csv

    return read_csv(path)


def _parquet(path: str) -> Any:
    """Write the table that pandas reads to a Parquet file, and scan this file."""
    import isodepth

    target = path.removesuffix(".csv") + ".parquet"
    pd.read_csv(path).to_parquet(target)
    return isodepth.scan(target)


def _scan(path: str) -> Any:
    import isodepth

    return isodepth.scan(path)


READERS: dict[str, Callable[[str], Any] | None] = {
    "pandas": pd.read_csv,
    "strings": lambda path: pd.read_csv(path, dtype=str),
    "pyarrow": _arrow,
    "scan": _scan,
    "parquet": _parquet,
    "command line": None,
}
TOOLS = ("test", "monitor")
#: Settings by name: data, tool and reader. As strings, most columns of real tables are identifiers,
#: and a test leaves out rare products.
SETTINGS: dict[str, tuple[str, str, str]] = {
    f"{data}, {tool}, {reader}": (data, tool, reader)
    for data in DATA
    for tool in TOOLS
    for reader in READERS
    if (data != "real tables" or reader not in ("strings", "parquet"))
    and (data, tool) != ("rare products", "test")
}


def _written(frames: Sequence[pd.DataFrame], folder: Path) -> list[str]:
    paths = [str(folder / f"{k:02}.csv") for k in range(len(frames))]
    for frame, path in zip(frames, paths, strict=True):
        frame.to_csv(path, index=False)
    return paths


def _command(*arguments: str) -> dict[str, Any]:
    """Run the program in this process, and return its JSON output."""
    from isodepth.cli.program import cli

    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            cli.main([*arguments, "--json"])
        except SystemExit as stop:
            if stop.code not in (0, 1):
                raise RuntimeError(errors.getvalue().strip()[-300:]) from None
    return json.loads(output.getvalue())


def _test(paths: Sequence[str], number: int, reader: str, n_permutations: int) -> bool:
    """Return whether the test rejects that the first two files have the same distribution."""
    import isodepth

    read = READERS[reader]
    if read is None:
        found = _command(
            "test", *paths[:2], "--random-state", str(number),
            "--n-permutations", str(n_permutations),
        )["pvalue"]  # fmt: skip
    else:
        found = isodepth.two_sample_test(
            *map(read, paths[:2]), n_permutations=n_permutations, random_state=number, n_jobs=1
        ).pvalue
    return float(found) <= ALPHA + 1e-12


def _monitor(paths: Sequence[str], number: int, reader: str, n_permutations: int) -> bool:
    """Return whether a monitor that is fitted to the first file has an alarm in the others."""
    import isodepth

    read = READERS[reader]
    if read is None:
        stored = str(Path(paths[0]).parent / "monitor.npz")
        seed = ("--alpha", str(ALPHA), "--random-state", str(number))
        _command("monitor", "fit", paths[0], "-o", stored, *seed)
        return '"alarm": true' in json.dumps(_command("monitor", "check", stored, *paths[1:]))
    monitor = isodepth.Monitor(read(paths[0]), alpha=ALPHA, random_state=number)
    return any(monitor.check(read(path)).alarm for path in paths[1:])


def run(setting: str, number: int, n_permutations: int = 199) -> dict[str, Any]:
    """Make one data set of a setting, and return whether it was rejected, or the error.

    The data depend on the number and on their name only, so that all readers have the same data.
    """
    data, tool, reader = SETTINGS[setting]
    rng = np.random.default_rng([number, zlib.crc32(data.encode())])
    line: dict[str, Any] = {"setting": setting, "number": number}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paths = _written(DATA[data](rng, number), Path(folder))
        try:
            decide = _test if tool == "test" else _monitor
            line["rejected"] = int(decide(paths, number, reader, n_permutations))
        except Exception as error:  # a failure is a result
            refused = "column" in str(error) and type(error).__name__ in (
                "InvalidInputError", "RuntimeError",
            )  # fmt: skip
            line |= {"rejected": 0, "refused" if refused else "error": f"{error}"[:300]}
    return line


def summary(lines: Sequence[dict[str, Any]]) -> tuple[str, bool]:
    """Return a Markdown table of the rates, and whether all settings keep their level."""
    from scipy.stats import binom

    found: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        found.setdefault(line["setting"], []).append(line)
    text = ["| setting | runs | rejected | binomial p-value | refused | errors | |",
            "|---|---:|---:|---:|---:|---:|---|"]  # fmt: skip
    kept = True
    for setting, own in found.items():
        count = sum(int(line["rejected"]) for line in own)
        refused, errors = (sum(bool(line.get(k)) for line in own) for k in ("refused", "error"))
        pvalue = float(binom.sf(count - 1, len(own), ALPHA))
        failed = pvalue <= REJECTED / len(found) or errors > 0
        kept &= not failed
        text.append(
            f"| {setting} | {len(own)} | {100 * count / len(own):.1f}% | {pvalue:.2g} | {refused} "
            f"| {errors} | {'FAIL' if failed else ''} |"
        )
    examples = {line.get("error") or line.get("refused"): line["setting"] for line in lines}
    text += [f"* {name}: `{error}`" for error, name in [*examples.items()][:20] if error]
    text.append(
        f"Level {ALPHA:.0%}: {'all settings keep it' if kept else 'FAILED'} (binomial test at "
        f"{REJECTED:.1%} / {len(found)} settings)"
    )
    return "\n".join(text), kept


def _job(job: tuple[str, int, int]) -> dict[str, Any]:
    return run(*job)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study with command-line arguments; return 1 if a level is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200, help="data sets per setting")
    add_names(parser, "--settings", SETTINGS)
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="continue an interrupted run")
    parser.add_argument("--out", type=Path, default=Path("out/level/strings.csv"))
    options = parser.parse_args(arguments)
    stored = options.out.with_suffix(".jsonl")
    stored.parent.mkdir(parents=True, exist_ok=True)
    if not options.resume:
        stored.unlink(missing_ok=True)
    known = {(line["setting"], line["number"]) for line in read_lines(stored)}
    # Slow and fast settings alternate, so that the processes finish at about the same time.
    jobs = [
        (setting, number, options.permutations)
        for number in range(options.runs)
        for setting in options.settings
        if (setting, number) not in known
    ]
    append_results(stored, _job, jobs, options.jobs)
    lines = sorted(read_lines(stored), key=lambda line: [*SETTINGS].index(line["setting"]))
    with options.out.open("w", newline="") as file:
        names = ["setting", "number", "rejected", "refused", "error"]
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(lines)
    text, kept = summary(lines)
    options.out.with_suffix(".md").write_text(text + "\n")
    print(text)
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
