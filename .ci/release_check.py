"""Build the sdist and the wheel, and test the wheel with the tests of the sdist.

`python .ci/release_check.py dist tests/core tests/cli` builds into `dist`, installs the wheel in an
empty environment, unpacks the sdist beside it and runs these tests there, against the installed
package and not against the sources. Nothing is left behind but `dist`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What the tests need beside the package.
EXTRAS = "plot,frames,progress"
TOOLS = ["pytest>=8.0", "pytest-xdist>=3.5", "hypothesis>=6.100"]


def run(*command: str | Path, **options: object) -> None:
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)  # type: ignore[call-overload]


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist and the wheel, made anew; the wheel is made from the sdist."""
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
    return sdist, wheel


def test_installed(sdist: Path, wheel: Path, tests: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        environment, unpacked = Path(place) / "env", Path(place) / "sdist"
        venv.create(environment, with_pip=True)
        python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[{EXTRAS}]", *TOOLS)
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        (source,) = unpacked.iterdir()
        where = "import isodepth; print(isodepth.__version__, isodepth.__file__)"
        run(python, "-c", where, cwd=place)
        tables = [source / "examples" / "weather" / f"{month}.csv" for month in ("june", "july")]
        options = ["--nan-policy", "omit", "--blocks", "day", "--permutations", "199"]
        options += ["--report", "r.html"]
        run(python.with_name("isodepth"), "compare", *tables, *options, cwd=place)
        # Without `src` on the path: what is tested is what was installed.
        paths = "pythonpath=tests ."
        run(python, "-m", "pytest", "-q", "-n", "auto", "-o", paths, *tests, cwd=source)


def main(arguments: list[str]) -> int:
    folder = (ROOT / arguments[0]).resolve()
    test_installed(*build(folder), arguments[1:])
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
