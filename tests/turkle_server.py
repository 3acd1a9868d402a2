"""A Turkle on this machine for tests, and people who are signed in there."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PASSWORD = "voterpw"


@dataclass
class Turkle:
    """A running Turkle and its administrator's token."""

    url: str
    token: str

    def api(self, path: str, data: dict | None = None) -> bytes:
        request = urllib.request.Request(
            self.url + path,
            headers={"Authorization": f"Token {self.token}", "Content-Type": "application/json"},
            data=None if data is None else json.dumps(data).encode(),
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read()


class Browser:
    """Someone signed in at Turkle."""

    def __init__(self, turkle: Turkle, name: str, password: str) -> None:
        self.turkle = turkle
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        _, page = self.get("/login/")
        self.post("/login/", page, {"username": name, "password": password})

    def get(self, path: str) -> tuple[str, bytes]:
        with self.opener.open(self.turkle.url + path, timeout=20) as answer:
            return answer.url, answer.read()

    def post(self, path: str, page: bytes, fields: dict[str, str]) -> tuple[str, bytes]:
        token = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token is not None
        data = urllib.parse.urlencode({"csrfmiddlewaretoken": token[1].decode(), **fields}).encode()
        request = urllib.request.Request(self.turkle.url + path, data=data, headers={"Referer": self.turkle.url + path})
        with self.opener.open(request, timeout=20) as answer:
            return answer.url, answer.read()

    def answer(self, batch: int, choose: Callable[[str], dict[str, str]]) -> list[str]:
        """Answer tasks until there are none left; returns the pages seen. `choose` gives the fields for a page."""
        pages = []
        url, _ = self.get(f"/batch/{batch}/accept_next_task/")
        while match := re.search(r"/task/(\d+)/assignment/(\d+)/$", url):
            _, page = self.get(f"/task/{match[1]}/assignment/iframe/{match[2]}/")
            pages.append(page.decode())
            url, _ = self.post(f"/task/{match[1]}/assignment/{match[2]}/", page, choose(pages[-1]))
        return pages


@contextmanager
def running(home: Path, *, voters: Iterable[str] = ()) -> Iterator[Turkle]:
    """A throw-away Turkle with its data in `home`, on loopback, until the end of the block, and these voters in it."""
    script = Path(__file__).parent / "turkle" / "turkle_serve.py"
    process = subprocess.Popen(
        [sys.executable, script],
        env={**os.environ, "RUNOFF_TURKLE_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=(home / "errors.txt").open("w"),
        text=True,
    )
    try:
        assert process.stdout is not None
        token, url = process.stdout.readline().strip(), process.stdout.readline().strip()
        assert url.startswith("http"), (home / "errors.txt").read_text()
        turkle = Turkle(url, token)
        for name in voters:
            turkle.api("/api/users/", {"username": name, "password": PASSWORD})
        yield turkle
    finally:
        process.terminate()
        process.wait(timeout=10)


def sign_in(page: Any, turkle: Turkle, name: str) -> None:
    """Sign a voter in, in a real browser."""
    page.goto(f"{turkle.url}/login/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "login" not in url)
