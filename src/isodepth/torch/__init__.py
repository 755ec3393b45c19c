"""Distances of tensors, with gradients: `isodepth.distance` takes tensors, and this is its room.

Importing it needs torch. Nothing else here is needed for :func:`isodepth.distance`, which finds its
way to this room by itself when it is given tensors.
"""

from isodepth.torch.loss import DepthLoss

__all__ = ["DepthLoss"]
