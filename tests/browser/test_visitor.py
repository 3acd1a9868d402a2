"""The visitor waits for the runs that were asked for, and until nothing moves: all other tests of pages stand on it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.visitor import Runs, Visitor

DONE, DONE_PART, ANEW = (
    ForwardMsg.FINISHED_SUCCESSFULLY,
    ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
    ForwardMsg.FINISHED_EARLY_FOR_RERUN,
)


def asked(runs: Runs, fragment: str = "", *, by_itself: bool = False) -> None:
    message = BackMsg()
    message.rerun_script.fragment_id = fragment
    message.rerun_script.is_auto_rerun = by_itself
    runs.sent(message.SerializeToString())


def begun(runs: Runs, run: str, *fragments: str) -> None:
    message = ForwardMsg()
    message.new_session.name = "app"
    message.metadata.run.script_run_id = run
    message.metadata.run.fragment_ids.extend(fragments)
    runs.received(message.SerializeToString())


def ended(runs: Runs, run: str, how: ForwardMsg.ScriptFinishedStatus.ValueType) -> None:
    message = ForwardMsg(script_finished=how)
    message.metadata.run.script_run_id = run
    runs.received(message.SerializeToString())


def test_a_part_that_renews_itself_is_not_the_run_that_was_asked_for() -> None:
    runs = Runs()
    asked(runs, "clock", by_itself=True)
    begun(runs, "1", "clock")
    assert (runs.n_asked, runs.under_way) == (0, False)
    asked(runs)
    ended(runs, "1", DONE_PART)
    assert (runs.n_asked, runs.under_way) == (1, True)
    begun(runs, "2")
    begun(runs, "3", "clock")
    ended(runs, "3", DONE_PART)
    assert runs.under_way
    ended(runs, "2", DONE)
    assert not runs.under_way


def test_a_run_that_begins_anew_is_followed_to_its_end() -> None:
    runs = Runs()
    asked(runs, "box")
    begun(runs, "1", "clock", "box")
    ended(runs, "1", ANEW)
    assert runs.under_way
    begun(runs, "2")
    ended(runs, "2", ANEW)
    begun(runs, "3")
    assert runs.under_way
    ended(runs, "3", DONE)
    assert not runs.under_way


def test_a_part_that_draws_the_page_anew_is_waited_for() -> None:
    runs = Runs()
    asked(runs, "job", by_itself=True)
    begun(runs, "1", "job")
    ended(runs, "1", ANEW)
    assert runs.under_way
    begun(runs, "2")
    ended(runs, "2", DONE)
    assert not runs.under_way


def test_a_run_that_a_later_one_put_an_end_to_is_not_waited_for() -> None:
    runs = Runs()
    asked(runs)
    begun(runs, "1")
    asked(runs)
    begun(runs, "2")
    ended(runs, "1", DONE)
    assert runs.under_way
    ended(runs, "2", DONE)
    assert (runs.n_asked, runs.under_way) == (2, False)


_HEAD = "<div data-testid=stApp><div data-testid=stElementContainer id=box style='position: relative'>box</div>"
_MOVED = """let n = 0; const move = () => {
  box.style.left = `${++n}px`;
  if (n < 40) requestAnimationFrame(move); else window.rests = true;
}; move();"""
_UNFOLDED = """const details = document.querySelector("details");
details.style.height = "60px";
setTimeout(() => { details.style.height = ""; window.rests = true; }, 300);"""
_FADED = """box.animate({opacity: [0, 1]}, 300).finished.then(() => window.rests = true);"""
_LATE = """box.dataset.stale = "true"; setTimeout(() => { box.dataset.stale = "false"; window.rests = true; }, 300);"""


@pytest.mark.browser
@pytest.mark.parametrize("script", [_MOVED, _UNFOLDED, _FADED, _LATE], ids=["moved", "unfolded", "faded", "late"])
def test_what_moves_is_waited_for(chromium: Browser, script: str) -> None:
    page = chromium.new_page()
    page.set_content(
        f"{_HEAD}<div data-testid=stExpander><details open style='overflow: hidden'><summary>More</summary>"
        f"<div data-testid=stExpanderDetails style='height: 200px'></div></details></div></div>"
        f"<script>{script}</script>"
    )
    Visitor(page, "").still()
    assert page.evaluate("window.rests")
    page.close()
