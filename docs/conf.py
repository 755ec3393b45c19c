"""Sphinx settings; build with `make docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from isodepth import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "isodepth"
author = "The isodepth authors"
copyright = "2026, The isodepth authors"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "command_help",
    "mathml",
]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc already says the types, with shapes
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

# Every tutorial and every figure is made by the build and shows the output of the library.
sphinx_gallery_conf = {
    "examples_dirs": ["gallery/tutorials", "gallery/figures"],
    "gallery_dirs": ["tutorials", "concept_figures"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_",),
    "abort_on_example_error": True,
    "backreferences_dir": None,
    "copyfile_regex": "",
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "thumbnail_size": (400, 280),
    "plot_gallery": True,
}

html_theme = "furo"
html_title = f"isodepth {release}"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["isodepth.css"]
exclude_patterns = ["_build", "gallery", "project_page.md"]

# Addresses that answer programs with a refusal, or only with JavaScript.
linkcheck_ignore = [r"https://openreview\.net/", r"https://doi\.org/"]
linkcheck_anchors_ignore_for_url = [r"https://github\.com/"]


def escape_bars(app, what, name, obj, options, lines):
    """Docstrings write |x| for absolute values, which reStructuredText takes for a substitution."""
    in_example = False
    for number, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            parts = line.split("``")  # every other part is code
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[number] = "``".join(parts)


def repair_back_links(app, pagename, templatename, context, doctree):
    """Correct the links from source code to the API pages.

    sphinx.ext.viewcode assumes that all objects of a file are documented under one module. Here
    `isodepth` documents results, and `isodepth.typing` their parts, which are in the same file. The
    name of the API page is the full name of the object.
    """
    if pagename.startswith("_modules/"):
        context["body"] = re.sub(
            r'(generated/([\w.]*?\.(\w+))\.html)#[\w.]*?\.\3\b(?=[".])', r"\1#\2", context["body"]
        )


def setup(app):
    app.connect("autodoc-process-docstring", escape_bars, priority=100)
    app.connect("html-page-context", repair_back_links)
