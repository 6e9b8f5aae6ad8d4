"""The HTTP server: `create_app()` for any ASGI server, `main()` to run it."""

from laya_serve import create_app, main

__all__ = ["create_app", "main"]
