"""Every example of README and of the documentation runs, and gives what the page shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pages.examples import ROOT, PageError, blocks_of, pages, run_page
from text_extra import needs, needs_encoder

#: How many blocks of each page do not run here: each says why, and a new one is counted here.
NOT_RUN = {
    "README.md": 2,
    "benchmarks.md": 1,
    "command_line.md": 1,
    "howto.md": 1,
    "index.md": 1,
    "project_page.md": 1,
    "scale.md": 1,
    "text.md": 4,
}
#: How many run; pages that are not named have none.
RUN = {
    "README.md": 3, "alternatives.md": 1, "choosing.md": 1, "command_line.md": 5,
    "concepts.md": 4, "howto.md": 14,
    "index.md": 2, "many_samples.md": 9, "scale.md": 1, "significance.md": 3, "monitoring.md": 4,
    "project_page.md": 1, "tensors.md": 3, "text.md": 6,
}  # fmt: skip
#: Pages with examples of what an extra brings.
NEEDED = {"howto.md": needs("torch"), "tensors.md": needs("torch"), "text.md": needs_encoder}
_FILES = Path(__file__).parent / "files"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the files that pages name."""
    for file in _FILES.iterdir():
        shutil.copy(file, tmp_path)
    demo = ROOT / "examples" / "demo"
    shutil.copytree(demo, tmp_path / "examples" / "demo")
    for name in ("weather", "flights"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / "examples" / name)
    shutil.copy(demo / "first_half.csv", tmp_path / "before.csv")
    shutil.copy(demo / "second_half.csv", tmp_path / "after.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder", "without_pictures")
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=NEEDED.get(page.name, ())) for page in pages()],
)
def test_examples_give_what_the_page_shows(page: Path) -> None:
    assert run_page(page.name, page.read_text("utf-8")) == RUN.get(page.name, 0)


def test_examples_that_do_not_run_are_counted() -> None:
    found = {
        page.name: [b.reason for b in blocks_of(page.read_text("utf-8")) if b.reason]
        for page in pages()
    }

    assert {name: len(reasons) for name, reasons in found.items() if reasons} == NOT_RUN


GOOD = """
```python
a = [1, 2]           # not an output
print(a[0])          # 1
a                    # [1, 2]
for b in a:
    print(b + 0.001)     # 1.00...
```

```text
1
1.00...
2.00...
```

```python
>>> a[1]
2
>>> c = 5
```

```python
c + 1    # 6
```

<!-- not run: needs the network -->
```console
pip install isodepth
```

```console
$ isodepth compare before.csv after.csv --directions 10
Comparison: distance ...
  DR|...dirs=uniform:10|...
```
"""


@pytest.mark.usefixtures("folder")
def test_a_good_page_passes() -> None:
    assert run_page("page", GOOD) == 4


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("# 1\n", "# 2\n"),
        ("# [1, 2]", "# [1, 3]"),
        ("# 1.00...", "# 7.00..."),
        ("2.00...", "3.00..."),
        ("2\n>>>", "3\n>>>"),
        ("c + 1    # 6", "c + 1    # 7"),
        ("<!-- not run: needs the network -->\n", ""),
        ("<!-- not run: needs the network -->\n", "<!-- not run: -->\n"),
        ("uniform:10|", "uniform:11|"),
        ("before.csv", "nowhere.csv"),
        ("```text", "```output"),
        ("c + 1    # 6\n```", "c + 1    # 6"),
        ("```python\nc", "```text\nc"),
    ],
)
def test_a_page_that_says_something_else_fails(right: str, wrong: str) -> None:
    assert GOOD.count(right) == 1
    with pytest.raises(PageError):
        run_page("page", GOOD.replace(right, wrong))
