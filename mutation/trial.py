"""Runs tests against a mutant, in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mutation.selection import RecordedTest, batches
from mutation.sites import Mutant

#: Seconds of tests in the first run of a mutant, and in all: survivors would else take the suite.
FIRST, LIMIT = 3.0, 120.0

#: A mutant that takes this much longer than its tests took when they were recorded loops for ever.
PATIENCE, START = 4.0, 60.0


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
        chosen = Path(folder, "tests.txt")
        chosen.write_text("\n".join(names), encoding="utf-8")
        files = list(dict.fromkeys(name.split("::")[0] for name in names))
        command = [
            *(sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "mutation.plugin"),
            *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", *files),
        ]
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environment_of(root) | extra | {"MUTATION_TESTS": str(chosen)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=START + PATIENCE * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "timeout", ""
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode == 0:
        return "passed", ""
    failing = re.search(r"^(?:FAILED|ERROR) (.*)", output, re.MULTILINE)
    return "failed", failing.group(1) if failing else output[-300:]


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
