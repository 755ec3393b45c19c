"""Synthetic experiments run, can be interrupted, and judge their raw results correctly."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.framework import Experiment, Part, Streams, Table, Verdict
from experiments.framework.report import counts
from experiments.framework.run import fill, run_experiment
from experiments.framework.table import OtherResultsError
from experiments.framework.verdict import FAILS, HOLDS, IN_PART, outcome
from experiments.registry import ENTRIES
from experiments.synthetic import breakdown, epsilon, robustness
from experiments.synthetic.distributions import distance_of_distributions, elliptical, radius
from isodepth import Metric

pytest.importorskip("matplotlib")
pytest.importorskip("ot")

SYNTHETIC = [entry.name for entry in ENTRIES.values() if entry.in_all]
#: Run by `make test`; the others are marked slow.
FEW = ("propositions",)


def tiny_part(calls: list, runs: int = 4, stop_at: int | None = None) -> Part:
    def measure(condition, streams):
        if stop_at is not None and len(calls) == stop_at:
            raise KeyboardInterrupt
        calls.append((streams.run, condition["a"]))
        rng = streams.rng("data", condition["a"])
        return {name: rng.standard_normal(2).tolist() for name in ("x", "y, z")}

    conditions = [{"a": a} for a in (0.1, 2, "three, four")]
    return Part("tiny", runs, conditions, "name", ("x", "y, z"), ("u", "v"), measure)


@pytest.fixture
def whole(tmp_path):
    """Return the file of an uninterrupted run as bytes."""
    path = tmp_path / "whole.csv"
    fill(tiny_part([]), path, seed=7)
    return path.read_bytes()


@pytest.mark.parametrize("done", [0, 1, 5, 11])
def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path, whole, done):
    path = tmp_path / "part.csv"
    with pytest.raises(KeyboardInterrupt):
        fill(tiny_part([], stop_at=done), path, seed=7)
    again: list = []
    fill(tiny_part(again), path, seed=7)
    assert path.read_bytes() == whole
    assert len(again) == 12 - done  # nothing is measured twice


def test_a_file_cut_off_anywhere_is_repaired(tmp_path, whole):
    path = tmp_path / "cut.csv"
    for length in range(0, len(whole), 41):
        path.write_bytes(whole[:length])
        fill(tiny_part([]), path, seed=7)
        assert path.read_bytes() == whole


def test_a_file_of_other_results_is_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text('run,a,name,u,v\n0,0.5,x,1.0,2.0\n0,0.5,"y, z",1.0,2.0\n')
    with pytest.raises(OtherResultsError, match=r"delete it or choose another --out"):
        fill(tiny_part([]), path, seed=7)


def test_streams_depend_on_their_names_only():
    base = Streams(0, "part", 3)
    first = base.rng("data", 2).random(4)
    base.rng("something else").random(100)
    np.testing.assert_array_equal(base.rng("data", 2).random(4), first)
    others = [
        base.rng("data", 3),
        base.rng("data2"),
        Streams(1, "part", 3).rng("data", 2),
        Streams(0, "other", 3).rng("data", 2),
        Streams(0, "part", 4).rng("data", 2),
    ]
    draws = {tuple(rng.random(4)) for rng in others} | {tuple(first)}
    assert len(draws) == 6


def test_tables_are_read_back_and_picked_by_value(tmp_path, whole):
    path = tmp_path / "read.csv"
    path.write_bytes(whole)
    table = Table.read(path)
    assert len(table) == 24
    assert table["u"].dtype == float
    assert table.distinct("a") == ["0.1", "2", "three, four"]
    picked = table.where(a=2, name="y, z", run=3)
    rng = Streams(7, "tiny", 3).rng("data", 2)
    rng.standard_normal(2)
    assert [picked["u"][0], picked["v"][0]] == rng.standard_normal(2).tolist()


def test_outcomes():
    assert outcome([True, True]) == HOLDS
    assert outcome([True, False]) == IN_PART
    assert outcome([False, False]) == FAILS


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return the folder with the results of a quick run of the experiment "breakdown"."""
    folder = tmp_path_factory.mktemp("results")
    assert main(["breakdown", "--quick", "--out", str(folder)]) == 0
    return folder


