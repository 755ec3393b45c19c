"""Public arrays and dictionaries of results are read-only, also in copies."""

from __future__ import annotations

import copy
import importlib
import inspect
import itertools
import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from surface.snapshot import MODULES
from surface.test_results import OPTIONS, RESULTS, TEST, VALUES, X, Y

import isodepth

ORDERED = pd.DataFrame({"size": ["S", "M", "L", "M"] * 9, "b": range(36)})
WRONG = pd.DataFrame({"a": [*X[:, 0], *[-9999.0] * 9], "kind": ["new"] * 9 + ["old"] * 60})
EXACT = isodepth.Metric(directions=np.eye(2), scale=[1.0, 2.0], levels="exact", refine=0)
FITTED = EXACT.with_directions(2)
MAKERS: dict[str, Callable[[], Any]] = {
    **RESULTS,
    **VALUES,
    "weights": lambda: isodepth.compare(X, Y, weights=(X[:, 0] ** 2, None), **OPTIONS),
    "levels": lambda: EXACT.compare(X, Y),
    "kinds": lambda: isodepth.compare(ORDERED, ORDERED, kinds={"size": ["S", "M", "L"]}, **OPTIONS),
    "metric test": lambda: isodepth.two_sample_test(X, Y, method=isodepth.Metric(q=1), **TEST),
    "fitted": lambda: FITTED,
    "tables": lambda: isodepth.region_tables({"a": X, "b": Y}, scale="pooled", **OPTIONS),
    "hull": lambda: isodepth.hull_distance(X, Y),
    "gradient": lambda: EXACT.compare(X, Y).gradient(),
    "wrong": lambda: isodepth.compare(WRONG, WRONG[9:60], **OPTIONS).suspicious_rows(),
    "random levels": lambda: isodepth.Metric.paper(n_levels=5, n_directions=9).levels,
}
#: Public classes that are not results: they compute or change, or are errors or types of arguments.
OTHERS = {
    "AIIRWDepth", "CachedEncoder", "DepthScore", "DistanceTransformer", "Encoder",
    "HalfspaceDepth", "IRWDepth", "Monitor", "ProjectionDepth", "RegionTransformer", "Source",
}  # fmt: skip


def public_attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of the public attributes of an object, except for methods."""
    for name in sorted({*dir(type(value)), *getattr(value, "__dict__", ())}):
        found = None if name.startswith("_") else getattr(value, name, None)
        if not callable(found):
            yield name, found


def parts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield `value` and all values that can be reached by its public attributes, with a path."""
    yield path, value
    if type(value).__module__.startswith("isodepth"):
        for name, found in public_attributes(value):
            yield from parts(found, f"{path}.{name}")
    elif isinstance(value, Mapping):
        for key, found in value.items():
            yield from parts(found, f"{path}[{key!r}]")
    elif isinstance(value, tuple | list):
        for i, found in enumerate(value):
            yield from parts(found, f"{path}[{i}]")


WRITES: tuple[Callable[[Any], Any], ...] = (
    lambda settings: settings.__setitem__("alpha", 0.5),
    lambda settings: settings.__delitem__(next(iter(settings))),
    lambda settings: settings.update(alpha=0.5),
    lambda settings: settings.__ior__({"alpha": 0.5}),
    lambda settings: settings.setdefault("new", 0.5),
    lambda settings: settings.pop(next(iter(settings))),
    lambda settings: settings.popitem(),
    lambda settings: settings.clear(),
)


def check_read_only(path: str, value: Any) -> None:
    if isinstance(value, np.ndarray):
        with pytest.raises(ValueError, match="read-only"):
            value[...] = 0
    elif isinstance(value, Mapping):
        content = dict(value)
        for write in WRITES:
            with pytest.raises(TypeError, match="read-only"):
                write(value)
        assert value == content
    else:
        assert not isinstance(value, list | set | bytearray | pd.DataFrame), path


@pytest.mark.parametrize("name", MAKERS)
def test_results_cannot_be_changed(name: str) -> None:
    result = MAKERS[name]()
    copies = (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result))
    for each in (result, *copies):
        for path, value in parts(each, name):
            check_read_only(path, value)


def test_all_public_classes_are_built() -> None:
    made = [*itertools.chain.from_iterable(parts(make(), name) for name, make in MAKERS.items())]
    built = {type(value).__name__ for _, value in made}
    modules = map(importlib.import_module, MODULES)
    values = [getattr(module, name) for module in modules for name in module.__all__]
    classes = filter(inspect.isclass, values)
    public = {each.__name__ for each in classes if not issubclass(each, Exception)}
    assert public - built == OTHERS, "add new classes to MAKERS, or to OTHERS if they can change"


def test_dictionaries_of_results_can_be_copied() -> None:
    settings = RESULTS["comparison"]().settings
    assert type(settings | {"p": 1}) is type(settings.copy()) is dict
    assert pickle.loads(pickle.dumps(settings)) == copy.deepcopy(settings) == settings
