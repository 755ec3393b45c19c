"""Table files: whole and right, or an error; never a number that was not saved."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from isodepth import InvalidOptionError, Metric, RegionTable, UnreadableFileError
from isodepth.data import output

SIGNATURE = Metric(levels=2, n_directions=3, random_state=0, refine=0).signature
TABLE, OTHER = (
    RegionTable(np.random.default_rng(seed).normal(size=(2, 6)), SIGNATURE, 2) for seed in (0, 1)
)
DIGEST = 64


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "table.npz"
    TABLE.save(path)
    return path


def same(a: RegionTable, b: RegionTable) -> bool:
    return (
        a.values.dtype == b.values.dtype
        and (a.values == b.values).all()
        and (a.signature, a.n_features, a.columns) == (b.signature, b.n_features, b.columns)
    )


def write_checked(path: Path, arrays: dict[str, np.ndarray], pickle: bool = False) -> None:
    """Write an archive with a right checksum: only what is inside can be wrong."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=pickle)
        archive.comment = b"0" * DIGEST
    body = buffer.getvalue()[:-DIGEST]
    path.write_bytes(body + hashlib.sha256(body).hexdigest().encode())


def header(**changes: object) -> np.ndarray:
    fields = {"format": "isodepth", "version": 1, "kind": "region table"}
    fields |= {"signature": TABLE.signature, "width": 2, "columns": None, **changes}
    return np.frombuffer(json.dumps(fields).encode(), dtype=np.uint8)


# -- what comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["float64", "float32"])
def test_what_is_saved_comes_back(tmp_path: Path, storage: str) -> None:
    table = TABLE.astype(storage)
    table.save(tmp_path / "table.npz")
    loaded = RegionTable.load(str(tmp_path / "table.npz"))
    assert same(loaded, table)
    assert loaded.distance_to(OTHER.astype(storage)) == table.distance_to(OTHER.astype(storage))


def test_column_names_come_back(tmp_path: Path) -> None:
    table = RegionTable(TABLE.values, TABLE.signature, 2, ("größe, cm", "x\n|y"))
    table.save(tmp_path / "table.npz")
    assert RegionTable.load(tmp_path / "table.npz").columns == ("größe, cm", "x\n|y")


def test_numpy_opens_the_file_without_pickles(saved: Path) -> None:
    with np.load(saved, allow_pickle=False) as archive:
        assert (archive["values"] == TABLE.values).all()


def test_equal_tables_give_equal_files(saved: Path, tmp_path: Path) -> None:
    TABLE.save(tmp_path / "again.npz")
    assert saved.read_bytes() == (tmp_path / "again.npz").read_bytes()


# -- what is refused ------------------------------------------------------------------------------


def test_a_flipped_bit_anywhere_is_an_error(saved: Path) -> None:
    content = saved.read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        saved.write_bytes(damaged)
        with pytest.raises(UnreadableFileError, match="damaged"):
            RegionTable.load(saved)


def test_a_file_cut_short_anywhere_is_an_error(saved: Path) -> None:
    content = saved.read_bytes()
    for length in range(len(content)):
        saved.write_bytes(content[:length])
        with pytest.raises(UnreadableFileError, match="damaged"):
            RegionTable.load(saved)


@pytest.mark.parametrize("extra", [b"\0", b"\n", b"x" * 1000])
def test_anything_added_is_an_error(saved: Path, extra: bytes) -> None:
    content = saved.read_bytes()
    for changed in (content + extra, extra + content):
        saved.write_bytes(changed)
        with pytest.raises(UnreadableFileError, match="damaged"):
            RegionTable.load(saved)


def test_two_files_mixed_are_an_error(saved: Path, tmp_path: Path) -> None:
    OTHER.save(tmp_path / "other.npz")
    first, second = saved.read_bytes(), (tmp_path / "other.npz").read_bytes()
    assert len(first) == len(second)
    for place in range(64, len(first), 64):
        mixed = first[:place] + second[place:]
        if mixed in (first, second):
            continue
        saved.write_bytes(mixed)
        with pytest.raises(UnreadableFileError, match="damaged"):
            RegionTable.load(saved)


@pytest.mark.parametrize("content", [b"", b"x", b"a,b\n1,2\n3,4\n" * 20, os.urandom(4096)])
def test_a_renamed_foreign_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.npz"
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError, match=r"table\.npz is damaged or was not written"):
        RegionTable.load(path)


def test_an_archive_of_somebody_else_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    np.savez(path, values=TABLE.values)
    with pytest.raises(UnreadableFileError, match="damaged or was not written"):
        RegionTable.load(path)


