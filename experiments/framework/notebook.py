"""Experiments in notebooks: a figure with its verdicts as the value of a cell."""

from __future__ import annotations

import base64
import html
import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments.framework.run import measure
from experiments.framework.verdict import Verdict
from experiments.registry import ENTRIES


@dataclass(frozen=True, repr=False)
class Shown:
    """Figures and verdicts of an experiment, which notebooks display."""

    figures: dict[str, Any]
    verdicts: Sequence[Verdict]

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self.verdicts))

    def _repr_html_(self) -> str:
        images = []
        for figure in self.figures.values():
            content = io.BytesIO()
            figure.savefig(content, format="png", dpi=80)
            encoded = base64.b64encode(content.getvalue()).decode()
            images.append(f'<img src="data:image/png;base64,{encoded}">')
        return "".join(images) + f"<pre>{html.escape(repr(self))}</pre>"


def show(name: str, **settings: Any) -> Shown:
    """Run a synthetic experiment at its quick size, and return its figures and verdicts.

    `settings` replace those of the quick size.
    """
    experiment = ENTRIES[name].load().EXPERIMENT
    used = replace(experiment.sizes["quick"], **settings)
    with tempfile.TemporaryDirectory() as folder:
        results = measure(experiment, used, "quick", 0, Path(folder))
        return Shown(dict(experiment.draw(results)), experiment.judge(results))
