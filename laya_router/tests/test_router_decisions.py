from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laya_router import RouteDecision, Router
from laya_router.language import primary_language
from laya_router.workflows import WORKFLOWS, match_workflow

CUSTOMER_SERVICE = {name: {} for name in WORKFLOWS["customer_service"]}


@pytest.mark.parametrize(
    ("name", "checkpoint"),
    [
        ("english", "english"),
        (" EN ", "english"),
        ("laya", "english"),
        ("default", "english"),
        ("ML", "multilingual"),
        ("multi", "multilingual"),
        ("laya-multilingual", "multilingual"),
        ("convaiinnovations/laya-multilingual", "multilingual"),
        ("Typed", "typed-decisions"),
        ("typed_decisions", "typed-decisions"),
        ("decisions", "typed-decisions"),
        ("laya-typed-decisions", "typed-decisions"),
    ],
)
def test_a_name_or_alias_chooses_its_checkpoint(name: str, checkpoint: str) -> None:
    decision = Router().route("text", model=name)
    assert decision.model == checkpoint
    assert name in decision.reason
    assert decision["detection"] is None and decision["workflow"] is None


def test_a_decision_is_a_dict_with_all_keys_and_two_attributes() -> None:
    decision = Router().route("Hello")
    assert isinstance(decision, RouteDecision) and isinstance(decision, dict)
    assert list(decision) == ["model", "repo", "reason", "detection", "workflow"]
    assert (decision.model, decision.reason) == (decision["model"], decision["reason"])


def test_the_model_wins_over_everything_else() -> None:
    router = Router(auto_task_detection=True, lang_guess="fr")
    decision = router.route("Привет", CUSTOMER_SERVICE, model="english", task="typed", lang="de", lang_guess="fr")
    assert decision.model == "english"


@pytest.mark.parametrize("task", ["typed_decisions", "Typed-Decisions", "typed decisions", "TypedDecisions", "typed"])
def test_the_task_typed_decisions_is_understood_in_any_spelling(task: str) -> None:
    decision = Router(auto_task_detection=True).route("text", CUSTOMER_SERVICE, task=task, lang="de")
    assert decision.model == "typed-decisions"
    assert decision["workflow"] is None


def test_a_task_may_be_a_model_name() -> None:
    assert Router().route("text", task="ml").model == "multilingual"


def test_question_ids_of_a_workflow_decide_only_when_asked_to() -> None:
    plain = Router().route("text", CUSTOMER_SERVICE)
    assert (plain.model, plain["workflow"]) == ("english", "customer_service")
    auto = Router(auto_task_detection=True).route("Привет, мир", CUSTOMER_SERVICE, lang="de")
    assert (auto.model, auto["workflow"], auto["detection"]) == ("typed-decisions", "customer_service", None)


def test_one_question_more_or_less_is_no_workflow() -> None:
    for ids in WORKFLOWS.values():
        assert match_workflow(ids) is not None
        assert match_workflow([*ids, "more"]) is None
        assert match_workflow(list(ids)[1:]) is None


@pytest.mark.parametrize("code", ["de", "pt-BR", "zh_Hans", "fr_FR.UTF-8", "Deutsch"])
def test_another_language_than_english_is_multilingual(code: str) -> None:
    decision = Router().route("text", lang=code)
    assert (decision.model, decision["detection"]) == ("multilingual", None)
    assert code in decision.reason


@pytest.mark.parametrize("code", ["en", "ENG", " english ", "en_US.UTF-8", "en-GB"])
def test_english_in_any_spelling_is_english(code: str) -> None:
    assert Router(default="multilingual").route("текст", lang=code).model == "english"


@pytest.mark.parametrize("code", ["", "  ", "C", "C.UTF-8", "POSIX", "und", "zxx", "mul", "auto", "12", "-"])
def test_a_code_that_names_no_language_abstains(code: str) -> None:
    assert primary_language(code) is None
    assert Router().route("Привет, мир", lang=code).model == "multilingual"
    assert Router().route("text", lang_guess=code, lang=code)["detection"] is not None


def test_the_guess_of_the_call_comes_before_that_of_the_router() -> None:
    router = Router(lang_guess=lambda state: "fr" if "bonjour" in state else None)
    assert router.route("bonjour").model == "multilingual"
    assert router.route("bonjour", lang_guess="en").model == "english"
    assert router.route("bonjour", lang_guess=lambda _: None).model == "multilingual"
    assert router.route("hello")["detection"] is not None
    assert router.route("bonjour", lang="en").model == "english"
    assert "lang_guess='fr'" in router.route("bonjour").reason