@pytest.mark.parametrize("name", ["table.csv", "table.npy", "table", "table.npz.bak"])
def test_a_renamed_table_file_is_an_error(saved: Path, name: str) -> None:
    renamed = saved.rename(saved.with_name(name))
    with pytest.raises(UnreadableFileError, match=r"named \*\.npz"):
        RegionTable.load(renamed)
    with pytest.raises(InvalidOptionError, match=r"named \*\.npz"):
        TABLE.save(renamed)


def test_a_missing_file_or_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="No such file"):
        RegionTable.load(tmp_path / "none.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(UnreadableFileError, match="cannot read"):
        RegionTable.load(tmp_path / "folder.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"header": header(version=2), "values": TABLE.values}, "version 2; this isodepth reads"),
        ({"header": header(format="zip"), "values": TABLE.values}, "format 'zip'"),
        ({"header": header(kind="photograph"), "values": TABLE.values}, "holds a photograph"),
        ({"header": header()}, "lacks a part"),
        ({"values": TABLE.values}, "parts cannot be read"),
        ({"header": header(), "values": TABLE.values[0]}, "no table"),
        ({"header": header(), "values": TABLE.values * np.nan}, "no table"),
        ({"header": header(), "values": TABLE.values.astype(complex)}, "not an array of"),
        ({"header": header(width="wide"), "values": TABLE.values}, "lacks a part"),
    ],
)
def test_a_whole_file_with_the_wrong_content_is_an_error(
    tmp_path: Path, arrays: dict, message: str
) -> None:
    path = tmp_path / "table.npz"
    write_checked(path, arrays)
    with pytest.raises(UnreadableFileError, match=message):
        RegionTable.load(path)


class Trap:
    """Unpickled, it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple:
        return (open, (self.path, "w"))


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    path, sprung = tmp_path / "table.npz", tmp_path / "sprung"
    write_checked(path, {"header": header(), "values": np.array([Trap(sprung)])}, pickle=True)
    with pytest.raises(UnreadableFileError):
        RegionTable.load(path)
    assert not sprung.exists()


# -- saving over a file ---------------------------------------------------------------------------


def test_a_failing_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(output.os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        OTHER.save(saved)
    monkeypatch.undo()
    assert same(RegionTable.load(saved), TABLE)
    assert [p.name for p in saved.parent.iterdir()] == ["table.npz"]


SAVE_AND_STOP = """
import os, sys, time
import numpy as np
from isodepth import RegionTable
from isodepth.data import output
step, path, marker, signature = sys.argv[1:]
table = RegionTable(np.random.default_rng(1).normal(size=(2, 6)), signature, 2)
def stop(*args, **kwargs):
    open(marker, "w").close()
    time.sleep(60)
if step == "half":
    class Half:
        def __init__(self, *args): self.file = open(*args)
        def __enter__(self): return self
        def __exit__(self, *args): pass
        def write(self, content):
            self.file.write(content[: len(content) // 2]); self.file.flush(); stop()
    output.open = Half
else:
    setattr(output.os, step, stop)
table.save(path)
"""


@pytest.mark.parametrize("step", ["half", "fsync", "replace"])
def test_killed_in_the_middle_of_a_save_the_old_file_is_whole(saved: Path, step: str) -> None:
    marker = saved.with_name("marker")
    arguments = [step, str(saved), str(marker), SIGNATURE]
    child = subprocess.Popen([sys.executable, "-c", SAVE_AND_STOP, *arguments])
    try:
        deadline = time.monotonic() + 60
        while not marker.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert marker.exists()
        assert len(list(saved.parent.glob(".table.npz.*.part"))) == 1
    finally:
        child.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        child.wait()
    assert same(RegionTable.load(saved), TABLE)


SAVE_FOR_EVER = """
import sys
import numpy as np
from isodepth import RegionTable
tables = [
    RegionTable(np.random.default_rng(seed).normal(size=(2, 6)), sys.argv[2], 2) for seed in (0, 1)
]
print("ready", flush=True)
while True:
    for table in tables:
        table.save(sys.argv[1])
"""


def test_killed_at_any_moment_the_file_is_one_or_the_other(saved: Path) -> None:
    rng = np.random.default_rng(3)
    for _ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", SAVE_FOR_EVER, str(saved), SIGNATURE], stdout=subprocess.PIPE
        )
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(rng.uniform(0, 0.05))
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
        loaded = RegionTable.load(saved)
        assert same(loaded, TABLE) or same(loaded, OTHER)


@pytest.mark.skipif(os.name != "posix", reason="links and modes as POSIX systems have them")
def test_a_link_stays_a_link_and_the_mode_is_the_usual_one(saved: Path) -> None:
    link = saved.with_name("link.npz")
    link.symlink_to(saved)
    OTHER.save(link)
    assert link.is_symlink()
    assert same(RegionTable.load(saved), OTHER)
    plain = saved.with_name("plain")
    plain.touch()
    assert saved.stat().st_mode == plain.stat().st_mode
