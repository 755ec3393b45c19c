"""Pictures inside a page: SVG in the colors of the page, with words for who cannot see."""

from __future__ import annotations

import hashlib
import io
import re
from typing import Any

from markupsafe import Markup

from isodepth.data.extras import load_extra
from isodepth.data.results import escaped
from isodepth.plot import style

# Wide enough for a desk, and letters still readable on a phone.
WIDTH = 5.6
_DOTS = 150
# Colors of the pictures are those of the page, which has others in the dark.
_COLORS = ("INK", "QUIET", "FAINT", "PAPER", "FIRST", "SECOND", "MARK")


def inline_svg(drawn: Any, alternative: str) -> Markup:
    """Axes or a figure of matplotlib as an element of HTML; the same figure, the same bytes.

    `alternative` says what the picture shows, for those who cannot see it.
    """
    matplotlib = load_extra("matplotlib", "plot", "drawing")
    # Names inside of a picture must differ from those of other pictures on the page.
    salt = hashlib.sha256(alternative.encode("utf-8", "replace")).hexdigest()[:12]
    figure = getattr(drawn, "figure", drawn)
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"}):
        figure.savefig(
            buffer, format="svg", transparent=True, dpi=_DOTS,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )  # fmt: skip
    text = buffer.getvalue().decode("utf-8")
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", text, flags=re.DOTALL)
    # It would hold for the whole page, which has it for all pictures.
    text = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[A-Za-z0-9_.]*_[0-9]+"', "<g", text)
    # Letters have one name in all pictures.
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
