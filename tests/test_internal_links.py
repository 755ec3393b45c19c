"""The link check of `make docs` reports all links of built pages to missing targets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / ".ci" / "internal_links.py"
GOOD = """<a href="other%20page.html#a-place">b</a> <a href="#here">c</a> <h1 id="here">d</h1>
<a href="https://example.org/nowhere.html#x">e</a> <img src="picture.png" alt="f">
<img src="one_thumb.png" alt="">
<a href="mailto:somebody@example.org">g</a> <link href="picture.png"> <a name="old">h</a>"""


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for name in ("picture.png", "one_thumb.png"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "page.html").write_text('<a href="../index.html#old">i</a>')
    (tmp_path / "other page.html").write_text('<p id="a-place">j</p>')
    (tmp_path / "index.html").write_text(GOOD)
    return tmp_path


def test_a_good_site_passes(site: Path) -> None:
    done = check(site)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("#a-place", "#another", "index.html: other%20page.html#another has no such place"),
        ("other%20page", "no-page", "index.html: no-page.html#a-place does not exist"),
        ('"#here"', '"#there"', "index.html: #there has no such place"),
        ('src="picture.png"', 'src="gone.png"', "index.html: gone.png does not exist"),
        (' alt="f"', "", "index.html: picture.png has no alternative text"),
        ('alt="f"', 'alt=" "', "index.html: picture.png has no alternative text"),
        ('name="old"', "", "sub/page.html: ../index.html#old has no such place"),
    ],
)
def test_what_leads_nowhere_is_named(site: Path, right: str, wrong: str, said: str) -> None:
    assert GOOD.count(right) == 1
    (site / "index.html").write_text(GOOD.replace(right, wrong))

    done = check(site)

    assert done.returncode == 1
    assert done.stdout.replace("\\", "/").splitlines() == [said]
