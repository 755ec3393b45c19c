"""The numbers in README about its figure are those of the script that draws the figure."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest
from pages.examples import ROOT


@pytest.fixture(scope="module")
def script() -> ModuleType:
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location(
        "readme_figure", ROOT / "examples" / "readme_figure.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_readme_quotes_the_numbers_of_the_figure(script: ModuleType) -> None:
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())

    for name, (before, after) in script.measured().items():
        quoted = f"from {before:.2f} to {after:.2f} ({after / before - 1:+.0%})"
        assert quoted in readme, name
    assert f"{script.N_WRONG / script.N_POINTS:.0%} of the rows of Y lie far away" in readme


def test_the_figure_can_be_drawn(script: ModuleType) -> None:
    assert len(script.draw().axes) == 2
