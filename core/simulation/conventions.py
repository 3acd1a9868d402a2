"""Two sets of conventions, each with the protocols it has: the paper's text, and the authors' released code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..protocols import PROTOCOLS, Protocol
from ..tables import Floats, Ints
from ..voters.model import decide, exponential, power_law
from . import released

Decide = Callable[[Floats, Floats, Floats, np.random.Generator], Floats]


@dataclass(frozen=True)
class Convention:
    """What a simulation can be done in two ways.

    amplitude : σ_v(z)/σ* of each item, from z.
    distributions : the underlying similarities by name, each made for a number of items.
    decide : votes from two opinions and ε, as in `core.voters.model.decide`.
    assign : who answers which comparison, from the numbers of comparisons and voters.
    rankings : from scores, truth and the order of the first ballot's items, the two vectors that the metrics compare.
    protocols : those there are, by name.
    """

    name: str
    amplitude: Callable[[Floats], Floats]
    distributions: Mapping[str, Callable[[int], Floats]]
    decide: Decide
    assign: Callable[[int, int, np.random.Generator], Ints]
    rankings: Callable[[Floats, Floats, Ints], tuple[Floats, Floats]]
    protocols: Mapping[str, Protocol]


def _assign_evenly(n_comparisons: int, n_voters: int, rng: np.random.Generator) -> Ints:
    """Equally many each within one; the rows of a drawn ballot are in random order already."""
    return np.resize(rng.permutation(n_voters), n_comparisons)


PAPER = Convention(
    name="paper",
    amplitude=lambda z: 1.0 - z * z,
    distributions={"exponential": exponential, "power_law": power_law},
    decide=decide,
    assign=_assign_evenly,
    rankings=lambda scores, truth, order: (scores, truth),
    protocols=PROTOCOLS,
)
RELEASED = Convention(
    name="released",
    amplitude=released.amplitude,
    distributions={"exponential": released.exponential, "power_law": released.power_law},
    decide=released.decide,
    assign=released.assign,
    rankings=released.rankings,
    protocols={protocol.name: protocol for protocol in (released.ReleasedUniform(), released.Released())},
)
CONVENTIONS = {convention.name: convention for convention in (PAPER, RELEASED)}


def convention_of(name: str) -> Convention:
    """The convention of this name, or `InputError`."""
    if name not in CONVENTIONS:
        raise InputError(f"The convention must be {_either(CONVENTIONS)}, found {name!r}.")
    return CONVENTIONS[name]


def method_of(convention: Convention, protocol: str) -> Protocol:
    """The protocol of this name under a convention, or `InputError`."""
    if protocol not in convention.protocols:
        raise InputError(
            f"Under the convention {convention.name!r} the protocol must be {_either(convention.protocols)}, "
            f"found {protocol!r}."
        )
    return convention.protocols[protocol]


def _either(names: Mapping[str, object]) -> str:
    return " or ".join(repr(name) for name in names)
