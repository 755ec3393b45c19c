"""The settings of all commands: one flag, one meaning, one help text for each.

A command names those that apply to it (`add_settings`, `add_reading`); any other is refused by the
parser. What was given is handed to the library under its own names (`given_settings`, `wish_of`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from isodepth.data.missing import NAN_POLICIES
from isodepth.data.read_options import Hints, ReadOptions
from isodepth.data.validation import check_choice


def _levels(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


class _Setting(NamedTuple):
    flag: str
    kind: Any
    metavar: str
    help: str
    default: str


#: By the name that the library has for it.
_SETTINGS = {
    "depth": _Setting(
        "--depth", str, "NAME",
        "what orders the rows: halfspace, projection, irw, ai_irw, steady_irw or dual",
        "projection",
    ),
    "eps": _Setting("--eps", float, "SHARE", "share of the outermost mass that is ignored", "0.1"),
    "p": _Setting("--p", float, "P", "exponent of the mean over levels, may be inf", "2"),
    "q": _Setting(
        "--q", float, "Q",
        "exponent of the mean over directions; inf is the largest gap, 2 the steadier mean", "inf",
    ),
    "scale": _Setting(
        "--scale", str, "HOW",
        "pooled: each column in units of its spread; reference: of that in the first table; "
        "none: as it is", "none",
    ),
    "n_directions": _Setting("--directions", int, "N", "how many directions", "1000"),
    "directions": _Setting(
        "--family", str, "NAME", "uniform, sobol, orthogonal or equispaced directions", "uniform"
    ),
    "levels": _Setting(
        "--levels", _levels, "L", "exact, a number of levels, or monte-carlo", "exact"
    ),
    "n_levels": _Setting("--n-levels", int, "L", "how many, with --levels monte-carlo", ""),
    "refine": _Setting(
        "--refine", int, "STEPS", "steps of ascent on the sphere, 0 for none", "20 for --q inf"
    ),
    "random_state": _Setting(
        "--seed", int, "SEED", "where directions come from; the same seed gives the same numbers",
        "0",
    ),
}  # fmt: skip
_SHELL_HINTS = Hints(
    columns="--columns NAME,NAME",
    drop="--drop {joined}",
    drop_text="--drop-text",
    missing=", or leave out these rows with --missing omit",
)
_SEED = 0


def add_settings(
    parser: argparse.ArgumentParser,
    names: Iterable[str],
    defaults: Mapping[str, str] | None = None,
    texts: Mapping[str, str] | None = None,
) -> None:
    """Add settings of the metric to a parser, by their names in the library.

    `defaults` and `texts` say what differs from the defaults and the help that all commands share.
    """
    group = parser.add_argument_group("settings")
    for name in names:
        setting = _SETTINGS[name]
        default = (defaults or {}).get(name, setting.default)
        text = (texts or {}).get(name, setting.help)
        group.add_argument(
            setting.flag,
            dest=name,
            type=setting.kind,
            metavar=setting.metavar,
            default=_SEED if name == "random_state" else None,
            help=f"{text} (default {default})" if default else text,
        )


def given_settings(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """What was given of settings, under their names in the library."""
    given = {name: getattr(options, name) for name in names}
    given = {name: value for name, value in given.items() if value is not None}
    if given.get("scale") == "none":
        given["scale"] = None
    return given


def add_test_settings(
    parser: argparse.ArgumentParser, within: bool, default: str = "no test"
) -> None:
    """Add what a test of two tables takes; `within` another command, where `--test` asks for it."""
    group = parser.add_argument_group("test")
    if within:
        group.add_argument(
            "--test", dest="n_resamples", type=int, metavar="N",
            help="also test whether the difference is more than chance, with N relabelings "
            f"(default {default})",
        )  # fmt: skip
    else:
        group.add_argument(
            "--resamples", dest="n_resamples", type=int, metavar="N",
            help="how many relabelings (default 999)",
        )  # fmt: skip
    group.add_argument(
        "--tolerance", type=float, metavar="SHARE",
        help="share of foreign rows that either table may have (default 0)",
    )  # fmt: skip
    group.add_argument(
        "--blocks", metavar="COLUMN",
        help="rows with one number in this column change sides together; it is not compared",
    )  # fmt: skip


def add_reading(parser: argparse.ArgumentParser, missing: bool = True) -> None:
    """Add what is read of tables: which columns, and what becomes of missing values."""
    group = parser.add_argument_group("columns and rows")
    group.add_argument(
        "--columns", action="append", metavar="NAME,...",
        help="only these columns (by number from 0 in a table without names); may be repeated",
    )  # fmt: skip
    # --without is what `monitor` called it first.
    group.add_argument(
        "--drop", "--without", action="append", default=[], metavar="NAME,...",
        help="all columns but these; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--drop-text", action="store_true",
        help="leave out every column that holds text or dates, which are refused otherwise",
    )  # fmt: skip
    if missing:
        add_missing(group)


def add_missing(group: Any) -> None:
    """Add what becomes of missing values."""
    group.add_argument(
        "--missing", "--nan-policy", dest="nan_policy", default="raise", metavar="HOW",
        help="raise (default): refuse missing values; omit: leave out the rows that have any",
    )  # fmt: skip


def wish_of(options: argparse.Namespace, labels: str | None = None) -> ReadOptions:
    """What the reader of tables is asked for."""
    policy = check_choice(getattr(options, "nan_policy", "raise"), "--missing", NAN_POLICIES)
    return ReadOptions(
        missing=policy == "omit",
        columns=getattr(options, "columns", None),
        drop=tuple(getattr(options, "drop", ())),
        text="drop" if getattr(options, "drop_text", False) else "raise",
        labels=labels,
        lenient=True,
        hints=_SHELL_HINTS,
    )
