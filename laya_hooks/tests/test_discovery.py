"""Plugins found in distributions on sys.path, each test in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PRINT_RECORDS = """
import json, sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import laya_hooks
    hooks = laya_hooks.default_hooks()
records = {
    record.qualified_name: [record.status, *record.events, *record.providers]
    for record in laya_hooks.plugin_records() if not record.distribution.startswith("laya-")
}
names = [getattr(hook, "__name__", None) or type(hook).__name__ for hook in hooks]
messages = [str(warning.message) for warning in caught if warning.category is RuntimeWarning]
print(json.dumps({"records": records, "hooks": names, "warnings": messages}))
"""


class Site:
    """A folder on sys.path with modules and installed distributions of the test's making."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def module(self, name: str, source: str) -> None:
        (self.folder / f"{name}.py").write_text(textwrap.dedent(source), encoding="utf-8")

    def distribution(self, name: str, version: str = "1.0", **entries: str) -> None:
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        lines = [f"{entry.replace('__', '-')} = {value}" for entry, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(["[laya]", *lines, ""]), encoding="utf-8")

    def run(self, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**os.environ, "PYTHONPATH": str(self.folder), **environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def records(self, **environment: str) -> dict:
        finished = self.run(PRINT_RECORDS, **environment)
        assert finished.returncode == 0, finished.stderr
        return json.loads(finished.stdout)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_instances_classes_factories_lists_and_modules_are_loaded(site):
    site.module(
        "acme",
        """
        from laya_hooks import hookimpl

        class Instance:
            def on_predict_start(self, context): ...

        class Class:
            async def on_load(self, anything): ...

        class Made:
            def on_error(self, ctx): ...

        instance = Instance()

        def one():
            return Made()

        def several():
            return [Made(), Instance()]
        """,
    )
    site.module(
        "acme_module",
        """
        from laya_hooks import hookimpl

        @hookimpl
        def on_predict_end(): ...

        @hookimpl(specname="on_evict")
        def freed(ctx): ...

        @hookimpl
        def laya_checkpoints():
            return {"acme": "somewhere"}
        """,
    )
    site.distribution("acme", a="acme:instance", b="acme:Class", c="acme:one", d="acme:several", e="acme_module")
    found = site.records()
    assert found["warnings"] == []
    assert found["records"] == {
        "acme:a": ["loaded", "on_predict_start"],
        "acme:b": ["loaded", "on_load"],
        "acme:c": ["loaded", "on_error"],
        "acme:d": ["loaded", "on_error", "on_predict_start"],
        "acme:e": ["loaded", "on_predict_end", "on_evict", "laya_checkpoints"],
    }
    assert found["hooks"] == ["Instance", "Class", "Made", "Made", "Instance", "acme_module"]


def test_the_load_order_is_distribution_then_entry_point_name(site):
    site.module("hooks", "class A:\n    def on_load(self, ctx): ...\nclass B(A): ...\nclass C(A): ...\n")
    site.distribution("zeta", a="hooks:A")
    site.distribution("Alpha_Beta", z="hooks:B", m="hooks:C")
    found = site.records()
    assert list(found["records"]) == ["alpha-beta:m", "alpha-beta:z", "zeta:a"]
    assert found["hooks"] == ["C", "B", "A"]


def test_namesakes_of_two_distributions_both_load(site):
    site.module("hooks", "class A:\n    def on_load(self, ctx): ...\nclass B(A): ...\n")
    site.distribution("one", same="hooks:A")
    site.distribution("two", same="hooks:B")
    assert site.records()["hooks"] == ["A", "B"]


def test_nothing_is_imported_before_anything_needs_it(site):
    site.module("loud", "print('imported')\nclass Hook:\n    def on_load(self, ctx): ...\n")
    site.distribution("loud", hook="loud:Hook")
    lazy = site.run("import laya_hooks; laya_hooks.normalise_hooks(); laya_hooks.HookRegistry()._init_hooks()")
    assert (lazy.stdout, lazy.stderr) == ("", "")
    assert site.run("import laya_hooks; laya_hooks.default_hooks(); laya_hooks.default_hooks()").stdout == "imported\n"


BROKEN = {
    "nothing_there:Hook": "ModuleNotFoundError: No module named 'nothing_there'",
    "broken:missing": "AttributeError: module 'broken' has no attribute 'missing'",
    "raises": "RuntimeError: no licence",
    "leaves": "SystemExit: 3",
    "broken:NeedsArguments": "TypeError: NeedsArguments.__init__() missing 1 required positional argument: 'key'",
    "broken:NoEvent": "NoEvent is not a hook: it has none of the events on_predict_start, on_predict_end",
    "broken:Unknown": "on_predict_begin is no event (did you mean on_predict_end or on_predict_start?)",
    "broken:MarkedUnknown": "on_predict_finish is no event and no provider (did you mean on_predict_",
    "broken:TwoArguments": "on_load(ctx, extra) cannot be called with the context as its one positional argument",
    "broken:KeywordOnly": "on_load(*, ctx) cannot be called with the context as its one positional argument",
    "broken:NoArgument": "on_load() cannot be called with the context as its one positional argument",
    "broken:MarkedOtherName": "on_load(context) asks for context; a @hookimpl function of it takes ctx by name",
    "broken:Wrapper": "on_load is marked as a wrapper, but events cannot be wrapped, because each hook has",
    "broken:Generator": "on_load is a generator function, so calling it would run nothing of its body",
    "broken:NotCallable": "on_load of <broken.NotCallable object",
    "broken:nothing": "None is not a hook",
    "broken:number": "3 is not a hook",
    "broken:a_class": "the factory a_class returned the class NoEvent, not an instance",
    "broken:empty": "the factory empty returned no hook",
    "broken:marked_function": "the entry point names the function marked_function; it has to name its module",
}


def test_what_cannot_be_used_is_skipped_with_a_warning_that_says_why_and_the_others_work(site):
    site.module("raises", "raise RuntimeError('no licence')")
    site.module("leaves", "raise SystemExit(3)")
    site.module(
        "broken",
        """
        from laya_hooks import BaseHook, hookimpl

        class NeedsArguments(BaseHook):
            def __init__(self, key): ...

        class NoEvent(BaseHook): ...

        class Unknown:
            def on_predict_begin(self, ctx): ...

        class MarkedUnknown:
            def on_load(self, ctx): ...
            @hookimpl
            def on_predict_finish(self, ctx): ...

        class TwoArguments:
            def on_load(self, ctx, extra): ...

        class KeywordOnly:
            def on_load(self, *, ctx): ...

        class NoArgument:
            def on_load(self): ...

        class MarkedOtherName:
            @hookimpl
            def on_load(self, context): ...

        class Wrapper:
            @hookimpl(wrapper=True)
            def on_load(self, ctx):
                yield

        class Generator:
            def on_load(self, ctx):
                yield

        class NotCallable:
            on_load = 3

        number = 3

        def nothing(): ...

        def a_class():
            return NoEvent

        def empty():
            return []

        @hookimpl
        def marked_function(ctx): ...
        """,
    )
    site.module("good", "class Good:\n    def on_load(self, ctx): ...\n    def on_predict_begin(self): ...\n")
    site.distribution("broken-things", "2.5", **{f"e{place:02}": value for place, value in enumerate(BROKEN)})
    site.distribution("a-good-one", hook="good:Good")
    site.distribution("z-good-one", hook="good:Good")
    found = site.records()
    assert found["hooks"] == ["Good", "Good"]
    assert found["records"]["a-good-one:hook"] == ["loaded", "on_load"]
    assert len(found["warnings"]) == len(BROKEN)
    for place, (value, cause) in enumerate(BROKEN.items()):
        name = f"e{place:02}"
        assert found["records"][f"broken-things:{name}"] == ["failed"]
        assert found["warnings"][place].startswith(
            f"the laya plugin {name!r} ({value}) of broken-things 2.5 cannot be used"
        )
        assert cause in found["warnings"][place]
        assert "0x" not in found["warnings"][place] or value == "broken:NotCallable"


def test_strict_mode_raises_every_time_and_names_every_problem(site):
    site.distribution("bad", one="nothing_there", two="neither")
    finished = site.run(
        """
        import laya_hooks
        for _ in range(2):
            try:
                laya_hooks.default_hooks()
            except laya_hooks.PluginError as error:
                print(error)
        print(len([r for r in laya_hooks.plugin_records() if r.status == "failed"]))
        """,
        LAYA_PLUGINS_STRICT="1",
    )
    first, second, failed = finished.stdout.splitlines()
    assert first == second
    assert "'one' (nothing_there) of bad 1.0" in first
    assert "'two' (neither) of bad 1.0" in first
    assert failed == "2"


@pytest.fixture
def three(site):
    """Three plugins of two distributions, and one of the framework's own."""
    site.module(
        "hooks", "class A:\n    def on_load(self, ctx): ...\nclass B(A): ...\nclass C(A): ...\nclass Own(A): ...\n"
    )
    site.distribution("one", a="hooks:A", b="hooks:B")
    site.distribution("two", a="hooks:C")
    site.distribution("laya-mini", "0", own="hooks:Own")
    return site


@pytest.mark.parametrize(
    ("environment", "hooks"),
    [
        ({}, ["Own", "A", "B", "C"]),
        ({"LAYA_PLUGINS": " "}, ["Own", "A", "B", "C"]),
        ({"LAYA_PLUGINS": "0"}, ["Own"]),
        ({"LAYA_PLUGINS": "a"}, ["Own", "A", "C"]),
        ({"LAYA_PLUGINS": " b , two"}, ["Own", "B", "C"]),
        ({"LAYA_PLUGINS": "one:a"}, ["Own", "A"]),
        ({"LAYA_PLUGINS_DISABLE": "a"}, ["Own", "B"]),
        ({"LAYA_PLUGINS_DISABLE": "two,ONE:b"}, ["Own", "A"]),
        ({"LAYA_PLUGINS_DISABLE": "laya-mini"}, ["A", "B", "C"]),
        ({"LAYA_PLUGINS": "one", "LAYA_PLUGINS_DISABLE": "a"}, ["Own", "B"]),
    ],
)
def test_the_environment_chooses_what_is_loaded(three, environment, hooks):
    found = three.records(**environment)
    assert found["hooks"] == hooks
    assert found["warnings"] == []


def test_what_is_blocked_is_listed_with_its_reason_and_not_imported(three):
    three.module("never", "raise RuntimeError('imported')")
    three.distribution("never", hook="never")
    finished = three.run(
        """
        import laya_hooks
        for record in laya_hooks.plugin_records():
            if record.status == "blocked":
                print(record.qualified_name, record.reason)
        print(laya_hooks.plugin_manager().is_blocked("never:hook"))
        """,
        LAYA_PLUGINS="one",
        LAYA_PLUGINS_DISABLE="b",
    )
    assert finished.stdout.splitlines() == [
        "never:hook not named in LAYA_PLUGINS",
        "one:b named in LAYA_PLUGINS_DISABLE",
        "two:a not named in LAYA_PLUGINS",
        "True",
    ]
    assert finished.stderr == ""


@pytest.mark.parametrize("variable", ["LAYA_PLUGINS", "LAYA_PLUGINS_DISABLE"])
@pytest.mark.parametrize(("name", "meant"), [("tracer", ""), ("laya-mni", "; did you mean 'laya-mini'?")])
def test_a_name_that_nothing_has_is_reported(three, variable, name, meant):
    (message,) = three.records(**{variable: f"one,{name}"})["warnings"]
    assert message == f"{variable} names {name!r}, but no installed distribution has such a laya plugin{meant}"


def test_markers_and_marked_signatures_are_honoured_in_dispatch(site):
    site.module(
        "marked",
        """
        from laya_hooks import hookimpl

        @hookimpl(tryfirst=True)
        def on_predict_start():
            print("first, no argument")

        @hookimpl(specname="on_predict_end", trylast=True)
        def finish(ctx):
            print("last", ctx.states)
        """,
    )
    site.module(
        "plain",
        """
        class Plain:
            def on_predict_start(self, c):
                print("plain", c.states)

            def on_predict_end(self, c):
                print("plain end")
        """,
    )
    site.distribution("a", hook="plain:Plain")
    site.distribution("b", hook="marked")
    finished = site.run(
        """
        import laya_hooks
        from laya_hooks import HookRegistry, PredictContext, run_call
        registry = HookRegistry()
        registry._init_hooks()
        run_call(registry.hook_chain(), PredictContext(["x"], {}), lambda ctx: [{}])
        print("composed")
        laya_hooks.dispatch(laya_hooks.compose_hooks(), "on_predict_start", PredictContext(["y"], {}))
        laya_hooks.dispatch(laya_hooks.compose_hooks(), "on_predict_end", PredictContext(["y"], {}))
        """
    )
    assert finished.stderr == ""
    assert finished.stdout.splitlines() == [
        "first, no argument",
        "plain ['x']",
        "plain end",
        "last ['x']",
        "composed",
        "plain ['y']",
        "first, no argument",
        "plain end",
        "last ['y']",
    ]


def test_code_run_by_a_plugins_import_sees_what_is_loaded_so_far(site):
    site.module("early", "class Early:\n    def on_load(self, ctx): ...\n")
    site.module(
        "curious",
        "import laya_hooks\nprint(len(laya_hooks.default_hooks()))\nclass Late:\n    def on_load(self, ctx): ...\n",
    )
    site.distribution("a", hook="early:Early")
    site.distribution("b", hook="curious:Late")
    finished = site.run(
        "import laya_hooks; print(len(laya_hooks.default_hooks())); print(len(laya_hooks.default_hooks()))"
    )
    assert (finished.stdout.split(), finished.stderr) == (["1", "2", "2"], "")


def test_threads_that_need_the_defaults_at_once_discover_them_once(site):
    site.module("counted", "print('imported')\nclass Hook:\n    def on_load(self, ctx): ...\n")
    site.distribution("counted", hook="counted:Hook")
    finished = site.run(
        """
        import threading, laya_hooks
        ready, counts = threading.Barrier(8), []
        def work():
            ready.wait()
            counts.append(len(laya_hooks.default_hooks()))
        threads = [threading.Thread(target=work) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(counts)
        """
    )
    assert finished.stdout.splitlines() == ["imported", str([1] * 8)]


def test_a_thread_in_the_middle_of_the_plugins_import_does_not_wait_for_the_discovery_that_waits_for_it(site):
    site.module(
        "contended",
        """
        import threading
        import laya_hooks
        started.set()
        discovering.wait(60)
        laya_hooks.default_hooks()
        class Hook:
            def on_load(self, ctx): ...
        """.replace("import threading", "from shared import started, discovering"),
    )
    site.module("shared", "import threading\nstarted, discovering = threading.Event(), threading.Event()\n")
    site.module(
        "before", "from shared import discovering\ndiscovering.set()\nclass Hook:\n    def on_load(self, ctx): ...\n"
    )
    site.distribution("a", hook="before:Hook")
    site.distribution("b", hook="contended:Hook")
    finished = site.run(
        """
        import threading, laya_hooks
        from shared import started
        importing = threading.Thread(target=__import__, args=("contended",), daemon=True)
        importing.start()
        started.wait(60)
        print(len(laya_hooks.default_hooks()))
        importing.join(60)
        print(importing.is_alive())
        """
    )
    assert (finished.stdout.split(), finished.stderr) == (["2", "False"], "")


def test_an_interrupted_discovery_starts_anew(site):
    site.module(
        "interrupting",
        """
        import shared
        shared.count += 1
        if shared.count == 1:
            raise KeyboardInterrupt
        class Hook:
            def on_load(self, ctx): ...
        """,
    )
    site.module("shared", "count = 0\n")
    site.distribution("a", hook="interrupting:Hook")
    finished = site.run(
        """
        import laya_hooks
        try:
            laya_hooks.default_hooks()
        except KeyboardInterrupt:
            print(len(laya_hooks.default_hooks()))
        """
    )
    assert (finished.stdout, finished.stderr) == ("1\n", "")


def test_importing_the_package_is_light(site):
    finished = site.run(
        """
        import sys
        import laya_hooks
        heavy = ["torch", "numpy", "asyncio", "importlib.metadata", "logging", "hypothesis"]
        print([name for name in heavy if name in sys.modules])
        """
    )
    assert finished.stdout == "[]\n"
