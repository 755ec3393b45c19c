"""Archives with a right checksum and anything inside: read, or refused, in little memory."""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isodepth import DepthMonitor, Metric, RegionTable, UnreadableFileError

METRIC = Metric(levels=2, n_directions=3, random_state=0, refine=0)
VALUES = np.random.default_rng(0).normal(size=(2, 6))
#: Far more than any file here takes, far less than what they claim to hold.
MOST_BYTES = 20_000_000
TWO_GIGABYTES = 1 << 31

Member = tuple[str, bytes]


def signed(body: bytes) -> bytes:
    """The bytes of an archive, its placeholder of a comment replaced by the checksum."""
    assert body.endswith(b"0" * 64)
    return body[:-64] + hashlib.sha256(body[:-64]).hexdigest().encode()


def packed(members: list[Member], way: int = zipfile.ZIP_STORED) -> bytes:
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


def npy(text: str, data: bytes, version: bytes = b"\1\0") -> bytes:
    """A member whose header says what it likes."""
    header = text.encode("latin1") + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header + data


@pytest.fixture(autouse=True, scope="module")
def _compiled() -> None:
    """What is compiled when two tables are first compared is not what a file takes."""
    table = METRIC.table(np.eye(2))
    table.distance_to(table)


def header(**changes: Any) -> bytes:
    fields: dict[str, Any] = {"format": "isodepth", "version": 1, "kind": "region table"}
    fields |= {"signature": METRIC.table(np.eye(2)).signature, "width": 2, "columns": None}
    return as_header(json.dumps(fields | changes).encode())


def as_header(text: bytes) -> bytes:
    return member(np.frombuffer(text, np.uint8))


def whole(values: bytes = member(VALUES), head: bytes | None = None) -> bytes:
    return packed([("header.npy", header() if head is None else head), ("values.npy", values)])


def load(path: Path, content: bytes, read: Callable[[Path], Any] = RegionTable.load) -> Any:
    """What `read` gives, or the error; the memory it takes is bounded."""
    path.write_bytes(content)
    tracemalloc.start()
    try:
        loaded: Any = read(path)
        # A file that is read can be used.
        if isinstance(loaded, RegionTable):
            assert loaded.distance_to(loaded) == 0
            assert repr(loaded)
    except UnreadableFileError as error:
        loaded = error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < MOST_BYTES + 20 * len(content)
    return loaded


def test_a_file_put_together_by_hand_is_read(tmp_path: Path) -> None:
    loaded = load(tmp_path / "t.npz", whole())
    assert (loaded.values == VALUES).all()


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }"
FIELDS = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }"


