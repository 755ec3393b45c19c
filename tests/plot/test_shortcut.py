"""`result.plot()`: each kind of result has its pictures, and refuses what it has not."""

from __future__ import annotations

import numpy as np
import pytest

import isodepth
from isodepth.errors import InvalidOptionError, MissingExtraError
from isodepth.plot.shortcut import PICTURES
from isodepth.plot.style import new_axes

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(50, 2)) + 1
    comparison = isodepth.compare(x, y, n_permutations=19, n_directions=20, random_state=0)
    monitor = isodepth.DepthMonitor(
        rng.normal(size=(2000, 2)), batch_size=30, n_directions=20, random_state=0
    )
    verdict = monitor.check(rng.normal(size=(30, 2)))
    matrix = isodepth.DistanceMatrix.of(
        isodepth.pairwise([x, y, x + 3], n_directions=20, random_state=0)
    )
    return [comparison, comparison.test, verdict, monitor, matrix]


def test_every_picture_of_every_result(results) -> None:
    for result in results:
        for kind in PICTURES[type(result)]:
            drawn = result.plot(kind)
            getattr(drawn, "figure", drawn).canvas.draw()
        usual = result.plot()
        assert usual is not None


def test_axes_in_axes_out(results) -> None:
    for result in results:
        for kind in PICTURES[type(result)]:
            ax = new_axes()
            if kind == "timeline":
                with pytest.raises(InvalidOptionError, match="three axes"):
                    result.plot(kind, ax)
            else:
                assert result.plot(kind, ax) is ax


def test_every_axis_of_every_picture_is_named_in_words(results) -> None:
    for result in results:
        for kind in PICTURES[type(result)]:
            drawn = result.plot(kind)
            axes = [drawn] if hasattr(drawn, "get_xlabel") else drawn.axes[-2:-1]
            for ax in axes:
                named = ax.get_xlabel() or [label.get_text() for label in ax.get_xticklabels()]
                assert named, (type(result), kind)


def test_unknown_kinds_are_refused_with_those_there_are(results) -> None:
    with pytest.raises(InvalidOptionError, match="'gaps', 'regions', 'columns', 'null'"):
        results[0].plot("pie")
    untested = isodepth.compare([[0.0], [1.0]], [[1.0], [2.0]], depth="halfspace")
    with pytest.raises(InvalidOptionError, match="not tested"):
        untested.plot("null")


def test_without_matplotlib_the_message_says_what_to_install(results, monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"isodepth\[plot\]"):
        results[0].plot()


def test_an_interactive_session_sees_the_picture_and_others_keep_nothing_open(results) -> None:
    """In a process of its own: pyplot stays imported."""
    import subprocess
    import sys

    code = (
        "import matplotlib; matplotlib.use('agg')\n"
        "import matplotlib.pyplot as plt, isodepth\n"
        "result = isodepth.compare([[0.0], [1.0], [3.0]], [[1.0], [2.0], [4.0]], random_state=0)\n"
        "result.plot(); print(plt.get_fignums())\n"
        "plt.ion(); result.plot(); print(plt.get_fignums())\n"
        "import isodepth.report; isodepth.report.html_report(result); print(plt.get_fignums())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["[]", "[1]", "[1]"]
