"""The routes of the description."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from laya_serve import json_bytes
from laya_serve.limits import Limits
from laya_serve.openapi.document import openapi_document
from laya_serve.openapi.page import CONTENT_SECURITY_POLICY, docs_page
from laya_serve.settings import Settings


def docs_routes(settings: Settings, limits: Limits) -> list[Route]:
    """GET /openapi.json and GET /docs; what they answer is made once."""
    document = openapi_document(settings, limits)
    schema, page = json_bytes.dump(document), docs_page(document)

    async def openapi(request: Request) -> Response:
        return Response(schema, media_type="application/json")

    async def docs(request: Request) -> Response:
        return Response(page, media_type="text/html", headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY})

    return [Route("/openapi.json", openapi, methods=["GET"]), Route("/docs", docs, methods=["GET"])]
