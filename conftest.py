"""Files that cannot be imported without an optional package are not searched for examples."""

from importlib.util import find_spec

_NEEDED = {
    "torch": ["src/isodepth/torch/*", "src/isodepth/tensors/*", "examples/gradient_flow.py"],
    "triton": ["src/isodepth/tensors/kernels/*"],
    "torchmetrics": ["src/isodepth/text/torchmetrics.py"],
}
collect_ignore_glob = [
    path for package, paths in _NEEDED.items() if find_spec(package) is None for path in paths
]
