"""The protocols: how a campaign asks and scores. One is one class here and one line in `PROTOCOLS`.

Nothing outside this folder compares a protocol's name: `protocol_of` finds the object, which is asked instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InputError
from .base import Held, Mode, Protocol, ProtocolInfo, Scored, SelectedItems, Votes
from .paper import Paper, Uniform
from .runoff import Runoff

PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in (Uniform(), Paper(), Runoff())}


def protocol_of(name: str, among: Mapping[str, Protocol] = PROTOCOLS) -> Protocol:
    """The protocol of this name; `InputError` where there is none, or it isn't `among` those that are meant."""
    if name not in among:
        raise InputError(f"The protocol must be {' or '.join(map(repr, among))}, found {name!r}.")
    return among[name]


def collectable() -> dict[str, Protocol]:
    """Those that people can vote by, the one that is advised first."""
    return {name: protocol for name, protocol in reversed(PROTOCOLS.items()) if protocol.about.collectable}


__all__ = [
    "PROTOCOLS",
    "ProtocolInfo",
    "SelectedItems",
    "Held",
    "Mode",
    "Protocol",
    "Scored",
    "Votes",
    "collectable",
    "protocol_of",
]
