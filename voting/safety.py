"""What every answer of the voters' server carries, what no request may exceed, and what a failure is answered with."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from . import pages
from .api import Language, voting

MAX_BODY = 16_384
MAX_FIELDS = 40
VOTER = "runoff_voter"
_COOKIE = re.compile(r"([0-9a-f]{32}|[0-9]{1,15})\.[0-9a-f]{64}")  # with digits alone: of an older Runoff
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
    "Runoff": "voting",  # by this the page's script knows the server's answers from those of a network on the way
}


class SafeHeaders:
    """Puts `HEADERS` on every answer; an answer's own Cache-Control stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["scheme"] == "https":
                    headers.setdefault("Strict-Transport-Security", "max-age=31536000")
            await send(message)

        await self._app(scope, receive, send_safely if scope["type"] == "http" else send)


def voters_cookie(request: Request) -> str:
    """The voter's cookie, "" for what can't be one; requests are counted by it, and anything may come."""
    cookie = request.cookies.get(VOTER, "")
    return cookie if _COOKIE.fullmatch(cookie) else ""


class RequestTooLargeError(Exception):
    """A request that is larger than any form of the page."""


async def form_fields(request: Request) -> dict[str, str]:
    """The fields of a posted form, the last of those that come twice; `RequestTooLargeError` beyond what a form can
    hold."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise RequestTooLargeError
    try:
        request.state.fields = dict(
            parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
        )
        return dict(request.state.fields)
    except ValueError as error:
        raise RequestTooLargeError from error


log = logging.getLogger("runoff.voting.api")
STATUS = {"nothing": 404, "busy": 429, "fault": 500}
RETRY_SECONDS = 3


def plain_page(kind: str, spoken: Language, status: int | None = None) -> Response:
    """A page that only says something."""
    return HTMLResponse(pages.message(kind, spoken=spoken), status or STATUS.get(kind, 200))


def _spoken(request: Request) -> Language:
    found: Language = request.app.state.server.spoken(request)
    return found


def is_script(request: Request) -> bool:
    """Whether the page's script asks, which wants to be told in JSON."""
    return request.headers.get("accept") == "application/json"


def problem(text: str, status: int = 400, *, field: str = "") -> Response:
    """What the page's script is told of a form that wasn't taken, and which field that is about."""
    return JSONResponse({"kind": "problem", "text": text, "field": field}, status)


async def _refused(request: Request, error: Exception) -> Response:
    spoken = _spoken(request)
    status = 403 if isinstance(error, voting.ForgedFormError) else 400
    if is_script(request):
        return problem(spoken.text(str(error)), status)
    return HTMLResponse(pages.message("refused", str(error), spoken=spoken), status)


async def _later(request: Request, _error: Exception) -> Response:
    """Nothing was done, and the same is to be asked again: by the page's script, by this page's, or by its button.

    All such answers have `Retry-After`, and no others.
    """
    headers = {"Retry-After": str(RETRY_SECONDS)}
    if is_script(request):
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
