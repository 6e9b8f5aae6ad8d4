"""From the bytes of a request to a JSON object."""

from __future__ import annotations

import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request


async def json_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object.

    Raises:
        HTTPException: 400, it is not one, or holds text that no UTF-8 can carry.
    """
    try:
        body = json.loads(await request.body(), parse_constant=_refuse_constant)
        # An unpaired surrogate is valid JSON as an escape, but no tokenizer can encode it.
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise HTTPException(400, "the body holds an unpaired surrogate") from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "the body is not JSON") from error
    if not isinstance(body, dict):
        raise HTTPException(400, "the body is not a JSON object")
    return body


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
