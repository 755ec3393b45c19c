"""Packages import only from lower layers, and no files import each other in a circle."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from graphlib import TopologicalSorter
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import isodepth

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "isodepth"

#: From the lowest up; docs/figures/draw_layers.py draws them. A room may import its own files and
#: those of lower layers; rooms of one layer do not import each other.
LAYERS = (
    ("errors", "_version", "_core"),
    ("base",),
    ("table",),
    ("stream",),
    ("geometry",),
    ("functions",),
    ("device",),
    ("rows",),
    ("metric",),
    ("significance",),
    ("monitor",),
    ("many", "text", "torch"),
    ("compat", "theory"),
    ("show",),
    ("plot", "report", "typing"),
    ("__init__",),
    ("cli",),
    ("__main__",),
)
LAYER_OF = {package: layer for layer, packages in enumerate(LAYERS) for package in packages}


def module_name(path: Path) -> str:
    """Return the name of a module, such as "isodepth.geometry.hull" or "isodepth.many.__init__"."""
    return ".".join(["isodepth", *path.relative_to(PACKAGE).with_suffix("").parts])


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(path: Path) -> set[str]:
    """Return the modules of the package that a file imports.

    Imports in functions and imports for type checkers are included.
    """
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            # `from a.b import c` names the module a.b.c, or something in a.b or in its __init__.
            parent = name.rpartition(".")[0]
            for module in (name, f"{name}.__init__", parent, f"{parent}.__init__"):
                if module in MODULES:
                    found.add(module)
                    break
    return found


def package_of(module: str) -> str:
    return module.split(".")[1]


def test_every_package_has_its_layer() -> None:
    assert {package_of(module) for module in MODULES} == set(LAYER_OF)


def test_imports_come_from_lower_layers_and_not_in_a_circle() -> None:
    graph = {module: imports_of(path) - {module} for module, path in MODULES.items()}
    for module, used in graph.items():
        mine = package_of(module)
        above = {other for other in used if LAYER_OF[package_of(other)] >= LAYER_OF[mine]}
        assert {package_of(other) for other in above} <= {mine}, f"{module} imports {above}"
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) == len(MODULES)


def test_nothing_is_imported_by_a_string() -> None:
    """`import_module` is called only for optional packages; `imports_of` ignores its calls."""
    found = {module for module, path in MODULES.items() if "import_module" in path.read_text()}
    assert found == {"isodepth.base.extras"}


def test_imports_are_seen(tmp_path: Path) -> None:
    """Check that `imports_of` finds modules, names in modules, packages, imports in functions."""
    file = tmp_path / "odd.py"
    file.write_text(
        "from isodepth import device\n"
        "from isodepth.geometry.depth import BY_NAME\n"
        "def f():\n    from isodepth.geometry.regions import Sample\n    import isodepth.errors\n"
    )
    assert imports_of(file) == {
        "isodepth.device.__init__",
        "isodepth.geometry.depth.__init__",
        "isodepth.geometry.regions",
        "isodepth.errors",
    }


#: Upper bounds on the number of files that the rows pass through in each call.
CALLS: dict[str, tuple[int, Callable[[np.ndarray, np.ndarray], object]]] = {
    "distance": (6, isodepth.distance),
    "compare": (13, isodepth.compare),
    "Metric.distance": (10, lambda X, Y: isodepth.Metric().distance(X, Y)),
    # A significant difference: two more files describe the change.
    "two_sample_test": (
        28,
        lambda X, Y: isodepth.two_sample_test(X, Y + 3, n_permutations=19, random_state=0),
    ),
    "pairwise": (15, lambda X, Y: isodepth.pairwise([X, Y], n_directions=10, random_state=0)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_passes_through_few_files(name: str) -> None:
    most, call = CALLS[name]
    X, Y = np.random.default_rng(0).normal(size=(2, 50, 3))
    call(X, Y)  # imports at first use are not counted
    called = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call(X, Y)
    finally:
        sys.setprofile(before)
    paths = map(Path, called)
    files = {str(path.relative_to(PACKAGE)) for path in paths if PACKAGE in path.parents}
    assert "geometry/directions.py" in files
    assert len(files) <= most, sorted(files)
