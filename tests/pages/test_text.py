"""The table of options in docs/text.md is that of the library."""

from __future__ import annotations

import re
from dataclasses import fields

from pages.examples import ROOT

PAGE = ROOT / "docs" / "text.md"


def test_options_are_those_of_the_library() -> None:
    from isodepth.text import DepthScore

    table = PAGE.read_text("utf-8").partition("| option |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    settings = {one.name for one in fields(DepthScore) if one.init}
    assert named <= settings
    # What is left out belongs to other options.
    assert settings - named == {"covariance", "levels", "refine"}
