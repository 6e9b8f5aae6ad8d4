"""Which device a model runs on."""

from __future__ import annotations

import warnings

import torch


def resolve_device(name: str | None) -> torch.device:
    """The device called `name`, or the best there is (cuda, mps, xpu, cpu) when it is None or "auto".

    A device that this machine or this build of torch lacks is replaced by the CPU, with a `RuntimeWarning`.

    Raises:
        ValueError: torch knows no device of that name.
    """
    if name is None or name == "auto":
        return next(
            (torch.device(kind) for kind in ("cuda", "mps", "xpu") if _missing(torch.device(kind)) is None),
            torch.device("cpu"),
        )
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise ValueError(f"unknown device {name!r}; use 'cpu', 'cuda', 'cuda:1', 'mps' or 'xpu'") from None
    reason = _missing(device)
    if reason is None:
        return device
    warnings.warn(f"device {name!r} is not available ({reason}); running on the CPU", RuntimeWarning, stacklevel=2)
    return torch.device("cpu")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a forward pass failed because the device ran out of memory."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and "out of memory" in str(error).lower()


def release_cached_memory(device: torch.device) -> None:
    """Hand memory that torch keeps for reuse back to the device."""
    backend = getattr(torch, device.type, None)
    if device.type != "cpu" and backend is not None and hasattr(backend, "empty_cache"):
        backend.empty_cache()


def _missing(device: torch.device) -> str | None:
    if device.type == "cpu":
        return None
    if device.type == "mps":
        return None if torch.backends.mps.is_available() else "this machine or torch build has no Metal support"
    backend = getattr(torch, device.type, None)
    if backend is None or not hasattr(backend, "is_available"):
        return "this torch build does not run models on it"
    if not backend.is_available():
        return "no such device, or a torch build without it"
    count = backend.device_count()
    if device.index is not None and device.index >= count:
        return f"there are {count} devices of this kind"
    return None
