"""What the owners of `bench.owners` can do: every command of a project, as pages give it, and what it sets.

A command is made from what an owner saw (`look`) and carries the revision of that look. `sets` says what it leaves in
the project, by names that `standing` reads from the tables, so that an edit which was overwritten unseen is found.
What needs a Turkle, a server of models or another process isn't here, nor are rounds of other kinds of question.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from core.commands import ballots as of_ballots
from core.commands import projects as of_projects
from core.commands import votes as of_votes
from core.commands.executor import Done, submit
from core.dataset.datasheet.facts import SheetFields
from core.embeddings import LookUp
from core.errors import BusyError, StoreError
from core.platforms.mapped_tables import Mapping
from core.questions import default_settings
from core.questions.comparison_page import write_batch
from core.questions.voting_settings import VotingSettings
from core.store import Store
from core.store import schema as t
from core.store.ballots.ballot_rows import Ballot, every_ballot_of
from core.store.ballots.comparisons import comparisons_of
from core.store.ballots.pilots import draw_pilot
from core.store.ballots.round_plans import save_round_plan
from core.store.command import project_row
from core.store.projects.archive import archive_project, export_project, list_archived, restore_project
from core.store.projects.embedding_library import (
    Imported,
    add_embedding,
    embeddings_of,
    import_into,
    other_embeddings,
    remove_embedding,
    set_lookup,
    set_remedy,
    set_subwords,
)
from core.store.projects.model_servers import allow_server, switch_off, switch_on
from core.store.projects.plans import PlanSettings, register_plan, save_plan, set_ranking, settings_of
from core.store.projects.project_commands import Project, change_project, create_project, list_projects
from core.store.projects.releases import releases_of, save_fields
from core.store.tokens.areas import (
    ItemRules,
    add_areas,
    add_tokens,
    areas_of,
    change_area,
    change_areas,
    correct_spelling,
    delete_area,
    restore_area,
    set_item_rules,
)
from core.store.tokens.frequencies import RareTerms, source_of, use_list
from core.store.votes.checks import add_gold, gold_of, remove_gold
from core.store.votes.intake import forget_mapping, remember_mapping
from core.store.votes.uploads import Upload, uploads_of
from core.store.voting.owner_commands import VotingPageInfo, invite, renew_link, set_voting_state, voting_of
from core.tokens.files import AreaTokens
from core.votes.payment import Review
from core.votes.reasons import REJECTED, REPEATS
from core.voting import api
from tests.campaigns import answer_batch

PAGES = ("project", "embeddings", "tokens", "plan", "collect", "voters", "scores", "evaluate", "export")
AREAS = (
    AreaTokens("Animals", ("cat", "dog", "horse", "mouse", "café")),
    AreaTokens("Tools", ("hammer", "saw", "007", "NA")),
)
PLAN = PlanSettings(n_ballots=3, keep=0.6, appearances=2, task_size=3, n_voters=4, seed=7, protocol="paper")
PAGE = VotingSettings(task_size=3, tasks_per_voter=4, examples=False)
PEOPLE = ("W1", "W2", "W3")
CHOICES = ("left", "right", "tie", "unknown")
UNKNOWN = "?"  # a value that a command doesn't tell
MOST_PROJECTS = 4  # that are listed
HEADER = ("comparison", "who", "said")  # of a table whose columns an owner names


@dataclass(frozen=True)
class Seen:
    """A project as an owner saw it, all of one look; `sittings` are sessions of the voting page that aren't ended."""

    project: Project
    areas: tuple[AreaTokens, ...]
    ballots: tuple[Ballot, ...]
    uploads: tuple[Upload, ...]
    voters: dict[int, bool]  # whether each is left out
    assignments: tuple[int, ...]
    voting: VotingPageInfo | None
    link: str | None
    sittings: tuple[int, ...]
    gold: tuple[int, ...]
    embeddings: tuple[Imported, ...]
    versions: tuple[str, ...]
    n_listed: int

    @property
    def newest(self) -> Ballot | None:
        """The newest ballot, a pilot among them."""
        return self.ballots[-1] if self.ballots else None

    @property
    def is_open(self) -> bool:
        return self.newest is not None and self.newest.is_open

    @property
    def campaign(self) -> list[Ballot]:
        return [ballot for ballot in self.ballots if not ballot.is_pilot]


