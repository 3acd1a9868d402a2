"""Everything whose bytes stay, made by today's code: `python -m tests.golden.make --write` writes it anew.

What a file here says may change only by intention, with a reason in the commit: batches and task files lie on
platforms, datasets are published, registrations are compared. Texts that are short are kept as they are, long ones by
their SHA-256; HTML by its DOM (how a quotation mark is escaped is nobody's business); numbers of sixteen digits are
rounded to twelve before, as sums may end in other last bits on another processor.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from core.ballots import draw_comparisons
from core.ballots.checks import CheckSettings, GoldComparison
from core.ballots.draw import draw_ballot
from core.ballots.pairing import draw_near_comparisons
from core.ballots.quick_draw import quick_comparisons
from core.commands.publishing import publish
from core.plan import Plan
from core.platforms import PLATFORMS, template
from core.platforms.plain import split_among_colleagues, write_offline, write_tables
from core.platforms.round_files import round_files
from core.protocols import Votes
from core.protocols.base import balanced
from core.protocols.runoff import Runoff, spread_appearances
from core.questions import default_settings
from core.questions.comparison_page import Example, Wording, write_batch
from core.questions.writing import task_page
from core.simulation import simulate_campaign
from core.store import Store, open_store
from core.store import schema as t
from core.store.ballots.ballot_rows import Ballot, ballot_seed, read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot
from core.store.ballots.comparisons import read_shown
from core.store.ballots.drawing import draw_next_ballot, draw_round, round_seed
from core.store.ballots.pilots import draw_pilot
from core.store.ballots.simulated import simulate_votes
from core.store.projects.plans import PlanSettings, read_rankings, register_plan, save_plan, settings_of
from core.store.projects.project_commands import create_project, read_log
from core.store.scores.project_dataset import read_project_dataset
from core.store.tokens.areas import add_areas
from core.store.votes.exclusions import exclude_voters
from core.store.votes.intake import accept_upload
from core.store.voting.owner_commands import read_invitations, read_link
from core.views.collect.collect_page import outgoing
from core.views.collect.tasks import load as load_pages
from core.views.log import SENTENCES
from core.voters.model import exponential
from core.voting import api
from tests.campaigns import AREAS, answer_batch
from tests.old_workspaces import GONE_ON, MAIN, unpack_kept_workspace
from tests.rounds_of_people import SCHEMES, SMALL, read_rounds
from voting import pages

FOLDER = Path(__file__).parent
SHORT = 400  # characters: longer texts are kept by their hash
CHECKS = CheckSettings(overlap=0.2, gold=1, repeats=1, gold_pairs=(GoldComparison(("cat", "dog"), ("saw", "007")),))
PLAN = PlanSettings(n_ballots=3, keep=0.5, appearances=4, task_size=3, n_voters=6, seed=7, protocol="paper")
EXAMPLE = Example(("cup", "tea"), ("cup", "“tax” & <law>"), "left", "Tea is drunk from cups.")
ITALIAN = Wording("Quale coppia?", "Leggi.\n\nPoi scegli.", (EXAMPLE,), "it")


# How things are kept


def kept(value: Any) -> Any:
    """As JSON: texts and bytes by their hash where they are long, arrays as lists, numbers in twelve digits."""
    if isinstance(value, bytes):
        return kept(value.decode("utf-8"))
    if isinstance(value, str):
        text = rounded(value)
        return text if len(text) <= SHORT else digest(text)
    if isinstance(value, np.ndarray):
        return kept(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): kept(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        whole = [kept(part) for part in value]
        return whole if len(json.dumps(whole)) <= SHORT else digest(json.dumps(whole))
    if isinstance(value, np.generic):
        return kept(value.item())
    return float(f"{value:.12g}") if isinstance(value, float) else value


def rounded(text: str) -> str:
    """The text with numbers of more than twelve digits after the point in twelve significant ones."""
    return re.sub(r"-?\d+\.\d{12,}(e[-+]?\d+)?", lambda found: f"{float(found.group()):.12g}", text)


def digest(data: str | bytes) -> str:
    return "sha256:" + hashlib.sha256(data if isinstance(data, bytes) else data.encode("utf-8")).hexdigest()


class _Dom(HTMLParser):
    """What a browser makes of a page: elements with their attributes, texts, comments."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.events: list[Any] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.events.append(["<", tag, sorted((name, value or "") for name, value in attrs)])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self.events.append([">", tag])

    def handle_data(self, data: str) -> None:
        if self.events and isinstance(self.events[-1], str):
            data = self.events.pop() + data
        self.events.append(data)

    def handle_comment(self, data: str) -> None:
        self.events.append(["!", data])


