"""Errors and warnings raised by isodepth, and the function that issues warnings."""

from __future__ import annotations

import errno
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn import exceptions

__all__ = [
    "ApproximationWarning",
    "BusyFileError",
    "ColumnWarning",
    "DegenerateDepthWarning",
    "DependenceWarning",
    "DeviceMemoryError",
    "InvalidInputError",
    "InvalidOptionError",
    "IsodepthError",
    "MissingExtraError",
    "MissingFileError",
    "NoCompleteRowError",
    "NotFittedError",
    "NotNumbersError",
    "ScaleWarning",
    "UnavailableError",
    "UnknownLabelError",
    "UnknownOptionError",
    "UnreadableFileError",
]


class IsodepthError(Exception):
    """Base class of all errors that isodepth defines."""


class InvalidInputError(IsodepthError, ValueError):
    """The input data are invalid, for example because of their shape or non-finite values."""


class UnknownLabelError(InvalidInputError, KeyError):
    """A result has no sample or pair of samples with this label."""

    __str__ = Exception.__str__  # KeyError quotes its message


class NoCompleteRowError(InvalidInputError):
    """All rows of a sample have a missing value."""


class NotNumbersError(InvalidInputError, TypeError):
    """A table has non-numeric values, or no numeric column."""


class UnavailableError(InvalidInputError, AttributeError):
    """An attribute needs details that this result does not have.

    The details were released, or the result was created from its public fields. The error is an
    `AttributeError`, so that `hasattr` works.
    """

    def __reduce__(self) -> tuple[type, tuple[object, ...], dict[str, object]]:
        # Python 3.11 does not pickle the name of the attribute. The object, a result, may be large.
        return type(self), self.args, {**self.__dict__, "name": self.name}


if TYPE_CHECKING:

    class NotFittedError(InvalidInputError, exceptions.NotFittedError): ...

else:

    def __getattr__(name: str) -> type[Exception]:
        """Create `NotFittedError` at its first use: the import of scikit-learn takes seconds."""
        if name != "NotFittedError":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sklearn import exceptions

        class NotFittedError(InvalidInputError, exceptions.NotFittedError):
            """A method was called before `fit`. A subclass of the error of scikit-learn."""

            # The class can be pickled by this name.
            __qualname__ = "NotFittedError"

        globals()[name] = NotFittedError
        return NotFittedError

    def __dir__() -> list[str]:
        # Without the imported modules, and the functions that other modules of isodepth call.
        return sorted(__all__)


class InvalidOptionError(IsodepthError, ValueError):
    """An option has a value that is not allowed.

    Attributes
    ----------
    option : str or None
        Name of the option as a Python keyword, such as "n_directions". None if the error is not
        about a single option.
    """

    def __init__(self, *args: object, option: str | None = None) -> None:
        super().__init__(*args)
        self.option = option


class UnknownOptionError(InvalidOptionError, TypeError):
    """A function or class has no option of this name."""


class UnreadableFileError(IsodepthError, ValueError):
    """A file is missing, damaged, or not in a supported format."""


class MissingFileError(FileNotFoundError, UnreadableFileError):
    """There is no file with this name. The error is also a `FileNotFoundError` of Python."""

    errno = errno.ENOENT
    __str__ = Exception.__str__  # OSError would show the errno


class BusyFileError(IsodepthError, RuntimeError):
    """Another process is using a file, or has changed it in the meantime."""


class MissingExtraError(IsodepthError, ImportError):
    """An optional package is needed but not installed."""


class DeviceMemoryError(MemoryError, IsodepthError):  # in this order Dask can pickle it
    """The memory of a device is too small for a computation."""


class ApproximationWarning(UserWarning):
    """A distance uses a grid of levels and no refinement, because samples are read in chunks."""


class ColumnWarning(UserWarning):
    """A column is left out of a distance, or its kind or precision is doubtful."""


class DegenerateDepthWarning(UserWarning):
    """All points of equal weight have the same depth, because they are vertices of a simplex.

    Without weights, every trimmed region is then the whole sample.
    """


class DependenceWarning(UserWarning):
    """Consecutive rows in the reference sample of a monitor depend on each other."""


class ScaleWarning(UserWarning):
    """A column has over 100 times the spread of another column, and dominates the distance."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the line of the user's code that called isodepth."""
    frame, stacklevel = sys._getframe(1), 2
    while frame.f_back is not None and _is_internal(frame.f_globals.get("__name__", "")):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)


def warn_deprecated(name: str, replacement: str, *, removed_in: str) -> None:
    """Warn that `name` is deprecated, with its replacement and the version that removes it.

    A public name is removed two minor versions after the first release with this warning.
    """
    warn_user(
        f"{name} is deprecated and will be removed in isodepth {removed_in}; use {replacement}",
        FutureWarning,
    )


def _is_internal(module: str) -> bool:
    # functools and contextlib call cached properties and decorated functions of isodepth.
    return module in ("isodepth", "functools", "contextlib") or module.startswith("isodepth.")
