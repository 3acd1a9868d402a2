"""`python -m voting`: serve the voting page of a workspace."""

from __future__ import annotations

import gc
import logging
import os
import socket
import sys
import threading
from contextlib import suppress

import click
import uvicorn

from .api import voting
from .app import make_safe_app
from .connection_limits import limited_protocol

LOCAL = ("127.0.0.1", "localhost", "::1")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen. 0.0.0.0 is every network.")
@click.option("--port", default=voting.PORT, show_default=True, type=click.IntRange(1, 65535))
@click.option("--behind-proxy", is_flag=True, help="Believe a proxy on this machine about who asks, and about https.")
@click.option("--until-input-ends", is_flag=True, hidden=True, help="End with whoever started it and holds its input.")
def main(host: str, port: int, behind_proxy: bool, until_input_ends: bool) -> None:
    """Serve the voting page of the workspace (RUNOFF_WORKSPACE) until it is stopped."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    try:
        store = voting.open_voters_store()
    except voting.RunoffError as error:
        sys.exit(str(error))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if os.name == "posix":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        sys.exit(f"The voting page can't listen on {host}, port {port} ({error.strerror}). Choose another --port.")
    if host in LOCAL:
        click.echo(f"Voting on http://{host}:{port} for this machine only; --host lets others in (see docs/voting.md).")
    else:
        click.echo(f"Voting on {host}, port {port}: others on this network can reach it, without TLS (docs/voting.md).")
    click.echo(f"Votes go to {voting.kept_in(store)}.")
    sys.stdout.flush()
    voting.announce(store, host, port)
    config = uvicorn.Config(
        make_safe_app(store),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=behind_proxy,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_keep_alive=15,
        limit_concurrency=1000,
        backlog=512,
        timeout_graceful_shutdown=5,
        http=limited_protocol(),
        ws="none",
    )
    server = uvicorn.Server(config)
    # All voters wait while garbage is looked for; what the libraries hold need not be looked at each time.
    gc.collect()
    gc.freeze()
    if until_input_ends:
        threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
    with suppress(KeyboardInterrupt):  # which is how Ctrl-C comes out, once all is in order
        server.run(sockets=[listener])


def _end_with_input(server: uvicorn.Server) -> None:
    """Ask the server to end once nobody holds the other end of its input: that is so however a process went."""
    with suppress(OSError):
        while os.read(0, 1024):
            pass
    server.should_exit = True


if __name__ == "__main__":
    main()
