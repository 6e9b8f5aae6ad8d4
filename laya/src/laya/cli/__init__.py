"""The `laya` command."""

from laya.cli.entry import main

__all__ = ["main"]
