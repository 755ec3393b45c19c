"""The program `isodepth` with all its commands, in the order in which the help lists them."""

from __future__ import annotations

import click

from isodepth._version import __version__
from isodepth.cli.commands import CommandLine
from isodepth.cli.compare import compare, report, test
from isodepth.cli.monitor import monitor
from isodepth.cli.samples import depth, pairwise
from isodepth.cli.score import score


@click.group("isodepth", cls=CommandLine, no_args_is_help=False)
@click.version_option(__version__, message="isodepth %(version)s")
def cli() -> None:
    """Distances and tests between samples, robust against outliers.

    Tables are .csv, .tsv, .parquet or .npy files, also with .gz, or - for standard input. Exit
    codes: 0 success, 1 an alarm or an exceeded threshold, 2 an error, 130 interrupted.
    """


for each in (compare, test, pairwise, depth, monitor, report, score):
    cli.add_command(each)
