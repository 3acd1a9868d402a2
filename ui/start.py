"""What the app does once at its start, what happens to an error that nobody foresaw, and the headers of its answers."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys
import threading
import webbrowser
from io import TextIOWrapper

import click
import sqlalchemy as sa
import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.base.durable import private
from core.errors import RunoffError
from core.jobs import lifecycle
from core.store import Store, open_store
from core.store.projects.demo import ensure_demo
from core.voting import process
from ui.shared.frame import show_error

log = logging.getLogger("runoff")


def prepare() -> None:
    """Open the workspace, clear what a crash left, make the demo, and load what pages will need.

    Nothing here keeps the app from starting: what goes wrong is logged, and pages say what they can't do.
    """
    try:
        store = open_store()
        keep_log(store)
        lifecycle.sweep(store)
        ensure_demo(store)
    except (RunoffError, OSError, sa.exc.SQLAlchemyError) as error:
        log.error("The start is not complete.", exc_info=error)
    _warm_up()


class _PrivateLog(logging.handlers.RotatingFileHandler):
    """A log with the rights of what is in a workspace."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, opener=private)


def keep_log(store: Store) -> None:
    """Write what goes wrong to runoff.log in the workspace."""
    if not any(isinstance(handler, logging.handlers.RotatingFileHandler) for handler in log.handlers):
        handler = _PrivateLog(store.folder / "runoff.log", maxBytes=1_000_000, backupCount=2, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)


def _warm_up() -> None:
    """Import now what the first click would otherwise wait for, and draw without having each part of a chart checked
    against Vega-Lite's schema, which takes a fifth of a chart's time: whole charts are checked as they are drawn."""
    from altair.utils import schemapi

    schemapi.disable_debug_mode()
    import core.charts.campaign_charts
    import core.evaluation
    import core.views.collect.collect_page
    import core.views.embeddings
    import core.views.evaluate.evaluate_page
    import core.views.scores.scores_page  # noqa: F401


def silence_server() -> None:
    """Leave out the server's messages about its start and stop; warnings and errors stay."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)


def announce(*, browser: bool) -> None:
    """Tell where the app is, in place of Streamlit's own welcome, and open it in a browser if asked to.

    The server listens already, so a browser that comes early only waits.
    """
    port = st.get_option("server.port")
    host = st.get_option("server.address")
    if host in ("0.0.0.0", "::", None):  # nosec B104 # compared with, not bound to
        click.echo(f"Runoff is open on port {port} of every network of this machine. Ctrl-C ends it.")
        return
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    click.echo(f"Runoff is open at {url}. Ctrl-C ends it.")
    if browser:
        threading.Thread(target=_open_browser, args=(url,), daemon=True).start()


def end() -> None:
    """What ends with the app: the voting page, where the app started it."""
    if process.stop_started():
        click.echo("The voting page ended with Runoff. Voters continue where they were once it is served again.")


def _open_browser(url: str) -> None:
    # Where there is no screen, only browsers for terminals could be found, and they would take this one.
    has_screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    )
    if not has_screen or not webbrowser.open(url):
        click.echo(f"There is no browser here that could be opened: open {url} in one yourself.")


def on_script_error(error: Exception) -> bool:
    """Show a plain sentence instead of a traceback; the traceback goes to the log."""
    if isinstance(error, RunoffError):
        show_error(error)
        return True
    log.error("A page failed.", exc_info=error)
    st.error(
        f"Something went wrong in the program ({type(error).__name__}). What was saved before is safe. Reload "
        "the page; if it happens again, please report it with the end of runoff.log from the workspace."
    )
    return True


# In a frame of another page the owner could be led to press buttons without seeing them; Streamlit lets any page have
# it in one, and those of its cloud, where anybody may put a page, send it messages there.
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class OwnersHeaders:
    """Puts `HEADERS` on every answer; what an answer says itself stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_safely if scope["type"] == "http" else send)
