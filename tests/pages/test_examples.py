"""The examples of README and of the documentation run and give the outputs that they show."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pages.examples import ROOT, PageError, blocks_of, pages, run_page
from text_extra import needs, needs_encoder

#: Number of blocks of each page that are marked as not run.
NOT_RUN = {
    "guarantees.md": 1,
    "README.md": 2,
    "benchmarks.md": 1,
    "command_line.md": 1,
    "drift.md": 1,
    "howto.md": 1,
    "index.md": 1,
    "json.md": 1,
    "project_page.md": 1,
    "scale.md": 3,
    "text.md": 2,
    "text_study.md": 2,
}
#: Number of blocks that run; 0 for other pages.
RUN = {
    "README.md": 2, "alternatives.md": 1, "authors_code.md": 1, "choosing.md": 2,
    "command_line.md": 4, "concepts.md": 5, "howto.md": 13,
    "index.md": 2, "json.md": 1, "many_samples.md": 8, "options.md": 1, "scale.md": 2,
    "significance.md": 4, "monitoring.md": 7,
    "project_page.md": 1, "tensors.md": 3, "text.md": 6,
}  # fmt: skip
#: Pages with examples that need an extra.
NEEDED = {"howto.md": needs("torch"), "tensors.md": needs("torch"), "text.md": needs_encoder}
_FILES = Path(__file__).parent / "files"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with the files that the pages use."""
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
    "page", [pytest.param(page, id=page.name, marks=NEEDED.get(page.name, ())) for page in pages()]
)
def test_examples_give_the_shown_outputs(page: Path) -> None:
    assert run_page(page.name, page.read_text("utf-8")) == RUN.get(page.name, 0)


def test_examples_that_do_not_run_are_counted() -> None:
    reasons = {
        page.name: [b.reason for b in blocks_of(page.read_text("utf-8")) if b.reason]
        for page in pages()
    }

    assert {name: len(each) for name, each in reasons.items() if each} == NOT_RUN


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
$ isodepth compare before.csv after.csv --n-directions 10
before and after are at distance ...
  no suspicious rows
  ...
```
"""


@pytest.mark.usefixtures("folder")
def test_a_correct_page_passes() -> None:
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
        ("no suspicious rows", "2 suspicious rows"),
        ("before.csv", "nowhere.csv"),
        ("```text", "```output"),
        ("c + 1    # 6\n```", "c + 1    # 6"),
        ("```python\nc", "```text\nc"),
    ],
)
def test_a_page_with_a_wrong_output_fails(right: str, wrong: str) -> None:
    assert GOOD.count(right) == 1
    with pytest.raises(PageError):
        run_page("page", GOOD.replace(right, wrong))
