"""Options as data: allowed values, checks, errors, and what is derived from declared options.

`isodepth.base.declared` declares the options of all functions with the classes of this module.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np

from isodepth.base.messages import PYTHON, Code, InPython, Message, Names
from isodepth.base.words import closest, describe, did_you_mean
from isodepth.errors import InvalidOptionError, UnknownOptionError

Documented = TypeVar("Documented", bound=Callable[..., Any])

#: Upper bound on numbers of directions, levels and steps. Larger ones do not fit into memory.
MOST = 2**31 - 1
#: Upper bound of integers that may be arbitrarily large, such as seeds.
UNLIMITED: Any = math.inf
#: Line of a docstring that `takes` replaces with the descriptions of options.
OPTIONS_LINE = "{options}"

#: Names of options in other libraries: the name here, and the conversion of the value.
SYNONYMS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("seed", "rng", "random_seed", "generator"), ("random_state", "")),
    **dict.fromkeys(("n_resamples", "n_perm", "reps", "n_bootstrap"), ("n_permutations", "")),
    **dict.fromkeys(("n_projections", "projections", "n_dirs"), ("n_directions", "")),
    **dict.fromkeys(("workers", "n_threads", "num_threads"), ("n_jobs", "")),
    **dict.fromkeys(("chunksize", "chunk_size"), ("chunk_rows", "")),
    **dict.fromkeys(("confidence", "confidence_level"), ("alpha", " (1 - confidence)")),
    **dict.fromkeys(("n_alpha", "n_alphas", "n_levels"), ("levels", "")),
    "verbose": ("progress", ""),
    "significance_level": ("alpha", ""),
    "data_depth": ("depth", ""),
}
#: Values of options in other libraries, and the values here.
_VALUES = {"tukey": "halfspace", "half-space": "halfspace"}


# -- errors ---------------------------------------------------------------------------------------


def option_error(template: str, option: str = "", **values: Any) -> InvalidOptionError:
    """Return an error about an option, with the message that `Message` makes.

    `option` is the name of the option, which the template may write as ``{--}`` and ``{--=}``; by
    default the first option that the template mentions.

    Examples
    --------
    >>> error = option_error("{--refine=} has no effect; remove it", refine=3)
    >>> print(error, error.option)
    refine=3 has no effect; remove it refine
    """
    template = template.replace("{--}", f"{{--{option}}}").replace("{--=}", f"{{--{option}=}}")
    message = Message(template, **values)
    return InvalidOptionError(message, option=option or next(iter(message.options), None))


def must(name: str, requirement: str, value: Any, hint: str = "") -> InvalidOptionError:
    """Return the error "`name` must `requirement`, got `value``hint`" about an option.

    Examples
    --------
    >>> print(must("by", "be a column", 3, "; name one"))
    by must be a column, got 3; name one
    """
    values = {"allowed": requirement, "received": shown(value), "hint": hint}
    return option_error("{--} must {allowed}, got {received}{hint}", name, **values)


def shown(value: Any) -> Code:
    """Return a received value for a message: its type and shape if it is an array, else its repr.

    Examples
    --------
    >>> str(shown("x")), str(shown(np.zeros(2)))
    ("'x'", 'an array of shape (2,) and dtype float64')
    """
    return Code(describe(value) if getattr(value, "ndim", 0) else repr(value))


# -- allowed values -------------------------------------------------------------------------------


class Allowed:
    """Values that an option may have.

    Attributes
    ----------
    text : str
        The allowed values in words, for docstrings.
    annotation : str
        Type of the values, for signatures.
    """

    text: str
    annotation: str

    def check(self, name: str, value: Any, hint: str = "") -> Any:
        """Check the value of the option `name`, and return it, converted to a standard type.

        `hint` is added to the message of the error.
        """
        return value


@dataclass(frozen=True)
class Number(Allowed):
    """Real numbers in an interval; its ends are excluded if `low_open` or `high_open`.

    If infinity is in the interval, the string "inf" is accepted, as in JSON.
    """

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    annotation = "float"

    @property
    def interval(self) -> str:
        """The interval, such as "(0, 1]"."""
        start, end = "(" if self.low_open else "[", ")" if self.high_open else "]"
        return f"{start}{self.low:g}, {self.high:g}{end}"

    @property
    def text(self) -> str:  # type: ignore[override]
        return f"float in {self.interval}"

    def check(self, name: str, value: Any, hint: str = "") -> float:
        if isinstance(value, str) and value == "inf" and self.high == math.inf:
            value = math.inf
        if type(value) not in _PLAIN and not _is_a(numbers.Real, value):
            raise must(name, f"be a number in {self.interval}", value, hint)
        try:
            number = float(value)
        except OverflowError:  # raised for an int or Fraction that is too large
            large = Code("a number too large for a float")
            raise must(name, f"lie in {self.interval}", large, hint) from None
        above = number > self.low if self.low_open else number >= self.low
        below = number < self.high if self.high_open else number <= self.high
        if not (above and below):  # NaN is neither
            raise must(name, f"lie in {self.interval}", value, hint)
        return number


@dataclass(frozen=True)
class Integer(Allowed):
    """Integers from `low` to `high`."""

    low: int
    high: int = MOST

    text = annotation = "int"

    def check(self, name: str, value: Any, hint: str = "") -> int:
        integral = type(value) is int or _is_a(numbers.Integral, value)
        if not integral or value < self.low:
            raise must(name, f"be an integer >= {self.low}", value, hint)
        if value > self.high:
            raise must(name, f"be at most {self.high}", value)
        return int(value)


@dataclass(frozen=True)
class Choice(Allowed):
    """Strings. `advice` has templates of errors about values of similar options, by value."""

    values: tuple[str, ...]
    advice: Mapping[str, str] | None = None

    @property
    def text(self) -> str:  # type: ignore[override]
        return "{" + ", ".join(f'"{value}"' for value in self.values) + "}"

    @property
    def annotation(self) -> str:  # type: ignore[override]
        return f"Literal[{', '.join(map(repr, self.values))}]"

    def check(self, name: str, value: Any, hint: str = "") -> str:
        if not isinstance(value, str) or value not in self.values:
            if isinstance(value, str) and value in (self.advice or ()):
                raise option_error((self.advice or {})[value], name)
            hint = suggested_value(value, self.values) + hint
            raise must(name, f"be one of {', '.join(self.values)}", value, hint)
        return value


@dataclass(frozen=True)
class Boolean(Allowed):
    """True and False; 0 and 1 are not accepted."""

    text = annotation = "bool"

    def check(self, name: str, value: Any, hint: str = "") -> bool:
        if not isinstance(value, bool | np.bool_):
            raise must(name, "be True or False", value, hint)
        return bool(value)


@dataclass(frozen=True)
class Precision(Allowed):
    """Floating-point precisions, as names, or as types or dtypes of NumPy or torch.

    Examples
    --------
    >>> Precision().check("dtype", np.float32), Precision().check("dtype", np.dtype("float64"))
    ('float32', 'float64')
    """

    text = '{"float32", "float64"} or NumPy dtype'
    annotation = "Precision"

    def check(self, name: str, value: Any, hint: str = "") -> str:
        dtype = value
        if isinstance(value, type) and issubclass(value, np.generic | float):
            dtype = np.dtype(value).name
        elif isinstance(value, np.dtype):
            dtype = value.name
        elif type(value).__module__ == "torch":
            dtype = str(value).removeprefix("torch.")
        if not isinstance(dtype, str) or dtype not in ("float32", "float64"):
            raise must(name, "be one of float32, float64", value, hint)
        return dtype


@dataclass(frozen=True)
class Seed(Allowed):
    """Seeds and generators of random numbers. A NumPy integer is converted to a Python integer."""

    text = "None, int, numpy.random.Generator or numpy.random.RandomState"
    annotation = "RandomStateLike"

    def check(self, name: str, value: Any, hint: str = "") -> Any:
        if isinstance(value, np.random.Generator | np.random.RandomState | None):
            return value
        others = "; or a numpy.random.Generator, a numpy.random.RandomState, or None"
        return Integer(0, UNLIMITED).check(name, value, hint or InPython(others))


@dataclass(frozen=True)
class Threads(Allowed):
    """Numbers of threads; None and -1, which is converted to None, are all available cores."""

    text = "int or None"
    annotation = "int | None"

    def check(self, name: str, value: Any, hint: str = "") -> int | None:
        if value is None or (isinstance(value, numbers.Integral) and value == -1):
            return None
        others = hint or InPython("; None or -1 uses all cores")
        return Integer(1, UNLIMITED).check(name, value, others)


@dataclass(frozen=True)
class Anything(Allowed):
    """Values that are checked where they are used, such as arrays."""

    text: str
    annotation: str


# Types whose values are numbers; a quick test for the most frequent ones.
_PLAIN = (int, float)


def _is_a(kind: type, value: Any) -> bool:
    """Return whether a value is a number of an abstract type; booleans are not numbers."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def suggested_value(value: Any, allowed: Sequence[str]) -> str:
    """Return "; did you mean ...?" for a value of other libraries or a typo, or "".

    Examples
    --------
    >>> suggested_value("tukey", ["projection", "halfspace"])
    "; did you mean 'halfspace'?"
    """
    if not isinstance(value, str):
        return ""
    here = _VALUES.get(value.lower())
    return f"; did you mean {here!r}?" if here in allowed else did_you_mean(value, allowed)


