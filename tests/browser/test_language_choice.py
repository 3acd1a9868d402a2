"""The app's language: the browser's at first, then the one that is chosen, kept over reloads and from page to page."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.server import Server
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def language_in_address(visitor: Visitor) -> list[str]:
    return parse_qs(urlsplit(visitor.page.url).query).get("lang", [])


def choose(visitor: Visitor, box: str, language: str) -> None:
    """Choose a language in the side bar; its box is called so in the language that is shown."""
    picker = visitor.page.get_by_test_id("stSidebar").get_by_role("combobox", name=box)
    option = visitor.page.get_by_role("option", name=language, exact=True)
    while option.count() == 0:  # a page that is still scrolling closes the list
        picker.click()
        visitor.page.wait_for_timeout(300)
    with visitor.a_run():
        option.click()


def title_is(visitor: Visitor, title: str) -> None:
    expect(visitor.main.get_by_role("heading", level=1)).to_have_text(title)


def test_an_italian_browser_reads_italian_until_english_is_chosen(
    server: Server, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(server, locale="it-IT")
    visitor.open("?project=demo")
    visitor.says("Il percorso dei dati")
    expect(visitor.main).not_to_contain_text("Settings of this project")
    assert language_in_address(visitor) == []
    visitor.go("Token")
    title_is(visitor, "Token")
    visitor.says("Una coppia è formata da due token della stessa area.")

    choose(visitor, "Lingua", "English")
    title_is(visitor, "Tokens")
    visitor.says("An item is a pair of tokens of one area.")
    assert language_in_address(visitor) == ["en"]
    visitor.page.reload()
    visitor.ready()
    title_is(visitor, "Tokens")
    visitor.go("Embeddings")
    visitor.says("Import an embedding")
    assert language_in_address(visitor) == ["en"]
    visitor.open(urlsplit(visitor.page.url)._replace(path="/tokens", scheme="", netloc="").geturl().lstrip("/"))
    with visitor.a_run():  # a page's own links keep it, too
        visitor.main.get_by_role("link", name="Change how tokens are looked up").click()
    visitor.says("Import an embedding")
    assert language_in_address(visitor) == ["en"]

    choose(visitor, "Language", "italiano")
    title_is(visitor, "Embedding")
    assert language_in_address(visitor) == []
    visitor.check_no_error()


def test_an_english_browser_reads_italian_by_the_address(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = visit(server, locale="en-GB")
    visitor.open("tokens?project=demo&lang=it")
    visitor.says("Una coppia è formata da due token della stessa area.")
    visitor.page.reload()
    visitor.ready()
    visitor.says("Una coppia è formata da due token della stessa area.")
    other = visit(server, locale="en-GB")
    other.open("tokens?project=demo")
    other.says("An item is a pair of tokens of one area.")
