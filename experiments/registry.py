"""Registry of the experiments by name."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Experiment whose module has a function `main(arguments)`."""

    name: str
    module: str
    about: str
    #: Figures and tables of the paper that it reproduces, numbered through the appendix.
    paper: str = ""
    #: Whether `python -m experiments all` runs it: generated data, and the options of all.
    in_all: bool = False

    @property
    def exists(self) -> bool:
        """Whether the module exists."""
        return importlib.util.find_spec(self.module) is not None

    def load(self) -> Any:
        """Import and return the module."""
        return importlib.import_module(self.module)

    @property
    def main(self) -> Callable[[Sequence[str]], int | None]:
        """Return the function `main` of the module, which runs the experiment."""
        return self.load().main


def _entry(
    name: str, about: str, paper: str = "", *, module: str = "", folder: str = "synthetic"
) -> Entry:
    in_all = folder == "synthetic"
    return Entry(name, f"experiments.{folder}.{module or name}", about, paper, in_all)


ENTRIES = {
    entry.name: entry
    for entry in (
        _entry("approximation", "relative error against the number of directions", "Figure 1"),
        _entry("time", "time against the number of directions", "Figure 2", module="timing"),
        _entry("robustness", "relative error against the share of outliers", "Figures 3, 9"),
        _entry("rivals", "relative error of newer robust transport against the share of outliers"),
        _entry("contours", "depth contours of a contaminated sample", "Figure 4"),
        _entry("illustration", "nested regions of two samples and their gaps", "Figure 5"),
        _entry("rates", "error against the sample size", "Figure 6"),
        _entry("epsilon", "error against eps for three shares of anomalies", "Figure 7"),
        _entry("levels", "relative error against the number of levels", "Figure 8"),
        _entry(
            "breakdown",
            "breakdown bounds and shares of rows that break the distance",
            "Proposition 3.6",
        ),
        _entry("propositions", "every proposition, checked numerically", "Propositions"),
        _entry("accuracy", "refined and exact suprema from 2 to 200 dimensions"),
        _entry("power", "level and power of two-sample tests", module="study", folder="power"),
        Entry("tables", "experiments.tables.study", "known changes of real tables"),
        Entry("level", "experiments.level.study", "level of the test for untidy tables"),
        Entry("strings", "experiments.level.strings", "false alarms for tables with strings"),
        Entry("trial", "experiments.trial.study", "printed sentences, checked with pandas"),
        Entry("coverage", "experiments.coverage.study", "bound on the share of changed rows"),
        Entry("guarantees", "experiments.guarantees.study", "monitors and data in chunks"),
        Entry("drift", "experiments.drift.study", "drift tools side by side on real tables"),
        _entry("monitoring", "false alarms of monitors, and their delays after a change"),
        _entry("clustering", "spectral clustering of bags of pixels", "Table 1", folder="images"),
        _entry(
            "webnlg", "correlation with human judgment, data to text", "Tables 2, 3", folder="texts"
        ),
        _entry(
            "summarization", "correlation with human judgment, summaries", "Table 4", folder="texts"
        ),
        Entry("authors", "experiments.authors.study", "the authors' script and isodepth"),
    )
}
