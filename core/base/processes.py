"""Processes of this machine, and the ports that they listen on."""

from __future__ import annotations

import os
import socket
import sys

TRIED = 50  # ports, one after the other, for one that is free


def is_alive(pid: int) -> bool:
    """Whether a process has this id; on Windows always, where no harmless signal asks: heartbeats decide there."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def refused(host: str, port: int) -> str | None:
    """Why a port can't be listened on; None where it can."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            if os.name == "posix":  # as servers do: a port that was just left is free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        return error.strerror or str(error)
    return None


def free_port(host: str, start: int) -> int | None:
    """The first port from `start` on that can be listened on; None where none of `TRIED` can."""
    return next((port for port in range(start, min(start + TRIED, 65536)) if refused(host, port) is None), None)
