"""The ways to collect votes on a ballot: what each is called, which one is in use, and the ballot as it goes out."""

from __future__ import annotations

from collections.abc import Sequence

from ...store import Store
from ...store.ballots.ballot_rows import Ballot, read_comparisons, unanswered
from ...store.votes.publications import publications_of
from ...store.votes.uploads import Upload
from ...store.voting.owner_commands import voting_of
from ...votes.platform import Outgoing
from .tasks import TaskPages

WAYS = {
    "page": ("Voting page", "People open a link to Runoff's own page; each vote is stored at once."),
    "turkle": ("Turkle", "A free crowdsourcing server of your own; Runoff can publish there and fetch the votes."),
    "labelstudio": ("Label Studio", "An annotation tool; tasks go there as a file and an export comes back."),
    "prolific": ("Prolific", "Paid participants from Prolific, who vote on Runoff's own page."),
    "colleagues": ("Files for colleagues", "Tables to fill in, or a page in a file that needs no server."),
    "mturk": (
        "Mechanical Turk's format",
        "For programs that take Mechanical Turk's files; Turk itself closed on 30 September 2026.",
    ),
}
_OF_UPLOADS = {"turkle": "turkle", "mturk": "mturk", "labelstudio": "labelstudio", "plain": "colleagues"}


def way_in_use(store: Store, ballot: Ballot, uploads: Sequence[Upload]) -> str:
    """The way that votes on this ballot, else on the last one, came; the voting page where none did."""
    with store.read() as conn:
        if voting_of(conn, ballot.id) is not None:
            return "page"
        if publications_of(conn, ballot.id):
            return "turkle"
    return next((_OF_UPLOADS[upload.platform] for upload in uploads if upload.platform in _OF_UPLOADS), "page")


def outgoing(store: Store, project_id: str, ballot: Ballot, pages: TaskPages, *, missing: bool = False) -> Outgoing:
    """The ballot for a platform; with `missing` only the comparisons that want votes. Nothing is read yet."""
    this = (store, project_id, ballot.number, ballot.area_id)
    return Outgoing(
        code=ballot.code,
        widest=pages.widest,
        notion=pages.notion,
        ties_allowed=pages.settings.ties_allowed,
        comparisons=lambda: read_comparisons(*this),
        only=(lambda: unanswered(*this)) if missing else (lambda: None),
        is_top_up=missing,
        wording=pages.settings.wording,
    )
