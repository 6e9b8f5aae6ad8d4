"""Builds the router of the settings, and says which setting is to blame if that fails."""

from __future__ import annotations

import os

from laya_hooks.protocols import RouterLike
from laya_hooks.providers import make_router
from laya_serve.settings import Settings, variable_of


def build_router(settings: Settings) -> RouterLike:
    """The router that the settings ask for; nothing is loaded yet.

    Raises:
        ValueError: a setting names an unknown checkpoint, or one that cannot be.
        ProviderMissing: no installed package provides a router.
    """
    if settings.threads is not None:
        # Read by torch when it is first imported, which loading a checkpoint does.
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(settings.threads)
    try:
        return make_router(settings.router_options())
    except (TypeError, ValueError) as error:
        name = "default_model" if repr(settings.default_model) in str(error) else "extra_models"
        raise blamed(name, settings, error) from error


def check_models(settings: Settings, router: RouterLike) -> None:
    """Refuse unknown names in LAYA_MODELS before anything is built.

    Raises:
        ValueError: nobody knows one of them.
    """
    for name in settings.models or ():
        try:
            router.describe(name)
        except ValueError as error:
            raise blamed("models", settings, error) from error


def blamed(field: str, settings: Settings, error: Exception) -> ValueError:
    """An error that names the setting behind it."""
    value = getattr(settings, field)
    shown = ",".join(value) if isinstance(value, tuple) else value
    return ValueError(f"{variable_of(field)} is {shown!r}: {error}")
