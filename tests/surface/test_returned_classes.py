"""Classes that public functions, methods and attributes return are public themselves."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from surface.snapshot import MODULES

import isodepth

PACKAGE = Path(isodepth.__file__).parent


def public_values() -> Iterator[tuple[str, Any]]:
    """Yield pairs of a public name of the package and its function or class."""
    for module in (*MODULES, *(["isodepth.torch"] if find_spec("torch") else [])):
        for name in importlib.import_module(module).__all__:
            value = getattr(importlib.import_module(module), name)
            if not isinstance(value, ModuleType):
                yield f"{module}.{name}", value


@cache
def classes_of_the_package() -> set[str]:
    """Return the names of all classes that the files of the package define."""
    trees = (ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py"))
    return {
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    }


class Annotation(NamedTuple):
    """Annotation of an attribute or of a returned value, and the module of the annotation."""

    place: str
    text: str
    module: str

    def classes(self) -> set[str]:
        """Return the classes of the package that the annotation contains.

        A name that is not an attribute of the module is imported for type checkers only.
        """
        names = {*re.findall(r"\w+", self.text)} & classes_of_the_package()
        found = vars(sys.modules[self.module])
        return {name for name in names if inspect.isclass(found.get(name, object))}


def annotations_of(name: str, value: Any) -> Iterator[Annotation]:
    """Yield the annotations of `value`, a function or a class with the public name `name`.

    For a function it is the annotation of the returned value. For a class they are those of its
    public attributes, and of the values that its methods and properties return.
    """
    if not inspect.isclass(value):
        yield Annotation(name, *_returned(value))
        return
    for base in value.__mro__:
        if not base.__module__.startswith("isodepth"):
            continue
        for attribute, annotation in vars(base).get("__annotations__", {}).items():
            if not attribute.startswith("_"):
                yield Annotation(f"{name}.{attribute}", str(annotation), base.__module__)
        for attribute, member in vars(base).items():
            if not attribute.startswith("_") or attribute in ("__getitem__", "__iter__"):
                yield Annotation(f"{name}.{attribute}", *_returned(member))


def _returned(member: Any) -> tuple[str, str]:
    """Return the annotation of the value that a method or property returns, and its module."""
    if isinstance(member, property):
        member = member.fget
    elif isinstance(member, cached_property):
        member = member.func
    elif isinstance(member, classmethod | staticmethod):
        member = member.__func__
    if not inspect.isfunction(member):
        return "", "isodepth"
    function = inspect.unwrap(member)
    return str(function.__annotations__.get("return", "")), function.__module__


@pytest.mark.parametrize(("name", "value"), [*public_values()])
def test_returned_classes_are_public(name: str, value: Any) -> None:
    public = {each.rpartition(".")[2] for each, _ in public_values()}
    internal = {
        each.place: classes
        for each in annotations_of(name, value)
        if (classes := each.classes() - public)
    }
    assert not internal, "list these classes in isodepth.typing, or return another class"


def test_internal_classes_are_found() -> None:
    found = {each.place: each.classes() for each in annotations_of("Metric", isodepth.Metric)}
    assert found["Metric.with_directions"] == {"FittedMetric"}
    assert found["Metric.eps"] == set()
    annotation = Annotation("f", "tuple[Source, Part] | None", "isodepth.stream.source")
    assert annotation.classes() == {"Source", "Part"}
    assert annotation._replace(module="isodepth.metric.metric").classes() == {"Source", "Part"}
    # The same name may be an alias of a type in another module.
    assert Annotation("f", "Precision", "isodepth.metric.settings").classes() == set()


def test_the_base_class_of_metrics_is_internal() -> None:
    shown = inspect.signature(isodepth.two_sample_test).parameters["method"].annotation
    assert shown == "Literal['aggregated', 'regions'] | Metric"
    metric = isodepth.Metric(eps=0.2)
    assert metric.with_directions(2).metric is metric


def test_parts_of_results_can_be_converted() -> None:
    """Check that all published classes have `to_dict`, except for objects that compute."""
    public = [getattr(isodepth.typing, name) for name in isodepth.typing.__all__]
    classes = filter(inspect.isclass, public)
    without = {each.__name__ for each in classes if not hasattr(each, "to_dict")}
    assert without == {
        "FittedMetric", "Gradient", "RandomLevels", "RegionTables", "Source", "TrimmedRegions",
    }  # fmt: skip
