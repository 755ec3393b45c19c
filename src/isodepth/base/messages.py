"""Messages of errors, warnings and notes, which are data until they are shown.

A `Message` is a string for Python users that remembers its template and its values. The command
line renders the same message with flags in place of options, and with files in place of samples.
"""

from __future__ import annotations

import ast
import enum
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from isodepth.base.readonly import ReadOnlyDict


class Names:
    """Names in messages for Python users; the command line has a subclass with flags and files."""

    #: Whether messages contain advice for Python users, see `InPython`.
    python = True

    def option(self, name: str) -> str:
        """Return the name of an option. A kind of columns is a value of the option `kinds`."""
        return repr(name) if name in KINDS else name

    def setting(self, name: str, value: Any) -> str:
        """Return an option with its value, such as "levels=20"."""
        return f"kinds={{{value!r}: {name!r}}}" if name in KINDS else f"{name}={plain_text(value)}"

    def function(self, name: str) -> str:
        """Return the name of a function."""
        return name

    def sample(self, role: str) -> str:
        """Return the name of a sample, such as "X" or "the batch"."""
        return role


def plain_text(value: Any) -> str:
    """Return the value of an option as Python code; a float with the fewest digits."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else repr(value)


class SampleNames(Names):
    """Names of Python, with other names of samples: `names` maps roles to names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def sample(self, role: str) -> str:
        return self._names.get(role, role)


PYTHON = Names()
#: Kinds of columns: values of the option `kinds` in Python, and options of the command line.
KINDS = ("numeric", "category", "omit")


class Message(str):
    """String that is made from a template and values, and can be rendered with other names.

    Fields of the template:

    * ``{--levels}`` is the option `levels`: "levels", or "--levels" on the command line.
    * ``{--levels=}`` is the option with its value, which is passed by keyword: "levels=20", or
      "--levels 20". ``{--levels=20}`` has the value in the template, as a Python literal.
    * ``{--category}`` and ``{--category=}`` are a kind, and the kind of the column that is passed
      by keyword: "'category'" and "kinds={'zip': 'category'}", or "--category" and
      "--category zip".
    * ``{two_sample_test()}`` is a function: "two_sample_test", or "isodepth test".
    * ``{name}``, ``{count:g}``, ``{value!r}`` are values, formatted as in `str.format`. A value may
      be a `Message`, a `Sample` or `InPython`, which are rendered with the same names.

    Attributes
    ----------
    template : str
    values : dict
        Values of the fields by name.
    kind : enum member or None
        Member of a `Wording` that made the message.

    Examples
    --------
    >>> message = Message("{--refine=} has no effect; remove {--refine} or {--q}", refine=3)
    >>> message, message.options
    ('refine=3 has no effect; remove refine or q', ('refine', 'refine', 'q'))
    """

    template: str
    values: Mapping[str, Any]
    kind: enum.Enum | None

    def __new__(cls, template: str, kind: enum.Enum | None = None, /, **values: Any) -> Self:
        """Create the string with the names of Python."""
        self = super().__new__(cls, _Renderer(PYTHON).vformat(template, (), values))
        self.template, self.values, self.kind = template, ReadOnlyDict(values), kind
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # Arguments with which pickle and copy call __new__.
        return (self.template, self.kind), dict(self.values)

    def rendered(self, names: Names) -> str:
        """Return the message as a string with the names of options, functions and samples."""
        return _Renderer(names).vformat(self.template, (), self.values)

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options in the order in which the template mentions them."""
        fields = (field for _, field, *_ in string.Formatter().parse(self.template) if field)
        return tuple(each[2:].partition("=")[0] for each in fields if each.startswith("--"))


class Sample(str):
    """Name of a sample in messages, its role: "X", "the batch", or "samples['june']".

    Examples
    --------
    >>> Message("{sample} is sparse; pass {sample.code}.toarray()", sample=Sample("the batch"))
    'the batch is sparse; pass batch.toarray()'
    """

    __slots__ = ()

    @property
    def code(self) -> str:
        """Name of the sample as Python code."""
        return in_code(self)

    def rendered(self, names: Names) -> str:
        """Return the name of the sample."""
        return names.sample(str(self))


class Group(str):
    """Name of a collection of samples in messages, such as "samples".

    `labels` are the labels of its samples, or None.

    Examples
    --------
    >>> sample_name(Group("samples", ["june", "july"]), 1), sample_name("samples", 1)
    ("samples['july']", 'samples[1]')
    """

    labels: Sequence[Any] | None

    def __new__(cls, name: str, labels: Sequence[Any] | None) -> Self:
        self = super().__new__(cls, name)
        self.labels = labels
        return self


def sample_name(group: str, place: int) -> Sample:
    """Return the name of one sample of a collection, with its label if `group` is a `Group`."""
    labels = group.labels if isinstance(group, Group) else None
    return Sample(f"{group}[{place if labels is None else labels[place]!r}]")


def in_code(name: str) -> str:
    """Return the name of a sample as Python code: "batch" for "the batch"."""
    return name.removeprefix("the ")


class InPython(str):
    """Part of a message that is for Python users only, such as "; or None, for all cores"."""

    __slots__ = ()
    _python = True

    def rendered(self, names: Names) -> str:
        """Return the string, or "" if it is not for the users of these names."""
        return str(self) if names.python is self._python else ""


class OnCommandLine(InPython):
    """Part of a message that is for users of the command line only."""

    __slots__ = ()
    _python = False


class Wording(enum.Enum):
    """Base class of enums whose values are templates of messages.

    A member is called with the values of its template. Code that needs the meaning of a message
    compares `Message.kind`, and never its text.

    Examples
    --------
    >>> class Note(Wording):
    ...     CODES = "{count} distinct values; choose {--category} if they are codes"
    >>> note = Note.CODES(count=3)
    >>> note, note.kind is Note.CODES
    ("3 distinct values; choose 'category' if they are codes", True)
    """

    def __call__(self, **values: Any) -> Message:
        """Return the message with these values."""
        return Message(self.value, self, **values)


def joined(separator: str, parts: Iterable[str]) -> Message:
    """Return strings or messages with a separator between them, as one message.

    Examples
    --------
    >>> joined("; ", ["a", Message("remove {--refine}")]).template
    '{part0}; {part1}'
    """
    values = {f"part{place}": part for place, part in enumerate(parts)}
    return Message(separator.join(f"{{{name}}}" for name in values), **values)


def rendered(message: object, names: Names) -> str:
    """Return a message, an error or a warning as a string with other names.

    Strings that are not a `Message` are returned unchanged.
    """
    if isinstance(message, BaseException):
        text = str(message)
        # An OSError such as MissingFileError has other arguments.
        first = message.args[0] if message.args else text
        return rendered(first, names) if first == text else text
    return message.rendered(names) if isinstance(message, Message) else str(message)


class _Renderer(string.Formatter):
    """Formatter of templates with the names `names`."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        if field_name.startswith("--"):
            name, assigned, literal = field_name[2:].partition("=")
            if not assigned:
                return self._names.option(name), name
            value = _literal(literal) if literal else kwargs[name]
            return self._names.setting(name, value), name
        if field_name.endswith("()"):
            return self._names.function(field_name[:-2]), field_name
        return super().get_field(field_name, args, kwargs)

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if isinstance(value, Message | Sample | InPython):
            value = value.rendered(self._names)
        return super().convert_field(value, conversion)


def _literal(text: str) -> Any:
    """Return the value of a Python literal, or the text as `Code`, such as inf or "..."."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return Code(text)
    return Code(text) if value is ... else value


class Code(str):
    """Python code, whose `repr` is the code itself, such as ``inf``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
