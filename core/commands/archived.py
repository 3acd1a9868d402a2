"""A new project made of archived results of a campaign that Runoff didn't run.

Its tokens, items and comparisons are rebuilt from the words that voters were shown, then its ballots; its votes are
taken, and its ballots closed.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ..errors import InputError, Issue, RunoffError, StoreError
from ..platforms import Mapping, OpenQuestionsError, SourceTable, guess, normalised, open_results
from ..platforms.mapped_tables import OWN_TASK, mapped_frame
from ..questions import COMPARISON
from ..store import schema as t
from ..store.ballots.ballot_rows import ballot_seed
from ..store.ballots.closing import close_ballot
from ..store.command import Change, command, fetch_rows, insert_one, insert_rows, next_id
from ..store.engine import Store, now
from ..store.projects.plans import PlanSettings
from ..store.projects.project_commands import create_project
from ..store.schema.ballots import CAMPAIGN
from ..store.votes.intake import accept_upload
from ..store.votes.tallies import Progress
from ..tabular import NUMBER
from ..votes.answers import TEXTS
from ..votes.matching import text_key
from ..votes.meanings import ASKED, is_code, questions_of

_ANOTHER_SERVER = (
    "shows other tokens under the ids of tasks of an earlier file: it is from another server, so its tasks, "
    "assignments and accounts were taken as others"
)
AREA = "Archived"  # the area of tokens where no column names one
# Columns that name the task a comparison was shown in, so that a pair that met twice is two comparisons.
_INPUT = re.compile(r"input[.:]", re.IGNORECASE)
_OTHER_INPUTS = ("area", "id", "task", "hit", "question", "instruction")
_DIGITS = "0123456789"
TASKS = ("hitid", "_unit_id", "input:task_id", "id", "instance_id")


@dataclass(frozen=True)
class ArchivedBallot:
    """One ballot's comparisons: `comparisons` has the columns task, n, first, second (places in
    `RebuiltCampaign.items`), flipped, left_swapped, right_swapped; its rows are in the order of the file."""

    files: tuple[str, ...]
    comparisons: pd.DataFrame

    @property
    def items(self) -> np.ndarray:
        """The places of its items, in order."""
        return np.unique(self.comparisons[["first", "second"]].to_numpy())

    @property
    def code(self) -> str:
        """Follows from what was shown."""
        content = self.comparisons.to_csv(index=False).encode()
        return hashlib.sha256(content).hexdigest()[:8]


@dataclass(frozen=True)
class RebuiltCampaign:
    """A campaign rebuilt: `items` has area, token_a, token_b (schema ITEMS); a ballot for each file or one for all.

    `servers` says of each file from which server it is (`meanings.SERVERS`, "" where that makes no difference).
    """

    items: pd.DataFrame
    ballots: tuple[ArchivedBallot, ...]
    has_ties: bool
    notes: tuple[Issue, ...] = ()
    servers: tuple[str, ...] = ()

    @property
    def areas(self) -> dict[str, list[str]]:
        """The tokens of each area, in the order in which they were first shown."""
        tokens_of: dict[str, dict[str, None]] = {}
        for area, a, b in self.items[["area", "token_a", "token_b"]].itertuples(index=False, name=None):
            tokens_of.setdefault(area, {}).update({a: None, b: None})
        return {area: list(tokens) for area, tokens in tokens_of.items()}


def archive_mapping(table: SourceTable) -> Mapping:
    """The likeliest mapping of an archived file: as for votes, with the column that names the task."""
    mapping = guess(normalised(table))
    if mapping.task or mapping.comparison:
        return mapping
    folded = {name.strip().casefold(): name for name in reversed(table.header)}
    if not mapping.shows_texts:
        four = _four_inputs(table.header)
        if four:
            mapping = replace(mapping, left_a=four[0], left_b=four[1], right_a=four[2], right_b=four[3])
    return replace(mapping, task=next((folded[name] for name in TASKS if name in folded), ""))


def _four_inputs(header: Sequence[str]) -> list[str]:
    """The four columns of inputs that are left when those with a meaning of their own are taken away, in their order;
    none where there are more or fewer. Numbers at their ends count comparisons."""
    names = [name.strip() for name in header if _INPUT.match(name.strip())]
    names = [name for name in names if not _is_other(name)]
    bare = [name.rstrip(_DIGITS) for name in names]
    if len({name[len(begin) :] for name, begin in zip(names, bare, strict=True) if name != begin}) > 1:
        whole = [name if name == begin else begin + NUMBER for name, begin in zip(names, bare, strict=True)]
        names = list(dict.fromkeys(whole))
    return names if len(names) == len(TEXTS) else []


def _is_other(name: str) -> bool:
    """Whether an input's name, after its last point or colon, says that it is no token."""
    last = re.split("[.:]", name.lower())[-1]
    return last.startswith(_OTHER_INPUTS) or "_id" in last


