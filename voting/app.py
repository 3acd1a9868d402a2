"""The web server for voters: a few addresses under one link, each a function of `core.voting.api` and a page.

For a voter who has begun, a step goes from a form's fields to what is done, and to what the page's script is told then.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from . import pages
from .api import Language, translatable, voting
from .connection_limits import Limiter, network_of
from .safety import HANDLERS, VOTER, SafeHeaders, form_fields, is_script, problem, voters_cookie
from .safety import plain_page as _page
from .turns import WriterQueues

MAX_ANSWER = 500  # letters; the places of an order are fewer by far
UNSAVED = "unsaved"  # in the address of a page: the answer that led there wasn't saved
NOT_SAVED_QUERY = f"?{UNSAVED}=1"
BEGUN_QUERY = "?c=1"  # after a cookie was set: without one the page says then that it needs one
Step = tuple[Callable[..., voting.VoterView], str]  # what is done, and the query of the page that follows


def place_id(task: int, n: int) -> str:
    """How a form names a place."""
    return f"{task}.{n}"


def _place(fields: dict[str, str]) -> tuple[int, int]:
    """The place in the voter's own tasks that a form names: task and number."""
    task, _, n = fields.get("place", "").partition(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 7 for part in (task, n)):
        raise voting.InputError(translatable("This answer fits nothing that the page asked. Load the page again."))
    return int(task), int(n)


def _vote(fields: dict[str, str]) -> Step:
    task, n = _place(fields)
    try:
        seconds: float | None = float(fields.get("seconds", ""))
    except ValueError:
        seconds = None
    seconds = seconds if seconds is not None and math.isfinite(seconds) else None
    choice = (fields.get("choice") or voting.answer_of(fields))[:MAX_ANSWER]
    return partial(voting.vote, task=task, n=n, choice=choice, seconds=seconds), ""


def _undo(fields: dict[str, str]) -> Step:
    task, n = _place(fields)
    return partial(voting.undo, task=task, n=n), ""


def _example(fields: dict[str, str]) -> Step:
    number, choice = fields.get("number", ""), fields.get("choice", "")
    if not (number.isascii() and number.isdigit() and len(number) < 3):
        raise voting.InputError(translatable("There is no such example. Load the page again."))
    choice = choice if choice in ("left", "right", "tie", "unknown") else ""
    return partial(voting.example_done, number=int(number)), f"?e={int(number)}&a={choice}"


STEPS: dict[str, Callable[[dict[str, str]], Step]] = {
    "vote": _vote,
    "example": _example,
    "undo": _undo,
    "more": lambda fields: (voting.more, ""),
    "finish": lambda fields: (voting.finish, ""),
}


def answer(view: voting.VoterView, query: str) -> dict[str, Any]:
    """What the page's script needs of the next comparison; any other page, and one with a `query`, it asks for."""
    place = view.place
    if query or view.kind != "vote" or view.round is not None or place is None:
        return {"kind": "page", "query": query}
    undo = place_id(*view.last) if view.last else ""
    told = {"kind": "vote", "place": place_id(place.task, place.n), "of": place.of, "undo": undo}
    return told | {"texts": dict(place.texts), "said": view.language.text(view.said)}


log = logging.getLogger("runoff.voting.api")
VISIT = "runoff_visit"
MONTH = 30 * 24 * 3600
HOUSEKEEPING_SECONDS, TIDY_SECONDS = 5.0, 1.0
_STATIC = Path(__file__).parent / "static"


