"""From the bytes of a body to those of an answer: all that happens to a request away from the event loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, TypeVar

import attrs

from laya_hooks.errors import Draining, HubUnreachable, QueueFull, RequestCancelled
from laya_hooks.protocols import Result, RouterLike
from laya_hooks.scope import current_scope
from laya_hooks.usage import aggregate_usage
from laya_serve import json_bytes
from laya_serve.activity import Activity
from laya_serve.controls import Controls
from laya_serve.errors import FAILED
from laya_serve.failure_log import log_failure, log_out_of_reach
from laya_serve.limits import Limits
from laya_serve.questions import place_of, questions_of, refuse_equal_keys, state_of, states_of
from laya_serve.refused import ClientGone, Refused, busy, out_of_reach, shutting_down
from laya_serve.replies import Reply, routing_headers, timing_headers
from laya_serve.tournament import Request, Tournament
from laya_serve.wire import WireMode

_DEFAULT_ROW_TOKENS = 512

T = TypeVar("T")


@attrs.frozen
class Decisions:
    """Answers bodies with a router. Thread-safe: it holds no state of a request.

    Args:
        max_batch_tokens: tokens above which a batch is split into passes.
    """

    router: RouterLike
    wire: WireMode
    limits: Limits
    controls: Controls
    tournament: Tournament
    activity: Activity
    max_batch_tokens: int

    def single(self, raw: bytes) -> Reply:
        """Answer the questions about one state.

        Raises:
            Refused: the request cannot be answered, or answering failed.
            ClientGone: the client left.
        """
        body = self._object(raw)
        questions, state = questions_of(body), state_of(body)
        self.limits.check_questions(questions)
        self.limits.check_state(state)
        self._check_content(raw, body, questions)
        request = {"state": state, "questions": self.wire.questions(questions), **self.controls.of_request(body)}
        gate = self.controls.of_call(body)

        def predict(requests: list[Request]) -> list[Result]:
            return [self.router.predict(**request, **gate) for request in requests]

        started = perf_counter()
        result = self._ask([request], predict, body)[0]
        headers = _timing_headers(started) | routing_headers(result.get("routing"))
        return _reply(lambda: self.wire.result(result, questions), headers, body)

    def batch(self, raw: bytes) -> Reply:
        """Answer one set of questions about each of several states, in order.

        Raises:
            Refused: the request cannot be answered, or answering failed.
            ClientGone: the client left.
        """
        body = self._object(raw)
        questions, states = questions_of(body), states_of(body)
        self.limits.check_questions(questions)
        self.limits.check_states(states)
        self._check_content(raw, body, questions)
        controls = self.controls.of_request(body)
        asked = self.wire.questions(questions)
        requests: list[Request] = [{"state": state, "questions": asked, **controls} for state in states]
        call = self._batch_size(len(states), len(questions), controls) | self.controls.of_batch(body)

        def predict(requests: list[Request]) -> list[Result]:
            return self.router.predict_batch(requests, **call)

        started = perf_counter()
        results = self._ask(requests, predict, body)
        return _reply(
            lambda: {
                "results": [self.wire.result(result, questions) for result in results],
                "total_usage": self.wire.usage(aggregate_usage(results)),
            },
            _timing_headers(started),
            body,
        )

    def _object(self, raw: bytes) -> dict[str, Any]:
        body = json_bytes.parse(raw)
        if not isinstance(body, dict):
            raise Refused(400, "the body is not a JSON object")
        return body

    def _check_content(self, raw: bytes, body: dict[str, Any], questions: Mapping[str, Any]) -> None:
        if json_bytes.may_hold_surrogates(raw):
            json_bytes.refuse_surrogates(body)
        refuse_equal_keys(questions)

    def _batch_size(self, states: int, questions: int, controls: Mapping[str, Any]) -> dict[str, int]:
        """States of a pass, where all at once would be more tokens than a pass may have."""
        width = controls.get("max_len", _DEFAULT_ROW_TOKENS)
        if states * questions * width <= self.max_batch_tokens:
            return {}
        return {"batch_size": max(1, self.max_batch_tokens // (questions * width))}

    def _ask(
        self, requests: list[Request], predict: Callable[[list[Request]], list[Result]], body: Mapping[str, Any]
    ) -> list[Result]:
        """Ask the router, and tell a client's mistake from a server's failure."""
        try:
            with self.activity.inference():
                return self.tournament.ask(requests, predict)
        except (TypeError, ValueError) as error:
            message = str(error)
            raise Refused(422, message, place_of(message, body["questions"])) from error
        except QueueFull as error:
            raise busy("too many questions wait for an answer; try again") from error
        except Draining as error:
            raise shutting_down() from error
        except RequestCancelled as error:
            scope = current_scope()
            if scope is not None and scope.cancelled:
                raise ClientGone from error
            raise busy("the request was dropped before it was answered; try again") from error
        except HubUnreachable as error:
            log_out_of_reach(error, body)
            raise out_of_reach(error) from error
        except BaseException as error:
            # A SystemExit or KeyboardInterrupt out of a hook must not end the event loop that waits for this thread.
            raise _failed(error, body) from error


def _reply(build: Callable[[], dict[str, Any]], headers: dict[str, str], body: Mapping[str, Any]) -> Reply:
    """The payload as bytes; one that cannot be built is the server's failure."""
    try:
        return Reply(json_bytes.dump(build()), headers)
    except Exception as error:
        raise _failed(error, body) from error


def _failed(error: BaseException, body: Mapping[str, Any]) -> Refused:
    log_failure(error, body)
    return Refused(500, FAILED)


def _timing_headers(started: float) -> dict[str, str]:
    scope = current_scope()
    return timing_headers({} if scope is None else scope.timings, (perf_counter() - started) * 1000)
