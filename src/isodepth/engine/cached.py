"""`functools.cached_property` without its lock.

Up to Python 3.11 one lock is shared by all objects of a class and held while the value is computed:
threads wait for each other, and a child forked meanwhile waits for ever.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:
        """Computed when first asked for, perhaps by several threads at once, and then kept."""

        def __init__(self, compute: Any) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            # Having no __set__, this is not asked again once the object holds the value.
            value = instance.__dict__[self._name] = self._compute(instance)
            return value


__all__ = ["cached_property"]
