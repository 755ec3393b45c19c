"""The build installs a compiler only if there is none, and compiles the right instruction sets."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

pytest.importorskip("scikit_build_core", reason="pip install scikit-build-core")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import build_backend

sys.path.pop(0)


@pytest.fixture(name="path")
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the PATH to a folder without a compiler, and return the folder."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    return tmp_path


def test_without_a_compiler_one_is_asked_for(path: Path) -> None:
    assert build_backend.compiler_requires() == [build_backend.ZIG]


@pytest.mark.skipif(os.name == "nt", reason="programs are made executable otherwise")
@pytest.mark.parametrize("name", build_backend.COMPILERS)
def test_with_a_compiler_nothing_is_asked_for(name: str, path: Path) -> None:
    (path / name).touch(mode=0o755)

    assert build_backend.compiler_requires() == []


def test_a_compiler_that_is_named_is_taken(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "my-compiler -x")

    build_backend.choose_compiler()

    assert build_backend.compiler_requires() == []
    assert os.environ["CXX"] == "my-compiler -x"


def test_without_any_compiler_the_build_says_what_to_do(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_backend, "find_spec", lambda name: None)

    with pytest.raises(SystemExit, match=r"CXX is not set, none of .*pip install .*ziglang"):
        build_backend.choose_compiler()


def test_zig_compiles_for_any_processor(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "")  # so that it is restored afterwards
    monkeypatch.setattr(build_backend, "find_spec", lambda name: object())

    build_backend.choose_compiler()

    assert os.environ["CXX"].startswith(f"{sys.executable} -m ziglang c++ -mcpu=baseline")


def test_wheels_have_the_baseline_too_and_published_wheels_all_instruction_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []

    def build_wheel(folder: str, settings: dict[str, str], metadata: str | None = None) -> str:
        built.append(settings["cmake.define.ISODEPTH_SETS"])
        core = "isodepth/_core/baseline.so"
        with ZipFile(Path(folder) / "wheel.whl", "w") as archive:
            archive.writestr(core, b"new")
            archive.writestr("isodepth-1.dist-info/METADATA", b"")
        return "wheel.whl"

    core = tmp_path / "src" / "isodepth" / "_core"
    core.mkdir(parents=True)
    (core / "avx2.so").write_bytes(b"out of date")
    monkeypatch.setattr(build_backend, "ROOT", tmp_path)
    monkeypatch.setattr(build_backend.scikit_build, "build_wheel", build_wheel)

    build_backend.build_wheel(str(tmp_path))
    build_backend.build_editable(str(tmp_path))
    build_backend.build_wheel(str(tmp_path), {"cmake.define.ISODEPTH_SETS": "all"})

    assert built == ["local", "native", "all"]
    assert [path.name for path in core.iterdir()] == ["baseline.so"]
