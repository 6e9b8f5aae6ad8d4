"""What a request carries without it being an argument."""

from __future__ import annotations

import contextvars
import threading

import pytest

from laya_hooks import call_scope, current_scope


def test_a_scope_is_there_for_its_block_and_nests():
    assert current_scope() is None
    with call_scope("outer") as outer:
        assert current_scope() is outer
        with call_scope("inner") as inner:
            assert (current_scope(), inner.request_id) == (inner, "inner")
        assert current_scope() is outer
    assert current_scope() is None


def test_a_scope_ends_with_its_block_even_if_it_raises():
    with pytest.raises(RuntimeError), call_scope():
        raise RuntimeError
    assert current_scope() is None


def test_threads_that_copy_the_context_share_the_scope():
    seen = []
    with call_scope("a") as scope:
        thread = threading.Thread(target=contextvars.copy_context().run, args=(lambda: seen.append(current_scope()),))
        thread.start()
        thread.join()
    assert seen == [scope]


def test_cancelling_runs_every_callback_once_and_late_ones_at_once():
    ran = []
    with call_scope() as scope:
        scope.on_cancel(lambda: ran.append("early"))
        assert not scope.cancelled
        scope.cancel()
        scope.cancel()
        scope.on_cancel(lambda: ran.append("late"))
        assert scope.cancelled
    assert ran == ["early", "late"]
