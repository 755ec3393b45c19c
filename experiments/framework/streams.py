"""Random streams by name: what one measurement draws never depends on what was drawn before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Streams:
    """Generators derived from a seed, the name of a part of an experiment, and the run.

    Two measurements that ask for the same name in one run get the same stream, so that data can be
    shared between conditions on purpose; any other name gives an independent one.
    """

    seed: int
    part: str
    run: int

    def rng(self, *name: object) -> np.random.Generator:
        """The generator of that name."""
        return np.random.default_rng(self._words(name))

    def integer(self, *name: object) -> int:
        """A seed of that name, for a `random_state`."""
        return self._words(name)[0]

    def _words(self, name: tuple[object, ...]) -> list[int]:
        text = repr((self.seed, self.part, self.run, [str(word) for word in name]))
        digest = hashlib.sha256(text.encode()).digest()
        return [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 32, 4)]
