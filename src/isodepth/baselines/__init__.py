"""What users would pick instead: other distances between samples, under one signature.

Every function is ``f(X, Y, *, ..., weights=None, random_state=None) -> float``. Input is checked
like that of the core and computed in float64; rows of weight zero do not belong to a sample; the
rest of the weights are scaled to sum to one. `random_state` is accepted everywhere, so that the
functions can be swapped, and only used where something is drawn at random.

POT (``pip install 'isodepth[baselines]'``) solves the transport problems; sliced distances, MMD and
energy do without it.
"""

from isodepth.baselines.chi_square import ruot
from isodepth.baselines.entropic import sinkhorn
from isodepth.baselines.kernels import energy, mmd
from isodepth.baselines.slices import max_sliced_wasserstein, sliced_wasserstein
from isodepth.baselines.subspace import subspace_robust_wasserstein
from isodepth.baselines.transport import wasserstein
from isodepth.baselines.truncated import robot

__all__ = [
    "energy",
    "max_sliced_wasserstein",
    "mmd",
    "robot",
    "ruot",
    "sinkhorn",
    "sliced_wasserstein",
    "subspace_robust_wasserstein",
    "wasserstein",
]
