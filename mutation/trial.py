"""Runs tests against a mutant, in a process of its own.

The processes are forked from one that has imported what the tests need, apart from the library:
importing takes longer than most mutants live.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import runpy
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from mutation.selection import RecordedTest, batches
from mutation.sites import Mutant

#: Seconds of tests, as recorded, in the first run of a mutant and in all: a survivor would else
#: take all tests of a line that everything executes.
FIRST, LIMIT = 3.0, 60.0

#: A mutant that takes this much longer than its tests took when they were recorded loops for ever.
PATIENCE, START = 2.0, 45.0

#: An exit status that pytest does not use.
NOT_THE_MUTANT = 70

STARTER = multiprocessing.get_context("forkserver")
STARTER.set_forkserver_preload(
    ["numpy", "scipy.special", "scipy.stats", "sklearn.covariance", "numba", "hypothesis", "pytest"]
)


def environment_of(root: Path) -> dict[str, str]:
    """Variables under which the copied tree is what is imported, here and in what tests start."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MUTATION_")}
    folders = [root / "mutation" / "site", root / "src", root / "tests", root]
    return kept | {
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ISODEPTH_REQUIRE_EXTRAS": "1",
    }


def run_tests(root: Path, names: list[str], seconds: float, extra: dict) -> tuple[str, str]:
    """`passed`, `failed` or `timeout`, and the failing test with its error."""
    with tempfile.TemporaryDirectory() as folder:
        chosen, output = Path(folder, "tests.txt"), Path(folder, "output.txt")
        chosen.write_text("\n".join(names), encoding="utf-8")
        files = list(dict.fromkeys(name.split("::")[0] for name in names))
        variables = environment_of(root) | extra | {"MUTATION_TESTS": str(chosen)}
        process = STARTER.Process(target=run_pytest, args=(root, files, variables, output))
        process.start()
        try:
            process.join(START + PATIENCE * seconds)
            if process.is_alive():
                return "timeout", ""
        finally:
            if process.is_alive():
                end_session(process.pid)
                process.join()
        told = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
    if process.exitcode == NOT_THE_MUTANT:
        raise RuntimeError(f"the tests met {extra['MUTATION_MODULE']} as it is in its file")
    # 5 is that none of the tests was found, which says nothing about the mutant.
    if process.exitcode in (0, 5):
        return "passed", ""
    failing = re.search(r"^(?:FAILED|ERROR) (.*)", told, re.MULTILINE)
    return "failed", failing.group(1) if failing else told[-300:]


def run_pytest(root: Path, files: list[str], variables: dict[str, str], output: Path) -> NoReturn:
    """In a process of its own: become what `python -m pytest` would be in the copied tree."""
    # A session of its own, so that whatever the tests start can be ended with them.
    os.setsid()
    os.chdir(root)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[:0] = variables["PYTHONPATH"].split(os.pathsep)
    written = os.open(output, os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(written, stream)
    runpy.run_path(str(root / "mutation" / "site" / "sitecustomize.py"))
    import pytest

    # Rewriting assertions would read a module whose examples are run from its file, not the mutant.
    code = pytest.main(
        ["-x", "-q", "--tb=line", "--assert=plain", "-p", "mutation.plugin"]
        + ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", *files]
    )
    sys.stdout.flush()
    module = sys.modules.get(variables.get("MUTATION_MODULE", ""))
    if module is not None and type(module.__loader__).__name__ != "MutantLoader":
        code = NOT_THE_MUTANT
    # Without waiting for threads that a mutant may have left behind.
    os._exit(int(code))


def end_session(pid: int | None) -> None:
    """End a process with all that it started."""
    assert pid is not None
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        # It has not come as far as having a session.
        os.kill(pid, signal.SIGKILL)


def try_mutant(
    root: Path, mutant: Mutant, names: list[str], tests: Mapping[str, RecordedTest]
) -> dict:
    """Meet the tests until one fails; the verdict as a line of the results."""
    verdict = {"status": "survived", "ran": 0, "of": len(names), "by": ""}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "mutant.py")
        source.write_text(mutant.source(root)[1], encoding="utf-8")
        extra = {
            "MUTATION_MODULE": mutant.module,
            "MUTATION_FILE": str(root / mutant.file),
            "MUTATION_SOURCE": str(source),
        }
        for part in batches(names, tests, FIRST, LIMIT):
            seconds = sum(tests[name].seconds for name in part)
            outcome, by = run_tests(root, part, seconds, extra)
            verdict["ran"] += len(part)
            if outcome != "passed":
                status = "killed" if outcome == "failed" else "timeout"
                return verdict | {"status": status, "by": by}
    return verdict
