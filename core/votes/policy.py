"""What counts of the answers that could count or not: a choice of the owner, with a default that is stated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import InputError

REJECTED = {"leave out": "not counted", "count": "counted like the others"}
REPEATS = {"earliest": "the earliest counts", "latest": "the latest counts", "none": "none of them counts"}


@dataclass(frozen=True)
class Policy:
    """`rejected`: what becomes of answers whose assignment the owner rejected (one of `REJECTED`); `repeats`: which of
    a voter's several votes on one comparison counts (one of `REPEATS`).

    Votes of the same time are ordered by their assignment's id; a vote whose time is unknown counts only where no
    time is known. Whatever is chosen, every answer is kept, so that another choice can be made later.
    """

    rejected: str = "leave out"
    repeats: str = "earliest"

    def __post_init__(self) -> None:
        for name, value, choices in (("rejected", self.rejected, REJECTED), ("repeats", self.repeats, REPEATS)):
            if value not in choices:
                raise InputError(f"The policy for {name} is one of {', '.join(choices)}; found {value!r}.")

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> Policy:
        """The policy as a project keeps it; None and what is missing stand for the default."""
        known = {name: str(stored[name]) for name in ("rejected", "repeats") if stored and name in stored}
        return cls(**known)

    def stored(self) -> dict[str, Any]:
        """The policy as a project keeps it."""
        return asdict(self)

    @property
    def counts_rejected(self) -> bool:
        return self.rejected == "count"


DEFAULT = Policy()