def missing_words(table: SourceTable, mapping: Mapping) -> str:
    """What to do where no column says which words were shown, since then there is nothing to rebuild; else ""."""
    if mapping.shows_texts:
        return ""
    has_inputs = any(name.strip().casefold().startswith(("input.", "input:")) for name in table.header)
    missing = "Say which columns hold the four tokens" if has_inputs else (
        "It has no Input columns: on Mechanical Turk, they are in the file of Manage › Review results › Download CSV"
    )  # fmt: skip
    return f"{table.name} doesn't say which tokens the voters saw. {missing}."


def rebuild(tables: Sequence[SourceTable], mapping: Mapping, *, ballot_per_file: bool = False) -> RebuiltCampaign:
    """Rebuild tokens, items and comparisons from the words that voters saw.

    Texts are the same token if a reader can't tell them apart (`matching.text_key`). A comparison is a task's n-th;
    where no column names the task, the same two items are one comparison. With `ballot_per_file` each
    file is a ballot, and the items of a later one must be among those before. Of one ballot's files those whose tasks
    show other words under the same ids are from several servers, and their ids are their own.
    Raises `InputError` where words are missing, a pair is no pair, or the ballots don't follow from each other, and
    `OpenQuestionsError` where somebody must say what values mean.
    """
    shown_by_file, notes = [], []
    for at, table in enumerate(tables):
        if missing := missing_words(table, mapping):
            raise InputError(missing)
        rows, frame, _, problems = mapped_frame(normalised(table), mapping)
        _check_meant(table.name, frame)
        notes += [*rows.issues, *problems]
        shown_by_file.append(_shown(frame).assign(file=at, ballot=at if ballot_per_file else 0))
    whole = pd.concat(shown_by_file, ignore_index=True)
    odd = _odd(whole)
    if odd.any():
        notes.append(Issue(f"{int(odd.sum()):,} rows show no two pairs of two tokens each and were left out"))
        whole = whole[~odd].reset_index(drop=True)
    if whole.empty:
        raise InputError("No row of these files shows two pairs of tokens.")
    whole, items = _with_items(whole)
    servers = [""] * len(tables) if ballot_per_file else _servers(whole, len(tables))
    for at, server in enumerate(servers):
        if server:
            is_strange = (whole["file"] == at) & (whole["task_id"] != "") & ~whole["task_id"].str.fullmatch(OWN_TASK)
            whole["task_id"] = (server + ":" + whole["task_id"]).where(is_strange, whole["task_id"]).astype("str")
            notes.append(Issue(f"{tables[at].name} {_ANOTHER_SERVER}"))
    ballots = []
    for number, part in whole.groupby("ballot", sort=True):
        files = [table.name for table in tables] if not ballot_per_file else [tables[int(str(number))].name]
        ballots.append(ArchivedBallot(tuple(files), _comparisons(part)))
    _check_order(ballots)
    return RebuiltCampaign(items, tuple(ballots), bool((whole["choice"] == "tie").any()), tuple(notes), tuple(servers))


def _check_meant(name: str, frame: pd.DataFrame) -> None:
    """Raise `OpenQuestionsError` where answers wait for what somebody must say of their values."""
    codes = [choice for choice in frame["choice"].unique() if is_code(choice)]
    waits = frame["choice"].isin(codes) | (frame["status"].isin(list(ASKED)) & (frame["choice"] != ""))
    if waits.any():
        waiting = frame[waits]
        statuses = questions_of(waiting[waiting["status"].isin(list(ASKED))])
        choices = questions_of(waiting[waiting["choice"].isin(codes)].assign(status=""))
        raise OpenQuestionsError(name, (*choices, *statuses))


