"""docs/api.md lists every public name, and nothing else."""

from __future__ import annotations

import importlib
import re
from types import ModuleType

from pages.examples import ROOT

import isodepth
from isodepth import errors

#: Whose public names are documented one by one.
MODULES = [
    "hull", "plot", "report", "text",
]  # fmt: skip
#: A list of names, described where it is used.
CONSTANTS = {"__version__"}


def public_names() -> set[str]:
    names = set()
    for name in isodepth.__all__:
        is_module = isinstance(getattr(isodepth, name), ModuleType)
        if not is_module and not hasattr(errors, name):  # errors.py is shown whole
            names.add(name)
    for module in MODULES:
        public = importlib.import_module(f"isodepth.{module}").__all__
        names |= {f"{module}.{name}" for name in public}
    return names - CONSTANTS


def test_every_public_name_is_listed() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    listed = re.findall(r"^   ([\w.]+)$", page, re.MULTILINE)

    assert len(listed) == len(set(listed))
    # Named by hand: modules without a list of public names, or that need torch to be imported.
    beside = {
        "text.pairs.pair_distances",
        "metric.fitted.FittedMetric",
        "torch.DepthLoss",
    }
    assert set(listed) - beside == public_names()
    assert ".. automodule:: isodepth.errors" in page