class VotersServer:
    """The addresses of the server on one workspace, and how often each may be asked."""

    def __init__(self, store: voting.Store) -> None:
        self.store = store
        self.turns = WriterQueues(voting.n_lines(store), partial(voting.together, store))
        self.given_up: set[int] = set()  # voting pages that are left to the owner
        # A lecture hall may come from one address at once. A newcomer takes a visit, a beginning and two of the flood,
        # and a few more of the latter with an example and the first vote. A voter answers a few a second at most.
        self.visits = Limiter(rate=10, burst=1000)  # of an address, by browsers that aren't known yet
        self.begins = Limiter(rate=2, burst=500)  # of an address
        self.steps = Limiter(rate=5, burst=60)  # of a voter, whose script or whose browser asks
        self.flood = Limiter(rate=200, burst=2000)  # of an address, whoever asks
        self.misses = Limiter(rate=0.5, burst=30)
        self.wrong_words = Limiter(rate=0.1, burst=100)  # of an address at a link; who knows the word costs nothing
        self.languages: dict[str, Language] = {}  # of the links that led somewhere, for pages that look nothing up

    def spoken(self, request: Request) -> Language:
        """The language of the link that is asked for, where it is known yet; else what the browser likes best."""
        known = self.languages.get(request.path_params.get("code", ""))
        return known or voting.preferred(request.headers.get("accept-language", ""))

    def _noted(self, code: str, view: voting.VoterView) -> voting.VoterView:
        if view.kind != "nothing":
            self.languages[code] = view.language
        return view

    async def _look(self, code: str, *who: Any) -> voting.VoterView:
        """What somebody sees; only who must be given something waits for a writer's turn."""
        view = await run_in_threadpool(voting.glance, self.store, code, *who)
        if view is None:
            view = await self.turns.take(code, partial(voting.look, self.store, code, *who))
        return view

    # What is asked for

    async def show(self, request: Request) -> Response:
        """The page of a link as it stands for whoever asks."""
        code, visit = request.path_params["code"], request.cookies.get(VISIT) or secrets.token_urlsafe(24)
        cookie, sender = voters_cookie(request), _sender(request)
        if not (self.flood.allows(sender) and (self.steps.allows(cookie) if cookie else self.visits.allows(sender))):
            return _page("busy", self.spoken(request))
        query = dict(request.query_params)
        who = voting.who_of(query)
        try:
            view = self._noted(code, await self._look(code, cookie, visit, who))
        except voting.InputError as error:
            return HTMLResponse(pages.message("refused", str(error), spoken=self.spoken(request)), 400)
        if view.kind == "nothing":
            return _page("nothing" if self.misses.allows(sender) else "busy", self.spoken(request))
        if view.cookie and query.keys() & {"PROLIFIC_PID", "workerId", "participantId", "i"}:
            return _with_cookies(request, _to(code, BEGUN_QUERY), view, visit)
        if view.kind in ("entry", "uninvited") and "c" in query and not cookie:
            return _page("cookies", view.language, 400)
        if UNSAVED in query:
            view = replace(view, said=voting.NOT_SAVED)
        told = pages.answered(code, view, query)
        return _with_cookies(request, HTMLResponse(told or pages.page(code, view, query)), view, visit)

    async def begin(self, request: Request) -> Response:
        """Somebody agrees to take part."""
        code, visit = request.path_params["code"], request.cookies.get(VISIT, "")
        sender = _sender(request)
        guesser = f"{code}/{sender}"
        if not (self.begins.allows(sender) and self.wrong_words.has(guesser)):
            return _page("busy", self.spoken(request))
        fields, query = await form_fields(request), dict(request.query_params)
        who, name, word, form = (voting.who_of(query), *(fields.get(field, "") for field in ("name", "word", "form")))
        step = partial(voting.begin, self.store, code, visit, form, who, name=name, traits=fields, word=word)
        if not await run_in_threadpool(voting.check_newcomer, self.store, code, visit, form):
            return _page("nothing", self.spoken(request))
        try:
            view = await self.turns.take(code, partial(step, cookie=voters_cookie(request), sender=sender))
        except voting.InputError as error:
            wrong = "word" if isinstance(error, voting.WrongCodeWordError) else "name"
            if wrong == "word":
                self.wrong_words.count(guesser)
            if is_script(request):
                return problem(self.spoken(request).text(str(error)), field=wrong)
            view = await self._look(code, "", visit, who)
            return HTMLResponse(pages.entry(code, view, query, str(error), fields, wrong), 400)
        if view.kind == "nothing":
            return _page("nothing", self.spoken(request))
        told = JSONResponse({"kind": "page", "query": BEGUN_QUERY}) if is_script(request) else _to(code, BEGUN_QUERY)
        return _with_cookies(request, told, view, visit)

    async def step(self, request: Request) -> Response:
        """One of the steps of a voter who has begun: vote, undo, example, more, finish."""
        code, name = request.path_params["code"], request.path_params["step"]
        cookie = voters_cookie(request)
        if not (self.steps.allows(cookie or _sender(request)) and self.flood.allows(_sender(request))):
            return _page("busy", self.spoken(request))
        fields = await form_fields(request)
        action, after = STEPS[name](fields)
        form = fields.get("form", "")
        await run_in_threadpool(voting.check_step, self.store, code, cookie, form)
        step = partial(action, self.store, code, cookie, form)
        try:
            view = self._noted(code, await self.turns.take(code, step))
        except voting.IncompleteError as error:
            if is_script(request):
                spoken = self.spoken(request)
                return problem(spoken.text("Not saved: {problem}", problem=spoken.text(str(error))))
            view = await self._look(code, cookie)
            page = pages.vote(code, view, str(error)) if view.kind == "vote" else pages.page(code, view, {})
            return HTMLResponse(page, 400)
        query = NOT_SAVED_QUERY if view.said == voting.NOT_SAVED else after
        return JSONResponse(answer(view, query)) if is_script(request) else _to(code, query)

    async def asset(self, request: Request) -> Response:
        """Style and script; of the template's, and of the voting page itself. There is nothing else to be had."""
        name = request.path_params["name"]
        media = {"css": "text/css", "js": "text/javascript"}.get(name.rpartition(".")[2])
        own = ("vote.css", "whole.js", "send.js", "vote.js", "question.js", "again.js")
        text = (_STATIC / name).read_text(encoding="utf-8") if name in own else voting.asset(name)
        if text is None:
            return _page("nothing", self.spoken(request))
        return Response(text, media_type=media, headers={"Cache-Control": "public, max-age=300"})

    async def health(self, _request: Request) -> Response:
        return PlainTextResponse("ok")

    # What it does by itself

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        # Closing a ballot may take minutes, and the rest doesn't wait for it.
        steps = {self._beat: HOUSEKEEPING_SECONDS, self._tend: HOUSEKEEPING_SECONDS, self._tidy: TIDY_SECONDS}
        tasks = [asyncio.create_task(_again_and_again(step, seconds)) for step, seconds in steps.items()]
        yield
        for task in tasks:
            task.cancel()
        await run_in_threadpool(voting.leave, self.store)

    async def _beat(self) -> None:
        await run_in_threadpool(voting.beat, self.store)

    async def _tidy(self) -> None:
        await run_in_threadpool(voting.tidy, self.store)
        await self.turns.take("", partial(voting.shorten, self.store))

    async def _tend(self) -> None:
        for sentence in await run_in_threadpool(voting.do_housekeeping, self.store, self.given_up):
            log.warning(sentence)


