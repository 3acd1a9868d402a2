"""What must hold in a workspace, rule by rule: each has a name, and a break of it says where, what and what to do.

Nothing is changed here. All rules look at one state of the database, and at the files beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from ..jobs.lifecycle import dead_jobs
from ..store.chain import ChainState, state_of
from ..store.engine import Store
from ..store.integrity import structure_invariants as structure
from ..store.integrity import vote_invariants as votes
from ..store.integrity.structure_invariants import IntegrityContext, Violation

SHOWN = 20  # so many breaks of a rule are kept; all are counted

RESTORE = "Restore the workspace from a backup, and report it: no command of Runoff should leave this."
RECOUNT = (
    "The votes are whole. Reopening the ballot, or accepting or withdrawing a file, counts it anew; please report it."
)
FETCH = "Put the file back from a copy of the workspace or from an exported project (uploads/ in the zip)."


@dataclass(frozen=True)
class IntegrityRule:
    """What must hold: a name, the sentence of it, how breaks of it are found, and what to do about one."""

    name: str
    holds: str
    breaks: Callable[[IntegrityContext], Iterator[Violation]]
    advice: str


@dataclass(frozen=True)
class BrokenRule:
    """A rule that doesn't hold: how often, and the first of the places with what was found there."""

    rule: IntegrityRule
    n: int
    found: tuple[Violation, ...]


@dataclass(frozen=True)
class IntegrityReport:
    """What a check found: the rules that were held against the workspace, and those that are broken."""

    rules: tuple[IntegrityRule, ...]
    faults: tuple[BrokenRule, ...]
    chains: tuple[tuple[str, ChainState], ...] = ()  # of each project, by its name: how far it reaches

    @property
    def is_fine(self) -> bool:
        return not self.faults


def check_store(store: Store) -> IntegrityReport:
    """Hold all rules against a workspace; a few seconds for a hundred thousand votes.

    Raises `StoreError` where the database can't be read at all.
    """
    faults, chains = [], []
    with store.read() as conn:
        context = IntegrityContext(store, conn)
        for rule in RULES:
            breaks = list(rule.breaks(context))
            if breaks:
                faults.append(BrokenRule(rule, len(breaks), tuple(breaks[:SHOWN])))
            if breaks and rule.breaks is _database_is_whole:
                break  # nothing else can be trusted, or even read
        else:
            states = ((name, state_of(conn, id_)) for id_, name in context.projects.items())
            chains = [(name, state) for name, state in states if state is not None]
    return IntegrityReport(RULES, tuple(faults), tuple(chains))


def _jobs_have_processes(context: IntegrityContext) -> Iterator[Violation]:
    for job in dead_jobs(context.conn):
        yield Violation(
            f"job {job.id} ({job.kind})", f"{job.state} since {job.started_at or job.created_at}, no process"
        )


def _database_is_whole(context: IntegrityContext) -> Iterator[Violation]:
    """SQLite's own look at its file; other databases watch over theirs."""
    if context.conn.dialect.name != "sqlite":
        return
    try:
        for (fault,) in context.conn.exec_driver_sql("PRAGMA quick_check(20)").fetchall():
            if fault != "ok":
                yield Violation("runoff.sqlite", str(fault))
    except sa.exc.DatabaseError as error:
        yield Violation("runoff.sqlite", str(error.orig))


RULES = (
    IntegrityRule("database", "The database's file is whole.", _database_is_whole, RESTORE),
    IntegrityRule("keys", "Every row's parent is there.", structure.keys_lead_somewhere, RESTORE),
    IntegrityRule(
        "projects", "Rows that belong together are of one project and one ballot.", structure.one_project, RESTORE
    ),
    IntegrityRule("positions", "A project's items have the positions 0 to N − 1.", structure.positions, RESTORE),
    IntegrityRule("areas", "An item's two tokens differ and are of its area.", structure.tokens_of_area, RESTORE),
    IntegrityRule("numbers", "The ballots of a ranking have the numbers 1, 2, 3, …", structure.ballot_numbers, RESTORE),
    IntegrityRule("sizes", "A ballot has as many items and comparisons as it says.", structure.ballot_sizes, RESTORE),
    IntegrityRule("options", "A comparison has two different items of its ballot.", structure.two_options, RESTORE),
    IntegrityRule("log", "The log's revisions rise, up to the project's.", structure.log_rises, RESTORE),
    IntegrityRule(
        "votes", "A vote is of a comparison and of an assignment of the same ballot.", votes.of_their_ballot, RESTORE
    ),
    IntegrityRule(
        "chain",
        "Votes and decisions are those that the log's chain of hashes sealed.",
        votes.chain,
        "Votes or the log were changed past Runoff. Compare with a backup or an exported project from before.",
    ),
    IntegrityRule("values", "A vote's value is that of its answer.", votes.values, RESTORE),
    IntegrityRule(
        "language models", "A language model's vote is what it said, about a comparison.", votes.model_answers, RESTORE
    ),
    IntegrityRule("one vote", "At most one vote of a voter counts in a comparison.", votes.one_each, RECOUNT),
    IntegrityRule(
        "excluded", "Exactly the votes of voters who are left out are kept aside.", votes.exclusions, RECOUNT
    ),
    IntegrityRule(
        "rejected", "In open ballots no vote counts that policy or review rejects.", votes.rejections, RECOUNT
    ),
    IntegrityRule("question tallies", "Comparisons have as many votes as they say.", votes.question_tallies, RECOUNT),
    IntegrityRule(
        "dealt", "On the voting page, a comparison's count for dealing is right.", votes.lease_counts, RECOUNT
    ),
    IntegrityRule(
        "item tallies", "Items have the wins, ties, losses they say, without checks.", votes.item_tallies, RECOUNT
    ),
    IntegrityRule("progress", "A ballot's kept progress equals a recount.", votes.progress, RECOUNT),
    IntegrityRule(
        "scores", "Closed ballots have scores, open ones none.", votes.scores, "Reopen the ballot and close it again."
    ),
    IntegrityRule("kept files", "Every file that is named is kept, and unchanged.", structure.stored_files, FETCH),
    IntegrityRule(
        "embeddings",
        "Every embedding has its files, of their sizes.",
        structure.embeddings,
        "Import the embedding again.",
    ),
    IntegrityRule(
        "jobs", "Jobs that run have a process.", _jobs_have_processes, "Start Runoff: it marks them as stopped."
    ),
)
