"""From a checkpoint directory to a `DecisionModel`: mapped weights, nothing initialised, the global RNG untouched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from .config import CheckpointConfig, read_json_object
from .encoders import build_encoder
from .model import FLOAT32_PARTS, DecisionModel

_IGNORED_BUFFERS: Final = frozenset({"temperature"})
_BLOCK_NUMBERS: Final = 1 << 22


def load_model(directory: Path, config: CheckpointConfig, device: torch.device, dtype: torch.dtype) -> DecisionModel:
    """Build the model of a checkpoint directory with its weights on `device` in `dtype`, in evaluation mode.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged, or its weights do not fit the configuration. The message names the file.
    """
    path = directory / "model.safetensors"
    model = build_model(directory / "encoder" / "config.json", config, device)
    model.load_state_dict(_read_weights(path, model.state_dict(), device, dtype), strict=False, assign=True)
    model.keep_readout_in_float32()
    model.requires_grad_(False)
    return model.to(device).eval()


def build_model(encoder_config: Path, config: CheckpointConfig, device: torch.device | None = None) -> DecisionModel:
    """A model of the right shapes whose parameters are uninitialised memory of the CPU.

    Args:
        device: where it is to run; the CPU by default.
    """
    settings = read_json_object(encoder_config)
    device = torch.device("cpu") if device is None else device
    try:
        with _Uninitialised():
            encoder, shape = build_encoder(settings, device)
            return DecisionModel(encoder, shape, config.head_layers, config.action_count)
    except Exception as error:  # transformers reports bad configurations in many types
        raise ValueError(f"{encoder_config} does not describe a usable encoder: {error}") from error


def _read_weights(
    path: Path, expected: Mapping[str, Tensor], device: torch.device, dtype: torch.dtype
) -> dict[str, Tensor]:
    """The weights that the model expects, mapped where they can be used as they are stored."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; a checkpoint directory must contain it")
    try:
        shapes, formats = _contents(path)
        kept = [name for name in shapes if name in expected]
        _check_shapes(path, expected, {name: shapes[name] for name in kept})
        _check_formats(path, expected, {name: formats[name] for name in kept})
        if device.type == "cpu" and {formats[name] for name in kept} == {_STORED_NAMES.get(dtype)}:
            weights = load_file(path)
            return {name: weights[name] for name in kept}
        return {name: _converted(path, name, shapes[name], device, dtype) for name in kept}
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged or cut short ({error}); download the checkpoint again") from None


_FLOATING: Final = ("F", "BF")
_STORED_NAMES: Final = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}


def _contents(path: Path) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
    """Shape and number format of every weight in the file."""
    with safe_open(path, framework="pt") as file:
        weights = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
        shapes = {name: tuple(weight.get_shape()) for name, weight in weights.items()}
        return shapes, {name: weight.get_dtype() for name, weight in weights.items()}


def _converted(path: Path, name: str, shape: tuple[int, ...], device: torch.device, dtype: torch.dtype) -> Tensor:
    with safe_open(path, framework="pt") as file:
        if not shape:
            return _as_loaded(file.get_tensor(name), name, device, dtype).clone()
        converted = _as_loaded(file.get_slice(name)[:0], name, device, dtype).new_empty(shape)
    rows = max(1, _BLOCK_NUMBERS * shape[0] // max(1, converted.numel()))
    for start in range(0, shape[0], rows):
        # The file is opened anew for each block: the pages mapped for it are given back before the next one.
        with safe_open(path, framework="pt") as file:
            converted[start : start + rows] = file.get_slice(name)[start : start + rows]
    return converted


def _as_loaded(tensor: Tensor, name: str, device: torch.device, dtype: torch.dtype) -> Tensor:
    if not tensor.is_floating_point():
        dtype = tensor.dtype
    elif name.startswith(FLOAT32_PARTS):
        dtype = torch.float32
    return tensor.to(device=device, dtype=dtype)


def _check_shapes(path: Path, expected: Mapping[str, Tensor], stored: Mapping[str, tuple[int, ...]]) -> None:
    missing = sorted(expected.keys() - stored.keys() - _IGNORED_BUFFERS)
    if missing:
        raise ValueError(f"{path} lacks {_listed(missing)}; the file does not belong to this configuration")
    for name, shape in stored.items():
        if shape != tuple(expected[name].shape):
            raise ValueError(
                f"{path}: {name} has shape {shape}, but the configuration asks for {tuple(expected[name].shape)}"
            )


def _check_formats(path: Path, expected: Mapping[str, Tensor], stored: Mapping[str, str]) -> None:
    wrong = sorted(
        name
        for name in stored.keys() - _IGNORED_BUFFERS
        if expected[name].is_floating_point() and not stored[name].startswith(_FLOATING)
    )
    if wrong:
        formats = ", ".join(sorted({stored[name] for name in wrong}))
        raise ValueError(
            f"{path} stores {_listed(wrong)} with dtype {formats}, but weights must be floating point; "
            "save the checkpoint as F32, F16 or BF16, or download it again"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more weights" if len(names) > 3 else "")


class _Uninitialised(TorchFunctionMode):
    """While modules are built in this thread, writes to their parameters are skipped: weights replace them anyway.

    Memory of a parameter that nobody writes to is reserved but never touched, and no random number is drawn.
    Buffers are computed as usual.
    """

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        name = getattr(function, "__name__", "")
        if name.endswith("_") and not name.endswith("__") and name != "requires_grad_":
            target = args[0] if args else (kwargs or {}).get("tensor")  # torch.nn.init passes it by name
            if isinstance(target, nn.Parameter):
                return target
        return function(*args, **(kwargs or {}))
