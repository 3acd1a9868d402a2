"""Voters of the voting page without a browser: each a connection of its own, asking as the page's script would."""

from __future__ import annotations

import asyncio
import html
import json
import random
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode


class Refused(Exception):
    """An answer of the server that no voter should get."""


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    cookies: dict[str, str]
    body: str


class Connection:
    """One kept-alive connection; cookies are sent back as a browser would."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self.cookies: dict[str, str] = {}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, fields: dict[str, str] | None = None, **headers: str) -> Answer:
        """Send a request and read the whole answer; a connection that the server closed is opened again before."""
        body = urlencode(fields or {}).encode() if method == "POST" else b""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}:{self._port}", f"Content-Length: {len(body)}"]
        lines.append("Content-Type: application/x-www-form-urlencoded")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if self.cookies:
            lines.append("Cookie: " + "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        if self._streams is None or self._streams[0].at_eof():
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
        await writer.drain()
        return await self._read(reader)

    async def _read(self, reader: asyncio.StreamReader) -> Answer:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = [line.split(": ", 1) for line in head[1:] if ": " in line]
        headers = {name.lower(): value for name, value in pairs}
        cookies = dict(v.split(";")[0].split("=", 1) for name, v in pairs if name.lower() == "set-cookie")
        self.cookies |= cookies
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(int(head[0].split()[1]), headers, cookies, body.decode("utf-8"))

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


def hidden(page: str, name: str, step: str = "") -> str:
    """The value of a hidden field of a page, of the form that leads to `step` where there are several."""
    part = page[page.index(f"/{step}") :] if step else page
    found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)"', part)
    if found is None:
        raise Refused(f"The page has no field {name!r}: {page[:300]}")
    return html.unescape(found[1])


@dataclass
class HttpVoter:
    """A voter who answers at random; `confirmed` holds the places for which the server said that they are saved."""

    host: str
    port: int
    code: str
    name: str
    think: float = 0.0
    confirmed: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    async def vote(self, n_votes: int) -> None:
        """Begin, and give up to so many votes, going on from task to task."""
        rng = random.Random(self.name)
        connection = Connection(self.host, self.port)
        await asyncio.sleep(2 * self.think * rng.random())  # people don't open a link in the same instant
        try:
            page = await self.begin(connection)
            while len(self.confirmed) < n_votes and "/vote" in page:
                form, place = hidden(page, "form", "vote"), hidden(page, "place")
                while place and len(self.confirmed) < n_votes:
                    await asyncio.sleep(self.think * rng.uniform(0.5, 1.5))
                    place = await self._answer(connection, form, place, rng.choice(("left", "right", "tie")))
                if len(self.confirmed) == n_votes:  # another task would be kept from those who still vote
                    break
                page = (await self._ask(connection, "GET", f"/v/{self.code}")).body
                if "/more" in page:
                    form = hidden(page, "form", "more")
                    await self._ask(connection, "POST", f"/v/{self.code}/more", {"form": form})
                    page = (await self._ask(connection, "GET", f"/v/{self.code}")).body
        finally:
            connection.close()

    async def begin(self, connection: Connection) -> str:
        """Open the link, agree, and return the page that follows."""
        page = await self._ask(connection, "GET", f"/v/{self.code}")
        fields = {"form": hidden(page.body, "form"), "name": self.name}
        answer = await self._ask(connection, "POST", f"/v/{self.code}/begin", fields)
        if answer.status != 303:
            raise Refused(f"{self.name} could not begin: {answer.status} {answer.body[:200]}")
        return (await self._ask(connection, "GET", f"/v/{self.code}")).body

    async def _ask(
        self, connection: Connection, method: str, path: str, fields: dict[str, str] | None = None, **headers: str
    ) -> Answer:
        """Ask, and once more where the server says that nothing was done yet."""
        while True:
            answer = await connection.ask(method, path, fields, **headers)
            if answer.status != 503 or "retry-after" not in answer.headers:
                return answer
            await asyncio.sleep(random.uniform(0.5, 1.5))

    async def _answer(self, connection: Connection, form: str, place: str, choice: str) -> str:
        """Give one answer; the place of the next comparison, "" where the task is over."""
        fields = {"form": form, "place": place, "choice": choice, "seconds": "1.5"}
        begun = time.perf_counter()
        answer = await self._ask(connection, "POST", f"/v/{self.code}/vote", fields, Accept="application/json")
        self.seconds.append(time.perf_counter() - begun)
        if answer.status != 200:
            raise Refused(f"{self.name}: {answer.status} {answer.body[:200]}")
        self.confirmed.append(place)
        return str(json.loads(answer.body).get("place", ""))


async def all_vote(voters: list[HttpVoter], n_votes: int) -> None:
    """Let all of them vote at the same time."""
    await asyncio.gather(*(voter.vote(n_votes) for voter in voters))
