"""The table of options in docs/text.md lists the options of DepthScore."""

from __future__ import annotations

import re
from dataclasses import fields

from pages.examples import ROOT

PAGE = ROOT / "docs" / "text.md"


def test_table_lists_the_options() -> None:
    from isodepth.text import DepthScore

    table = PAGE.read_text("utf-8").partition("| option |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    settings = {one.name for one in fields(DepthScore) if one.init}
    assert named <= settings
    # These belong to other options and are described with them.
    assert settings - named == {"covariance", "levels", "refine"}
