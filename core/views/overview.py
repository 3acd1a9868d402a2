"""The project's state in one look, and the one next step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import sqlalchemy as sa

from ..base.numbers_in_words import VoterCount, many, percent, plural
from ..errors import PlanError
from ..questions import COMPARISON, QuestionKind, RoundKind, RoundSettings
from ..store import Store
from ..store.ballots.ballot_rows import Ballot, ballots_of, pilot_of
from ..store.ballots.round_plans import QuestionKinds, asked_of
from ..store.ballots.simulated import has_simulated_votes
from ..store.projects.embedding_library import embeddings_of
from ..store.projects.plans import PlanSettings, Ranking, rankings_of, settings_of
from ..store.tokens.areas import areas_of, n_items_of
from ..store.votes.tallies import Progress, count_voters, progress_of, voted_ballots


@dataclass(frozen=True)
class Step:
    """One step of the way: its page, what stands there, and whether it is done."""

    page: str
    title: str
    state: str
    done: bool


@dataclass(frozen=True)
class RankingStatus:
    """Where one ranking stands: over all areas, or of one area where each has its own."""

    ranking: Ranking
    n_items: int
    n_planned: int | None
    ballots: tuple[Ballot, ...]
    progress: Progress | None  # of the newest ballot, of the pilot before there is one
    pilot: Ballot | None = None
    n_comparisons: int | None = None  # of all the ballots planned
    asked: QuestionKinds = field(default_factory=QuestionKinds)
    round_progress: Progress | None = None  # of the newest round of its own kind

    @property
    def kind(self) -> QuestionKind:
        """Its own kind of question."""
        return self.asked.kind

    @property
    def newest_round(self) -> Ballot | None:
        """The newest round of its own kind."""
        return next((one for one in reversed(self.asked.rounds) if one.kind is self.kind), None)

    @property
    def round_plan(self) -> RoundSettings | None:
        """The settings saved for the next round of its own kind; None where it asks comparisons."""
        return self.asked.plans.get(self.kind.name)

    @property
    def is_planned(self) -> bool:
        """It has a plan of its own kind."""
        if isinstance(self.kind, RoundKind):
            return self.round_plan is not None or self.newest_round is not None
        return self.n_planned is not None

    @property
    def n_scored(self) -> int:
        """Closed ballots, or closed rounds of its own kind."""
        if isinstance(self.kind, RoundKind):
            return sum(one.kind is self.kind and not one.is_open for one in self.asked.rounds)
        return self.n_closed

    @property
    def n_answered(self) -> int:
        """Comparisons that are done with: those of closed ballots, and those of the open one that have a vote."""
        closed = sum(ballot.n_comparisons for ballot in self.ballots if not ballot.is_open)
        return closed + (self.progress.answered if self.is_open and self.progress is not None else 0)

    @property
    def pilot_is_open(self) -> bool:
        """It has an open pilot."""
        return self.pilot is not None and self.pilot.is_open and not self.ballots

    @property
    def fixed_by(self) -> str:
        """What fixes token lists, notion and ranking, as sentences call it; empty while nothing does."""
        first = next(iter([*self.ballots, *([self.pilot] if self.pilot else []), *self.asked.rounds]), None)
        return first.called if first else ""

    @property
    def n_closed(self) -> int:
        return sum(not ballot.is_open for ballot in self.ballots)

    @property
    def is_open(self) -> bool:
        """It has an open ballot."""
        return bool(self.ballots) and self.ballots[-1].is_open

    @property
    def is_final(self) -> bool:
        """All its ballots are closed; of another kind, its newest round."""
        if isinstance(self.kind, RoundKind):
            return self.newest_round is not None and not self.newest_round.is_open
        return self.n_planned is not None and self.n_closed >= self.n_planned

    @property
    def waits_for_draw(self) -> bool:
        """Its next ballot can be drawn."""
        return (
            self.n_planned is not None
            and not self.is_open
            and not self.pilot_is_open
            and len(self.ballots) < self.n_planned
        )

    @property
    def said(self) -> str:
        """Its state in a few words, with how far its open ballot is."""
        if self.newest_round is not None and self.newest_round.is_open and self.round_progress is not None:
            return f"{self.at}, {percent(self.round_progress.share)} answered"
        if self.progress is not None and (self.pilot_is_open or self.is_open):
            return f"{self.at}, {percent(self.progress.share)} voted"
        return self.at

    @property
    def at(self) -> str:
        """Which of its ballots it is at."""
        if isinstance(self.kind, RoundKind):
            newest = self.newest_round
            if newest is None:
                return f"{self.kind.about.label} planned" if self.is_planned else "no plan yet"
            return f"{newest.called} {newest.state}"
        if self.n_planned is None:
            return "no plan yet"
        if self.pilot_is_open:
            return "pilot open"
        if not self.ballots:
            return plural(self.n_planned, "{n} ballot planned", "{n} ballots planned")
        number, n_planned = self.ballots[-1].number, self.n_planned
        if self.is_final:
            return "all ballots closed"
        return f"ballot {number} of {n_planned} {'open' if self.is_open else 'closed'}"


@dataclass(frozen=True)
class Overview:
    """Counts of the project, its rankings, its steps, and what to do next (page key, label, area)."""

    n_areas: int
    n_tokens: int
    n_items: int
    standings: tuple[RankingStatus, ...]
    simulated: bool
    steps: tuple[Step, ...]
    headline: str
    next_page: str
    next_label: str
    next_area: int | None

    @property
    def campaign(self) -> tuple[float, str] | None:
        """How far the whole campaign is, 0 to 1, and the same in words; None while a ranking has no plan, or no round
        where it asks in rounds."""
        if any(isinstance(standing.kind, RoundKind) for standing in self.standings):
            return self._rounds
        planned = [standing.n_comparisons for standing in self.standings]
        if not planned or None in planned:
            return None
        total, n_done = sum(n for n in planned if n), sum(standing.n_answered for standing in self.standings)
        status = self.standings[0].at if len(self.standings) == 1 else areas_finished(self.standings)
        share = 1.0 if all(standing.is_final for standing in self.standings) else min(n_done / max(total, 1), 1.0)
        of_total = f" of about {total:,}" if share < 1 else ""
        voted = f"{n_done:,}{of_total} comparisons voted on."
        return share, f"{status[:1].upper()}{status[1:]}. {voted}"

    @property
    def _rounds(self) -> tuple[float, str] | None:
        """How far the newest rounds are."""
        newest = [(s.newest_round, s.round_progress) for s in self.standings]
        drawn = [(ballot, progress) for ballot, progress in newest if ballot is not None and progress is not None]
        if not drawn:
            return None
        answered, wanted = sum(p.answered for _, p in drawn), sum(p.wanted for _, p in drawn)
        is_over = all(standing.is_final for standing in self.standings)
        status = self.standings[0].at if len(self.standings) == 1 else areas_finished(self.standings)
        share = 1.0 if is_over else min(answered / max(wanted, 1), 1.0)
        return share, f"{status[:1].upper()}{status[1:]}. {answered:,} of {many(wanted, 'answer')}."

    @property
    def ballots(self) -> tuple[Ballot, ...]:
        """The ballots of all rankings."""
        return tuple(ballot for standing in self.standings for ballot in standing.ballots)

    @property
    def fixed_by(self) -> str:
        """What fixes token lists, notion and ranking, as sentences call it; empty while nothing does."""
        return min((s.fixed_by for s in self.standings if s.fixed_by), default="")  # "ballot 1" comes first


def load(store: Store, project_id: str) -> Overview:
    """The overview of a project."""
    with store.read() as conn:
        areas = areas_of(conn, project_id)
        simulated = has_simulated_votes(conn, project_id)
        n_embeddings = len(embeddings_of(conn, project_id))
        n_items = n_items_of(conn, project_id)
        standings = standings_of(conn, project_id)
        rounds = [one.id for s in standings if isinstance(s.kind, RoundKind) for one in s.asked.rounds]
        voters = count_voters(conn, project_id, [*voted_ballots(conn, project_id), *rounds])
    n_tokens = sum(len(area.tokens) for area in areas)
    first = next((s for s in standings if not s.is_final), standings[0] if standings else None)
    headline, page, label = next_step(first, n_items, n_embeddings)
    if first is not None and first.ranking.area and page in ("plan", "collect"):
        headline = f"{first.ranking.area}: {headline[0].lower()}{headline[1:]}"
        label = f"{label} ({first.ranking.area})"
    n_closed = sum(standing.n_scored for standing in standings)
    done = bool(standings) and all(standing.is_final for standing in standings)
    has_votes = any(standing.n_answered for standing in standings if standing.kind is COMPARISON)
    ready = "ready" if n_closed else "provisional" if has_votes else "needs scores"
    steps = (
        Step("embeddings", "Embeddings", many(n_embeddings, "embedding"), n_embeddings > 0),
        Step(
            "tokens",
            "Tokens",
            f"{many(len(areas), 'area')}, {many(n_tokens, 'token')}, {many(n_items, 'item')}",
            n_items > 1,
        ),
        Step("plan", "Plan", planned(standings), bool(standings) and all(s.is_planned for s in standings)),
        Step("collect", "Collect", collected(standings), done),
        Step("voters", "Voters", voted(voters), voters.total > 0 and n_closed > 0),
        Step("scores", "Scores", scored(n_closed, standings), n_closed > 0),
        Step(
            "evaluate",
            "Evaluate",
            ready if n_embeddings or not (n_closed or has_votes) else "needs an embedding",
            n_closed > 0 and n_embeddings > 0,
        ),
        Step("export", "Export", ready, n_closed > 0),
    )
    return Overview(
        len(areas),
        n_tokens,
        n_items,
        tuple(standings),
        simulated,
        steps,
        headline,
        page,
        label,
        first.ranking.area_id if first is not None else None,
    )


def load_standings(store: Store, project_id: str) -> tuple[RankingStatus, ...]:
    """Where each ranking of a project stands."""
    with store.read() as conn:
        return tuple(standings_of(conn, project_id))


def standings_of(conn: sa.Connection, project_id: str) -> list[RankingStatus]:
    """Where each ranking of a project stands."""
    standings = []
    for ranking in rankings_of(conn, project_id):
        saved_plan = settings_of(conn, project_id, ranking.area_id)
        ballots = ballots_of(conn, project_id, ranking.area_id)
        pilot = pilot_of(conn, project_id, ranking.area_id)
        newest = ballots[-1] if ballots else pilot
        n_items = n_items_of(conn, project_id, ranking.area_id)
        standings.append(
            RankingStatus(
                ranking,
                n_items,
                saved_plan[1].n_ballots if saved_plan else None,
                tuple(ballots),
                progress_of(conn, newest.id) if newest else None,
                pilot,
                _n_planned(saved_plan[1], n_items) if saved_plan else None,
                asked_of(conn, project_id, ranking.area_id),
            )
        )
    return [_with_round(conn, standing) for standing in standings]


def _with_round(conn: sa.Connection, standing: RankingStatus) -> RankingStatus:
    newest = standing.newest_round
    return standing if newest is None else replace(standing, round_progress=progress_of(conn, newest.id))


def _n_planned(settings: PlanSettings, n_items: int) -> int | None:
    """Comparisons of all ballots; None where the plan no longer fits the items, which the Plan page says."""
    try:
        return settings.plan(n_items).n_comparisons
    except PlanError:
        return None


def next_step(standing: RankingStatus | None, n_items: int, n_embeddings: int) -> tuple[str, str, str]:
    """One sentence on where a project stands by one of its rankings, and the next step's page and label."""
    if standing is None or n_items < 2:
        return (
            "The project needs at least two items. Begin with lists of tokens; their pairs are the items.",
            "tokens",
            "Add token lists",
        )
    if isinstance(standing.kind, RoundKind):
        return _next_of_rounds(standing, standing.kind, n_embeddings)
    n_planned = standing.n_planned
    if n_planned is None:
        waiting = plural(standing.n_items, "{n} item waits for a plan.", "{n} items wait for a plan.")
        return waiting, "plan", "Make the plan"
    if standing.pilot_is_open and standing.progress is not None:
        pilot = standing.progress
        sentence = f"The pilot is open: {pilot.answered:,} of {pilot.wanted:,} comparisons have a vote."
        return sentence, "collect", "Close the pilot" if pilot.is_complete else "Collect votes"
    if not standing.ballots:
        planned = f"The plan has {many(n_planned, 'ballot')}, none is drawn."
        return planned, "collect", "Draw ballot 1"
    last, progress = standing.ballots[-1], standing.progress
    if last.is_open and progress is not None:
        sentence = (
            f"Ballot {last.number} of {n_planned} is open: {progress.answered:,} of {progress.wanted:,} "
            "comparisons have a vote."
        )
        return sentence, "collect", "Close the ballot" if progress.is_complete else "Collect votes"
    if last.number < n_planned:
        sentence = f"Ballot {last.number} of {n_planned} is closed."
        return sentence, "collect", f"Draw ballot {last.number + 1}"
    votes = f", with {many(standing.n_answered, 'comparison')} voted on" if standing.ballots else ""
    return _last(f"All ballots are closed: the plan is complete{votes}.", n_embeddings)


