"""What goes with a project, an upload or a voter's votes, in a sentence."""

from __future__ import annotations

from ..base.plurals import many
from ..store.votes.at_stake import AtStake
from .words import moment

DELETES = "This deletes {what}."
TAKES_OUT = "This takes {what} out of the count."


def said(sentence: str, stake: AtStake, *, noun: str = "vote", whom: str = "") -> str:
    """`DELETES` or `TAKES_OUT`, with what goes; of voters, or of `whom`.

    >>> said(DELETES, AtStake(1234, 20, "2026-11-28T14:03:05.678901+00:00"))
    'This deletes 1,234 votes of 20 voters, the last from 2026-11-28 14:03 UTC.'
    >>> said(TAKES_OUT, AtStake(0, 0, None), noun="answer", whom="Anna")
    'This takes 0 answers of Anna out of the count.'
    """
    last = f", the last from {moment(stake.last)} UTC" if stake.last is not None else ""
    return sentence.format(what=f"{many(stake.votes, noun)} of {whom or many(stake.voters, 'voter')}{last}")
