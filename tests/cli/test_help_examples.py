"""Every command shows examples in its help, and every example runs."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from cli.helpers import run
from text_extra import needs_encoder

from isodepth.cli.program import cli


def commands(group: click.Group, above: str = "") -> dict[str, click.Command]:
    """Return all commands of `group` by name, including subcommands such as "monitor fit".

    `above` precedes all names, such as "monitor ".
    """
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= commands(command, f"{above}{name} ")
        else:
            found[f"{above}{name}"] = command
    return found


def examples(name: str) -> list[str]:
    shown = run(*name.split(), "--help").stdout
    _, _, after = shown.partition("Examples:\n")
    return [line.strip() for line in after.partition("\n\n")[0].splitlines()]


COMMANDS = commands(cli)
EXAMPLES = [(name, line) for name in COMMANDS for line in examples(name)]


def test_every_command_has_examples_and_json() -> None:
    assert list(COMMANDS) == [
        "compare", "test", "pairwise", "depth", "monitor fit", "monitor check", "monitor show",
        "monitor reset", "report", "score",
    ]  # fmt: skip
    for name in COMMANDS:
        assert examples(name)
        assert all(f"isodepth {name}" in line for line in examples(name))
        assert "--json" in run(*name.split(), "--help").stdout


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files that the examples read, and return their folder."""
    folder = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    (folder / "months").mkdir()
    months = []
    for month, name in ((6, "june"), (7, "july"), (8, "august")):
        frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=["temp", "dewp", "wind"])
        frame.insert(0, "day", 100 * month + np.arange(30) // 3)
        frame["temp"] += month
        frame.to_csv(folder / f"{name}.csv", index=False)
        frame.to_csv(folder / "months" / f"{name}.csv", index=False)
        months.append(frame.assign(origin=["JFK", "EWR"] * 15, month=month))
    pd.concat(months).to_csv(folder / "year.csv", index=False)
    raw = months[0].drop(columns="month")
    raw.loc[29, "temp"] = np.nan
    raw.to_csv(folder / "raw.csv", index=False)
    reference = pd.DataFrame(rng.normal(size=(2000, 2)), columns=["a", "b"])
    reference.assign(week=np.arange(2000) // 20).to_csv(folder / "reference.csv", index=False)
    batch = pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"])
    batch.to_csv(folder / "batch.csv", index=False)
    (folder / "batches").mkdir()
    shutil.copy(folder / "batch.csv", folder / "batches" / "monday.csv")
    run("monitor", "fit", folder / "reference.csv", "--drop", "week", "-o", folder / "fitted.npz")
    run("monitor", "check", folder / "fitted.npz", folder / "batch.csv")
    for name in ("candidates", "references", "more"):
        (folder / f"{name}.txt").write_text("the cat sat on the mat\nit rains today\n")
    return folder


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(line, marks=needs_encoder if name == "score" else (), id=line)
        for name, line in EXAMPLES
    ],
)
@pytest.mark.usefixtures("without_pictures")
def test_every_example_runs(example: str, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tables)
    Path("monitor.npz").unlink(missing_ok=True)
    if "monitor" in example and " fit " not in example:
        shutil.copy("fitted.npz", "monitor.npz")
    feed, _, command = example.rpartition(" | ")
    stdin = Path(feed.removeprefix("cat ")).read_bytes() if feed else None
    program, *arguments = shlex.split(command)
    assert program == "isodepth"
    # The temperature of July differs from that of June.
    code = 1 if "test" in arguments and "--max-changed" in arguments else 0
    assert run(*arguments, stdin=stdin, code=code).stdout.strip()
    if "-o" in arguments:
        assert Path(arguments[arguments.index("-o") + 1]).stat().st_size > 0
