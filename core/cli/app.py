"""Bare `runoff`, which opens the app, and `runoff vote`, which serves voters."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from typing import NoReturn

import click

from ..base.processes import free_port, refused
from ..errors import RunoffError
from ..installed import HOME, VOTING

PORT = 8501
HOST = "127.0.0.1"
# Streamlit's command line, which says “Aborted!” of an orderly end by Ctrl-C unless that comes as an exit.
STREAMLIT = """import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit())
from streamlit.web.cli import main
main(prog_name="streamlit")"""


def open_app(port: int = PORT, *, browser: bool = True) -> NoReturn:
    """Become the app's server, which tells its address and opens a browser. `RunoffError` where it can't listen."""
    _free(port)
    # Streamlit reads the settings that lie beside app.py. -P: a file of the folder where this was typed is no module.
    command = [sys.executable, "-P", "-c", STREAMLIT, "run", str(HOME / "app.py"), "--server.port", str(port)]
    command += ["--", "--browser"] if browser else []
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(sys.executable, command)
    # On Windows a process can't become another one: both get Ctrl-C, and this one waits for the other's end.
    with subprocess.Popen(command) as server:
        while True:
            try:
                sys.exit(server.wait())
            except KeyboardInterrupt:
                continue


def _free(port: int) -> None:
    """Nothing, where the port can be listened on; else a sentence with one that can."""
    if (reason := refused(HOST, port)) is None:
        return
    other = free_port(HOST, port + 1)
    choose = "Choose another with --port" if other is None else f"Choose another: --port {other}"
    raise RunoffError(
        f"Port {port} can't be listened on ({reason}). Runoff may be open there already: http://localhost:{port}. "
        f"{choose}."
    )


@click.command("vote", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def vote_command(arguments: tuple[str, ...]) -> None:
    """Serve the voting page to voters, by a link (`runoff vote --help`)."""
    serve = import_module(f"{VOTING}.__main__").main
    serve.main(args=list(arguments), prog_name="runoff vote", standalone_mode=False)
