"""Base class of results, and conversion of values to JSON and strings.

A result declares the attributes that JSON has, and implements `_rows` and `__repr__`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from numbers import Integral
from types import EllipsisType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from isodepth.base.extras import load_extra
from isodepth.base.options import must
from isodepth.base.readonly import read_only
from isodepth.base.showing import showing
from isodepth.base.words import listed
from isodepth.errors import UnknownLabelError

# Escapes for control characters, and for characters that change the text direction.
_UNPRINTABLE = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}
#: Number of the schema of JSON output, which docs/schema/isodepth-1.json describes. It increases if
#: a key is removed or changes its meaning.
SCHEMA = 1
_BACKENDS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def plain(value: Any) -> Any:
    """Convert arrays, results and collections to lists and dictionaries, as JSON has.

    NaN and infinity, which JSON does not have, become None. Other values are unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"a": np.arange(2), "b": (np.float64(0.5), float("inf")), "c": np.bool_(True)})
    {'a': [0, 1], 'b': [0.5, None], 'c': True}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, ResultPart):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def document(type_: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return `content` as a dictionary for JSON, with the schema number and the type `type_`.

    Examples
    --------
    >>> document("chance_level", {"distances": np.array([0.5, 1.0])})
    {'schema': 1, 'type': 'chance_level', 'distances': [0.5, 1.0]}
    """
    return {"schema": SCHEMA, "type": type_, **plain(content)}


def printable(text: str) -> str:
    """Return `text` with control characters escaped, for output on a terminal.

    Characters that change the text direction are escaped too. Newlines and tabs are not escaped.

    Examples
    --------
    >>> print(printable("\\x1b[31mred"))
    \\x1b[31mred
    """
    return text.translate(_UNPRINTABLE)


def percent_text(share: float) -> str:
    """Format a fraction of rows as a percentage, which is never 0% or 100% by rounding.

    Examples
    --------
    >>> percent_text(0.0), percent_text(0.00042), percent_text(0.031), percent_text(0.9996)
    ('0%', '0.042%', '3.1%', '99.9%')
    """
    percent = 100 * share
    if percent <= 9.5:
        return f"{float(f'{percent:.2g}'):.10g}%"
    if 99 < percent < 100:
        return f"{min(percent, 99.9):.1f}%"
    return f"{percent:.0f}%"


def name_text(name: str) -> str:
    """Return the name of a column for a message.

    An empty or blank name is quoted. A number, such as that of a column of a file without a header,
    follows the word "column".

    Examples
    --------
    >>> name_text("wind"), name_text(""), name_text("2")
    ('wind', "''", 'column 2')
    """
    if name.isdecimal():
        return f"column {name}"
    return name if name.strip() else repr(name)


#: Smaller p-values are not distinguished in messages, because they are rounded or clipped.
LEAST_PVALUE = 1e-300


def p_text(pvalue: float, alpha: float = 0.05) -> str:
    """Format a p-value with three significant digits, or nine if it would be rounded across alpha.

    A p-value near the minimum of floats is only an upper bound, and formatted as such.

    Examples
    --------
    >>> p_text(0.0123456), p_text(0.050001), p_text(2.23e-308)
    ('0.0123', '0.050001', '1e-300 or less')
    """
    if pvalue < LEAST_PVALUE:
        return f"{LEAST_PVALUE:g} or less"
    text = f"{pvalue:.3g}"
    return text if (float(text) <= alpha) == (pvalue <= alpha) else f"{pvalue:.9g}"


def number_text(value: float, digits: int, step: float = 0.0) -> str:
    """Format a number with a number of significant digits, without an exponent below 10^10.

    If two digits of a difference `step` would not be visible, there are more digits, at most 15,
    and no exponent below 10^15. Python integers, which may be too large for floats, are exact.

    Examples
    --------
    >>> number_text(16098.0, 4), number_text(1.7e12, 4), number_text(2**60 + 1, 4)
    ('16100', '1.7e+12', '1152921504606846977')
    >>> number_text(1.7e12 + 812, 4, step=800.0), number_text(273.15004, 4, step=2e-5)
    ('1700000000810', '273.15004')
    """
    if isinstance(value, int):
        return str(value)
    shown = max(digits, 10)
    if 0 < abs(value) < math.inf and 0 < step < math.inf:
        needed = 2 + math.floor(math.log10(abs(value))) - math.floor(math.log10(step))
        if needed > digits:
            digits, shown = min(needed, 15), 15
    return f"{float(f'{value:.{digits}g}'):.{shown}g}"


def equal_values(first: Any, second: Any) -> bool:
    """Return whether two values are equal; arrays are equal if all entries are equal or both NaN.

    Examples
    --------
    >>> equal_values((1, np.array([0.0, np.nan])), (1, np.array([0.0, np.nan])))
    True
    """
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.array_equal(first, second, equal_nan=np.asarray(first).dtype.kind == "f")
    if isinstance(first, list | tuple) and type(first) is type(second):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(equal_values(a, b) for a, b in pairs)
    if isinstance(first, float) and isinstance(second, float):
        return first == second or (math.isnan(first) and math.isnan(second))
    return bool(first == second)


class ReadOnlyFields:
    """Base class of frozen data classes whose public arrays and dictionaries are read-only.

    They are read-only in copies too: NumPy makes the arrays of pickles and deep copies writable,
    and `__setstate__` makes them read-only again.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        self.__setstate__(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        public = {n: read_only(value) for n, value in state.items() if not n.startswith("_")}
        vars(self).update({**state, **public})


class EqualFields(ReadOnlyFields):
    """Base class of data classes that are equal if all of their public fields are equal.

    Fields may be arrays, see `equal_values`. Fields with ``compare=False`` are not compared. A
    subclass is a data class with ``eq=False``.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(equal_values(getattr(self, n), getattr(other, n)) for n in self._compared)

    @property
    def _compared(self) -> list[str]:
        """Names of the fields that equal objects have in common."""
        return [each.name for each in fields(self) if each.compare and each.name[0] != "_"]  # type: ignore[arg-type]


class ResultPart(EqualFields):
    """Base class of results and of their parts, which can be converted to JSON.

    A subclass is a frozen data class with ``eq=False``.

    Attributes
    ----------
    _result_type : str
        Type of a result in JSON; "" for a part of a result.
    _in_json : dict or None
        Map from each key of JSON to the name of the attribute, see `keys`; None for all public
        fields.
    _more_in_json : dict
        Further keys, which are omitted if the value is None.
    """

    __slots__ = ()
    _result_type: ClassVar[str] = ""
    _in_json: ClassVar[dict[str, str] | None] = None
    _more_in_json: ClassVar[dict[str, str]] = {}

    def __hash__(self) -> int:
        values = (getattr(self, name) for name in self._compared)
        # NaN equals NaN here, so both need the same hash.
        return hash(tuple(None if value != value else value for value in values))

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of numbers, strings, lists and dictionaries, for JSON.

        Non-finite numbers become None. The page "JSON" of the documentation describes the keys.
        """
        names = self._in_json
        if names is None:
            names = keys(*(each.name for each in fields(self) if each.name[0] != "_"))  # type: ignore[arg-type]
        content = {key: getattr(self, name) for key, name in names.items()}
        more = {key: getattr(self, name) for key, name in self._more_in_json.items()}
        content |= {key: value for key, value in more.items() if value is not None}
        return document(self._result_type, content) if self._result_type else plain(content)


def keys(*names: str, **renamed: str) -> dict[str, str]:
    """Return a map from keys of JSON to names of attributes, which are equal in `names`.

    Examples
    --------
    >>> keys("distance", settings="_json_settings")
    {'distance': 'distance', 'settings': '_json_settings'}
    """
    return {name: name for name in names} | renamed


def json_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings for JSON: infinity is the string "inf".

    Examples
    --------
    >>> json_settings({"p": 2, "q": math.inf})
    {'p': 2, 'q': 'inf'}
    """
    return {
        name: json_settings(value) if isinstance(value, dict) else named_infinity(value)
        for name, value in settings.items()
    }


def named_infinity(value: Any) -> Any:
    """Return "inf" for infinity, and any other value unchanged."""
    return "inf" if isinstance(value, float) and math.isinf(value) else value


def table_of(parts: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the attributes `names` of all parts of a result as columns of a table."""
    return {name: [getattr(part, name) for part in parts] for name in names}


class ResultMixin(ResultPart):
    """Base class of results that can be converted to JSON, HTML and data frames."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _with(self, **values: Any) -> Self:
        """Return a copy in which the fields named in `values`, public or private, are replaced.

        `dataclasses.replace` does not copy private fields, which are not part of the constructor.
        Cached attributes are not copied.
        """
        names = {each.name for each in fields(self)}  # type: ignore[arg-type]
        assert names >= set(values)
        kept = {name: value for name, value in vars(self).items() if name in names}
        result = object.__new__(type(self))
        result.__setstate__(kept | values)
        return result

    @property
    def _json_settings(self) -> dict[str, Any] | None:
        """The attribute `settings` for JSON."""
        settings = getattr(self, "settings", None)
        return None if settings is None else json_settings(settings)

    def _rows(self) -> dict[str, list[Any]]:
        """Return the table of `to_frame` as a dictionary from column names to lists of values."""
        raise NotImplementedError

    def to_json(self, **options: Any) -> str:
        """Return the output of `to_dict` as JSON; the options are those of `json.dumps`."""
        return json.dumps(self.to_dict(), **{"allow_nan": False, **options})

    def _repr_html_(self) -> str:
        """Return the result as HTML, which notebooks display.

        The page "Figures and reports" of the documentation describes it.
        """
        return showing().to_html(self)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the table of the result as a data frame.

        The section "Tables" of the page "JSON" lists the rows and columns for each class.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Library of the frame; needs ``isodepth[frames]``.
        """
        if backend not in _BACKENDS:
            raise must("backend", f"be one of {', '.join(map(repr, _BACKENDS))}", backend)
        library = load_extra(backend, "frames", "making a data frame")
        return getattr(library, _BACKENDS[backend])(self._rows())


class Headline(NamedTuple):
    """Headline of a result and its status.

    The status is "differs" for a significant difference or an alarm, "alike" for neither, and
    "open" if nothing was decided.
    """

    sentence: str
    status: str


class DrawnResult(ResultMixin):
    """Base class of results that can be drawn."""

    __slots__ = ()

    def plot(self, kind: str | None = None, *, ax: Any = None) -> Any:
        """Draw the result with a function of `isodepth.plot`.

        Parameters
        ----------
        kind : str, optional
            Name of a function of :mod:`isodepth.plot`. For a comparison "gap_profile" (the
            default), "nested_regions", "contributions" and, if it has a test,
            "null_distribution". For a test these four, with "null_distribution" as default. For a
            monitor "timeline", and for a distance matrix "distance_matrix".
        ax : matplotlib.axes.Axes, optional
            Axes to draw into; a new figure by default. A timeline always creates its own figure.
            The functions of :mod:`isodepth.plot` have more options, such as names of the samples.

        Returns
        -------
        ax : matplotlib.axes.Axes, or the Figure of a timeline
        """
        return showing().draw(self, kind, ax)


def label_text(label: Any) -> str:
    """Convert the label of a sample to a string; the elements of a tuple are joined by commas.

    Examples
    --------
    >>> label_text(("EWR", 7)), label_text((7,)), label_text(np.int64(7)), label_text(7.0)
    ('EWR, 7', '7', '7', '7.0')
    """
    if isinstance(label, tuple):
        return ", ".join(str(part) for part in label)
    return str(label)


def label_texts(labels: Sequence[Any]) -> tuple[str, ...]:
    """Return the labels of samples as strings, see `label_text`."""
    return tuple(map(label_text, labels))


def label_column(labels: Sequence[Any]) -> list[Any]:
    """Return labels as a column of a data frame: as strings if they are tuples or of several types.

    Examples
    --------
    >>> label_column((2020, 2021)), label_column((1, "a")), label_column((("EWR", 7),))
    ([2020, 2021], ['1', 'a'], ['EWR, 7'])
    """
    types = {type(label) for label in labels}
    return list(label_texts(labels) if len(types) > 1 or tuple in types else labels)


def has_label(item: Any, labels: Sequence[Any]) -> bool:
    """Return whether `item` is the label of a sample.

    Labels with equal strings are equal, see `label_text`.
    """
    return not _selects(item) and label_text(item) in label_texts(labels)


def position_of(item: Any, labels: Sequence[Any]) -> Any:
    """Return the index of the sample with the label `item`.

    Slices, arrays, None and ... are returned unchanged. So are integers, which are positions,
    unless the labels contain integers. Raise an error if no sample has the label.

    Examples
    --------
    >>> position_of("june", ("may", "june")), position_of(-1, ("may", "june"))
    (1, -1)
    >>> position_of(2021, (2020, 2021)), position_of("2021", (2020, 2021))
    (1, 1)
    """
    if isinstance(item, str) and item in labels:
        return labels.index(item)
    if _selects(item) or (
        isinstance(item, Integral) and not any(isinstance(label, Integral) for label in labels)
    ):
        return item
    texts = label_texts(labels)
    if label_text(item) not in texts:
        shown = [str(label) if isinstance(label, tuple) else label_text(label) for label in labels]
        raise UnknownLabelError(f"there is no sample {item!r}; the samples are {listed(shown)}")
    return texts.index(label_text(item))


def _selects(item: Any) -> bool:
    """Return whether `item` is None, a slice, a list, an array or ``...``.

    Such an item indexes an array. It cannot be the label of a sample.
    """
    return item is None or isinstance(item, slice | list | np.ndarray | EllipsisType)
