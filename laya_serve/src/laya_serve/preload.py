"""Builds the checkpoints a server starts with."""

from __future__ import annotations

import logging

from laya_hooks.errors import HubUnreachable
from laya_hooks.protocols import RouterLike
from laya_serve.building import check_models
from laya_serve.settings import Settings

logger = logging.getLogger("laya.serve")


def preload(router: RouterLike, settings: Settings) -> None:
    """Build what the settings ask for. Of "all" checkpoints only the default has to be within reach.

    Raises:
        HubUnreachable: a checkpoint that was named, or the default, cannot be downloaded.
        ValueError: a name is unknown.
    """
    check_models(settings, router)
    if not settings.preload:
        return
    if settings.models is not None:
        router.preload(settings.models)
        return
    built: list[str] = []
    left_out: dict[str, HubUnreachable] = {}
    for name in sorted(router.registered(), key=lambda name: name != router.default):
        try:
            router.preload([*built, name])
            built.append(name)
        except HubUnreachable as error:
            if name == router.default:
                raise _with_setting(error) from error
            left_out[name] = error
    if left_out:
        here = ",".join(built)
        logger.warning(
            "not preloaded: %s (%s); requests for them get 503 until they can be downloaded; "
            "--models %s or LAYA_MODELS=%s starts without asking for them",
            ", ".join(left_out),
            next(iter(left_out.values())).problem,
            here,
            here,
        )


def _with_setting(error: HubUnreachable) -> HubUnreachable:
    if error.installed is None:
        return error
    otherwise = f"set LAYA_DEFAULT_MODEL={error.installed}, which is installed"
    return HubUnreachable(error.problem, error.installed, error.checkpoint, error.download, otherwise)
