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


FROM_THREADS = """
import threading

import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_limits

from isodepth.engine.threads import single_threaded_blas

def threads():
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return {library.num_threads for library in found}

threadpool_limits(3, user_api="blas")
with single_threaded_blas():
    pass

# The first one in and the last one out are different threads, neither of them the main one.
entered, leave_first, left, leave_last = (threading.Event() for _ in range(4))

def first():
    with single_threaded_blas():
        entered.set()
        leave_first.wait()
    left.set()

def last():
    entered.wait()
    with single_threaded_blas():
        assert threads() == {1}, threads()
        leave_first.set()
        left.wait()
        assert threads() == {1}, threads()

pair = [threading.Thread(target=work) for work in (first, last)]
for thread in pair:
    thread.start()
for thread in pair:
    thread.join()
assert threads() == {3}, threads()
print("done")
"""


def test_blas_is_limited_and_restored_by_any_thread() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FROM_THREADS], capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