def _servers(whole: pd.DataFrame, n_files: int) -> list[str]:
    """The server of each file: "" for the first, "2", "3", … for those whose tasks show other words under its ids.

    A few tasks with other words are damage, most of them are another server. `whole` has the columns file, task_id, n,
    left and right (places of items).
    """
    low, high = whole[["left", "right"]].min(axis=1), whole[["left", "right"]].max(axis=1)
    keyed = whole.assign(low=low, high=high)[whole["task_id"] != ""].drop_duplicates(["file", "task_id", "n"])
    known: list[pd.DataFrame] = []
    servers = []
    for at in range(n_files):
        own_rows = keyed.loc[keyed["file"] == at, ["task_id", "n", "low", "high"]]
        fits = []
        for server in known:
            both = own_rows.merge(server, on=["task_id", "n"], suffixes=("", "_there"))
            same = int(((both["low"] == both["low_there"]) & (both["high"] == both["high_there"])).sum())
            fits.append(2 * same - len(both))
        best = max(range(len(fits)), key=fits.__getitem__, default=-1)
        if best < 0 or fits[best] < 0:
            best = len(known)
            known.append(own_rows)
        else:
            known[best] = pd.concat([known[best], own_rows]).drop_duplicates(["task_id", "n"])
        servers.append("" if best == 0 else str(best + 1))
    return servers


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    columns = frame[["task_id", "n", *TEXTS, "choice"]].copy()
    for text in TEXTS:
        columns[text] = _cleaned(columns[text])
    for side in ("left", "right"):
        role = f"area_{side}" if f"area_{side}" in frame else "area_left"
        columns[f"area_{side}"] = _cleaned(frame[role]).replace("", AREA) if role in frame else AREA
    return columns


def _cleaned(texts: pd.Series) -> pd.Series:
    codes, different = pd.factorize(texts)
    clean = pd.Series([" ".join(unicodedata.normalize("NFC", text).split()) for text in different], dtype="str")
    return pd.Series(clean.array.take(codes), texts.index) if len(different) else texts


def _odd(whole: pd.DataFrame) -> pd.Series:
    """Rows that show no comparison: a word is missing, a pair is one word twice, or both pairs are the same."""
    missing = (whole[list(TEXTS)] == "").any(axis=1)
    left = pd.Series([frozenset(pair) for pair in zip(whole["left_a"], whole["left_b"], strict=True)], whole.index)
    right = pd.Series([frozenset(pair) for pair in zip(whole["right_a"], whole["right_b"], strict=True)], whole.index)
    single = (left.map(len) < 2) | (right.map(len) < 2)
    return missing | single | ((left == right) & (whole["area_left"] == whole["area_right"]))


