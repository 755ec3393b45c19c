"""Conversion of dataclasses and named tuples of isodepth to JSON and back, with checks of types."""

from __future__ import annotations

import base64
import functools
import math
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

#: Name in a file of each field of each class that is stored.
FieldNames = Mapping[type, Mapping[str, str]]
# Stored integers must be smaller than this, so that they are finite as floats.
_MOST_INTEGER = 1 << 256


def packed(value: Any, names: FieldNames) -> Any:
    """Convert a value to the types of JSON, without rounding; `unpacked` is the inverse.

    An array is converted to its dtype, shape and bytes in base64, a dictionary to a list of pairs,
    and a member of an enumeration to its name.
    An object of a class of isodepth is converted to a dictionary. `names` maps the class to a
    dictionary from the names of its fields to the keys of the result.
    """
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, base64.b64encode(value.tobytes()).decode()
    type_: Any = type(value)
    if isinstance(value, str):
        return str(value)
    if fields := _fields(type_):
        return {names[type_][name]: packed(getattr(value, name), names) for name in fields}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Mapping):
        return [packed(pair, names) for pair in value.items()]
    return [packed(each, names) for each in value] if isinstance(value, list | tuple) else value


def unpacked(type_: Any, value: Any, names: FieldNames | None = None) -> Any:
    """Convert a JSON value to the type `type_`, and check the types of all fields.

    `names` maps each class to a dictionary from the names of its fields to the keys in JSON. If it
    is None, the value is the JSON of a result: the keys of an object are the names of its fields,
    and null in place of a float is read as NaN.

    Raise an exception, of any type, if the value does not fit `type_`, or if an array contains NaN,
    negative integers or other types than floats and signed integers.
    """
    if type_ is Any:
        return value
    if isinstance(type_, types.UnionType):
        if value is None:
            return None
        # For a union such as float | str | None, the type of the value is used.
        first, *others = typing.get_args(type_)
        return unpacked(type(value) if type(value) in others else first, value, names)
    if type_ is np.ndarray:
        return _array(*value)
    if isinstance(type_, type) and issubclass(type_, Enum):
        return type_[value]
    if typing.get_origin(type_) is not None:
        return _collection(type_, value, names)
    if fields := _fields(type_):
        keys = {name: name for name in fields} if names is None else names[type_]
        return type_(**{n: unpacked(own, value[keys[n]], names) for n, own in fields.items()})
    if type_ is float and value is None and names is None:
        return math.nan
    if type_ is float and type(value) is int and names is None:  # beyond the precision of floats
        return value
    if type(value) is not type_ or (type_ is int and abs(value) >= _MOST_INTEGER):
        raise TypeError(f"{value!r:.80} in place of {type_.__name__}")
    return value


def _array(dtype: str, shape: Sequence[int], data: str) -> np.ndarray:
    """Return the array with the bytes `data` in base64; `dtype` must be float or signed integer."""
    if np.dtype(dtype).kind not in "fi":
        raise TypeError(f"an array of {dtype}")
    array = np.frombuffer(base64.b64decode(data), dtype).reshape(shape)
    if np.isnan(array).any() or (array.dtype.kind == "i" and (array < 0).any()):
        raise ValueError("an array with NaN or a negative integer")
    return array


def _collection(type_: Any, value: Any, names: FieldNames | None) -> Any:
    """Convert a JSON list to a dictionary, list or tuple, and check the types of its entries.

    `type_` is the type of the result, such as list[int], and `names` the argument of `unpacked`,
    which converts the entries.
    """
    origin, inner = typing.get_origin(type_), typing.get_args(type_)
    if not isinstance(value, list):  # a dictionary would be read as a list of its keys
        raise TypeError(f"{value!r:.80} in place of {type_}")
    if origin in (dict, Mapping):
        key, item = inner
        return {unpacked(key, k, names): unpacked(item, each, names) for k, each in value}
    if origin not in (list, tuple):
        raise TypeError(f"{type_} is not a type of a stored field")
    kinds = inner if origin is tuple and inner[-1] is not Ellipsis else inner[:1] * len(value)
    return origin(unpacked(*each, names) for each in zip(kinds, value, strict=True))


@functools.cache
def _fields(type_: type) -> dict[str, Any]:
    """Return the types of the fields of a class of isodepth by name; {} for any other class."""
    if not type_.__module__.startswith("isodepth."):
        return {}
    hints = typing.get_type_hints(type_).items()
    return {name: hint for name, hint in hints if typing.get_origin(hint) is not typing.ClassVar}
