"""GET /health: whether the process answers, and what it holds."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from laya_hooks.protocols import AgentLike, RouterLike
from laya_serve.auth import has_key
from laya_serve.settings import Settings


async def health(request: Request) -> Response:
    """Liveness for anyone; details for whoever has the key, or for all when none is set."""
    settings: Settings = request.app.state.settings
    if settings.api_key is not None and not has_key(request.headers, settings.api_key):
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "ok", **details(request.app.state.worker.router, settings)})


def details(router: RouterLike, settings: Settings) -> dict[str, Any]:
    """The resident checkpoints: revision, device, and requests that had to be repeated on the CPU."""
    agents: dict[str, AgentLike] = router.agents()
    devices = {name: agent.device for name, agent in agents.items()}
    return {
        "loaded": list(agents),
        "revisions": {name: agent.revision for name, agent in agents.items()},
        "device": next(iter(devices.values()), settings.device or "auto"),
        "device_is_preference": not devices,
        "checkpoint_devices": devices,
        "cpu_fallbacks": {
            name: {"count": agent.cpu_fallback_count, "last_reason": agent.last_fallback_reason}
            for name, agent in agents.items()
        },
    }
