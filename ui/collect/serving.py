"""The voting page as it is served: one button opens and serves it, its link with a QR code, who can reach it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from core.base.processes import network_address
from core.errors import RunoffError
from core.store import Store
from core.views.collect import voting as views
from core.voting import process
from core.voting.process import Running
from ui.collect.copy_button import copy_button
from ui.shared import frame

HERE = "127.0.0.1"
QR_WIDTH = 190  # pixels


def serving_box(
    store: Store, state: str | None, code: str | None, *, key: str, note: str, open_voting: Callable[[], Any]
) -> None:
    """The way from a drawn ballot to voters: the switch for the network, then one button, or the link.

    state : of the voting page, None where it was never opened; code : of its link; note : what voters get, beside the
    button; open_voting : opens it, once it is served.
    """
    servers = process.running_servers(store)
    is_open = state not in (None, "closed")
    if is_open and servers and code is not None:
        _link(views.link(_base(servers), code), key)
    for running in servers:
        st.caption(f":material/power: {_served(running)}")
    host = _network_switch(store, servers, key)
    if is_open and servers:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Serve the voting page" if is_open else "Open the voting page"
        pressed = st.button(label, type="primary", icon=":material/how_to_vote:")
        st.caption("Nobody can reach the page until it is served." if is_open else note)
    if pressed and (servers or _done(partial(process.start_server, store, host=host))):
        if is_open:
            st.rerun()
        open_voting()


def base_field(servers: list[Running]) -> str:
    """The address at which voters come, to be changed where a web server stands before the page; as it is now."""
    address = _address(servers)
    typed: str = st.text_input(
        "Address at which voters reach it",
        address,
        help="Where your web server passes voters on to this page, such as https://vote.example.org.",
        key=f"voting-base-{address}",
        persist_state="session",
    )
    return typed


def _address(servers: list[Running]) -> str:
    return servers[0].url if servers else f"http://localhost:{process.PORT}"


def _base(servers: list[Running]) -> str:
    address = _address(servers)
    return st.session_state.get(f"voting-base-{address}") or address


def _link(link: str, key: str) -> None:
    """The link, to be opened, copied, or pointed a phone's camera at."""
    local = views.is_local(link)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(width="stretch" if local else 460):
            st.code(link, language=None, wrap_lines=True)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.link_button("Open", link, icon=":material/open_in_new:")
                copy_button("Copy", link, key=f"copy-{key}")
        if not local:
            st.image(views.qr_code(link), width=QR_WIDTH, alt=f"QR code of the link {link}")


def _served(running: Running) -> str:
    """Where a server listens, who reaches it, and when it ends."""
    reach = "for this machine only" if running.is_local else "for others on its network too"
    end = (
        "It ends with Runoff."
        if running.ends_with_app
        else f"Runoff didn't start it here (process {running.pid}), and it goes on when Runoff ends."
    )
    return f"Served at {frame.plain(running.url)}, {reach}. {end}"


def _network_switch(store: Store, servers: list[Running], key: str) -> str:
    """Whether people in this network may come, with what that means; the address of this machine to serve at."""
    others = [running for running in servers if not running.ends_with_app]
    if others:
        return HERE
    there, address = next(iter(servers), None), network_address()
    is_on = there is not None and not there.is_local
    place = there.host if there else "none"
    wanted = st.toggle(
        "People on this network may vote",
        is_on,
        key=f"network-{key}-{place}",
        disabled=address is None and not is_on,
        help="This machine isn't on a network."
        if address is None
        else "When off, only this machine reaches the page: to try it out, or behind a web server with TLS "
        "(docs/voting.md).",
    )
    host = address if wanted and address else HERE
    if wanted:
        own = st.get_option("server.address") in ("localhost", HERE, "::1")
        yours = "Your own pages stay on this machine." if own else "Runoff's own pages are open to a network as well."
        st.warning(
            "Every device on this machine's network can open the page, with the link. There is no TLS: names and votes "
            f"can be read on their way, so do this on a network that you trust. {yours}",
            icon=":material/wifi:",
        )
    if there is not None and wanted != is_on and _done(partial(process.move_server, store, there, host)):
        st.rerun()
    return host


def _done(action: Callable[[], Any]) -> bool:
    """Start or stop a server; an error is shown in place."""
    try:
        with st.spinner("Starting the voting page …"):
            action()
    except RunoffError as error:
        frame.show_error(error)
        return False
    return True


def stop_serving_button(store: Store) -> None:
    """The button that ends all servers of the workspace, where there are any."""
    servers = process.running_servers(store)
    if not servers:
        return
    label = "Stop serving the voting page" if len(servers) == 1 else "Stop all servers of the voting page"
    about = "The link stops working, but voting stays open. Once it is served again, voters continue where they were."
    pressed = st.button(label, icon=":material/power_off:", help=about)
    if pressed and _done(partial(process.stop_servers, store)):
        st.rerun()
