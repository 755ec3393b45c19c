"""Framework of the experiments: raw results, figures, verdicts and the command line."""

from experiments.framework.experiment import Experiment, Part, Results
from experiments.framework.run import run_experiment
from experiments.framework.streams import Streams
from experiments.framework.table import Table
from experiments.framework.verdict import Verdict

__all__ = ["Experiment", "Part", "Results", "Streams", "Table", "Verdict", "run_experiment"]
