"""Token vectors cached in a file, because encoding takes most of the time of the experiments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isodepth.text import CachedEncoder, Encoder


class StoredEncoder(CachedEncoder):
    """Encoder with a cache in a file, for one model, layer and setting.

    Parameters
    ----------
    encoder : Encoder
    path : Path or None
        An .npz file; None for a cache in memory only.
    """

    encoder: Encoder

    def __init__(self, encoder: Encoder, path: Path | None) -> None:
        super().__init__(encoder)
        self.path = path
        if path is not None and path.is_file():
            self._read(path)

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode texts that are not in the cache, and save the cache."""
        before = len(self.cache)
        self(list(texts))
        if self.path is not None and len(self.cache) > before:
            self._write(self.path)

    def _read(self, path: Path) -> None:
        with np.load(path) as stored:
            if str(stored["signature"]) != self.signature:
                raise SystemExit(
                    f"{path} holds vectors made with {stored['signature']}, not with "
                    f"{self.signature}; delete it or name another file"
                )
            vectors, sizes = stored["vectors"], stored["sizes"]
            texts = json.loads(str(stored["texts"]))
        parts = np.split(vectors, np.cumsum(sizes)[:-1])
        self.cache = dict(zip(texts, parts, strict=True))

    def _write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(
            path,
            signature=np.array(self.signature),
            texts=np.array(json.dumps(list(self.cache))),
            sizes=np.array([len(cloud) for cloud in self.cache.values()]),
            vectors=np.concatenate(list(self.cache.values())),
        )
