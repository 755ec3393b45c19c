"""A pytest plugin for the two kinds of run: the one that records, and the one that tests a mutant.

`MUTATION_RECORD` names a file that gets one JSON line for each test: its id, the seconds it took
and whether it passed. `MUTATION_TESTS` names a file with ids of tests, one a line: these are run,
in this order, and no others.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

seconds: dict[str, float] = defaultdict(float)
passed: dict[str, bool] = defaultdict(lambda: True)


def pytest_runtest_logreport(report) -> None:
    """Add up setup, call and teardown; the last of the three writes the line."""
    if "MUTATION_RECORD" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
        return
    seconds[report.nodeid] += report.duration
    passed[report.nodeid] &= report.passed
    if report.when == "teardown":
        line = [report.nodeid, seconds[report.nodeid], passed[report.nodeid]]
        with open(os.environ["MUTATION_RECORD"], "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def pytest_collection_modifyitems(config, items) -> None:
    """Only the tests asked for, in the order asked for."""
    if "MUTATION_TESTS" not in os.environ:
        return
    wanted = Path(os.environ["MUTATION_TESTS"]).read_text(encoding="utf-8").split("\n")
    place = {test: at for at, test in enumerate(wanted)}
    kept = [item for item in items if item.nodeid in place]
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in place])
    items[:] = sorted(kept, key=lambda item: place[item.nodeid])
