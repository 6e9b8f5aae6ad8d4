"""What `generate_batch` generates is what `model.generate` does, token for token."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from transformers import GenerationConfig

from laya_core.batching.config import ContinuousBatchingConfig
from laya_core.text import TextAgent

Greedy = Callable[..., list[int]]

PROMPTS = [[1, 5, 6, 7], [1, 9, 10], [1, 3], [1, 44, 45, 46, 47, 48], [1, *range(4, 94)]]
GREEDY: dict[str, Any] = {"do_sample": False, "max_new_tokens": 12}


def tokens(outputs: dict[str, Any]) -> list[list[int]]:
    assert [output.error for output in outputs.values()] == [None] * len(outputs)
    return [output.generated_tokens for output in outputs.values()]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"scheduler_type": "prefill_first"},
        {"allow_block_sharing": False},
        {"max_batch_tokens": 16},  # the longest prompt takes several steps
        {"max_requests_per_batch": 1},
        {"use_async_batching": False, "return_logprobs": True},
    ],
    ids=str,
)
def test_greedy_tokens_are_those_of_generate(text_agent: TextAgent, greedy: Greedy, changes: dict[str, Any]) -> None:
    config = ContinuousBatchingConfig(**{"page_size": 16, "num_blocks": 64, "max_batch_tokens": 64, **changes})
    outputs = text_agent.generate_batch(PROMPTS, continuous_batching_config=config, **GREEDY)
    assert tokens(outputs) == [greedy(prompt, max_new_tokens=12) for prompt in PROMPTS]
    assert [output.prompt_ids for output in outputs.values()] == PROMPTS
    assert list(outputs) == [f"req_{index}" for index in range(len(PROMPTS))]


def test_greedy_tokens_are_those_of_generate_without_any_config(text_agent: TextAgent, greedy: Greedy) -> None:
    outputs = text_agent.generate_batch(PROMPTS, do_sample=False)
    assert tokens(outputs) == [greedy(prompt) for prompt in PROMPTS]


@pytest.mark.parametrize(
    "settings",
    [
        {"max_length": 10},
        {"max_new_tokens": 1},
        {"max_new_tokens": 12, "eos_token_id": 51},
        {"max_new_tokens": 12, "eos_token_id": [83, 39]},
        {"max_new_tokens": 300},
    ],
    ids=str,
)
def test_the_end_is_where_generate_ends(text_agent: TextAgent, greedy: Greedy, settings: dict[str, Any]) -> None:
    outputs = text_agent.generate_batch(PROMPTS[:3], **settings, do_sample=False)
    assert tokens(outputs) == [greedy(prompt, **settings) for prompt in PROMPTS[:3]]


def test_a_generation_config_leaves_the_rest_to_the_model(text_agent: TextAgent, greedy: Greedy) -> None:
    config = GenerationConfig(max_new_tokens=300, do_sample=False)
    expected = greedy(PROMPTS[0], generation_config=config)
    assert expected[-1] == 2 and len(expected) < 300  # it ends with the model's own end token
    assert tokens(text_agent.generate_batch(PROMPTS[:1], config)) == [expected]


def test_text_is_tokenised_and_comes_back_as_text(text_agent: TextAgent, greedy: Greedy) -> None:
    (output,) = text_agent.generate_batch(["word5 word6 word7"], **GREEDY).values()
    expected = greedy([1, 5, 6, 7], max_new_tokens=12)
    assert output.generated_tokens == expected
    assert output.text == " ".join(f"word{token}" for token in expected)
    assert output.usage == {"input_tokens": 4, "output_tokens": 12}


def test_sampling_with_a_seed_repeats_itself(text_agent: TextAgent) -> None:
    config = ContinuousBatchingConfig(page_size=16, num_blocks=64, seed=7)
    runs = [
        tokens(text_agent.generate_batch([[1, 5, 6]], None, config, do_sample=True, temperature=3.0, max_new_tokens=16))
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_log_probabilities_and_timestamps_come_when_asked_for(text_agent: TextAgent) -> None:
    config = ContinuousBatchingConfig(page_size=16, num_blocks=64, return_logprobs=True)
    (output,) = text_agent.generate_batch([[1, 5, 6, 7]], None, config, record_timestamps=True, **GREEDY).values()
    assert len(output.logprobs) == 12 and all(value <= 0 for value in output.logprobs)
    assert output.timestamps == sorted(output.timestamps) and len(output.timestamps) == 12
    (plain,) = text_agent.generate_batch([[1, 5]], **GREEDY).values()
    assert plain.logprobs == [] and plain.timestamps is None


def test_a_bad_prompt_fails_alone(text_agent: TextAgent, greedy: Greedy) -> None:
    config = ContinuousBatchingConfig(page_size=16, num_blocks=4)
    prompts: list[Any] = [[1, 5], [], [999], None, [1] * 60, "word9"]
    outputs = list(text_agent.generate_batch(prompts, None, config, **GREEDY).values())
    errors = [output.error for output in outputs]
    assert errors[0] is None and errors[5] is None
    assert errors[1] == "inputs[1]: the prompt is empty; a model needs at least one token to continue"
    assert errors[2] is not None and "inputs[2]: token 999" in errors[2]
    assert errors[3] == "inputs[3]: a prompt is a text or a list of token ids, not NoneType"
    assert errors[4] is not None and "60 tokens and 12 new ones do not fit the cache of 64 tokens" in errors[4]
    assert all(output.is_finished() for output in outputs)
    assert outputs[5].generated_tokens == greedy([1, 9], max_new_tokens=12)


def test_the_cache_may_be_filled_to_the_last_token(text_agent: TextAgent, greedy: Greedy) -> None:
    config = ContinuousBatchingConfig(page_size=16, num_blocks=4, max_batch_tokens=64)
    prompt = [1, *[5] * 52]
    (output,) = text_agent.generate_batch([prompt], None, config, **GREEDY).values()
    assert output.generated_tokens == greedy(prompt, max_new_tokens=12)


def test_nothing_in_nothing_out(text_agent: TextAgent) -> None:
    assert text_agent.generate_batch([]) == {}


@pytest.mark.parametrize("inputs", ["word5", 7, None, {"a": [1]}])
def test_inputs_are_a_list(text_agent: TextAgent, inputs: Any) -> None:
    with pytest.raises(TypeError, match="inputs must be a list of prompts"):
        text_agent.generate_batch(inputs)


def test_an_unknown_setting_is_refused(text_agent: TextAgent) -> None:
    with pytest.raises(TypeError, match="unknown generation setting 'max_tokens'"):
        text_agent.generate_batch([[1]], max_tokens=3)
    with pytest.raises(ValueError, match="continuous_batching has no field 'pages'"):
        text_agent.generate_batch([[1]], continuous_batching_config={"pages": 3})


def test_more_prompts_than_the_queue_holds_are_all_answered(text_agent: TextAgent, greedy: Greedy) -> None:
    config = ContinuousBatchingConfig(page_size=16, num_blocks=64, max_queue_size=2, max_requests_per_batch=2)
    outputs = text_agent.generate_batch([[1, 5, 6, 7]] * 9, None, config, **GREEDY)
    assert tokens(outputs) == [greedy([1, 5, 6, 7], max_new_tokens=12)] * 9


def test_threads_share_one_engine(text_agent: TextAgent, greedy: Greedy, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    build = text_agent.managers._build

    def counting(settings: Any) -> Any:
        built.append(settings)
        return build(settings)

    monkeypatch.setattr(text_agent.managers, "_build", counting)
    results: dict[int, list[list[int]]] = {}
    together = threading.Barrier(4)

    def work(number: int) -> None:
        together.wait()
        outputs = text_agent.generate_batch(
            PROMPTS[:4], persistent_manager=True, do_sample=False, max_new_tokens=5 + number
        )
        results[number] = tokens(outputs)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(built) == 1
    expected = {n: [greedy(prompt, max_new_tokens=5 + n) for prompt in PROMPTS[:4]] for n in range(4)}
    assert results == expected


def test_a_progress_bar_shows_on_standard_error(text_agent: TextAgent, capsys: pytest.CaptureFixture[str]) -> None:
    text_agent.generate_batch([[1, 5], [1, 6]], progress_bar=True, max_new_tokens=2)
    shown = capsys.readouterr()
    assert "2/2" in shown.err and shown.out == ""
    text_agent.generate_batch([[1, 5]], max_new_tokens=2)
    assert "1/1" not in capsys.readouterr().err


def test_no_thread_is_left_behind(text_agent: TextAgent) -> None:
    before = set(threading.enumerate())
    text_agent.generate_batch([[1, 5]], max_new_tokens=2)
    assert {thread.name for thread in set(threading.enumerate()) - before} == set()


def test_importing_the_package_imports_no_torch() -> None:
    import subprocess

    code = "import sys, laya_core.text; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