def _with_items(whole: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows with the places of their items, and the items in the order in which they were first shown."""
    sides = []
    for side in ("left", "right"):
        part = whole[[f"area_{side}", f"{side}_a", f"{side}_b"]].set_axis(["area", "a", "b"], axis=1)
        sides.append(part.assign(at=2 * np.arange(len(whole)) + (side == "right")))
    pairs = pd.concat(sides, ignore_index=True).sort_values("at", kind="stable", ignore_index=True)
    keys = {text: text_key(text) for name in ("a", "b") for text in pairs[name].unique()}
    a, b = pairs["a"].map(keys).astype("str"), pairs["b"].map(keys).astype("str")
    turned = (b < a).to_numpy()
    low, high = a.where(~turned, b), b.where(~turned, a)
    places, _ = pd.factorize(pd.MultiIndex.from_arrays([pairs["area"], low, high]))
    first = pd.Series(places).drop_duplicates().index
    distinct = pairs.loc[first].reset_index(drop=True)
    swap = turned[first]
    items = pd.DataFrame({"item": np.arange(len(distinct)), "area": distinct["area"]})
    items["token_a"] = distinct["a"].where(~swap, distinct["b"])
    items["token_b"] = distinct["b"].where(~swap, distinct["a"])
    columns = {"left": places[0::2], "right": places[1::2], "left_swapped": turned[0::2], "right_swapped": turned[1::2]}
    return whole.assign(**columns), items.astype({"area": "str", "token_a": "str", "token_b": "str"})


def _comparisons(part: pd.DataFrame) -> pd.DataFrame:
    """One row per comparison, with its sides as the file shows them first."""
    part = part.assign(first=part[["left", "right"]].min(axis=1), second=part[["left", "right"]].max(axis=1))
    part["flipped"] = part["left"] > part["right"]
    bare = part["task_id"] == ""
    if bare.any():
        nth = pd.Series(range(len(part)), part.index).groupby([part["first"], part["second"]]).transform("min")
        part["task_id"] = part["task_id"].where(
            ~bare, "c" + nth.rank(method="dense").astype(int).astype(str).str.zfill(5)
        )
        part.loc[bare, "n"] = 1
    first_rows = part.drop_duplicates(["task_id", "n"])
    columns = ["task_id", "n", "first", "second", "flipped", "left_swapped", "right_swapped"]
    return first_rows[columns].rename(columns={"task_id": "task"}).reset_index(drop=True)


def _check_order(ballots: Sequence[ArchivedBallot]) -> None:
    for before, after in pairwise(ballots):
        new = np.setdiff1d(after.items, before.items)
        if len(new):
            raise InputError(
                f"{after.files[0]} compares {len(new):,} items that {before.files[0]} doesn't, so it is no later "
                "ballot of the same campaign. Take the files in their order, or all of them as one ballot."
            )


@dataclass(frozen=True)
class ImportedArchive:
    """What became of archived results: the answers of each file by class (`reasons.CLASSES`), what a person should
    know, and why the last ballot is still open, "" where all are closed."""

    project_id: str
    n_tokens: int
    n_items: int
    n_comparisons: int
    counts: dict[str, dict[str, int]]
    notes: tuple[Issue, ...]
    why_open: str = ""


def import_archived(
    store: Store,
    name: str,
    files: Sequence[tuple[str, bytes]],
    *,
    mapping: Mapping | None = None,
    notion: str = "relatedness",
    random_opponents: bool = False,
    ballot_per_file: bool = False,
) -> ImportedArchive:
    """Make a project of archived result files (name, bytes), with their votes and scores.

    `mapping` says which column is which (by default the likeliest, see `archive_mapping`). Scores are the
    Bradley–Terry ones of the protocol "runoff", which ask nothing of how opponents were chosen; with
    `random_opponents`, drawn uniformly, they are Borda scores as in the paper. A ballot whose votes leave items
    apart, or without any, stays open and says why.
    Raises `InputError` where the files don't say which words were shown, `OpenQuestionsError` where somebody must say
    what values mean; nothing is made then.
    """
    tables = [open_results(data, filename) for filename, data in files]
    if mapping is None:
        mapping = archive_mapping(tables[0])
    rebuilt = rebuild(tables, mapping, ballot_per_file=ballot_per_file)
    protocol = "paper" if random_opponents else "runoff"
    settings = _settings(rebuilt, protocol)
    project_id = create_project(store, name, notion=notion, seed=secrets.randbelow(2**31))
    with command(store, project_id, "import archived") as change:
        token_ids = _write_tokens(change, rebuilt)
        item_ids = _write_items(change, rebuilt, token_ids)
        plan_id = _write_plan(change, settings, len(rebuilt.items))
        change.detail = {"files": [filename for filename, _ in files], "items": len(rebuilt.items)}
        change.detail |= {"columns": mapping.named(), "protocol": protocol}
        change.detail |= {"said": mapping.told} if mapping.told else {}
    names = _told_apart([filename for filename, _ in files])
    counts: dict[str, dict[str, int]] = {}
    why_open, notes = "", list(rebuilt.notes)
    for number, ballot in enumerate(rebuilt.ballots, 1):
        if why_open:
            why_open += f" Ballot {number} was therefore left out, with {', '.join(ballot.files)}."
            break
        with command(store, project_id, "draw ballot") as change:
            _write_ballot(change, number, plan_id, settings, ballot, item_ids)
        for at, (filename, data) in enumerate(files):
            if not ballot_per_file or at == number - 1:
                of_file = replace(mapping, server=rebuilt.servers[at] or "1")
                try:
                    counts[names[at]] = accept_upload(store, project_id, data, filename, mapping=of_file).counts
                except StoreError as error:
                    notes.append(Issue(str(error)))
        why_open = _closed(store, project_id)
    n_tokens = sum(map(len, rebuilt.areas.values()))
    n_comparisons = sum(len(ballot.comparisons) for ballot in rebuilt.ballots)
    return ImportedArchive(project_id, n_tokens, len(rebuilt.items), n_comparisons, counts, tuple(notes), why_open)


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names of files, with a number behind those that are there already.

    >>> _told_apart(["a.csv", "a.csv"])
    ['a.csv', 'a.csv (2)']
    """
    return [
        name if names.index(name) == at else f"{name} ({names[: at + 1].count(name)})" for at, name in enumerate(names)
    ]


def _closed(store: Store, project_id: str) -> str:
    """Close the open ballot; why that isn't possible, or ""."""
    try:
        close_ballot(store, project_id)
    except RunoffError as error:
        return str(error)
    return ""


def _settings(found: RebuiltCampaign, protocol: str) -> PlanSettings:
    """A plan that describes what was collected, as near as one can."""
    sizes = [len(ballot.items) for ballot in found.ballots]
    appearances = tuple(
        max(1, round(2 * len(ballot.comparisons) / size)) for ballot, size in zip(found.ballots, sizes, strict=True)
    )
    keep = (sizes[-1] / sizes[0]) ** (1 / (len(sizes) - 1)) if len(sizes) > 1 else 0.5
    task_size = max(int(ballot.comparisons["n"].max()) for ballot in found.ballots)
    return PlanSettings(
        n_ballots=len(sizes),
        keep=min(max(keep, 0.01), 0.99),
        appearances=appearances,
        task_size=min(task_size, 50),
        ties_allowed=found.has_ties,
        protocol=protocol,
    )


def _write_tokens(change: Change, found: RebuiltCampaign) -> dict[tuple[str, str], int]:
    area_id, token_id = next_id(change.conn, t.area), next_id(change.conn, t.token)
    areas, tokens, ids = [], [], {}
    for place, (area, texts) in enumerate(found.areas.items()):
        areas.append((area_id + place, change.project_id, area, place))
        for at, text in enumerate(texts):
            ids[area, text] = token_id
            tokens.append((token_id, area_id + place, text, at, "given"))
            token_id += 1
    insert_rows(change.conn, t.area, ["id", "project_id", "name", "position"], areas)
    insert_rows(change.conn, t.token, ["id", "area_id", "text", "position", "origin"], tokens)
    return ids


def _write_items(change: Change, found: RebuiltCampaign, token_ids: dict[tuple[str, str], int]) -> np.ndarray:
    """Only the pairs that were shown are items."""
    query = sa.select(t.area.c.name, t.area.c.id).where(t.area.c.project_id == change.project_id)
    areas = dict(fetch_rows(change.conn, query))
    start = next_id(change.conn, t.item)
    rows = [
        (start + at, change.project_id, areas[area], at, token_ids[area, a], token_ids[area, b])
        for at, area, a, b in found.items.itertuples(index=False, name=None)
    ]
    columns = ["id", "project_id", "area_id", "position", "token_a_id", "token_b_id"]
    insert_rows(change.conn, t.item, columns, rows)
    return start + np.arange(len(rows))


def _write_plan(change: Change, settings: PlanSettings, n_items: int) -> int:
    row = {"project_id": change.project_id, "n_items": n_items, "created_at": now(), **asdict(settings)}
    return insert_one(change.conn, t.plan, **row)


def _write_ballot(
    change: Change, number: int, plan_id: int, settings: PlanSettings, ballot: ArchivedBallot, item_ids: np.ndarray
) -> None:
    conn, frame, items = change.conn, ballot.comparisons, ballot.items
    ballot_id = insert_one(
        conn,
        t.ballot,
        project_id=change.project_id,
        plan_id=plan_id,
        purpose=CAMPAIGN,
        kind=COMPARISON.name,
        ordinal=number,
        code=f"a{number}-{ballot.code}",
        state="open",
        protocol=settings.protocol,
        appearances=max(1, round(2 * len(frame) / len(items))),
        seed=ballot_seed(change.project.seed, settings.seed, number),
        n_items=len(items),
        n_comparisons=len(frame),
        n_tied=0,
        n_tied_kept=0,
        drawn_at=now(),
        progress=asdict(Progress.before_votes(len(frame), len(items))),
    )
    insert_rows(conn, t.ballot_item, ["ballot_id", "item_id"], [(ballot_id, id_) for id_ in item_ids[items].tolist()])
    _write_comparisons(conn, ballot_id, frame, item_ids)
    change.detail = {"ballot": number, "items": len(items), "comparisons": len(frame)}


def _write_comparisons(conn: sa.Connection, ballot_id: int, frame: pd.DataFrame, item_ids: np.ndarray) -> None:
    place, codes = pd.factorize(frame["task"])
    task, question = next_id(conn, t.task), next_id(conn, t.question)
    tasks = [(task + at, ballot_id, at, code) for at, code in enumerate(codes.tolist())]
    insert_rows(conn, t.task, ["id", "ballot_id", "position", "code"], tasks)
    ids = range(question, question + len(frame))
    rows = [(id_, ballot_id, COMPARISON.name, "main", 1) for id_ in ids]
    insert_rows(conn, t.question, ["id", "ballot_id", "kind", "role", "n_wanted"], rows)
    first, second = (item_ids[frame[name].to_numpy()].tolist() for name in ("first", "second"))
    options = [row for id_, one, two in zip(ids, first, second, strict=True) for row in ((id_, 0, one), (id_, 1, two))]
    insert_rows(conn, t.question_option, ["question_id", "position", "item_id"], options)
    shown = (frame[name].tolist() for name in ("n", "flipped", "left_swapped", "right_swapped"))
    n, *ways = shown
    columns = ["task_id", "n", "question_id", "flipped", "left_swapped", "right_swapped"]
    showings = zip((task + place).tolist(), n, ids, *ways, strict=True)
    insert_rows(conn, t.task_question, columns, list(showings))
