"""The project's state in one look, and the one next step."""

from __future__ import annotations

from dataclasses import dataclass

from ..store import Store
from ..store.areas import areas_of, n_items_of
from ..store.ballots import Ballot, ballots_of
from ..store.library import embeddings_of
from ..store.plans import settings_of
from ..store.simulated import has_simulated_votes
from ..store.tallies import Progress, progress_of
from .words import many


@dataclass(frozen=True)
class Step:
    """One step of the way: its page, what stands there, and whether it is done."""

    page: str
    title: str
    state: str
    done: bool


@dataclass(frozen=True)
class Overview:
    """Counts of the project, its steps, and what to do next (page key, label, why)."""

    n_embeddings: int
    n_areas: int
    n_tokens: int
    n_items: int
    ballots: tuple[Ballot, ...]
    n_planned: int | None
    progress: Progress | None
    simulated: bool
    steps: tuple[Step, ...]
    headline: str
    next_page: str
    next_label: str


def load(store: Store, project_id: str) -> Overview:
    """The overview of a project."""
    with store.read() as conn:
        areas = areas_of(conn, project_id)
        simulated = has_simulated_votes(conn, project_id)
        embeddings = embeddings_of(conn, project_id)
        n_items = n_items_of(conn, project_id)
        found = settings_of(conn, project_id)
        ballots = ballots_of(conn, project_id)
        progress = progress_of(conn, ballots[-1].id) if ballots else None
    n_planned = found[1].n_ballots if found else None
    n_tokens = sum(len(area.tokens) for area in areas)
    headline, page, label = next_step(n_items, n_planned, ballots, progress, len(embeddings))
    n_closed = sum(not ballot.is_open for ballot in ballots)
    steps = (
        Step("embeddings", "Embeddings", many(len(embeddings), "embedding"), bool(embeddings)),
        Step(
            "tokens",
            "Tokens",
            f"{many(len(areas), 'area')}, {many(n_tokens, 'token')}, {many(n_items, 'item')}",
            n_items > 1,
        ),
        Step("plan", "Plan", many(n_planned, "ballot") if n_planned else "not saved yet", n_planned is not None),
        Step("collect", "Collect", _collected(ballots, n_planned), n_planned is not None and n_closed == n_planned),
        Step("scores", "Scores", _scored(n_closed, ballots), n_closed > 0),
        Step(
            "evaluate",
            "Evaluate",
            "ready" if n_closed and embeddings else "needs scores and an embedding",
            n_closed > 0 and bool(embeddings),
        ),
        Step("export", "Export", "ready" if n_closed else "needs scores", n_closed > 0),
    )
    return Overview(
        len(embeddings),
        len(areas),
        n_tokens,
        n_items,
        tuple(ballots),
        n_planned,
        progress,
        simulated,
        steps,
        headline,
        page,
        label,
    )


def next_step(
    n_items: int, n_planned: int | None, ballots: list[Ballot], progress: Progress | None, n_embeddings: int
) -> tuple[str, str, str]:
    """One sentence on where the project stands, and the next step's page and label."""
    if n_items < 2:
        return "The project needs two items at least.", "tokens", "Add token lists"
    if n_planned is None:
        return f"{many(n_items, 'item')} wait for a plan.", "plan", "Make the plan"
    if not ballots:
        return f"The plan has {many(n_planned, 'ballot')}, none is drawn.", "collect", "Draw ballot 1"
    last = ballots[-1]
    if last.is_open and progress is not None:
        sentence = (
            f"Ballot {last.number} of {n_planned} is open: "
            f"{progress.answered:,} of {progress.wanted:,} comparisons have a vote."
        )
        return sentence, "collect", "Close the ballot" if progress.is_complete else "Collect votes"
    if last.number < n_planned:
        return f"Ballot {last.number} of {n_planned} is closed.", "collect", f"Draw ballot {last.number + 1}"
    if not n_embeddings:
        return "All ballots are closed: the scores are final.", "embeddings", "Add an embedding to compare"
    return "All ballots are closed: the scores are final.", "evaluate", "See how the embeddings do"


def _collected(ballots: list[Ballot], n_planned: int | None) -> str:
    if not ballots:
        return "no ballot drawn"
    of = f" of {n_planned}" if n_planned else ""
    return f"ballot {ballots[-1].number}{of} {'open' if ballots[-1].is_open else 'closed'}"


def _scored(n_closed: int, ballots: list[Ballot]) -> str:
    if n_closed:
        return f"from {many(n_closed, 'closed ballot')}"
    return "provisional, from the open ballot" if ballots else "none yet"
