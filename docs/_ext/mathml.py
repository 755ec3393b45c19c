"""Formulas as MathML, which browsers show by themselves: no script, no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def visit_inline(writer: Any, node: Any) -> None:
    """Write a formula of a sentence."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_displayed(writer: Any, node: Any) -> None:
    """Write a formula that stands alone."""
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
