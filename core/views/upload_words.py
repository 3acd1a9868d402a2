"""What result files hold and what taking them, or taking them back, changed, in words."""

from __future__ import annotations

from ..effects import Effect
from ..spoken import say, say_many, to_say
from ..store.uploads import Upload
from .effects import top_sentence, voters_said, votes_said
from .words import many, moment

CLASSES = {
    "new": (to_say("new votes"), to_say("will be counted")),
    "check": (to_say("answers to checks"), to_say("will be kept; no score reads them")),
    "unknown": (to_say("“I don't know a word here”"), to_say("will be logged; no vote")),
    "changed": (to_say("changed since the last upload"), to_say("will be updated")),
    "rejected": (to_say("rejected by the owner"), to_say("will be kept, not counted")),
    "repeat": (to_say("repeats by the same voter"), to_say("will be kept, not counted")),
    "excluded": (to_say("voters who are left out"), to_say("will be kept, not counted")),
    "contradicts": (
        to_say("differ from the stored answer"),
        to_say("nothing happens: withdraw the first upload to replace it"),
    ),
    "known": (to_say("known already"), to_say("nothing happens")),
    "no_answer": (to_say("no answer"), to_say("left out")),
    "other_ballot": (to_say("unknown comparison (not of this ballot)"), to_say("left out")),
    "unreadable": (to_say("unreadable"), to_say("left out")),
}


def taken_said(name: str, counts: dict[str, int], effect: Effect) -> str:
    """What an accepted upload changed, in a sentence; see `votes.Accepted`."""
    new = counts.get("new", 0)
    votes, voters = many(new, "new vote"), voters_said(effect)
    parts = [say("{votes} of {voters}", votes=votes, voters=voters)] if new else []
    kinds = ("changed", "rejected", "repeat", "unknown")
    parts += [say("{n:,} {kind}", n=counts[kind], kind=say(CLASSES[kind][0])) for kind in kinds if counts.get(kind)]
    told = say("{file} is taken: {counts}.", file=name, counts=", ".join(parts))
    return f"{told} {top_sentence(effect)}".rstrip()


def withdrawn_said(name: str, n: int, effect: Effect) -> str:
    """What the withdrawal of an upload with n answers changed, in a sentence."""
    told = say_many(
        n,
        "{answers} of {file} counts no more: {votes}.",
        "{answers} of {file} count no more: {votes}.",
        answers=many(n, "answer"),
        file=name,
        votes=votes_said(effect),
    )
    return f"{told} {top_sentence(effect)}".rstrip()


def state_of(upload: Upload) -> str:
    """Whether an upload counts, and what its withdrawal changed."""
    if not upload.withdrawn_at:
        return say("counted")
    time = moment(upload.withdrawn_at)
    if not upload.withdrawal:
        return say("withdrawn on {time}", time=time)
    told = say("withdrawn on {time}: {votes}.", time=time, votes=votes_said(upload.withdrawal))
    return f"{told} {top_sentence(upload.withdrawal)}".rstrip()
