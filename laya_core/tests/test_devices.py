"""Devices, number formats and backends: what is chosen, and what is said when it is not there."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from laya_core import Agent, backends, precision
from laya_core.backends import choose_backend
from laya_core.devices import is_out_of_memory, release_cached_memory, resolve_device
from laya_core.precision import resolve_precision

CPU = torch.device("cpu")


@pytest.fixture
def cpu_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (torch.cuda, torch.xpu, torch.backends.mps):
        monkeypatch.setattr(kind, "is_available", lambda: False)


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.parametrize("name", [None, "auto", "cpu"])
def test_without_accelerators_the_cpu_is_taken_silently(name: str | None, cpu_only: None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resolve_device(name) == CPU


@pytest.mark.parametrize("name", ["cuda", "cuda:3", "mps", "xpu", "meta", "hpu"])
def test_an_unavailable_device_falls_back_with_the_reason(name: str, cpu_only: None) -> None:
    with pytest.warns(RuntimeWarning, match=f"'{name}' is not available \\(.+\\); running on the CPU"):
        assert resolve_device(name) == CPU


@pytest.mark.parametrize("name", ["gpu", "", "cuda:x", "cuda:-1", "CPU ", "tpu:0"])
def test_an_unknown_device_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ValueError, match="unknown device") as refused:
        resolve_device(name)
    assert "'cuda:1'" in str(refused.value)


def test_accelerators_come_in_their_order(cpu_only: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.xpu, "is_available", lambda: True)
    assert resolve_device(None).type == "xpu"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert resolve_device(None).type == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device(None).type == "cuda"


def test_a_device_number_that_does_not_exist_falls_back(two_gpus: None) -> None:
    assert resolve_device("cuda:1") == torch.device("cuda:1")
    with pytest.warns(RuntimeWarning, match="there are 2 devices"):
        assert resolve_device("cuda:2") == CPU


def test_an_agent_says_that_it_fell_back(checkpoint: Path, load_agent: Callable[..., Agent], cpu_only: None) -> None:
    with pytest.warns(RuntimeWarning) as caught:
        fallen = Agent(checkpoint, device="cuda", precision="float32")
    with fallen:
        assert fallen.device == "cpu"
    assert sum("'cuda' is not available" in str(warning.message) for warning in caught) == 1


@pytest.mark.parametrize(
    ("error", "out_of_memory"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        (RuntimeError("MPS backend out of memory"), True),
        (RuntimeError("Out Of Memory on xpu"), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("out of memory"), False),
        (MemoryError("out of memory"), False),
    ],
)
def test_which_errors_are_lack_of_memory(error: BaseException, out_of_memory: bool) -> None:
    assert is_out_of_memory(error) is out_of_memory


@pytest.mark.parametrize("name", ["cpu", "meta"])
def test_releasing_memory_is_harmless_where_nothing_is_kept(name: str) -> None:
    release_cached_memory(torch.device(name))


@pytest.mark.parametrize("wanted", ["float32", "bfloat16", "float16"])
def test_a_named_precision_is_forced(wanted: str) -> None:
    assert resolve_precision(wanted, "bf16", CPU) == getattr(torch, wanted)


@pytest.mark.parametrize("wanted", ["fp8", "bf16", "FLOAT32", "half", torch.bfloat16, 16])
def test_an_unknown_precision_is_refused(wanted: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown precision .* 'float32', 'bfloat16', 'float16'"):
        resolve_precision(wanted, None, CPU)


def test_the_environment_decides_when_nothing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYA_PRECISION", " bfloat16 ")
    assert resolve_precision(None, None, CPU) is torch.bfloat16
    assert resolve_precision("float32", None, CPU) is torch.float32
    monkeypatch.setenv("LAYA_PRECISION", "double")
    with pytest.raises(ValueError, match="unknown precision 'double'"):
        resolve_precision(None, None, CPU)
    monkeypatch.setenv("LAYA_PRECISION", "")
    assert resolve_precision(None, None, CPU) is torch.float32


@pytest.mark.parametrize(
    ("device", "amp_dtype", "native", "expected"),
    [
        ("cpu", "bf16", True, torch.bfloat16),
        ("cpu", "bfloat16", True, torch.bfloat16),
        ("cpu", "bf16", False, torch.float32),
        ("cpu", "fp16", True, torch.float32),
        ("cpu", None, True, torch.float32),
        ("cpu", "int8", True, torch.float32),
        ("mps", "fp16", True, torch.float16),
        ("mps", "bf16", True, torch.float32),
        ("cuda", "bf16", True, torch.bfloat16),
        ("cuda", "fp16", True, torch.float16),
        ("cuda", "bf16", False, torch.float32),
        ("xpu", "bf16", True, torch.float32),
    ],
)
def test_auto_follows_the_checkpoint_where_the_device_computes_it_natively(
    device: str, amp_dtype: str | None, native: bool, expected: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "_cpu_computes_bfloat16", lambda: native)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (8 if native else 7, 5))
    assert resolve_precision("auto", amp_dtype, torch.device(device)) is expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_an_agent_computes_in_the_precision_it_tells(
    dtype: torch.dtype, checkpoint: Path, load_agent: Callable[..., Agent], agent: Agent
) -> None:
    question = {"q": {"type": "choice", "instructions": "Which?", "criteria": ["a", "b", "c"]}}
    with load_agent(checkpoint, precision=str(dtype).removeprefix("torch.")) as loaded:
        assert loaded.dtype is dtype
        ours = loaded.predict("text", question)["answers"]["q"]["probabilities"]
    theirs = agent.predict("text", question)["answers"]["q"]["probabilities"]
    assert ours == pytest.approx(theirs, abs=0.03)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "eager"),
        ({"backend": "eager"}, "eager"),
        ({"backend": "eager", "fast": True}, "eager"),
        ({"compile": True}, "compile"),
        ({"backend": "compile", "compile": True}, "compile"),
        ({"fast": True}, "compile"),
        ({"backend": "auto"}, "compile"),
    ],
)
def test_flags_choose_the_backend(arguments: dict[str, Any], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_can_compile", lambda: True)
    assert choose_backend(arguments.pop("backend", None), **arguments) == expected


def test_contradicting_and_unknown_backends_are_refused() -> None:
    with pytest.raises(ValueError, match="contradict"):
        choose_backend("eager", compile=True)
    with pytest.raises(ValueError, match="unknown backend 'tensorrt'"):
        choose_backend("tensorrt")


def test_a_backend_that_cannot_run_here_is_refused_by_name_and_skipped_by_fast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backends, "_can_compile", lambda: False)
    with pytest.raises(ValueError, match="'compile' needs a C"):
        choose_backend("compile")
    with pytest.warns(RuntimeWarning, match="staying with 'eager'"):
        assert choose_backend(None, fast=True) == "eager"
