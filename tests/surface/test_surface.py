"""Every change of the public surface since the last release is in the changelog."""

from __future__ import annotations

import inspect
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from surface.snapshot import FILE, OPTIONAL, changed_names, surface

import isodepth

ROOT = Path(__file__).resolve().parents[2]


def unreleased() -> str:
    """Return the section of the changelog about changes since the last release."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    return re.split(r"^## \[", text.partition("## [Unreleased]")[2], flags=re.MULTILINE)[0]


def lacking(names: list[str], changelog: str) -> list[str]:
    """Return the dotted names whose last part does not occur as a word in `changelog`."""
    words = {*re.findall(r"[\w-]+", changelog)}
    return [name for name in names if re.findall(r"[\w-]+", name)[-1] not in words]


def test_changes_of_the_surface_are_in_the_changelog() -> None:
    recorded = json.loads(FILE.read_text("utf-8"))
    for package, module in OPTIONAL.items():
        if not find_spec(package):
            recorded = {k: v for k, v in recorded.items() if not k.startswith(f"{module}.")}
    missing = lacking(changed_names(recorded, surface()), unreleased())
    assert not missing, (
        "these public names were added, removed or changed; until the first release, write the "
        "snapshot again (python tests/surface/snapshot.py), and afterwards describe each of them "
        "in the section Unreleased of CHANGELOG.md"
    )


def test_a_change_without_an_entry_is_found() -> None:
    old = {"isodepth.f": "(x)", "isodepth.g": "(y)", "isodepth test --by": "text"}
    new = {"isodepth.f": "(x, y)", "isodepth.h": "()", "isodepth test --by": "text"}
    names = changed_names(old, new)
    assert names == ["isodepth.f", "isodepth.g", "isodepth.h"]
    assert lacking(names, "- `f` has an argument `y`; `g` is now `h`") == []
    assert lacking(names, "- `f` has an argument") == ["isodepth.g", "isodepth.h"]


@pytest.mark.parametrize(
    "name",
    [
        "isodepth.distance",
        "isodepth.typing.Comparison.level_intervals",
        "isodepth compare --by",
        "isodepth report --by",
        "JSON of comparison: distance",
    ],
)
def test_the_surface_contains_every_kind_of_name(name: str) -> None:
    assert (name in surface()) == (name != "isodepth compare --by")


@pytest.mark.skipif(not find_spec("torchmetrics"), reason="needs torchmetrics")
def test_the_surface_contains_the_metric_of_torchmetrics() -> None:
    names = {name for name in surface() if name.startswith("isodepth.text.torchmetrics")}
    base = "isodepth.text.torchmetrics.DepthScoreMetric"
    assert {base, f"{base}.update", f"{base}.compute"} <= names
    assert not {f"{base}.forward", f"{base}.reset"} & names


def test_all_errors_are_public() -> None:
    """Users can import each error and warning of the library from `isodepth.errors`."""
    pattern = re.compile(r"^ *class (\w+)\(.*(?:Error|Exception|Warning)\b.*\):", re.MULTILINE)
    files = (ROOT / "src" / "isodepth").rglob("*.py")
    names = {name for file in files for name in pattern.findall(file.read_text("utf-8"))}
    assert names - {"Note"} == {*isodepth.errors.__all__}  # `Note` is shown by the command line


@pytest.mark.parametrize("name", ["compat", "errors", "plot", "report", "text"])
def test_modules_list_only_public_names(name: str) -> None:
    module = getattr(isodepth, name)
    assert dir(module) == sorted(module.__all__)


def test_internal_names_have_an_underscore() -> None:
    assert not {"RegionTables", "Source", "FittedMetric"} & {*isodepth.__all__}
    public = {"n_rows", "n_features", "columns", "dtype", "weighted", "chunk_rows"}
    assert {name for name in dir(isodepth.scan([[[0.0]]])) if not name.startswith("_")} == public
    internal = {
        "Metric": {"check_for_tables", "from_options", "length", "source", "steps"},
        "Comparison": {
            "changed_options", "headlined_rows", "splitting_cost", "keeps_rows", "supports",
            "search_directions", "direction",
        },
    }  # fmt: skip
    for name, attributes in internal.items():
        module = isodepth if hasattr(isodepth, name) else isodepth.typing
        assert not attributes & {*dir(getattr(module, name))}


@pytest.mark.parametrize(
    "name", ["ProjectionDepth", "HalfspaceDepth", "IRWDepth", "AIIRWDepth", "FittedMetric"]
)
def test_estimators_have_the_names_of_scikit_learn(name: str) -> None:
    """Check that public names are options, methods of scikit-learn, or the names listed below."""
    from isodepth.metric.fitted import FittedMetric

    kind = FittedMetric if name == "FittedMetric" else getattr(isodepth, name)
    own = {
        attribute
        for base in kind.__mro__
        if base.__module__.startswith("isodepth")
        for attribute in (*vars(base), *vars(base).get("__annotations__", {}))
        if not attribute.startswith("_")
    }
    if kind is FittedMetric:
        assert own == {
            "metric", "directions", "signature", "regions", "all_regions", "distance", "compare",
        }  # fmt: skip
    else:
        own -= {"set_fit_request", *inspect.signature(kind).parameters}
        assert own == {"fit", "score_samples"}
