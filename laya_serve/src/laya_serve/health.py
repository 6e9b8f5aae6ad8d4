"""GET /health: whether the process answers, and what it holds."""

from __future__ import annotations

from typing import Any

import attrs
from starlette.requests import Request
from starlette.responses import Response

from laya_hooks.protocols import AgentLike, RouterLike
from laya_serve.activity import Activity
from laya_serve.auth import has_key
from laya_serve.json_bytes import JsonResponse
from laya_serve.settings import Settings


@attrs.frozen
class Health:
    """The endpoint: liveness for anyone; details for whoever has the key, or for all when none is set."""

    router: RouterLike
    settings: Settings
    activity: Activity

    async def respond(self, request: Request) -> Response:
        """Answer one request."""
        key = self.settings.api_key
        if key is not None and not has_key(request.headers, key):
            return JsonResponse({"status": "ok"})
        return JsonResponse({"status": "ok", **self.details()})

    def details(self) -> dict[str, Any]:
        """The resident checkpoints: revision, device, and requests that had to be repeated on the CPU."""
        agents = {name: facts for name, agent in self.router.agents().items() if (facts := _facts(agent)) is not None}
        devices = {name: device for name, (device, _, _) in agents.items()}
        details: dict[str, Any] = {
            "loaded": list(agents),
            "revisions": {name: revision for name, (_, revision, _) in agents.items()},
            "device": next(iter(devices.values()), self.settings.device or "auto"),
            "device_is_preference": not devices,
            "checkpoint_devices": devices,
            "cpu_fallbacks": {name: fallbacks for name, (_, _, fallbacks) in agents.items()},
        }
        if self.settings.idle_unload_seconds:
            details["idle_unload_seconds"] = self.settings.idle_unload_seconds
            details["idle_seconds"] = round(self.activity.idle_seconds, 3)
        return details


def _facts(agent: AgentLike) -> tuple[str, str | None, dict[str, Any]] | None:
    """Device, revision and fallbacks of an agent; None for one that is being closed as we look."""
    try:
        fallbacks = {"count": agent.cpu_fallback_count, "last_reason": agent.last_fallback_reason}
        return agent.device, agent.revision, fallbacks
    except RuntimeError:
        return None
