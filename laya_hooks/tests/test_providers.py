"""How the packages ask one another for what they provide."""

from __future__ import annotations

import pytest

import laya_hooks
from laya_hooks import ProviderMissing, hookimpl
from laya_hooks.providers import installed_checkpoint, proper_names
from laya_hooks.testing import FakeAgent, FakeRouter, plugged


class Runtime:
    """Loads sources that begin with its prefix."""

    def __init__(self, prefix="", name="runtime"):
        self.prefix, self.name, self.asked = prefix, name, []

    @hookimpl
    def laya_load_agent(self, source, options):
        self.asked.append((source, options))
        return FakeAgent(self.name) if str(source).startswith(self.prefix) else None


class LastRuntime(Runtime):
    @hookimpl(trylast=True)
    def laya_load_agent(self, source, options):
        return super().laya_load_agent(source, options)


class Checkpoints:
    def __init__(self, **named):
        self.named = named

    @hookimpl
    def laya_checkpoints(self):
        return self.named


def test_the_first_runtime_that_takes_a_source_loads_it():
    onnx, torch = Runtime("onnx:", "onnx"), Runtime("", "torch")
    with plugged(onnx, torch):
        assert laya_hooks.load_agent("onnx:a").model_id == "onnx"
        assert laya_hooks.load_agent("b", {"device": "cpu"}).model_id == "torch"
    assert torch.asked == [("b", {"device": "cpu"})]


@pytest.mark.parametrize("kind", [Runtime, LastRuntime])
def test_among_equals_the_first_in_load_order_wins(kind):
    with plugged(kind(name="first"), kind(name="second")):
        assert laya_hooks.load_agent("x").model_id == "first"


def test_trylast_comes_after_all_others_wherever_it_was_loaded():
    with plugged(LastRuntime(name="last"), Runtime(name="other")):
        assert laya_hooks.load_agent("x").model_id == "other"


def test_a_provider_may_wrap_the_others():
    class Wrapper:
        @hookimpl(wrapper=True)
        def laya_load_agent(self, source):
            agent = yield
            agent.model_id = f"wrapped {agent.model_id}"
            return agent

    with plugged(Runtime(), Wrapper()):
        assert laya_hooks.load_agent("x").model_id == "wrapped runtime"


def test_a_provider_that_only_provides_is_a_plugin_and_no_hook():
    with plugged(Runtime()) as records:
        assert laya_hooks.default_hooks() == []
        assert [(record.events, record.providers) for record in records] == [((), ("laya_load_agent",))]


def test_a_source_has_one_proper_name_and_what_is_a_directory_here_is_installed(tmp_path):
    with plugged(
        Checkpoints(large=("owner/model", "in"), big=("owner/model", "in"), mini=str(tmp_path), small=tmp_path)
    ):
        assert proper_names() == ["large", "mini", "small"]
        assert installed_checkpoint() == "mini"
    with plugged(Checkpoints(large="owner/model", gone=str(tmp_path / "gone"))):
        assert installed_checkpoint() is None


def test_providers_stay_when_the_default_hooks_are_cleared():
    with plugged(Runtime()):
        laya_hooks.clear_default_hooks()
        assert laya_hooks.load_agent("x").model_id == "runtime"


def test_names_of_checkpoints_are_merged_and_the_first_loaded_wins():
    with plugged(Checkpoints(Mini="a", other="b"), Checkpoints(mini="c", third=("repo", None))):
        assert laya_hooks.named_checkpoints() == {"mini": "a", "other": "b", "third": ("repo", None)}
        assert laya_hooks.resolve_checkpoint(" MINI ") == "a"
        assert laya_hooks.resolve_checkpoint("./mini") == "./mini"
        assert laya_hooks.resolve_checkpoint(("mini", None)) == ("mini", None)


def test_what_checkpoints_are_for_is_said_by_name_and_by_the_first_loaded():
    class Described:
        def __init__(self, **descriptions):
            self.descriptions = descriptions

        @hookimpl
        def laya_checkpoint_descriptions(self):
            return self.descriptions

    with plugged(Described(Mini="small"), Checkpoints(mini="a", plain="b"), Described(mini="other", third="large")):
        assert laya_hooks.checkpoint_descriptions() == {"mini": "small", "third": "large"}


def test_a_runtime_is_asked_for_the_name_the_caller_used():
    runtime = Runtime()
    with plugged(Checkpoints(mini="somewhere"), runtime):
        laya_hooks.load_agent("mini")
    assert runtime.asked == [("mini", {})]


def test_commands_that_cannot_be_added_are_left_out_with_a_warning():
    class Broken:
        @hookimpl
        def laya_commands(self, cli):
            raise RuntimeError("no licence")

    class Healthy:
        @hookimpl
        def laya_commands(self, cli):
            cli.append("healthy")

    commands = []
    with (
        plugged(Broken(), Healthy()),
        pytest.warns(RuntimeWarning, match="test:0000 are left out: RuntimeError: no lic"),
    ):
        laya_hooks.add_commands(commands)
    assert commands == ["healthy"]


def test_a_router_is_made_with_its_options():
    class Routers:
        @hookimpl
        def laya_make_router(self, options):
            return FakeRouter(**options)

    with plugged(Routers()):
        assert laya_hooks.make_router({"max_loaded": 7}).max_loaded == 7


def test_routes_and_commands_come_from_every_plugin_in_load_order():
    class Routes:
        def __init__(self, *routes):
            self.routes = routes

        @hookimpl
        def laya_routes(self, router):
            return [f"{router}{route}" for route in self.routes]

        @hookimpl
        def laya_commands(self, cli):
            cli.extend(self.routes)

    with plugged(Routes("/a", "/b"), Routes("/c")):
        assert laya_hooks.extra_routes("router") == ["router/a", "router/b", "router/c"]
        commands = []
        laya_hooks.add_commands(commands)
        assert commands == ["/a", "/b", "/c"]


def test_a_missing_provider_names_the_distribution_to_install():
    with plugged():
        with pytest.raises(ProviderMissing, match="to load 'x'; install laya-core: pip install laya-core"):
            laya_hooks.load_agent("x")
        with pytest.raises(RuntimeError, match="to build a router; install laya-router"):
            laya_hooks.make_router()


def test_a_source_nobody_takes_says_who_was_asked():
    with plugged(Runtime("onnx:")), pytest.raises(ProviderMissing, match=r"to load 'x' \(asked: test:0000\)"):
        laya_hooks.load_agent("x")
