"""What the collect page shows: the ballots in a row, how far the open one is, the uploads, and what may be done."""

from __future__ import annotations

from dataclasses import dataclass

from ..plan import Plan
from ..store import Store
from ..store.areas import n_items_of
from ..store.ballots import Ballot, ballots_of
from ..store.plans import PlanSettings, settings_of
from ..store.tallies import Progress, progress_of
from ..store.uploads import Upload, uploads_of
from .dealing import Dealing, dealing_of
from .words import many


@dataclass(frozen=True)
class Stage:
    """One ballot of the plan: drawn (with its row and progress) or still to come."""

    number: int
    n_items: int
    n_comparisons: int
    ballot: Ballot | None
    progress: Progress | None

    @property
    def state(self) -> str:
        return self.ballot.state if self.ballot else "planned"


@dataclass(frozen=True)
class CollectView:
    """The stages of the campaign, the uploads, and of the open ballot: warnings before closing, who voted how much."""

    settings: PlanSettings | None
    plan: Plan | None
    stages: tuple[Stage, ...]
    uploads: tuple[Upload, ...]
    warnings: tuple[str, ...]
    dealing: Dealing | None = None

    @property
    def open_stage(self) -> Stage | None:
        return next((stage for stage in self.stages if stage.state == "open"), None)

    @property
    def last_closed(self) -> Stage | None:
        return next((stage for stage in reversed(self.stages) if stage.state == "closed"), None)

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
        ballots = {ballot.number: ballot for ballot in ballots_of(conn, project_id, area_id)}
        progress = {number: progress_of(conn, ballot.id) for number, ballot in ballots.items()}
        n_items = n_items_of(conn, project_id, area_id)
        uploads = tuple(uploads_of(conn, project_id, area_id))
    if found is None or n_items < 2:
        return CollectView(found[1] if found else None, None, (), (), ())
    settings = found[1]
    plan = settings.plan(n_items)
    stages = tuple(
        Stage(number, size, comparisons, ballots.get(number), progress.get(number))
        for number, (size, comparisons) in enumerate(zip(plan.sizes, plan.comparisons, strict=True), start=1)
    )
    of_open = next((s for s in stages if s.state == "open"), None)
    if of_open is None or of_open.progress is None:
        return CollectView(settings, plan, stages, uploads, ())
    dealing = dealing_of(of_open.progress, settings, n_items, of_open.number)
    return CollectView(settings, plan, stages, uploads, closing_warnings(of_open.progress, dealing), dealing)


def closing_warnings(progress: Progress, dealing: Dealing) -> tuple[str, ...]:
    """What a person should know before closing a ballot in this state."""
    warnings = []
    if not progress.is_complete:
        warnings.append(f"{progress.wanted - progress.answered:,} of {progress.wanted:,} comparisons have no vote.")
    if progress.short_items:
        warnings.append(f"{many(progress.short_items, 'item')} with fewer votes than planned.")
    if progress.unvoted_items:
        warnings.append(f"{many(progress.unvoted_items, 'item')} with no vote at all.")
    if uneven := dealing.warning():
        warnings.append(uneven)
    return tuple(warnings)
