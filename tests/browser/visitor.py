"""A visitor of the pages: what a person does in one tab, with waits for Streamlit's runs and never a fixed sleep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, WebSocket, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

TITLES = (
    *("Project", "Embeddings", "Tokens", "Plan", "Collect", "Voters", "Scores", "Evaluate", "Export"),
    *("Other schemes", "Help"),
)
TIMEOUT_MS = 20_000
# The state of the app, looked at when what has arrived is drawn.
_SETTLED = """() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))
  .then(() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning")
"""
# Nothing moves any more: no run, no element that a run has still to renew (Streamlit fades it), no placeholder of what
# is loaded late, no font under way, no transition, and all boxes where they were two frames before.
_STILL = """() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => {
  const app = document.querySelector('[data-testid="stApp"]');
  if (app?.dataset.testScriptState !== "notRunning" || document.fonts.status !== "loaded") return false;
  const late = app.querySelectorAll('[data-stale="true"], [data-testid="stSkeleton"]');
  if ([...late].some(element => element.checkVisibility())) return false;
  const ends = animation => animation.effect?.getComputedTiming().iterations !== Infinity;
  if (document.getAnimations().some(animation => animation.playState === "running" && ends(animation))) return false;
  const boxes = [...app.querySelectorAll('[data-testid="stElementContainer"]')].map(element => {
    const box = element.getBoundingClientRect();
    return [box.left, box.top, box.width, box.height].map(Math.round);
  }).join(";");
  const before = window.runoffBoxes;
  window.runoffBoxes = boxes;
  return boxes === before;
})
"""
_ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
# Streamlit asks for these under a deep link's address first, before it finds them at the root.
_EXPECTED_404 = re.compile(r"/_stcore/(health|host-config)$")


class Visitor:
    """A tab on the app. `faults` collects what must never happen: script errors and requests to other hosts."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.faults: list[str] = []
        page.set_default_timeout(TIMEOUT_MS)
        page.on("websocket", self._connected)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.faults.append(f"error in the page: {error}"))
        page.on("request", self._asked)

    def _connected(self, socket: WebSocket) -> None:
        self._socket = socket

    def _heard(self, message: ConsoleMessage) -> None:
        address = message.location.get("url", "")
        if message.type == "error" and not _EXPECTED_404.search(urlsplit(address).path):
            self.faults.append(f"console: {message.text} ({address})")

    def _asked(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "localhost":
            self.faults.append(f"request to another host: {request.url}")

    @property
    def main(self) -> Locator:
        return self.page.get_by_test_id("stMain")

    @property
    def picker(self) -> Locator:
        """The project picker in the side bar."""
        return self.page.get_by_test_id("stSidebar").get_by_role("combobox", name="Project")

    @property
    def project_id(self) -> str:
        """The project in the address."""
        return urlsplit(self.page.url).query.removeprefix("project=")

    def open(self, address: str = "") -> None:
        """Go to an address of the app, such as "tokens?project=demo", and wait for its page."""
        self.page.goto(f"{self.url}/{address}")
        self.ready()

    def ready(self) -> None:
        """Wait until a page with a title is there and no run is under way."""
        self.main.get_by_role("heading", level=1).wait_for()
        self.settle()

    def settle(self) -> None:
        """Wait until no run is under way."""
        self.page.wait_for_function(_SETTLED)

    def still(self) -> None:
        """Wait until nothing on the page moves: before its layout, its colours or a whole table is looked at."""
        self.page.wait_for_function(_STILL)

    def is_settled(self) -> bool:
        """Whether no run is under way just now."""
        return bool(self.page.evaluate(_SETTLED))

    @contextmanager
    def a_run(self) -> Iterator[None]:
        """Around what starts a run: waits until that run, and any that it starts anew by itself, is over and drawn."""
        self.settle()
        with self._socket.expect_event("framereceived", _is_end_of_run, timeout=TIMEOUT_MS):
            yield
        self.settle()

    def go(self, title: str) -> None:
        """Click a page's name in the navigation and wait for the page."""
        with self.a_run():
            self.page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
        if title != "Project":
            expect(self.main.get_by_role("heading", level=1)).to_contain_text(title)

    def press(self, label: str) -> None:
        """Press a button and wait for the run that follows."""
        with self.a_run():
            self.main.get_by_role("button", name=label, exact=True).click()

    def fill(self, label: str, text: str) -> None:
        """Change a text box or number box that stands in no form, and leave it."""
        box = self.main.get_by_label(label, exact=True).and_(self.page.locator("input, textarea"))
        box.fill(text)
        with self.a_run():
            box.press("Tab")

    def choose(self, label: str) -> None:
        """Choose a radio button or a segment by its label."""
        with self.a_run():
            self.main.get_by_role("radio", name=label, exact=True).click()

    def box(self, label: str) -> Locator:
        """The select box of this label."""
        return self.main.get_by_role("combobox", name=label, exact=True)

    def pick(self, label: str, option: str, *, in_form: bool = False) -> None:
        """Choose an option of a select box, and wait for the run that follows outside a form."""
        offered = self.page.get_by_role("option", name=option, exact=True)
        with nullcontext() if in_form else self.a_run():
            for _ in range(10):  # a page that is still scrolling closes the list, before a click or under it
                self.box(label).click()
                with suppress(PlaywrightTimeout):
                    offered.click(timeout=TIMEOUT_MS / 10)
                    break
        expect(self.box(label)).to_have_value(option)

    def check(self, label: str) -> None:
        """Check a box by its label."""
        with self.a_run():
            self.main.get_by_text(label, exact=True).click()

    def unfold(self, label: str) -> None:
        """Open an expander, and wait until it is open: what it holds moves until then, away from under a click."""
        self.main.get_by_text(label, exact=True).click()
        self.still()

    def upload(self, label: str, name: str, data: bytes) -> None:
        """Put a file into an upload box and wait for the run that follows."""
        box = self.main.get_by_test_id("stFileUploader").filter(has=self.page.get_by_label(label))
        with self.a_run():
            box.locator("input[type=file]").set_input_files(
                {"name": name, "mimeType": "application/octet-stream", "buffer": data}
            )

    def download(self, label: str) -> bytes:
        """Press a download button; the bytes of the file."""
        with self.page.expect_download() as caught:
            self.main.get_by_role("button", name=label, exact=True).click()
        return Path(caught.value.path()).read_bytes()

    def publication(self) -> bytes:
        """The zip to publish, made and downloaded on the Export page."""
        self.press("Make the dataset to publish (zip)")
        button = self.main.get_by_role("button", name=re.compile(r"^Download the dataset \(zip"))
        button.wait_for()
        with self.page.expect_download() as caught:
            button.click()
        return Path(caught.value.path()).read_bytes()

    def cells(self, table: str, n_rows: int | None = None) -> list[list[str]]:
        """The cells of a table, row by row, as far as they are in view; waits for `n_rows` rows where given.

        A table draws itself when it comes into view, some time after the run that filled it.
        """
        region = self.main.get_by_role("region", name=table)
        region.scroll_into_view_if_needed()
        region.locator("td[role=gridcell]").first.wait_for(state="attached")
        rows = region.locator("tbody tr")
        if n_rows is not None:
            expect(rows).to_have_count(n_rows)
        self.still()
        return rows.evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")

    def says(self, text: str | re.Pattern[str]) -> None:
        """Wait until the page says something."""
        expect(self.main).to_contain_text(text, timeout=TIMEOUT_MS)

    def check_no_error(self) -> None:
        """No red box, no exception on the page."""
        for kind in ("stAlertContentError", "stException"):
            found = self.main.get_by_test_id(kind)
            assert found.count() == 0, found.first.inner_text()


def _is_end_of_run(frame: str | bytes) -> bool:
    """A message of the server says that a run went through; one that was broken off to begin anew does not count."""
    if isinstance(frame, str):
        return False
    message = ForwardMsg.FromString(frame)
    return message.WhichOneof("type") == "script_finished" and message.script_finished in _ENDS
