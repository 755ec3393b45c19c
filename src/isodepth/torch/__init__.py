"""Distances of tensors, with gradients. Importing it needs torch.

:func:`isodepth.distance` takes tensors itself; :class:`DepthLoss` is a module for training.
"""

from isodepth.torch.loss import DepthLoss

__all__ = ["DepthLoss"]
