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

from isodepth.base.annotations import TestNanPolicy
from isodepth.base.extras import load_extra
from isodepth.base.options import ALPHA, check_alpha
from isodepth.base.output import PAGE_ENDINGS, check_target
from isodepth.cli.commands import session
from isodepth.cli.messages import command_message
from isodepth.errors import InvalidOptionError
from isodepth.geometry.depth import BY_NAME
from isodepth.significance.permutations import too_few_permutations
from isodepth.table.kinds import attention_lines
from isodepth.table.missing import NAN_POLICIES
from isodepth.table.readers import split_names

if TYPE_CHECKING:
    from isodepth.report.table_files import TableFile

PERMUTATIONS = 999


def _levels(value: str) -> Any:
    """Convert the value of --levels to an integer, unless it is "exact"."""
    if value != "exact" and not value.isdigit():
        raise click.BadParameter(f"must be exact or a number of levels, got {value}")
    return value if value == "exact" else int(value)


def read_share(value: str | float) -> float:
    """Convert a number such as "5%" or "0.05"; the range is checked by the library."""
    text = str(value)
    try:
        return float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        raise click.BadParameter(f"must be a share such as 5% or 0.05, got {text}") from None


#: Options of the metric by keyword argument: flag, type, help text, and default shown in the help.
_SETTINGS: dict[str, tuple[str, Any, str, str]] = {
    "scale": ("--scale", None, "", "pooled"),
    "depth": ("--depth", None, "Depth that orders the rows", "projection"),
    "eps": ("--eps", read_share, "Share of the outermost rows that is ignored", "0.1"),
    "p": ("--p", float, "Exponent of the mean over levels; may be inf", "2"),
    "q": ("--q", float, "Exponent of the mean over directions; inf for the largest gap", "inf"),
    "n_directions": ("--n-directions", int, "Number of directions of projection", "1000"),
    "levels": ("--levels", _levels, "Number of levels, or exact", "exact, or 20 in chunks"),
    "refine": ("--refine", int, "Steps of ascent from the best directions",
               "20, or 0 for finite q or in chunks"),
    "random_state": ("--random-state", int, "Seed of the random numbers", "0"),
}  # fmt: skip
#: Values of --scale, with their descriptions.
_SCALES = {
    "pooled": "their spread in all tables",
    "reference": "their spread in the first table",
    "none": "nothing",
}
_METAVARS = {int: "N", float: "NUMBER", read_share: "SHARE", _levels: "N", "random_state": "SEED"}


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


def settings_options(
    only: Sequence[str] = tuple(_SETTINGS),
    without: Sequence[str] = (),
    scales: Sequence[str] = ("pooled", "reference", "none"),
    depths: Sequence[str] = tuple(BY_NAME),
    **defaults: str,
) -> Any:
    """Return a decorator that adds the options of the metric as one argument `settings`.

    The argument is a dictionary of the options that are set. `only` and `without` select options,
    `scales` the values of --scale, and `depths` those of --depth. `defaults` maps option names to
    defaults that the help of the command shows instead of the usual defaults. If it contains
    "levels", the value "exact" is not offered. Only the defaults of --scale and --random-state are
    passed to the library, which uses its own defaults of all other options.
    """
    made = {}
    for name in (name for name in only if name not in without):
        flag, type_, text, usual = _SETTINGS[name]
        if name == "scale":
            type_ = click.Choice(scales)
            text = ", ".join(_SCALES[each] for each in scales[:-1]) + f", or {_SCALES[scales[-1]]}"
            text = f"Divide columns by {text}"
        if name == "depth":
            type_ = click.Choice(depths)
        if name == "levels" and name in defaults:
            text = "Number of levels"
        default = defaults.get(name, usual)
        passed = default if name == "scale" else 0 if name == "random_state" else None
        metavar = _METAVARS.get(name) or _METAVARS.get(type_)
        made[name] = click.option(
            flag, name, type=type_, default=passed, metavar=metavar,
            help=f"{text} (default {default}).",
        )  # fmt: skip
    return _together("settings", _settings_of, made)


def _settings_of(values: dict[str, Any]) -> dict[str, Any]:
    settings = {name: value for name, value in values.items() if value is not None}
    if settings.get("scale") == "none":
        settings["scale"] = None
    return settings


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
            raise InvalidOptionError(
                f"column {both!r} has two kinds: it is in --category and in --numeric; remove it "
                "from one of them"
            )
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
            raise InvalidOptionError(
                f"{option} must have nonempty names, got {','.join(values[option])!r}",
                option=option,
            )
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise InvalidOptionError(
                f"{option} must have distinct names, got {twice!r} twice; remove one", option=option
            )
    return ReadingOptions(**values)


def permutation_options(permutations: int, least: int = 0) -> Any:
    """Return a decorator that adds the options of the permutation test as one argument `test`.

    `permutations` is the default number of permutations, and `least` the minimum that is allowed.
    """
    option = click.option
    no_test = "" if least else " (0: no test)"
    made = {
        "n_permutations": option("--n-permutations",
                                 type=click.IntRange(least), default=permutations,
                                 show_default=True, metavar="N",
                                 help=f"Permutations of the two-sample test{no_test}."),
        "tolerance": option("--tolerance", metavar="SHARE", callback=parse_share,
                            help="Share of the rows of each table that may be contaminated."),
        "alpha": option("--alpha", type=read_share, default=ALPHA, show_default=True,
                        metavar="P", help="Significance level of the test."),
        "blocks": option("--blocks", metavar="COLUMN",
                         help="Permute rows with the same value in this column together."),
    }  # fmt: skip
    return _together("test", _checked_test, made)


def _checked_test(test: dict[str, Any]) -> dict[str, Any]:
    check_alpha(test["alpha"])
    for name, default in (("tolerance", None), ("alpha", ALPHA), ("blocks", None)):
        if test[name] != default and not test["n_permutations"]:
            raise InvalidOptionError(
                f"{name} has no effect without a test; add --n-permutations 199", option=name
            )
    return test


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
            raise InvalidOptionError(
                f"{name} has no effect: {too_few}; increase --n-permutations", option=name
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
    result: Any, page: str | None, files: Sequence[TableFile] | None = None, **about: Any
) -> None:
    """Write the report of a result to the file `page`; do nothing if `page` is None.

    `files` are the files from which the samples or the monitor were read. `about` has other options
    of the report, such as `names`.
    """
    if page is not None:
        # The import is inside the function, because it imports Jinja, which is slow.
        from isodepth.report.writing import write_report_of_files
        from isodepth.results.summary import tested_result

        notes = [text for _, text in session().notes()]
        if result._result_type != "monitor":
            # The report shows the lines about columns of doubtful kind itself.
            lines = "; ".join(attention_lines(tested_result(result).kinds))
            shown = command_message(lines, click.get_current_context().command.params)
            notes = [text for text in notes if text != shown]
        command = shlex.join(["isodepth", *session().arguments])
        write_report_of_files(result, page, files, notes=notes, command=command, **about)


def monitor_source(path: str) -> dict[str, Any]:
    """Return the option `files` of `save_report`, as a dictionary, for a monitor.

    The monitor was read from the file `path`.
    """
    # The import is inside the function, because it imports Jinja, which is slow.
    from isodepth.report.table_files import TableFile

    return {"files": [TableFile(path)]}
