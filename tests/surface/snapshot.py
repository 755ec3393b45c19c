"""The public surface: names, signatures, attributes, keys of JSON, commands and options.

`python tests/surface/snapshot.py` writes the surface to surface.json, as a step of a release.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, get_origin

import click
import numpy as np
from combined import compare_and_test

FILE = Path(__file__).with_name("surface.json")
SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "isodepth-1.json"
#: Modules whose public names are part of the surface.
MODULES = (
    "isodepth",
    "isodepth.errors",
    "isodepth.plot",
    "isodepth.report",
    "isodepth.text",
    "isodepth.typing",
)
#: Modules that need an optional package, by the name of this package.
OPTIONAL = {"torch": "isodepth.torch", "torchmetrics": "isodepth.text.torchmetrics"}
#: Base classes whose attributes are not part of the surface of their subclasses.
_FOREIGN = ("sklearn", "torch", "torchmetrics", "builtins", "abc", "typing", "collections")


def surface() -> dict[str, str]:
    """Return the public surface as a dictionary from names to signatures, kinds and defaults."""
    modules = [*MODULES, *(name for package, name in OPTIONAL.items() if find_spec(package))]
    found = {}
    for name in modules:
        found |= dict(_module(importlib.import_module(name)))
    found |= dict(_commands())
    found |= dict(_json())
    return found


def _module(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name in sorted(module.__all__):
        value = getattr(module, name)
        full = f"{module.__name__}.{name}"
        if isinstance(value, ModuleType) or name.startswith("__"):
            continue
        if get_origin(value) is not None:
            yield full, "alias of a type"
            continue
        yield full, _signature(value) if callable(value) else type(value).__name__
        if inspect.isclass(value):
            yield from _attributes(full, value)


def _signature(function: Any) -> str:
    """Return the signature of a function as a string with kinds, annotations and defaults."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a class that is implemented in C, such as an error
        return "class"
    # Constructors of data classes have other return annotations in other versions of Python.
    kept = inspect.Signature.empty if inspect.isclass(function) else signature.return_annotation
    return str(signature.replace(return_annotation=kept))


def _attributes(name: str, kind: type) -> Iterator[tuple[str, str]]:
    if is_dataclass(kind):
        for field in fields(kind):
            if not field.name.startswith("_"):
                yield f"{name}.{field.name}", "field"
    for base in kind.__mro__:
        if base.__module__.split(".")[0] in _FOREIGN:
            continue
        for attribute, value in vars(base).items():
            if attribute.startswith("_"):
                continue
            found = getattr(kind, attribute, None)
            plain = _signature(found) if inspect.isroutine(found) else type(value).__name__
            yield f"{name}.{attribute}", plain


def _commands() -> Iterator[tuple[str, str]]:
    from isodepth.cli.program import cli

    def visit(path: str, command: click.Command) -> Iterator[tuple[str, str]]:
        yield path, "command"
        for option in command.params:
            # Without a default: False for flags of Click 8.2, a sentinel in later versions.
            default = option.default
            if default is False or not isinstance(default, str | int | float | tuple):
                default = None
            choices = (
                f" {list(option.type.choices)}" if isinstance(option.type, click.Choice) else ""
            )
            kind = f"{option.type.name}{choices}, default {default}"
            yield f"{path} {'/'.join(option.opts)}", kind
        if isinstance(command, click.Group):
            for name, each in command.commands.items():
                yield from visit(f"{path} {name}", each)

    yield from visit("isodepth", cli)


def _json() -> Iterator[tuple[str, str]]:
    """Yield the keys of the JSON of results, and of the headers of archives."""
    import isodepth

    X, Y = np.random.default_rng(0).normal(size=(2, 40, 2))
    options: dict[str, Any] = {"n_directions": 9, "random_state": 0}
    comparison = compare_and_test(X, Y + 3, n_permutations=19, **options)
    results = {
        "comparison": comparison,
        "test": comparison.test,
        "chance level": comparison.chance_level(3),
        "distance matrix": isodepth.pairwise([X, Y], **options),
        "pairwise test": isodepth.pairwise_test([X, Y], n_permutations=19, random_state=0),
        "suspicious rows": comparison.suspicious_rows(),
        "typical rows": comparison.typical_rows(),
        "largest gap": comparison.largest_gap,
        "verdict": (monitor := isodepth.Monitor(X, random_state=0)).check(Y),
        "monitor": monitor,
    }
    for name, result in results.items():
        yield from ((f"JSON of {name}: {key}", "key") for key in result.to_dict())
    for name, part in json.loads(SCHEMA.read_text("utf-8"))["$defs"].items():
        for key, value in part.get("properties", {}).items():
            allowed = {k: v for k, v in value.items() if k != "description"}
            yield f"JSON schema of {name}: {key}", json.dumps(allowed, sort_keys=True)


def changed_names(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Return the names that were added, removed or changed between two surfaces."""
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


if __name__ == "__main__":
    FILE.write_text(json.dumps(surface(), indent=0, sort_keys=True) + "\n", "utf-8")
