"""Common style of all figures, with the colors of Okabe and Ito.

Color is never the only distinction between samples: the first sample has circles and solid lines,
the second sample has triangles and dashed lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isodepth.base.export import printable
from isodepth.base.extras import load_extra
from isodepth.base.words import describe
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.metric.comparison import Comparison
from isodepth.significance.result import TwoSampleResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST = "#0072b2"
SECOND = "#d55e00"
#: Color of observed values and of alarms.
MARK = "#a83200"
INK = "#222222"
QUIET = "#666666"
FAINT = "#dddddd"
PAPER = "#ffffff"
#: Color map for values from 0 to a maximum; larger values are darker.
SCALE = "Blues"
#: Width of figures in reports in inches, readable on a desktop and on a phone.
WIDTH = 5.6
DASHED = (0, (4, 3))
# Functions and classes that create results, by the type of the result.
_SOURCES = {"comparison": "compare", "test": "two_sample_test", "monitor": "Monitor"}


def check_drawable(result: Any, *types: str) -> None:
    """Check that a result has one of the types "comparison", "test" and "monitor"."""
    if getattr(result, "_result_type", None) not in types:
        sources = " or ".join(f"isodepth.{_SOURCES[each]}" for each in types)
        raise InvalidInputError(
            f"this figure needs the result of {sources}, got {describe(result)}"
        )


def comparison_of(result: Any) -> Comparison:
    """Return a comparison, or the comparison of a test."""
    check_drawable(result, "comparison", "test")
    return result._comparison if result._result_type == "test" else result


def test_of(result: Any) -> TwoSampleResult:
    """Return a test, or the test of a comparison; raise an error if it has none."""
    check_drawable(result, "comparison", "test")
    test = result._test
    if test is None:
        raise InvalidOptionError("this comparison has no test; pass the result of two_sample_test")
    return test


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure of pyplot, which notebooks display; the size is in inches."""
    pyplot = load_extra("matplotlib.pyplot", "plot", "drawing")
    return pyplot.figure(figsize=(width, height), layout="constrained")


def new_axes(width: float = 8.0, height: float = 4.5) -> Axes:
    """Return axes in a new figure of pyplot; the size is in inches."""
    return new_figure(width, height).subplots()


def loose_figure(width: float, height: float) -> Any:
    """Return an empty figure, `width` x `height` inches, that is not registered with pyplot."""
    figures = load_extra("matplotlib.figure", "plot", "drawing")
    return figures.Figure(figsize=(width, height), layout="constrained")


def loose_axes(width: float, height: float) -> Axes:
    """Return axes in a new figure that is not registered with pyplot; the size is in inches."""
    return loose_figure(width, height).subplots()


def root_figure(ax: Axes) -> Any:
    """Return the top-level figure of axes, even if they belong to a subfigure."""
    return ax.figure.figure


def dress(ax: Axes, title: str | None = None, *, x: str = "", y: str = "", grid: Any = "y") -> None:
    """Apply the common style to axes, and set the title and the labels `x` and `y` of the axes.

    `grid` is the axis of the grid lines: "x", "y", or None for no grid.
    """
    for axis, label in ((ax.xaxis, x), (ax.yaxis, y)):
        axis.set_label_text(label or axis.get_label_text(), color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[:].set_color(QUIET)
    ax.tick_params(colors=INK, which="both")
    if title is not None:
        ax.set_title(title, loc="left", fontweight="bold", color=INK)
    if grid is not None:
        ax.grid(axis=grid, color=FAINT, linewidth=0.8)
        ax.set_axisbelow(True)


def note(ax: Axes, text: str, at: tuple[float, float], offset: Any, **options: Any) -> Any:
    """Write a small text at the position `at`, moved right and up by the two numbers `offset`.

    `at` is in the coordinates of the data, and `offset` in points. `options` of
    `Axes.annotate` replace the defaults.
    """
    look = {"textcoords": "offset points", "fontsize": "small", "color": INK}
    return ax.annotate(text, at, xytext=offset, **{**look, **options})


def legend(ax: Axes, **options: Any) -> None:
    """Add a legend without a frame."""
    ax.legend(**{"frameon": False, "fontsize": "small", "labelcolor": INK, **options})


def legend_below(ax: Axes, **options: Any) -> None:
    """Add a legend below the axes and the label of the x-axis."""
    from matplotlib.transforms import ScaledTranslation

    lines = 1 + ax.get_xlabel().count("\n") if ax.get_xlabel() else 0
    below = ScaledTranslation(0, -0.32 - 0.2 * lines, ax.figure.dpi_scale_trans)
    legend(ax, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=ax.transAxes + below,
           borderaxespad=0.0, alignment="left", **options)  # fmt: skip


def color_bar(image: Any, ax: Axes, label: str, **options: Any) -> None:
    """Add the color bar of an image to its axes, with a label."""
    bar = ax.figure.colorbar(image, ax=ax, **options)
    bar.set_label(label, color=INK)
    bar.ax.tick_params(colors=INK)
    bar.outline.set_edgecolor(QUIET)


def short(name: str, longest: int = 24) -> str:
    """Return a name, cut to `longest` characters, with "$" escaped for matplotlib.

    Control characters and characters that change the text direction are escaped too.
    """
    text = printable(" ".join(str(name).split())).replace("$", r"\$")
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
