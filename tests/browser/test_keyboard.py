"""Everything on the owner's pages is reached by keys alone, shows that it is, and stands within a screen at 200%."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.server import Server
from tests.browser.test_demo import address
from tests.browser.visitor import TITLES, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser"), pytest.mark.release]

# What a person can use: of radio buttons, tabs and the like one of a group takes the tab key, arrows do the rest.
_NUMBER = """() => {
  const one = new Set();
  let n = 0;
  for (const control of document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=tab]')) {
    const box = control.getBoundingClientRect();
    if (control.disabled || control.type === "hidden" || !box.width || !box.height) continue;
    if (control.closest('[inert], [aria-hidden="true"]') || control.type === "file") continue;
    if (getComputedStyle(control).visibility !== "visible") continue;
    // The arrow of a list and the steps of a number: arrow keys in the box do the same.
    if (control.tabIndex < 0 && control.closest('[data-testid="stSelectbox"], [data-testid="stNumberInput"], ' +
      '[data-testid="stMultiSelect"]')?.querySelector("input")) continue;
    const group = control.closest('[role=radiogroup], [role=tablist], [role=listbox]');
    if (group) { if (one.has(group)) continue; one.add(group); group.dataset.keys = ++n; continue; }
    control.dataset.keys = ++n;
  }
  document.activeElement?.blur();
  return n;
}"""
_AT = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const held = at.closest('[data-keys]');
  return held ? Number(held.dataset.keys) : 0;
}"""
_NAMES = (
    """numbers => numbers.map(n => document.querySelector(`[data-keys="${n}"]`)?.outerHTML.slice(0, 160) ?? "gone")"""
)


def unreached(page: Page) -> list[str]:
    """The controls that the tab key doesn't come to, from the start of the page on."""
    n = page.evaluate(_NUMBER)
    seen: set[int] = set()
    for _ in range(3 * n + 30):
        page.keyboard.press("Tab")
        at = page.evaluate(_AT)
        if at is not None:
            seen.add(at)
        if len(seen - {0}) == n:
            break
    return page.evaluate(_NAMES, sorted(set(range(1, n + 1)) - seen))


def test_every_control_of_every_page_is_reached_by_the_tab_key(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = visit(server)
    found = {}
    for title in TITLES:
        visitor.open(address(title))
        found[title] = unreached(visitor.page)
    assert {title: names for title, names in found.items() if names} == {}


def test_a_control_that_keys_do_not_reach_would_be_found(server: Server, visit: Callable[..., Visitor]) -> None:
    visitor = visit(server)
    visitor.open("help?project=demo")
    button = "<button tabindex=-1>Out</button>"
    visitor.main.evaluate("(main, button) => main.insertAdjacentHTML('beforeend', button)", button)
    assert [name for name in unreached(visitor.page) if "Out" in name]


def test_at_twice_the_size_nothing_is_wider_than_the_screen(server: Server, visit: Callable[..., Visitor]) -> None:
    """200% of a screen of 1280 × 900 leaves 640 × 450 (WCAG 1.4.10 asks for as little as 320)."""
    visitor = visit(server, viewport={"width": 640, "height": 450}, device_scale_factor=2)
    wider = {}
    for title in TITLES:
        visitor.open(address(title))
        wider[title] = visitor.main.evaluate("main => main.scrollWidth - main.clientWidth")
    assert {title: by for title, by in wider.items() if by > 0} == {}
