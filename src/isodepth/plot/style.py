"""One look for all pictures: colors that everybody can tell apart, and that print well.

The colors are those of Okabe and Ito. No picture tells things apart by color alone: the first
sample has circles and solid lines, the second triangles and dashed ones.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from isodepth.data.extras import load_extra

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
    """Axes in a new figure of that many inches, which a notebook shows."""
    return new_figure(width, height).subplots()


def new_figure(width: float, height: float) -> Any:
    """An empty figure, which a notebook shows; elsewhere like `loose_figure`."""
    if not _is_shown():
        return loose_figure(width, height)
    pyplot = load_extra("matplotlib.pyplot", "plot", "drawing")
    return pyplot.figure(figsize=(width, height), layout="constrained")


def loose_axes(width: float, height: float) -> Axes:
    """Axes in a new figure that nobody else knows."""
    return loose_figure(width, height).subplots()


def loose_figure(width: float, height: float) -> Any:
    """An empty figure that nobody else knows."""
    # Figure() and not pyplot: no window system is needed and no figure stays open behind.
    figures = load_extra("matplotlib.figure", "plot", "drawing")
    return figures.Figure(figsize=(width, height), layout="constrained")


def _is_shown() -> bool:
    """Whether somebody waits for figures of pyplot to be shown: a notebook, or an open session."""
    if "matplotlib.pyplot" in sys.modules:
        return bool(sys.modules["matplotlib"].is_interactive())
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def dress(ax: Axes, title: str | None = None, grid: Any = "y") -> None:
    """Bring axes into the common look: few lines, one ink."""
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


def legend(ax: Axes, **options: Any) -> None:
    """A legend without a frame."""
    ax.legend(**{"frameon": False, "fontsize": "small", "labelcolor": INK, **options})


def color_bar(image: Any, ax: Axes, label: str, **options: Any) -> None:
    """What the colors of an image mean."""
    bar = ax.figure.colorbar(image, ax=ax, **options)
    bar.set_label(label, color=INK)
    bar.ax.tick_params(colors=INK)
    bar.outline.set_edgecolor(QUIET)


def short(name: str, longest: int = _LONGEST_NAME) -> str:
    """A name that leaves room for the picture; nothing in it is taken for a formula."""
    text = " ".join(str(name).split()).replace("$", r"\$")
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