async def _again_and_again(step: Callable[[], Awaitable[None]], seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await step()
        except (voting.RunoffError, OSError) as error:
            log.error("%s", error)


def _to(code: str, query: str = "") -> Response:
    """Back to the page of the link; an address is never taken from a request."""
    return RedirectResponse(f"/v/{code}{query}", 303)


def _sender(request: Request) -> str:
    return network_of(request.client.host) if request.client else ""


def _with_cookies(request: Request, answer: Response, view: voting.VoterView, visit: str) -> Response:
    """Set the cookies that a view brings; only for this link, only for the server, over TLS only where there is TLS."""
    path = f"/v/{request.path_params['code']}"
    options: dict[str, Any] = {
        "path": path,
        "httponly": True,
        "samesite": "lax",
        "secure": request.url.scheme == "https",
    }
    if view.kind == "entry":
        answer.set_cookie(VISIT, visit, **options)
    elif view.cookie and request.cookies.get(VOTER) != view.cookie:
        answer.set_cookie(VOTER, view.cookie, max_age=MONTH, **options)
    return answer


def make_app(store: voting.Store) -> Starlette:
    """The server on a workspace."""
    server = VotersServer(store)
    routes = [
        Route("/health", server.health),
        Route("/static/{name}", server.asset),
        Route("/v/{code}", server.show),
        Route("/v/{code}/begin", server.begin, methods=["POST"]),
        *(Route(f"/v/{{code}}/{name}", _step(server, name), methods=["POST"]) for name in STEPS),
    ]
    app = Starlette(routes=routes, exception_handlers=HANDLERS, lifespan=server.lifespan)
    app.router.redirect_slashes = False
    app.state.server = server
    return app


def _step(server: VotersServer, name: str) -> Callable[[Request], Awaitable[Response]]:
    async def step(request: Request) -> Response:
        request.path_params["step"] = name
        return await server.step(request)

    return step


def make_safe_app(store: voting.Store) -> SafeHeaders:
    """The server with the headers that every answer carries, also those to faults."""
    return SafeHeaders(make_app(store))


__all__ = ["make_app", "make_safe_app"]
