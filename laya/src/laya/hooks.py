"""The full surface of hooks: contexts, the registry, process-wide defaults, plugins, advanced helpers."""

from laya_hooks import *
from laya_hooks import __all__ as __all__