def dom(page: str | bytes) -> str:
    """The hash of a page's DOM."""
    parser = _Dom()
    parser.feed(page if isinstance(page, str) else page.decode("utf-8"))
    parser.close()
    return digest(json.dumps(parser.events, ensure_ascii=False))


def file(name: str, data: bytes) -> Any:
    """A file as it is kept: pages by their DOM, packed ones by what is in them."""
    if name.endswith(".html"):
        return dom(data)
    if name.endswith((".xlsx", ".zip")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return digest("\0".join(f"{each}\0{archive.read(each).decode('utf-8')}" for each in archive.namelist()))
    return digest(data) if name.endswith(".parquet") else kept(data)


# What is drawn


def seeds() -> dict[str, Any]:
    """Which seed which ballot has."""
    places = (None, 0, 1, 7)
    return {
        "ballot": {f"{n} of ranking {place}": ballot_seed(11, 7, n, place) for n in (0, 1, 2, 9) for place in places},
        "round": {f"{n} of ranking {place}": round_seed(11, 7, n, place) for n in (1, 2, 9) for place in places},
    }


def draws() -> dict[str, Any]:
    """Comparisons, sides and tasks by seed."""
    found: dict[str, Any] = {}
    for n, m in ((5, 2), (7, 3), (12, 4), (6, 9), (40, 20), (200, 7)):
        rng = np.random.default_rng([n, m])
        found[f"{n} items {m} times"] = draw_comparisons(np.arange(n) * 3, m, rng=rng)
        found[f"{n} items {m} times, quick"] = quick_comparisons(np.arange(n), -(-n * m // 2), rng)
        score = np.sin(np.arange(n) * 1.7)
        near = draw_near_comparisons(np.arange(n), m, score=score, spread=np.full(n, 0.3), rng=rng)
        found[f"{n} items {m} times, near"] = near
        items, n_pairs = np.arange(n), -(-n * m // 2)
        ways: dict[str, Callable[[np.random.Generator], Any] | None] = {
            "[]": None,
            "['connected']": partial(_joined, items, n_pairs),
            "['near']": partial(_near, items, m, score),
        }
        for how, pairs_of in ways.items():
            ballot = draw_ballot(np.arange(n), m, task_size=3, seed=n + m, pairs_of=pairs_of)
            parts = (ballot.first, ballot.second, ballot.task, ballot.position, ballot.flipped)
            found[f"ballot of {n} items {m} times {how}"] = [part.tolist() for part in parts]
    plans = {"runoff": spread_appearances(990, 7, 0.5, 19_660), "small": spread_appearances(21, 3, 0.5, 90)}
    return found | {f"appearances, {name}": plan.appearances for name, plan in plans.items()}


def _joined(items: Any, n: int, rng: np.random.Generator) -> Any:
    return Runoff().draw(items, n, [], rng, balanced)


def _near(items: Any, m: int, score: Any, rng: np.random.Generator) -> Any:
    return draw_near_comparisons(items, m, score=score, spread=np.full(len(items), 0.3), rng=rng)


def campaigns() -> dict[str, Any]:
    """Simulated campaigns of all protocols and conventions."""
    found: dict[str, Any] = {}
    plans = {"paper": Plan(60, 4, 0.5, 10), "runoff": Plan(60, 4, 0.5, (12, 8, 9, 14)), "uniform": Plan(60, 4, 0.5, 10)}
    ways = [(name, "paper", notion) for name in plans for notion in ("relatedness", "similarity")]
    for protocol, convention, notion in [
        *ways,
        ("paper", "released", "relatedness"),
        ("uniform", "released", "relatedness"),
    ]:
        made = simulate_campaign(
            exponential(60), plans[protocol], protocol=protocol, convention=convention, notion=notion,
            rng=np.random.default_rng(5),
        )  # fmt: skip
        found[f"{protocol}, {convention}, {notion}"] = {
            "scores": made.scores,
            "first scores": made.scores[:3].tolist(),
            "comparisons": made.n_comparisons,
            "slopes": [None if np.isnan(slope) else slope for slope in made.slopes],
            "accuracy": made.accuracy()._asdict(),
            "items": [ballot.items.tolist() for ballot in made.ballots],
            "votes": [[part.tolist() for part in Votes.of(ballot.votes)] for ballot in made.held],
        }
    return found


# What is stored


def rows_of(store: Store, query: sa.Select) -> list[list[Any]]:
    with store.read() as conn:
        return [list(row) for row in conn.execute(query)]


def stored(store: Store, project_id: str) -> dict[str, Any]:
    """What a project's ballots, items, votes and log say, without times and ids of rows."""
    b, i, s, r = t.ballot.c, t.item.c, t.item_score.c, t.ballot_item.c
    named = [b.ordinal, b.code, b.seed, b.appearances, b.n_items, b.n_comparisons, b.n_tied, b.n_tied_kept, b.slope]
    of = (b.project_id == project_id, b.kind == "comparison")
    items = sa.select(b.ordinal, i.position, r.entry_score, r.x, r.y, r.mean, r.count, r.lower, r.upper)
    items = items.join(t.ballot, b.id == r.ballot_id).join(t.item, i.id == r.item_id).where(*of)
    scores = sa.select(b.ordinal, i.position, s.theta, s.error, s.score, s.lower, s.upper, s.rank_lower, s.rank_upper)
    scores = scores.join(t.ballot, b.id == s.ballot_id).join(t.item, i.id == s.item_id).where(*of)
    fits = rows_of(store, sa.select(b.ordinal, b.fit, b.interval_note).where(*of).order_by(b.ordinal))
    log = [
        [entry["action"], re.sub(r"[0-9a-f]{64}", "…", json.dumps(entry["detail"]))]
        for entry in read_log(store, project_id)
    ]
    return {
        "ballots": {str(row[0]): row[1:] for row in rows_of(store, sa.select(*named).where(*of).order_by(b.ordinal))},
        "items": rows_of(store, items.order_by(b.ordinal, i.position)),
        "fitted": rows_of(store, scores.order_by(b.ordinal, i.position)),
        # The gradient at the end of a fit is noise.
        "fits": {str(n): {"note": note} | (fit or {}) | {"gradient": None} for n, fit, note in fits},
        "dataset": read_project_dataset(store, project_id).to_csv(index=False),
        "batches": {str(b.number): digest(batch_of(store, project_id, b)) for b in read_ballots(store, project_id)},
        "log": {str(n): entry for n, entry in enumerate(log[::-1], 1)},
    }


def batch_of(store: Store, project_id: str, ballot: Ballot) -> bytes:
    return write_batch(read_comparisons(store, project_id, ballot.number, ballot.area_id))


def new_project(store: Store, plan: PlanSettings, *, kind: str = "real") -> str:
    """A project with an id and a secret that don't change."""
    project_id = create_project(store, plan.protocol, kind=kind, seed=11, project_id=f"g{plan.protocol}")
    add_areas(store, project_id, AREAS)
    save_plan(store, project_id, plan)
    with store.write(project_id) as conn:
        conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(voter_secret="5" * 64))
    return project_id


def hold(store: Store, project_id: str, name: str) -> None:
    """Draw the next ballot and answer it in full by a file."""
    number = draw_next_ballot(store, project_id)
    ballot = next(ballot for ballot in read_ballots(store, project_id) if ballot.number == number)
    accept_upload(store, project_id, answer_batch(batch_of(store, project_id, ballot), tag=name), f"{name}.csv")


def paper_project(store: Store) -> str:
    """Registered, with checks, a pilot, two closed ballots, somebody left out, and an open ballot without votes."""
    project_id = new_project(store, replace(PLAN, checks=CHECKS))
    register_plan(store, project_id)
    draw_pilot(store, project_id, 20)
    accept_upload(
        store, project_id, answer_batch(write_batch(read_comparisons(store, project_id, 0)), tag="P"), "p.csv"
    )
    close_ballot(store, project_id)
    for name in ("A", "B"):
        hold(store, project_id, name)
        close_ballot(store, project_id)
    voter = rows_of(store, sa.select(t.voter.c.id).where(t.voter.c.external_id == "W6"))[0][0]
    exclude_voters(store, project_id, [voter], "in a hurry")
    draw_next_ballot(store, project_id)
    return project_id


def runoff_project(store: Store) -> str:
    """Simulated voters, a closed ballot and an open one."""
    project_id = new_project(store, replace(PLAN, protocol="runoff", n_ballots=2), kind="trial")
    draw_next_ballot(store, project_id)
    simulate_votes(store, project_id)
    close_ballot(store, project_id)
    draw_next_ballot(store, project_id)
    return project_id


# What goes out


def files_out(store: Store, project_id: str) -> dict[str, Any]:
    """The files of the newest ballot for every platform, and those of a round of each other scheme."""
    found: dict[str, Any] = {}
    with store.read() as conn:
        _, settings = settings_of(conn, project_id) or (0, PLAN)
    ballot = read_ballots(store, project_id)[-1]
    for wording in (settings.wording, ITALIAN):
        out = load_pages(store, ballot, replace(settings, wording=wording), "relatedness")
        for missing in (False, True):
            whole = outgoing(store, project_id, ballot, out, missing=missing)
            for platform in PLATFORMS:
                key = f"{platform.name}, {wording.language}{', top-up' if missing else ''}"
                found[key] = {one.name: file(one.name, one.make()) for one in platform.files(whole)}
    comparisons = read_comparisons(store, project_id, ballot.number)
    tables = split_among_colleagues(comparisons, ["Ann", "Ben"])
    for excel in (False, True):
        parts = write_tables(tables, name=ballot.code, excel=excel)
        found[f"colleagues, {excel}"] = {name: file(name, data) for name, data in parts.items()}
    ways: dict[str, dict[str, Any]] = {
        "two files": {"n_files": 2, "ties_allowed": False},
        "Italian": {
            "wording": Wording(ITALIAN.question, "", ITALIAN.examples, "it"), "consent": "Yes.\n\nNo.",
            "ties_allowed": True,
        },
    }  # fmt: skip
    for way, settings_of_it in ways.items():
        parts = write_offline(comparisons, name=ballot.code, notion="similarity", **settings_of_it)
        found[f"offline, {way}"] = {name: file(name, data) for name, data in parts.items()}
    for target in ("turkle", "mturk", "page"):
        for notion in ("relatedness", "similarity"):
            found[f"template, {target}, {notion}"] = dom(
                template(n_comparisons=2, notion=notion, ties_allowed=True, target=target)
            )
    return found


def rounds_out(store: Store) -> dict[str, Any]:
    """What goes out for rounds of the other schemes, and their task pages."""
    project_id = new_project(store, replace(PLAN, protocol="paper"))
    found: dict[str, Any] = {}
    for scheme in SCHEMES:
        draw_round(store, project_id, SMALL[scheme])
        one = read_rounds(store, project_id)[-1]
        settings = {**one.settings.stored(), "notion": "relatedness"}
        files = round_files(
            one.code, one.asks, settings, shown=partial(read_shown, store, project_id, one.id), widest=4
        )
        found[scheme] = {
            "settings": settings,
            "default settings": default_settings(scheme, seed=3).stored(),
            "files": {each.name: file(each.name, each.make()) for each in files},
            "pages": {each: dom(task_page(scheme, settings, task_size=2, target=each)) for each in ("turkle", "mturk")},
        }
    return found


def published(store: Store, project_id: str) -> dict[str, Any]:
    """The tables of a project's published zip, the keys of what is JSON, and the names of all files."""
    with zipfile.ZipFile(io.BytesIO(publish(store, project_id, "1.0").data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    tables = [name for name in files if name.endswith((".csv", ".tsv", ".jsonl")) or name == "formats/records.json"]
    plan = json.loads(files["campaign/plan.json"])
    return {
        "names": sorted(files),
        "tables": {name: file(name, files[name]) for name in tables},
        "plan": leaves(plan, but=("versions", "at", "created_at", "drawn_at", "closed_at", "registered_at")),
        "keys of dataset.json": sorted(leaves(json.loads(files["dataset.json"]))),
        "datasheet.html": dom(timeless(files["datasheet.html"].decode("utf-8"))),
        "datasheet.md": digest(timeless(files["datasheet.md"].decode("utf-8"))),
        "README.md": digest(timeless(files["README.md"].decode("utf-8"))),
    }


def timeless(text: str) -> str:
    """The text without dates, versions, sizes of files and long numbers' last digits."""
    text = re.sub(r"\d{4}-\d\d-\d\d([T ][\d:.+]+)?|\d+\.\d+\.\w+|[\d.,]+ [kM]?B\b", "…", text)
    return rounded(text)


def leaves(value: Any, place: str = "", but: Iterable[str] = ()) -> dict[str, Any]:
    """All that isn't a container, by its place; of what is named by `but` nothing but that it is there."""
    if isinstance(value, dict) and value:
        parts = [
            leaves(part, f"{place}.{key}" if key not in but else f"{place}.{key}!", but) for key, part in value.items()
        ]
    elif isinstance(value, list) and value:
        parts = [leaves(part, f"{place}[{n}]", but) for n, part in enumerate(value)]
    else:
        return {place: None if place.endswith("!") else kept(value)}
    return {key: found for part in parts for key, found in part.items()}


def voters_pages(folder: Path) -> dict[str, Any]:
    """The voting page as those see it who come to the workspace that is kept as schema 0007."""
    unpack_kept_workspace(folder, GONE_ON[0])
    store = open_store(folder)
    areas = {ranking.area: ranking.area_id for ranking in read_rankings(store, MAIN)}
    links = {area: read_link(store, MAIN, area_id) or "" for area, area_id in areas.items()}
    tokens = {name: token for area_id in areas.values() for name, token in read_invitations(store, MAIN, area_id)}
    with store.write() as conn:  # what they hold isn't over yet
        conn.execute(sa.update(t.deal).where(t.deal.c.state == "open").values(expires_at="2999-01-01"))
    found = {}

    def page(name: str, view: api.VoterView, code: str) -> api.VoterView:
        found[name] = {"kind": view.kind, "dom": dom(pages.page(code, view, {}))}
        return view

    animals, tools = links["Animals"], links["Tools"]
    page("nobody", api.look(store, "none", "", "visit"), "none")
    page("newcomer", api.look(store, animals, "", "visit"), animals)
    page("newcomer to a round", api.look(store, tools, "", "visit"), tools)
    page("preview", api.look(store, animals, "", "visit", api.Visitor("mturk", "W", preview=True)), animals)
    who = api.Visitor("prolific", "P-new")
    view = page("a comparison", api.look(store, animals, "", "visit", who), animals)
    assert view.place is not None
    cookie, form, at = view.cookie or "", view.form, {"task": view.place.task, "n": view.place.n}
    page("the next one", api.vote(store, animals, cookie, form, **at, choice="right"), animals)
    page("taken back", api.undo(store, animals, cookie, form, **at), animals)
    page("finished", api.look(store, animals, "", "visit", api.Visitor("prolific", "P-finished")), animals)
    page("a question", api.look(store, tools, "", "visit", api.Visitor(token=tokens["Dora"])), tools)
    page("another", api.look(store, animals, "", "visit", api.Visitor("prolific", "P-open")), animals)
    page("of a round, another", api.look(store, tools, "", "visit", api.Visitor(token=tokens["Ada"])), tools)
    store.engine.dispose()
    return found


def words() -> dict[str, Any]:
    """Names that others keep: actions of the log, what a plan, its checks and its wording are stored as."""
    return {
        "log actions": sorted(SENTENCES),
        "plan": json.loads(json.dumps(replace(PLAN, checks=CHECKS).stored())),
        "plan of this version": json.loads(json.dumps(PlanSettings().stored())),
        "wording": ITALIAN.stored(),
    }


# All of it


class Workspace:
    """One workspace for all pins that are stored; each project is made when it is asked for first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = open_store(folder / "workspace")
        self._made: dict[str, str] = {}

    def project(self, make: Callable[[Store], str]) -> str:
        if make.__name__ not in self._made:
            self._made[make.__name__] = make(self.store)
        return self._made[make.__name__]


PINS: dict[str, Callable[[Workspace], dict[str, Any]]] = {
    "seeds": lambda at: seeds(),
    "draws": lambda at: draws(),
    "campaigns": lambda at: campaigns(),
    "words": lambda at: words(),
    "paper": lambda at: stored(at.store, at.project(paper_project)),
    "runoff": lambda at: stored(at.store, at.project(runoff_project)),
    "files": lambda at: files_out(at.store, at.project(paper_project)),
    "rounds": lambda at: rounds_out(open_store(at.folder / "rounds")),
    "published": lambda at: published(at.store, at.project(paper_project)),
    "voters_pages": lambda at: voters_pages(at.folder / "voters"),
}


def text_of(name: str, at: Workspace) -> str:
    """What a file here holds."""
    return json.dumps(kept(PINS[name](at)), ensure_ascii=False, indent=1) + "\n"


def main(arguments: list[str]) -> int:
    """Write the files that are named, or all; without `--write` print them."""
    wanted = [name for name in arguments if name in PINS] or list(PINS)
    with tempfile.TemporaryDirectory() as folder:
        at = Workspace(Path(folder))
        for name in wanted:
            if "--write" in arguments:
                (FOLDER / f"{name}.json").write_text(text_of(name, at), encoding="utf-8")
            else:
                print(f"{name}: {text_of(name, at)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
