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


def arrays_on_host(X: Any, Y: Any, labels: Any = None) -> tuple[Any, Any, Any, str | None]:
    """Samples and labels of their rows for what is worked out on the host, and where they lay.

    Tensors of the host are seen as arrays of the same memory; those of another device are moved,
    once. What is no tensor is given back as it is.
    """
    room = room_for_tensors(X, Y)
    if room is None:
        return X, Y, labels, None
    x, y, place = room.on_host(X, Y)
    return x, y, _labels_on_host(labels), place


def _labels_on_host(labels: Any) -> Any:
    if is_tensor(labels):
        return labels.detach().cpu().numpy()
    if isinstance(labels, tuple | list) and any(map(is_tensor, labels)):
        return tuple(_labels_on_host(part) for part in labels)
    return labels
