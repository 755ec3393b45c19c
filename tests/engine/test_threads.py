"""BLAS is kept to one thread while ours run, whichever libraries are there, and set free again."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
from threadpoolctl import ThreadpoolController, threadpool_limits

import numpy as np
from isodepth.engine.threads import single_threaded_blas

def threads():
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    assert found, "no BLAS that can be told"
    return [library.num_threads for library in found]

with single_threaded_blas():
    pass
# SciPy has a BLAS of its own, which comes after the first look.
import scipy.linalg
threadpool_limits(3, user_api="blas")
before = threads()
assert set(before) == {3}, before
with single_threaded_blas():
    with single_threaded_blas():
        assert set(threads()) == {1}, threads()
    assert set(threads()) == {1}, threads()
assert threads() == before, threads()
"""


def test_blas_loaded_later_is_limited_and_restored() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)
