"""Scoring generated text: DepthScore and its encoders.

Needs ``pip install 'isodepth[text]'`` for encoders; the depth part and your own encoder do not.
"""

from isodepth.text.encoding.cache import RememberingEncoder
from isodepth.text.encoding.encoder import Encoder
from isodepth.text.score import DepthScore

__all__ = ["DepthScore", "Encoder", "RememberingEncoder"]
