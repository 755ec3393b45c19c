"""The options of all commands: one flag, one meaning, one default, one help text for each.

Flags become the keyword arguments that the library has: `--directions` is `n_directions`.
"""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from isodepth.cli.commands import session
from isodepth.data.extras import load_extra
from isodepth.data.missing import NAN_POLICIES
from isodepth.data.output import check_target
from isodepth.depth import BY_NAME
from isodepth.errors import InvalidOptionError

PERMUTATIONS = 999


def _levels(value: str) -> Any:
    """A number of levels, or exact."""
    if value != "exact" and not value.isdigit():
        raise click.BadParameter(f"must be exact or a number of levels, got {value}")
    return value if value == "exact" else int(value)


#: By the name in the library: the flag, its type, its help, and the default in words.
_SETTINGS: dict[str, tuple[str, Any, str, str]] = {
    "scale": ("--scale", click.Choice(["pooled", "reference", "none"]),
              "Divide columns by their spread in all tables, in the first one, or not at all.",
              "pooled"),
    "depth": ("--depth", click.Choice(list(BY_NAME)), "Depth that orders the rows.", "projection"),
    "eps": ("--eps", float, "Share of the outermost rows that is ignored.", "0.1"),
    "p": ("--p", float, "Exponent of the mean over levels, may be inf.", "2"),
    "q": ("--q", float, "Exponent of the mean over directions; inf: the largest gap.", "inf"),
    "n_directions": ("--directions", int, "Number of directions.", "1000"),
    "levels": ("--levels", _levels, "exact, or a number of levels.", "exact"),
    "refine": ("--refine", int, "Steps of ascent from the best directions.", "20, 0 for finite q"),
    "random_state": ("--random-state", int, "Seed of the random numbers.", "0"),
}  # fmt: skip