def test_a_guess_that_is_no_code_is_refused() -> None:
    with pytest.raises(TypeError, match="returned 7"):
        Router().route("text", lang_guess=lambda _: 7)
    with pytest.raises(TypeError, match="lang_guess"):
        Router().route("text", lang_guess=7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="lang_guess"):
        Router(lang_guess=7)  # type: ignore[arg-type]


def no_idea(state: object) -> str:
    raise LookupError("no idea")


def test_a_guess_that_raises_is_named_with_what_it_may_return_and_its_index(builds: Any) -> None:
    message = r"lang_guess <function no_idea .*> raised LookupError: .*no idea.*; it returns a language code, or None"
    with pytest.raises(ValueError, match=message) as caught:
        Router(lang_guess=no_idea).route("text")
    assert isinstance(caught.value.__cause__, LookupError)
    requests = [{"state": "x", "questions": {}, "model": "en"}, {"state": "x", "questions": {}, "lang_guess": no_idea}]
    with pytest.raises(ValueError, match=rf"requests\[1\]: {message}"):
        Router().predict_batch(requests)
    requests[1]["lang_guess"] = lambda state: 7
    with pytest.raises(TypeError, match=r"requests\[1\]: lang_guess .* returned 7"):
        Router().predict_batch(requests)
    assert builds.sources == []


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Router(models=["mine"]), TypeError, "models are a mapping of name to source, not list"),
        (lambda: Router().preload(5), TypeError, "preload takes checkpoint names, not int 5"),
        (lambda: Router().attach("mine", None), TypeError, "no agent to attach as 'mine'"),
        (lambda: Router().register("auto", "./x"), ValueError, "'auto' cannot name a checkpoint"),
        (lambda: Router().register("x", " "), ValueError, "source is blank"),
        (lambda: Router().register(5, "./x"), TypeError, "a checkpoint name is a string, not int 5"),
        (lambda: Router().unregister("nobody"), ValueError, "unknown model 'nobody'; known are english"),
        (lambda: Router(default="nobody"), ValueError, "unknown model 'nobody'; known are english"),
    ],
)
def test_a_mistake_at_the_table_is_told_with_value_and_choices(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_undecided_text_goes_to_the_default() -> None:
    assert Router().route("12:30").model == "english"
    assert Router().route("12:30").reason == "no text, so the default"
    assert Router(default="ml").route("12:30").model == "multilingual"
    assert Router(default="ml").route("Hello there").model == "english"
    assert Router(default="ml").default == "multilingual"


def test_a_default_of_ones_own_stands_in_for_english() -> None:
    router = Router(models={"mine": "./mine"}, default="mine")
    assert router.route("text", lang="en").model == "mine"
    assert router.route("text", lang="de").model == "multilingual"
    assert router.route("text").model == "mine"


@pytest.mark.parametrize(
    ("argument", "meant"),
    [
        ({"model": "Minni"}, "mini"),
        ({"model": "multilingal"}, "multilingual"),
        ({"task": "typed_decision"}, "typed_decisions"),
    ],
)
def test_a_misspelt_model_or_task_is_told_with_what_it_may_mean(argument: dict[str, str], meant: str) -> None:
    with pytest.raises(ValueError, match=rf"and their aliases; did you mean '{meant}'\?$"):
        Router(models={"mini": "./mini"}).route("text", **argument)


@pytest.mark.parametrize("argument", [{"model": "nobody"}, {"model": ""}, {"task": "nobody"}, {"model": "org/repo"}])
def test_an_unknown_model_or_task_is_refused_by_name(argument: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=f"unknown {next(iter(argument))} {next(iter(argument.values()))!r}"):
        Router().route("text", **argument)


def test_auto_as_a_model_lets_the_router_choose() -> None:
    assert Router().route("Привет, мир", model="auto")["detection"] is not None


@pytest.mark.parametrize("name", ["auto", "-x", "a b", "", "ü", ".x"])
def test_some_names_cannot_be_registered(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a checkpoint"):
        Router(models={name: "./here"})


@pytest.mark.parametrize("source", [None, 3, ("repo",), ("", None), ("a", 2)])
def test_a_source_of_the_wrong_shape_is_refused(source: Any) -> None:
    with pytest.raises(TypeError, match="checkpoint source"):
        Router(models={"mine": source})


def test_models_add_names_and_point_known_ones_elsewhere() -> None:
    router = Router(models={"Mine": "./mine", "ml": ("org/repo", "sub")})
    assert router.route("text", model="mine")["repo"] == "./mine"
    assert router.route("text", lang="de")["repo"] == "org/repo/sub"
    assert router.registered()["multilingual"] == ("org/repo", "sub")


def test_standalone_repos_changes_where_checkpoints_come_from() -> None:
    repos = {name: Router(standalone_repos=True).route("x", model=name)["repo"] for name in ("en", "ml", "typed")}
    assert repos == {
        "en": "convaiinnovations/laya",
        "ml": "convaiinnovations/laya-multilingual",
        "typed": "convaiinnovations/laya-typed-decisions",
    }
    assert Router().route("x", model="ml")["repo"] == "convaiinnovations/laya/multilingual"


def test_checkpoints_of_plugins_are_added_and_never_replace_published_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    brought = {"tiny": "./tiny", "plain": "./plain", "english": "./other", "en": "./other"}
    monkeypatch.setattr("laya_router.table.named_checkpoints", lambda: brought)
    described = {"tiny": "a tiny one", "english": "another one"}
    monkeypatch.setattr("laya_router.table.checkpoint_descriptions", lambda: described)
    router = Router(default="tiny")
    assert router.route("text")["repo"] == "./tiny"
    assert router.route("text", model="en")["repo"] == "convaiinnovations/laya"
    assert [router.describe(name) for name in ("tiny", "plain", "en")] == ["a tiny one", None, "reads English"]


def test_a_registered_name_can_be_taken_back() -> None:
    router = Router(models={"english": "./mine"})
    router.register("Extra", "./extra", description="an extra one")
    assert router.describe("extra") == "an extra one" and router.describe("ml") == "reads every other language"
    assert router.route("x", model="extra").model == "extra"
    router.unregister("extra")
    with pytest.raises(ValueError, match="unknown model 'extra'"):
        router.route("x", model="extra")
    router.unregister("en")
    assert router.route("x", model="en")["repo"] == "convaiinnovations/laya"


def test_the_default_cannot_be_taken_out() -> None:
    router = Router(models={"mine": "./mine"}, default="mine")
    with pytest.raises(ValueError, match="default of this router"):
        router.unregister("mine")


def test_route_batch_answers_in_order_and_loads_nothing(builds: Any) -> None:
    decisions = Router().route_batch(
        [{"state": "Привет, мир", "questions": {}}, {"state": "x", "questions": {}, "model": "typed"}]
    )
    assert [decision.model for decision in decisions] == ["multilingual", "typed-decisions"]
    assert builds.sources == []


@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        ({"questions": {}}, ValueError, r"requests\[1\] lacks state"),
        ({"state": "x"}, ValueError, r"requests\[1\] lacks questions"),
        ({"state": None, "questions": {}}, TypeError, r"requests\[1\]: the state is None"),
        ({"state": "x", "questions": []}, TypeError, r"requests\[1\]: questions must be a mapping"),
        (
            {"state": "x", "questions": {}, "modle": "en"},
            ValueError,
            r"requests\[1\] has the unknown key 'modle'.* mean 'model'\?",
        ),
        ({"state": "x", "questions": {}, "model": "no"}, ValueError, r"requests\[1\]: unknown model 'no'"),
        ({"state": "x", "questions": {}, "task": "no"}, ValueError, r"requests\[1\]: unknown task 'no'"),
        ({"state": "x", "questions": {}, "lang": 1}, TypeError, r"requests\[1\]: lang is a string"),
        ({"state": "x", "questions": {}, "max_len": 0}, ValueError, r"requests\[1\]: max_len"),
        ({"state": "x", "questions": {}, "head_max_len": True}, TypeError, r"requests\[1\]: head_max_len"),
        ("text", TypeError, r"requests\[1\] is a mapping"),
    ],
)
def test_a_bad_request_is_named_by_its_index_before_anything_loads(
    builds: Any, request_: Any, error: type[Exception], message: str
) -> None:
    requests = [{"state": "x", "questions": {}}, request_]
    for method in (Router().predict_batch, Router().route_batch):
        with pytest.raises(error, match=message):
            method(requests)
    assert builds.sources == []


@pytest.mark.parametrize("requests", ["text", {"state": "x"}, 3, None])
def test_requests_are_a_list(requests: Any) -> None:
    with pytest.raises(TypeError, match="requests are a list"):
        Router().predict_batch(requests)


@given(st.text(max_size=30))
def test_any_text_as_a_language_code_is_read_without_an_error(code: str) -> None:
    language = primary_language(code)
    assert language is None or (language == language.lower() and language.isascii())