@dataclass(frozen=True)
class Press:
    """A command ready to be given; `run` may return more of what it sets.

    checked : it is refused where anything changed since the look. action, tag : the entry of the log that it makes,
    and what that must hold where it isn't checked; "" for none. sets : see `standing`.
    """

    run: Callable[[Store], dict[str, Any] | None]
    action: str = ""
    checked: bool = True
    tag: str = ""
    sets: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OwnerCommand:
    """A command by its name, how often it is chosen, when, and how it is made of what was seen."""

    name: str
    weight: float
    fits: Callable[[Seen], Any]
    press: Callable[[Seen, random.Random, str], Press]


COMMANDS: list[OwnerCommand] = []
Make = Callable[[Seen, random.Random, str], Press]


def _owner(name: str, fits: Callable[[Seen], Any] = lambda _: True, weight: float = 1.0) -> Callable[[Make], Make]:
    def added(make: Make) -> Make:
        COMMANDS.append(OwnerCommand(name, weight, fits, make))
        return make

    return added


def begin(store: Store, name: str, seed: int) -> str:
    """A project with areas, a plan and an embedding, no ballot drawn."""
    project = create_project(store, name, kind="trial", seed=seed)
    add_areas(store, project, AREAS)
    save_plan(store, project, PLAN)
    words = [token for area in AREAS for token in area.tokens]
    path = store.folder.parent / "vectors.vec"
    if not path.exists():
        dice = random.Random(5)
        rows = [f"{word} " + " ".join(f"{dice.gauss(0, 1):.4f}" for _ in range(8)) for word in words]
        path.write_text(f"{len(words)} 8\n" + "\n".join(rows) + "\n", encoding="utf-8")
    import_into(store, project, path)
    return project


def look(store: Store, project_id: str) -> Seen:
    """What an owner sees of a project, in one look."""
    n_listed = len(list_projects(store))
    with store.read() as conn:
        row = project_row(conn, project_id)
        project = Project(*(getattr(row, name) for name in Project.__annotations__))
        ballots = sorted(every_ballot_of(conn, project_id), key=lambda ballot: (ballot.number, ballot.id))
        ballots = [ballot for ballot in ballots if not ballot.is_round and ballot.area_id is None]
        newest = ballots[-1] if ballots else None
        e = t.exclusion.c
        out = set(
            conn.execute(sa.select(e.voter_id).where(e.project_id == project_id, e.undone_at.is_(None))).scalars()
        )
        voters = conn.execute(sa.select(t.voter.c.id).where(t.voter.c.project_id == project_id)).scalars()
        of_newest = t.assignment.c.ballot_id == (newest.id if newest else -1)
        voting = voting_of(conn, newest.id) if newest else None
        sessions = sa.select(t.sitting.c.id).where(t.sitting.c.voting_id == (voting.id if voting else -1))
        link = sa.select(t.voting_link.c.code).where(t.voting_link.c.project_id == project_id)
        return Seen(
            project=project,
            areas=tuple(areas_of(conn, project_id)),
            ballots=tuple(ballots),
            uploads=tuple(uploads_of(conn, project_id)),
            voters={id_: id_ in out for id_ in voters},
            assignments=tuple(conn.execute(sa.select(t.assignment.c.id).where(of_newest)).scalars()),
            voting=voting,
            link=conn.execute(link.limit(1)).scalar_one_or_none(),
            sittings=tuple(conn.execute(sessions.where(t.sitting.c.state == "voting")).scalars()),
            gold=tuple(gold.question_id for gold in gold_of(conn, newest.id)) if newest else (),
            embeddings=tuple(embeddings_of(conn, project_id)),
            versions=tuple(one.version for one in releases_of(conn, project_id)),
            n_listed=n_listed,
        )


