"""The batch and the task page as files to hand over: Turkle and the Mechanical Turk format share them."""

from __future__ import annotations

from functools import partial

from ..questions.batch import write_batch
from ..questions.template import template
from ..votes.platform import Outgoing, PlatformFile

CSV, HTML = "text/csv", "text/html"


def batch_file(ballot: Outgoing, note: str, *, ascii_only: bool = False) -> PlatformFile:
    """The batch of a ballot, or of what it lacks."""
    name = f"{ballot.part}-batch.csv" if not ballot.is_top_up else f"{ballot.part}.csv"
    label = "Top-up batch (CSV)" if ballot.is_top_up else "Batch (CSV)"

    def make() -> bytes:
        return write_batch(ballot.comparisons(), only=ballot.only(), ascii_only=ascii_only)

    return PlatformFile(name, label, note, CSV, make)


def page_file(ballot: Outgoing, target: str, label: str, note: str) -> PlatformFile:
    """The task page for `target` (see `template`)."""
    return PlatformFile(f"{ballot.code}-task-{target}.html", label, note, HTML, partial(_page, ballot, target))


def page_of(ballot: Outgoing, target: str) -> str:
    """The ballot's task page as a template for `target`."""
    return template(
        n_comparisons=ballot.widest,
        notion=ballot.notion,
        ties_allowed=ballot.ties_allowed,
        question=ballot.question,
        instructions=ballot.instructions,
        examples=ballot.examples,
        target=target,
        language=ballot.language,
    )


def _page(ballot: Outgoing, target: str) -> bytes:
    return page_of(ballot, target).encode("utf-8")
