"""Sphinx settings; build with `make docs`."""

from __future__ import annotations

from isodepth import __version__

project = "isodepth"
author = "The isodepth authors"
copyright = "2026, The isodepth authors"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc already says the types, with shapes
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"isodepth {release}"
exclude_patterns = ["_build"]


def escape_bars(app, what, name, obj, options, lines):
    """Docstrings write |x| for absolute values, which reStructuredText takes for a substitution."""
    in_example = False
    for number, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            parts = line.split("``")  # every other part is code
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[number] = "``".join(parts)


def setup(app):
    app.connect("autodoc-process-docstring", escape_bars, priority=100)
