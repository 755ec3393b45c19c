"""Compiled code on disk: used when whole and of the loaded code, compiled again when anything else.

A function that doubles a number is compiled into a folder of its own; a fresh copy of it stands for
the next process.
"""

from __future__ import annotations

import errno
import importlib.util
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from isodepth.engine.compiled import jit
from isodepth.errors import CacheWarning

SOURCE = """
from isodepth.engine.compiled.jit import njit

@njit(cache=True, nogil=True)
def twice(x):
    return 2 * x
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Load the function anew."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
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

    return load


@pytest.fixture
def strict() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def compiled_anew(function: Any) -> bool:
    assert function(3) == 6
    hits, misses = (sum(c.values()) for c in function.stats[1:])
    assert hits + misses == 1
    return misses == 1


def files_of(tmp_path: Path, suffix: str) -> list[Path]:
    found = sorted((tmp_path / "__pycache__").glob(f"*{suffix}"))
    assert found
    return found


@pytest.mark.usefixtures("strict")
def test_second_process_finds_what_the_first_compiled(load: Callable[[], Any]) -> None:
    assert compiled_anew(load())
    assert not compiled_anew(load())


@pytest.mark.usefixtures("strict")
def test_signatures_are_kept_apart(load: Callable[[], Any]) -> None:
    first = load()
    assert (first(3), first(1.5), first(2j)) == (6, 3.0, 4j)
    second = load()
    assert (second(2j), second(1.5), second(3)) == (4j, 3.0, 6)
    assert sum(second.stats.cache_hits.values()) == 3


def damages() -> dict[str, Callable[[bytes], bytes]]:
    def flip(content: bytes, place: int) -> bytes:
        changed = bytearray(content)
        changed[place] ^= 16
        return bytes(changed)

    noise = np.random.default_rng(0).bytes(4096)
    return {
        "empty": lambda content: b"",
        "one byte": lambda content: content[:1],
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
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_damaged_files_are_compiled_again_and_replaced(
    load: Callable[[], Any], tmp_path: Path, suffix: str
) -> None:
    load()(3)
    whole = {path: path.read_bytes() for path in files_of(tmp_path, suffix)}
    for name, damage in damages().items():
        for path, content in whole.items():
            path.write_bytes(damage(content))
        assert compiled_anew(load()), name
        assert not compiled_anew(load()), name


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_missing_files_are_compiled_again(
    load: Callable[[], Any], tmp_path: Path, suffix: str
) -> None:
    load()(3)
    for path in files_of(tmp_path, suffix):
        path.unlink()
    assert compiled_anew(load())
    assert not compiled_anew(load())


#: A pickle of something in a module that is no longer there.
GONE = b"cisodepth.backend.loops\nWorkspace\n."


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_what_names_modules_that_are_gone_is_compiled_again(
    load: Callable[[], Any], tmp_path: Path, suffix: str
) -> None:
    """Whole files, with a good seal, that cannot be unpickled."""
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(GONE)
    function = load()
    function(3)
    seal = function._cache._cache_file._seal(GONE)
    for path in files_of(tmp_path, suffix):
        path.write_bytes(seal + GONE)
    assert compiled_anew(load())
    assert not compiled_anew(load())


@pytest.mark.usefixtures("strict")
def test_an_index_that_numba_left_is_not_read(load: Callable[[], Any], tmp_path: Path) -> None:
    load()(3)
    for path in files_of(tmp_path, ".nbi"):
        path.write_bytes(pickle.dumps(numba.__version__, protocol=-1) + GONE)
    assert compiled_anew(load())


def test_numba_does_not_stumble_over_our_index(load: Callable[[], Any], tmp_path: Path) -> None:
    """After a downgrade, plain numba finds our files under the names of its own."""
    load()(3)
    (tmp_path / "doubling.py").write_text(SOURCE.replace("isodepth.engine.compiled.jit", "numba"))
    assert compiled_anew(load())


@pytest.mark.usefixtures("strict")
def test_file_of_another_signature_is_not_taken(load: Callable[[], Any], tmp_path: Path) -> None:
    """Two processes that compile at once may give one number to two files."""
    function = load()
    function(3)
    (path,) = files_of(tmp_path, ".nbc")
    other = load()
    other(1.5)
    (theirs,) = set(files_of(tmp_path, ".nbc")) - {path}
    path.write_bytes(theirs.read_bytes())
    assert compiled_anew(load())


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_disk_that_cannot_be_written_costs_one_warning(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.warns(CacheWarning, match=f"{os.strerror(code)}.*NUMBA_CACHE_DIR") as caught:
        results = load()(3), load()(1.5)
    assert results == (6, 3.0)
    assert len(caught) == 1


@pytest.mark.usefixtures("strict")
def test_unreadable_files_are_compiled_again(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder where a file is expected fails to open for anyone, root included."""
    load()(3)
    for path in files_of(tmp_path, ".nbc"):
        path.unlink()
        path.mkdir()
    with monkeypatch.context() as patch:
        # It cannot be replaced either.
        patch.setattr(jit, "_warned", [True])
        assert compiled_anew(load())


@pytest.mark.usefixtures("strict")
def test_nothing_is_kept_once_the_files_have_changed(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    function = load()
    with monkeypatch.context() as patch:
        patch.setattr(jit, "code_stamp", lambda: b"changed")
        assert compiled_anew(function)
    assert not list((tmp_path / "__pycache__").glob("*.nb?"))
