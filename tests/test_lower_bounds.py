"""`make lowest` installs the minimum versions that pyproject.toml states."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / ".ci" / "lower_bounds.py"


def bounds(*extras: str, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), *extras], capture_output=True, text=True, check=False
    )


def test_every_bound_becomes_an_exact_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    stated = [*project["dependencies"], *project["optional-dependencies"]["frames"]]

    printed = bounds("frames").stdout.split()

    assert printed == [one.partition(",")[0].replace(">=", "==") for one in stated]
    assert len(printed) > 6


@pytest.mark.parametrize(
    ("requirement", "pin"),
    [
        ("a-b>=1.2,<3", "a-b==1.2"),
        ("c >= 4; python_version > '3'", "c==4"),
        ("d", None),
        ("e<2", None),
    ],
)
def test_a_requirement_without_a_bound_is_refused(
    requirement: str, pin: str | None, tmp_path: Path
) -> None:
    (tmp_path / ".ci").mkdir()
    copy = tmp_path / ".ci" / "lower_bounds.py"
    copy.write_bytes(SCRIPT.read_bytes())
    (tmp_path / "pyproject.toml").write_text(f'[project]\ndependencies = ["{requirement}"]\n')

    done = bounds(script=copy)

    if pin is None:
        assert done.returncode == 1
        assert "has no lower bound" in done.stderr
    else:
        assert done.stdout.strip() == pin


def test_every_imported_package_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    stated = [*project["dependencies"], *(each for extra in extras for each in extra)]
    declared = {re.split(r"[^\w.-]", each)[0].lower().replace("-", "_") for each in stated}
    names = {"sklearn": "scikit_learn"}
    # Triton comes with torch, mpl_toolkits with matplotlib, and cloudpickle and distributed with
    # Dask.
    others = {"isodepth", "triton", "mpl_toolkits", "cloudpickle", "distributed"}
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                imported.add(node.module.partition(".")[0])
    imported -= {*sys.stdlib_module_names, *others}
    assert {names.get(each, each) for each in imported} <= declared
