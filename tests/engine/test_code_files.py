"""Machine code of loops on disk: used when whole and of the loaded code, made again otherwise.

A function that doubles a number is translated into a folder of its own; a fresh copy of it stands
for the next process.
"""

from __future__ import annotations

import errno
import importlib.util
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isodepth.engine.compiled import jit
from isodepth.engine.compiled.lite.entries import journal
from isodepth.errors import CacheWarning

SOURCE = """
from isodepth.engine.compiled.lite.loop import loop

@loop
def twice(x):
    return 2 * x
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Load the function anew."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.setattr(jit, "_warned", [])
    path = tmp_path / "doubling.py"
    path.write_text(SOURCE)

    def load() -> Any:
        spec = importlib.util.spec_from_file_location("doubling", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.twice

    # Whether vectors can be trusted is found out before anything is counted.
    load()(0)
    for file in (tmp_path / "__pycache__").glob("*.code"):
        file.unlink()
    return load


@pytest.fixture
def strict() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def made_anew(function: Any) -> bool:
    before = len(journal)
    assert function(3) == 6
    (last,) = journal[before:]
    assert last.found == (last.functions == 0)
    return not last.found


def file_of(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "__pycache__").glob("*.code")
    return found


@pytest.mark.usefixtures("strict")
def test_second_process_finds_what_the_first_made(load: Callable[[], Any]) -> None:
    assert made_anew(load())
    assert not made_anew(load())


@pytest.mark.usefixtures("strict")
def test_types_are_kept_apart(load: Callable[[], Any]) -> None:
    first = load()
    assert (first(3), first(1.5)) == (6, 3.0)
    second = load()
    before = len(journal)
    assert (second(1.5), second(3)) == (3.0, 6)
    assert [one.found for one in journal[before:]] == [True, True]


def damages() -> dict[str, Callable[[bytes], bytes]]:
    def flip(content: bytes, place: int) -> bytes:
        changed = bytearray(content)
        changed[place] ^= 16
        return bytes(changed)

    noise = np.random.default_rng(0).bytes(4096)
    return {
        "empty": lambda content: b"",
        "within the seal": lambda content: content[:20],
        "half": lambda content: content[: len(content) // 2],
        "all but one byte": lambda content: content[:-1],
        "one byte more": lambda content: content + b"\0",
        "noise": lambda content: noise,
        "first bit": lambda content: flip(content, 0),
        "bit in the middle": lambda content: flip(content, len(content) // 2),
        "last bit": lambda content: flip(content, len(content) - 1),
    }


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("damage", damages())
def test_damaged_files_are_made_again_and_replaced(
    load: Callable[[], Any], tmp_path: Path, damage: str
) -> None:
    load()(3)
    path = file_of(tmp_path)
    path.write_bytes(damages()[damage](path.read_bytes()))
    assert made_anew(load())
    assert not made_anew(load())


@pytest.mark.usefixtures("strict")
def test_file_of_other_types_is_not_taken(load: Callable[[], Any], tmp_path: Path) -> None:
    """Its content is whole, and stands under a name that is not its own."""
    load()(3)
    path = file_of(tmp_path)
    whole = path.read_bytes()
    load()(1.5)
    (other,) = set((tmp_path / "__pycache__").glob("*.code")) - {path}
    path.write_bytes(other.read_bytes())
    assert made_anew(load())
    assert path.read_bytes() == whole


@pytest.mark.usefixtures("strict")
def test_a_changed_source_is_translated_again(load: Callable[[], Any], tmp_path: Path) -> None:
    import linecache

    load()(3)
    path = tmp_path / "doubling.py"
    path.write_text(SOURCE.replace("2 * x", "5 * x + 1"))
    linecache.clearcache()
    from isodepth.engine.compiled.lite import function

    function._functions.clear()
    assert load()(3) == 16


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_disk_that_cannot_be_written_costs_one_warning(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.warns(CacheWarning, match="NUMBA_CACHE_DIR") as caught:
        results = load()(3), load()(1.5)
    assert results == (6, 3.0)
    assert len(caught) == 1
    assert not list((tmp_path / "__pycache__").glob("*.code*"))


def test_home_is_taken_where_the_package_cannot_be_written(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "__pycache__"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_text("no folder")
    assert made_anew(load())
    assert not made_anew(load())
    assert len(list((tmp_path / "home" / "isodepth").glob("*.code"))) == 1


@pytest.mark.usefixtures("strict")
def test_numba_takes_over_once_the_files_have_changed(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The text on disk is no longer what this process runs: nothing is read from it, or kept."""
    function = load()
    before = len(journal)
    monkeypatch.setattr(jit, "code_stamp", lambda: b"changed")
    assert function(3) == 6
    assert len(journal) == before
    assert not list((tmp_path / "__pycache__").glob("*.code"))
