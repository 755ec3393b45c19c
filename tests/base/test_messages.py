"""Messages remember their template and values, and are rendered with names of Python or flags."""

from __future__ import annotations

import ast
import copy
import pickle
import string
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import isodepth
from isodepth.base import declared
from isodepth.base.messages import (
    KINDS,
    Group,
    InPython,
    Message,
    OnCommandLine,
    Sample,
    SampleNames,
    Wording,
    joined,
    rendered,
    sample_name,
)
from isodepth.base.options import must, option_error, suggested_value
from isodepth.cli.names import CommandNames
from isodepth.errors import InvalidInputError, InvalidOptionError, MissingFileError

FLAGS = CommandNames(
    [
        click.Option(["--n-directions"]),
        click.Option(["--levels"]),
        click.Option(["--blocks"], metavar="COLUMN"),
        click.Option(["--drop"]),
        click.Option(["--nan-policy"], type=click.Choice(["omit", "raise"])),
    ],
    {"X": "june.csv"},
)
PACKAGE = Path(isodepth.__file__).parent


class Note(Wording):
    CODES = "{count} distinct values; choose {--category} if they are codes"


@pytest.mark.parametrize(
    ("template", "values", "python", "flags"),
    [
        ("{--levels} must be 3", {}, "levels must be 3", "--levels must be 3"),
        ("got {--levels=}", {"levels": "exact"}, "got levels='exact'", "got --levels exact"),
        ("{--levels=20}, {--q=inf}", {}, "levels=20, q=inf", "--levels 20, q=inf"),
        ("{--levels=}", {"levels": 2.0}, "levels=2", "--levels 2"),
        ("{--levels=None}", {}, "levels=None", "--levels none"),
        ("{--blocks=...}", {}, "blocks=...", "--blocks COLUMN"),
        ("{--nan_policy='keep'}", {}, "nan_policy='keep'", "--nan-policy omit"),
        ("choose {--category}", {}, "choose 'category'", "choose --drop"),
        ("{--omit=}", {"omit": "zip"}, "kinds={'zip': 'omit'}", "--drop zip"),
        ("{two_sample_test()}", {}, "two_sample_test", "isodepth test"),
        ("{n:.1f} {word!r}", {"n": 2, "word": "{x}"}, "2.0 '{x}'", "2.0 '{x}'"),
        ("{a}{b}", {"a": InPython("p"), "b": OnCommandLine("c")}, "p", "c"),
        ("{x} {x.code}", {"x": Sample("the batch")}, "the batch batch", "the batch batch"),
        ("{x}", {"x": Sample("X")}, "X", "june.csv"),
        ("{m}!", {"m": Message("{--levels}")}, "levels!", "--levels!"),
    ],
)
def test_fields_of_templates(
    template: str, values: dict[str, object], python: str, flags: str
) -> None:
    message = Message(template, **values)
    assert message == python
    assert message.rendered(FLAGS) == flags
    for made in (
        copy.copy(message),
        copy.deepcopy(message),
        *(pickle.loads(pickle.dumps(message, protocol)) for protocol in range(6)),
    ):
        assert (made, made.rendered(FLAGS)) == (python, flags)


def test_errors_and_notes_are_rendered() -> None:
    error = option_error("{--=} has no effect; remove it", "levels", levels=3)
    assert (str(error), error.option) == ("levels=3 has no effect; remove it", "levels")
    assert (
        rendered(pickle.loads(pickle.dumps(error)), FLAGS) == "--levels 3 has no effect; remove it"
    )
    assert str(must("by", "be a name", 3)) == "by must be a name, got 3"
    assert rendered(InvalidInputError("plain {text}"), FLAGS) == "plain {text}"
    assert rendered(MissingFileError("no file"), FLAGS) == "no file"
    assert rendered(UserWarning(Message("{--levels}")), FLAGS) == "--levels"
    note = Note.CODES(count=3)
    assert note.kind is Note.CODES
    assert pickle.loads(pickle.dumps(note)).kind is Note.CODES
    assert joined("; ", [note, "b"]).rendered(FLAGS).endswith("choose --drop if they are codes; b")


def test_names_of_samples() -> None:
    group = Group("samples", ["may", "june"])
    message = Message("{x} and {y} differ", x=sample_name(group, 1), y=sample_name("other", 0))
    assert message == "samples['june'] and other[0] differ"
    assert message.rendered(SampleNames({"samples['june']": "June"})) == "June and other[0] differ"


def test_values_of_other_libraries_get_a_suggestion() -> None:
    assert suggested_value("Tukey", declared.DEPTHS) == "; did you mean 'halfspace'?"
    assert suggested_value("ai_irv", declared.DEPTHS) == "; did you mean 'ai_irw'?"
    assert suggested_value(3, declared.DEPTHS) == suggested_value("x", declared.DEPTHS) == ""
    with pytest.raises(InvalidOptionError, match="did you mean 'search'"):
        isodepth.Metric(gap="serch")  # type: ignore[arg-type]


def templates() -> Iterator[tuple[str, str]]:
    """Yield each string of the package with the field of an option, and the name of its file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and "{--" in text and "Examples\n" not in text:
                yield path.name, text


def test_messages_mention_declared_options_only() -> None:
    tables = (declared.METRIC, declared.MANY, declared.TEST, declared.MONITOR, declared.ENCODER)
    known = {*KINDS, "label", "group", ""}.union(*tables)
    found = set()
    for file, template in templates():
        if file in ("messages.py", "options.py"):  # descriptions of the fields
            continue
        for _, field, _, _ in string.Formatter().parse(template):
            if field is not None and field.startswith("--"):
                name = field[2:].partition("=")[0]
                assert name in known, (file, template)
                found.add(name)
    assert {"refine", "blocks", "nan_policy", "category", "omit"} <= found
