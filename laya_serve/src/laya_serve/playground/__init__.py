"""The playground: one page at GET / that asks the server from a browser."""

from laya_serve.playground.routes import playground_routes

__all__ = ["playground_routes"]
