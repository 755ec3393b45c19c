"""Scoring generated text: DepthScore and its encoders.

Needs ``pip install 'isodepth[text]'`` for encoders; the depth part and your own encoder do not.
"""

from isodepth.text.encoder import Encoder, RememberingEncoder
from isodepth.text.score import DepthScore

__all__ = ["DepthScore", "Encoder", "RememberingEncoder"]
