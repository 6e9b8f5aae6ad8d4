"""Prints the process-wide hooks by the name of their module or class, as JSON."""

import json

from laya import hooks

print(json.dumps([getattr(hook, "__name__", type(hook).__name__) for hook in hooks.default_hooks()]))
