"""Which number format a model computes in."""

from __future__ import annotations

import os
from typing import Final

import torch

_FORCED: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_AMP: Final = {
    "bf16": torch.bfloat16,
    "bfloat16": torch.bfloat16,
    "fp16": torch.float16,
    "float16": torch.float16,
}


def resolve_precision(precision: str | None, amp_dtype: str | None, device: torch.device) -> torch.dtype:
    """The dtype of weights and activations.

    Args:
        precision: "auto", "float32", "bfloat16" or "float16"; None reads LAYA_PRECISION, then means "auto".
        amp_dtype: the checkpoint's preference; "auto" follows it where `device` computes it natively.

    Raises:
        ValueError: an unknown name.
    """
    wanted = precision or os.environ.get("LAYA_PRECISION", "").strip() or "auto"
    if wanted in _FORCED:
        return _FORCED[wanted]
    if wanted != "auto":
        raise ValueError(f"unknown precision {wanted!r}; use 'auto', {', '.join(map(repr, _FORCED))}")
    preferred = _AMP.get(amp_dtype or "")
    return preferred if preferred is not None and _is_native(preferred, device) else torch.float32


def _is_native(dtype: torch.dtype, device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device)[0] >= 8
    if device.type == "mps":
        return dtype is torch.float16
    return device.type == "cpu" and dtype is torch.bfloat16 and _cpu_computes_bfloat16()


def _cpu_computes_bfloat16() -> bool:
    probes = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(getattr(torch.cpu, probe, bool)() for probe in probes)
