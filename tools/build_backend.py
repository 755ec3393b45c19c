"""Build backend: scikit-build-core, with a compiler for machines that have none.

If no C++ compiler is found, the build requires the package ``ziglang``, which contains clang. A
wheel has the core for the baseline and for the instruction set of this machine, so that it also
runs on other machines; published wheels have all sets
(``--config-settings=cmake.define.ISODEPTH_SETS=all``). An editable install compiles the set of this
machine into ``src/isodepth/_core``, and puts ``src`` on the path.
``python tools/build_backend.py core`` compiles the core again if it has changed.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from scikit_build_core import build as scikit_build
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = dict[str, "str | list[str]"] | None

ROOT = Path(__file__).resolve().parents[1]
ZIG = "ziglang>=0.13"
#: Not cl: the core uses the vector extensions of gcc and clang.
COMPILERS = ["clang-cl", "clang++", "g++"] if os.name == "nt" else ["c++", "g++", "clang++"]


def compiler_requires() -> list[str]:
    """Return the packages that provide a C++ compiler: none if a compiler is installed."""
    found = os.environ.get("CXX") or any(shutil.which(name) for name in COMPILERS)
    return [] if found else [ZIG]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return scikit_build.get_requires_for_build_wheel(config_settings) + compiler_requires()


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return scikit_build.get_requires_for_build_editable(config_settings) + compiler_requires()


def choose_compiler() -> None:
    """Set the environment variables of CMake if it would not find a usable compiler by itself."""
    if os.name == "nt":
        os.environ.setdefault("CMAKE_GENERATOR", "Ninja")
        if "CXX" not in os.environ and shutil.which("clang-cl"):
            os.environ["CXX"] = "clang-cl"
    if compiler_requires():
        if find_spec("ziglang") is None:
            raise SystemExit(
                "isodepth needs a C++ compiler, and none was found: CXX is not set, none of "
                f"{', '.join(COMPILERS)} is on the PATH. Install gcc 11 or clang 14 or later, or "
                f"'pip install \"{ZIG}\"', a compiler in a package, and build again."
            )
        # By default zig compiles for the processor of this machine. It compiles its standard
        # library, which takes a minute, for every combination of these options. The modules are
        # stripped (-s), so the checks of CMake have to be stripped too.
        os.environ["CXX"] = f"{sys.executable} -m ziglang c++ -mcpu=baseline -O3 -fPIC -s"


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    choose_compiler()
    # Stated in every build, because a build folder keeps the value of the build before.
    settings = {"cmake.define.ISODEPTH_SETS": "local", **(config_settings or {})}
    return scikit_build.build_wheel(wheel_directory, settings, metadata_directory)


def build_core(wheel_directory: str, config_settings: Settings = None) -> Path:
    """Build a wheel for this machine, copy its compiled modules into `src`, return its path."""
    settings = {"cmake.define.ISODEPTH_SETS": "native", **(config_settings or {})}
    wheel = Path(wheel_directory) / build_wheel(wheel_directory, settings)
    with ZipFile(wheel) as archive:
        names = [
            name
            for name in archive.namelist()
            if name.startswith("isodepth/_core/") and name.endswith((".so", ".pyd"))
        ]
        for name in names:
            target = ROOT / "src" / name
            target.unlink(missing_ok=True)  # a running process keeps the old file
            target.write_bytes(archive.read(name))
    # Modules of other instruction sets would be out of date. An installation without CMake
    # (wheel.cmake=false) has no modules, and keeps those of `make core`.
    for path in (ROOT / "src" / "isodepth" / "_core").glob("*") if names else []:
        if path.suffix in (".so", ".pyd") and f"isodepth/_core/{path.name}" not in names:
            path.unlink()
    return wheel


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    with tempfile.TemporaryDirectory() as folder:
        built = build_core(folder, config_settings)
        with ZipFile(built) as archive:
            members = {
                name: archive.read(name)
                for name in archive.namelist()
                if ".dist-info/" in name and not name.endswith("/RECORD")
            }
    members["isodepth.pth"] = f"{ROOT / 'src'}\n".encode()
    record = f"{next(iter(members)).partition('/')[0]}/RECORD"
    lines = [f"{name},{_digest(data)},{len(data)}\n" for name, data in members.items()]
    members[record] = "".join([*lines, f"{record},,\n"]).encode()
    with ZipFile(Path(wheel_directory) / built.name, "w", ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return built.name


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={digest.decode().rstrip('=')}"


def main(task: str) -> None:
    if task == "requires":
        print(*compiler_requires())
    elif task == "core":
        with tempfile.TemporaryDirectory() as folder:
            build_core(folder)
    else:
        raise SystemExit(f"the tasks are 'requires' and 'core', not {task!r}")


if __name__ == "__main__":
    os.chdir(ROOT)
    main(sys.argv[1])
