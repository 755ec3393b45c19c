"""Options that several commands share; a flag has the same meaning in all commands.

Flags are passed to the library as keyword arguments: `--nan-policy` is passed as `nan_policy`.
"""

from __future__ import annotations

import functools
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from isodepth.base import declared
from isodepth.base.annotations import TestNanPolicy
from isodepth.base.extras import load_extra
from isodepth.base.messages import joined
from isodepth.base.options import (
    Allowed,
    Boolean,
    Choice,
    Integer,
    Number,
    Option,
    Options,
    Seed,
    must,
    option_error,
)
from isodepth.base.output import PAGE_ENDINGS, check_target
from isodepth.cli.commands import command_names, session
from isodepth.geometry.depth import OF_TEXTS
from isodepth.significance.permutations import too_few_permutations
from isodepth.table.kinds import attention_lines
from isodepth.table.missing import NAN_POLICIES
from isodepth.table.readers import split_names

if TYPE_CHECKING:
    from isodepth.show.repeat import Reading

#: Options of the distance. On the command line, columns mostly have different units.
METRIC = (
    declared.METRIC.only(
        "scale", "depth", "eps", "p", "q", "n_directions", "levels", "refine", "random_state"
    )
    .change(
        "scale", allowed=Choice(("pooled", "reference", "none")), default="pooled",
        text="Divide columns by their spread in all tables, in the first table, or by nothing.",
    )
    .change("depth", allowed=Choice(declared.DEPTHS))
    .change("random_state", default=0)
)  # fmt: skip
#: Options of the distance between many samples.
PAIRWISE = (
    METRIC.change(
        "scale", allowed=Choice(("pooled", "none")),
        text="Divide columns by their spread in all tables, or by nothing.",
    )
    | declared.TABLES.only("levels")
).change("refine", default=0)  # fmt: skip
#: Options of a test.
TEST = declared.TEST.only("n_permutations", "tolerance", "alpha", "blocks").change(
    "blocks", text="Permute rows with the same value in this column together."
)
#: Options of a comparison, which has a test only if permutations are given.
COMPARE = TEST.change(
    "n_permutations", allowed=Integer(0), default=0,
    text="Number of permutations of the test; 0 for no test.",
)  # fmt: skip
#: Options of a report, whose default is a test.
REPORT = COMPARE.change("n_permutations", default=TEST["n_permutations"].default)
#: Options of a test that the distance has too.
DIRECTIONS = declared.TEST.only("n_directions") | PAIRWISE.only("scale", "random_state")
#: Options of a depth.
DEPTH = METRIC.only("depth", "n_directions", "random_state")
#: Options of a monitor.
MONITOR = (
    declared.MONITOR.only(
        "overwrite", "blocks", "groups", "alpha", "arl", "tolerance", "patience", "random_state"
    )
    .change("overwrite", text="Replace an existing monitor and its history.")
    .change("blocks", text="Rows with the same value in this column depend on each other.")
    .change("groups", text="Watch each group of rows with the same value in this column.")
    .change("random_state", default=0)
)
#: Options of the score of texts.
SCORE = declared.ENCODER.only("model", "layer", "batch_size") | declared.SCORE.only(
    "depth", "eps", "p", "q", "n_directions", "random_state", "multi_ref"
).change("depth", allowed=Choice((*OF_TEXTS, *declared.DEPTHS)))


def read_share(value: str | float) -> float:
    """Convert a number such as "5%" or "0.05"; the range is checked with the declared option."""
    text = str(value)
    try:
        return float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        raise click.BadParameter(f"must be a share such as 5% or 0.05, got {text}") from None


def _read_levels(value: str) -> Any:
    """Convert the value of --levels to an integer, unless it is "exact"."""
    if value != "exact" and not value.isdigit():
        raise click.BadParameter(f"must be exact or a number of levels, got {value}")
    return value if value == "exact" else int(value)


def add_options(argument: str, options: Options) -> Any:
    """Return a decorator that adds declared options to a command as one argument, a dictionary."""

    def checked(values: dict[str, Any]) -> dict[str, Any]:
        found = options.check(values)
        return found | {"scale": None} if found.get("scale") == "none" else found

    return _together(argument, checked, {name: flag_of(each) for name, each in options.items()})


def flag_of(option: Option) -> Any:
    """Return the decorator of Click that adds a declared option to a command."""
    flag = "--" + option.name.replace("_", "-")
    if isinstance(option.allowed, Boolean):
        return click.option(flag, option.name, is_flag=True, help=option.text)
    type_, metavar = _click_type(option.name, option.allowed)
    default = f" (default {option.default_text})" if option.default_text else ""
    text = f"{option.text.removesuffix('.')}{default}."
    return click.option(
        flag, option.name, type=type_, default=option.default, metavar=metavar, help=text
    )


