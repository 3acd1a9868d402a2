"""Servers that the owner names: their addresses, one JSON request to them, and what went wrong in words.

No redirection is followed, so that what is sent, and a key with it, goes nowhere but to the address that was given. No
message holds a key, a password of an address, or what follows its question mark.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from ..errors import InputError, Issue, PlatformError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before another try, where the server asks for no longer one
LONGEST_WAIT = 120.0
BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})  # another try may help
_PIECE = 1 << 20
_KEY = re.compile(r"[!-~]{1,4096}")


class TryAgainError(PlatformError):
    """What may go better at another try; `after` is how many seconds the server asks to wait, None where it doesn't."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class UnreadableError(PlatformError):
    """An answer that came whole and can't be read; `content` is what came, up to `most_bytes`."""

    def __init__(self, message: str, content: bytes) -> None:
        super().__init__(message)
        self.content = content


def clean_address(address: str, *, of: str, example: str) -> str:
    """The address of a server without a slash at its end. Raises `InputError` for one that can't be.

    of : whose it is, as messages call it; example : one that would do.

    >>> clean_address(" https://models.example.org/ ", of="the server", example="https://x.org")
    'https://models.example.org'
    """
    text = address.strip().rstrip("/")
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        fits = fits and not (parts.username or parts.password or parts.query or parts.fragment)
    except ValueError:
        fits = False
    if not fits or not text.isascii() or not text.isprintable() or " " in text:
        raise InputError(
            f"The address of {of} begins with http:// or https:// and names a server, as {example}.",
            [Issue("is no such address", column="address", found=without_secrets(text))],
        )
    return text


def is_open(address: str) -> bool:
    """Whether what is sent to an address goes over a network that others may read."""
    parts = urlsplit(address)
    return parts.scheme == "http" and parts.hostname not in LOOPBACK


def without_secrets(text: str) -> str:
    """An address as a message may show it: without a user's name and password, or what follows a question mark."""
    return re.sub(r"//[^/@]*@", "//…@", text.split("?")[0])


def checked_key(key: str, *, variable: str) -> str:
    """A key from the environment, without spaces at its ends; `InputError` for one that no header can hold."""
    key = key.strip()
    if key and not _KEY.fullmatch(key):
        raise InputError(f"{variable} holds something that no key can have, such as a space or an accent. Set it anew.")
    return key


@dataclass(frozen=True)
class Server:
    """A server that takes JSON and answers with JSON.

    `key` is in no message and no representation of this object. `timeout` is in seconds, for a whole answer.
    `most_bytes` of an answer are read.
    """

    address: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    most_bytes: int = 256 << 20

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request.

        Raises `TryAgainError` where another try may help (busy, cut, too slow), `PlatformError` where none does.
        """
        status, headers, content = self._send(path, json.dumps(body).encode("ascii"))
        if 300 <= status < 400:
            raise PlatformError(redirected(self.address, headers.get("location", "")))
        if status in BUSY:
            after = _seconds(headers.get("retry-after", ""))
            raise TryAgainError(f"{self.address} is busy or failed ({status}): {self.reason(content)}", after)
        if status in (401, 403):
            raise PlatformError(f"{self.address} wants a key, or another one ({status}): {self.reason(content)}")
        if status == 404:
            raise PlatformError(
                f"{self.address} has no {path}, or no such model (404): {self.reason(content)} Is it the server's "
                "address, without what follows it?"
            )
        if status >= 400:
            raise PlatformError(f"{self.address} refuses this ({status}): {self.reason(content)}")
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            begins = self.shown(content)
            if content.lstrip().startswith((b"{", b"[")):
                raise TryAgainError(f"{self.address} sent an answer that is cut ({len(content):,} bytes).") from None
            message = f"{self.address} answers with something else than JSON: {begins!r}."
            raise UnreadableError(f"{message} Is it the address of the server itself?", content) from None
        if not isinstance(answer, dict):
            message = f"{self.address} answers with JSON of another shape: {self.shown(content)!r}."
            raise UnreadableError(message, content)
        return answer

    def _send(self, path: str, data: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers by their names in lower case, and body, which is read within `timeout` seconds."""
        parts = urlsplit(self.address)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.timeout)
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        until = time.monotonic() + self.timeout
        content = bytearray()
        try:
            connection.request("POST", parts.path + path, body=data, headers=headers)
            response = connection.getresponse()
            while piece := response.read1(_PIECE):
                content += piece
                if len(content) > self.most_bytes:
                    raise PlatformError(f"{self.address} sends more than {self.most_bytes >> 20} MB for one request.")
                if time.monotonic() > until:
                    raise TimeoutError
            if response.length:  # closed before all came
                raise http.client.IncompleteRead(bytes(content), response.length)
        except (OSError, http.client.HTTPException) as error:
            message = f"{self.address} {in_words(error, self.timeout)}"
            if _may_help(error):
                raise TryAgainError(message) from None
            raise PlatformError(message) from None
        finally:
            connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, bytes(content)

    def reason(self, content: bytes) -> str:
        """What the server says it dislikes, in one short line."""
        try:
            content_read = json.loads(content)
        except (ValueError, RecursionError):
            content_read = None
        for name in ("error", "message", "detail"):
            if isinstance(content_read, dict) and name in content_read:
                content_read = content_read[name]
        text = content_read if isinstance(content_read, str) else self.shown(content)
        text_said = self._plain(" ".join(text.split()))[:300].rstrip(".")
        return f"{text_said}." if text_said else "it gave no reason."

    def shown(self, content: bytes) -> str:
        """The beginning of what came."""
        return self._plain(" ".join(content[:400].decode("utf-8", "replace").split()))[:80]

    def _plain(self, text: str) -> str:
        """A server's words without the key, should it repeat it, or what can't be printed."""
        text = text.replace(self.key, "…") if self.key else text
        return "".join(letter for letter in text if letter.isprintable())


