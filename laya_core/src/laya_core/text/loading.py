"""A causal language model and its tokenizer from a directory or the Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError

from laya_core.config import read_json_object
from laya_core.hub import Contents
from laya_core.precision import resolve_precision

TEXT_MODEL: Final = Contents(
    needed=("config.json",),
    patterns=("*.json", "*.safetensors", "*.model", "*.txt", "*.jinja"),
)
_TOKENIZER_FILES: Final = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json", "vocab.txt")


def load_text_model(directory: Path, device: torch.device, precision: str | None) -> Any:
    """The model of a directory, on `device`, in evaluation mode.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged, or the model generates no text.
    """
    from transformers import AutoModelForCausalLM

    settings = read_json_object(directory / "config.json")
    stored = str(settings.get("dtype") or settings.get("torch_dtype") or "float32")
    dtype = resolve_precision(precision, stored, device)
    if not any(directory.glob("*.safetensors")):
        raise FileNotFoundError(f"{directory} has no *.safetensors file; a text model must contain its weights")
    try:
        model, report = AutoModelForCausalLM.from_pretrained(
            directory,
            dtype=dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{directory}: the weights are damaged or incomplete ({error}); download them again") from None
    except ValueError as error:
        raise ValueError(f"{directory} is not a model that generates text: {_first_line(error)}") from None
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])
        raise ValueError(
            f"{directory} lacks {len(missing)} weights of its model ({missing[0]} is one); "
            "the files do not belong together, so download them again"
        )
    return model.to(device).eval().requires_grad_(False)


def load_tokenizer(directory: Path) -> Any:
    """The tokenizer of a directory; None if it has none.

    Raises:
        ValueError: it is damaged.
    """
    if not any((directory / name).is_file() for name in _TOKENIZER_FILES):
        return None
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # tokenizers reports damage in many types
        raise ValueError(f"{directory}: the tokenizer cannot be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
