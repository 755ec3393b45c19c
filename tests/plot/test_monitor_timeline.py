"""Timelines of monitors show the p-values, alarms and changes of the verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import Monitor
from isodepth.errors import InvalidInputError
from isodepth.plot import timeline
from isodepth.show.style import FIRST, MARK, QUIET

pytest.importorskip("matplotlib")

RNG = np.random.default_rng(40)


@pytest.fixture(scope="module")
def monitor() -> Monitor:
    pd = pytest.importorskip("pandas")
    names = ["a", "b" * 40, "c"]
    made = Monitor(pd.DataFrame(RNG.normal(size=(2000, 3)), columns=names), random_state=0)
    for i in range(14):
        batch = RNG.normal(size=(30, 3)) + 2.0 * (i >= 6) * np.eye(3)[1]
        made.check(pd.DataFrame(batch, columns=names))
    return made


def test_every_panel(monitor: Monitor) -> None:
    figure = timeline(monitor)
    top, bottom = figure.axes[:2]
    verdicts = monitor.verdicts
    drawn = {(line.get_color(), line.get_marker()): line for line in top.lines}
    assert drawn[QUIET, "o"].get_ydata() == pytest.approx([v.pvalue for v in verdicts])
    window = [max(v.window_pvalue, 1e-40) for v in verdicts]
    assert drawn[FIRST, "s"].get_ydata() == pytest.approx(window)
    assert drawn[MARK, "None"].get_ydata() == pytest.approx([v.threshold for v in verdicts])
    crossed = [v.batch_number for v in verdicts if v.crossed]
    assert crossed
    assert drawn[MARK, "D"].get_xdata().tolist() == crossed
    shaded = top.patches[0].get_extents().transformed(top.transData.inverted())
    alarms = [v.batch_number for v in verdicts if v.alarm]
    assert (shaded.x0, shaded.x1) == pytest.approx((alarms[0] - 0.5, alarms[-1] + 0.5))
    assert top.get_yscale() == "log"
    assert max(top.get_yticks()) <= 1
    names = [label.get_text() for label in bottom.get_yticklabels()]
    assert names[0].startswith("bbb")
    assert len(names[0]) == 24
    strength = -np.log10(verdicts[-1].changes[0].pvalue)
    assert bottom.images[0].get_array()[0, -1] == pytest.approx(min(strength, 40))


@pytest.mark.parametrize("width", [6.5, 9.0])
def test_the_legend_stays_inside_and_above_all_points(monitor: Monitor, width: float) -> None:
    from isodepth.show.style import new_figure

    figure = timeline(monitor, figure=new_figure(width, 5.0))
    figure.draw_without_rendering()
    top = figure.axes[0]
    legend = top.get_legend().get_window_extent()
    frame = top.get_window_extent()
    assert frame.x0 <= legend.x0 < legend.x1 <= frame.x1 + 1
    assert legend.y1 <= frame.y1 + 1
    assert top.transData.transform((1.0, 1.0))[1] <= legend.y0 + 1


def test_labels(monitor: Monitor) -> None:
    figure = timeline(monitor, labels=[f"week {i}" for i in range(14)])
    figure.draw_without_rendering()
    assert [t.get_text() for t in figure.axes[1].get_xticklabels()][:2] == ["week 0", "week 1"]
    with pytest.raises(InvalidInputError, match="14 batches, got 1"):
        timeline(monitor, labels=["one"])
    own = Monitor(RNG.normal(size=(2000, 1)), random_state=0)
    with pytest.raises(InvalidInputError, match="no batch yet"):
        timeline(own)
    own.check(RNG.normal(size=(30, 1)), label="2024-01-07")
    shown = timeline(own).axes[1].get_xticklabels()
    assert [text.get_text() for text in shown] == ["2024-01-07"]
    grouped = Monitor(RNG.normal(size=(2000, 1)), groups=["u", "v"] * 1000, random_state=0)
    for label in ("Monday", None):
        grouped.check(RNG.normal(size=(30, 1)), group="v", label=label)
    shown = timeline(grouped).axes[1].get_xticklabels()
    assert [text.get_text() for text in shown] == ["v: Monday", "v: 2"]


def test_the_axis_names_the_limit_of_drawn_pvalues(monitor: Monitor) -> None:
    assert min(verdict.window_pvalue for verdict in monitor.verdicts) < 1e-40
    top, _, bar = timeline(monitor).axes
    assert top.get_ylabel() == "p-value (below 1e-40: drawn there)"
    assert bar.get_ylabel() == "-log10 p (at most 40)"
    quiet = Monitor(RNG.normal(size=(200, 2)), random_state=0)
    quiet.check(RNG.normal(size=(50, 2)))
    top, _, bar = timeline(quiet).axes
    assert (top.get_ylabel(), bar.get_ylabel()) == ("p-value", "-log10 p")
