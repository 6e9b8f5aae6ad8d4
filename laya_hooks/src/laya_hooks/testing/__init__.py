"""The testing kit for hooks: a recorder, fakes without torch, strategies, and a conformance run.

Needs the extra `laya-hooks[testing]` for `laya_hooks.testing.strategies` alone.
"""

from .conformance import HookReport, check_hook
from .fake_agent import FakeAgent, made_up_answer
from .fake_router import FakeRouter
from .plugging import plugged
from .recorder import Recorder, Seen, raising
from .traces import Situation, situations

__all__ = [
    "FakeAgent",
    "FakeRouter",
    "HookReport",
    "Recorder",
    "Seen",
    "Situation",
    "check_hook",
    "made_up_answer",
    "plugged",
    "raising",
    "situations",
]
