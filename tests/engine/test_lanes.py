"""Vector instructions: tried out, refused where they do not fit, and replaced where they fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from isodepth.engine.compiled import vector_lanes
from isodepth.engine.compiled.lanes_trial import works
from isodepth.engine.compiled.lite.entries import call_translated
from isodepth.engine.compiled.lite.function import Source
from isodepth.engine.compiled.lite.kinds import LiteError

ROOT = Path(__file__).resolve().parents[2]

#: Prints the bits of distances that need every operation. `make test-plain` runs all depths and
#: gaps with plain loops; here compiling by numba has to be short.
DISTANCES = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import isodepth
    for seed in range(3):
        x, y = np.random.default_rng(seed).standard_normal((2, 150, 5))
        print(isodepth.distance(x, 1.2 * y, n_directions=50, random_state=1, refine=0).hex())
from isodepth.engine.compiled import lanes
print([w.category.__name__ for w in caught], "translated" if lanes.translated() else "by numba")
"""
#: What a later version might do: the interface changed, or the instructions mean something else.
BREAK = {
    "cannot be compiled": """
from isodepth.engine.compiled.lite import machine
def machine_code(text):
    raise RuntimeError("LLVM IR parsing error: expected type")
machine.machine_code = machine_code
""",
    "compute wrong numbers": """
from isodepth.engine.compiled import vector_lanes
vector_lanes._Lanes.larger, vector_lanes._Lanes.smaller = (
    vector_lanes._Lanes.smaller, vector_lanes._Lanes.larger)
""",
}


def run(code: str, cache: Path, **environment: str) -> list[str]:
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    lines = run(DISTANCES, tmp_path_factory.mktemp("usual"))
    assert lines[-1] == "[] translated"
    return lines


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_instructions_work_here(dtype: str) -> None:
    assert works(dtype)


def test_plain_loops_on_request_give_the_same_bits(usual: list[str], tmp_path: Path) -> None:
    lines = run(DISTANCES, tmp_path, ISODEPTH_PLAIN_LOOPS="1")
    assert lines == [*usual[:-1], "[] by numba"]


@pytest.mark.parametrize("fault", BREAK)
def test_plain_loops_take_over(usual: list[str], tmp_path: Path, fault: str) -> None:
    lines = run(BREAK[fault] + DISTANCES, tmp_path)
    assert lines == [*usual[:-1], "['PlainLoopsWarning'] by numba"]
    # Nothing that was translated with such a fault is left for others.
    assert not [path for path in tmp_path.rglob("*.code") if "lanes_trial" not in path.name]


C, F = np.zeros((4, 16), np.float32), np.zeros((16, 4), np.float32).T
WIDE = np.zeros((4, 16))
MOVES = np.zeros(4, np.int64)
TILES = np.zeros((1, 2, 16), np.float32)


def _multiply(tiles, rows, out):
    vector_lanes.multiply_four(tiles, 0, rows, 0, out, 0, 16)


def _follow(tiles, rows, range_, tops, lows, moves):
    return vector_lanes.follow_one(tiles, 0, rows, 0, range_, tops, lows, moves, 0)


def _widest(tops, lows, gaps):
    return vector_lanes.widest_gap(tops, lows, 0, 1, gaps)


def _nearest(values):
    return vector_lanes.nearest(values, 0, values[0], values[0])


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (_multiply, (TILES, F[:, :2], C)),
        (_multiply, (TILES, C[:, :2].copy(), WIDE)),
        (_multiply, (TILES, C[:, ::2], C)),
        (_multiply, (TILES.astype(np.int64), MOVES[:, None], MOVES[:, None])),
        (_follow, (TILES, C[:, :2].copy(), C, C, F, MOVES)),
        (_follow, (TILES, C[:, :2].copy(), C, C, C, MOVES.astype(np.int32))),
        (_follow, (TILES, C[:, :2].copy(), C, C, C, MOVES[::2])),
        (_widest, (C, WIDE, C[0])),
        (_widest, (C, C, C[:, 0])),
        (_nearest, (C[:, 0],)),
        (_nearest, (MOVES,)),
    ],
)
def test_arrays_that_do_not_fit_are_refused_when_compiling(function, arguments) -> None:
    with pytest.raises(LiteError, match="takes"):
        call_translated(Source(function, ""), *arguments)
