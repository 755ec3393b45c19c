"""docs/api.md lists every public name, and nothing else."""

from __future__ import annotations

import importlib
import re
from types import ModuleType

from pages.examples import ROOT

import isodepth
from isodepth import errors

#: Modules whose public names are documented one by one.
MODULES = [
    "hull", "plot", "report", "text",
]  # fmt: skip
#: Public names without a page.
CONSTANTS = {"__version__"}


def public_names() -> set[str]:
    names = set()
    for name in isodepth.__all__:
        is_module = isinstance(getattr(isodepth, name), ModuleType)
        if not is_module and not hasattr(errors, name):  # documented by automodule
            names.add(name)
    for module in MODULES:
        public = importlib.import_module(f"isodepth.{module}").__all__
        names |= {f"{module}.{name}" for name in public}
    return names - CONSTANTS


def test_every_public_name_is_listed() -> None:
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    listed = re.findall(r"^   ([\w.]+)$", page, re.MULTILINE)

    assert len(listed) == len(set(listed))
    # Names of modules without __all__, or that need torch.
    others = {
        "text.pairs.pair_distances",
        "torch.DepthLoss",
    }
    assert set(listed) - others == public_names()
    assert ".. automodule:: isodepth.errors" in page
