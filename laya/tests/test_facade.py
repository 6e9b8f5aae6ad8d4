from __future__ import annotations

import pytest

import laya
import laya.hooks
import laya.presets
import laya_hooks
import laya_router


def test_every_public_name_of_the_hooks_package_is_in_laya_hooks() -> None:
    assert laya.hooks.__all__ == laya_hooks.__all__
    assert all(getattr(laya.hooks, name) is getattr(laya_hooks, name) for name in laya_hooks.__all__)


def test_the_common_names_are_those_of_the_packages() -> None:
    assert laya.Router is laya_router.Router
    assert laya.PredictContext is laya_hooks.PredictContext
    assert laya.presets.load("triage").name == "triage"


def test_every_name_of_the_facade_is_there_and_listed() -> None:
    assert set(laya.__all__) <= set(dir(laya))
    assert laya.__all__ == sorted(laya.__all__)
    assert all(getattr(laya, name) is not None for name in laya.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'laya' has no attribute 'nope'"):
        laya.nope  # noqa: B018