def _click_type(name: str, allowed: Allowed) -> tuple[Any, str | None]:
    """Return the type that Click converts a value to, and its name in the help."""
    if isinstance(allowed, Choice):
        return click.Choice(allowed.values), None
    if isinstance(allowed, Number):
        return (read_share, "SHARE") if allowed.high <= 1 else (float, "NUMBER")
    if isinstance(allowed, Integer):
        return int, "N"
    if isinstance(allowed, Seed):
        return int, "SEED"
    if name == "levels":
        return _read_levels, "N"
    return str, "DIR" if name == "model" else "COLUMN"


def _together(argument: str, make: Callable[[dict[str, Any]], Any], made: Mapping[str, Any]) -> Any:
    """Return a decorator that adds several options to a command, as one keyword argument.

    `made` maps the name of each option to its Click decorator. `make` converts the dictionary of
    the option values to the object that the command receives as the argument named `argument`.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def callback(**values: Any) -> Any:
            grouped = {name: values.pop(name) for name in made}
            return command(**values, **{argument: make(grouped)})

        for option in reversed(list(made.values())):
            option(callback)
        return callback

    return decorate


@dataclass
class ReadingOptions:
    """Values of the options for reading tables, and the names of the columns that were left out.

    A column option such as --columns may be repeated, and each value may list several names.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    numeric_only: bool = False
    category: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    nan_policy: Any = "keep"
    left_out: list[str] = field(default_factory=list)

    @property
    def test_nan_policy(self) -> TestNanPolicy:
        """Option `nan_policy` of a test: "raise" if this is the choice of the user, else "keep"."""
        return "raise" if self.nan_policy == "raise" else "keep"

    @property
    def kinds(self) -> dict[str, str] | None:
        """Kind of each column that the options --category and --numeric name.

        The result maps column names to "category" or "numeric". It is None if no column is named.
        """
        category, numeric = split_names(self.category), split_names(self.numeric)
        both = next((name for name in category if name in numeric), None)
        if both is not None:
            raise option_error(
                "column {name!r} has two kinds: it is in {--category} and in {--numeric}; remove "
                "it from one of them", name=both,
            )  # fmt: skip
        return {**dict.fromkeys(category, "category"), **dict.fromkeys(numeric, "numeric")} or None


def reading_options(
    nan_policies: Sequence[str] | None = NAN_POLICIES[::-1], kinds: bool = False
) -> Any:
    """Return a decorator that adds the options for reading tables as one argument `reading`.

    The argument is a `ReadingOptions` object. `nan_policies` are the choices of --nan-policy, the
    default first; None for no such option. If `kinds` is true, --category and --numeric are added.
    """
    option = click.option
    named = functools.partial(option, multiple=True, metavar="NAME,...")
    made = {
        "columns": named("--columns", help="Use only these columns (0, 1, ... without names)."),
        "drop": named("--drop", help="Leave out these columns."),
        "numeric_only": option("--numeric-only", is_flag=True, help="Use only numeric columns."),
    }  # fmt: skip
    if kinds:
        made["category"] = named("--category", help="Compare these columns as categories.")
        made["numeric"] = named("--numeric", help="Convert dates, booleans or strings to numbers.")
    made["missing"] = option(
        "--missing", multiple=True, metavar="WORD,...",
        help="Cells with these words are missing too, such as NA in a category.",
    )  # fmt: skip
    if nan_policies is not None:
        what = "drop their rows in distances" if "omit" in nan_policies else "keep their rows"
        made["nan_policy"] = option(
            "--nan-policy", type=click.Choice(nan_policies), default=nan_policies[0],
            show_default=True, help=f"Accept missing values ({what}), or refuse them.",
        )  # fmt: skip
    return _together("reading", _checked_reading, made)


def _checked_reading(values: dict[str, Any]) -> ReadingOptions:
    """Return the options for reading tables; refuse empty and repeated names of columns."""
    for option in ("columns", "drop", "category", "numeric"):
        names = split_names(values.get(option, ()))
        if "" in names:
            raise must(option, "have nonempty names", ",".join(values[option]))
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise must(option, "have distinct names", twice, " twice; remove one")
    return ReadingOptions(**values)


