"""Files that cannot be imported without an optional package are not searched for examples."""

import os
from importlib.util import find_spec

import joblib
import pytest
from hypothesis import HealthCheck, settings

# Pictures are drawn without a window system.
os.environ.setdefault("MPLBACKEND", "agg")
# As many tests run at a time as there are processors: threads of BLAS would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The processes of pytest-xdist share the cores, and processes that tests start inherit the limit.
if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    _share = joblib.cpu_count() // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    os.environ["LOKY_MAX_CPU_COUNT"] = str(max(1, _share))

# On a loaded machine it may take minutes to draw an input.
settings.register_profile("slow machine", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("slow machine")

_NEEDED = {
    "torch": [
        "src/isodepth/torch/*",
        "src/isodepth/device/*",
        "src/isodepth/metric/tensors.py",
        "examples/gradient_flow.py",
    ],
    "triton": ["src/isodepth/device/kernels/*"],
    "torchmetrics": ["src/isodepth/text/torchmetrics.py"],
}
collect_ignore_glob = [
    path for package, paths in _NEEDED.items() if find_spec(package) is None for path in paths
]


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports with the alternative texts of figures only: drawing takes most of the time."""
    from markupsafe import Markup

    words = Markup("<svg><title>{}</title></svg>")
    monkeypatch.setattr(
        "isodepth.show.page.inline_svg", lambda _, alternative: words.format(alternative)
    )
    for name in ("nested_regions", "gap_profile", "contributions", "null_distribution"):
        monkeypatch.setattr(f"isodepth.show.pair.{name}", lambda *_, **__: None)
