"""Scores of generated text: DepthScore and its encoders.

The encoders need ``pip install 'isodepth[text]'``. Scores with a custom encoder do not.
"""

from isodepth.text.encoder import CachedEncoder, Encoder
from isodepth.text.score import DepthScore, Scores

__all__ = ["CachedEncoder", "DepthScore", "Encoder", "Scores"]


def __dir__() -> list[str]:
    return __all__
