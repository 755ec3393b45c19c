"""Samples that are tensors of torch, which is never imported before someone brings one.

What works on them is a higher layer, and is imported when the first of them is seen.
"""

from __future__ import annotations

import sys
from typing import Any


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor of torch, without importing it."""
    torch = sys.modules.get("torch")
    # A module still being imported has no tensors yet, and nobody can have made one.
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def room_for_tensors(*samples: Any) -> Any:
    """`isodepth.torch.distance` where one of the samples is a tensor, otherwise None."""
    if not any(map(is_tensor, samples)):
        return None
    from isodepth.torch import distance

    return distance


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
