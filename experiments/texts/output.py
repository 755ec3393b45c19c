"""Output files of an experiment on text: correlations as CSV, and a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.framework.figure import save
from experiments.texts.correlations import Agreement, write_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_results(
    folder: Path | None, name: str, agreements: Sequence[Agreement], draw: Callable[[], Figure]
) -> None:
    """Write correlations to `name`.csv and a figure to `name`.png, and print their paths.

    Nothing is written if `folder` is None. `draw` returns the figure.
    """
    if folder is None:
        return
    written = [folder / f"{name}.csv"]
    write_csv(agreements, written[0])
    try:
        save(draw(), folder / f"{name}.png")
        written.append(folder / f"{name}.png")
    except ImportError as error:
        print(f"no picture: {error}; pip install 'isodepth[plot]'")
    print(", ".join(map(str, written)))
