"""Benchmarks: the published algorithm is implemented correctly, and every section runs.

No test depends on measured times.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks.harness.data import DEPTHS, SHAPES, pair, shaped_pair
from benchmarks.harness.timing import QUICK, Box, alternate, slope
from benchmarks.peers import authors, pot
from benchmarks.publish import checks, pages, short
from benchmarks.publish.scaling_figure import draw_scaling
from benchmarks.sections import (
    growth,
    memory,
    monitor,
    scaling,
    shapes,
    significance,
    startup,
    table,
)
from benchmarks.sections import threads as thread_section
from isodepth import AIIRWDepth, HalfspaceDepth, IRWDepth, Metric, ProjectionDepth
from isodepth.base.seeds import rng_for
from isodepth.geometry.directions import unit_vectors

ONE_TURN = Box(seconds=0.0, least=1, most=1)
ESTIMATORS = {
    "halfspace": HalfspaceDepth,
    "projection": ProjectionDepth,
    "irw": IRWDepth,
    "ai_irw": AIIRWDepth,
}
#: A projection is a sum of d products, and a depth a quotient or a count: a few ulps each.
ROUNDING = 1e-12


def both_signs(directions: np.ndarray) -> np.ndarray:
    return np.concatenate([directions, -directions])


@pytest.mark.parametrize("depth", DEPTHS)
def test_depths_of_the_authors_are_ours(depth: str) -> None:
    # An even number of points: the module describes irw at the median of an odd number.
    X, _ = pair(60, 3, seed=1)
    U = unit_vectors(3, 40, directions="uniform", random_state=np.random.default_rng(2))

    fitted = ESTIMATORS[depth](directions=U).fit(X)
    theirs = U
    if isinstance(fitted, AIIRWDepth):
        # Two square roots of one precision matrix differ by a rotation, so directions are rotated.
        values, axes = np.linalg.eigh(np.cov(X.T))
        theirs = U @ fitted.whitening_ @ (axes * np.sqrt(values)) @ axes.T

    expected, projections = authors.DEPTHS[depth](X, both_signs(theirs))

    np.testing.assert_allclose(fitted.depth_, expected, rtol=ROUNDING)
    assert projections.shape == (60, 80)


@pytest.mark.parametrize(
    ("depth", "eps", "seed"),
    # Without seed 3, for which two depths of IRW are equal: the authors' rounding breaks the tie.
    list(itertools.product(["halfspace", "projection", "irw"], [0.1, 0.3], (0, 1, 2, 4, 5))),
)
def test_distance_of_the_authors_is_ours(depth: str, eps: float, seed: int) -> None:
    X, Y = pair(80, 4, seed=seed)
    U = unit_vectors(4, 50, directions="uniform", random_state=seed)
    levels = rng_for(seed, "levels").uniform(0, 1 - eps, 20)

    expected = authors.distance(X, Y, depth, eps=eps, directions=both_signs(U), levels=levels)

    distance = Metric.paper(
        n_levels=20, n_directions=50, depth=depth, eps=eps, random_state=seed
    ).distance(X, Y)
    assert distance == pytest.approx(expected, rel=ROUNDING)


def test_strict_region_of_the_paper_leaves_out_the_level_itself() -> None:
    D = np.array([0.1, 0.2, 0.2, 0.3, 0.4])
    alpha = np.quantile(D, 1 - 0.5, method="inverted_cdf")

    assert authors.inside(D, 0.5).tolist() == [False, True, True, True, True]
    assert (alpha < D).tolist() == [False, False, False, True, True]
    # Below 1/n the region of the paper is empty; ours is the deepest point.
    assert authors.inside(D, 0.1).tolist() == [False, False, False, False, True]


def test_mmd_is_the_same_in_blocks() -> None:
    from sklearn.metrics.pairwise import rbf_kernel

    X, Y = pair(50, 3)
    squared = rbf_kernel(X, X).mean() + rbf_kernel(Y, Y).mean() - 2 * rbf_kernel(X, Y).mean()

    assert pot.mmd(X, Y, rows=7) == pytest.approx(np.sqrt(squared), rel=1e-10)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("held", [None, 4])
def test_sort_floor_sorts_every_row(
    n_threads: int, held: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = pair(30, 2)
    if held is not None:
        monkeypatch.setattr(pot, "_LARGEST_MATRIX", held * 30 * 4)
    sorted_rows = []
    kept = np.sort
    run = pot.sort_floor(X, Y, unit_vectors(2, 11), n_threads)

    def counting(block: np.ndarray, axis: int) -> np.ndarray:
        sorted_rows.append(len(block))
        assert block.dtype == np.float32
        return kept(block, axis=axis)

    monkeypatch.setattr(pot.np, "sort", counting)
    run()

    assert sum(sorted_rows) == 2 * 11


def test_contenders_take_turns() -> None:
    calls: list[str] = []

    timings = alternate(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, Box(0.0, least=3, most=9)
    )

    assert calls == ["a", "b"] * 3
    assert {name: t.runs for name, t in timings.items()} == {"a": 3, "b": 3}


def test_slope_of_a_power() -> None:
    assert slope([1, 10, 100], [2.0, 2 * 10**1.5, 2 * 1000.0]) == pytest.approx(1.5, rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_shape_of_data(shape: str, dtype: str) -> None:
    X, Y = shaped_pair(shape, 20, 3, dtype)

    assert X.shape == Y.shape == (20, 3)
    assert X.dtype == Y.dtype == dtype
    assert np.isfinite(X).all()
    assert np.isfinite(Y).all()


@pytest.fixture(scope="module")
def small_table() -> list[dict[str, Any]]:
    return table.measure_size(60, 2, K=20, threads=1, box=ONE_TURN)


def test_table_has_everybody(small_table: list[dict[str, Any]]) -> None:
    keys = {"who", "depth", "dtype", "refine", "n", "d", "K", "threads", "seconds", "runs", "value"}
    assert all(row.keys() == keys for row in small_table)
    who = {row["who"] for row in small_table}
    assert {"isodepth", "authors", "sort floor", "MMD (scikit-learn)"} <= who
    assert sum(row["who"] == "isodepth" for row in small_table) == 4 * 2 * 2
    assert "| authors, irw, float64 |" in table.markdown(small_table)


def test_growth_shapes_and_threads_have_their_keys() -> None:
    curves = growth.grow("n", [50, 100], {"n": 50, "d": 2, "K": 8}, ("irw",), ONE_TURN)
    assert [c["depth"] for c in curves] == ["irw"]
    assert len(curves[0]["seconds"]) == 2
    assert "slope" in growth.markdown(curves)

    rows = shapes.compare_shapes(50, 2, 8, ONE_TURN)
    assert {r["shape"] for r in rows} == set(SHAPES)
    assert "cauchy" in shapes.markdown(rows)

    scaling = thread_section.scaling(50, 2, 8, ONE_TURN)
    assert {row["depth"] for row in scaling} == set(DEPTHS)
    bits = thread_section.same_bits(300, 2, 64)
    assert all(row["same"] for row in bits)
    assert "16 of 16" in thread_section.markdown({"scaling": scaling, "bits": bits})


def test_memory_sees_a_matrix_of_projections() -> None:
    n, K = 20_000, 200
    result = memory.peak_of("authors", "projection", n, 2, K)

    # The authors' algorithm stores both (n, K) matrices in float64.
    assert result["added_mb"] > 2 * n * K * 8 / memory.MB
    assert result["above_inputs_mb"] > result["added_mb"]
    assert "authors, projection" in memory.markdown([result])


def test_checks_judge_by_relation_and_target() -> None:
    size = {"n": 10000, "d": 10, "K": 1000, "threads": 2}
    mine = size | {"who": "isodepth", "dtype": "float32", "refine": 0}
    rows = [
        mine | {"depth": "halfspace", "seconds": 1.0},
        mine | {"depth": "projection", "seconds": 0.5},
        size | {"who": "authors", "depth": "halfspace", "dtype": "float64", "seconds": 56.0},
        size | {"who": "sort floor", "depth": None, "dtype": "float32", "seconds": 0.3},
        size | {"who": "POT max-sliced W", "depth": None, "dtype": "float64", "seconds": 56.0},
        size | {"who": "POT max-sliced W", "depth": None, "dtype": "float32", "seconds": 54.0},
    ]
    started = {"distance_seconds": 0.5}
    results = {
        c["what"]: (c["measured"], c["kept"])
        for c in checks.measure({"table": rows, "startup": started})
    }

    assert results == {
        "n=10000, d=10, halfspace, float32: times faster than the authors": (56.0, True),
        # The slower of our depths is compared with the faster of POT's precisions.
        "n=10000, d=10, slower of two depths, float32: times faster than max-sliced W": (
            54.0,
            False,
        ),
        "n=10000, halfspace, 2 thread(s): time over the sort floor": (1 / 0.3, False),
        "n=10000, projection, 2 thread(s): time over the sort floor": (0.5 / 0.3, False),
        "seconds of a fresh process with one distance": (0.5, True),
    }


def test_command_writes_json_and_markdown(tmp_path: Any, capsys: Any) -> None:
    assert command.main(["small", "--quick", "--out", str(tmp_path)]) == 0

    results = json.loads((tmp_path / "bench-small.json").read_text())
    assert results.keys() == {"quick", "machine", "small", "checks"}
    assert results["quick"] is True
    assert {"cpu", "cores", "versions", "blas", "load_before", "quiet"} <= results["machine"].keys()
    assert {c["item"] for c in results["checks"]} == {6}
    assert "bare calls" in (tmp_path / "bench-small.md").read_text()
    assert results["machine"]["cpu"] in capsys.readouterr().out


def test_command_refuses_unknown_sections(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        command.main(["--only", "nonsense"])

    assert "there are small, threads" in capsys.readouterr().err


def test_figure_is_drawn(small_table: list[dict[str, Any]], tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    from benchmarks.publish.figure import draw

    center = {"n": 8, "d": 2, "K": 8}
    curves = []
    for along in center:
        curves += growth.grow(along, [8, 16], center, ("irw",), ONE_TURN)
    machine = {"cpu": "a processor", "cores": 1}

    assert draw({"machine": machine, "table": small_table, "growth": curves}, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert not draw({"machine": machine}, tmp_path / "b.png")


def test_scaling_has_a_row_for_each_depth(tmp_path: Any) -> None:
    rows = [scaling.row(300, 3, 20, depth, [1, 2, 3], quick=True) for depth in scaling.DEPTHS]
    named = {"cpu": "a chip", "cores": 3, "system": "a system", "python": "3"}
    result = {"machine": named, "rows": rows}

    text = scaling.markdown(result)

    assert all(row["same"] for row in rows)
    assert all(row["speedup"]["1"] == 1.0 for row in rows)
    assert "a chip, 3 core(s)" in text
    assert text.count("| 300 |") == len(rows)
    assert draw_scaling({"scaling": result}, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert not draw_scaling({}, tmp_path / "b.png")


def test_publishing_fills_marked_places_only(tmp_path: Any) -> None:
    text = "a\n<!-- BENCH table -->\nold\n<!-- /BENCH -->\nb\n<!-- BENCH other -->\n<!-- /BENCH -->"
    document = tmp_path / "page.md"
    document.write_text(text)

    assert pages.publish({"table": "| new |"}, [document]) == [document]
    filled = document.read_text()
    assert "old" not in filled
    assert "<!-- BENCH table -->\n\n| new |\n\n<!-- /BENCH -->\nb\n" in filled
    assert filled.endswith("<!-- BENCH other -->\n<!-- /BENCH -->")
    assert pages.publish({"table": "| new |"}, [document]) == []


def test_short_table_has_five_rows_out_of_the_long_one() -> None:
    size = {"n": 1000, "d": 5, "K": 1000, "threads": 2}
    mine = {"who": "isodepth", "depth": "projection", "dtype": "float64", "refine": 20}
    rows = [
        size | mine | {"seconds": 0.5},
        size | mine | {"seconds": 0.75, "threads": 1},
        size | mine | {"seconds": 0.1, "dtype": "float32"},
        size | mine | {"seconds": 0.2, "refine": 0},
        size | {"who": "authors", "depth": "irw", "dtype": "float64", "seconds": 7.0},
        size | {"who": "authors", "depth": "projection", "dtype": "float64", "seconds": 1.0},
        size | {"who": "POT max-sliced W", "depth": None, "dtype": "float64", "seconds": 8.0},
        size | {"who": "POT max-sliced W", "depth": None, "dtype": "float32", "seconds": 6.0},
        size | {"who": "MMD (scikit-learn)", "depth": None, "dtype": "float64", "seconds": 0.4},
    ]
    machine = {"cpu": "a chip", "cores": 2, "quiet": True, "versions": {"isodepth": "1.2"}}

    lines = short.markdown(rows, machine).splitlines()

    assert lines[0] == "| | n = 1000, d = 5 |"
    assert [line.split(" | ")[1].removesuffix(" |") for line in lines[2:7]] == [
        "0.5000 (1.0)", "1.0000 (2.0)", "8.0000 (16)", "–", "0.4000 (0.8)",
    ]  # fmt: skip
    assert "a chip, 2 core(s); isodepth 1.2." in lines[-1]
    assert "2 thread(s)" in lines[-1]


def test_readme_quotes_the_run_of_the_long_tables() -> None:
    """Each row of the speed table in README is in docs/benchmarks.md: both are from one run."""
    readme = (command.ROOT / "README.md").read_text(encoding="utf-8")
    long = (command.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    quoted = readme.partition("<!-- BENCH short -->")[2].partition("<!-- /BENCH -->")[0]

    assert re.findall(r"<!-- BENCH (\w+) -->", readme) == ["short"]
    seconds = re.findall(r"(\d+\.\d{4}) \(", quoted)

    assert len(set(seconds)) > 10
    assert [s for s in seconds if f"| {s} (" not in long] == []


def test_quick_runs_are_not_published(tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({"quick": True, "machine": {}, "checks": []}))

    assert command.main(["--publish", str(path)]) == 1
    assert "not for quoting" in capsys.readouterr().out


def test_startup_has_a_row_for_each_process() -> None:
    seconds = dict.fromkeys(startup.CODE, 0.5)
    text = startup.markdown({"seconds": seconds, "processor_seconds": seconds})
    assert "| one distance | 0.50 | 0.50 |" in text
    assert text.count("0.50 | 0.50") == 3


def test_significance_section_compares_every_call_with_the_test() -> None:
    rows = significance.measure([60, 80], n_permutations=19, box=QUICK)
    assert [row["n"] for row in rows] == [60] * 3 + [80] * 3
    assert [row["ratio"] for row in rows if row["call"] == "test"] == [1.0, 1.0]
    assert all(row["seconds"] > 0 for row in rows)
    assert significance.markdown(rows).count("\n|") == 2 + len(rows)


def test_monitor_section_compares_every_call_with_the_table() -> None:
    rows = monitor.measure(quick=True)
    assert [row["call"] for row in rows] == [
        "table", "check", "check, saved each time", "check, tolerance 5%",
    ]  # fmt: skip
    assert rows[0]["ratio"] == 1
    assert all(row["ms"] > 0 for row in rows)
    assert monitor.markdown(rows).count("\n|") == 2 + len(rows)
