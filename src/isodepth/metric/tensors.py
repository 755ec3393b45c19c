"""The way up to the room for tensors, which nothing enters before someone brings a tensor.

That room stands above this one and is called by its name alone, so that imports still fall and
torch is never loaded by us.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

_ROOM = "isodepth.torch.distance"


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor of torch, without importing it."""
    torch = sys.modules.get("torch")
    # A module still being imported has no tensors yet, and nobody can have made one.
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def room_for_tensors(*samples: Any) -> Any:
    """`isodepth.torch.distance` where one of the samples is a tensor, otherwise None."""
    return importlib.import_module(_ROOM) if any(map(is_tensor, samples)) else None