@pytest.mark.parametrize(
    "values",
    [
        npy(HUGE % "16384, 16384", b"\0" * 96),
        npy(HUGE % "99999999999, 99999999999", b"\0" * 96),
        npy(HUGE % "0, 99999999999999999", b""),
        npy(HUGE % "18446744073709551617, 6", b"\0" * 48),
        npy(HUGE % "-2, -6", b"\0" * 96),
        npy(HUGE % ("1, " * 70 + "12"), b"\0" * 96),
        npy(HUGE % "2, 6", b"\0" * 95),
        npy(HUGE % "2, 6", b"\0" * 97),
        npy(FIELDS % ("'|O'", "False", "(2, 6)"), b"\0" * 96),
        npy(FIELDS % ("'<c16'", "False", "(2, 3)"), b"\0" * 96),
        npy(FIELDS % ("'<V8'", "False", "(2, 6)"), b"\0" * 96),
        npy(FIELDS % ("[('a', '<f8')]", "False", "(2, 6)"), b"\0" * 96),
        npy(FIELDS % ("'<f8'", "True", "(2, 6)"), b"\0" * 96),
        npy(FIELDS % ("'<f8'", "7", "(2, 6)"), b"\0" * 96),
        npy(FIELDS % ("'<f8'", "False", "[2, 6]"), b"\0" * 96),
        npy(FIELDS % ("'<f8'", "False", "(2.0, 6)"), b"\0" * 96),
        npy(FIELDS % ("'<f8'", "False", "(" * 900), b"\0" * 96),
        npy(FIELDS % ("'''", "False", "(2, 6)"), b"\0" * 96),
        npy("{'descr': '<f8'}", b"\0" * 96),
        npy("(" * 5000, b"\0" * 96),
        npy("'" * 101, b"\0" * 96),
        npy("", b"\0" * 96),
        npy(HUGE % "2, 6", b"\0" * 96, b"\2\0"),
        npy(HUGE % "2, 6", b"\0" * 96, b"\7\0"),
        b"",
        b"\x93NUMPY\1\0\xff\xff",
        member(VALUES)[:-1],
        member(VALUES) + b"\0",
        member(VALUES[0]),
        member(VALUES[:, :5]),
        member(VALUES[:1]),
        member(VALUES * np.inf),
        member(VALUES.astype(np.int64)),
        member(VALUES.astype(">f8")),
    ],
)
def test_members_that_are_not_what_they_say(tmp_path: Path, values: bytes) -> None:
    assert isinstance(load(tmp_path / "t.npz", whole(values)), UnreadableFileError)


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 0},
        {"width": -1},
        {"width": 2.0},
        {"width": "2"},
        {"width": True},
        {"width": None},
        {"width": 10**30},
        {"columns": "ab"},
        {"columns": ["a"]},
        {"columns": ["a", 1]},
        {"columns": ["a", "b", "c"]},
        {"columns": {"a": 1, "b": 2}},
        {"columns": 2},
        {"signature": None},
        {"signature": 7},
        {"signature": ""},
        {"signature": "DR"},
        {"signature": "DR|"},
        {"signature": "DR|p"},
        {"signature": "DR|p=2|eps=0.1|levels=2"},
        {"signature": "DR|p=x|eps=0.1|levels=2|dirs=uniform:3"},
        {"signature": "DR|p=nan|eps=0.1|levels=2|dirs=uniform:3"},
        {"signature": "DR|p=2|eps=3|levels=2|dirs=uniform:3"},
        {"signature": "DR|p=2|eps=0.1|levels=exact|dirs=uniform:3"},
        {"signature": "DR|p=2|eps=0.1|levels=3|dirs=uniform:3"},
        {"signature": "DR|p=2|eps=0.1|levels=2|dirs=uniform:4"},
        {"signature": "DR|p=2|eps=0.1|levels=2|dirs=uniform"},
        {"signature": "DR|p=2|p=3|eps=0.1|levels=2|dirs=uniform:3"},
        {"signature": "DR|p=2|eps=0.1|levels=" + "9" * 5000 + "|dirs=uniform:3"},
        {"version": 2},
        {"version": True},
        {"version": 1.0},
        {"version": [1]},
        {"format": 7},
        {"kind": None},
        {"kind": ["region table"]},
    ],
)
def test_headers_that_contradict_the_numbers(tmp_path: Path, changes: dict) -> None:
    assert isinstance(load(tmp_path / "t.npz", whole(head=header(**changes))), UnreadableFileError)


@pytest.mark.parametrize("key", ["format", "version", "kind", "signature", "width", "columns"])
def test_headers_that_lack_something(tmp_path: Path, key: str) -> None:
    fields = json.loads(np.load(io.BytesIO(header())).tobytes())
    del fields[key]
    content = whole(head=as_header(json.dumps(fields).encode()))
    assert isinstance(load(tmp_path / "t.npz", content), UnreadableFileError)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"7",
        b'"text"',
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 100_000,
        b'{"width": NaN}',
        b'{"format": "isodepth", "format": "isodepth"}',
        b" " * (1 << 25),
    ],
    ids=lambda text: text[:12].decode("latin1"),
)
def test_headers_that_are_no_json_object(tmp_path: Path, text: bytes) -> None:
    content = whole(head=as_header(text))
    assert isinstance(load(tmp_path / "t.npz", content), UnreadableFileError)


def test_a_header_that_is_no_array_of_bytes(tmp_path: Path) -> None:
    for head in (member(VALUES), npy(HUGE % "5,", b"\0" * 40), b"{}"):
        assert isinstance(load(tmp_path / "t.npz", whole(head=head)), UnreadableFileError)


# -- the archive ----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packed_members_are_never_unpacked(tmp_path: Path, way: int) -> None:
    zeros = npy(HUGE % "4, 10000000", bytes(320_000_000)) if way == 8 else member(VALUES)
    content = packed([("header.npy", header()), ("values.npy", zeros)], way)
    del zeros
    assert len(content) < 2_000_000
    loaded = load(tmp_path / "t.npz", content)
    assert isinstance(loaded, UnreadableFileError)
    assert "packed" in str(loaded)


