"""Command-line options that several studies have."""

from __future__ import annotations

import argparse
from collections.abc import Iterable


def add_names(parser: argparse.ArgumentParser, flag: str, names: Iterable[str]) -> None:
    """Add an option that selects some of the `names`, such as names of settings; default all.

    The help names the constant that lists them: "--settings" has the names in SETTINGS.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> add_names(parser, "--settings", ["normal", "counts"])
    >>> parser.parse_args(["--settings", "counts"]).settings, parser.parse_args([]).settings
    (['counts'], ['normal', 'counts'])
    """
    known = list(names)
    constant = flag.removeprefix("--").upper()
    parser.add_argument(
        flag, nargs="+", choices=known, default=known, metavar="NAME",
        help=f"names in {constant}; all if not given",
    )  # fmt: skip
