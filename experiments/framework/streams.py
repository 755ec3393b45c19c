"""Named random streams: a measurement does not depend on previous measurements."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Streams:
    """Random generators derived from a seed, the name of a part of an experiment, and the run.

    Equal names in one run give the same stream, so that conditions can share data. Different names
    give independent streams.
    """

    seed: int
    part: str
    run: int

    def rng(self, *name: object) -> np.random.Generator:
        """Return the random generator of a name, such as "data"; equal names give equal numbers."""
        return np.random.default_rng(self._words(name))

    def integer(self, *name: object) -> int:
        """Return an integer seed that belongs to a name, for options such as `random_state`."""
        return self._words(name)[0]

    def _words(self, name: tuple[object, ...]) -> list[int]:
        text = repr((self.seed, self.part, self.run, [str(word) for word in name]))
        digest = hashlib.sha256(text.encode()).digest()
        return [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 32, 4)]