def _together(argument: str, make: Callable[[dict[str, Any]], Any], made: Mapping[str, Any]) -> Any:
    """A decorator that adds options to a command, which takes all of them as one argument."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def callback(**given: Any) -> Any:
            own = {name: given.pop(name) for name in made}
            return command(**given, **{argument: make(own)})

        for option in reversed(list(made.values())):
            option(callback)
        return callback

    return decorate


def settings_options(
    only: Sequence[str] = tuple(_SETTINGS), without: Sequence[str] = (), **defaults: str
) -> Any:
    """Settings of the metric as one argument `settings`: those given, by their library names.

    `defaults` say, in words, what differs from the defaults that all commands share; of the scale
    and the seed the default is passed on, the others are left to the library.
    """
    made = {}
    for name in (name for name in only if name not in without):
        flag, kind, text, usual = _SETTINGS[name]
        default = defaults.get(name, usual)
        passed = default if name == "scale" else 0 if name == "random_state" else None
        made[name] = click.option(
            flag, name, type=kind, default=passed, help=text, show_default=default,
            metavar=None if isinstance(kind, click.Choice) else name.split("_")[-1].upper(),
        )  # fmt: skip
    return _together("settings", _given, made)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in values.items() if value is not None}
    if given.get("scale") == "none":
        given["scale"] = None
    return given


@dataclass
class Reading:
    """What is read of tables; and, once they were read, what was left out."""

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    drop_text: bool = False
    category: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    nan_policy: str = "raise"
    left_out: list[str] = field(default_factory=list)
    omitted: list[Any] = field(default_factory=list)

    @property
    def kinds(self) -> dict[str, str] | None:
        """What columns hold, as the library takes it; None where nothing is said."""
        given = {"category": self.category, "numeric": self.numeric}
        return {n: kind for kind, each in given.items() for t in each for n in t.split(",")} or None

    def omitted_rows(self) -> dict[str, int] | None:
        """How many rows were read and left out for missing values, where that was asked for."""
        if self.nan_policy != "omit":
            return None
        rows, dropped = zip(*((each.n_rows, each.n_dropped) for each in self.omitted), strict=True)
        return {"rows": sum(rows), "left_out": sum(dropped)}

    def lines(self) -> list[str]:
        """What was left out, for people."""
        lines = [f"left out       {', '.join(self.left_out)}"] if self.left_out else []
        rows = self.omitted_rows()
        if rows is not None:
            lines.append(f"missing        left out {rows['left_out']} of {rows['rows']} rows")
        return lines


def reading_options(nan_policy: bool = True, kinds: bool = False) -> Any:
    """Which columns are read, as what, and what of missing values, as one argument `reading`."""
    option = click.option
    named = functools.partial(option, multiple=True, metavar="NAME,...")
    made = {
        "columns": named("--columns", help="Use only these columns (0, 1, ... without names)."),
        "drop": named("--drop", help="Leave out these columns."),
        "drop_text": option("--drop-text", is_flag=True, help="Leave out text and dates."),
    }  # fmt: skip
    if kinds:
        made["category"] = named("--category", help="Compare shares of values in these columns.")
        made["numeric"] = named("--numeric", help="Compare dates, true and false as numbers.")
    made["missing"] = option(
        "--missing", multiple=True, metavar="WORD,...",
        help="Cells with these words are missing too, such as NA in a category.",
    )  # fmt: skip
    if nan_policy:
        made["nan_policy"] = option(
            "--nan-policy", type=click.Choice(NAN_POLICIES), default="raise", show_default=True,
            help="Refuse missing values, or leave out the rows that have any.",
        )  # fmt: skip
    return _together("reading", lambda own: Reading(**own), made)


def permutation_options(permutations: int, least: int = 0) -> Any:
    """The permutation test, as one argument `test`: keyword arguments of the library."""
    option = click.option
    no_test = "" if least else " (0: no test)"
    made = {
        "n_permutations": option("--permutations", "n_permutations", type=click.IntRange(least),
                                 default=permutations, show_default=True, metavar="N",
                                 help=f"Permutations of the two-sample test{no_test}."),
        "tolerance": option("--tolerance", type=float, metavar="SHARE", show_default="none",
                            help="Share of the rows of each table that may be contaminated."),
        "blocks": option("--blocks", metavar="COLUMN",
                         help="Permute rows with the same value in this column together."),
    }  # fmt: skip
    return _together("test", _checked_test, made)


def _checked_test(test: dict[str, Any]) -> dict[str, Any]:
    for name in ("tolerance", "blocks"):
        if test[name] is not None and not test["n_permutations"]:
            raise InvalidOptionError(
                f"{name} has no effect without a test; add --permutations 199", option=name
            )
    return test


# -- files that are written -----------------------------------------------------------------------


@dataclass
class Outputs:
    """A picture and a report; that they can be made and written is checked before the work."""

    plot: str | None
    page: str | None

    def __post_init__(self) -> None:
        if self.plot is not None:
            from isodepth.plot.style import check_picture

            check_picture(self.plot)
        if self.page is not None:
            if Path(self.page).suffix.lower() not in (".html", ".htm"):
                raise InvalidOptionError(
                    f"cannot write {self.page}: a report is an HTML file, and its name must end in "
                    ".html"
                )
            check_target(self.page)
            load_extra("matplotlib.figure", "plot", "a report with pictures")

    def save(self, result: Any, kind: str | None = None, **more: Any) -> None:
        """Write the picture (of that kind, or the usual one) and the report, where asked for."""
        if self.plot is not None:
            import matplotlib as mpl

            from isodepth.plot.style import save_picture

            mpl.use("agg")  # a file needs no window system
            drawn = result.plot(kind)
            save_picture(getattr(drawn, "figure", drawn), self.plot)
        if self.page is not None:
            notes = [text for _, text in session().notes()]
            command = shlex.join(["isodepth", *session().arguments])
            result.report(self.page, notes=notes, command=command, **more)


def output_options(drawn: str) -> Any:
    """`--plot` and `--report`, as one argument `outputs`."""
    option = click.option
    made = {
        "plot": option("--plot", metavar="FILE", help=f"Draw {drawn} (.png, .pdf, .svg)."),
        "page": option("--report", "page", metavar="FILE", help="Write a report (.html)."),
    }
    return _together("outputs", lambda own: Outputs(**own), made)
