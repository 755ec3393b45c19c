"""isodepth: a robust distance between samples.

The distance is DR_{p,eps}, the mean Hausdorff distance between the depth-trimmed regions of two
distributions (Staerman, Mozharovskyi, Colombo, Clémençon and d'Alché-Buc, arXiv 2103.12711).

The public names are listed in `__init__.pyi`. They are imported at first use, so that
``import isodepth`` is fast and does not need optional packages.
"""

from typing import Any

import lazy_loader

from isodepth._version import __version__ as __version__
from isodepth.base.showing import register

__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)


@register
def _showing() -> Any:
    from isodepth import show

    return show


# `from isodepth import *` imports no modules: some of them need optional packages.
_MODULES = {"compat", "errors", "plot", "report", "text", "theory", "torch", "typing"}
__all__ = sorted({*_names, "__version__"} - _MODULES)
