"""`rl_agent_config.json`: defaults, refused values and clamped temperatures."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from laya_core.config import CheckpointConfig, Temperatures, option_band

LEAST = {"encoder": "some-encoder", "head_layers": 2}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rl_agent_config.json"


def read(path: Path, **changes: Any) -> CheckpointConfig:
    path.write_text(json.dumps({**LEAST, **changes}), encoding="utf-8")
    return CheckpointConfig.read(path)


def test_defaults(path: Path) -> None:
    config = read(path)
    assert config == CheckpointConfig(
        encoder="some-encoder",
        head_layers=2,
        act_costs={},
        max_len=512,
        head_max_len=192,
        amp_dtype=None,
        temperatures=Temperatures((1.0, 1.0, 1.0), {}),
        option_layout="sequential",
    )
    assert config.action_count == 1


def test_everything_that_is_given_is_read(path: Path) -> None:
    config = read(
        path,
        act_costs={"escalate": 0.1, "ask": 0.2},
        max_len=1024,
        head_max_len=256,
        amp_dtype="bf16",
        temperature=[1, 2.0, 0.5],
        temperature_by_options={"choice:3-5": 1.5},
        option_layout="parallel",
        something_new=True,
    )
    assert (config.action_count, config.max_len, config.head_max_len) == (3, 1024, 256)
    assert (config.amp_dtype, config.option_layout) == ("bf16", "parallel")
    assert config.temperatures == Temperatures((1.0, 2.0, 0.5), {"choice:3-5": 1.5})


@pytest.mark.parametrize("key", ["encoder", "head_layers"])
def test_a_required_key_is_missed_by_name(key: str, path: Path) -> None:
    path.write_text(json.dumps({name: value for name, value in LEAST.items() if name != key}))
    with pytest.raises(ValueError, match=f"{path}: the key '{key}' is missing"):
        CheckpointConfig.read(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("head_layers", -1),
        ("head_layers", 1.5),
        ("head_layers", "2"),
        ("head_layers", True),
        ("head_layers", None),
        ("max_len", 0),
        ("max_len", "512"),
        ("max_len", 512.0),
        ("head_max_len", -5),
        ("head_max_len", False),
        ("act_costs", ["escalate"]),
        ("act_costs", 1),
        ("option_layout", "diagonal"),
        ("option_layout", ""),
        ("option_layout", False),
        ("option_layout", ["parallel"]),
        ("temperature", 1.0),
        ("temperature", [1.0, 1.0]),
        ("temperature", [1.0] * 4),
        ("temperature", {"choice": 1.0}),
        ("temperature", None),
        ("temperature", "111"),
        ("temperature_by_options", [1.0]),
        ("temperature_by_options", "choice:2"),
    ],
)
def test_an_unusable_value_is_refused_with_file_and_key(key: str, value: object, path: Path) -> None:
    with pytest.raises(ValueError, match=str(path)) as refused:
        read(path, **{key: value})
    assert key in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"[1]", b'"text"', b"\xff\xfe", b"[" * 100_000, b"{'a': 1}"])
def test_a_file_that_is_no_json_object_is_named(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(ValueError, match=str(path)):
        CheckpointConfig.read(path)


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=str(path)):
        CheckpointConfig.read(path)


@pytest.mark.parametrize(
    ("given", "used"),
    [(0.4, 0.5), (0, 0.5), (-3, 0.5), (5.1, 5.0), (1e300, 5.0), (10**400, 5.0), (-(10**400), 0.5)],
)
def test_a_temperature_out_of_range_is_clamped_with_a_warning_that_names_it(given: Any, used: float) -> None:
    with pytest.warns(RuntimeWarning, match=r"here: temperature\[1\] is .* using") as caught:
        parsed = Temperatures.parse([1.0, given, 1.0], {}, "here")
    assert parsed.by_type == (1.0, used, 1.0)
    assert len(caught) == 1


@pytest.mark.parametrize("given", [True, False, None, "1.0", [1.0], float("nan"), float("inf"), float("-inf")])
def test_what_is_no_finite_number_counts_as_one_with_a_warning_that_names_it(given: Any) -> None:
    with pytest.warns(RuntimeWarning, match=r"here: temperature_by_options\['noul:2'\] is .* using 1.0") as caught:
        parsed = Temperatures.parse([1.0, 1.0, 1.0], {"noul:2": given}, "here")
    assert parsed.by_options == {"noul:2": 1.0}
    assert len(caught) == 1


def test_temperatures_in_range_are_taken_silently() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parsed = Temperatures.parse((0.5, 5, 1), {"choice:2": 5.0, "choice:11+": 0.5}, "here")
    assert parsed == Temperatures((0.5, 5.0, 1.0), {"choice:2": 5.0, "choice:11+": 0.5})


@pytest.mark.parametrize(
    ("count", "band"),
    [(1, "2"), (2, "2"), (3, "3-5"), (5, "3-5"), (6, "6-10"), (10, "6-10"), (11, "11+"), (500, "11+")],
)
def test_bands_by_option_count(count: int, band: str) -> None:
    assert option_band(count) == band
    temperatures = Temperatures((1.0, 2.0, 3.0), {f"score:{band}": 4.0})
    assert temperatures.of("score", count) == 4.0
    assert temperatures.of("choice", count) == 1.0
    assert temperatures.of("noul", 2) == 3.0