def _last(sentence: str, n_embeddings: int) -> tuple[str, str, str]:
    """What remains once all is collected."""
    if not n_embeddings:
        return sentence, "embeddings", "Add an embedding to compare"
    return sentence, "evaluate", "See how the embeddings do"


def _next_of_rounds(standing: RankingStatus, kind: RoundKind, n_embeddings: int) -> tuple[str, str, str]:
    """As `next_step`, of a ranking that asks in rounds."""
    newest, progress = standing.newest_round, standing.round_progress
    if newest is None or progress is None:
        if not standing.is_planned:
            return f"{many(standing.n_items, 'item')}, and no plan for {kind.about.label}.", "plan", "Make the plan"
        lacks = kind.lacks(standing.round_plan) if standing.round_plan is not None else ""
        if lacks:
            return f"The plan is to ask for {kind.about.label}, and has no {lacks} yet.", "plan", f"Choose the {lacks}"
        return f"The plan is to ask for {kind.about.label}; no round is drawn.", "collect", "Draw round 1"
    if newest.is_open:
        sentence = f"{newest.title}, is open: {progress.answered:,} of {many(progress.wanted, 'answer')} are there."
        return sentence, "collect", "Close the round" if progress.is_complete else "Collect answers"
    return _last(f"{newest.title}, is closed, with {many(progress.votes, 'answer')}.", n_embeddings)


