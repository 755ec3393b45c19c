"""Compiled core: imports the build for the widest vector instructions that this processor has.

The environment variable ``ISODEPTH_ISA`` (baseline, avx2 or avx512) selects a build instead.
"""

import os
from importlib.util import find_spec

from isodepth._core import cpu

_usable = [name for name in cpu.instruction_sets() if find_spec(f"isodepth._core.{name}")]
if not _usable:
    raise ImportError(
        "isodepth was compiled for instructions that this processor does not have; it has "
        f"{', '.join(cpu.instruction_sets())}. Install a wheel, or run 'make core' on this machine"
    )
instruction_set: str = os.environ.get("ISODEPTH_ISA") or _usable[-1]
if instruction_set not in _usable:
    raise ImportError(
        f"ISODEPTH_ISA is {instruction_set!r}, which was not compiled or which this processor does "
        f"not have; choose one of {', '.join(_usable)}"
    )
if instruction_set == "avx512":
    from isodepth._core.avx512 import *  # noqa: F403
elif instruction_set == "avx2":
    from isodepth._core.avx2 import *  # noqa: F403
else:
    from isodepth._core.baseline import *  # noqa: F403
