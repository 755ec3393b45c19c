"""Archives of isodepth are read exactly or refused.

Archives with a correct checksum but arbitrary content are read or refused with little memory.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isodepth import Metric, RegionTable
from isodepth.base import output
from isodepth.base.export import json_settings
from isodepth.errors import InvalidOptionError, UnreadableFileError
from isodepth.metric.settings import used_settings

METRIC = Metric(levels=2, n_directions=3, random_state=0, refine=0)
SIGNATURE, SETTINGS = METRIC.signature, used_settings(METRIC, None, 0)
TABLE, OTHER = (
    RegionTable(
        values=np.random.default_rng(seed).normal(size=(2, 6)), settings=SETTINGS, n_features=2
    )
    for seed in (0, 1)
)
#: Memory limit: more than any file here needs, less than the sizes in damaged headers.
MOST_BYTES = 20_000_000


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


# -- files are read back ---------------------------------------------------------------------------


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    for table in (
        TABLE,
        replace(TABLE, values=TABLE.values.astype("float32")),
        RegionTable(
            values=TABLE.values, settings=SETTINGS, n_features=2, columns=("größe, cm", "x\n|y")
        ),
        METRIC.region_table([[1.0], [2.0], [4.0]]),
    ):
        table.save(tmp_path / "table.npz")
        assert same(RegionTable.load(str(tmp_path / "table.npz")), table)
        table.save(tmp_path / "again.npz")
        assert (tmp_path / "table.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
        with np.load(tmp_path / "table.npz", allow_pickle=False) as archive:
            assert (archive["values"] == table.values).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.npz", "table.npz"]


# -- damage ---------------------------------------------------------------------------------------


def test_a_damaged_file_is_an_error(saved: Path, tmp_path: Path) -> None:
    """A damaged archive is an error: flipped bits, truncation, additional bytes, other files.

    A mixture of two archives is an error too.
    """
    content = saved.read_bytes()
    OTHER.save(tmp_path / "other.npz")
    other = (tmp_path / "other.npz").read_bytes()
    damaged = [content[:length] for length in range(0, len(content), 7)]
    damaged += [content + b"\0", b"x" * 1000 + content, b"a,b\n1,2\n" * 20, os.urandom(4096)]
    for place in range(0, len(content), 3):
        damaged.append(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    for place in range(64, len(content), 64):
        damaged.append(content[:place] + other[place:])
    foreign = io.BytesIO()
    np.savez(foreign, values=TABLE.values)
    damaged.append(foreign.getvalue())
    for changed in damaged:
        if changed in (content, other):
            continue
        saved.write_bytes(changed)
        with pytest.raises(UnreadableFileError, match=r"table\.npz is damaged or was not written"):
            RegionTable.load(saved)


def test_names_and_places(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="there is no such file"):
        RegionTable.load(tmp_path / "none.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(UnreadableFileError, match="cannot read"):
        RegionTable.load(tmp_path / "folder.npz")
    with pytest.raises(UnreadableFileError, match="got 7"):
        RegionTable.load(7)  # type: ignore[arg-type]
    renamed = saved.rename(saved.with_name("table.csv"))
    with pytest.raises(UnreadableFileError, match=r"named \*\.npz"):
        RegionTable.load(renamed)
    with pytest.raises(InvalidOptionError, match=r"named \*\.npz"):
        TABLE.save(renamed)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as POSIX systems have them")
def test_pipes_and_devices_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "zero.npz").symlink_to("/dev/zero")
    for name in ("pipe.npz", "zero.npz", "nul\0.npz"):
        with pytest.raises(UnreadableFileError, match="cannot read"):
            RegionTable.load(tmp_path / name)


# -- files with a right checksum ------------------------------------------------------------------


def signed(body: bytes) -> bytes:
    """Return the archive `body`, with the checksum in place of the zeros at its end."""
    assert body.endswith(b"0" * 64)
    return body[:-64] + hashlib.sha256(body[:-64]).hexdigest().encode()


def packed(members: list[tuple[str, bytes]], way: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", way) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=way)
        archive.comment = b"0" * 64
    return signed(buffer.getvalue())


def member(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npy(text: str, data: bytes) -> bytes:
    """Return a .npy file with an arbitrary header `text` and the bytes `data`."""
    header = text.encode("latin1") + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data


def as_header(text: bytes) -> bytes:
    return member(np.frombuffer(text, np.uint8))


def header(**changes: Any) -> bytes:
    fields: dict[str, Any] = {"format": "isodepth", "version": 1, "kind": "region table"}
    fields |= {"settings": json_settings(TABLE.settings), "isodepth_version": TABLE.version}
    fields |= {"signature": SIGNATURE, "algorithm": 1, "width": 2, "columns": None} | changes
    return as_header(json.dumps(fields).encode())


def whole(values: bytes | None = None, head: bytes | None = None) -> bytes:
    values = member(TABLE.values) if values is None else values
    return packed([("header.npy", header() if head is None else head), ("values.npy", values)])


def load(path: Path, content: bytes) -> Any:
    """Return the table, or the error, of a file with `content`; check that memory is bounded."""
    path.write_bytes(content)
    tracemalloc.start()
    try:
        loaded: Any = RegionTable.load(path)
    except UnreadableFileError as error:
        loaded = error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < MOST_BYTES + 20 * len(content)
    return loaded


FIELDS = "{'descr': %s, 'fortran_order': False, 'shape': %s, }"


WRONG_VALUES = [
    npy(FIELDS % ("'<f8'", "(16384, 16384)"), b"\0" * 96),
    npy(FIELDS % ("'<f8'", "(99999999999, 99999999999)"), b"\0" * 96),
    npy(FIELDS % ("'<f8'", "(18446744073709551617, 6)"), b"\0" * 48),
    npy(FIELDS % ("'<f8'", "(-2, -6)"), b"\0" * 96),
    npy(FIELDS % ("'<f8'", "(2, 6)"), b"\0" * 95),
    npy(FIELDS % ("'|O'", "(2, 6)"), b"\0" * 96),
    npy(FIELDS % ("'<c16'", "(2, 3)"), b"\0" * 96),
    npy(FIELDS % ("'<f8'", "[2, 6]"), b"\0" * 96),
    npy("(" * 5000, b"\0" * 96),
    b"\x93NUMPY\1\0\xff\xff",
    member(TABLE.values)[:-1],
    member(TABLE.values[:, :5]),
    member(TABLE.values * np.inf),
    member(TABLE.values.astype(np.int64)),
]
#: Fields of the header that contradict the values.
WRONG_FIELDS = (
    [{"width": width} for width in (0, 2.0, "2", True, None, 10**30)]
    + [{"columns": columns} for columns in ("ab", ["a"], ["a", 1], {"a": 1, "b": 2}, 2)]
    + [{"settings": settings} for settings in (None, "", {}, {"p": 2}, [1])]
    + [
        {"settings": json_settings(TABLE.settings) | changes}
        for changes in [
            {"p": "x"}, {"p": float("nan")}, {"eps": 3}, {"levels": "exact"}, {"levels": 3},
            {"n_directions": 4}, {"levels": "9" * 5000}, {"q": None}, {"scale": 1},
        ]
    ]
    + [{"isodepth_version": 1}, {"algorithm": 0}, {"algorithm": True}]
    + [{"version": version} for version in (2, True, 1.0, [1])]
    + [{"format": 7}, {"kind": None}, {"kind": "photograph"}]
)  # fmt: skip
NOT_JSON_OBJECTS = [
    b"", b"null", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b"9" * 100_000, b'{"width": NaN}',
    b'{"format": "isodepth", "format": "isodepth"}', b" " * (1 << 25),
]  # fmt: skip


@pytest.mark.parametrize(
    "parts",
    [{"values": values} for values in WRONG_VALUES]
    + [{"head": header(**changes)} for changes in WRONG_FIELDS]
    + [{"head": as_header(text)} for text in NOT_JSON_OBJECTS],
)
def test_wrong_members(tmp_path: Path, parts: dict) -> None:
    assert isinstance(load(tmp_path / "t.npz", whole(**parts)), UnreadableFileError)


class Trap:
    """Object whose pickle creates a file at `path` when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple:
        return (open, (self.path, "w"))


