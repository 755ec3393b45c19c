"""Forks while other threads are at work: every child computes the same bits, and none hangs.

Each program is a process of its own. Its children end themselves after a minute, which counts as a
failure: nothing here is a matter of timing.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

START = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons advise against all of this

def in_child(check):
    "Fork; whether the check passes in the child."
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        passed = False
        try:
            passed = check()
        except BaseException as error:
            print(repr(error), flush=True)
        finally:
            os._exit(0 if passed else 1)
    return os.waitpid(pid, 0)[1] == 0

def start(target):
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", START + program], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


COMPUTING = """
import numpy as np
import isodepth

X, Y = np.random.default_rng(0).standard_normal((2, 200, 3))

def results():
    return [
        isodepth.distance(X, Y + 1, depth=depth, n_directions=100, random_state=0).hex()
        for depth in ("projection", "irw")
    ]

stop = threading.Event()

def work():
    while not stop.is_set():
        results()

if WARM:
    results()
workers = [start(work) for _ in range(3)]
found = []
children = []
for _ in range(CHILDREN):
    reader, writer = os.pipe()
    if os.fork() == 0:
        signal.alarm(60)
        try:
            os.write(writer, " ".join(results()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    children.append(reader)
    # Some children at once, never all.
    if len(children) > 3:
        found.append(os.read(children.pop(0), 1000))
    time.sleep(0.005)
found += [os.read(reader, 1000) for reader in children]
stop.set()
for worker in workers:
    worker.join()
print(found.count(" ".join(results()).encode()))
"""


@pytest.mark.parametrize(("warm", "children"), [(False, 20), (True, 60)])
def test_children_of_a_busy_process_compute_the_same_bits(warm: bool, children: int) -> None:
    """The first calls of the threads import and compile, later ones do not."""
    program = COMPUTING.replace("WARM", str(warm)).replace("CHILDREN", str(children))
    assert run(program) == f"{children}\n"


def test_a_fork_waits_for_imports_on_our_behalf() -> None:
    program = """
import tempfile
import isodepth

folder = tempfile.TemporaryDirectory()
with open(folder.name + "/slow_to_load.py", "w") as file:
    file.write("import time; time.sleep(1); done = True")
sys.path.insert(0, folder.name)

thread = start(lambda: exec("import slow_to_load", {"__name__": "isodepth.some.room"}))
while "slow_to_load" not in sys.modules:
    time.sleep(0.01)

def check():
    import slow_to_load
    return slow_to_load.done

print(in_child(check))
thread.join()
"""
    assert run(program) == "True\n"


def test_a_fork_waits_for_compilation() -> None:
    program = """
import isodepth
from numba.core.compiler_lock import global_compiler_lock

held = threading.Event()

def compile():
    with global_compiler_lock:
        held.set()
        time.sleep(1)

thread = start(compile)
held.wait()
print(in_child(lambda: global_compiler_lock._lock.acquire(timeout=5)))
thread.join()
# The parent has given it back, too.
print(global_compiler_lock._lock.acquire(timeout=5))
"""
    assert run(program) == "True\nTrue\n"


def test_a_child_that_would_hang_says_so() -> None:
    program = """
import isodepth
from isodepth.engine import forking
from numba.core.compiler_lock import global_compiler_lock

forking.PATIENCE_SECONDS = 0.2
held, release = threading.Event(), threading.Event()

def compile():
    with global_compiler_lock:
        held.set()
        release.wait()

thread = start(compile)
held.wait()

def check():
    try:
        isodepth.distance([[0.0]], [[1.0]])
    except isodepth.ForkError as error:
        return "spawn" in str(error)

print(in_child(check))
release.set()
thread.join()
print(isodepth.distance([[0.0]], [[1.0]]))
"""
    assert run(program) == "True\n1.0\n"


BLAS = """
import numpy as np, scipy.linalg
from threadpoolctl import ThreadpoolController, threadpool_limits
from isodepth.engine.threads import single_threaded_blas

def threads():
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    assert found
    return {library.num_threads for library in found}

threadpool_limits(3, user_api="blas")
inside, leave = threading.Event(), threading.Event()

def compute():
    with single_threaded_blas():
        inside.set()
        leave.wait()

thread = start(compute)
inside.wait()
assert threads() == {1}
"""


def test_blas_is_free_again_in_a_child() -> None:
    program = """
def check():
    free = threads() == {3}
    with single_threaded_blas():
        limited = threads() == {1}
    return free and limited and threads() == {3}

print(in_child(check), threads() == {1})
leave.set()
thread.join()
print(threads())
"""
    assert run(BLAS + program) == "True True\n{3}\n"


def test_a_child_of_a_thread_inside_stays_inside() -> None:
    program = """
def check():
    limited = threads() == {1}
    single_threaded_blas().__exit__()
    return limited and threads() == {3}

with single_threaded_blas():
    print(in_child(check))
leave.set()
thread.join()
print(threads())
"""
    assert run(BLAS + program) == "True\n{3}\n"


def test_children_find_the_lock_of_blas_free() -> None:
    program = """
from isodepth.engine.threads import single_threaded_blas
stop = threading.Event()

def hurry():
    while not stop.is_set():
        with single_threaded_blas():
            pass

def check():
    with single_threaded_blas():
        return True

with single_threaded_blas():
    pass
workers = [start(hurry) for _ in range(2)]
print(sum(in_child(check) for _ in range(100)))
stop.set()
"""
    assert run(program) == "100\n"