def check_tested(test: Mapping[str, Any]) -> None:
    """Raise an error for an option of a test without a test, which has 0 permutations."""
    for name in COMPARE.changed(test):
        if not test["n_permutations"] and name != "n_permutations":
            raise option_error(
                "{--} has no effect without a test; add {--n_permutations=199}", name
            )


# -- thresholds for continuous integration --------------------------------------------------------


def parse_share(_: click.Context, option: click.Parameter, text: str | None) -> float | None:
    """Convert an option such as "5%" or "0.05" to a number from 0 to 1; None if it is not given."""
    if text is None:
        return None
    value = read_share(text)
    if not 0.0 <= value <= 1.0:
        raise click.BadParameter(f"must be a share such as 5% or 0.05, got {text}")
    return value


def _parse_pvalue(
    context: click.Context, option: click.Parameter, text: str | None
) -> float | None:
    value = parse_share(context, option, text)
    if value == 0:
        raise click.BadParameter("must be above 0, got 0; no p-value is 0")
    return value


def threshold_options(command: Any) -> Any:
    """Add the options that determine the exit code, --max-changed and --min-pvalue."""
    add_share = click.option(
        "--max-changed", metavar="SHARE", callback=parse_share,
        help="Exit code 1 if more than this share of the rows changed, such as 5%.",
    )  # fmt: skip
    add_pvalue = click.option(
        "--min-pvalue", metavar="P", callback=_parse_pvalue,
        help="Exit code 1 if the p-value is at most this, such as 0.01.",
    )  # fmt: skip
    return add_share(add_pvalue(command))


def exceeds(
    changed: float | None, pvalue: float, max_changed: float | None, min_pvalue: float | None
) -> bool:
    """Return whether `changed` is above `max_changed`, or `pvalue` is at most `min_pvalue`.

    Thresholds that are None are ignored. An unknown share of changed rows, None, is not above any
    threshold.
    """
    changes = changed is not None and max_changed is not None and changed > max_changed
    return changes or (min_pvalue is not None and pvalue <= min_pvalue)


def check_reachable(
    n_permutations: int, alpha: float, max_changed: float | None, min_pvalue: float | None
) -> None:
    """Raise an error if a test with `n_permutations` permutations cannot reach a threshold.

    The thresholds are the options --max-changed and --min-pvalue, which determine the exit code. It
    would be 0 for any two tables if they cannot be reached. The bound on the share of changed rows,
    which is compared with `max_changed`, is 0 if no p-value can be at most `alpha`.
    """
    needed = {"min_pvalue": min_pvalue, "max_changed": None if max_changed is None else alpha}
    for name, level in needed.items():
        too_few = "" if level is None else too_few_permutations(n_permutations, level)
        if too_few:
            raise option_error(
                "{--} has no effect: {too_few}; increase {--n_permutations}", name, too_few=too_few
            )


# -- reports --------------------------------------------------------------------------------------


by_option = click.option("--by", metavar="COLUMN", help="Rows with the same value are one sample.")
report_option = click.option(
    "-o", "--output", "page", metavar="FILE", help="Write a report (.html)."
)


def check_page(page: str | None) -> None:
    """Check, before the computation, that a report can be written to the file `page`.

    Raise an error if the name does not end in .html or .htm, the file cannot be written, or
    matplotlib is not installed. Do nothing if `page` is None.
    """
    if page is None:
        return
    check_target(page, PAGE_ENDINGS)
    load_extra("matplotlib.figure", "plot", "a report with figures")


def save_report(
    result: Any, page: str | None, files: Sequence[Reading] | None = None, **about: Any
) -> None:
    """Write the report of a result to the file `page`; do nothing if `page` is None.

    `files` are the files from which the samples or the monitor were read. `about` has other options
    of the report, such as `names`.
    """
    if page is not None:
        # The import is inside the function, because it imports Jinja, which is slow.
        from isodepth.show.report import write_report_of_files

        notes = [text for _, text in session().notes()]
        if result._result_type != "monitor":
            # The report shows the lines about columns of doubtful kind itself.
            lines = joined("; ", attention_lines(result._tested.kinds))
            notes = [text for text in notes if text != lines.rendered(command_names())]
        command = shlex.join(["isodepth", *session().arguments])
        write_report_of_files(result, page, files, notes=notes, command=command, **about)


def monitor_source(path: str) -> dict[str, Any]:
    """Return the option `files` of `save_report`, as a dictionary, for a monitor.

    The monitor was read from the file `path`.
    """
    # The import is inside the function, because it imports Jinja, which is slow.
    from isodepth.show.repeat import Reading

    return {"files": [Reading(path)]}
