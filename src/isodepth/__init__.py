"""isodepth: a robust distance between samples.

The distance is DR_{p,eps}, the mean Hausdorff distance between the depth-trimmed regions of two
distributions (Staerman, Mozharovskyi, Colombo, Clémençon and d'Alché-Buc, arXiv 2103.12711).

The public names are listed in `__init__.pyi`. They are imported at first use, so that
``import isodepth`` is fast and does not need optional packages.
"""

import lazy_loader

from isodepth._version import __version__ as __version__

__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)

# `from isodepth import *` imports no modules: some of them need optional packages.
_MODULES = {"compat", "errors", "plot", "report", "text", "theory", "torch", "typing"}
__all__ = sorted({*_names, "__version__"} - _MODULES)
