"""What goes wrong, and what is answered then."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from . import pages
from .api import Language, voting
from .safety import RequestTooLargeError

log = logging.getLogger("runoff.voting.api")
STATUS = {"nothing": 404, "busy": 429, "fault": 500}
RETRY_SECONDS = 3


def plain_page(kind: str, spoken: Language, status: int | None = None) -> Response:
    """A page that only says something."""
    return HTMLResponse(pages.message(kind, spoken=spoken), status or STATUS.get(kind, 200))


def _spoken(request: Request) -> Language:
    found: Language = request.app.state.server.spoken(request)
    return found


async def _refused(request: Request, error: Exception) -> Response:
    told = pages.message("refused", str(error), spoken=_spoken(request))
    return HTMLResponse(told, 403 if isinstance(error, voting.ForgedFormError) else 400)


async def _later(request: Request, _error: Exception) -> Response:
    """Nothing was done, and the same is to be asked again: by the page's script, by this page's, or by its button.

    All such answers have `Retry-After`, and no others.
    """
    headers = {"Retry-After": str(RETRY_SECONDS)}
    if request.headers.get("accept") == "application/json":
        return JSONResponse({"kind": "later"}, 503, headers)
    fields = getattr(request.state, "fields", None)
    told = pages.again(request.scope["path"], dict(request.query_params), fields, spoken=_spoken(request))
    return HTMLResponse(told, 503, headers)


async def _unable(request: Request, error: Exception) -> Response:
    log.error("%s", error)
    return plain_page("fault", _spoken(request), 503)


async def _too_much(request: Request, _error: Exception) -> Response:
    return plain_page("nothing", _spoken(request), 413)


async def _gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)  # nobody is there to read it


async def _not_found(request: Request, _error: Exception) -> Response:
    return plain_page("nothing", _spoken(request), 404)


async def _fault(request: Request, _error: Exception) -> Response:
    return plain_page("fault", _spoken(request))


Handler = Callable[[Request, Exception], Awaitable[Response]]
HANDLERS: dict[Any, Handler] = {
    voting.InputError: _refused,
    voting.ForgedFormError: _refused,
    voting.BusyError: _later,
    voting.RunoffError: _unable,
    RequestTooLargeError: _too_much,
    ClientDisconnect: _gone,
    404: _not_found,
    405: _not_found,
    500: _fault,
}
