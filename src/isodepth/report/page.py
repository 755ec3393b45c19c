"""The page around a report: one file, with its style and its script inside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from string import Template

from isodepth._version import __version__
from isodepth.data.markup import escaped


def render(title: str, lead: str, sections: Sequence[str], when: str | None = None) -> str:
    """A whole page.

    Parameters
    ----------
    title : str, as text
    lead, sections : HTML
    when : str, as text, or None
        When it was made; without it the same input gives the same bytes.
    """
    style, script = _read("page.css"), _read("page.js")
    return Template(_read("page.html")).substitute(
        title=escaped(title),
        policy=escaped(_policy(script)),
        version=escaped(__version__),
        style=style,
        lead=lead,
        sections="\n".join(sections),
        when="" if when is None else f" on {escaped(when)}",
        script=script,
    )


def _policy(script: str) -> str:
    """What the browser may do: run this one script, and fetch nothing."""
    # The script element begins with a newline, which counts.
    digest = hashlib.sha256(f"\n{script}".encode()).digest()
    allowed = f"'sha256-{base64.b64encode(digest).decode()}'"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'"
    )


def _read(name: str) -> str:
    return files("isodepth.report").joinpath(name).read_text(encoding="utf-8")
