"""A language model answers ballot 1 of the demo, from the switch to its agreement with people, in a real browser."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest
from chat_server import chat_server, longer, said, whole
from playwright.sync_api import expect

from core.store import open_store
from core.store.votes.model_answers import read_judges
from tests.browser.server import Server
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.release]


def test_a_language_model_answers_ballot_1_and_its_agreement_stands_on_the_page(
    own_server: Server, visit: Callable[..., Visitor]
) -> None:
    own_server.start()
    visitor = visit(own_server)
    held = threading.Event()
    with chat_server() as server:

        def answer(text: str) -> bytes:
            if len(server.asked) > 10:
                held.wait(60)
            if len(server.asked) % 10 == 0:
                return whole(said("Both pairs are about equally related, I would say."))
            return whole(said(longer(text)))

        server.answer = answer
        visitor.open("evaluate?project=demo")
        with visitor.a_run():
            visitor.turn_to("Language models")
        visitor.says("Nothing is sent anywhere until you switch a language model on.")
        visitor.unfold("Switch a language model on")
        visitor.main.get_by_label("Address of the server", exact=True).fill(server.url)
        visitor.main.get_by_label("Model", exact=True).fill("loopback")
        visitor.press("Switch it on")
        visitor.says(f"sends to {server.url}/v1/chat/completions, without a key")
        visitor.pick("Ballot", "Ballot 1")
        visitor.fill("Comparisons", "60")
        visitor.press("Ask 120 questions")
        visitor.says("Asking the language model in the background")
        visitor.says(re.compile(r"[1-9]\d* of 120 answers are kept"))
        with visitor.a_run():  # the page's own figures, which are computed anew, have a sign further down
            visitor.main.get_by_role("button", name="Cancel", exact=True).first.click()
        again = visitor.main.get_by_role("button", name="Ask 120 questions", exact=True)
        expect(again).to_be_enabled()  # a message may be gone by now, as the page is drawn anew for its own figures
        store = open_store(own_server.workspace)
        (judge,) = read_judges(store, "demo")
        assert 0 < judge.n_answers < 120
        held.set()
        visitor.press("Ask 120 questions")
        expect(again).to_be_enabled()
        visitor.press("Compare it with people")
        beside = visitor.main.get_by_text("Agreement by the gap of people's scores")
        expect(beside).to_be_visible(timeout=60_000)
        visitor.says(re.compile(r"120 answers, 1\d\d votes among them\. No votes, and kept as they came: \d+ answered"))
        visitor.check_no_error()
        assert len(set(server.texts)) == 120
        (judge,) = read_judges(store, "demo")
        assert (judge.n_answers, judge.stale) == (120, ())
        store.engine.dispose()
