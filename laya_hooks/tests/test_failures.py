"""Which of several errors is raised, and where the others hang."""

from __future__ import annotations

import pytest

from laya_hooks import Failures


def chain(error):
    links = []
    while error is not None:
        assert error not in links, "a cycle"
        links.append(error)
        error = error.__context__
    return links


def raised(error, while_handling=None):
    """Raise and catch `error`, so that Python sets its context as it would."""
    try:
        if while_handling is None:
            raise error
        try:
            raise while_handling
        except BaseException:
            raise error  # noqa: B904
    except BaseException as caught:
        return caught


def test_later_errors_hang_at_the_end_of_the_first_ones_chain():
    cause = KeyError("cause")
    first = raised(ValueError("first"), while_handling=cause)
    failures = Failures(first)
    second, third = OSError("second"), OSError("third")
    failures.add(second)
    failures.add(third)
    assert failures.error is first
    assert chain(first) == [first, cause, second, third]


def test_an_error_raised_while_the_first_was_handled_makes_no_cycle():
    first = ValueError("first")
    later = raised(OSError("later"), while_handling=first)
    assert later.__context__ is first
    failures = Failures(first)
    failures.add(later)
    assert chain(first) == [first, later]


def test_the_same_error_again_changes_nothing():
    first = ValueError("first")
    failures = Failures(first)
    failures.add(first)
    assert chain(first) == [first]


def test_an_error_that_is_in_the_chain_already_stays_where_it_is():
    inner = OSError("inner")
    first = raised(ValueError("first"), while_handling=inner)
    failures = Failures(first)
    failures.add(inner)
    assert chain(first) == [first, inner]


def test_a_process_level_error_outranks_and_keeps_the_others():
    first, interrupt = ValueError("first"), KeyboardInterrupt()
    failures = Failures(first)
    failures.add(interrupt)
    assert failures.error is interrupt
    assert chain(interrupt) == [interrupt, first]


def test_the_first_of_two_process_level_errors_wins():
    first, second = SystemExit(), KeyboardInterrupt()
    failures = Failures(first)
    failures.add(second)
    assert failures.error is first
    assert chain(first) == [first, second]


def test_attempts_go_on_and_the_first_error_is_raised_in_the_end():
    def fail(label):
        raise ValueError(label)

    failures = Failures()
    for label in ("one", "two"):
        failures.attempt(fail, label)
    with pytest.raises(ValueError, match="one") as caught:
        failures.raise_if_any()
    assert [str(error) for error in chain(caught.value)] == ["one", "two"]


def test_without_errors_nothing_is_raised():
    failures = Failures()
    failures.attempt(lambda: None)
    failures.raise_if_any()
    assert failures.error is None
