"""The compiled core: `baseline`, or the module for the widest vectors that this processor has.

The environment variable ``ISODEPTH_ISA`` (baseline, avx2 or avx512) asks for one of them.
"""

import os

from isodepth._core import baseline

instruction_set: str = os.environ.get("ISODEPTH_ISA") or baseline.instruction_sets()[-1]
if instruction_set not in baseline.instruction_sets():
    raise ImportError(
        f"ISODEPTH_ISA is {instruction_set!r}; this processor has "
        f"{', '.join(baseline.instruction_sets())}"
    )
if instruction_set == "avx512":
    from isodepth._core.avx512 import *  # noqa: F403
elif instruction_set == "avx2":
    from isodepth._core.avx2 import *  # noqa: F403
else:
    from isodepth._core.baseline import *  # noqa: F403
