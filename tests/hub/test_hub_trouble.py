"""The Hub is away, answers with errors, or refuses: what is loaded all the same, and what is said."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Client
from .fake_hub import FakeHub, Repository

UNKNOWN = "0" * 40


def assert_unreachable(refused: dict[str, Any], hub: FakeHub, client: Client) -> None:
    assert "HubUnreachable" in refused["error"]
    message = refused["message"]
    assert message.startswith("owner/model") and " is not in the local cache" in message
    assert str(client.home) in message and hub.endpoint in message
    assert "; connect once to download it (hf download owner/model --include " in message
    assert message.endswith(
        "), or load a local directory, or load the installed 'mini' (small and English, to try things out with)"
    )
    assert "Retrying" not in client.messages(), "the client waited and tried again"


def test_what_is_cached_is_found_without_the_hub(hub: FakeHub, client: Client, second_client: Client) -> None:
    with hub.serving():
        found = client.find()
    for revision in (None, "main", found["revision"]):
        assert second_client.find(revision=revision) == found
    assert "Retrying" not in second_client.messages()


def test_offline_mode_takes_the_cache_without_a_request(online: FakeHub, client: Client) -> None:
    client.environment["HF_HUB_OFFLINE"] = "1"
    refused = client.find()
    assert_unreachable(refused, online, client)
    assert "HF_HUB_OFFLINE" in refused["message"]
    client.kill()
    del client.environment["HF_HUB_OFFLINE"]
    found = client.find()
    client.kill()
    online.requests.clear()
    client.environment["HF_HUB_OFFLINE"] = "1"
    assert client.find() == client.find(revision=found["revision"]) == found
    assert online.requests == []


def test_without_hub_and_cache_the_error_says_what_to_do(hub: FakeHub, client: Client) -> None:
    with hub.serving():
        pass
    for revision in (None, "main", UNKNOWN):
        assert_unreachable(client.find(revision=revision), hub, client)


@pytest.mark.parametrize(
    ("options", "command"),
    [
        (
            {},
            "hf download owner/model --include rl_agent_config.json --include model.safetensors "
            '--include encoder/config.json --include "tokenizer/*"',
        ),
        ({"subfolder": "in"}, 'hf download owner/model --include "in/*"'),
        ({"subfolder": "in", "revision": "main"}, 'hf download owner/model --include "in/*" --revision main'),
    ],
)
def test_the_command_of_the_error_brings_the_checkpoint_into_the_cache(
    hub: FakeHub, client: Client, files: dict[str, bytes], options: dict[str, str], command: str
) -> None:
    hub.repositories["owner/model"].commit("main", {**files, **{f"in/{path}": data for path, data in files.items()}})
    with hub.serving():
        pass
    assert f"({command})" in client.find(**options)["message"]
    with hub.serving():
        client.type(command)
    assert client.find(**options)["directory"].endswith(options.get("subfolder", ""))


def test_what_is_not_cached_is_not_taken_for_what_is(hub: FakeHub, client: Client, files: dict[str, bytes]) -> None:
    repository = hub.repositories["owner/model"]
    repository.commit("main", {**files, **{f"in/{path}": content for path, content in files.items()}})
    with hub.serving():
        client.find()
    later = repository.commit("main", {**files, "README.md": b"new"})
    for options in ({"subfolder": "in"}, {"revision": later}, {"revision": "another-branch"}):
        assert_unreachable(client.find(**options), hub, client)


def test_a_hub_in_trouble_is_asked_once_and_the_cache_is_taken(online: FakeHub, client: Client) -> None:
    found = client.find()
    for status in (500, 503, 504):
        online.status = status
        online.requests.clear()
        assert client.find() == found
        assert_unreachable(client.find(revision=UNKNOWN), online, client)
        asked = [request.path for request in online.requests]
        assert asked == ["/api/models/owner/model", f"/api/models/owner/model/revision/{UNKNOWN}"]


def test_a_hub_that_accepts_connections_and_says_nothing_is_given_up(hub: FakeHub, client: Client) -> None:
    client.environment["HF_HUB_ETAG_TIMEOUT"] = "1"
    with hub.serving():
        found = client.find()
        hub.stalled = True
        assert client.find() == found
        assert_unreachable(client.find(revision=UNKNOWN), hub, client)


def test_what_the_hub_does_not_know_is_named(online: FakeHub, client: Client) -> None:
    refused = client.find("owner/nothing")
    assert "FileNotFoundError" in refused["error"]
    assert "there is no repository owner/nothing on the Hub; a private one needs token=" in refused["message"]
    for revision in ("no-such-branch", UNKNOWN):
        refused = client.find(revision=revision)
        assert "FileNotFoundError" in refused["error"]
        assert f"owner/model has no revision {revision!r} on the Hub" in refused["message"]


def test_a_refusal_says_what_to_do(online: FakeHub, client: Client, files: dict[str, bytes]) -> None:
    online.repositories["owner/gated"] = Repository.of(files, gated=True)
    for token in (None, "hf_of_somebody_else"):
        refused = client.find("owner/gated", token=token)
        assert "PermissionError" in refused["error"]
        assert "owner/gated is gated; accept its terms on the Hub and pass token=" in refused["message"]
    for status in (401, 403):
        online.status = status
        refused = client.find(token="hf_expired")
        assert "PermissionError" in refused["error"]
        assert "refuses access to owner/model; check the token" in refused["message"]


def test_a_repository_that_is_gone_is_still_found_in_the_cache(online: FakeHub, client: Client) -> None:
    found = client.find()
    online.repositories.clear()
    assert client.find() == found
