"""Definition of an experiment: measured parts, a figure, and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.framework.streams import Streams
from experiments.framework.table import Table
from experiments.framework.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Condition = Mapping[str, Any]
#: Names of the series measured under one condition, each with its values.
Measured = Mapping[Any, Sequence[float]]


@dataclass(frozen=True)
class Part:
    """Part of an experiment with one CSV file: every condition is measured once per run.

    Attributes
    ----------
    name : str
        Name of the file.
    runs : int
    conditions : sequence of mappings, all with the same keys
    series : str
        Name of the column that distinguishes the series of one condition.
    names : sequence
        Values of this column, in order: one row each.
    values : sequence of str
        Names of the columns of measured numbers.
    measure : function of a condition and Streams to {name: values}
        All random numbers are taken from the streams.
    repeatable : bool
        False for measured times, which differ between runs.
    """

    name: str
    runs: int
    conditions: Sequence[Condition]
    series: str
    names: Sequence[Any]
    values: Sequence[str]
    measure: Callable[[Condition, Streams], Measured]
    repeatable: bool = True

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the CSV file."""
        return ["run", *self.conditions[0], self.series, *self.values]

    def units(self) -> list[tuple[int, Condition]]:
        """Return the units of this part in the order of the file: pairs of a run and a condition.

        With a larger number of runs, the list is longer, but starts with the same pairs.
        """
        return [(run, condition) for run in range(self.runs) for condition in self.conditions]

    def rows(self, run: int, condition: Condition, seed: int) -> list[list[Any]]:
        """Measure one unit, a condition in one run, and return its rows of the CSV file."""
        measured = self.measure(condition, Streams(seed, self.name, run))
        if list(measured) != list(self.names):
            raise ValueError(f"{self.name} measured {list(measured)} instead of {self.names}")
        return [[run, *condition.values(), name, *measured[name]] for name in self.names]


@dataclass(frozen=True)
class Results:
    """Raw results of an experiment: a table per part, the settings and the seed."""

    tables: Mapping[str, Table]
    settings: Any
    seed: int


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Attributes
    ----------
    name : str
    title : str
        One line for the list of experiments.
    sizes : mapping
        Settings for "full" (those of the paper), "reduced" (`make reproduce`) and "quick" (at most
        a minute, to test the code): frozen dataclasses with a field `runs`.
    parts : function of the settings
    judge : function of Results to verdicts
        Verdicts are computed from the tables alone.
    draw : function of Results to {name of the figure: Figure}
    """

    name: str
    title: str
    sizes: Mapping[str, Any]
    parts: Callable[[Any], Sequence[Part]]
    judge: Callable[[Results], list[Verdict]]
    draw: Callable[[Results], Mapping[str, Figure]]
