"""Import of optional packages, with a uniform error message if a package is missing."""

from __future__ import annotations

import importlib
from typing import Any

from isodepth.errors import MissingExtraError


def load_extra(module: str, extra: str, purpose: str) -> Any:
    """Import and return a module of an optional package.

    Parameters
    ----------
    module : str
        Name of the module, such as "matplotlib.figure".
    extra : str
        Extra of isodepth that installs the package, such as "plot".
    purpose : str
        Feature that needs the package, such as "drawing". The error message starts with it.

    Returns
    -------
    module : module

    Examples
    --------
    >>> load_extra("json", "plot", "drawing").dumps([])
    '[]'
    >>> load_extra("no_such_package.figure", "plot", "drawing")
    Traceback (most recent call last):
    ...
    isodepth.errors.MissingExtraError: drawing needs no_such_package: pip install ...
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        # If the package is installed but cannot be imported, the message includes the import error.
        absent = isinstance(error, ModuleNotFoundError) and error.name in (None, module, package)
        reason = "" if absent else f", which cannot be imported ({' '.join(str(error).split())})"
        # The message also has a command for a source checkout, because isodepth is not on PyPI
        # before its first release.
        install = f"'isodepth[{extra}]', or in a checkout: pip install '.[{extra}]'"
        raise missing(purpose, f"{package}{reason}", install) from error


def missing(purpose: str, package: str, install: str) -> MissingExtraError:
    """Return the error for a missing package; its message advises ``pip install {install}``."""
    return MissingExtraError(f"{purpose} needs {package}: pip install {install}")
