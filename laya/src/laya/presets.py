"""Ready question sets: `names()` lists them, `load(name)` gives questions and a sample state."""

from laya_router.presets import Preset, load, names

__all__ = ["Preset", "load", "names"]
