"""Checks of options, and errors about unknown options."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, cast

import numpy as np

from isodepth.base.words import describe, did_you_mean
from isodepth.errors import InvalidOptionError, UnknownOptionError

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def _option_error(name: str, requirement: str, value: Any) -> InvalidOptionError:
    return InvalidOptionError(f"{name} must {requirement}, got {_shown(value)}", option=name)


def _shown(value: Any) -> str:
    """Return an option for a message: the type and shape of an array or a frame, else its repr."""
    return describe(value) if getattr(value, "ndim", 0) else repr(value)


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """Check that `value`, the value of the option `name`, is one of the strings `choices`."""
    names = list(choices)
    if not isinstance(value, str) or value not in names:
        raise _option_error(name, f"be one of {', '.join(names)}", value)
    return value


def check_dtype(value: Any, name: str) -> Literal["float32", "float64"]:
    """Return the name of the precision `value`, the option `name`: "float32" or "float64".

    `value` is a name, or a type or dtype of NumPy or torch.

    Examples
    --------
    >>> check_dtype(np.float32, "dtype"), check_dtype(np.dtype("float64"), "dtype")
    ('float32', 'float64')
    """
    dtype = value
    if isinstance(value, type) and issubclass(value, np.generic | float):
        dtype = np.dtype(value).name
    elif isinstance(value, np.dtype):
        dtype = value.name
    elif type(value).__module__ == "torch":
        dtype = str(value).removeprefix("torch.")
    if not isinstance(dtype, str) or dtype not in ("float32", "float64"):
        raise _option_error(name, "be one of float32, float64", value)
    return cast(Literal["float32", "float64"], dtype)


# Functions to which options belong that the distance does not have.
_OF_TESTS = {
    **dict.fromkeys(("n_permutations", "tolerance", "alpha", "blocks"), "two_sample_test"),
    **dict.fromkeys(("method", "max_rows"), "two_sample_test"),
    **dict.fromkeys(("arl", "patience"), "Monitor"),
}


# Names of options in other libraries, and the names here.
SYNONYMS = {
    **dict.fromkeys(("seed", "rng", "random_seed", "generator"), "random_state"),
    **dict.fromkeys(("n_resamples", "n_perm", "reps", "n_bootstrap"), "n_permutations"),
    **dict.fromkeys(("n_projections", "projections"), "n_directions"),
    **dict.fromkeys(("workers", "n_threads", "num_threads"), "n_jobs"),
    "verbose": "progress",
    "significance_level": "alpha",
    **dict.fromkeys(("confidence", "confidence_level"), "alpha"),
    "chunksize": "chunk_rows",
    "chunk_size": "chunk_rows",
}


#: Conversion of the value of a synonym, for messages.
CONVERTED = dict.fromkeys(("confidence", "confidence_level"), " (1 - confidence)")


# Options of the distance that a test has in `method`.
_OF_METHOD = ("depth", "p", "q", "eps", "directions", "levels")


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
    if name in _OF_METHOD and "method" in names:
        metric = f"method=isodepth.Metric({name}=...)"
        text = f"{name!r} is an option of {metric}; here the options are {known}"
    elif name in _OF_TESTS:
        text = f"{name!r} is an option of {_OF_TESTS[name]}; here the options are {known}"
    else:
        here = SYNONYMS.get(name)
        meant = f"; did you mean {here!r}{CONVERTED.get(name, '')}?"
        similar = meant if here in names else did_you_mean(name, names)
        text = f"unknown option {name!r}{similar} (options are {known})"
    return UnknownOptionError(f"{owner}: {text}" if owner else text, option=name)


def keyword_names(function: Callable[..., Any]) -> list[str]:
    """Return the names of the keyword-only parameters of a function, as its signature shows them.

    Examples
    --------
    >>> keyword_names(sorted)
    ['key', 'reverse']
    """
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]


def check_class_options(class_: type[T]) -> type[T]:
    """Decorate a class so that unknown keyword arguments raise the error of `unknown_option`."""
    init: Any = class_.__init__
    names = [*inspect.signature(init).parameters][1:]

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **options: Any) -> None:
        for name in options:
            if name not in names:
                raise unknown_option(name, names, type(self).__name__)
        init(self, *args, **options)

    class_.__init__ = checked  # type: ignore[method-assign]
    return class_


def check_option_names(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that unknown keyword arguments raise the error of `unknown_option`."""
    names, known = keyword_names(function), {*inspect.signature(function).parameters}

    @functools.wraps(function)
    def checked(*args: P.args, **options: P.kwargs) -> R:
        for name in options:
            if name not in known:
                raise unknown_option(name, names)
        return function(*args, **options)

    return checked


def check_number(
    value: Any,
    name: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    low_open: bool = False,
    high_open: bool = False,
) -> float:
    """Check that `value` is a real number from `low` to `high`, and return it as a float.

    The ends of the interval are excluded if `low_open` or `high_open`. If infinity is in the
    interval, the string "inf" is accepted, as in JSON.
    """
    if isinstance(value, str) and value == "inf" and high == math.inf and not high_open:
        return math.inf
    interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high_open else ']'}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise _option_error(name, f"be a number in {interval}", value)
    try:
        number = float(value)
    except OverflowError:  # float() raises this error for an int or Fraction that is too large
        message = f"{name} must lie in {interval}, got a number too large for a float"
        raise InvalidOptionError(message, option=name) from None
    too_low = number <= low if low_open else number < low
    too_high = number >= high if high_open else number > high
    if math.isnan(number) or too_low or too_high:
        raise _option_error(name, f"lie in {interval}", value)
    return number


#: Default significance level.
ALPHA = 0.05


def check_alpha(alpha: Any) -> float:
    """Check the option `alpha`, the level of a test, and return it as a float."""
    try:
        return check_number(alpha, "alpha", 0, 1, low_open=True, high_open=True)
    except InvalidOptionError as error:
        hint = "the level of a test with 95% confidence is 0.05"
        raise InvalidOptionError(f"{error}; {hint}", option="alpha") from None


def check_boolean(value: Any, name: str) -> bool:
    """Check that `value` is True or False; 0 and 1 are not accepted."""
    if not isinstance(value, bool | np.bool_):
        raise _option_error(name, "be True or False", value)
    return bool(value)


#: Upper bound on numbers of directions, levels and steps. Larger ones do not fit into memory.
MOST = 2**31 - 1


def check_integer(
    value: Any, name: str, low: int, hint: str = "", *, high: int | None = None
) -> int:
    """Check that `value` is an integer >= `low` and, unless `high` is None, <= `high`.

    Return it as a Python integer. `hint` is added to the message about a value that is too small or
    not an integer.
    """
    integral = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not integral or value < low:
        message = f"{name} must be an integer >= {low}, got {_shown(value)}{hint}"
        raise InvalidOptionError(message, option=name)
    if high is not None and value > high:
        raise InvalidOptionError(f"{name} must be at most {high}, got {value}", option=name)
    return int(value)


def check_n_jobs(value: Any) -> int | None:
    """Check the option `n_jobs` and return it; -1 is converted to None, for all available cores."""
    if value is None or (isinstance(value, numbers.Integral) and value == -1):
        return None
    return check_integer(value, "n_jobs", 1, "; None or -1 uses all cores")
