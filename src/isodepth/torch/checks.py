"""Checks of tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from isodepth.data.validation import check_same_width, check_table_shape, split_weights
from isodepth.errors import InvalidInputError
from isodepth.tensors.host import check_both_tensors


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
    check_both_tensors(X, Y)
    for name, given in (("X", X), ("Y", Y)):
        if given.is_complex():
            raise InvalidInputError(
                f"Complex data not supported: {name} must hold real numbers, got dtype "
                f"{given.dtype}; choose a part, such as {name}.real"
            )
        if given.is_quantized:
            raise InvalidInputError(
                f"{name} is quantized ({given.dtype}); pass {name}.dequantize()"
            )
        check_table_shape(tuple(given.shape), name)
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


def _real_of(X: torch.Tensor) -> torch.dtype:
    """The type of float that numbers of a tensor are taken for."""
    return X.dtype if X.is_floating_point() else torch.float64