# -- options --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """Declaration of one option.

    Attributes
    ----------
    name : str
        Name of the keyword argument. The command line has hyphens in place of underscores.
    allowed : Allowed
        Allowed values.
    default : object
        Default value.
    text : str
        One sentence about the option, for docstrings, the command line and the documentation.
    none : str or None
        None if the value None is not allowed. Otherwise the value that None stands for in words,
        such as "that of the data"; "" if `text` has it.
    hint : str
        Advice that errors about the value contain.
    type : str
        Type in signatures; "" for that of `allowed`, and None if it is allowed.
    """

    name: str
    allowed: Allowed
    default: Any
    text: str
    none: str | None = None
    hint: str = ""
    type: str = ""

    def check(self, value: Any) -> Any:
        """Check a value of the option, and return it, converted to a standard type."""
        if value is None and self.none is not None:
            return None
        return self.allowed.check(self.name, value, self._advice)

    @functools.cached_property
    def _advice(self) -> str:
        """End of the message of an error about the value."""
        hint = self.hint and f"; {self.hint}"
        others = InPython(f"; or None for {self.none}" if self.none else "")
        return Message("{hint}{others}", hint=hint, others=others)

    @property
    def type_text(self) -> str:
        """The allowed values in words, as docstrings show them."""
        if self.none is None:
            return self.allowed.text
        first, _, last = self.allowed.text.rpartition(" or ")
        return f"{first}, {last} or None" if first else f"{last} or None"

    @property
    def annotation(self) -> str:
        """Type of the option in signatures."""
        return self.type or self.allowed.annotation + ("" if self.none is None else " | None")

    @property
    def default_text(self) -> str:
        """The default in words, for the command line; "" if there is none."""
        return (self.none or "") if self.default is None else str(self.default)

    @property
    def description(self) -> str:
        """The sentence about the option, and the meaning of None."""
        return f"{self.text} None for {self.none}." if self.none else self.text

    @property
    def paragraph(self) -> str:
        """Description of the option in a docstring."""
        default, indent = repr(self.default).replace("'", '"'), "    "
        lines = textwrap.wrap(
            self.description, 100, initial_indent=indent, subsequent_indent=indent
        )
        return "\n".join([f"{self.name} : {self.type_text}, default {default}", *lines])


class Options(Mapping[str, Option]):
    """Options of a function or a class by name, in the order of its signature."""

    def __init__(self, *options: Option) -> None:
        self._options = {each.name: each for each in options}

    def __getitem__(self, name: str) -> Option:
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __or__(self, other: Options) -> Options:
        """Return the options of both; those of `other` replace options with the same name."""
        return Options(*{**self, **other}.values())

    def only(self, *names: str) -> Options:
        """Return the options with these names, in this order."""
        return Options(*(self[name] for name in names))

    def without(self, *names: str) -> Options:
        """Return all options except those with these names."""
        return Options(*(each for name, each in self.items() if name not in names))

    def change(self, name: str, **fields: Any) -> Options:
        """Return the options with other fields of one option, such as its default."""
        return self | Options(replace(self[name], **fields))

    @property
    def defaults(self) -> dict[str, Any]:
        """Default values by name."""
        return {name: each.default for name, each in self.items()}

    def check(self, values: Mapping[str, Any], owner: str = "") -> dict[str, Any]:
        """Check the values of options by name, and return them, converted to standard types.

        An unknown name is an error, which starts with `owner`, the name of a class or "".
        """
        for name in values:
            if name not in self._options:
                raise unknown_option(name, list(self), owner)
        return {name: self._options[name].check(value) for name, value in values.items()}

    def changed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that differ from the defaults, for code that repeats a call.

        Values of other names are returned as well.
        """
        defaults = self.defaults
        return {
            name: value
            for name, value in values.items()
            if name not in defaults or not equal(value, defaults[name])
        }


