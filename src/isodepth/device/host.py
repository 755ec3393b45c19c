"""Conversion of tensors to arrays on the host. Importing this module does not need torch."""

from __future__ import annotations

from typing import Any

from isodepth.base.words import describe
from isodepth.errors import InvalidInputError
from isodepth.table.validation import is_tensor


def to_host(X: Any) -> Any:
    """Convert a tensor to an array on the host; return other objects unchanged.

    Floats of less than 32 bits are converted to float32.
    """
    if not is_tensor(X):
        return X
    values = X.detach()
    if values.is_floating_point() and values.element_size() < 4:
        values = values.float()
    return values.cpu().resolve_neg().numpy()


def check_both_tensors(X: Any, Y: Any) -> None:
    """Check that both samples are dense tensors with data, not on the device "meta"."""
    for name, sample, other in (("X", X, "Y"), ("Y", Y, "X")):
        if not is_tensor(sample):
            raise InvalidInputError(
                f"{other} is a tensor and {name} is {describe(sample)}; give both as tensors "
                f"(torch.as_tensor({name}, device={other}.device)), or both as arrays "
                f"({other}.detach().cpu().numpy())"
            )
        if sample.device.type == "meta":
            raise InvalidInputError(
                f"{name} is on the device meta, without data; move it to a device with data"
            )
        if str(sample.layout) != "torch.strided":
            raise InvalidInputError(
                f"{name} is a tensor of layout {sample.layout}; pass {name}.to_dense()"
            )


def arrays_on_host(X: Any, Y: Any, labels: Any = None) -> tuple[Any, Any, Any, str | None]:
    """Convert two samples and the labels of their rows from tensors to arrays on the host.

    `labels` is a tensor, or a tuple or list of tensors. Objects other than tensors are unchanged.
    Return X, Y, the labels, and a string with the devices of the samples other than the CPU, or
    None if there is no such device.
    """
    if is_tensor(X) or is_tensor(Y):
        check_both_tensors(X, Y)
    devices = {str(sample.device) for sample in (X, Y) if is_tensor(sample)} - {"cpu"}
    if isinstance(labels, tuple | list):
        labels = type(labels)(map(to_host, labels))
    return to_host(X), to_host(Y), to_host(labels), ", ".join(sorted(devices)) or None
