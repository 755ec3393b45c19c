"""Verdicts on fixed streams equal recorded ones; with RECORD=1 they are recorded again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded.results import assert_recorded

from isodepth import Monitor

pd = pytest.importorskip("pandas")

SETTINGS: dict[str, dict[str, Any]] = {
    "rows": {},
    "tolerance": {"tolerance": 0.1, "patience": 2},
    "groups": {"arl": 30.0, "patience": 2, "groups": np.arange(1200) % 2},
    "blocks": {"blocks": np.arange(1200) // 60},
    "blocks-arl": {"blocks": np.arange(1200) // 60, "arl": 5.0},
}


def table(n: int, rng: np.random.Generator) -> Any:
    """Return n rows of dependent numbers, counts, missing values and categories."""
    a, kind = rng.normal(size=n), rng.choice(["u", "v", "w", "x"], n, p=[0.5, 0.3, 0.18, 0.02])
    b = a + 0.7 * rng.normal(size=n) + 0.6 * (kind == "v") - 0.2
    frame = pd.DataFrame(
        {"a": a, "b": b, "c": rng.binomial(4, 0.5, n), "d": rng.gamma(2.0, size=n)}
    )
    frame.loc[rng.random(n) < 0.1, "d"] = np.nan
    return frame.assign(kind=kind, flag=rng.random(n) < 0.3)


CHANGES: list[Any] = [
    lambda f: f.assign(a=f["a"] + 1.0),
    lambda f: f.assign(b=2.0 * f["b"], c=f["c"] + 8),
    lambda f: f.assign(d=np.nan),
    lambda f: f.assign(d=2.0 + f["d"].mask(f["a"] > 0), kind=["new"] * 9 + ["y"] * (len(f) - 9)),
    lambda f: f.assign(a=np.where(f["kind"] == "u", abs(f["a"]), f["a"])),
    lambda f: f.assign(b=-f["b"]),
    lambda f: f.assign(c=np.where(f["c"] > 2, f["c"] + 6, f["c"]), flag=True),
    lambda f: f.assign(a=f["a"] * (1.0 + (abs(f["a"]) > 0.8))),
    lambda f: f,
]


@pytest.mark.parametrize("name", SETTINGS)
def test_verdicts_are_the_recorded_ones(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(80)
    options = {"nan_policy": "keep", "random_state": 4, "kinds": {"kind": "category"}}
    monitor = Monitor(table(1200, rng), **options, **SETTINGS[name])
    groups = [0, 1] if "groups" in SETTINGS[name] else [None]
    for number, change in enumerate([*CHANGES, *CHANGES[:0:-1]]):
        batch = change(table(60 + number % 3, rng))
        monitor.check(batch, group=groups[number % len(groups)])
        if number == 8:
            monitor.reset()
            monitor.save(tmp_path / "m.npz")
            monitor = Monitor.load(tmp_path / "m.npz")
    found = {str(verdict.batch_number): verdict.to_dict() for verdict in monitor.verdicts}
    for label, group in monitor._state.groups.items():
        farthest = float(group.functions.thresholds.value[-1])
        found[f"group {label}"] = [*group.reference.ones.tolist(), farthest]
    assert_recorded(found, Path(__file__).with_name(f"recorded-{name}.json"))