def test_pickles_are_never_opened(tmp_path: Path) -> None:
    content = whole(member(np.array([Trap(tmp_path / "sprung")])))
    assert isinstance(load(tmp_path / "t.npz", content), UnreadableFileError)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("way", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_compressed_members_are_refused(tmp_path: Path, way: int) -> None:
    zeros = npy(FIELDS % ("'<f8'", "(4, 250000)"), bytes(8_000_000))
    content = packed([("header.npy", header()), ("values.npy", zeros)], way)
    del zeros
    assert len(content) < 100_000
    assert "compressed members" in str(load(tmp_path / "t.npz", content))


@pytest.mark.parametrize(
    "names",
    [
        ["header.npy", "values.npy", "values.npy"],
        ["header.npy", "../values.npy"],
        ["header.npy", "values"],
        ["header.npy", "values.npy", ""],
        ["header.npy"],
        ["values.npy"],
        [],
        ["header.npy", "values.npy", *(f"more_{i}.npy" for i in range(5000))],
    ],
    ids=lambda names: str(names)[:60],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_odd_members(tmp_path: Path, names: list[str]) -> None:
    members = [(name, header() if "header" in name else member(TABLE.values)) for name in names]
    assert isinstance(load(tmp_path / "t.npz", packed(members)), UnreadableFileError)


def test_every_field_of_the_archive_set_to_anything(tmp_path: Path) -> None:
    """An archive is read or refused if bytes of its zip records are replaced by any others."""
    content, reasons, read = whole(), [], 0
    for mark, length in ((b"PK\3\4", 30), (b"PK\1\2", 46), (b"PK\5\6", 22)):
        start = content.find(mark)
        for place in range(start, start + length):
            for new in (b"\0", b"\xff", b"\xff\xff\xff\x7f", b"\xff\xff\xff\x7f" * 2):
                changed = bytearray(content[:-64] + b"0" * 64)
                changed[place : place + len(new)] = new
                if not changed.endswith(b"0" * 64) or len(changed) != len(content):
                    continue
                loaded = load(tmp_path / "t.npz", signed(bytes(changed)))
                if isinstance(loaded, RegionTable):
                    assert (loaded.values == TABLE.values).all()
                    read += 1
                else:
                    reasons.append(str(loaded))
    # Some fields (dates, attributes) have no effect; changes of most others are detected.
    assert len(reasons) > 100
    assert read > 0
    assert any("larger than the file" in reason for reason in reasons)


# -- saving over a file ---------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_save_leaves_the_old_file(
    saved: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: Any) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(output.os, step, full)
        with pytest.raises(OSError, match="no space"):
            OTHER.save(saved)
    assert same(RegionTable.load(saved), TABLE)
    assert [p.name for p in saved.parent.iterdir()] == ["table.npz"]


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
