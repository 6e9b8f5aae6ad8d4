"""`rl_agent_config.json`: what a checkpoint says about itself."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, TypeGuard

from attrs import frozen

QuestionType = Literal["choice", "score", "noul"]
OptionLayout = Literal["sequential", "parallel"]

QUESTION_TYPES: Final[tuple[QuestionType, ...]] = ("choice", "score", "noul")
OPTION_BANDS: Final = ("2", "3-5", "6-10", "11+")
BAND_KEYS: Final = frozenset(f"{kind}:{band}" for kind in QUESTION_TYPES for band in OPTION_BANDS)

_COLDEST, _HOTTEST = 0.5, 5.0


def option_band(count: int) -> str:
    """The band of a question with `count` options: "2", "3-5", "6-10" or "11+"."""
    if count <= 2:
        return "2"
    if count <= 5:
        return "3-5"
    return "6-10" if count <= 10 else "11+"


@frozen
class Temperatures:
    """Calibration temperatures: one per question type, refined per type and band of option counts."""

    by_type: tuple[float, float, float]
    by_options: Mapping[str, float]

    def of(self, kind: QuestionType, options: int) -> float:
        """The temperature that divides the logits of a `kind` question with that many options."""
        band = self.by_options.get(f"{kind}:{option_band(options)}")
        return self.by_type[QUESTION_TYPES.index(kind)] if band is None else band

    @classmethod
    def parse(cls, by_type: object, by_options: object, where: str) -> Temperatures:
        """Read both fields; values out of range are clamped, unusable ones become 1.0, each with a warning.

        Raises:
            ValueError: `by_type` is not a list of three, or `by_options` is not a mapping.
        """
        if not isinstance(by_type, list | tuple) or len(by_type) != 3:
            raise ValueError(
                f"{where}: temperature must be a list of three numbers (choice, score, noul), not {by_type!r}"
            )
        if not isinstance(by_options, Mapping):
            raise ValueError(
                f"{where}: temperature_by_options must map '<type>:<band>' to a number, not {by_options!r}"
            )
        choice, score, noul = (_usable(value, f"{where}: temperature[{index}]") for index, value in enumerate(by_type))
        bands = {
            str(band): _usable(value, f"{where}: temperature_by_options[{band!r}]")
            for band, value in by_options.items()
        }
        return cls((choice, score, noul), bands)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a finite number; a bool is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value < math.inf


def _usable(value: object, entry: str) -> float:
    if not is_number(value):
        warnings.warn(f"{entry} is {value!r}, not a finite number; using 1.0", RuntimeWarning, stacklevel=2)
        return 1.0
    clamped = float(min(max(value, _COLDEST), _HOTTEST))
    if clamped != value:
        warnings.warn(
            f"{entry} is {value!r}, outside [{_COLDEST}, {_HOTTEST}]; using {clamped}",
            RuntimeWarning,
            stacklevel=2,
        )
    return clamped


@frozen
class CheckpointConfig:
    """The parsed `rl_agent_config.json`."""

    encoder: str
    head_layers: int
    act_costs: Mapping[str, object]
    max_len: int
    head_max_len: int
    amp_dtype: str | None
    temperatures: Temperatures
    option_layout: OptionLayout

    @property
    def action_count(self) -> int:
        """Outputs of the act head: answering, and one per priced alternative."""
        return len(self.act_costs) + 1

    @classmethod
    def read(cls, path: Path) -> CheckpointConfig:
        """Parse the file at `path`.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: it is not a JSON object, lacks a key, or a value cannot be used. The message names the file.
        """
        data = read_json_object(path)
        for key in ("encoder", "head_layers"):
            if key not in data:
                raise ValueError(f"{path}: the key {key!r} is missing; it is required in every checkpoint")
        layout = "sequential" if data.get("option_layout") is None else data["option_layout"]
        if layout not in ("sequential", "parallel"):
            raise ValueError(f"{path}: option_layout must be 'sequential' or 'parallel', not {layout!r}")
        costs = data.get("act_costs") or {}
        if not isinstance(costs, Mapping):
            raise ValueError(f"{path}: act_costs must be an object of costs by action, not {costs!r}")
        amp_dtype = data.get("amp_dtype")
        return cls(
            encoder=str(data["encoder"]),
            head_layers=_whole_number(path, data, "head_layers", None, least=0),
            act_costs=dict(costs),
            max_len=_whole_number(path, data, "max_len", 512, least=8),
            head_max_len=_whole_number(path, data, "head_max_len", 192, least=4),
            amp_dtype=None if amp_dtype is None else str(amp_dtype),
            temperatures=Temperatures.parse(
                data.get("temperature", [1.0, 1.0, 1.0]), data.get("temperature_by_options") or {}, str(path)
            ),
            option_layout=layout,
        )


def read_json_object(path: Path) -> dict[str, object]:
    """The JSON object in `path`; `ValueError` naming the file when it holds anything else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing; a checkpoint directory must contain it") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not valid JSON ({error}); download the checkpoint again") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path} must hold a JSON object, not a {type(data).__name__}")
    return data


def _whole_number(path: Path, data: Mapping[str, object], key: str, default: int | None, *, least: int) -> int:
    value = data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{path}: {key} must be a whole number of at least {least}, not {value!r}")
    return value
