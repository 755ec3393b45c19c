"""Numerical precision and memory limits for the matrix products of points and directions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from isodepth.errors import DeviceMemoryError

#: Upper bound on the default working memory on a CUDA device, in bytes.
_MOST_BYTES = 8 * 2**30
_FRACTION_OF_FREE = 0.6
_HOST_BYTES = 256 * 2**20

_lock = threading.Lock()
_users = 0
_before: list[tuple[Any, str, Any]] = []


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Return a context in which matrix products have the full precision of their dtype.

    In this context TF32 and autocast are disabled, and no gradients are recorded. `device` is the
    device of the tensors. The TF32 settings of torch are global. If contexts are nested or used by
    several threads, the last one to exit restores the settings.
    """
    global _users
    with _lock:
        if _users == 0:
            for owner, name, precise in _precision_settings():
                _before.append((owner, name, getattr(owner, name)))
                setattr(owner, name, precise)
        _users += 1
    try:
        with torch.no_grad(), torch.autocast(device.type, enabled=False):
            yield
    finally:
        with _lock:
            _users -= 1
            while _users == 0 and _before:
                owner, name, value = _before.pop()
                setattr(owner, name, value)


def _precision_settings() -> list[tuple[Any, str, Any]]:
    cuda: Any = torch.backends.cuda.matmul
    if not hasattr(cuda, "fp32_precision"):
        return [(cuda, "allow_tf32", False)]
    return [
        (owner, "fp32_precision", "ieee")
        for owner in (cuda, getattr(torch.backends.mkldnn, "matmul", None))
        if owner is not None
    ]


def budget_on(device: torch.device, memory_mb: float | None) -> int:
    """Return the working memory for blocks of directions, in bytes.

    It is `memory_mb` MiB if given. Otherwise it is 60% of the free memory of a CUDA device, at most
    8 GiB, or 256 MiB on other devices.
    """
    if memory_mb is not None:
        return int(memory_mb * 2**20)
    if device.type != "cuda":
        return _HOST_BYTES
    free, _ = torch.cuda.mem_get_info(device)
    # Memory that the allocator of torch has reserved and does not use is available as well.
    idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(min(_MOST_BYTES, _FRACTION_OF_FREE * (free + idle)))


@contextmanager
def working_on(device: torch.device) -> Iterator[None]:
    """Return a context in which matrix products have full precision; see `full_precision`.

    In this context `torch.OutOfMemoryError` is replaced with a `DeviceMemoryError`, whose message
    lists remedies.
    """
    try:
        with full_precision(device):
            yield
    except torch.OutOfMemoryError as error:
        cause = str(error).split(". ")[0]
        raise DeviceMemoryError(
            f"the memory of {device} is too small for these samples ({cause}); free memory, use a "
            "smaller memory_mb, or move the tensors to the host with .cpu()"
        ) from None


def blocks(n_directions: int, each: int, budget: int) -> list[slice]:
    """Divide directions into slices of about equal size, each of which fits into `budget` bytes.

    One direction needs `each` bytes. A slice has at least one direction, even if a single direction
    needs more than `budget` bytes.
    """
    size = max(1, min(n_directions, budget // max(1, each)))
    count = -(-n_directions // size)
    size = -(-n_directions // count)
    return [slice(k, min(k + size, n_directions)) for k in range(0, n_directions, size)]
