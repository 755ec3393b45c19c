"""What DepthScore is compared with, under one protocol.

Every metric has a `name`, says whether `higher_is_better`, and scores texts:
``metric.score(candidates, references) -> list of floats``, with one reference or a list of them
for each candidate.
"""

from isodepth.text.rivals.bertscore import BERTScore
from isodepth.text.rivals.divergence import JS2
from isodepth.text.rivals.meteor import METEOR
from isodepth.text.rivals.moverscore import MoverScore
from isodepth.text.rivals.overlap import BLEU, ROUGE, TER, ChrF
from isodepth.text.rivals.transport import MMDScore, SlicedWassersteinScore, WassersteinScore

__all__ = [
    "BLEU",
    "JS2",
    "METEOR",
    "ROUGE",
    "TER",
    "BERTScore",
    "ChrF",
    "MMDScore",
    "MoverScore",
    "SlicedWassersteinScore",
    "WassersteinScore",
]
