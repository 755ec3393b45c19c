"""Values that cannot be changed."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np


class ReadOnlyDict(dict[str, Any]):
    """Dictionary of a result, which cannot be changed; `dict(...)` returns a copy.

    Examples
    --------
    >>> settings = ReadOnlyDict(p=2)
    >>> settings | {"p": 1}, dict(settings)
    ({'p': 1}, {'p': 2})
    >>> settings["p"] = 1
    Traceback (most recent call last):
    ...
    TypeError: a dictionary of a result is read-only; use dict(...) for a copy
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a dictionary of a result is read-only; use dict(...) for a copy")

    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)


def read_only(value: Any) -> Any:
    """Return `value` with read-only arrays, tuples instead of lists, and `ReadOnlyDict`.

    Entries of collections are converted as well. Arrays are not copied: the result has read-only
    views. An array of the caller stays writable.

    Examples
    --------
    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> found = read_only({"a": [array, 1]})
    >>> found, found["a"][0].flags.writeable, array.flags.writeable
    ({'a': (array([0., 0.]), 1)}, False, True)
    """
    if isinstance(value, np.ndarray) and value.flags.writeable:
        value = value.view()
        value.setflags(write=False)
    elif isinstance(value, dict):
        return ReadOnlyDict({name: read_only(each) for name, each in value.items()})
    elif type(value) in (list, tuple):
        return tuple(map(read_only, value))
    return value
