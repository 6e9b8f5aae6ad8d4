"""Hooks, contexts, the plugin specification and the protocols that the laya packages share."""

from .async_hook import AsyncHook
from .chain import EMPTY_CHAIN, HookChain
from .context import PredictContext
from .coroutines import run_coroutine_sync
from .defaults import (
    add_default_hook,
    clear_default_hooks,
    compose_hooks,
    default_hooks,
    defaults_already_run,
    restore_plugin_hooks,
    set_default_hooks,
)
from .dispatch import dispatch
from .errors import (
    Draining,
    HubUnreachable,
    LayaError,
    PluginError,
    ProviderMissing,
    QueueFull,
    RequestCancelled,
)
from .events import HOOK_EVENTS, BaseHook, Event, Hook, PredictHook
from .failures import Failures
from .lifecycle import HookedCall, fail_all, require_one_result_per_state, run_call, succeed_all
from .normalise import normalise_hooks, validate_timeout
from .plugins import plugin_manager, plugin_records
from .protocols import AgentLike, LoadOptions, RouterLike, RouterOptions, Source
from .providers import (
    add_commands,
    checkpoint_descriptions,
    extra_routes,
    load_agent,
    make_router,
    named_checkpoints,
    resolve_checkpoint,
)
from .registry import HookRegistry
from .scope import CallScope, call_scope, current_scope
from .spec import hookimpl, hookspec
from .usage import aggregate_usage

__version__ = "0.1.0"

__all__ = [
    "EMPTY_CHAIN",
    "HOOK_EVENTS",
    "AgentLike",
    "AsyncHook",
    "BaseHook",
    "CallScope",
    "Draining",
    "Event",
    "Failures",
    "Hook",
    "HookChain",
    "HookRegistry",
    "HookedCall",
    "HubUnreachable",
    "LayaError",
    "LoadOptions",
    "PluginError",
    "PredictContext",
    "PredictHook",
    "ProviderMissing",
    "QueueFull",
    "RequestCancelled",
    "RouterLike",
    "RouterOptions",
    "Source",
    "add_commands",
    "add_default_hook",
    "aggregate_usage",
    "call_scope",
    "checkpoint_descriptions",
    "clear_default_hooks",
    "compose_hooks",
    "current_scope",
    "default_hooks",
    "defaults_already_run",
    "dispatch",
    "extra_routes",
    "fail_all",
    "hookimpl",
    "hookspec",
    "load_agent",
    "make_router",
    "named_checkpoints",
    "normalise_hooks",
    "plugin_manager",
    "plugin_records",
    "require_one_result_per_state",
    "resolve_checkpoint",
    "restore_plugin_hooks",
    "run_call",
    "run_coroutine_sync",
    "set_default_hooks",
    "succeed_all",
    "validate_timeout",
]
