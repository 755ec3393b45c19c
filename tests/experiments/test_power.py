"""Study of level and power: competing tests, keys of settings, and continued runs."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from experiments.power import laws, report, study
from experiments.power.cells import PARTS, Cell, cells
from experiments.power.rivals import kernel_tests, kolmogorov_smirnov


def mean_of_pairs(rows: np.ndarray, others: np.ndarray, of: object) -> float:
    return float(np.mean([of(math.dist(a, b)) for a in rows for b in others]))  # type: ignore[operator]


def test_energy_and_mmd_equal_their_definitions() -> None:
    """P-values of the energy test and of MMD equal those of plain loops.

    The permutations are the same.
    """
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(9, 2)), rng.normal(size=(7, 2)) + 0.5
    pvalues = kernel_tests(x, y, (0.01,), 19, 3)
    draws = np.random.default_rng(3)
    rows = np.concatenate([x, y])
    orders = [np.arange(16), *(draws.permutation(16) for _ in range(19))]
    width = np.median([math.dist(a, b) for a, b in itertools.combinations(rows, 2)])

    def kernel(distance: float) -> float:
        return math.exp(-(distance**2) / (2 * width**2))

    energies, roots = [], []
    for order in orders:
        a, b = rows[order[:9]], rows[order[9:]]
        energies.append(2 * mean_of_pairs(a, b, abs) - mean_of_pairs(a, a, abs)
                        - mean_of_pairs(b, b, abs))  # fmt: skip
        roots.append(math.sqrt(mean_of_pairs(a, a, kernel) + mean_of_pairs(b, b, kernel)
                               - 2 * mean_of_pairs(a, b, kernel)))  # fmt: skip

    def pvalue(values: list[float], margin: float = 0.0) -> float:
        return (1 + sum(v + margin >= values[0] for v in values[1:])) / len(values)

    assert pvalues["energy"] == pvalue(energies)
    assert pvalues["mmd"] == pvalue(roots)
    assert pvalues["dcmmd 0.01"] == pvalue(roots, 4 * math.sqrt(2) * 0.01)


def test_kolmogorov_smirnov_is_close_to_that_of_scipy() -> None:
    from scipy.stats import ks_2samp

    rng = np.random.default_rng(0)
    for shift in (0.0, 0.15, 0.3):
        x, y = rng.normal(size=(300, 1)), rng.normal(size=(250, 1)) + shift
        exact = ks_2samp(x[:, 0], y[:, 0], method="exact").pvalue
        # Asymptotic: right to a few percent of itself.
        assert kolmogorov_smirnov(x, y) == pytest.approx(exact, rel=0.1)
    x, y = rng.normal(size=(2, 100, 3))
    smallest = min(
        kolmogorov_smirnov(a[:, None], b[:, None]) for a, b in zip(x.T, y.T, strict=True)
    )
    assert kolmogorov_smirnov(x, y) == min(1.0, 3 * smallest)


def test_the_stated_share_is_contaminated() -> None:
    for kind in laws.CONTAMINATIONS:
        rng = np.random.default_rng(0)
        x, y = laws.contaminated(kind, 200, 3, 0.05, False, rng)
        clean = np.random.default_rng(0).standard_normal((2, 200, 3))
        assert (x != clean[0]).any(axis=1).sum() == 10
        assert np.array_equal(y, clean[1])


@pytest.mark.parametrize("d", [2, 5])
def test_swapped_sides_differ_where_no_region_does(d: int) -> None:
    """The function `_swapped_sides` mirrors rows at the center, and no halfspace changes its mass.

    Inner and outer rows are mirrored with different probabilities.
    """
    n = 40_000
    before = np.random.default_rng(1).standard_normal((2, n, d))[1]
    _, y = laws.changed("sides swapped", n, d, np.random.default_rng(1))
    mirrored = y != before
    assert np.array_equal(np.where(mirrored, -y, y), before)
    error = 0.5 / math.sqrt(n)
    directions = np.random.default_rng(0).standard_normal((20, d))
    on_one_side = (y @ directions.T > 0).mean(axis=0)
    assert np.abs(on_one_side - 0.5).max() < 4 * error
    sizes = np.linalg.norm(y, axis=1)
    inner = sizes < np.median(sizes)
    # Half of the rows each: the standard error is larger by the root of two.
    for rows, share in ((inner, 0.85), (~inner, 0.15)):
        assert abs((y[rows, 0] > 0).mean() - share) < 6 * error


def test_keys_of_cells_are_distinct() -> None:
    keys = [cell.key for cell in cells("full")]
    assert len(set(keys)) == len(keys)
    groups = [cell.group for cell in cells("full")]
    assert groups.count("tolerance") == 72


def test_results_are_reproducible() -> None:
    cell = Cell("laws", "scale 1.3", 60, 2, n_permutations=19, wider=True, regions=True)
    for part in PARTS:
        assert cell.test(3, part) == cell.test(3, part)
        assert cell.test(3, part) != cell.test(4, part)
    both = [cell.test(0, part) for part in PARTS]
    assert set(both[0]) | set(both[1]) == set(report.METHODS[:9])
    x, y = laws.changed("scale 1.3", 60, 2, np.random.default_rng(0))
    alone = cell._result(x, y, 5, method="regions")
    assert cell._ours(x, y, 5, 0)["regions"] == alone.pvalue


@pytest.mark.parametrize("kind", [*laws.ATTACKS, "selective"])
def test_attacks_contaminate_the_stated_share(kind: str) -> None:
    cell = Cell("attacks", kind, 200, 3, 0.05, True)
    x, y = cell._draw(np.random.default_rng(0))
    assert x.shape == y.shape == (200, 3)
    if kind in ("steered", "most leaning column", "selective", "small clump", "inner and outer"):
        clean = np.random.default_rng(0).standard_normal((2, 200, 3))
        assert [(a != b).any(axis=1).sum() for a, b in zip((x, y), clean, strict=True)] == [10, 10]


def test_cells_of_kinds_and_columns() -> None:
    assert set(Cell("columns", "Cauchy tails", 60, 2, n_permutations=19).test(0, "ours")) == {
        "column 0", "column 1",
    }  # fmt: skip
    kind = Cell("kinds", "one scale 1.3", 900, 2, n_permutations=39)
    assert kind.test(0, "ours") == {"right kind": 0.0}


def test_finished_batches_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = next(study.batches("quick"))
    line = study.work(batch)
    (tmp_path / "one.jsonl").write_text(json.dumps(line) + "\n" + '{"cell": "cut o')
    assert study.finished(tmp_path) == [line]
    monkeypatch.setattr(study, "batches", lambda size: iter([batch]))
    assert study.run("quick", 1, None, tmp_path) == 0
    assert "1 batches done, 0 to do" in capsys.readouterr().out


def test_rejections_are_counted_and_written(tmp_path: Path) -> None:
    cell = cells("quick")[0]
    line = {"cell": cell.key, "part": "ours", "first": 0, "last": 4, "seconds": 0,
            "p": {"aggregated": {"0": 0.05, "1": 0.051, "2": 0.005, "3": 1.0}}}  # fmt: skip
    # The same batch twice counts once.
    text = json.dumps(line) + "\n"
    (tmp_path / "a.jsonl").write_text(text + text)
    assert report.rates(tmp_path)[cell.key]["aggregated"] == (2, 4)
    assert report.rates(tmp_path, 0.01)[cell.key]["aggregated"] == (1, 4)
    report.write_report("quick", tmp_path)
    assert "| normal | 100 | 3 | 50 |" in (tmp_path / "tables.md").read_text()
    page = tmp_path / "page.md"
    names = ("promises", *report.PARTS)
    page.write_text("".join(f"<!-- study: {n} -->\nold\n<!-- /study -->\nend\n" for n in names))
    report.publish("quick", tmp_path, page)
    assert "old" not in page.read_text()
    assert "0.5000 at 5%, 0.2500 at 1%" in page.read_text()
