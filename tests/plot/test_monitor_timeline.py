"""The picture of a stream holds what the verdicts say."""

from __future__ import annotations

import numpy as np
import pytest

from isodepth import DepthMonitor, InvalidInputError
from isodepth.plot import monitor_timeline
from isodepth.plot.style import MARK, QUIET

pytest.importorskip("matplotlib")

RNG = np.random.default_rng(40)


@pytest.fixture(scope="module")
def monitor() -> DepthMonitor:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(RNG.normal(size=(2000, 3)), columns=["a", "b" * 40, "c"])
    made = DepthMonitor(frame, batch_size=30, n_directions=20, levels=5, random_state=0)
    for i in range(14):
        made.check(RNG.normal(size=(30, 3)) + 2.0 * (i >= 6) * np.eye(3)[1])
    return made


def test_every_panel(monitor: DepthMonitor) -> None:
    figure = monitor_timeline(monitor)
    top, middle, bottom = figure.axes[:3]
    verdicts = monitor.verdicts
    drawn = {line.get_color(): line for line in top.lines}
    assert drawn[QUIET].get_ydata() == pytest.approx([v.score for v in verdicts])
    beyond = [v.batch for v in verdicts if v.evidence >= v.threshold]
    assert beyond
    assert drawn[MARK].get_xdata().tolist() == beyond
    shaded = top.patches[0].get_extents().transformed(top.transData.inverted())
    alarms = [v.batch for v in verdicts if v.alarm]
    assert (shaded.x0, shaded.x1) == pytest.approx((alarms[0] - 0.5, alarms[-1] + 0.5))
    assert middle.lines[0].get_ydata() == pytest.approx([max(v.evidence, 1e-3) for v in verdicts])
    assert middle.get_yscale() == "log"
    threshold = [line for line in middle.lines if line.get_linestyle() == "--"]
    assert threshold[0].get_ydata()[0] == 100
    image = bottom.images[0].get_array()
    assert image.shape == (3, 14)
    names = [label.get_text() for label in bottom.get_yticklabels()]
    assert names[0].startswith("bbb")
    assert len(names[0]) == 24
    assert image[0, -1] == pytest.approx(dict(verdicts[-1].columns)["b" * 40])
    figure.draw_without_rendering()


def test_labels(monitor: DepthMonitor) -> None:
    figure = monitor_timeline(monitor, labels=[f"week {i}" for i in range(14)])
    figure.draw_without_rendering()
    assert [t.get_text() for t in figure.axes[2].get_xticklabels()][:2] == ["week 0", "week 1"]
    with pytest.raises(InvalidInputError, match="14 batches, got 1"):
        monitor_timeline(monitor, labels=["one"])
    own = DepthMonitor(RNG.normal(size=(2000, 1)), batch_size=30, random_state=0)
    own.check(RNG.normal(size=(30, 1)), label="2024-01-07")
    shown = monitor_timeline(own).axes[2].get_xticklabels()
    assert [text.get_text() for text in shown] == ["2024-01-07"]


def test_nothing_to_draw() -> None:
    fresh = DepthMonitor(RNG.normal(size=(2000, 1)), batch_size=30, n_directions=1, random_state=0)
    with pytest.raises(InvalidInputError, match="no batch yet"):
        monitor_timeline(fresh)
