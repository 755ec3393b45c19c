"""`result.plot()` draws all figures of each result."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
from combined import compare_and_test

import isodepth
import isodepth.plot
from isodepth.errors import InvalidInputError, InvalidOptionError, MissingExtraError
from isodepth.show import FIGURES
from isodepth.show.style import new_axes

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), rng.normal(size=(50, 2)) + 1
    comparison = compare_and_test(x, y, n_permutations=19, n_directions=20, random_state=0)
    monitor = isodepth.Monitor(rng.normal(size=(2000, 2)), random_state=0)
    monitor.check(rng.normal(size=(30, 2)))
    return [comparison, comparison.test, monitor]


def test_all_figures_of_all_results(results) -> None:
    for result in results:
        assert result.plot() is not None
        for kind in FIGURES[result._result_type]:
            ax = new_axes()
            if kind == "timeline":
                with pytest.raises(InvalidOptionError, match="two axes"):
                    result.plot(kind, ax=ax)
                continue
            assert result.plot(kind, ax=ax) is ax
            ax.figure.draw_without_rendering()
            assert ax.get_xlabel() or [label.get_text() for label in ax.get_xticklabels()]


def test_axes_are_keyword_only(results) -> None:
    for draw in (isodepth.plot.__dict__[name] for name in isodepth.plot.__all__):
        _, *options = inspect.signature(draw).parameters.values()
        assert {each.kind for each in options} == {inspect.Parameter.KEYWORD_ONLY}, draw
    matrix = isodepth.DistanceMatrix.from_array([[0.0, 1.0], [1.0, 0.0]])
    signatures = {str(inspect.signature(type(each).plot)) for each in (*results, matrix)}
    assert len(signatures) == 1
    assert matrix.plot("distance_matrix", ax=(ax := new_axes())) is ax
    with pytest.raises(InvalidOptionError, match=r"kind must be 'distance_matrix'.* got 'heat'"):
        matrix.plot("heat")


def test_unknown_kinds_are_refused(results) -> None:
    with pytest.raises(
        InvalidOptionError,
        match="'gap_profile', 'nested_regions', 'contributions', 'null_distribution'",
    ):
        results[0].plot("pie")
    untested = isodepth.compare([[0.0], [1.0]], [[1.0], [2.0]], depth="halfspace")
    with pytest.raises(InvalidOptionError, match="has no test"):
        untested.plot("null_distribution")


def test_without_matplotlib_the_message_names_the_extra(results, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"isodepth\[plot\]"):
        results[0].plot()


def test_figures_are_registered_with_pyplot_and_those_of_reports_are_not(results) -> None:
    """`plot` registers its figure with pyplot, and a report does not.

    This is checked in a new process, because other tests have imported pyplot.
    """
    code = (
        "import matplotlib; matplotlib.use('agg')\n"
        "import matplotlib.pyplot as plt, isodepth\n"
        "result = isodepth.compare([[0.0], [1.0], [3.0]], [[1.0], [2.0], [4.0]], random_state=0)\n"
        "result.plot(); print(plt.get_fignums())\n"
        "import isodepth.report; isodepth.report.html_report(result); print(plt.get_fignums())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[1]", "[1]"]


def test_wrong_types_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    comparison = isodepth.compare(X, X + 1, random_state=0)
    matrix = isodepth.pairwise([X, X + 1], random_state=0)
    array = r"an array of shape \(30, 2\)"
    for function, argument, words in (
        (isodepth.plot.nested_regions, X, f"isodepth.two_sample_test, got {array}"),
        (isodepth.plot.gap_profile, matrix, "isodepth.two_sample_test, got a DistanceMatrix"),
        (isodepth.plot.contributions, X, "isodepth.compare or isodepth.two_sample_test, got an"),
        (isodepth.plot.null_distribution, None, "isodepth.two_sample_test, got None"),
        (isodepth.plot.timeline, comparison, "result of isodepth.Monitor, got a Comparison"),
        (isodepth.plot.timeline, None, "result of isodepth.Monitor, got None"),
        (isodepth.plot.distance_matrix, X, f"needs a DistanceMatrix.*, got {array}"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            function(argument)