def planned(standings: list[RankingStatus]) -> str:
    if len(standings) == 1 and isinstance(standings[0].kind, RoundKind):
        return standings[0].kind.about.label if standings[0].is_planned else "not saved yet"
    plans = [standing.n_planned for standing in standings if standing.n_planned]
    if not plans:
        return "not saved yet"
    if len(standings) == 1:
        return many(plans[0], "ballot")
    areas = many(len(standings), "area")
    return f"{len(plans)} of {areas} planned"


def collected(standings: list[RankingStatus]) -> str:
    if len(standings) == 1 and isinstance(standings[0].kind, RoundKind):
        return standings[0].said if standings[0].newest_round else "no round drawn"
    if len(standings) == 1 and (standings[0].ballots or standings[0].pilot_is_open):
        return standings[0].said
    if not any(standing.ballots for standing in standings):
        return "no ballot drawn"
    n_open = sum(s.is_open for s in standings)
    open_text = plural(n_open, "{n} ballot open", "{n} ballots open")
    return f"{open_text}; {areas_finished(standings)}"


def areas_finished(standings: Sequence[RankingStatus]) -> str:
    areas = many(len(standings), "area")
    return f"{sum(standing.is_final for standing in standings)} of {areas} finished"


def voted(voters: VoterCount) -> str:
    return voters.said if voters.total or voters.left_out else "nobody has voted yet"


def scored(n_closed: int, standings: list[RankingStatus]) -> str:
    if n_closed and any(isinstance(s.kind, RoundKind) for s in standings):
        return plural(n_closed, "from {n} closed round", "from {n} closed rounds")
    if n_closed:
        return plural(n_closed, "from {n} closed ballot", "from {n} closed ballots")
    return "provisional, from the open ballot" if any(s.ballots for s in standings) else "none yet"
