"""What all baselines share: input, weights, symmetry, and how they are imported."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest

from isodepth import baselines
from isodepth.errors import InvalidInputError, InvalidOptionError

#: One call of each, with the settings it needs.
OPTIONS: dict[str, dict[str, object]] = {
    "energy": {},
    "max_sliced_wasserstein": {"random_state": 0, "n_directions": 50, "refine": 5},
    "mmd": {},
    "robot": {"lam": 1.0},
    "ruot": {"rho": 0.05},
    "sinkhorn": {"reg": 0.5, "debiased": True},
    "sliced_wasserstein": {"random_state": 0, "n_directions": 50},
    "subspace_robust_wasserstein": {"k": 1},
    "wasserstein": {},
}
NAMES = sorted(OPTIONS)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(14, 3))
Y = RNG.normal(size=(10, 3)) * [1, 2, 0.5] + 1


def measure(name: str, x=X, y=Y, **options) -> float:
    return getattr(baselines, name)(x, y, **{**OPTIONS[name], **options})


# Values agree to rounding, or to the gap at which an iteration stops (1e-5 on the square for one).
def close(value: float):
    return pytest.approx(value, rel=2e-5, abs=2e-6)


def test_these_are_all() -> None:
    assert sorted(baselines.__all__) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_one_signature(name: str) -> None:
    function = getattr(baselines, name)
    parameters = inspect.signature(function).parameters
    assert list(parameters)[:2] == ["X", "Y"]
    assert all(p.kind is p.KEYWORD_ONLY for p in list(parameters.values())[2:])
    assert parameters["weights"].default is None
    assert parameters["random_state"].default is None
    assert ">>>" in function.__doc__
    assert type(measure(name)) is float


@pytest.mark.parametrize("name", NAMES)
def test_zero_to_itself_positive_to_others_and_symmetric(name: str) -> None:
    assert measure(name, X, X) == pytest.approx(0, abs=2e-6)
    value = measure(name)
    assert value > 0.01
    assert measure(name, Y, X) == close(value)


@pytest.mark.parametrize("name", NAMES)
def test_moving_both_samples_changes_nothing(name: str) -> None:
    value = measure(name)
    assert measure(name, X + [5, -3, 2], Y + [5, -3, 2]) == close(value)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_rows_does_not_matter(name: str) -> None:
    assert measure(name, X[::-1], np.roll(Y, 3, axis=0)) == close(measure(name))


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_repeated_rows(name: str) -> None:
    counts = np.arange(len(X)) % 3 + 1, np.arange(len(Y)) % 4 + 1
    repeated = np.repeat(X, counts[0], axis=0), np.repeat(Y, counts[1], axis=0)
    expected = measure(name, *repeated)
    assert measure(name, weights=counts) == close(expected)
    assert measure(name, weights=(7.5 * counts[0], 1e-3 * counts[1])) == close(expected)


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_weight_zero_do_not_belong(name: str) -> None:
    longer = np.vstack([X, [[1e3, 0, 0]]])
    weights = (np.append(np.ones(len(X)), 0), None)
    assert measure(name, longer, Y, weights=weights) == close(measure(name))


@pytest.mark.parametrize("name", NAMES)
def test_lists_frames_and_float32_are_welcome(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    x, y = X.astype(np.float32), Y.astype(np.float32)
    expected = measure(name, x.astype(float), y.astype(float))
    assert measure(name, x, y) == expected
    assert measure(name, x.tolist(), pandas.DataFrame(y)) == expected


@pytest.mark.parametrize("name", NAMES)
def test_the_global_random_state_is_left_alone(name: str) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    measure(name)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": X[:, :2]}, "same number of columns"),
        ({"x": np.full((3, 3), np.nan)}, "NaN"),
        ({"y": np.ones(4)}, "reshape"),
        ({"y": np.empty((0, 3))}, "empty"),
        ({"weights": np.ones(14)}, "pair"),
        ({"weights": (np.ones(3), None)}, "one number for each"),
        ({"weights": (None, -np.ones(10))}, "negative"),
        ({"weights": (None, np.zeros(10))}, "all zero"),
    ],
)
def test_bad_data_is_refused(name: str, change: dict, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        measure(name, **change)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [-1, 0.5, "seed"])
def test_a_bad_seed_is_refused(name: str, seed: object) -> None:
    with pytest.raises(InvalidOptionError, match="random_state"):
        measure(name, random_state=seed)


@pytest.mark.parametrize(
    ("name", "option", "values"),
    [
        ("wasserstein", "p", [0.5, np.inf, "2", None, np.nan]),
        ("sinkhorn", "reg", [0, -1, np.inf, "small"]),
        ("sinkhorn", "p", [0.5]),
        ("sliced_wasserstein", "p", [0]),
        ("sliced_wasserstein", "n_directions", [0, 1.5]),
        ("sliced_wasserstein", "directions", ["spiral"]),
        ("sliced_wasserstein", "n_jobs", [0]),
        ("max_sliced_wasserstein", "refine", [-1, 0.5]),
        ("mmd", "kernel", ["gauss", None]),
        ("mmd", "bandwidth", ["mean", 0, -1.0, np.nan]),
        ("robot", "lam", [0, -1, np.nan]),
        ("ruot", "rho", [-0.1, np.inf, np.nan]),
        ("subspace_robust_wasserstein", "k", [0, 4, 1.5]),
    ],
)
def test_bad_options_are_refused(name: str, option: str, values: list) -> None:
    for value in values:
        with pytest.raises(InvalidOptionError, match=option):
            measure(name, **{option: value})


def test_they_are_not_loaded_with_the_package() -> None:
    code = (
        "import sys, isodepth; assert 'isodepth.baselines' not in sys.modules;"
        "import isodepth.baselines;"
        "print([m for m in ('ot', 'numba', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[]", done.stderr
