"""Every example about hooks runs offline and prints what it is there to show."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from laya_hooks import named_checkpoints, providers
from laya_hooks.defaults import replaced_choice

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "hooks"

# Lines the output consists of, as regular expressions.
PRINTED = {
    "async_ship": [r"after a call from sync code: 1 shipped", r"after three from async code: 4 shipped"],
    "audit": [
        r'\{"run": "[0-9a-f]{32}", "model": ".+", "states": \["[0-9a-f]{12}", "[0-9a-f]{12}"\], '
        r'"questions": \["team"\], "answers": \[\{"team": "\w+"\}, \{"team": "\w+"\}\], "error": null, "ms": [\d.]+\}',
        r'\{.+"answers": \[\], "error": "ValueError", "ms": [\d.]+\}',
        r"refused: question 'team': .+",
    ],
    "budget": [r"support: \d+ tokens read, \d+ of the state dropped", r"bulk: 128 tokens read, [1-9]\d* of the .+"],
    "cache": [
        r"'I was charged twice' answered by the model; 1 in the cache",
        r"'The app is slow' answered by the model; 2 in the cache",
        r"'I was charged twice' answered by the cache; 2 in the cache",
    ],
    "metrics": [
        r"not a state: states\[0\] is None.+",
        r'laya_calls_total\{outcome="answered"\} 2',
        r'laya_calls_total\{outcome="TypeError"\} 1',
        r"laya_input_tokens_total [1-9]\d*",
        *[rf'laya_latency_ms_bucket\{{le="{bound}"\}} [0-3]' for bound in (10, 50, 250, 1000)],
        r'laya_latency_ms_bucket\{le="\+Inf"\} 3',
    ],
    "pin_checkpoint": [
        r"  loaded acme-tuned",
        r"acme: acme-tuned \(pinned for acme\)",
        r"  loaded shared",
        r"globex: shared \(.+\)",
        r"acme: acme-tuned \(pinned for acme\)",
    ],
    "process_defaults": [
        r"agent:",
        r"  default sees \['Our checkout is down'\] of agent",
        r"  installed runs after it",
        r"router:",
        r"  default sees \['Our checkout is down'\] of router",
        r"cleared:",
        r"  installed runs after it",
    ],
    "redact": [
        r"the model read  \{'from': '\[address\]', 'body': \['Please refund \[card\]', 'or call \[phone\]'\], .+\}",
        r"the caller keeps \{'from': 'ann@example.org', 'body': \['Please refund 4111 .+', 'or call \+49 .+'\], .+\}",
    ],
    "scoped": [
        r"in the block: 2 calls, the slowest was about '(I want my money back|Where is my parcel\?)'",
        r"per call: 1 call, about 'Please cancel my order'",
        r"installed now: \[\]",
    ],
    "timeout": [
        r"raised: hook Hanging.on_predict_end .+ hooks_timeout=0.2 s.+",
        r"warned: hook Hanging.on_predict_end failed in on_predict_end and is ignored.+",
        r"answered: True",
    ],
    "tracing": [
        r"request > router > agent: [\d.]+ ms \(tokenize [\d.]+ ms, inference [\d.]+ ms\)",
        r"request > router: [\d.]+ ms \(.+\)",
        r"afterwards in: request",
    ],
}


@pytest.fixture(autouse=True)
def _own_defaults() -> Iterator[None]:
    with replaced_choice():
        yield


@pytest.fixture
def mini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, parity_checkpoints: Path) -> None:
    """The checkpoint the examples load; where it is not installed, one with random weights stands in for it."""
    if Path(str(named_checkpoints().get("mini"))).is_dir():
        return
    (tmp_path / "mini").symlink_to(parity_checkpoints / "modernbert")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(providers, "named_checkpoints", dict)


def test_every_example_is_tested_and_short() -> None:
    files = {path.stem: path for path in EXAMPLES.glob("*.py")}
    assert set(files) == set(PRINTED)
    for path in files.values():
        source = path.read_text(encoding="utf-8")
        assert len(source.splitlines()) < 80
        assert f"`python docs/examples/hooks/{path.name}`" in source


@pytest.mark.usefixtures("mini")
@pytest.mark.filterwarnings("ignore:.*temperature_by_options")
@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_shows(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(PRINTED[name]), printed
    for line, pattern in zip(printed, PRINTED[name], strict=True):
        assert re.fullmatch(pattern, line), line
