"""Compiled code of the whole package: never stale, and no place to write to is needed."""

from __future__ import annotations

import ast
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import isodepth
from isodepth.engine.compiled import jit

PACKAGE = Path(isodepth.__file__).parent

#: The distance of a point to a hull: `nearest_loops` calls `move_to` of another file.
TRANSLATED = """
from isodepth.hull import project_to_hull
print(float(project_to_hull([[0.0, 0.0], [2.0, 0.0]], [1.0, 1.0]).distance))
"""
#: Borders of halfplanes: `planar_loops` calls `orientation` of another file, by numba. It gives 1.
PROGRAM = """
import numpy as np
from isodepth.depth.exact.planar_loops import turn_line
from isodepth.depth.exact.predicates import minor_workspace
points = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
_, failed = turn_line(points, np.ones(3, dtype=np.int64), 1, *minor_workspace(2))
print(7.0 if failed else 1.0, turn_line.stats.cache_path)
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package without anything compiled."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(PACKAGE, tmp_path / "site" / "isodepth", ignore=ignored))


def run(
    package: Path, *options: str, program: str = PROGRAM, **environment: str
) -> subprocess.CompletedProcess:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_"))}
    done = subprocess.run(
        [sys.executable, *options, "-c", program],
        env=kept | {"PYTHONPATH": str(package.parent)} | environment,
        cwd=package.parent,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done


def result_of(done: subprocess.CompletedProcess) -> float:
    return float(done.stdout.split()[0])


def test_changed_callee_in_another_file_is_seen(copy: Path) -> None:
    assert result_of(run(copy, "-W", "error")) == 1.0
    callee = copy / "depth" / "exact" / "predicates.py"
    text = callee.read_text()
    start = "def orientation(points, a, b, c, rows, terms, lengths):\n"
    assert start in text
    # Where this is set, a sign could not be told.
    callee.write_text(text.replace(start, start + "    lengths[-1] = 1\n"))
    assert result_of(run(copy, "-W", "error")) == 7.0


def test_changed_callee_of_what_is_translated_is_seen(copy: Path) -> None:
    assert result_of(run(copy, "-W", "error", program=TRANSLATED)) == 1.0
    callee = copy / "hull" / "factor_loops.py"
    text = callee.read_text()
    end = "    return math.sqrt(dot(offset, offset)), math.sqrt(reach)\n"
    assert end in text
    callee.write_text(text.replace(end, end.replace("math.sqrt(dot(offset, offset))", "7.0")))
    # In units of the frame in which hulls are, a power of two.
    assert math.frexp(result_of(run(copy, "-W", "error", program=TRANSLATED)))[0] == 7 / 8


@pytest.mark.parametrize("program", [PROGRAM, TRANSLATED])
def test_read_only_installation_without_home_runs_with_one_warning(
    copy: Path, program: str
) -> None:
    """Files in the place of folders stop root as well as anyone."""
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("no folder")
    done = run(copy, "-W", "always", program=program, HOME=os.devnull)
    assert result_of(done) == 1.0
    assert program is TRANSLATED or done.stdout.split()[1] == "None"
    assert done.stderr.count("CacheWarning") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


@pytest.mark.parametrize(("program", "kind"), [(PROGRAM, "*.nbc"), (TRANSLATED, "*.code")])
def test_cache_folder_of_the_user_is_taken(
    copy: Path, tmp_path: Path, program: str, kind: str
) -> None:
    folder = tmp_path / "mine"
    chosen = {"HOME": os.devnull, "NUMBA_CACHE_DIR": str(folder)}
    assert result_of(run(copy, "-W", "error", program=program, **chosen)) == 1.0
    assert list(folder.rglob(kind))
    assert not list(copy.rglob(kind))


def test_numba_is_not_needed_for_a_distance(copy: Path, tmp_path: Path) -> None:
    program = """
import sys
import isodepth
for depth in ("projection", "halfspace", "irw"):
    value = isodepth.distance([[0.0, 1.0], [1.0, 0.0]], [[1.0, 2.0], [2.0, 1.0]], depth=depth)
print(value, "numba" in sys.modules)
"""
    done = run(copy, program=program, NUMBA_CACHE_DIR=str(tmp_path / "mine"))
    assert done.stdout.split()[1] == "False"


def test_works_without_compilation(copy: Path) -> None:
    program = PROGRAM.replace("turn_line.stats.cache_path", "type(turn_line).__name__")
    environment = os.environ | {"PYTHONPATH": str(copy.parent), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1.0", "function"]


# What the stamp covers.


@pytest.mark.parametrize(
    "name", ["engine/compiled/walk.py", "hull/factor_loops.py", "depth/exact/predicates.py"]
)
def test_stamp_sees_files_with_compiled_code(copy: Path, name: str) -> None:
    before = jit.code_stamp(str(copy))
    assert before == jit.code_stamp()
    path = copy / name
    path.write_bytes(path.read_bytes() + b"\n")
    assert jit.code_stamp(str(copy)) != before


def test_stamp_sees_files_that_are_renamed(copy: Path) -> None:
    before = jit.code_stamp(str(copy))
    (copy / "hull" / "factor_loops.py").rename(copy / "hull" / "factors.py")
    assert jit.code_stamp(str(copy)) != before


def test_stamp_sees_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = jit.code_stamp()
    monkeypatch.setattr(jit, "__version__", "0.0.0")
    assert jit.code_stamp() != before


def test_stamp_ignores_what_is_never_compiled(copy: Path) -> None:
    before = jit.code_stamp(str(copy))
    path = copy / "text" / "score.py"
    path.write_bytes(path.read_bytes() + b"\n")
    assert jit.code_stamp(str(copy)) == before


def test_stamp_of_an_archive_sees_its_changes(copy: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "whole"), "zip", copy.parent))
    inside = str(archive / "isodepth")
    before = jit.code_stamp(inside)
    assert before == jit.code_stamp(inside)
    os.utime(archive, (1, 1))
    assert jit.code_stamp(inside) != before


def compiled_files() -> set[Path]:
    return {
        path
        for path in PACKAGE.rglob("*.py")
        if any(mark in path.read_bytes() for mark in jit._MARKS)
    }


def test_compiled_code_uses_nothing_that_is_not_stamped() -> None:
    stamped = compiled_files()
    assert len(stamped) > 20
    helpers = {PACKAGE / "errors.py", PACKAGE / "_version.py"}
    for path in stamped:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("isodepth"):
                used = PACKAGE.joinpath(*node.module.split(".")[1:]).with_suffix(".py")
                assert used in stamped | helpers, f"{path} imports {node.module}"


def test_one_file_knows_the_decorator_of_numba() -> None:
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (
            isinstance(node, ast.Attribute)
            and node.attr in ("njit", "jit")
            and ast.unparse(node.value) == "numba"
        )
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "numba"
            and {alias.name for alias in node.names} & {"njit", "jit", "vectorize", "guvectorize"}
        )
    }
    assert users == {"engine/compiled/jit.py"}
