"""What every answer of the server carries, and what no request may exceed."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
