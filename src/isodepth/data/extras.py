"""Optional packages: imported when first needed, and one message where they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from isodepth.errors import MissingExtraError


def load_extra(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Such as "matplotlib.figure".
    extra : str
        The extra of isodepth that brings its package, such as "plot".
    purpose : str
        What it is needed for; the message begins with it.

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
    isodepth.errors.MissingExtraError: drawing needs no_such_package: pip install 'isodepth[plot]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        # An installed package may fail to load as well, and then its reason is what helps.
        absent = isinstance(error, ModuleNotFoundError) and error.name in (None, module, package)
        reason = "" if absent else f", which cannot be imported ({' '.join(str(error).split())})"
        raise missing(purpose, f"{package}{reason}", f"'isodepth[{extra}]'") from error


def missing(purpose: str, package: str, install: str) -> MissingExtraError:
    """The error for something that pip could bring; every such message has this shape."""
    return MissingExtraError(f"{purpose} needs {package}: pip install {install}")