@pytest.mark.parametrize(
    "names",
    [
        ["header.npy", "values.npy", "values.npy"],
        ["header.npy", "header.npy", "values.npy"],
        ["header.npy", "../values.npy"],
        ["header.npy", "/values.npy"],
        ["header.npy", "values"],
        ["header.npy", "VALUES.npy"],
        ["header.npy", "values.npy", "\ud83d\ude00.npy".encode("utf-16", "surrogatepass").decode(
            "utf-16") ],
        ["header.npy", "values.npy", ""],
        ["header.npy"],
        ["values.npy"],
        [],
        ["header.npy", "values.npy", *(f"more_{i}.npy" for i in range(5000))],
    ],
    ids=lambda names: str(names)[:60],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_odd_members(tmp_path: Path, names: list[str]) -> None:
    members = [(name, header() if "header" in name else member(VALUES)) for name in names]
    assert isinstance(load(tmp_path / "t.npz", packed(members)), UnreadableFileError)


def records(content: bytes) -> Iterator[tuple[int, int]]:
    """Places of the headers of an archive, each with its length."""
    for mark, length in ((b"PK\3\4", 30), (b"PK\1\2", 46), (b"PK\5\6", 22)):
        start = content.find(mark)
        while start >= 0:
            yield start, length
            start = content.find(mark, start + 1)


def test_every_field_of_the_archive_set_to_anything(tmp_path: Path) -> None:
    """Each byte of every record, and each pair and four of them, to small and huge values."""
    content, outcomes = whole(), {True: 0, False: 0}
    for start, length in list(records(content)):
        for place in range(start, start + length):
            for new in (b"\0", b"\1", b"\xff", b"\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"):
                changed = bytearray(content[:-64] + b"0" * 64)
                changed[place : place + len(new)] = new
                if not changed.endswith(b"0" * 64) or len(changed) != len(content):
                    continue
                loaded = load(tmp_path / "t.npz", signed(bytes(changed)))
                outcomes[isinstance(loaded, UnreadableFileError)] += 1
                if isinstance(loaded, RegionTable):
                    assert (loaded.values == VALUES).all()
    # Some fields (dates, attributes) mean nothing; most others are seen.
    assert outcomes[True] > 400
    assert outcomes[False] > 0


def test_every_byte_of_a_member_header_changed(tmp_path: Path) -> None:
    values = member(VALUES)
    for place in range(128):
        for new in b"\0 9',\xff":
            changed = bytearray(values)
            changed[place] = new
            loaded = load(tmp_path / "t.npz", whole(bytes(changed)))
            if isinstance(loaded, RegionTable):
                assert loaded.values.shape == (2, 6)


def test_every_bit_of_the_json_flipped(tmp_path: Path) -> None:
    text = np.load(io.BytesIO(header(columns=["a", "b"]))).tobytes()
    for place in range(len(text)):
        changed = bytearray(text)
        changed[place] ^= 1 << place % 8
        load(tmp_path / "t.npz", whole(head=as_header(bytes(changed))))


def test_monitors_are_read_or_refused(tmp_path: Path) -> None:
    directions = np.random.default_rng(1).normal(size=(3, 2))
    monitor = DepthMonitor(np.eye(2), levels=2, directions=directions)
    monitor.save(tmp_path / "m.npz")
    with zipfile.ZipFile(tmp_path / "m.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def refused(name: str, content: bytes) -> bool:
        changed = packed(list({**members, name: content}.items()))
        return isinstance(load(tmp_path / "c.npz", changed, DepthMonitor.load), UnreadableFileError)

    assert not refused("values.npy", members["values.npy"])
    for odd in (directions[:2], directions[:, :1], directions * np.nan, directions * 0):
        assert refused("directions.npy", member(odd))
    fields = json.loads(np.load(io.BytesIO(members["header.npy"])).tobytes())
    for old, new in (("eps=0.1", "eps=1e9"), ("projection", "foreign:x"), ("projection", "tukey")):
        assert old in fields["signature"]
        changed = {**fields, "signature": fields["signature"].replace(old, new)}
        assert refused("header.npy", as_header(json.dumps(changed).encode()))


# -- the file -------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes as POSIX systems have them")
def test_pipes_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "zero.npz").symlink_to("/dev/zero")
    for name in ("pipe.npz", "zero.npz", "nul\0.npz"):
        with pytest.raises(UnreadableFileError, match="cannot read"):
            RegionTable.load(tmp_path / name)
    with pytest.raises(UnreadableFileError, match="got 7"):
        RegionTable.load(7)  # type: ignore[arg-type]
