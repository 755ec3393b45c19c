"""Scoring generated text: DepthScore, what it is compared with, and how to judge a metric.

Needs ``pip install 'isodepth[text]'`` for encoders; the depth part and your own encoder do not.
"""

from isodepth.text.encoder import Encoder
from isodepth.text.memory import RememberingEncoder
from isodepth.text.score import DepthScore
from isodepth.text.steady_irw import DualDepth, SteadyIRWDepth

__all__ = ["DepthScore", "DualDepth", "Encoder", "RememberingEncoder", "SteadyIRWDepth"]
