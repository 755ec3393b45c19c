"""Conversion of figures to SVG elements of an HTML page, with alternative text."""

from __future__ import annotations

import hashlib
import io
import re
from typing import Any

from markupsafe import Markup

from isodepth.base.extras import load_extra
from isodepth.show import style
from isodepth.show.page import escaped

#: Width of figures in inches, chosen so that labels are readable on a desktop and on a phone.
WIDTH = 5.6
_DPI = 150
# Colors of `plot.style` that are replaced by CSS variables, which have other values in dark mode.
_COLORS = ("INK", "QUIET", "FAINT", "PAPER", "FIRST", "SECOND", "MARK")


def inline_svg(drawn: Any, alternative: str) -> Markup:
    """Convert axes or a figure to an SVG element for an HTML page.

    Equal figures give equal bytes.

    Parameters
    ----------
    drawn : matplotlib.axes.Axes or matplotlib.figure.Figure
    alternative : str
        Text for readers who cannot see the figure.
    """
    matplotlib = load_extra("matplotlib", "plot", "drawing")
    # SVG identifiers must differ between the figures of a page. matplotlib derives them from a
    # salt, for which a hash of the alternative text is used.
    salt = hashlib.sha256(alternative.encode("utf-8", "replace")).hexdigest()[:12]
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"}):
        getattr(drawn, "figure", drawn).savefig(
            buffer, format="svg", transparent=True, dpi=_DPI,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )  # fmt: skip
    text = buffer.getvalue().decode("utf-8")
    # The style element of the SVG is removed, because it would apply to the whole HTML page.
    unused = r"<metadata>.*?</metadata>|<!--.*?-->|<defs>\s*<style[^>]*>.*?</style>\s*</defs>"
    text = re.sub(rf"({unused})\s*", "", text[text.index("<svg") :].strip(), flags=re.DOTALL)
    text = re.sub(r'<g id="[A-Za-z0-9_.]*_[0-9]+"', "<g", text)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\1p{salt}-", text)
    box = re.search(r'viewBox="[^"]*"', text)
    opening = (
        f'<svg {box.group() if box else ""} role="img" '
        f'aria-label="{escaped(alternative)}"><title>{escaped(alternative)}</title>'
    )
    text = opening + text[text.index(">") + 1 :]
    for name in _COLORS:
        text = text.replace(f": {getattr(style, name)}", f": var(--{name.lower()})")
    return Markup(text)
