"""Hooks for the whole process, agents and routers alike: `python docs/examples/hooks/process_defaults.py`."""

from __future__ import annotations

import laya
from laya import PredictContext, hooks

QUESTIONS = {"urgent": {"type": "noul", "instructions": "Does this need an answer today?"}}


class Log:
    """Prints each call; a default runs once per call, at the router if there is one."""

    def on_predict_start(self, ctx: PredictContext) -> None:
        print(f"  default sees {ctx.states} of {'router' if ctx.router else 'agent'}")


class Installed:
    def on_predict_start(self, ctx: PredictContext) -> None:
        print("  installed runs after it")


def main() -> None:
    agent = laya.load("mini", hooks=Installed())
    router = laya.Router(models={"support": "mini"}, default="support")
    hooks.add_default_hook(Log())  # made after both of them, and still applies: defaults are read when a call starts
    try:
        print("agent:")
        agent.predict("Our checkout is down", QUESTIONS)
        print("router:")
        router.predict("Our checkout is down", QUESTIONS)
    finally:
        hooks.clear_default_hooks()
        hooks.restore_plugin_hooks()  # clearing removes those of installed plugins too
    print("cleared:")
    agent.predict("Our checkout is down", QUESTIONS)


if __name__ == "__main__":
    main()
