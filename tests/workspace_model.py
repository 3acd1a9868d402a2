"""A workspace as plain Python: what its commands should leave, for `test_model_based` to hold against the store.

Nothing is shared with the code under test. Which answer counts follows from what was said, never from the order in
which it was said: the model keeps who answered what in which file, what was decided, and works the rest out anew.
"""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

N_BALLOTS = 3
FURTHEST = ("Submitted", "Rejected", "Approved")  # what files say of an assignment, the furthest holds
Place = tuple[int, int]  # a task of the ballot and a comparison in it
Mark = tuple[str, Place]  # an assignment of a file and one of its answers
Item = frozenset[str]  # two tokens


@dataclass(frozen=True)
class GivenAssignment:
    """An assignment as a file has it: its id, its voter, when it came (sortable), its answers, and the two items that
    each is about."""

    code: str
    voter: str
    when: str
    answers: dict[Place, str]
    about: dict[Place, set[Item]]


@dataclass
class GivenFile:
    """A result file that was accepted, with the status that it gives all its assignments."""

    name: str
    status: str
    assignments: list[GivenAssignment]
    is_withdrawn: bool = False


@dataclass
class PageVoter:
    """A voter of the voting page: what the votes are about, and "I don't know" answers; withdrawn, all of them."""

    name: str
    votes: list[set[Item]] = field(default_factory=list)
    n_unknown: int = 0
    is_withdrawn: bool = False


@dataclass
class BallotModel:
    """A ballot of some items; `closed_with` are the statuses that its files' answers were closed with, None while it
    is open."""

    number: int
    items: set[Item]
    files: list[GivenFile] = field(default_factory=list)
    page: dict[str, PageVoter] = field(default_factory=dict)
    reviews: dict[str, str] = field(default_factory=dict)
    closed_with: dict[Mark, str] | None = None

    @property
    def is_open(self) -> bool:
        return self.closed_with is None

    @property
    def has_answers(self) -> bool:
        """Whether anybody ever answered, withdrawn or not."""
        return bool(self.files) or any(voter.votes or voter.n_unknown for voter in self.page.values())

    def assignments(self) -> Iterator[tuple[GivenAssignment, str]]:
        """The assignments of files that aren't withdrawn, each once, with the furthest that these say of it."""
        said: dict[str, str] = {}
        first: dict[str, GivenAssignment] = {}
        for file in self.files:
            if not file.is_withdrawn:
                for one in file.assignments:
                    first.setdefault(one.code, one)
                    said[one.code] = max(said.get(one.code, "Submitted"), file.status, key=FURTHEST.index)
        for code, one in first.items():
            yield one, said[code]

    def marks(self) -> set[Mark]:
        """Every answer that ever came in a file."""
        return {(one.code, place) for file in self.files for one in file.assignments for place in one.answers}


@dataclass
class ProjectModel:
    """A project: its ballots in order, who is left out, the policy, the versions that were released."""

    name: str
    ballots: list[BallotModel] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    counts_rejected: bool = False
    repeats: str = "earliest"
    releases: dict[str, str] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether the newest ballot is open."""
        return bool(self.ballots) and self.ballots[-1].is_open

    @property
    def may_draw(self) -> bool:
        return len(self.ballots) < N_BALLOTS and not self.is_open

    @property
    def may_close(self) -> bool:
        return self.is_open and self.scores(self.ballots[-1])

    @property
    def voters(self) -> list[str]:
        """Everybody who ever answered."""
        names = {one.voter for ballot in self.ballots for file in ballot.files for one in file.assignments}
        return sorted(names | {name for ballot in self.ballots for name, of in ballot.page.items() if of.votes})

    def statuses(self, ballot: BallotModel) -> dict[Mark, str]:
        """What becomes of each answer of a ballot's files, if nobody were left out."""
        if ballot.closed_with is not None:
            return ballot.closed_with
        found = dict.fromkeys(ballot.marks(), "withdrawn")
        standing: dict[tuple[str, Place], list[tuple[str, str]]] = defaultdict(list)
        for one, said in ballot.assignments():
            decided = ballot.reviews.get(one.code)
            is_rejected = decided == "reject" or (said == "Rejected" and decided != "approve")
            for place, answer in one.answers.items():
                if is_rejected and not self.counts_rejected:
                    found[one.code, place] = "rejected"
                elif answer == "unknown":
                    found[one.code, place] = "unknown"
                else:
                    standing[one.voter, place].append((one.when, one.code))
        for (_, place), several in standing.items():
            several.sort(reverse=self.repeats == "latest")
            for n, (_, code) in enumerate(several):
                counts = n == 0 and (len(several) == 1 or self.repeats != "none")
                found[code, place] = "counted" if counts else "repeat"
        return found

    def counts(self, ballot: BallotModel) -> Counter[str]:
        """How many answers of a ballot have each status."""
        voter_of = {one.code: one.voter for file in ballot.files for one in file.assignments}
        found: Counter[str] = Counter()
        for (code, _), status in self.statuses(ballot).items():
            is_out = voter_of[code] in self.left_out and status in ("counted", "unknown")
            found["excluded" if is_out else status] += 1
        for voter in ballot.page.values():
            for status, n in (("counted", len(voter.votes)), ("unknown", voter.n_unknown)):
                is_out = voter.name in self.left_out
                found["withdrawn" if voter.is_withdrawn else "excluded" if is_out else status] += n
        return +found

    def scores(self, ballot: BallotModel) -> bool:
        """Whether a ballot can be scored: it has a vote that counts, and each of its items has one in it or before."""
        voted = [self.voted(one) for one in self.ballots[: ballot.number]]
        return bool(voted[-1]) and ballot.items <= set().union(*voted)

    def voted(self, ballot: BallotModel) -> set[Item]:
        """The items with a vote in a ballot that counts."""
        about = {(one.code, place): items for file in ballot.files for one in file.assignments
                 for place, items in one.about.items() if one.voter not in self.left_out}  # fmt: skip
        voted = [about.get(mark, set()) for mark, status in self.statuses(ballot).items() if status == "counted"]
        for voter in ballot.page.values():
            voted += [] if voter.is_withdrawn or voter.name in self.left_out else voter.votes
        return set().union(*voted)

    def close(self) -> None:
        ballot = self.ballots[-1]
        ballot.closed_with = self.statuses(ballot)

    def reopen(self) -> None:
        self.ballots[-1].closed_with = None

    def copied(self, name: str) -> ProjectModel:
        """The project under another name."""
        again = copy.deepcopy(self)
        again.name = name
        return again
