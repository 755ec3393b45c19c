"""The command line: `isodepth compare A B`, `isodepth score -c FILE -r FILE`."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from isodepth._version import __version__
from isodepth.cli.score import add_score_parser, score_files, score_report
from isodepth.data.readers import Table, read_table
from isodepth.data.validation import check_points, check_same_width
from isodepth.errors import InvalidInputError, IsodepthError

if TYPE_CHECKING:
    from isodepth.metric.comparison import Comparison, LargestGap

# Columns are listed until they carry this share of the direction: the rest only adds noise.
_LISTED_SHARE = 0.95

_BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the command; `sys.argv` by default.

    Returns
    -------
    code : int
        0, or 2 after one line on stderr that says what is wrong with the input.
    """
    try:
        options = _parser().parse_args(arguments)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            if options.command == "score":
                scored = score_files(options)
            else:
                comparison = _compare(options)
                if options.plot:
                    _save_plot(comparison, options.plot)
        notes = list(dict.fromkeys(str(warning.message) for warning in caught))
    except (IsodepthError, OSError) as error:
        print(f"isodepth: error: {_one_line(error)}", file=sys.stderr)
        return _BAD_INPUT
    for note in notes:
        print(f"isodepth: warning: {_one_line(note)}", file=sys.stderr)
    if options.command == "score":
        print(score_report(scored, notes, options.json))
    elif options.json:
        report = _report(comparison, (options.a, options.b), notes)
        print(json.dumps(report, indent=2, allow_nan=False))
    else:
        print(_text(comparison))
    return 0


# -- arguments ------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # argparse prints its usage first; a program that reads stderr wants the reason alone.
        self.exit(_BAD_INPUT, f"isodepth: error: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="isodepth",
        description="How far apart two samples are, and where, untroubled by a few outliers.",
    )
    parser.add_argument("--version", action="version", version=f"isodepth {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    compare = commands.add_parser(
        "compare",
        help="compare two tables of numbers",
        description=(
            "Compare two tables of numbers (.csv, .parquet or .npy; rows are points). Prints their "
            "distance, the level at which they differ most, and the columns that carry the "
            "difference."
        ),
    )
    compare.add_argument("a", metavar="A", help="first table")
    compare.add_argument("b", metavar="B", help="second table")
    setting = compare.add_argument_group("settings").add_argument
    setting("--depth", help="halfspace, projection (default), irw or ai_irw")
    setting("--eps", type=float, help="share of the outermost mass that is ignored (default 0.1)")
    setting("--p", type=float, help="exponent of the mean over levels, may be inf (default 2)")
    setting(
        "--directions", dest="n_directions", type=int, metavar="N", help="how many (default 1000)"
    )
    setting("--family", dest="directions", help="uniform (default), sobol, orthogonal, ...")
    setting("--levels", type=_levels, help="exact (default), a number of levels, or monte-carlo")
    setting("--n-levels", type=int, metavar="L", help="how many, with --levels monte-carlo")
    setting("--refine", type=int, metavar="STEPS", help="steps of ascent on the sphere, 0 for none")
    setting("--seed", dest="random_state", type=int, default=0, help="default 0")
    output = compare.add_argument_group("output").add_argument
    output("--json", action="store_true", help="print JSON for machines")
    output("--plot", metavar="FILE", help="draw the gap at every level (.png, .pdf, .svg)")
    add_score_parser(commands)
    return parser


_SETTINGS = (
    "depth",
    "eps",
    "p",
    "n_directions",
    "directions",
    "levels",
    "n_levels",
    "refine",
    "random_state",
)


def _levels(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


# -- work -----------------------------------------------------------------------------------------


def _compare(options: argparse.Namespace) -> Comparison:
    from isodepth.metric.metric import Metric

    given = {name: getattr(options, name) for name in _SETTINGS}
    metric = Metric(**{name: value for name, value in given.items() if value is not None})
    return metric.compare(*_aligned(options.a, options.b))


def _aligned(a_path: str, b_path: str) -> tuple[Table | np.ndarray, Table | np.ndarray]:
    """Both tables with the columns of the first, in its order."""
    (a, a_names), (b, b_names) = read_table(a_path), read_table(b_path)
    # Checked here and not only in the metric, so that a complaint names the file.
    a, b = check_points(a, a_path)[0], check_points(b, b_path)[0]
    if a_names and b_names and a_names != b_names:
        odd = [f"{name!r} is only in {a_path}" for name in a_names if name not in b_names]
        odd += [f"{name!r} is only in {b_path}" for name in b_names if name not in a_names]
        if odd:
            raise InvalidInputError(f"the tables have different columns: {', '.join(odd)}")
        b = b[:, [b_names.index(name) for name in a_names]]
    check_same_width(a.shape[1], b.shape[1], a_path, b_path)
    names = a_names or b_names
    return (Table(a, names), Table(b, names)) if names else (a, b)


def _save_plot(comparison: Comparison, path: str) -> None:
    from isodepth.plot.gap_profile import gap_profile

    figure: Any = gap_profile(comparison).figure
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise InvalidInputError(f"cannot draw {path}: {error}") from error


# -- output ---------------------------------------------------------------------------------------


def _report(comparison: Comparison, paths: Sequence[str], notes: list[str]) -> dict[str, Any]:
    worst = comparison.worst
    return {
        "distance": comparison.distance,
        "signature": comparison.signature,
        "worst": {
            "level": worst.level,
            "gap": worst.gap,
            "direction": worst.direction.tolist(),
            "columns": [{"name": name, "share": share} for name, share in worst.columns],
        },
        "columns": comparison.columns,
        "samples": [
            {"file": path, "rows": regions.n_points}
            for path, regions in zip(paths, comparison.regions, strict=True)
        ],
        "warnings": notes,
    }


def _text(comparison: Comparison) -> str:
    worst = comparison.worst
    lines = [
        f"distance     {comparison.distance:.6g}",
        f"largest gap  {worst.gap:.6g}, between the regions that hold the deepest "
        f"{worst.level:.1%} of each sample (beta = {worst.level:.4g})",
        f"carried by   {_carriers(worst)}",
        f"signature    {comparison.signature}",
    ]
    return "\n".join(lines)


def _carriers(worst: LargestGap) -> str:
    listed, total = [], 0.0
    for name, share in worst.columns:
        listed.append(f"{name} ({share:.0%})")
        total += share
        if total >= _LISTED_SHARE:
            break
    return ", ".join(listed)


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


if __name__ == "__main__":
    sys.exit(main())
