"""`python -m voting`: serve the voting page of a workspace."""

from __future__ import annotations

import logging
import os
import socket
import sys

import click
import uvicorn

from .app import make_safe_app
from .door import voting
from .patience import patient

LOCAL = ("127.0.0.1", "localhost", "::1")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen. 0.0.0.0 is every network.")
@click.option("--port", default=voting.PORT, show_default=True, type=click.IntRange(1, 65535))
@click.option("--behind-proxy", is_flag=True, help="Believe a proxy on this machine about who asks, and about https.")
def main(host: str, port: int, behind_proxy: bool) -> None:
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
        http=patient(),
        ws="none",
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
