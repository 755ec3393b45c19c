"""Errors and warnings raised by isodepth."""

from __future__ import annotations


class IsodepthError(Exception):
    """Base class of all errors that isodepth raises."""


class InvalidInputError(IsodepthError, ValueError):
    """The input data are invalid, for example because of their shape or non-finite values."""


class NotNumbersError(InvalidInputError, TypeError):
    """A table has non-numeric values, or no numeric column."""


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


class UnreadableFileError(IsodepthError, ValueError):
    """A file is missing, damaged, or not in a supported format."""


class BusyFileError(IsodepthError, RuntimeError):
    """Another process is using a file, or has changed it in the meantime."""


class MissingExtraError(IsodepthError, ImportError):
    """An optional package is needed but not installed."""


class DeviceMemoryError(IsodepthError, MemoryError):
    """The memory of a device is too small for a computation."""


class ColumnWarning(UserWarning):
    """A column is left out of a distance, or the user should check its kind or precision."""


class DegenerateDepthWarning(UserWarning):
    """All points have the same depth, so every trimmed region is the whole sample."""


class DependenceWarning(UserWarning):
    """Consecutive rows in the reference sample of a monitor depend on each other."""


class ScaleWarning(UserWarning):
    """One column has a much larger spread than another and dominates the comparison."""
