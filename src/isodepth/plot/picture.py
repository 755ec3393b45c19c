"""Pictures in files: path and format are checked first, and the file is whole or not there."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from isodepth.data.extras import load_extra
from isodepth.data.output import check_target, replace_file
from isodepth.errors import InvalidInputError, InvalidOptionError


def check_picture(path: Any) -> Path:
    """Check that matplotlib can draw, that it knows the format, and that the file can be written.

    Parameters
    ----------
    path : str or path-like
        The format is what the name ends in, such as .png, .pdf or .svg.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> check_picture("profile.xyz")
    Traceback (most recent call last):
    ...
    isodepth.errors.InvalidOptionError: cannot draw profile.xyz: its name must end in one of ...
    """
    canvas = load_extra("matplotlib.backend_bases", "plot", "drawing").FigureCanvasBase
    target = check_target(path)
    known = sorted(canvas.get_supported_filetypes())
    if target.suffix.lower().removeprefix(".") not in known:
        endings = ", ".join(f".{ending}" for ending in known)
        raise InvalidOptionError(f"cannot draw {target}: its name must end in one of {endings}")
    return target


def save_picture(figure: Any, path: Any, dpi: int = 150) -> None:
    """Write a matplotlib figure; a file already there is replaced whole or not at all."""
    target = check_picture(path)
    drawn = io.BytesIO()
    try:
        figure.savefig(drawn, format=target.suffix.lower().removeprefix("."), dpi=dpi)
    except (ValueError, RuntimeError) as error:
        raise InvalidInputError(f"cannot draw {target}: {error}") from error
    replace_file(target, drawn.getvalue())
