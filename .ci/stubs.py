"""Write the type stubs of the compiled core, or check that they are current (--check).

`python .ci/stubs.py src/isodepth/_core/__init__.pyi` lets nanobind write the signatures of the
module that is built in `src`, and formats them like `make format`.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = "# Written by `make stubs`.\n\n"
FOOTER = "\ninstruction_set: str\n"


def stubs() -> str:
    """Return the stubs of all functions, which are the same for all instruction sets."""
    folder = ROOT / "src" / "isodepth" / "_core"
    sys.path.insert(0, str(folder))
    # Imported without its package, which need not be importable.
    built = {path.name.partition(".")[0] for path in folder.glob("*.*") if path.suffix != ".py"}
    (name, *_) = sorted(built & {"baseline", "avx2", "avx512"})
    core = import_module(name)
    from nanobind.stubgen import StubGen

    generator = StubGen(core)
    generator.put(core)
    return formatted(HEADER + generator.get() + FOOTER)


def formatted(text: str) -> str:
    ruff = [sys.executable, "-m", "ruff"]
    name = ["--stdin-filename", "stubs.pyi", "-"]
    for task in (["check", "--fix-only", "--quiet", "--select", "I,F401,UP"], ["format"]):
        text = subprocess.run(
            [*ruff, *task, *name], input=text, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return text


def main(arguments: list[str]) -> int:
    path = Path(arguments[-1])
    if "--check" not in arguments:
        path.write_text(stubs(), encoding="utf-8")
    elif not path.exists() or path.read_text("utf-8") != stubs():
        print(f"{path} differs from the signatures of the core: run `make stubs`")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
