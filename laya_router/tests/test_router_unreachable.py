"""A checkpoint that has to be downloaded and cannot be: which, why it was to answer, and what to do about it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from laya_hooks import hookimpl
from laya_hooks.errors import HubUnreachable
from laya_hooks.testing import plugged
from laya_router import Router

GERMAN = "Wo bleibt denn mein Paket?"
GERMAN_GROUNDS = "Latin text, not English but de, 1 of 4 words are English"
ENGLISH = "Where is my parcel?"
DOWNLOAD = "connect once to download it (hf download owner/model)"
ASK_MINI = """pass model="mini" to ask the installed 'mini' (small and English) all the same"""
USE_MINI = """use the installed 'mini' (small and English): model="mini" or Router(default="mini")"""


class Mini:
    """Brings a checkpoint that is installed and one that is not."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @hookimpl
    def laya_checkpoints(self) -> dict[str, str]:
        return {"remote": "owner/other", "mini": str(self.directory)}

    @hookimpl
    def laya_checkpoint_descriptions(self) -> dict[str, str]:
        return {"mini": "small and English"}


@pytest.fixture(autouse=True)
def unreachable(builds: Any) -> HubUnreachable:
    builds.failure = HubUnreachable(
        "owner/model is not in the cache", None, "owner/model", "hf download owner/model", "use an agent"
    )
    failure: HubUnreachable = builds.failure
    return failure


@pytest.fixture
def mini(tmp_path: Path) -> Iterator[None]:
    with plugged(Mini(tmp_path)):
        yield


def refused(call: Any) -> HubUnreachable:
    with pytest.raises(HubUnreachable) as caught:
        call()
    return caught.value


@pytest.mark.usefixtures("mini")
@pytest.mark.parametrize(
    ("default", "state", "asked", "goes", "otherwise"),
    [
        ("mini", GERMAN, {}, f"'multilingual' ({GERMAN_GROUNDS})", ASK_MINI),
        ("mini", "x", {"lang": "de"}, "'multilingual' (lang='de' names a language other than English)", ASK_MINI),
        ("mini", "x", {"model": "en"}, "'english' (model='en' was asked for)", ASK_MINI),
        ("english", GERMAN, {}, f"'multilingual' ({GERMAN_GROUNDS})", ASK_MINI),
        ("english", ENGLISH, {}, "'english' (English text, 4 of 4 words are English)", USE_MINI),
        ("english", "12:30", {"model": "auto"}, "'english' (no text, so the default)", USE_MINI),
        ("english", ENGLISH, {"model": "en"}, "'english' (model='en' was asked for)", ASK_MINI),
        ("english", ENGLISH, {"task": "typed"}, "'typed-decisions' (task='typed' was asked for)", ASK_MINI),
        ("remote", ENGLISH, {}, "'remote' (English text, 4 of 4 words are English)", USE_MINI),
    ],
)
def test_a_request_out_of_reach_says_where_it_goes_and_why_and_the_advice_fits(
    questions: Any, default: str, state: str, asked: dict[str, str], goes: str, otherwise: str
) -> None:
    router = Router(default=default)
    message = f"this request goes to {goes}, but owner/model is not in the cache; {DOWNLOAD}, or {otherwise}"
    for call in (
        lambda: router.predict(state, questions, **asked),
        lambda: router.predict_long(state, questions, **asked),
        lambda: router.predict_batch([{"state": state, "questions": questions, **asked}]),
    ):
        assert str(refused(call)) == message


@pytest.mark.usefixtures("mini")
def test_problem_advice_and_names_can_be_told_apart(questions: Any, unreachable: HubUnreachable) -> None:
    error = refused(lambda: Router(default="mini").predict(GERMAN, questions))
    assert (error.installed, error.checkpoint, error.download) == ("mini", "multilingual", "hf download owner/model")
    assert (
        error.problem == f"this request goes to 'multilingual' ({GERMAN_GROUNDS}), but owner/model is not in the cache"
    )
    assert str(error) == error.advising(ASK_MINI) == f"{error.problem}; {DOWNLOAD}, or {ASK_MINI}"
    assert error.advising() == f"{error.problem}; {DOWNLOAD}"
    assert HubUnreachable("no network").advising() == str(HubUnreachable("no network")) == "no network"
    assert error.__cause__ is unreachable, "the two errors in between say the same"
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), vars(copied)) == (str(error), vars(error))


@pytest.mark.usefixtures("mini")
def test_loading_by_name_has_no_request_to_tell_of() -> None:
    problem = f"owner/model is not in the cache; {DOWNLOAD}, or "
    assert str(refused(lambda: Router().load("english"))) == problem + USE_MINI
    assert str(refused(lambda: Router().preload(["ml"]))) == problem + ASK_MINI
    assert str(refused(lambda: Router(default="mini").load("english"))) == problem + ASK_MINI


@pytest.mark.usefixtures("mini")
def test_a_name_that_was_pointed_elsewhere_is_not_called_installed(questions: Any) -> None:
    error = refused(lambda: Router(models={"mini": "owner/mini"}, default="mini").predict(ENGLISH, questions))
    assert error.installed is None and "installed" not in str(error)


def test_where_nothing_is_installed_a_directory_can_be_given(questions: Any) -> None:
    with plugged():
        error = refused(lambda: Router().predict(GERMAN, questions))
    assert error.installed is None and error.checkpoint == "multilingual"
    assert str(error).endswith(f"{DOWNLOAD}, or give a local directory: Router(models={{'multilingual': directory}})")


def test_a_route_hook_that_gives_no_reason_is_told_without(questions: Any) -> None:
    class Pin:
        def on_route(self, ctx: Any) -> None:
            ctx.decision = {"model": "ml"}

    error = refused(lambda: Router(hooks=Pin()).predict(ENGLISH, questions))
    assert error.problem == "this request goes to 'multilingual', but owner/model is not in the cache"
