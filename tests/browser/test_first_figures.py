"""The first visit of Evaluate: the point figures, then the intervals in the places that were kept for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from playwright.sync_api import expect

from core.commands.figures.evaluation import FirstVisit, OfEvaluation
from core.store import open_store
from core.store import schema as t
from core.store.engine import _open
from tests.browser.server import Server
from tests.browser.visitor import TIMEOUT_MS, Visitor

SIZES = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
# Top and height of the chart, the leaderboard and the row of tabs, in whole pixels. The columns of tables in the tabs
# are as wide as their figures, so that names break otherwise on a phone once those have come.
_PLACES = """() => {
  const main = document.querySelector('[data-testid="stMain"]'), tabs = main.querySelector('[role="tablist"]');
  return ['[data-testid="stVegaLiteChart"]', '[data-testid="stTable"]', '[role="tablist"]']
    .map(kind => [...main.querySelectorAll(kind)]
      .filter(box => box.checkVisibility() && !(tabs.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING))
      .map(box => box.getBoundingClientRect())
      .map(box => [Math.round(box.top + main.scrollTop), Math.round(box.height)]));
}"""

pytestmark = [pytest.mark.browser, pytest.mark.release]


@pytest.mark.parametrize("size", SIZES)
def test_intervals_come_without_a_jump_and_are_there_after_a_restart(
    own_server: Server, visit: Callable[..., Visitor], size: str
) -> None:
    own_server.start()
    forget(own_server.workspace)
    visitor = visit(own_server, viewport=SIZES[size])
    visitor.open("evaluate?project=demo")
    bar = visitor.main.get_by_text("are being computed,").first
    expect(bar).to_be_visible()
    visitor.still()
    before = visitor.page.evaluate(_PLACES)
    expect(bar).to_have_count(0, timeout=2 * TIMEOUT_MS)
    visitor.still()
    assert_in_place(visitor.page.evaluate(_PLACES), before)
    told = visitor.main.get_by_test_id("stMarkdown").first.inner_text()
    visitor.page.close()  # a page without its server tells of every look that fails

    own_server.kill()
    own_server.start()
    again = visit(own_server, viewport=SIZES[size])
    again.open("evaluate?project=demo")
    expect(again.main.get_by_test_id("stMarkdown").first).to_have_text(told)
    expect(again.main.get_by_text("being computed")).to_have_count(0)


def assert_in_place(found: list, before: list) -> None:
    """As many boxes of each kind, each where it was but for a pixel that rounding takes."""
    assert [len(boxes) for boxes in found] == [len(boxes) for boxes in before]
    assert np.abs(np.subtract(np.concatenate(found), np.concatenate(before))).max() <= 1


def forget(workspace: Path) -> None:
    """As if no figure had been measured yet: the demo may come with its own."""
    store = open_store(workspace)
    with store.write() as conn:
        conn.execute(sa.delete(t.job).where(t.job.c.kind.in_([OfEvaluation.kind, FirstVisit.kind])))
    store.engine.dispose()
    _open.cache_clear()