def equal(value: Any, default: Any) -> bool:
    """Return whether a value is a default; arrays and objects are not equal to plain defaults."""
    return value is default or (isinstance(value, str | int | float) and value == default)


# -- unknown options ------------------------------------------------------------------------------

#: Options of each function and class by its name, which `isodepth.base.declared` fills.
OWNERS: dict[str, Options] = {}


def unknown_option(name: str, names: Sequence[str], owner: str = "") -> UnknownOptionError:
    """Return the error for an unknown option, which suggests the most similar known option.

    `owner` is the name of the class that does not have the option; "" for functions.

    Examples
    --------
    >>> print(unknown_option("esp", ["eps", "p"]))
    unknown option 'esp'; did you mean 'eps'? (options are eps, p)
    >>> print(unknown_option("seed", ["scale", "random_state"]))
    unknown option 'seed'; did you mean 'random_state'? (options are scale, random_state)
    >>> print(unknown_option("n_permutations", ["eps", "p"]))
    'n_permutations' is an option of two_sample_test; here the options are eps, p
    >>> print(unknown_option("q", ["method", "scale"]))
    'q' is an option of method=isodepth.Metric(q=...); here the options are method, scale
    """
    known = ", ".join(names)
    owners = [each for each, options in OWNERS.items() if name in options]
    if "Metric" in owners and "method" in names:
        metric = f"method=isodepth.Metric({name}=...)"
        text = f"{name!r} is an option of {metric}; here the options are {known}"
    elif owners:
        text = f"{name!r} is an option of {' and '.join(owners)}; here the options are {known}"
    else:
        text = f"unknown option {name!r}{suggested_name(name, names)} (options are {known})"
    return UnknownOptionError(f"{owner}: {text}" if owner else text, option=name)


