"""What must hold in a workspace, rule by rule: each has a name, and a break of it says where, what and what to do.

Nothing is changed here. All rules look at one state of the database, and at the files beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from ..store.engine import Store
from ..store.integrity import structure_invariants as structure
from ..store.integrity import vote_invariants as votes
from ..store.integrity.structure_invariants import Found, Look
from .jobs import dead_jobs

SHOWN = 20  # so many breaks of a rule are kept; all are counted

RESTORE = "Restore the workspace from a backup, and report it: no command of Runoff should leave this."
RECOUNT = (
    "The votes are whole. Reopening the ballot, or accepting or withdrawing a file, counts it anew; please report it."
)
FETCH = "Put the file back from a copy of the workspace or from an exported project (uploads/ in the zip)."


@dataclass(frozen=True)
class Rule:
    """What must hold: a name, the sentence of it, how breaks of it are found, and what to do about one."""

    name: str
    holds: str
    breaks: Callable[[Look], Iterator[Found]]
    advice: str


@dataclass(frozen=True)
class Fault:
    """A rule that doesn't hold: how often, and the first of the places with what was found there."""

    rule: Rule
    n: int
    found: tuple[Found, ...]


@dataclass(frozen=True)
class Checked:
    """What a check found: the rules that were held against the workspace, and those that are broken."""

    rules: tuple[Rule, ...]
    faults: tuple[Fault, ...]

    @property
    def is_fine(self) -> bool:
        return not self.faults


def check_store(store: Store) -> Checked:
    """Hold all rules against a workspace; some seconds for a hundred thousand votes.

    Raises `StoreError` where the database can't be read at all.
    """
    faults = []
    with store.read() as conn:
        look = Look(store, conn)
        for rule in RULES:
            found = list(rule.breaks(look))
            if found:
                faults.append(Fault(rule, len(found), tuple(found[:SHOWN])))
            if found and rule.breaks is _database_is_whole:
                break  # nothing else can be trusted, or even read
    return Checked(RULES, tuple(faults))


def _jobs_run(look: Look) -> Iterator[Found]:
    for job in dead_jobs(look.conn):
        yield Found(f"job {job.id} ({job.kind})", f"{job.state} since {job.started_at or job.created_at}, no process")


def _database_is_whole(look: Look) -> Iterator[Found]:
    """SQLite's own look at its file; other databases watch over theirs."""
    if look.conn.dialect.name != "sqlite":
        return
    try:
        for (said,) in look.conn.exec_driver_sql("PRAGMA quick_check(20)").fetchall():
            if said != "ok":
                yield Found("runoff.sqlite", str(said))
    except sa.exc.DatabaseError as error:
        yield Found("runoff.sqlite", str(error.orig))


RULES = (
    Rule("database", "The database's file is whole.", _database_is_whole, RESTORE),
    Rule("keys", "Every row's parent is there.", structure.keys_lead_somewhere, RESTORE),
    Rule("projects", "Rows that belong together are of one project and one ballot.", structure.one_project, RESTORE),
    Rule("positions", "A project's items have the positions 0 to N − 1.", structure.positions, RESTORE),
    Rule("areas", "An item's two tokens differ and are of its area.", structure.tokens_of_area, RESTORE),
    Rule("numbers", "The ballots of a ranking have the numbers 1, 2, 3, …", structure.ballot_numbers, RESTORE),
    Rule("sizes", "A ballot has as many items and comparisons as it says.", structure.ballot_sizes, RESTORE),
    Rule("options", "A comparison has two different items of its ballot.", structure.two_options, RESTORE),
    Rule("log", "The log's revisions rise, up to the project's.", structure.log_rises, RESTORE),
    Rule("votes", "A vote is of a comparison and of an assignment of the same ballot.", votes.of_their_ballot, RESTORE),
    Rule("values", "A vote's value is that of its answer.", votes.values, RESTORE),
    Rule("one vote", "At most one vote of a voter counts in a comparison.", votes.one_each, RECOUNT),
    Rule("excluded", "Exactly the votes of voters who are left out are kept aside.", votes.exclusions, RECOUNT),
    Rule("rejected", "In open ballots no vote counts that policy or review rejects.", votes.rejections, RECOUNT),
    Rule("question tallies", "Comparisons have as many votes as they say.", votes.question_tallies, RECOUNT),
    Rule("dealt", "On the voting page, a comparison's count for dealing is right.", votes.dealt, RECOUNT),
    Rule("item tallies", "Items have the wins, ties, losses they say, without checks.", votes.item_tallies, RECOUNT),
    Rule("progress", "A ballot's kept progress equals a recount.", votes.progress, RECOUNT),
    Rule(
        "scores", "Closed ballots have scores, open ones none.", votes.scores, "Reopen the ballot and close it again."
    ),
    Rule("kept files", "Every file that is named is kept, and unchanged.", structure.kept_files, FETCH),
    Rule(
        "embeddings",
        "Every embedding has its files, of their sizes.",
        structure.embeddings,
        "Import the embedding again.",
    ),
    Rule("jobs", "Jobs that run have a process.", _jobs_run, "Start Runoff: it marks them as stopped."),
)
