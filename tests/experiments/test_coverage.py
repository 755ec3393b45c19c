"""Coverage study: true distances agree with numerical integrals, and bounds are computed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from experiments.coverage import settings, study
from experiments.coverage.settings import SETTINGS


@pytest.mark.parametrize(("mean", "spread"), [(0.6, 1.0), (2.0, 1.0), (0.0, 1.5), (0.0, 3.0)])
def test_distances_of_normal_distributions(mean: float, spread: float) -> None:
    t = np.linspace(-20, 20, 200_001)
    expected = np.abs(norm.pdf(t) - norm.pdf(t, mean, spread)).sum() * (t[1] - t[0]) / 2
    value = settings.shift_tv(mean) if spread == 1 else settings.scale_tv(spread)
    # The error of the trapezoidal rule at the crossings is of the order of the squared step.
    assert value == pytest.approx(expected, abs=1e-7)


def test_distance_of_correlated_normals() -> None:
    """The total variation distance of correlated normals agrees with a simulation.

    It is P(A) - Q(A), where A is the region in which the density of P is larger than that of Q.
    """
    rho, rng = 0.8, np.random.default_rng(0)
    x, z = rng.normal(size=(2, 400_000))
    y = rho * x + np.sqrt(1 - rho**2) * z

    def larger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        log_ratio = (a**2 + b**2 - (a**2 - 2 * rho * a * b + b**2) / (1 - rho**2)) / 2
        return log_ratio - np.log(1 - rho**2) / 2 > 0

    estimate = larger(x, y).mean() - larger(x, z).mean()
    # Four standard errors of the difference of two means.
    assert settings.correlation_tv(rho) == pytest.approx(estimate, abs=4 * np.sqrt(0.5 / 400_000))


def test_changed_rows_do_not_occur_unchanged() -> None:
    for name, setting in SETTINGS.items():
        if "% " not in name or "both" in name:
            continue
        x, y = setting.draw(np.random.default_rng(1), 2000)
        column = next(iter(setting.margins))
        repeated = y[column].duplicated(keep=False) | (y[column] > 20)
        changed = np.mean(repeated | y[column].isna() | (y[column] == np.round(y[column])))
        # Four standard errors of a share of at most one half.
        assert changed == pytest.approx(setting.tv, abs=4 * np.sqrt(0.25 / 2000)), name
        assert not x[column].isin(y[column][repeated]).any()


def test_there_are_enough_settings() -> None:
    assert len(SETTINGS) >= 60
    assert {setting.n for setting in SETTINGS.values()} >= {50, 10_000}


def test_summary_counts_bounds_above_the_true_value() -> None:
    name = next(name for name, setting in SETTINGS.items() if setting.tv == 0.2)
    found = [{"changed_share": 0.1, "excess": None}, {"changed_share": 0.3, "excess": 0.1}]
    text = study.summary([{"setting": name, "chunk": 0, "bounds": found}])
    assert f"| {name} | 2 | 0.200 | 0.200 | 50.0 | 50.0 |" in text
    assert f"* largest rates, above the true value, rows changed: 50.0% ({name})" in text


def test_table_shows_both_versions() -> None:
    lines = [{"row": "shift 1", "n": 200, "number": k, "bound": 0.2 + k / 10} for k in range(2)]
    former = [{**line, "bound": 0.1} for line in lines]
    assert "| shift 1 | 0.38 | 0.250, 0.200 to 0.300 (0.100) |" in study.table_summary(
        lines, former
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, each in SETTINGS.items() if each.n <= 200])
def test_the_bound_covers(name: str) -> None:
    found = study.bounds(name, range(100), n_permutations=99)
    above = sum(entry["changed_share"] > SETTINGS[name].tv + 1e-9 for entry in found)
    # A binomial with 100 trials and probability 0.05 is above 14 once in ten thousand.
    assert above <= 14
