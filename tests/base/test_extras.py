"""Messages about missing optional packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from isodepth.base.extras import load_extra
from isodepth.errors import MissingExtraError


@pytest.mark.parametrize("module", ["absent_package", "absent_package.part"])
def test_a_missing_package_is_named_with_its_extra(module: str) -> None:
    with pytest.raises(MissingExtraError) as caught:
        load_extra(module, "plot", "drawing")
    assert "drawing needs absent_package: pip install 'isodepth[plot]'" in str(caught.value)
    assert "in a checkout: pip install '.[plot]'" in str(caught.value)


def test_errors_of_a_package_are_included(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_extra.py").write_text("import absent_helper\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtraError, match=r"broken_extra, which cannot be .*absent_helper"):
        load_extra("broken_extra", "plot", "drawing")
