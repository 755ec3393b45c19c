"""The notebook of the figures of the paper runs from its first to its last cell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pages.examples import ROOT

NOTEBOOK = json.loads((ROOT / "examples" / "paper.ipynb").read_text("utf-8"))


def cells(kind: str) -> list[str]:
    return ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == kind]


def test_the_notebook_has_all_figures_and_no_outputs() -> None:
    titles = "\n".join(cells("markdown"))
    for number in range(1, 9):
        assert f"Figure {number}:" in titles or f"Figures {number} and" in titles
    code = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("ot")
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    for source in cells("code"):
        *_, last = source.strip().splitlines()
        if last.startswith("show("):
            shown = eval(last, names)
            assert "<img" in shown._repr_html_()
            assert "verdict:" in repr(shown)
        else:
            exec(source, names)
    lines = dict(line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["distributions"] == "2.0"
    for name in ("samples", "Algorithm 1", "authors' code"):
        assert float(lines[name]) == pytest.approx(2.2, abs=0.2)
