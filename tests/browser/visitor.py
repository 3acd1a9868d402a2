"""A visitor of the pages: what a person does in one tab, with waits for Streamlit's runs and never a fixed sleep."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Download, Locator, Page, Request, TimeoutError, WebSocket, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

TITLES = (*("Project", "Embeddings", "Tokens", "Plan", "Collect", "Voters", "Scores", "Evaluate", "Export", "Help"),)
# How long what is waited for may take on a machine with other work; a wait that is met costs nothing.
TIMEOUT_MS = 60_000
# What was waiting to be done in the page is done (a task of the lowest priority comes last), and drawn.
_DRAWN = """const drawn = () => new Promise(done => scheduler.postTask(() =>
  requestAnimationFrame(() => requestAnimationFrame(done)), {priority: "background"}));
"""
# Wait until nothing moves any more, as long as it may take in milliseconds; returns what still did then, or "".
# What moves: an element that a run has still to renew (Streamlit fades it), a placeholder of what is loaded late, a
# font under way, a transition, an expander that is not as high as what it holds (Streamlit begins to unfold it 10 ms
# after its content grew; up to 5 pixels it lets be), or any box that isn't where it was two frames before.
# Not for `wait_for_function`: it takes the promise of an answer for the answer "yes".
_STILL = (
    "async (most) => {"
    + _DRAWN
    + """
  const app = document.querySelector('[data-testid="stApp"]');
  const box = element => element.getBoundingClientRect();
  const ends = animation => animation.effect?.getComputedTiming().iterations !== Infinity;
  const unfolds = details => {
    const head = details.querySelector("summary");
    const content = details.querySelector('[data-testid="stExpanderDetails"]');
    return head && content && Math.abs(box(details).height - box(head).height - box(content).height) > 7;
  };
  const moving = () => {
    if (document.fonts.status !== "loaded") return ["a font"];
    const late = [...app.querySelectorAll('[data-stale="true"], [data-testid="stSkeleton"]')];
    const expanders = [...app.querySelectorAll('[data-testid="stExpander"] > details[open]')];
    const changing = document.getAnimations().filter(animation => animation.playState === "running" && ends(animation));
    return [...late.filter(element => element.checkVisibility()), ...expanders.filter(unfolds),
      ...changing.map(animation => animation.effect?.target)].map(element => element?.outerHTML.slice(0, 300));
  };
  const places = () => [...app.querySelectorAll('[data-testid="stElementContainer"]')].map(element => {
    const {left, top, width, height} = box(element);
    return [left, top, width, height].map(Math.round).join(" ");
  }).join("; ");
  const begun = performance.now();
  await drawn();
  for (;;) {
    const before = places();
    await drawn();
    const found = moving(), now = places();
    if (!found.length && now === before) return "";
    if (performance.now() - begun > most) return found.join("\\n") || `boxes, from ${before} to ${now}`;
  }
}"""
)
# Streamlit asks for these under a deep link's address first, before it finds them at the root.
_EXPECTED_404 = re.compile(r"/_stcore/(health|host-config)$")


class Visitor:
    """A tab on the app. `faults` collects what must never happen: script errors and requests to other hosts."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.faults: list[str] = []
        self._runs = Runs()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("websocket", self._connected)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.faults.append(f"error in the page: {error}"))
        page.on("request", self._asked)

    def _connected(self, socket: WebSocket) -> None:
        self._socket, self._runs = socket, Runs()
        socket.on("framesent", self._runs.sent)
        socket.on("framereceived", self._runs.received)

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
        """Wait until a page with a title is there and stands still."""
        self.main.get_by_role("heading", level=1).wait_for()
        self.still()

    def settle(self) -> None:
        """Wait until no run is under way that the visitor asked for, or that renews the page; and it is drawn."""
        while not self.is_settled():
            self._wait_until(lambda: not self._runs.under_way)

    def is_settled(self) -> bool:
        """Whether no such run is under way, once all that has arrived is drawn."""
        self.page.evaluate("async () => {" + _DRAWN + "await drawn()}")
        return not self._runs.under_way

    def _wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of the runs, which change by what the server says alone."""
        try:
            with self._socket.expect_event("framereceived", lambda _: holds(), timeout=TIMEOUT_MS):
                pass
        except TimeoutError as error:
            raise AssertionError(f"On {self.page.url} no run came to its end: {self._runs}") from error

    def still(self) -> None:
        """Wait until nothing on the page moves: before its layout, its colours or a whole table is looked at."""
        self.settle()
        moving = self.page.evaluate(_STILL, TIMEOUT_MS)
        assert not moving, f"This doesn't come to rest on {self.page.url}: {moving}"

    @contextmanager
    def a_run(self) -> Iterator[None]:
        """Around what starts a run: waits until that run, and any that it starts anew by itself, is over and drawn.

        It begins and ends once nothing moves: what glides away from under a click is not clicked. Parts of the page
        that renew themselves ask for runs of their own meanwhile; those are not waited for.
        """
        self.still()
        runs, before = self._runs, self._runs.n_asked
        yield
        if runs is self._runs and not (runs.n_asked > before and not runs.under_way):
            self._wait_until(lambda: runs.n_asked > before and not runs.under_way)
        self.still()

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
        """Choose a segment by its label; `check` a radio button, whose input lies under what is seen of it."""
        with self.a_run():
            self.main.get_by_role("radio", name=label, exact=True).click()

    def box(self, label: str) -> Locator:
        """The select box of this label."""
        return self.main.get_by_role("combobox", name=label, exact=True)

    def pick(self, label: str, option: str, *, in_form: bool = False) -> None:
        """Choose an option of a select box, and wait for the run that follows outside a form."""
        self.box(label).scroll_into_view_if_needed()
        self.still()  # a page that is still scrolling closes the list
        with nullcontext() if in_form else self.a_run():
            self.box(label).click()
            self.page.get_by_role("option", name=option, exact=True).click()
        expect(self.box(label)).to_have_value(option)

    def check(self, label: str) -> None:
        """Check a box, or choose a radio button, by pressing its label."""
        with self.a_run():
            self.main.get_by_text(label, exact=True).click()

    def turn_to(self, tab: str) -> None:
        """Choose a tab of the page, whether or not a run fills it."""
        self.still()
        self.main.get_by_role("tab", name=tab, exact=True).click()
        self.still()

    def unfold(self, label: str) -> None:
        """Open an expander, and wait until it is open: what it holds moves until then, away from under a click."""
        self.still()
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
        self.still()
        with self.page.expect_download() as caught:
            self.main.get_by_role("button", name=label, exact=True).click()
        return Path(caught.value.path()).read_bytes()

    def publication(self) -> bytes:
        """The zip to publish, made and downloaded on the Export page."""
        return Path(self.published().path()).read_bytes()

    def published(self) -> Download:
        """The same as the browser has it, with the name that it saves it under."""
        self.press("Make the dataset to publish (zip)")
        button = self.main.get_by_role("button", name=re.compile(r"^Download the dataset \(zip"))
        button.wait_for()
        self.still()
        with self.page.expect_download() as caught:
            button.click()
        return caught.value

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
        expect(self.main).to_contain_text(text)

    def check_no_error(self) -> None:
        """No red box, no exception on the page."""
        for kind in ("stAlertContentError", "stException"):
            found = self.main.get_by_test_id(kind)
            assert found.count() == 0, found.first.inner_text()


class Runs:
    """The runs of the app in one tab, by the messages between page and server.

    What is followed is what the visitor asked for, up to the end of the last run that it led to, and runs of the whole
    page whoever asked for them. Runs of a part that renews itself every second are left out: they end all the time.
    """

    def __init__(self) -> None:
        self.n_asked = 0
        self._waiting: set[str] = set()  # what no run has begun with: ids of fragments, "" for the whole page
        self._current = ""  # the id of the run that is waited for; _NEXT where the server is about to begin it

    def __str__(self) -> str:
        return f"{self.n_asked} were asked for, waiting {sorted(self._waiting)}, running {self._current!r}"

    @property
    def under_way(self) -> bool:
        return bool(self._waiting or self._current)

    def sent(self, frame: str | bytes) -> None:
        """A message to the server."""
        message = BackMsg() if isinstance(frame, str) else BackMsg.FromString(frame)
        if message.WhichOneof("type") == "rerun_script" and not message.rerun_script.is_auto_rerun:
            self.n_asked += 1
            self._waiting.add(message.rerun_script.fragment_id)

    def received(self, frame: str | bytes) -> None:
        """A message of the server."""
        message = ForwardMsg() if isinstance(frame, str) else ForwardMsg.FromString(frame)
        run = message.metadata.run
        if message.WhichOneof("type") == "new_session":
            self._begun(run.script_run_id, set(run.fragment_ids))
        elif message.WhichOneof("type") == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                self._current = _NEXT
            elif run.script_run_id in (self._current, ""):
                self._current = ""

    def _begun(self, run: str, fragments: set[str]) -> None:
        wanted = self._waiting & fragments if fragments else self._waiting
        if wanted or not fragments or self._current == _NEXT:
            self._current = run
        self._waiting = self._waiting - wanted


_NEXT = "next"
