"""Checkpoints from the Hub: what is asked for, what is kept, and what a load leaves behind."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .conftest import Client
from .fake_hub import FakeHub, Repository


def contents(directory: str) -> dict[str, bytes]:
    root = Path(directory)
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_only_the_files_of_a_checkpoint_are_downloaded(
    online: FakeHub, client: Client, files: dict[str, bytes]
) -> None:
    found = client.find()
    main = online.repositories["owner/model"].branches["main"]
    assert found == {"directory": found["directory"], "model_id": "owner/model", "revision": main}
    assert contents(found["directory"]) == files
    assert sorted(online.downloads()) == sorted(files)


def test_an_agent_from_the_hub_answers_and_leaves_the_cache_as_the_client_made_it(
    hub: FakeHub, client: Client, parity_checkpoints: Path
) -> None:
    with hub.serving():
        client.find()
        made = client.cached()
        hub.requests.clear()
        loaded = client.predict()
        assert hub.downloads() == []
        local = client.predict(str(parity_checkpoints / "modernbert"))
    assert loaded["answers"] == local["answers"]
    assert (loaded["model_id"], loaded["revision"]) == ("owner/model", hub.repositories["owner/model"].branches["main"])
    assert local["revision"] is None
    assert client.predict() == loaded, "the Hub is gone, the cache is not"
    assert client.cached() == made


def test_a_revision_is_a_branch_or_a_commit(online: FakeHub, client: Client, files: dict[str, bytes]) -> None:
    repository = online.repositories["owner/model"]
    first = repository.branches["main"]
    second = repository.commit("main", {**files, "rl_agent_config.json": b'{"second": 2}'})
    trial = repository.commit("refs/pr/1", {**files, "rl_agent_config.json": b'{"trial": 1}'})
    expected = {
        None: (second, b'{"second": 2}'),
        "main": (second, b'{"second": 2}'),
        second: (second, b'{"second": 2}'),
        first: (first, files["rl_agent_config.json"]),
        "refs/pr/1": (trial, b'{"trial": 1}'),
        trial: (trial, b'{"trial": 1}'),
    }
    for revision, (commit, config) in expected.items():
        found = client.find(revision=revision)
        assert (found["revision"], contents(found["directory"])["rl_agent_config.json"]) == (commit, config)


def test_a_branch_that_moved_on_is_followed(online: FakeHub, client: Client, files: dict[str, bytes]) -> None:
    client.find()
    moved = online.repositories["owner/model"].commit("main", {**files, "rl_agent_config.json": b"{}"})
    online.requests.clear()
    assert client.find()["revision"] == moved
    assert online.downloads() == ["rl_agent_config.json"]


def test_a_cached_commit_needs_no_request_at_all(online: FakeHub, client: Client, second_client: Client) -> None:
    commit = client.find()["revision"]
    online.requests.clear()
    assert second_client.find(revision=commit)["revision"] == commit
    assert [request.path for request in online.requests if "owner/model" in request.path] == []


def test_a_subfolder_is_downloaded_alone(online: FakeHub, client: Client, files: dict[str, bytes]) -> None:
    nested = {f"small/{path}": content for path, content in files.items()}
    online.repositories["owner/many"] = Repository.of({**files, **nested, "small/README.md": b"no"})
    named = client.find("owner/many", subfolder="small")
    assert named["model_id"] == "owner/many/small"
    assert contents(named["directory"]) == files
    assert sorted(online.downloads()) == sorted(nested)
    assert client.find(["owner/many", "small"]) == named
    missing = client.find("owner/many", subfolder="nowhere")
    assert "FileNotFoundError" in missing["error"]
    assert "check the subfolder 'nowhere'" in missing["message"]


def test_a_token_opens_a_gated_repository_and_stays_on_the_hub(
    online: FakeHub, client: Client, files: dict[str, bytes]
) -> None:
    online.repositories["owner/gated"] = Repository.of(files, gated=True)
    assert contents(client.find("owner/gated", token=online.token)["directory"]) == files
    [stored] = [request for request in online.requests if request.path.startswith("/store/")]
    assert stored.host.startswith("localhost:")
    assert stored.authorization is None


def test_two_processes_may_load_at_once(
    online: FakeHub, client: Client, second_client: Client, files: dict[str, bytes]
) -> None:
    for one in (client, second_client):
        one.begin("find", "owner/model")
    found = client.end()
    assert second_client.end() == found
    assert contents(found["directory"]) == files


def test_a_broken_connection_is_taken_up_again(online: FakeHub, client: Client, files: dict[str, bytes]) -> None:
    online.cuts = [300_000]
    assert contents(client.find()["directory"]) == files
    assert online.downloads().count("model.safetensors") == 2


def test_a_download_that_keeps_breaking_is_an_error_and_the_next_one_succeeds(
    online: FakeHub, client: Client, files: dict[str, bytes]
) -> None:
    online.cuts = [0] * 20
    failed = client.find()
    assert "HubUnreachable" in failed["error"]
    assert "owner/model is not in the local cache" in failed["message"]
    online.cuts = []
    assert contents(client.find()["directory"]) == files
    assert not [path for path in client.cached() if path.endswith(".incomplete")]


def test_after_a_process_died_in_the_middle_the_next_one_succeeds(
    hub: FakeHub, client: Client, files: dict[str, bytes]
) -> None:
    hub.stalled_half_way = True
    with hub.serving():
        client.begin("find", "owner/model")
        assert hub.reached.wait(250)
        client.kill()
    half = client.find()
    assert "HubUnreachable" in half["error"], "half a checkpoint is none"
    hub.stalled_half_way = False
    with hub.serving():
        assert contents(client.find()["directory"]) == files


def test_digests_are_checked_before_anything_is_parsed(
    online: FakeHub, client: Client, files: dict[str, bytes]
) -> None:
    # The tampered files could not be parsed either.
    tampered = {**files, "rl_agent_config.json": b"{", "model.safetensors": b"?"}
    online.repositories["owner/tampered"] = Repository.of(tampered)
    online.repositories["owner/nested"] = Repository.of({f"in/{path}": content for path, content in files.items()})
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    intact = client.predict(expected_sha256=digests)
    assert intact["answers"] == client.predict("owner/nested", subfolder="in", expected_sha256=digests)["answers"]
    differs = client.predict("owner/tampered", expected_sha256=digests)
    assert "ValueError" in differs["error"] and "has SHA-256" in differs["message"]
    missing = client.predict("owner/tampered", expected_sha256={"encoder/missing.json": "0" * 64})
    assert "FileNotFoundError" in missing["error"] and "encoder/missing.json" in missing["message"]
    del tampered["model.safetensors"]
    online.repositories["owner/partial"] = Repository.of(
        {**tampered, "rl_agent_config.json": files["rl_agent_config.json"]}
    )
    lacking = client.predict("owner/partial")
    assert "FileNotFoundError" in lacking["error"] and "model.safetensors is missing" in lacking["message"]