def standing(conn: sa.Connection, project_id: str) -> dict[str, Any]:
    """What the tables hold of a project, by the names that commands set."""
    row = conn.execute(sa.select(t.project).where(t.project.c.id == project_id)).one()
    held: dict[str, Any] = {
        "name": row.name,
        "notion": row.notion,
        "ranking": row.ranking,
        "policy": row.policy,
        "datasheet": row.datasheet,
        "rules": row.item_rules,
        "server": (row.servers or {}).get("chat", {}).get("model"),
        "archived": row.archived_at is not None,
    }
    plan, source = settings_of(conn, project_id), source_of(conn, project_id)
    held["reward"] = plan[1].reward if plan else None
    held["frequencies"] = source.label if source else None
    held |= {f"token {area.name}/{token}": True for area in areas_of(conn, project_id) for token in area.tokens}
    for ballot in every_ballot_of(conn, project_id):
        held[f"ballot {ballot.number}"] = "open" if ballot.is_open else "closed"
        if (voting := voting_of(conn, ballot.id)) is not None:
            held[f"closing words {ballot.number}"] = voting.settings.closing
    e, a = t.exclusion.c, t.assignment.c
    for voter, undone in conn.execute(
        sa.select(e.voter_id, e.undone_at).where(e.project_id == project_id).order_by(e.id)
    ):
        held[f"voter {voter}"] = "out" if undone is None else "in"
    of_project = sa.select(t.ballot.c.id).where(t.ballot.c.project_id == project_id)
    for id_, review in conn.execute(sa.select(a.id, a.review).where(a.ballot_id.in_(of_project))):
        held[f"assignment {id_}"] = review
    for upload in uploads_of(conn, project_id):
        held[f"file {upload.filename}"] = "there" if upload.withdrawn_at is None else "withdrawn"
    for of in embeddings_of(conn, project_id):
        held |= {f"embedding {of.id}": True, f"lower {of.id}": of.lower, f"subwords {of.id}": of.subwords}
    for release in releases_of(conn, project_id):
        held[f"version {release.version}"] = release.note
    link = sa.select(t.voting_link.c.id, t.voting_link.c.code).where(t.voting_link.c.project_id == project_id)
    for id_, code in conn.execute(link):
        held["link"] = code
        names = conn.execute(sa.select(t.invitation.c.name).where(t.invitation.c.voting_link_id == id_)).scalars()
        held |= {f"invited {name}": True for name in names}
    mapping = sa.select(t.column_mapping.c.mapping).where(t.column_mapping.c.project_id == project_id)
    held["voter's column"] = (conn.execute(mapping).scalar_one_or_none() or {}).get("voter")
    return held


def _submitted(command: Any) -> Callable[[Store], None]:
    """Give a command as a page does: what it takes is asked first, what it says is made."""

    def run(store: Store) -> None:
        done = submit(store, command)
        if isinstance(done, Done):
            command.summary(done.result)

    return run


def _plainly(action: Callable[..., Any], *args: Any, **named: Any) -> Callable[[Store], None]:
    return lambda store: (action(store, *args, **named), None)[1]


def _base(seen: Seen) -> tuple[str, int]:
    return seen.project.id, seen.project.revision


def _opened(seen: Seen) -> bool:
    return seen.is_open


def _undrawn(seen: Seen) -> bool:
    return not seen.ballots


# Projects


