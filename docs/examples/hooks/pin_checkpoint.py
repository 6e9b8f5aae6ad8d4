"""A hook decides which checkpoint answers, before any is loaded: `python docs/examples/hooks/pin_checkpoint.py`."""

from __future__ import annotations

from collections.abc import Mapping

import laya
from laya import PredictContext

QUESTIONS = {"urgent": {"type": "noul", "instructions": "Does this need an answer today?"}}


class PinTenant:
    """Sends the requests of some tenants to a checkpoint of their own."""

    def __init__(self, checkpoints: Mapping[str, str]) -> None:
        self._checkpoints = checkpoints

    def on_route(self, ctx: PredictContext) -> None:
        state = ctx.states[0]
        tenant = state.get("tenant") if isinstance(state, dict) else None
        if tenant in self._checkpoints:
            # A new decision; one that is edited in place works as well.
            ctx.decision = {**ctx.decision, "model": self._checkpoints[tenant], "reason": f"pinned for {tenant}"}


class Loads:
    """Tells what enters the memory."""

    def on_load(self, ctx: PredictContext) -> None:
        print(f"  loaded {ctx.model}")


def main() -> None:
    # Two names for one checkpoint keep this example small; in production each would be a model of its own.
    router = laya.Router(
        models={"shared": "mini", "acme-tuned": "mini"},
        default="shared",
        hooks=[PinTenant({"acme": "acme-tuned"}), Loads()],
    )
    for tenant in ("acme", "globex", "acme"):
        routing = router.predict({"tenant": tenant, "text": "Our shop is offline"}, QUESTIONS)["routing"]
        print(f"{tenant}: {routing['model']} ({routing['reason']})")


if __name__ == "__main__":
    main()