def persistently(
    ask: Callable[[], dict[str, Any]], *, say: Callable[[str], None], sleep: Callable[[float], None] = time.sleep
) -> dict[str, Any]:
    """The answer of `ask`, asked again after longer and longer times, or as long as the server says.

    say : is told why it waits; sleep : waits so many seconds. Raises the last `TryAgainError` as a `PlatformError`.
    """
    for wait in (*WAITS, None):
        try:
            return ask()
        except TryAgainError as error:
            if wait is None:
                raise PlatformError(f"{error} It was tried {len(WAITS) + 1} times; start again later.") from None
            pause = max(wait, error.after or 0.0)
            if pause > LONGEST_WAIT:
                raise PlatformError(f"{error} It asks to wait {pause:,.0f} seconds; start again after that.") from None
            say(f"waits {pause:,.0f} s: {error}")
            sleep(pause)
    raise AssertionError("the last wait is None")


def _seconds(header: str) -> float | None:
    """The seconds of a header Retry-After, which is a number or a date."""
    try:
        return max(0.0, float(header)) if header.strip().isdigit() else max(
            0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        )  # fmt: skip
    except (ValueError, TypeError):
        return None


def _may_help(error: Exception) -> bool:
    if isinstance(error, ConnectionRefusedError | socket.gaierror | ssl.SSLError):
        return False
    return isinstance(
        error, TimeoutError | ConnectionError | http.client.IncompleteRead | http.client.RemoteDisconnected
    )


def redirected(address: str, location: str) -> str:
    """What to do about a redirection; none is followed, so that a key goes nowhere but to the address given."""
    try:
        there = urlsplit(location)
        target = f"{there.scheme}://{there.netloc.rpartition('@')[2]}" if there.scheme and there.hostname else ""
    except ValueError:
        target = ""
    if target and target != address:
        return f"{address} sends on to {target}, and nothing is sent there. Type that address instead, if you know it."
    return f"{address} sends on to another page ({without_secrets(location)[:80]}). Is it the address of the server?"


def in_words(error: Exception, timeout: float) -> str:
    """What went wrong on the way to a server, as the end of a sentence that begins with its address."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"shows a certificate that can't be trusted ({error.verify_message}). Nothing was sent."
    if isinstance(error, ssl.SSLError):
        return "doesn't speak https there. Does its address begin with http://, or has it another port?"
    if isinstance(error, TimeoutError):
        return f"doesn't answer within {timeout:g} seconds. Is it running, and is the address right?"
    if isinstance(error, socket.gaierror):
        return "isn't known: no server has this name. Check the address."
    if isinstance(error, ConnectionRefusedError):
        return "refuses the connection. Is the server running there, at this port?"
    if isinstance(error, http.client.IncompleteRead | http.client.RemoteDisconnected):
        return "ended the connection before its answer was whole."
    if isinstance(error, http.client.HTTPException):
        return "answers with something that isn't HTTP. Does its address begin with https://, or has it another port?"
    return f"can't be reached ({getattr(error, 'strerror', None) or type(error).__name__})."
