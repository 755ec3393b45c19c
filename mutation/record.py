"""One run of the tests under coverage: the lines that each test executes, and its seconds."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from mutation.selection import RecordedTest

#: The tests of the rooms, what must hold everywhere, the recorded numbers, and the examples in the
#: docstrings. What drives the rooms from afar (text, command line, experiments) takes too long.
ROOMS = ("core", "data", "depth", "gap", "many", "metric", "theory")
TESTS = (
    *(f"tests/{room}" for room in (*ROOMS, "hull", "properties", "recorded")),
    *(f"src/isodepth/{room}" for room in ROOMS),
)


def digest(root: Path, files: Iterable[str]) -> str:
    """One number for the contents of files."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(file.encode() + b"\0" + (root / file).read_bytes() + b"\0")
    return total.hexdigest()


def files_under(root: Path, folder: str) -> list[str]:
    """Python and data files of a folder, or a file, relative to the root."""
    place = root / folder
    found = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return [
        path.relative_to(root).as_posix()
        for path in found
        if "__pycache__" not in path.parts and path.suffix not in {".pyc", ".nbi", ".nbc"}
    ]


class Record:
    """What is known of every test, kept in one JSON file between runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = ""
        self.stamps: dict[str, str] = {}
        self.tests: dict[str, RecordedTest] = {}
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.source, self.stamps = kept["source"], kept["stamps"]
            for name, (seconds, passed, lines) in kept["tests"].items():
                sets = {file: frozenset(numbers) for file, numbers in lines.items()}
                self.tests[name] = RecordedTest(seconds, passed, sets)

    def save(self) -> None:
        """Write everything at once, so that an interrupted run leaves the last whole record."""
        tests = {
            name: [test.seconds, test.passed, {f: sorted(ns) for f, ns in test.lines.items()}]
            for name, test in self.tests.items()
        }
        text = json.dumps({"source": self.source, "stamps": self.stamps, "tests": tests})
        partial = self.path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(self.path)

    def update(
        self,
        root: Path,
        paths: Iterable[str],
        files: Iterable[str],
        environment: dict,
        jobs: int,
    ) -> None:
        """Run what changed of the tests in `paths`: all when the library did, else those files.

        What several test files share (twins, strategies) counts as the library. Kept are the lines
        of `files`.
        """
        shared = [file for file in files_under(root, "tests") if "/test_" not in file]
        source = digest(root, [*files_under(root, "src"), *shared])
        stamps = {
            file: digest(root, [file])
            for path in paths
            for file in files_under(root, path)
            if file.endswith(".py") and file not in shared
        }
        if source != self.source:
            self.stamps, self.tests = {}, {}
        asked = [file for file, stamp in stamps.items() if self.stamps.get(file) != stamp]
        gone = {*asked, *(self.stamps.keys() - stamps.keys())}
        self.tests = {n: t for n, t in self.tests.items() if n.split("::")[0] not in gone}
        if asked:
            self.tests |= run_under_coverage(root, asked, set(files), environment, jobs)
        self.source, self.stamps = source, stamps
        self.save()


def run_under_coverage(
    root: Path, asked: list[str], files: set[str], environment: dict, jobs: int
) -> dict[str, RecordedTest]:
    """Run tests once, and read what coverage.py and the plugin wrote down."""
    from coverage import CoverageData

    folder = root.parent
    for old in folder.glob("coverage*"):
        old.unlink()
    config, data, seconds = (folder / f"coverage.{end}" for end in ("ini", "data", "seconds"))
    config.write_text(f"[run]\nsource_pkgs = isodepth\ndata_file = {data}\n", encoding="utf-8")
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "mutation.plugin", "-p", "no:cacheprovider"),
        *("-n", str(jobs), "--cov", f"--cov-config={config}", "--cov-context=test"),
        *("--cov-report=", *asked),
    ]
    print(f"recording which test executes which line, {len(asked)} files", flush=True)
    subprocess.run(command, cwd=root, env=environment | {"MUTATION_RECORD": str(seconds)})
    if not seconds.exists():
        raise SystemExit("no test ran: see the output above")

    lines: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    measured = CoverageData(str(data))
    measured.read()
    for path in measured.measured_files():
        file = Path(path).relative_to(root).as_posix() if Path(path).is_relative_to(root) else path
        if file in files:
            for line, contexts in measured.contexts_by_lineno(path).items():
                for context in contexts:
                    lines[context.rpartition("|")[0]][file].add(line)
    tests = {}
    for entry in seconds.read_text(encoding="utf-8").splitlines():
        name, time, passed = json.loads(entry)
        sets = {file: frozenset(numbers) for file, numbers in lines[name].items()}
        tests[name] = RecordedTest(time, passed, sets)
    return tests
