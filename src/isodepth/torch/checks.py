"""Every check of tensors, once and before any work: what was received, and how to fix it."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from isodepth.data.arrays import describe
from isodepth.data.validation import check_same_width, check_table_shape, split_weights
from isodepth.errors import InvalidInputError


class Pair(NamedTuple):
    """Two tensors (n, d) and (m, d) that can be compared, and how."""

    x: torch.Tensor
    y: torch.Tensor
    weights: tuple[Any, Any]
    dtype: torch.dtype  # of the result
    precision: torch.dtype  # of the work: float32 or float64
    device: torch.device

    @property
    def wants_gradient(self) -> bool:
        """Whether someone will ask how the distance changes with the rows."""
        return torch.is_grad_enabled() and (self.x.requires_grad or self.y.requires_grad)


def check_tensors(X: Any, Y: Any, weights: Any, dtype: str | None) -> Pair:
    """Check that two samples are tensors of one device that can be compared."""
    for name, given, other in (("X", X, "Y"), ("Y", Y, "X")):
        if not isinstance(given, torch.Tensor):
            raise InvalidInputError(
                f"{other} is a tensor and {name} is {describe(given)}; give both as tensors "
                f"(torch.as_tensor({name}, device={other}.device)), or both as arrays "
                f"({other}.detach().cpu().numpy())"
            )
        check_tensor(given, name)
    if X.device != Y.device:
        raise InvalidInputError(
            f"X is on the device {X.device} and Y on {Y.device}; move one of them, such as "
            "Y.to(X.device)"
        )
    check_same_width(X.shape[1], Y.shape[1])
    each = split_weights(weights)
    for name, own in zip("XY", each, strict=True):
        if isinstance(own, torch.Tensor) and own.device != X.device:
            raise InvalidInputError(
                f"the weights of {name} are on the device {own.device} and the samples on "
                f"{X.device}; move the weights there"
            )
        if isinstance(own, torch.Tensor) and own.requires_grad:
            raise InvalidInputError(
                f"the weights of {name} require grad, and distances are not differentiated by "
                "weights; pass them with .detach()"
            )
    # As for arrays: what is not single precision, or below, is taken as double.
    result = torch.promote_types(_real_of(X), _real_of(Y))
    double = dtype == "float64" if dtype is not None else result == torch.float64
    return Pair(X, Y, each, result, torch.float64 if double else torch.float32, X.device)


def check_tensor(X: torch.Tensor, name: str) -> None:
    """Check that a tensor is a table of real numbers, whatever they are."""
    if X.layout != torch.strided:
        raise InvalidInputError(f"{name} is a tensor of layout {X.layout}; pass {name}.to_dense()")
    if X.is_complex():
        raise InvalidInputError(
            f"Complex data not supported: {name} must hold real numbers, got dtype {X.dtype}; "
            f"choose a part, such as {name}.real"
        )
    if X.is_quantized:
        raise InvalidInputError(f"{name} is quantized ({X.dtype}); pass {name}.dequantize()")
    if X.device.type == "meta":
        raise InvalidInputError(f"{name} is on the device meta and has no numbers to compare")
    check_table_shape(tuple(X.shape), name)


def _real_of(X: torch.Tensor) -> torch.dtype:
    """The type of float that numbers of a tensor are taken for."""
    return X.dtype if X.is_floating_point() else torch.float64
