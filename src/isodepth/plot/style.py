"""One look for all pictures: colors that everybody can tell apart, and that print well.

The colors are those of Okabe and Ito. No picture tells things apart by color alone: the first
sample has circles and solid lines, the second triangles and dashed ones.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isodepth.data.extras import load_extra
from isodepth.data.output import check_target, replace_file
from isodepth.errors import InvalidInputError, InvalidOptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST = "#0072b2"
SECOND = "#d55e00"
#: What is to be seen first: the observed value, an alarm.
MARK = "#a83200"
INK = "#222222"
QUIET = "#666666"
FAINT = "#dddddd"
PAPER = "#ffffff"
#: Between 0 and the largest value; light to dark also in print.
SCALE = "Blues"
DASHED = (0, (4, 3))
_LONGEST_NAME = 24


def new_axes(width: float = 8.0, height: float = 4.5) -> Axes:
    """Axes in a new figure of pyplot, of that many inches."""
    return new_figure(width, height).subplots()


def new_figure(width: float, height: float) -> Any:
    """An empty figure of pyplot: notebooks display it, and `plt.show` opens it."""
    pyplot = load_extra("matplotlib.pyplot", "plot", "drawing")
    return pyplot.figure(figsize=(width, height), layout="constrained")


def loose_axes(width: float, height: float) -> Axes:
    """Axes in a new figure that pyplot does not know."""
    return loose_figure(width, height).subplots()


def loose_figure(width: float, height: float) -> Any:
    """An empty figure that pyplot does not know: for files, without windows or open figures."""
    figures = load_extra("matplotlib.figure", "plot", "drawing")
    return figures.Figure(figsize=(width, height), layout="constrained")


def root_figure(ax: Axes) -> Any:
    """The figure that axes stand in, also by way of a part of it."""
    return ax.figure.figure


def dress(ax: Axes, title: str | None = None, *, x: str = "", y: str = "", grid: Any = "y") -> None:
    """Bring axes into the common look, few lines and one ink, with their labels."""
    if x:
        ax.set_xlabel(x)
    if y:
        ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)
    for spine in ax.spines.values():
        spine.set_color(QUIET)
    ax.tick_params(colors=INK, which="both")
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    if title is not None:
        ax.set_title(title, loc="left", fontweight="bold", color=INK)
    if grid is not None:
        ax.grid(axis=grid, color=FAINT, linewidth=0.8)
        ax.set_axisbelow(True)


def note(ax: Axes, text: str, at: tuple[float, float], offset: Any, **options: Any) -> Any:
    """A small text, so many points to the right of a place and above it."""
    look = {"textcoords": "offset points", "fontsize": "small", "color": INK}
    return ax.annotate(text, at, xytext=offset, **{**look, **options})


def legend(ax: Axes, **options: Any) -> None:
    """A legend without a frame."""
    ax.legend(**{"frameon": False, "fontsize": "small", "labelcolor": INK, **options})


def legend_below(ax: Axes, **options: Any) -> None:
    """A legend under the axes and their label, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    lines = 1 + ax.get_xlabel().count("\n") if ax.get_xlabel() else 0
    below = ScaledTranslation(0, -0.32 - 0.2 * lines, ax.figure.dpi_scale_trans)
    legend(ax, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=ax.transAxes + below,
           borderaxespad=0.0, alignment="left", **options)  # fmt: skip


def color_bar(image: Any, ax: Axes, label: str, **options: Any) -> None:
    """What the colors of an image mean."""
    bar = ax.figure.colorbar(image, ax=ax, **options)
    bar.set_label(label, color=INK)
    bar.ax.tick_params(colors=INK)
    bar.outline.set_edgecolor(QUIET)


def short(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name that leaves space for the picture; nothing in it is taken for a formula."""
    text = " ".join(str(name).split()).replace("$", r"\$")
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# -- files -----------------------------------------------------------------------------------------


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
