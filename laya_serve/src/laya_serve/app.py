"""The ASGI application: routes and the middlewares around them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from laya_hooks.protocols import RouterLike
from laya_hooks.providers import extra_routes, make_router
from laya_serve.auth import BearerAuth
from laya_serve.errors import EXCEPTION_HANDLERS, ServerErrors
from laya_serve.health import health
from laya_serve.inference import InferenceWorker
from laya_serve.preload import preload
from laya_serve.request_id import RequestId
from laya_serve.settings import Settings
from laya_serve.systemone import systemone


def create_app(router: RouterLike | None = None, settings: Settings | None = None) -> Starlette:
    """The server as an ASGI application.

    Args:
        router: who answers; built from the settings when it is left out.
        settings: read from the environment when they are left out.

    Raises:
        ValueError: a setting cannot be read, or names an unknown checkpoint.
        ProviderMissing: no installed package provides a router.
    """
    settings = settings or Settings.from_environment(os.environ)
    preloads = router is None
    router = router or make_router(settings.router_options())

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if preloads:
            await anyio.to_thread.run_sync(preload, router, settings)
        yield

    app = Starlette(
        routes=[*_routes(), *extra_routes(router)],
        middleware=_middleware(settings),
        exception_handlers=EXCEPTION_HANDLERS,
        lifespan=lifespan,
    )
    app.state.settings = settings
    app.state.worker = InferenceWorker(router)
    return app


def _routes() -> list[BaseRoute]:
    return [
        Route("/health", health, methods=["GET"]),
        Route("/v1/systemone", systemone, methods=["POST"]),
    ]


def _middleware(settings: Settings) -> list[Middleware]:
    middleware = [Middleware(RequestId), Middleware(ServerErrors)]
    if settings.api_key is not None:
        middleware.append(Middleware(BearerAuth, settings.api_key, public_paths=["/health"]))
    return middleware
