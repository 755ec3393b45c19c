"""The examples of docs/text.md run, and print what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from text_extra import needs_encoder

PAGE = Path(__file__).resolve().parents[2] / "docs" / "text.md"


@needs_encoder
def test_examples_print_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    exec(compile(code, str(PAGE), "exec"), {"__name__": "page"})
    printed = capsys.readouterr().out.splitlines()
    prints = [line for line in code.splitlines() if line.startswith("print(")]
    assert len(printed) == len(prints) > 5
    for line, got in zip(prints, printed, strict=True):
        said = line.rpartition("  # ")[2].strip()
        assert got.startswith(said.removesuffix("..."))


def test_options_are_those_of_the_library() -> None:
    from dataclasses import fields

    from isodepth.text import DepthScore

    table = PAGE.read_text("utf-8").partition("| option |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    settings = {one.name for one in fields(DepthScore) if one.init}
    assert named <= settings
    # What is left out belongs to other options.
    assert settings - named == {"covariance", "levels", "refine"}