@_owner("rename")
def _rename(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    notion = rng.choice(("relatedness", "similarity")) if _undrawn(seen) else seen.project.notion

    def run(store: Store) -> dict[str, Any]:
        return {"name": change_project(store, id_, name=f"P {tag}", notion=notion, expected_revision=revision)}

    return Press(run, "change project", sets={"notion": notion})


@_owner("describe")
def _describe(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    fields = SheetFields(title=tag, authors="Ada, Ben")
    run = _plainly(save_fields, id_, fields, expected_revision=revision)
    return Press(run, "describe dataset", sets={"datasheet": fields.stored()})


@_owner("begin anew", lambda seen: len(seen.campaign) == PLAN.n_ballots and not seen.is_open, 0.7)
def _archive(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)

    def run(store: Store) -> None:
        archive_project(store, id_, expected_revision=revision)
        begin(store, f"Main {tag}", rng.randrange(1000))

    return Press(run, "archive project", sets={"archived": True})


@_owner("restore", lambda seen: seen.n_listed < MOST_PROJECTS, 0.2)
def _restore(seen: Seen, rng: random.Random, tag: str) -> Press:
    def run(store: Store) -> None:
        put_away = list_archived(store)
        if not put_away:
            raise StoreError("Nothing is archived.")
        of = rng.choice(put_away).project
        restore_project(store, of.id, expected_revision=of.revision)

    return Press(run)


@_owner("copy", lambda seen: seen.n_listed < MOST_PROJECTS, 0.3)
def _copy(seen: Seen, rng: random.Random, tag: str) -> Press:
    return Press(_submitted(of_projects.CopyProject(seen.project.id, seen.project.name, f"Copy {tag}")))


@_owner("import", lambda seen: seen.n_listed < MOST_PROJECTS, 0.3)
def _import(seen: Seen, rng: random.Random, tag: str) -> Press:
    def run(store: Store) -> None:
        data = export_project(store, seen.project.id)
        file = of_votes.bring_file(store, data, f"{tag}.zip")
        _submitted(of_projects.ImportProject(file.sha256, file.name, file.size))(store)

    return Press(run)


@_owner("delete", lambda seen: seen.n_listed >= MOST_PROJECTS and not seen.project.name.startswith("Main"), 1.0)
def _delete(seen: Seen, rng: random.Random, tag: str) -> Press:
    project = seen.project
    return Press(_submitted(of_projects.DeleteProject(project.id, project.name, project.revision)))


@_owner("release", lambda seen: any(not one.is_open for one in seen.campaign), 0.1)
def _release(seen: Seen, rng: random.Random, tag: str) -> Press:
    command = of_projects.ReleaseVersion(*_base(seen), f"1.{len(seen.versions)}", tag)
    # It is checked against the revision that it read itself.
    sets = {f"version 1.{len(seen.versions)}": tag}
    return Press(_submitted(command), "release dataset", sets=sets)


@_owner("switch a server on or off", weight=0.5)
def _server(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    if rng.random() < 0.3:
        run = _plainly(allow_server, id_, f"http://localhost/{tag}", True, expected_revision=revision)
        return Press(run, "allow server")
    if rng.random() < 0.3:

        def off(store: Store) -> None:
            with store.read() as conn:
                on = standing(conn, id_)["server"]
            if on is None:
                raise StoreError("Nothing is switched on.")
            switch_off(store, id_, "chat", expected_revision=revision)

        return Press(off, "switch server off", sets={"server": None})
    settings = {"address": "http://localhost:9", "model": tag}
    run = _plainly(switch_on, id_, "chat", settings, expected_revision=revision)
    return Press(run, "switch server on", sets={"server": tag})


# Embeddings


def _of_embedding(id_: str) -> tuple[str, str, str]:
    return f"embedding {id_}", f"lower {id_}", f"subwords {id_}"


@_owner("add or remove an embedding", weight=0.5)
def _embedding(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_ = seen.project.id
    if seen.embeddings and rng.random() < 0.5:
        of = seen.embeddings[0].id
        run = _plainly(remove_embedding, id_, of)
        return Press(run, "remove embedding", checked=False, tag=of, sets=dict.fromkeys(_of_embedding(of)))

    def add(store: Store) -> dict[str, Any]:
        others = other_embeddings(store, id_)
        if not others:
            raise StoreError("There is no other embedding.")
        add_embedding(store, id_, others[0].id)
        return dict(zip(_of_embedding(others[0].id), (True, False, False), strict=True))

    return Press(add, "add embedding", checked=False)


@_owner("import an embedding", weight=0.1)
def _import_embedding(seen: Seen, rng: random.Random, tag: str) -> Press:
    def run(store: Store) -> dict[str, Any]:
        """How tokens are looked up in it stays where the project has it already."""
        import_into(store, seen.project.id, store.folder.parent / "vectors.vec", name=tag)
        [folder] = store.embeddings.iterdir()
        return dict(zip(_of_embedding(folder.name), (True, UNKNOWN, UNKNOWN), strict=True))

    return Press(run, "import embedding", checked=False, tag=tag)


@_owner("change the look-up", lambda seen: seen.embeddings)
def _look_up(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    of = seen.embeddings[0]
    if (kind := rng.randrange(3)) == 0:
        lower = not of.lower
        run = _plainly(set_lookup, id_, of.id, LookUp(lower), expected_revision=revision)
        return Press(run, "set look-up", sets={f"lower {of.id}": lower})
    if kind == 1:
        use = not of.subwords
        run = _plainly(set_subwords, id_, of.id, use, expected_revision=revision)
        return Press(run, "set subwords", sets={f"subwords {of.id}": use})
    action = "take remedy back" if of.lower else "apply remedy"
    run = _plainly(set_remedy, id_, "lower", not of.lower, expected_revision=revision)
    return Press(run, action, sets={f"lower {of.id}": not of.lower})


# Tokens and the plan


@_owner("add an area", _undrawn)
def _add_area(seen: Seen, rng: random.Random, tag: str) -> Press:
    area = AreaTokens(f"Area {rng.randrange(3)}", (f"{tag}-a", f"{tag}-b", f"{tag}-c"))
    run = _plainly(add_areas, seen.project.id, [area])
    return Press(run, "add areas", checked=False, tag=f"{tag}-a", sets=_tokens(area, True))


def _tokens(area: AreaTokens, there: bool | None) -> dict[str, Any]:
    return {f"token {area.name}/{token}": there for token in area.tokens}


@_owner("change an area", lambda seen: _undrawn(seen) and seen.areas, 2.0)
def _change_area(seen: Seen, rng: random.Random, tag: str) -> Press:
    area, id_ = rng.choice(seen.areas), seen.project.id
    new = AreaTokens(area.name, (*area.tokens[:4], tag))
    sets = _tokens(area, None) | _tokens(new, True)
    if (kind := rng.randrange(3)) == 0:
        run = _plainly(change_areas, id_, [area], [new])
        return Press(run, "change areas", checked=False, tag=tag, sets=sets)
    if kind == 1:
        of = seen.embeddings[0].id if seen.embeddings else "none"
        run = _plainly(add_tokens, id_, area, [tag], embedding_id=of)
        return Press(run, "add near tokens", checked=False, tag=tag, sets={f"token {area.name}/{tag}": True})
    return Press(_plainly(change_area, id_, area, new.tokens), "change area", checked=False, tag=tag, sets=sets)


@_owner("delete an area, and bring it back", lambda seen: _undrawn(seen) and len(seen.areas) > 1, 0.5)
def _delete_area(seen: Seen, rng: random.Random, tag: str) -> Press:
    area, id_ = rng.choice(seen.areas), seen.project.id
    again = rng.random() < 0.5

    def run(store: Store) -> None:
        gone = delete_area(store, id_, area)
        if again:
            restore_area(store, id_, gone)

    # Its last entry is told; with an area of its name there by then, nothing is brought back, and that is told too.
    action = "bring area back" if again else "delete area"
    sets = _tokens(area, True if again else None)
    return Press(run, action, checked=False, tag=area.tokens[-1], sets=sets)


@_owner("correct a spelling", lambda seen: seen.areas)
def _correct(seen: Seen, rng: random.Random, tag: str) -> Press:
    area = rng.choice(seen.areas)
    old, new = rng.choice(area.tokens), f"{tag}-s"
    run = _plainly(correct_spelling, seen.project.id, area.name, old, new)
    sets = {f"token {area.name}/{old}": None, f"token {area.name}/{new}": True}
    return Press(run, "correct spelling", checked=False, tag=new, sets=sets)


@_owner("set the rules of items", _undrawn)
def _rules(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    rules = ItemRules(sample_size=rng.choice((None, 3, 4, 5)))
    run = _plainly(set_item_rules, id_, rules, expected_revision=revision)
    return Press(run, "set item rules", sets={"rules": rules.stored()})


@_owner("use a list of frequencies")
def _frequencies(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    data = f"word,count\ncat,{rng.randrange(9, 99)}\ndog,3\nsaw,1\n".encode()

    def run(store: Store) -> dict[str, Any]:
        use_list(store, id_, data, f"{tag}.csv", RareTerms(), expected_revision=revision)
        return {"frequencies": f"{tag}.csv"}

    return Press(run, "set frequencies")


@_owner("set the ranking", _undrawn, 0.1)
def _ranking(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    other = "area" if seen.project.ranking == "all" else "all"
    run = _plainly(set_ranking, id_, other, expected_revision=revision)
    return Press(run, "set ranking", sets={"ranking": other})


@_owner("save the plan", lambda seen: not seen.campaign)
def _plan(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    reward = rng.randrange(1, 10_000) / 10_000
    run = _plainly(save_plan, id_, replace(PLAN, reward=reward), expected_revision=revision)
    return Press(run, "save plan", sets={"reward": reward})


@_owner("plan a round", weight=0.3)
def _plan_round(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    settings = default_settings("rating", seed=rng.randrange(1000))
    return Press(_plainly(save_round_plan, id_, settings, expected_revision=revision), "plan round")


@_owner("register the plan", lambda seen: not seen.campaign, 0.3)
def _register(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    return Press(_plainly(register_plan, id_, expected_revision=revision), "register plan")


# Ballots


@_owner("draw a pilot", _undrawn, 0.1)
def _pilot(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    run = _plainly(draw_pilot, id_, 6, expected_revision=revision)
    return Press(run, "draw ballot", sets={"ballot 0": "open"})


@_owner("draw", lambda seen: not seen.is_open and len(seen.campaign) < PLAN.n_ballots, 3.0)
def _draw(seen: Seen, rng: random.Random, tag: str) -> Press:
    number = len(seen.campaign) + 1
    kinds = (of_ballots.DrawWaiting, of_ballots.DrawBallot)
    waiting = seen.project.ranking == "area"
    command = kinds[0](*_base(seen)) if waiting else kinds[1](*_base(seen), None)
    sets = {} if waiting else {f"ballot {number}": "open", f"closing words {number}": None}
    return Press(_submitted(command), "" if waiting else "draw ballot", sets=sets)


def _of_newest(kind: Any, state: str | None) -> Make:
    def make(seen: Seen, rng: random.Random, tag: str) -> Press:
        ballot = _newest(seen)
        command = kind.of(*_base(seen), ballot)
        gone = {} if state else {f"closing words {ballot.number}": None}
        return Press(_submitted(command), kind.name, sets={f"ballot {ballot.number}": state} | gone)

    return make


def _newest(seen: Seen) -> Ballot:
    if seen.newest is None:
        raise StoreError("There is no ballot.")
    return seen.newest


_owner("close", _opened, 1.5)(_of_newest(of_ballots.CloseBallot, "closed"))
_owner("reopen", lambda seen: seen.newest and not seen.is_open, 0.6)(_of_newest(of_ballots.ReopenBallot, "open"))
_owner("discard", _opened, 0.3)(_of_newest(of_ballots.DiscardBallot, None))


@_owner("simulate votes", _opened)
def _simulate(seen: Seen, rng: random.Random, tag: str) -> Press:
    command = of_ballots.SimulateVotes.of(*_base(seen), _newest(seen))
    return Press(_submitted(command), "simulate votes")


# Files and decisions


@_owner("take a file", _opened, 3.0)
def _upload(seen: Seen, rng: random.Random, tag: str) -> Press:
    ballot = _newest(seen)
    status = rng.choice(("Submitted", "Approved", "Approved", "Rejected"))
    answers = random.Random(tag)

    def run(store: Store) -> None:
        with store.read() as conn:
            batch = write_batch(comparisons_of(conn, ballot.id, seen.project.id))
        data = answer_batch(
            batch, voters=PEOPLE, choose=lambda _: answers.choice(CHOICES), status=status, tag=f"{tag}-"
        )
        file = of_votes.bring_file(store, data, f"{tag}.csv")
        command = of_votes.TakeUploads(*_base(seen), None, ballot.code, ((file, None),))
        _submitted(command)(store)

    sets = {f"file {tag}.csv": "there"}
    return Press(run, "accept upload", checked=False, tag=f"{tag}.csv", sets=sets)


@_owner("withdraw a file", lambda seen: seen.is_open and any(one.withdrawn_at is None for one in seen.uploads), 0.8)
def _withdraw(seen: Seen, rng: random.Random, tag: str) -> Press:
    upload = rng.choice([one for one in seen.uploads if one.withdrawn_at is None])
    command = of_votes.WithdrawUpload(*_base(seen), upload.id, upload.filename)
    sets = {f"file {upload.filename}": "withdrawn"}
    return Press(_submitted(command), "withdraw upload", checked=False, tag=upload.filename, sets=sets)


@_owner("leave out or readmit a voter", lambda seen: seen.voters, 2.0)
def _exclude(seen: Seen, rng: random.Random, tag: str) -> Press:
    voter = rng.choice(list(seen.voters))
    if seen.voters[voter]:
        command: Any = of_votes.ReadmitVoters(*_base(seen), (voter,))
        return Press(_submitted(command), "readmit voters", sets={f"voter {voter}": "in"})
    command = of_votes.ExcludeVoters(*_base(seen), (voter,), tag, {})
    return Press(_submitted(command), "exclude voters", sets={f"voter {voter}": "out"})


@_owner("review", lambda seen: seen.assignments, 1.5)
def _review(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_ = rng.choice(seen.assignments)
    said = rng.choice((Review("approve"), Review("reject", "too fast"), None))
    command = of_votes.ReviewAssignments(*_base(seen), _newest(seen).id, {id_: said})
    sets = {f"assignment {id_}": said.decision if said else None}
    return Press(_submitted(command), "review assignments", sets=sets)


@_owner("set the policy")
def _policy(seen: Seen, rng: random.Random, tag: str) -> Press:
    rejected, repeats = rng.choice(list(REJECTED)), rng.choice(list(REPEATS))
    command = of_votes.SetPolicy(*_base(seen), rejected, repeats)
    return Press(_submitted(command), "set policy", sets={"policy": {"rejected": rejected, "repeats": repeats}})


@_owner("name columns", weight=0.5)
def _columns(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    if rng.random() < 0.3:
        run = _plainly(forget_mapping, id_, HEADER, expected_revision=revision)
        return Press(run, "forget columns", sets={"voter's column": None})
    voter, comparison, choice = rng.sample(HEADER, 3)
    mapping = Mapping(voter=voter, comparison=comparison, choice=choice)
    run = _plainly(remember_mapping, id_, HEADER, mapping, expected_revision=revision)
    return Press(run, "map columns", sets={"voter's column": voter})


# The voting page


@_owner("open the voting page", _opened)
def _open_voting(seen: Seen, rng: random.Random, tag: str) -> Press:
    ballot, settings = _newest(seen), replace(PAGE, closing=tag)
    command = of_ballots.OpenVoting.of(*_base(seen), ballot, settings=settings.stored())
    sets = {f"closing words {ballot.number}": tag}
    return Press(_submitted(command), "open voting", sets=sets)


@_owner("pause, resume or close voting", lambda seen: seen.is_open and seen.voting)
def _state(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    state = rng.choice(("paused", "open", "open", "closed"))
    run = _plainly(set_voting_state, id_, state, code=_newest(seen).code, expected_revision=revision)
    return Press(run, f"voting {state}")


@_owner("renew the link", lambda seen: seen.link, 0.3)
def _renew(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    return Press(lambda store: {"link": renew_link(store, id_, expected_revision=revision)}, "renew voting link")


@_owner("invite", lambda seen: seen.link, 0.5)
def _invite(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    run = _plainly(invite, id_, [tag], expected_revision=revision)
    return Press(run, "invite voters", sets={f"invited {tag}": True})


@_owner("take a voter out", lambda seen: seen.is_open and seen.sittings, 0.5)
def _withdraw_voters(seen: Seen, rng: random.Random, tag: str) -> Press:
    some = tuple(rng.sample(seen.sittings, min(len(seen.sittings), rng.choice((1, 2)))))
    command = of_votes.WithdrawVoters(*_base(seen), some)
    return Press(_submitted(command), "withdraw voter" if len(some) == 1 else "withdraw voters")


@_owner("add or remove a check", _opened, 0.7)
def _checks(seen: Seen, rng: random.Random, tag: str) -> Press:
    id_, revision = _base(seen)
    code = _newest(seen).code
    if seen.gold and rng.random() < 0.4:
        run = _plainly(remove_gold, id_, rng.choice(seen.gold), code=code, expected_revision=revision)
        return Press(run, "remove check")
    one, other = rng.sample(range(9), 2)
    return Press(_plainly(add_gold, id_, [(one, other)], code=code, expected_revision=revision), "add checks")


@_owner("a vote", lambda seen: seen.link and seen.voting and seen.voting.state == "open", 4.0)
def _vote(seen: Seen, rng: random.Random, tag: str) -> Press:
    """A voter comes and answers up to three times; none of this is an owner's command.

    Where a ballot is being closed or another one writes, a voter's page asks again by itself: here it comes no more.
    """
    choices = [rng.choice(CHOICES) for _ in range(3)]

    def run(store: Store) -> None:
        with suppress(BusyError):
            answer(store)

    def answer(store: Store) -> None:
        code = str(seen.link)
        view = api.look(store, code, "", tag, api.Visitor())
        if view.kind == "entry":
            view = api.begin(store, code, tag, view.form, api.Visitor(), name=f"Voter {tag}")
        for choice in choices:
            if view.kind != "vote" or view.place is None:
                return
            place = view.place
            view = api.vote(store, code, view.cookie or "", view.form, task=place.task, n=place.n, choice=choice)

    return Press(run)
