"""Distances of tensors, with gradients. Importing this package needs torch.

:func:`isodepth.distance` accepts tensors. :class:`DepthLoss` is a torch module for training.
"""

from isodepth.torch.loss import DepthLoss

__all__ = ["DepthLoss"]


def __dir__() -> list[str]:
    return __all__
