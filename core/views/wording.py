"""Short sentences and formats that views and pages share: estimates, times, agreement, what a deletion takes."""

from __future__ import annotations

from ..base.estimates import Estimate
from ..base.numbers_in_words import many, with_decimals, with_minus
from ..store.votes.uploads import AtStake
from ..trust.agreement import KrippendorffAlpha


def estimated(value: Estimate, digits: int = 3, unit: str = "") -> str:
    """An estimate with its interval, or a dash.

    >>> estimated(Estimate(0.1, 0.05, 0.2)), estimated(Estimate(0.1)), estimated(Estimate(None))
    ('0.100 (0.050 to 0.200)', '0.100', '–')
    >>> estimated(Estimate(6.04, 5.0, 7.26), 1, " s")
    '6.0 s (5.0 to 7.3)'
    """
    if value.estimate is None:
        return "–"
    text = format(value.estimate, f".{digits}f") + unit
    if value.lower is None or value.upper is None:
        return with_minus(text)
    lower, upper = (format(bound, f".{digits}f") for bound in (value.lower, value.upper))
    return with_minus(f"{text} ({lower} to {upper})")


def agreement_text(alpha: KrippendorffAlpha) -> str:
    """Krippendorff's α of comparisons that several voters answered, in a sentence."""
    return (
        f"Krippendorff's α = {with_decimals(alpha.alpha, 2)} ({alpha.interval()}), over "
        f"{many(alpha.n_units, 'comparison')} that several voters answered, "
        f"{many(alpha.n_answers, 'answer')} of {many(alpha.n_voters, 'voter')}."
    )


def moment(stored: str) -> str:
    """A time of the store for people, in UTC to the minute.

    >>> moment("2026-11-28T03:04:05.678901+00:00")
    '2026-11-28 03:04'
    """
    return stored[:16].replace("T", " ")


def to_the_second(stored: str) -> str:
    """As `moment`, with the seconds: for what else would look the same.

    >>> to_the_second("2026-11-28T03:04:05.678901+00:00")
    '2026-11-28 03:04:05'
    """
    return f"{moment(stored)}:{stored[17:19]}"


def out_of(n: int, whole: int) -> str:
    """So many of so many.

    >>> out_of(3, 1200)
    '3 of 1,200'
    """
    return f"{n:,} of {whole:,}"


def ends(lower: float, upper: float) -> str:
    """The ends of an interval, to three digits.

    >>> ends(0.1, 0.2)
    '0.100 to 0.200'
    """
    return with_minus(f"{lower:.3f} to {upper:.3f}")


DELETES = "This deletes {what}."
TAKES_OUT = "This takes {what} out of the count."


def deletion_text(sentence: str, stake: AtStake, *, noun: str = "vote", whom: str = "") -> str:
    """`DELETES` or `TAKES_OUT`, with what goes; of voters, or of `whom`.

    >>> deletion_text(DELETES, AtStake(1234, 20, "2026-11-28T14:03:05.678901+00:00"))
    'This deletes 1,234 votes of 20 voters, the last from 2026-11-28 14:03 UTC.'
    >>> deletion_text(TAKES_OUT, AtStake(0, 0, None), noun="answer", whom="Anna")
    'This takes 0 answers of Anna out of the count.'
    """
    last = f", the last from {moment(stake.last)} UTC" if stake.last is not None else ""
    return sentence.format(what=f"{many(stake.votes, noun)} of {whom or many(stake.voters, 'voter')}{last}")
