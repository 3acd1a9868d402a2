"""What the collect page shows: the ballots in a row, how far the open one is, the uploads, and what may be done."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sqlalchemy as sa

from ...base.plurals import many
from ...plan import Plan
from ...store import Store
from ...store.ballots.ballots import Ballot, ballots_of, called, pilot_of, sentence_start
from ...store.projects.plans import PlanSettings, settings_for, settings_of
from ...store.schema.ballots import CAMPAIGN
from ...store.tokens.areas import n_items_of
from ...store.votes.tallies import Progress, progress_of
from ...store.votes.uploads import Upload, uploads_of
from .dealing import Dealing, dealing_of


@dataclass(frozen=True)
class Stage:
    """One ballot of the plan, still to come; one that is drawn is a `DrawnStage`."""

    number: int
    n_items: int
    n_comparisons: int

    @property
    def state(self) -> str:
        """planned, open or closed."""
        return "planned"

    @property
    def called(self) -> str:
        """What sentences call it: "ballot 2"."""
        return called(self.number, CAMPAIGN)

    @property
    def title(self) -> str:
        """Its heading."""
        name = sentence_start(self.called).removeprefix("The ").capitalize()
        return f"{name}: {self.n_comparisons:,} comparisons of {self.n_items:,} items"


@dataclass(frozen=True)
class DrawnStage(Stage):
    """A ballot that was drawn: its row, and how far it has come."""

    ballot: Ballot
    progress: Progress

    @property
    def state(self) -> str:
        return self.ballot.state

    @property
    def called(self) -> str:
        """What sentences call it: "ballot 2", "the pilot"."""
        return self.ballot.called


@dataclass(frozen=True)
class CollectView:
    """The stages of the campaign, the uploads, and of the open ballot: warnings before closing, who voted how much.

    `settings` are those that the open ballot was drawn by, else the plan's. `pilot` is the pilot, if one was drawn.
    """

    settings: PlanSettings | None
    plan: Plan | None
    stages: tuple[Stage, ...]
    uploads: tuple[Upload, ...]
    warnings: tuple[str, ...]
    dealing: Dealing | None = None
    pilot: DrawnStage | None = None

    @property
    def drawn(self) -> tuple[DrawnStage, ...]:
        """The ballots of the plan that were drawn, the pilot apart."""
        return tuple(stage for stage in self.stages if isinstance(stage, DrawnStage))

    @property
    def open_stage(self) -> DrawnStage | None:
        """The open ballot, or the open pilot where no ballot is open."""
        of_ballot = next((stage for stage in self.drawn if stage.state == "open"), None)
        return self.pilot if of_ballot is None and self.pilot and self.pilot.state == "open" else of_ballot

    @property
    def headline(self) -> str:
        """Where the campaign stands, in a sentence or two."""
        stage = self.open_stage
        if stage is not None:
            message = "**Ballot {number} of {ballots} is open: {n:,} of {wanted:,} comparisons have a vote.**"
            if stage.ballot.is_pilot:
                message = "**The pilot is open: {n:,} of {wanted:,} comparisons have a vote.**"
            n, wanted = stage.progress.answered, stage.progress.wanted
            return message.format(number=stage.number, ballots=len(self.stages), n=n, wanted=wanted)
        if self.next_number is None:
            return "**All ballots are closed: the plan is carried out.**"
        if self.next_number == 1 and self.pilot:
            return "**No ballot is drawn yet.** Drawing it fixes the plan."
        if self.next_number == 1:
            return "**No ballot is drawn yet.** Drawing it fixes the token lists and the plan."
        last = self.next_number - 1
        return f"**Ballot {last} is closed.** The next one keeps the best of its items."

    @property
    def last_closed(self) -> DrawnStage | None:
        return next((stage for stage in reversed(self.drawn) if stage.state == "closed"), None)

    @property
    def next_number(self) -> int | None:
        """The ballot that can be drawn now; None where one is open or all are drawn."""
        if self.open_stage is not None:
            return None
        return next((stage.number for stage in self.stages if stage.state == "planned"), None)


def load(store: Store, project_id: str, area_id: int | None = None) -> CollectView:
    """The collect view of a ranking."""
    with store.read() as conn:
        found = settings_of(conn, project_id, area_id)
        drawn = {ballot.number: _drawn(conn, ballot) for ballot in ballots_of(conn, project_id, area_id)}
        n_items = n_items_of(conn, project_id, area_id)
        of_number_0 = pilot_of(conn, project_id, area_id)
        pilot = None if of_number_0 is None else _drawn(conn, of_number_0)
        of_pilot = settings_for(conn, pilot.ballot.id) if pilot is not None else None
        uploads = tuple(uploads_of(conn, project_id, area_id))
    if found is None or n_items < 2:
        return CollectView(found[1] if found else None, None, (), (), ())
    settings = found[1]
    plan = settings.plan(n_items)
    stages = tuple(
        drawn.get(number) or Stage(number, size, comparisons)
        for number, (size, comparisons) in enumerate(zip(plan.sizes, plan.comparisons, strict=True), start=1)
    )
    view = CollectView(settings, plan, stages, uploads, (), pilot=pilot)
    of_open = view.open_stage
    if of_open is None:
        return view
    if of_open is pilot:
        return replace(view, settings=of_pilot, warnings=closing_warnings(of_open.progress, None))
    dealing = dealing_of(of_open.progress, settings, n_items, of_open.number)
    return replace(view, warnings=closing_warnings(of_open.progress, dealing), dealing=dealing)


def _drawn(conn: sa.Connection, ballot: Ballot) -> DrawnStage:
    """A drawn ballot is as large as it was drawn: one of an archive needn't follow a plan."""
    return DrawnStage(ballot.number, ballot.n_items, ballot.n_comparisons, ballot, progress_of(conn, ballot.id))


def closing_warnings(progress: Progress, dealing: Dealing | None) -> tuple[str, ...]:
    """What a person should know before closing a ballot in this state; a pilot has no `dealing`, and scores no item."""
    warnings = []
    if not progress.is_complete:
        n = progress.wanted - progress.answered
        warnings.append(f"{n:,} of {progress.wanted:,} comparisons have no vote.")
    if dealing is None:
        return tuple(warnings)
    if progress.short_items:
        warnings.append(f"{many(progress.short_items, 'item')} with fewer votes than planned.")
    if progress.unvoted_items:
        warnings.append(f"{many(progress.unvoted_items, 'item')} with no vote at all.")
    if uneven := dealing.warning():
        warnings.append(uneven)
    return tuple(warnings)
