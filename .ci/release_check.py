"""Build the sdist and the wheels, and test the wheels with the tests of the sdist.

`python .ci/release_check.py dist tests/geometry tests/cli --python python3.11 --python python3.13`
builds into `dist`, installs the wheel in an empty environment of each Python, unpacks the sdist
beside it and runs these tests there, against the installed package and not against the sources.
Nothing is left behind but `dist`.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
#: What the tests need beside the package.
ALL_SETS = "--config-settings=cmake.define.ISODEPTH_SETS=all"
EXTRAS = "test"
#: Of a wheel, in bytes.
LARGEST = 4_000_000

#: Distances of every depth, and a test: at run time nothing is compiled, cached or noted down.
USE = """
import numpy as np, isodepth
X, Y = np.random.default_rng(0).standard_normal((2, 200, 3))
for depth in ("projection", "halfspace", "irw", "ai_irw"):
    print(depth, isodepth.distance(X, Y, depth=depth, random_state=0))
print(isodepth.two_sample_test(X, Y, n_permutations=99, random_state=0))
print(isodepth.__version__, isodepth.__file__)
"""


def run(*command: str | Path, **options: object) -> None:
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)  # type: ignore[call-overload]


def build_sdist(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    return sdist


def installed(python: str, sdist: Path, place: Path) -> Path:
    """The interpreter of a new environment with the wheel, built now if none of `dist` fits."""
    run(python, "-m", "venv", place / "env")
    interpreter = place / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [interpreter, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    built = ["--no-index", "--no-deps", "--only-binary", "isodepth", "--find-links", sdist.parent]
    try:
        run(*pip, "install", *built, "isodepth")
    except subprocess.CalledProcessError:
        run(*pip, "wheel", ALL_SETS, "--no-deps", "--wheel-dir", sdist.parent, sdist)
        run(*pip, "install", *built, "isodepth")
    run(*pip, "install", f"isodepth[{EXTRAS}]", "--find-links", sdist.parent)
    return interpreter


def check_wheel(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    cores = [name for name in names if name.startswith("isodepth/_core/baseline.")]
    if len(cores) != 1:
        raise SystemExit(f"{wheel.name} has {len(cores)} baseline cores instead of one: {cores}")
    if wheel.stat().st_size > LARGEST:
        raise SystemExit(f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LARGEST}")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, {len(names)} files")


def check_no_compiler(interpreter: Path) -> None:
    """Neither the package nor what it depends on brings a compiler for run time."""
    search = "import importlib.util as u; print(*filter(u.find_spec, ['numba', 'llvmlite']))"
    done = subprocess.run(
        [interpreter, "-c", search], stdout=subprocess.PIPE, text=True, check=True
    )
    if done.stdout.strip():
        raise SystemExit(f"installed with the package: {done.stdout.strip()}")


def files(folder: Path) -> dict[Path, tuple[int, int]]:
    """Size and time of change of all files below a folder."""
    stats = {path: path.lstat() for path in folder.rglob("*")}
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in stats.items()}


def check_writes_nothing(interpreter: Path, place: Path) -> None:
    """Use the package with all folders read-only, and look whether any file has changed.

    Both: the first is not in the way of an administrator, the second misses what failed in silence.
    """
    home = place / "home"
    home.mkdir()
    own = [home, place / "env"]
    folders = [folder for root in own for folder in [root, *root.rglob("*")] if folder.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    before = [files(root) for root in own]
    places = dict.fromkeys(["HOME", "USERPROFILE", "TMPDIR", "TEMP", "XDG_CACHE_HOME"], str(home))
    environment = {**os.environ, **places, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run(interpreter, "-W", "error", "-c", USE, cwd=home, env=environment)
        changed = [
            path
            for root, old in zip(own, before, strict=True)
            for path, what in files(root).items()
            if old.get(path) != what
        ]
    finally:
        for folder in folders:
            folder.chmod(0o755)
    if changed:
        raise SystemExit(f"written at run time: {', '.join(map(str, changed))}")


def check_installed(python: str, sdist: Path, tests: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        interpreter = installed(python, sdist, place)
        check_no_compiler(interpreter)
        check_writes_nothing(interpreter, place)
        with tarfile.open(sdist) as archive:
            archive.extractall(place / "sdist", filter="data")
        (source,) = (place / "sdist").iterdir()
        tables = [source / "examples" / "weather" / f"{month}.csv" for month in ("june", "july")]
        options = ["--blocks", "day", "--n-permutations", "199", "--output", "r.html"]
        run(interpreter.with_name("isodepth"), "report", *tables, *options, cwd=place)
        # Without `src` on the path: what is tested is what was installed.
        paths = "pythonpath=tests ."
        run(interpreter, "-m", "pytest", "-q", "-n", "auto", "-o", paths, *tests, cwd=source)


def check_metadata() -> None:
    """Check the URLs of the project, and the version and date of CITATION.cff.

    Placeholder URLs are an error on a release tag, and a warning otherwise.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    missing = {"Repository", "Documentation", "Changelog", "Issues"} - set(project["urls"])
    if missing:
        raise SystemExit(f"[project.urls] lacks {', '.join(sorted(missing))}")
    placeholders = [name for name, url in project["urls"].items() if "example.org" in url]
    if placeholders:
        message = f"[project.urls] has placeholders: {', '.join(placeholders)}"
        if os.environ.get("GITHUB_REF_TYPE") == "tag":
            raise SystemExit(message)
        print("warning:", message)
    version = runpy.run_path(str(ROOT / "src/isodepth/_version.py"))["__version__"]
    date = re.search(
        rf"^## \[{re.escape(version)}\] - (\S+)$",
        (ROOT / "CHANGELOG.md").read_text("utf-8"),
        re.MULTILINE,
    )
    if date is None:
        raise SystemExit(f"CHANGELOG.md has no section for version {version} with a date")
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    for line in (f"version: {version}", f"date-released: {date[1]}"):
        if line not in citation.splitlines():
            raise SystemExit(f"CITATION.cff lacks the line {line!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=lambda name: (ROOT / name).resolve())
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--python", action="append", help="by default the one that runs this")
    chosen = parser.parse_args()
    check_metadata()
    sdist = build_sdist(chosen.folder)
    for python in chosen.python or [sys.executable]:
        check_installed(python, sdist, chosen.tests)
    wheels = sorted(chosen.folder.glob("*.whl"))
    for wheel in wheels:
        check_wheel(wheel)
    run(sys.executable, "-m", "twine", "check", "--strict", sdist, *wheels)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
