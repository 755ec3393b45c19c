"""Pictures in files: whole, or not there and the old one as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from isodepth import InvalidInputError, InvalidOptionError
from isodepth.plot.picture import check_picture, save_picture

Figure = pytest.importorskip("matplotlib.figure").Figure

STARTS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml", "PNG": b"\x89PNG"}


@pytest.mark.parametrize("ending", list(STARTS))
def test_formats_go_by_the_name(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(b"old")
    save_picture(Figure(), path)
    assert path.read_bytes().startswith(STARTS[ending])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, RuntimeError, KeyboardInterrupt, OSError])
def test_a_picture_that_fails_leaves_the_old_one(tmp_path: Path, error: type) -> None:
    class Broken(Figure):
        def savefig(self, file, **options):
            file.write(b"half")
            raise error("no ink")

    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    expected = InvalidInputError if error in (ValueError, RuntimeError) else error
    with pytest.raises(expected, match="no ink"):
        save_picture(Broken(), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a.xyz", "a", "absent/a.png", "folder.png"])
def test_where_no_picture_can_be(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(InvalidOptionError, match="cannot"):
        check_picture(tmp_path / name)
    with pytest.raises(InvalidOptionError, match="cannot"):
        save_picture(Figure(), tmp_path / name)