def suggested_name(name: str, names: Sequence[str], shown_as: Names = PYTHON) -> str:
    """Return "; did you mean ...?" for a name in other libraries or a typo, or ""."""
    here, conversion = SYNONYMS.get(name, ("", ""))
    if here not in names:
        here, conversion = closest(name, names), ""
    return f"; did you mean {shown_as.option(here)!r}{conversion}?" if here else ""


def shows(options: Options) -> Callable[[Documented], Documented]:
    """Return a decorator of a function or class that shows the options behind ``**options``.

    They replace ``**options`` in the signature that `inspect.signature` and notebooks show, and
    their descriptions replace the line OPTIONS_LINE of the docstring. Options that the signature or
    the docstring has itself are left out.
    """

    def decorate(documented: Documented) -> Documented:
        shown: Any = documented
        shown.__signature__ = _with_options(inspect.signature(documented), options)
        _document(documented, options)
        return documented

    return decorate


def takes(
    options: Options | None = None, hidden: Sequence[str] = ()
) -> Callable[[Documented], Documented]:
    """Return a decorator of a function or class that checks the names of keyword arguments.

    An unknown name raises the error of `unknown_option`. If `options` are given, they are shown as
    by `shows`. Options named in `hidden` are accepted but not shown, because the settings of
    results contain them.
    """

    def decorate(documented: Documented) -> Documented:
        if options is not None:
            shows(options)(documented)
        signature, is_class = inspect.signature(documented), inspect.isclass(documented)
        function: Any = documented.__init__ if is_class else documented
        known = dict.fromkeys([*signature.parameters, *hidden])

        @functools.wraps(function)
        def checked(*args: Any, **given: Any) -> Any:
            for name in given:
                if name not in known:
                    if is_class:
                        raise unknown_option(name, [*known], type(args[0]).__name__)
                    raise unknown_option(name, _keywords(signature))
            return function(*args, **given)

        if not is_class:
            return cast(Documented, checked)
        taker: Any = documented
        taker.__init__ = checked
        return documented

    return decorate


def _keywords(signature: inspect.Signature) -> list[str]:
    """Return the names of the keyword-only parameters, which are the options of a function."""
    parameters = signature.parameters.values()
    return [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]


def _with_options(signature: inspect.Signature, options: Options) -> inspect.Signature:
    """Return a signature with `options` in place of ``**options``."""
    parameters = dict(signature.parameters)
    if parameters.pop("options", None) is None:
        return signature
    for name, each in options.items():
        parameters.setdefault(
            name,
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=each.default,
                annotation=each.annotation,
            ),
        )
    return signature.replace(parameters=list(parameters.values()))


def _document(documented: Any, options: Options) -> None:
    """Replace the line OPTIONS_LINE of a docstring with the descriptions of options."""
    if documented.__doc__ is None:  # python -OO removes docstrings
        return
    lines = inspect.cleandoc(documented.__doc__).split("\n")
    if OPTIONS_LINE not in lines:
        raise ValueError(f"the docstring of {documented.__qualname__} lacks {OPTIONS_LINE!r}")
    described = {line.partition(" : ")[0] for line in lines}
    place = lines.index(OPTIONS_LINE)
    lines[place : place + 1] = [
        each.paragraph for name, each in options.items() if name not in described
    ]
    documented.__doc__ = "\n".join(lines)
