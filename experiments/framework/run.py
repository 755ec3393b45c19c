"""Run an experiment: measure missing units, draw figures, compute verdicts."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from experiments.framework.experiment import Experiment, Part, Results
from experiments.framework.table import OtherResultsError, Table, cells, complete_rows, text_of

#: Default of --out.
DEFAULT_FOLDERS = {
    "full": Path("out/experiments"),
    "reduced": Path("out/reproduce"),
    "quick": Path("out/experiments-quick"),
}


def run_experiment(experiment: Experiment, arguments: Sequence[str] | None = None) -> int:
    """Run one experiment with command-line arguments, and return the exit code."""
    options = parser(experiment.name, experiment.title).parse_args(arguments)
    size = "quick" if options.quick else options.size
    settings = experiment.sizes[size]
    if options.runs is not None:
        if options.runs < 1:
            raise SystemExit(f"--runs must be at least 1, got {options.runs}")
        settings = replace(settings, runs=options.runs)
    folder = options.out or DEFAULT_FOLDERS[size]
    try:
        _run(experiment, settings, size, options.seed, folder, options.jobs)
    except OtherResultsError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here")
        return 130
    return 0


def _run(
    experiment: Experiment, settings: Any, size: str, seed: int, folder: Path, jobs: int
) -> None:
    start = time.perf_counter()
    print(f"# {experiment.name}: {experiment.title}", flush=True)
    print(f"{size} size, seed {seed}: {describe(settings)}", flush=True)
    results = measure(experiment, settings, size, seed, folder, jobs)
    written = [folder / f"{name}.csv" for name in results.tables]
    written += draw(experiment, results, folder)
    for verdict in experiment.judge(results):
        print(f"\n{verdict}")
    if size == "quick":
        print("\nA quick run: it shows that everything works, its figures are not for quoting.")
    timed = [part.name for part in experiment.parts(settings) if not part.repeatable]
    if timed:
        print(
            f"\nMeasured times, not the same twice: {', '.join(f'{name}.csv' for name in timed)}."
        )
    took = time.perf_counter() - start
    print(f"\n{took:.0f} s; " + ", ".join(map(str, written)) + "\n", flush=True)


def parser(name: str, title: str) -> argparse.ArgumentParser:
    """Return the parser of the command-line options that all experiments have.

    `name` and `title` of the experiment are shown in its help.
    """
    parser = argparse.ArgumentParser(prog=f"python -m experiments {name}", description=title)
    parser.add_argument("--runs", type=int, metavar="N", help="repetitions")
    parser.add_argument("--size", choices=list(DEFAULT_FOLDERS), default="full")
    parser.add_argument("--quick", action="store_true", help="the same as --size quick")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where results go")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes; times are measured by one"
    )
    return parser


def describe(settings: Any) -> str:
    """Return the settings as one line."""
    fields = asdict(settings).items()
    return ", ".join(f"{key} = {_plain(value)}" for key, value in fields)


def measure(
    experiment: Experiment, settings: Any, size: str, seed: int, folder: Path, jobs: int = 1
) -> Results:
    """Measure the missing units of all parts of an experiment, and return all results.

    A unit is a pair of a run and a condition. The units in the CSV files in `folder` are not
    measured again. `size` is the name of the settings, such as "full".
    """
    folder.mkdir(parents=True, exist_ok=True)
    _claim(folder / f"{experiment.name}.json", experiment.name, settings, size, seed)
    tables = {}
    for part in experiment.parts(settings):
        path = folder / f"{part.name}.csv"
        fill(part, path, seed, jobs)
        tables[part.name] = Table.read(path)
    return Results(tables, settings, seed)


def load(experiment: Experiment, folder: Path) -> tuple[Results, str] | None:
    """Return the results in a folder, and the name of their settings, such as "full".

    Return None if they are missing or incomplete.
    """
    note = folder / f"{experiment.name}.json"
    if not note.exists():
        return None
    stored = json.loads(note.read_text(encoding="utf-8"))
    fields = {key: _hashable(value) for key, value in stored["settings"].items()}
    settings = type(experiment.sizes["full"])(**fields)
    tables = {}
    for part in experiment.parts(settings):
        rows = complete_rows(folder / f"{part.name}.csv")
        if len(rows) < 1 + len(part.units()) * len(part.names):
            return None
        tables[part.name] = Table.read(folder / f"{part.name}.csv")
    return Results(tables, settings, stored["seed"]), stored["size"]


def draw(experiment: Experiment, results: Results, folder: Path) -> list[Path]:
    """Write the figures of an experiment to a folder, and return their paths; needs matplotlib."""
    from experiments.framework.figure import save

    try:
        figures = experiment.draw(results)
    except ImportError as error:
        print(f"no picture: {error}; pip install 'isodepth[plot]'")
        return []
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.png")
        save(figure, paths[-1])
    return paths


def fill(part: Part, path: Path, seed: int, jobs: int = 1) -> None:
    """Measure the missing units of a part of an experiment, and append their rows to its CSV file.

    A unit is a pair of a run and a condition. The rows have the same order for any number of jobs.
    """
    units = part.units()
    done = _units_on_disk(part, path)
    with path.open("a", encoding="utf-8", newline="") as file:
        if file.tell() == 0:
            file.write(text_of(part.columns))
        calls = (delayed(part.rows)(run, condition, seed) for run, condition in units[done:])
        measured = Parallel(jobs if part.repeatable else 1, return_as="generator")(calls)
        for rows in _progress(measured, len(units), done, part.name):
            file.write("".join(map(text_of, rows)))
            file.flush()


def _units_on_disk(part: Part, path: Path) -> int:
    """Return the number of measured units of a part of an experiment, counted in its CSV file.

    A unit is a pair of a run and a condition; it has one row per entry of `part.names`. An
    incomplete last unit is removed from the file. Raise an error if the file has other results.
    """
    rows = complete_rows(path)
    if not rows:
        path.unlink(missing_ok=True)
        return 0
    if rows[0] != [str(name) for name in part.columns]:
        raise OtherResultsError(f"{path} has other columns; delete it or choose another --out")
    height = len(part.names)
    units = part.units()
    done = min(len(rows[1:]) // height, len(units))
    for number, (run, condition) in enumerate(units[:done]):
        block = rows[1 + number * height : 1 + (number + 1) * height]
        for row, name in zip(block, part.names, strict=True):
            key = cells([run, *condition.values(), name])
            if row[: len(key)] != key:
                raise OtherResultsError(
                    f"{path} holds {row[: len(key)]} where {key} was expected; delete it or "
                    "choose another --out"
                )
    # Additional runs are kept: they belong to the same sequence of runs.
    kept = len(rows[1:]) // height
    whole = "".join(map(text_of, rows[: 1 + kept * height]))
    os.truncate(path, len(whole.encode("utf-8")))
    return done


def _claim(note: Path, name: str, settings: Any, size: str, seed: int) -> None:
    """Write the settings of an experiment to the file `note`, unless it exists.

    Raise an error if it exists and has other settings: the results in its folder belong to these.
    """
    from isodepth import __version__

    made_with = {
        "experiment": name,
        "size": size,
        "seed": seed,
        "settings": json.loads(json.dumps(asdict(settings))),
        "isodepth": __version__,
    }
    if note.exists():
        stored = json.loads(note.read_text(encoding="utf-8"))
        for key, value in made_with.items():
            if _apart_from_runs(stored.get(key)) != _apart_from_runs(value):
                raise OtherResultsError(
                    f"{note.parent} holds results of {name} with {key} = {stored.get(key)}, not "
                    f"{value}; delete them or choose another --out"
                )
    note.write_text(json.dumps(made_with, indent=1) + "\n", encoding="utf-8")


def _progress(units: Iterable[Any], total: int, done: int, name: str) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return units
    return tqdm(units, total=total, initial=done, desc=name, disable=None, leave=False)


def _apart_from_runs(value: Any) -> Any:
    return {k: v for k, v in value.items() if k != "runs"} if isinstance(value, dict) else value


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_plain, value)) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)
