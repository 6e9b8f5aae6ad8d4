"""The ASGI application: its parts, its routes, and the middlewares around them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from laya_hooks.protocols import RouterLike
from laya_hooks.providers import extra_routes, named_checkpoints
from laya_serve.activity import Activity, unload_when_idle
from laya_serve.admission import Admission, Slots
from laya_serve.auth import BearerAuth
from laya_serve.background import running
from laya_serve.building import build_router
from laya_serve.calls import Calls
from laya_serve.controls import Controls
from laya_serve.cutting_off import CutOff, Unfinished
from laya_serve.decision_route import DecisionRoute
from laya_serve.decisions import Decisions
from laya_serve.errors import Errors, http_exception_handler
from laya_serve.health import Health
from laya_serve.json_bytes import JsonResponse
from laya_serve.limits import Limits
from laya_serve.models import model_list
from laya_serve.openapi.routes import docs_routes
from laya_serve.playground import playground_routes
from laya_serve.preload import preload
from laya_serve.request_id import RequestId
from laya_serve.settings import Settings
from laya_serve.tournament import Tournament
from laya_serve.wire import WireMode, wire_mode


def create_app(router: RouterLike | None = None, settings: Settings | None = None) -> Starlette:
    """The server as an ASGI application.

    Args:
        router: who answers; built from the settings when it is left out, and then preloaded and freed with the app.
        settings: read from the environment when they are left out.

    Raises:
        ValueError: a setting cannot be read, or names an unknown checkpoint.
        ProviderMissing: no installed package provides a router.
    """
    settings = settings or Settings.from_environment(os.environ)
    owns_router = router is None
    router = router or build_router(settings)
    wire = wire_mode(settings)
    activity = Activity()
    calls = Calls(settings.max_concurrent)
    slots = Slots(settings.max_concurrent)
    unfinished = Unfinished()
    routes = [
        *_own_routes(settings, router, activity),
        *_decision_routes(settings, router, wire, activity, calls, slots),
        *extra_routes(router),
    ]
    app = Starlette(
        routes=routes,
        middleware=_middleware(settings, wire, routes, unfinished),
        exception_handlers={HTTPException: http_exception_handler(wire)},
        lifespan=_lifespan(settings, router, owns_router, activity, calls),
    )
    app.state.settings = settings
    app.state.router = router
    app.state.slots = slots
    app.state.unfinished = unfinished
    return app


def _own_routes(settings: Settings, router: RouterLike, activity: Activity) -> list[BaseRoute]:
    named = named_checkpoints()

    async def models(request: Request) -> Response:
        return JsonResponse(model_list(router, named))

    health = Route("/health", Health(router, settings, activity).respond, methods=["GET"])
    routes: list[BaseRoute] = [public(health), Route("/v1/models", models, methods=["GET"])]
    if settings.serves_playground:
        routes += map(public, playground_routes(settings.root_path, asks_for_key=settings.api_key is not None))
    if settings.serves_docs:
        routes += docs_routes(settings, Limits.with_tournament(settings.group))
    return routes


def _decision_routes(
    settings: Settings, router: RouterLike, wire: WireMode, activity: Activity, calls: Calls, slots: Slots
) -> list[BaseRoute]:
    named = frozenset(named_checkpoints())
    limits = Limits.with_tournament(settings.group)
    decisions = Decisions(
        router,
        wire,
        limits,
        Controls(lambda: named | router.registered().keys(), wire, settings.max_token_budget),
        Tournament(settings.group),
        activity,
        settings.max_batch_tokens,
    )
    admission = [Middleware(Admission, slots)]
    return [
        Route(
            path,
            DecisionRoute(answer, calls, limits.body_bytes, settings.body_read_timeout).respond,
            methods=["POST"],
            middleware=admission,
        )
        for path, answer in {"/v1/systemone": decisions.single, "/v1/systemone/batch": decisions.batch}.items()
    ]


def _middleware(
    settings: Settings, wire: WireMode, routes: list[BaseRoute], unfinished: Unfinished
) -> list[Middleware]:
    middleware = [
        Middleware(RequestId, wire.request_id_headers),
        Middleware(Errors, wire),
        Middleware(CutOff, unfinished),
    ]
    if settings.api_key is not None:
        for_anyone = [route for route in routes if is_public(route)]

        def matches_public(scope: Scope) -> bool:
            return any(route.matches(scope)[0] is not Match.NONE for route in for_anyone)

        middleware.append(Middleware(BearerAuth, settings.api_key, matches_public))
    return middleware


def public(route: BaseRoute) -> BaseRoute:
    """Mark a route as one that needs no key."""
    vars(route)["public"] = True
    return route


def is_public(route: BaseRoute) -> bool:
    """Whether a route needs no key; plugins say so with an attribute `public` that is True."""
    return getattr(route, "public", False) is True


def _lifespan(
    settings: Settings, router: RouterLike, owns_router: bool, activity: Activity, calls: Calls
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if owns_router:
            await anyio.to_thread.run_sync(preload, router, settings)
        try:
            if settings.idle_unload_seconds:
                async with running(unload_when_idle(router, activity, settings.idle_unload_seconds, calls.start)):
                    yield
            else:
                yield
        finally:
            calls.close()
            if owns_router:
                await anyio.to_thread.run_sync(router.unload)

    return lifespan
