"""What result files hold and what taking them, or taking them back, changed, in words."""

from __future__ import annotations

from ..effects import Effect
from ..plurals import many, plural
from ..store.uploads import Upload
from .effects import top_sentence, voters_said, votes_said
from .words import moment

CLASSES = {
    "new": ("new votes", "will be counted"),
    "check": ("answers to checks", "will be kept; no score reads them"),
    "unknown": ("“I don't know a word here”", "will be logged; no vote"),
    "changed": ("changed since the last upload", "will be updated"),
    "rejected": ("rejected by the owner", "will be kept, not counted"),
    "repeat": ("repeats by the same voter", "will be kept, not counted"),
    "excluded": ("voters who are left out", "will be kept, not counted"),
    "asked": ("wait for what you say of their values", "left out until you say it"),
    "contradicts": ("differ from the stored answer", "nothing happens: withdraw the first upload to replace it"),
    "known": ("known already", "nothing happens"),
    "no_answer": ("no answer", "left out"),
    "other_ballot": ("unknown comparison (not of this ballot)", "left out"),
    "unreadable": ("unreadable", "left out"),
}


def taken_said(name: str, counts: dict[str, int], effect: Effect) -> str:
    """What an accepted upload changed, in a sentence; see `votes.Accepted`."""
    new = counts.get("new", 0)
    votes, voters = many(new, "new vote"), voters_said(effect)
    parts = [f"{votes} of {voters}"] if new else []
    kinds = ("changed", "rejected", "repeat", "unknown")
    parts += [f"{counts[kind]:,} {CLASSES[kind][0]}" for kind in kinds if counts.get(kind)]
    told = f"{name} is taken: {', '.join(parts)}."
    return f"{told} {top_sentence(effect)}".rstrip()


def withdrawn_said(name: str, n: int, effect: Effect) -> str:
    """What the withdrawal of an upload with n answers changed, in a sentence."""
    told = plural(
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
        return "counted"
    time = moment(upload.withdrawn_at)
    if not upload.withdrawal:
        return f"withdrawn on {time}"
    told = f"withdrawn on {time}: {votes_said(upload.withdrawal)}."
    return f"{told} {top_sentence(upload.withdrawal)}".rstrip()