def test_settings_are_not_mixed_in_one_folder(results):
    with pytest.raises(SystemExit, match="seed = 0, not 1"):
        main(["breakdown", "--quick", "--out", str(results), "--seed", "1"])


@pytest.mark.parametrize(
    "name", [n if n in FEW else pytest.param(n, marks=pytest.mark.slow) for n in SYNTHETIC]
)
def test_a_quick_run_writes_results_figures_and_verdicts(name, tmp_path, capsys):
    assert main([name, "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "verdict:" in printed
    assert "not for quoting" in printed
    experiment = ENTRIES[name].load().EXPERIMENT
    for part in experiment.parts(experiment.sizes["quick"]):
        table = Table.read(tmp_path / f"{part.name}.csv")
        assert len(table) == len(part.units()) * len(part.names)
        for value in part.values:
            assert not np.isnan(table[value]).any()
    sizes = [figure.stat().st_size for figure in tmp_path.glob("*.png")]
    assert 0 < max(sizes) < 200_000


def test_the_report_replaces_the_lines_of_its_results(tmp_path, results):
    former = [
        "| kept | 1 | **holds** | `python -m experiments epsilon` |",
        "| old | 2 | **holds** | `python -m experiments breakdown` |",
        "| nobody knows | 3 | **holds** | `python -m experiments nonsense` |",
        "- `epsilon` (full): runs = 3",
        "- `breakdown` (full): runs = 4",
    ]
    page = tmp_path / "page.md"
    page.write_text(
        "\n".join(["before", "<!-- VERDICTS -->", *former, "<!-- /VERDICTS -->", "after"])
    )
    assert main(["report", "--results", str(results), "--page", str(page)]) == 0
    lines = page.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert (tmp_path / "figures" / "breakdown.png").exists()
    assert [line in lines for line in former] == [True, False, False, True, False]
    assert sum("experiments breakdown`" in line for line in lines) == 2
    assert lines.index(former[0]) < lines.index(former[3])


def test_verdicts_are_counted_from_their_table():
    lines = [
        "| a | 1 | **holds** | `python -m experiments epsilon` |",
        "| b | 2 | **holds in part** | `python -m experiments epsilon` |",
        "| c \\| d | 3 | **does not hold** | `python -m experiments epsilon` |",
        "| e | 4 | **remark** | `python -m experiments epsilon` |",
        "| (isodepth) f | 5 | **holds** | `python -m experiments epsilon` |",
        "- `epsilon` (full): runs = 3",
    ]
    assert counts(lines) == (
        "Of 3 statements of the paper, 1 hold, 1 hold in part and 1 do not hold. "
        "Of 1 statements of isodepth, 1 hold, 0 hold in part and 0 do not hold."
    )


def test_the_page_has_the_counts_of_its_table():
    page = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text("utf-8")
    summary = page.partition("<!-- COUNTS -->")[2].partition("<!-- /COUNTS -->")[0]
    table = page.partition("<!-- VERDICTS -->")[2].partition("<!-- /VERDICTS -->")[0]
    assert summary.strip() == counts(table.splitlines())


def test_an_interrupted_command_can_be_continued(tmp_path, capsys):
    def stop(condition, streams):
        raise KeyboardInterrupt

    settings = epsilon.EXPERIMENT.sizes
    part = Part("tiny", 1, [{"a": 1}], "name", ("x",), ("u",), stop)
    experiment = Experiment(
        "tiny", "t", settings, lambda _: [part], lambda _: [Verdict("", "", HOLDS)], lambda _: {}
    )
    assert run_experiment(experiment, ["--out", str(tmp_path)]) == 130
    assert "the same command goes on" in capsys.readouterr().out


def test_the_list_names_all(capsys):
    assert main(["list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == list(ENTRIES)


def test_each_figure_and_table_of_the_paper_has_one_command(capsys):
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    for kind, count in (("Figure", 9), ("Table", 4)):
        lists = re.findall(rf"{kind}s? ([\d, ]+?)  ", printed)
        numbers = [int(number) for numbers in lists for number in numbers.split(",")]
        assert sorted(numbers) == list(range(1, count + 1))
    assert set(SYNTHETIC) >= {"approximation", "time", "robustness", "accuracy", "propositions"}


def test_all_experiments_of_all_have_the_shared_options():
    for name in SYNTHETIC:
        assert isinstance(ENTRIES[name].load().EXPERIMENT, Experiment)


def test_an_unknown_name_is_refused(capsys):
    assert main(["nonsense"]) == 2
    assert "no experiment 'nonsense'" in capsys.readouterr().err


# -- computations of the experiments -----------------------------------------------------------


@pytest.mark.parametrize("distribution", ["gaussian", "t2", "cauchy"])
def test_radii_hold_their_mass(distribution):
    n = 20000
    lengths = np.linalg.norm(elliptical(distribution, n, 3, np.random.default_rng(0)), axis=1)
    for mass in (0.2, 0.7):
        # Five standard errors of a proportion.
        within = float(np.mean(lengths <= radius(distribution, 3, np.array(mass))))
        assert abs(within - mass) < 5 * (mass * (1 - mass) / n) ** 0.5


def test_distance_of_distributions():
    shift = np.array([3.0, 4.0])
    assert distance_of_distributions("gaussian", "gaussian", shift, p=2, eps=0.1) == pytest.approx(
        5.0
    )
    for distribution in ("t2", "cauchy"):
        spherical, general = (
            distance_of_distributions(
                "gaussian", distribution, shift, p=2, eps=0.3, scatter=scatter, levels=50
            )
            for scatter in (None, np.eye(2))
        )
        # The general gap is solved to about 1e-9.
        assert spherical == pytest.approx(general, rel=1e-8)
        assert spherical > 5.0


def test_all_eps_from_one_comparison():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((80, 2)), 2 * rng.standard_normal((70, 2))
    settings = {"n_directions": 40, "refine": 0, "random_state": 0}
    distances = epsilon.distances(Metric(eps=min(epsilon.EPS), **settings).compare(X, Y))
    for eps in epsilon.EPS:
        # The sums differ only in their order.
        assert distances[eps] == pytest.approx(
            Metric(eps=eps, **settings).distance(X, Y), rel=1e-12
        )


def test_relative_errors_are_taken_against_the_clean_run():
    columns = {
        "run": [0, 0, 1, 1],
        "data": ["hypercube"] * 4,
        "share": [0.0, 0.1, 0.0, 0.1],
        "sides": ["none", "one", "none", "one"],
        "method": ["W"] * 4,
        "distance": [2.0, 3.0, 4.0, 3.0],
    }
    both = {name: np.array(values * 2) for name, values in columns.items()}
    both["data"][4:] = "gaussian"
    errors = robustness.relative_errors(Table(both))
    np.testing.assert_array_equal(errors.where(data="hypercube")["error"], [0.5, 0.25])


def test_contamination_has_the_stated_share_on_the_stated_sides():
    streams = Streams(0, "robustness", 0)
    X, Y = robustness.contaminated_pair("gaussian", 500, 0.2, "one", streams)
    assert (len(X), len(Y)) == (625, 500)
    assert len(robustness.contaminated_pair("gaussian", 500, 0.2, "both", streams)[1]) == 625
    fewer, _ = robustness.contaminated_pair("gaussian", 500, 0.1, "one", streams)
    np.testing.assert_array_equal(X[: len(fewer)], fewer)


def test_one_outlier_among_ten_breaks_the_tenth():
    """One outlier is added to ten numbers: the distance is unbounded for eps = 0.1, not for 0.5."""
    X = np.arange(10.0)[:, None]
    points = breakdown.far_points(1, 2, np.random.default_rng(0))
    numbers = breakdown.breaking_numbers(X, points)
    assert numbers[0.1] == 1
    assert breakdown.worst_distance(X, points, 1, 0.1) > breakdown.BROKEN
    assert numbers[0.5] > 1
    assert breakdown.worst_distance(X, points, numbers[0.5] - 1, 0.5) < breakdown.BROKEN
