"""Commands and look-ups for a project's semantic areas, their tokens, and the items made of pairs of tokens.

Tokens are given by people, or proposed by an embedding that may be evaluated with them later, which is noted. Pairs
become items all together, as a sample, or all but some. Corrected spellings change a token's text and nothing else,
also after ballot 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...errors import InputError, Issue, StaleError, StoreError
from ...tables import ITEMS
from ...tokens.files import AreaTokens, Renamed, renamed
from ...tokens.items import all_pairs, exclude, merge_shared, sample_items
from .. import schema as t
from ..command import Change, command, fetch_rows, insert_rows, next_id
from ..engine import Store
from ..schema.ballots import CAMPAIGN, TRIAL

NEIGHBOUR = "neighbour:"  # what the origin of an embedding's proposal begins with; its id follows


def kept_origins(conn: sa.Connection, project_id: str, areas: Sequence[AreaTokens]) -> dict[tuple[str, str], str]:
    """The origins that tokens keep: those of their area, or of an area that is there no more (under this name)."""
    names = {area.name for area in areas}
    origins = {(area, text): origin for area, text, origin in _origins(conn, project_id)}
    moved = {text: origin for (area, text), origin in origins.items() if area not in names}
    new = [area for area in areas if area.name not in {name for name, _ in origins}]
    return origins | {(area.name, text): moved[text] for area in new for text in area.tokens if text in moved}


def origins_of(conn: sa.Connection, project_id: str) -> dict[tuple[str, str], str]:
    """By (area, token) the id of the embedding that proposed it; tokens that people gave are left out."""
    rows = [row for row in _origins(conn, project_id) if row[2].startswith(NEIGHBOUR)]
    return {(area, text): origin.removeprefix(NEIGHBOUR) for area, text, origin in rows}


def proposed_tokens_of(conn: sa.Connection, project_id: str) -> list[dict[str, Any]]:
    """Which tokens were proposed by which embedding, as a dataset's description says it (see
    `core.evaluation.compare`)."""
    tokens: dict[str, list[dict[str, str]]] = {}
    for (area, text), embedding_id in origins_of(conn, project_id).items():
        tokens.setdefault(embedding_id, []).append({"area": area, "token": text})
    rows = conn.execute(sa.select(t.embedding).where(t.embedding.c.id.in_(tokens)))
    known = {row.id: row for row in rows}
    proposals: list[dict[str, Any]] = []
    for embedding_id in sorted(tokens):
        row = known.get(embedding_id)
        about = {"embedding": embedding_id, "tokens": tokens[embedding_id]}
        if row is not None:
            file = {"source": row.info.get("source"), "sha256": row.info.get("sha256")}
            about |= {"name": row.name, "content_hash": row.content_hash} | file
        proposals.append(about)
    return proposals


def _origins(conn: sa.Connection, project_id: str) -> list[tuple[str, str, str]]:
    """Area, token and origin of each token of the project, in their order."""
    query = (
        sa.select(t.area.c.name, t.token.c.text, t.token.c.origin)
        .join(t.area, t.area.c.id == t.token.c.area_id)
        .where(t.area.c.project_id == project_id)
        .order_by(t.area.c.position, t.token.c.position)
    )
    return fetch_rows(conn, query)


@dataclass(frozen=True)
class ItemRules:
    """`excluded` pairs (area, token, token) are left out first; with `merge_shared`, a pair of tokens that stands in
    several areas stays only in the first of them; then `sample_size` items an area are drawn (all for None).

    The draw follows from the project's seed.
    """

    sample_size: int | None = None
    excluded: tuple[tuple[str, str, str], ...] = ()
    merge_shared: bool = False

    @classmethod
    def of(cls, stored: dict[str, Any] | None) -> ItemRules:
        """The rules as the store keeps them; None stands for all pairs."""
        if stored is None:
            return cls()
        excluded = tuple((a, b, c) for a, b, c in stored.get("excluded", ()))
        return cls(stored.get("sample_size"), excluded, bool(stored.get("merge_shared")))

    def respelled(self, area: str, old: str, new: str) -> ItemRules:
        """The same rules for a token of an area that is spelled in another way now."""
        pairs: list[tuple[str, str, str]] = []
        for of, a, b in self.excluded:
            changed = (area, new if a == old else a, new if b == old else b)
            if of != area:
                pairs.append((of, a, b))  # one for all areas holds for the others as it was
            if of == area or (of == "" and old in (a, b)):
                pairs.append(changed)
        return ItemRules(self.sample_size, tuple(pairs), self.merge_shared)

    def stored(self) -> dict[str, Any]:
        """The rules as the store keeps them."""
        return asdict(self)


@dataclass(frozen=True)
class GeneratedItems:
    """The items that follow from areas and rules, numbered 0…N−1, and what a person should know of them."""

    items: pd.DataFrame
    n_pairs: int
    unknown: tuple[Issue, ...]
    without: tuple[tuple[str, str], ...]


def make_items(areas: Sequence[AreaTokens], rules: ItemRules, seed: int) -> GeneratedItems:
    """The items of the areas by the rules. The same seed draws the same sample.

    Exclusions of pairs that aren't there are `unknown`; tokens that a sample leaves without an item are `without`.
    """
    items = all_pairs(areas)
    n_pairs = len(items)
    unknown: tuple[Issue, ...] = ()
    without: tuple[tuple[str, str], ...] = ()
    if rules.excluded:
        pairs = pd.DataFrame(list(rules.excluded), columns=["area", "token_a", "token_b"], dtype="str")
        left = exclude(items, pairs)
        items, unknown = left.items, left.unknown
    if rules.merge_shared:
        items = merge_shared(items)
    if rules.sample_size is not None and len(items):
        rng = np.random.default_rng([seed, 1, 6])
        sampled = sample_items(items, size=rules.sample_size, rng=rng)
        items, without = sampled.items, sampled.without
    return GeneratedItems(ITEMS.check(items), n_pairs, unknown, without)


Origins = Mapping[tuple[str, str], str]  # (area, token) → where the token came from
MAX_ITEMS = 500_000
MAX_PAIRS = 5_000_000  # that a sample may be drawn from


def refuse_after_draw(
    conn: sa.Connection, project_id: str, what: str, area_id: int | None = None, *, pilot: bool = True
) -> None:
    """Raise `StoreError` if ballot 1 is drawn, of that area or of any: what it was drawn from can't change under it.

    A drawn pilot (ballot 0) and rounds of other kinds fix it too, unless `pilot` is False: plans are made after a
    pilot, and a round has settings of its own.
    """
    query = sa.select(t.ballot.c.purpose).where(t.ballot.c.project_id == project_id)
    if area_id is not None:
        query = query.where(t.ballot.c.area_id == area_id)
    drawn = set(conn.execute(query.distinct()).scalars())
    if CAMPAIGN in drawn:
        raise StoreError(
            f"{what} can't be changed any more: ballot 1 is drawn. "
            "Discard the ballot while it has no votes, or start another project."
        )
    if not pilot:
        return
    if TRIAL in drawn:
        raise StoreError(
            f"{what} can't be changed any more: the pilot is drawn. "
            "Discard the pilot while it has no votes, or start another project."
        )
    if drawn:
        raise StoreError(
            f"{what} can't be changed any more: a round is drawn. "
            "Discard the round while it has no answers, or start another project."
        )


def read_areas(store: Store, project_id: str) -> list[AreaTokens]:
    """The project's areas in order, each with its tokens in order."""
    with store.read() as conn:
        return areas_of(conn, project_id)


def areas_of(conn: sa.Connection, project_id: str) -> list[AreaTokens]:
    """The project's areas in order, each with its tokens in order."""
    query = (
        sa.select(t.area.c.name, t.token.c.text)
        .join(t.token, t.token.c.area_id == t.area.c.id, isouter=True)
        .where(t.area.c.project_id == project_id)
        .order_by(t.area.c.position, t.token.c.position)
    )
    tokens: dict[str, list[str]] = {}
    for name, text in conn.execute(query):
        tokens.setdefault(name, [])
        if text is not None:
            tokens[name].append(text)
    return [AreaTokens(name, tuple(texts)) for name, texts in tokens.items()]


def add_areas(store: Store, project_id: str, areas: Sequence[AreaTokens]) -> None:
    """Add areas; the items are made anew.

    Raises `InputError` for a name that is there already and for an area of fewer than two tokens, `StoreError`
    once ballot 1 is drawn.
    """
    with _rewriting(store, project_id, "add areas") as change:
        areas_now = areas_of(change.conn, project_id)
        doubled = {area.name for area in areas_now} & {area.name for area in areas}
        if doubled:
            names = ", ".join(sorted(doubled))
            raise InputError(f"There is an area {names} already. Edit it instead, or give the new one another name.")
        change.detail = {"areas": {area.name: list(area.tokens) for area in areas}}
        _replace(change, [*areas_now, *areas])


def change_area(store: Store, project_id: str, seen: AreaTokens, tokens: Sequence[str]) -> None:
    """Give an area other tokens; the log keeps the old ones too.

    `seen` is the area as it was when somebody began to edit it: `StaleError` if it is another one now.
    """
    with _rewriting(store, project_id, "change area") as change:
        areas = _with(change, seen)
        change.detail = {"area": seen.name, "tokens": list(tokens), "before": list(seen.tokens)}
        new = AreaTokens(seen.name, tuple(tokens))
        _replace(change, [new if area.name == seen.name else area for area in areas])


def change_areas(store: Store, project_id: str, seen: Sequence[AreaTokens], areas: Sequence[AreaTokens]) -> None:
    """Put `areas` in the place of those that somebody `seen` and edited together, others staying as they are.

    An area that isn't among `areas` is deleted, one that is new comes last. Raises `InputError` for a name that
    another area has, `StaleError` if one of those seen is another one now.
    """
    with _rewriting(store, project_id, "change areas") as change:
        areas_now = areas_of(change.conn, project_id)
        for area in seen:
            _with(change, area)
        before, after = {area.name: area for area in seen}, {area.name: area for area in areas}
        doubled = {area.name for area in areas_now if area.name not in before} & set(after)
        if doubled:
            raise InputError(f"There is an area {', '.join(sorted(doubled))} already. Give the new one another name.")
        kept = [after.get(area.name, area) for area in areas_now if area.name not in before or area.name in after]
        change.detail = {"areas": _listed(areas), "before": _listed(seen)}
        _replace(change, [*kept, *(area for area in areas if area.name not in before)])


def _listed(areas: Sequence[AreaTokens]) -> dict[str, list[str]]:
    return {area.name: list(area.tokens) for area in areas}


def add_tokens(store: Store, project_id: str, seen: AreaTokens, tokens: Sequence[str], *, embedding_id: str) -> None:
    """Add tokens that an embedding proposed to an area; they keep that origin. `seen` as in `change_area`.

    Raises `InputError` for a token that the area has.
    """
    with _rewriting(store, project_id, "add near tokens") as change:
        areas = _with(change, seen)
        known = [token for token in tokens if token in seen.tokens]
        if known:
            raise InputError(f"{seen.name} has {', '.join(known)} already. Nothing was added.")
        change.detail = {"area": seen.name, "tokens": list(tokens), "proposed by": embedding_id}
        new = AreaTokens(seen.name, (*seen.tokens, *tokens))
        origins = dict.fromkeys(((seen.name, token) for token in tokens), NEIGHBOUR + embedding_id)
        _replace(change, [new if area.name == seen.name else area for area in areas], origins=origins)


@dataclass(frozen=True)
class DeletedArea:
    """What `restore_area` brings back: the area, its place among the others, where its tokens came from, its plans."""

    area: AreaTokens
    place: int
    origins: Origins
    plans: tuple[Mapping[str, Any], ...]


def delete_area(store: Store, project_id: str, seen: AreaTokens) -> DeletedArea:
    """Delete an area with its tokens and items; the log keeps the tokens. `seen` as in `change_area`."""
    with _rewriting(store, project_id, "delete area") as change:
        areas = _with(change, seen)
        change.detail = {"area": seen.name, "tokens": list(seen.tokens)}
        origins = {key: of for key, of in kept_origins(change.conn, project_id, areas).items() if key[0] == seen.name}
        own = sa.select(t.plan).join(t.area, t.area.c.id == t.plan.c.area_id)
        rows = change.conn.execute(own.where(t.area.c.project_id == project_id, t.area.c.name == seen.name))
        gone = DeletedArea(seen, areas.index(seen), origins, tuple(dict(row._mapping) for row in rows))
        _replace(change, [area for area in areas if area.name != seen.name])
        return gone


def restore_area(store: Store, project_id: str, gone: DeletedArea) -> None:
    """Bring a deleted area back, with its plan where areas have rankings of their own.

    Raises `InputError` where another area has its name by now, `StoreError` once ballot 1 is drawn.
    """
    with _rewriting(store, project_id, "bring area back") as change:
        areas = areas_of(change.conn, project_id)
        name = gone.area.name
        if name in {area.name for area in areas}:
            raise InputError(f"There is an area {name} already. Rename that one first, by the table of all areas.")
        change.detail = {"area": name, "tokens": list(gone.area.tokens)}
        areas.insert(gone.place, gone.area)
        _replace(change, areas, origins=gone.origins)
        if gone.plans and change.project.ranking == "area":
            area = sa.select(t.area.c.id).where(t.area.c.project_id == project_id, t.area.c.name == name)
            fresh = {"area_id": change.conn.execute(area).scalar_one()}
            rows = [{key: value for key, value in row.items() if key != "id"} | fresh for row in gone.plans]
            change.conn.execute(sa.insert(t.plan), rows)


def set_item_rules(store: Store, project_id: str, rules: ItemRules, *, expected_revision: int | None = None) -> None:
    """Rebuild the items by these rules; `StoreError` once ballot 1 is drawn."""
    with _rewriting(store, project_id, "set item rules", expected_revision=expected_revision) as change:
        change.detail = rules.stored()
        _replace(change, areas_of(change.conn, project_id), rules)
        row = sa.update(t.project).where(t.project.c.id == project_id)
        change.conn.execute(row.values(item_rules=rules.stored()))


@contextmanager
def _rewriting(store: Store, project_id: str, action: str, *, expected_revision: int | None = None) -> Iterator[Change]:
    """A command that writes all items anew; without foreign keys, so it deletes from every table itself."""
    with store.without_keys() as free, command(free, project_id, action, expected_revision=expected_revision) as change:
        yield change


def _with(change: Change, seen: AreaTokens) -> list[AreaTokens]:
    """The project's areas, if the one that somebody saw is among them unchanged."""
    areas = areas_of(change.conn, change.project_id)
    if seen not in areas:
        raise StaleError(
            f"The area {seen.name} was changed in the meantime, perhaps in another tab. "
            "The page now shows how it stands; do it again if it is still what you want."
        )
    return areas


def _replace(
    change: Change, areas: list[AreaTokens], rules: ItemRules | None = None, *, origins: Origins | None = None
) -> None:
    """Write the areas and their items as given; refused once ballot 1 is drawn. `origins` are those of new tokens."""
    conn, project_id = change.conn, change.project_id
    refuse_after_draw(conn, project_id, "The token lists")
    for area in areas:
        if len(area.tokens) < 2:
            raise InputError(f"The area {area.name} has fewer than two tokens, so it makes no item. Add tokens to it.")
    rules = ItemRules.of(change.project.item_rules) if rules is None else rules
    n_pairs = sum(area.n_items for area in areas)
    if n_pairs > MAX_PAIRS:
        raise InputError(f"These areas have {n_pairs:,} pairs; {MAX_PAIRS:,} are possible. Split large areas.")
    items = make_items(areas, rules, change.project.seed).items
    if len(items) > MAX_ITEMS:
        raise InputError(
            f"These areas make {len(items):,} items; {MAX_ITEMS:,} are possible. Draw a sample, or split large areas."
        )
    area_ids, token_ids = _write_areas(conn, project_id, areas, origins or {})
    columns = (items[name].tolist() for name in ("item", "area", "token_a", "token_b"))
    item_rows = [
        (project_id, area_ids[area], item, token_ids[area, a], token_ids[area, b])
        for item, area, a, b in zip(*columns, strict=True)
    ]
    insert_rows(conn, t.item, ["project_id", "area_id", "position", "token_a_id", "token_b_id"], item_rows)


def _write_areas(
    conn: sa.Connection, project_id: str, areas: list[AreaTokens], new_origins: Origins
) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """Write areas and tokens in place of those that are there: ids by area, and by area and token.

    An area that keeps its name keeps its id, and with it the plan made for it; a token keeps where it came from, also
    in an area of another name.
    """
    query = sa.select(t.area.c.name, t.area.c.id).where(t.area.c.project_id == project_id)
    known = dict(fetch_rows(conn, query))
    names = {area.name for area in areas}
    gone = [id_ for name, id_ in known.items() if name not in names]
    origins = kept_origins(conn, project_id, areas) | dict(new_origins)
    # There are no ballots yet, so nothing else points to these rows.
    conn.execute(sa.delete(t.item).where(t.item.c.project_id == project_id))
    conn.execute(sa.delete(t.token).where(t.token.c.area_id.in_(known.values())))
    conn.execute(sa.delete(t.plan).where(t.plan.c.area_id.in_(gone)))
    links = sa.select(t.voting_link.c.id).where(t.voting_link.c.area_id.in_(gone))
    conn.execute(sa.delete(t.invitation).where(t.invitation.c.voting_link_id.in_(links)))
    conn.execute(sa.delete(t.voting_link).where(t.voting_link.c.area_id.in_(gone)))
    conn.execute(sa.delete(t.area).where(t.area.c.id.in_(gone)))
    free, token_id = next_id(conn, t.area), next_id(conn, t.token)
    area_ids: dict[str, int] = {}
    token_ids: dict[tuple[str, str], int] = {}
    rows = []
    for area in areas:
        area_ids[area.name] = known.get(area.name, free)
        free += area.name not in known
        for place, text in enumerate(area.tokens):
            token_ids[area.name, text] = token_id
            rows.append((token_id, area_ids[area.name], text, place, origins.get((area.name, text), "given")))
            token_id += 1
    new = [(area_ids[a.name], project_id, a.name, place) for place, a in enumerate(areas) if a.name not in known]
    insert_rows(conn, t.area, ["id", "project_id", "name", "position"], new)
    for place, area in enumerate(areas):
        conn.execute(sa.update(t.area).where(t.area.c.id == area_ids[area.name]).values(position=place))
    insert_rows(conn, t.token, ["id", "area_id", "text", "position", "origin"], rows)
    return area_ids, token_ids


def items_of(
    conn: sa.Connection,
    project_id: str,
    *,
    area_id: int | None = None,
    only: Collection[int] | None = None,
) -> pd.DataFrame:
    """The items of the project or of one area (schema ITEMS), indexed by item id and in order of their positions.

    `only`, ids of items, takes no others.
    """
    a, b = t.token.alias("a"), t.token.alias("b")
    columns = [t.item.c.id, t.item.c.position.label("item"), t.area.c.name.label("area")]
    columns += [a.c.text.label("token_a"), b.c.text.label("token_b")]
    query = (
        sa.select(*columns)
        .join(t.area, t.area.c.id == t.item.c.area_id)
        .join(a, a.c.id == t.item.c.token_a_id)
        .join(b, b.c.id == t.item.c.token_b_id)
        .where(t.item.c.project_id == project_id)
        .order_by(t.item.c.position)
    )
    if area_id is not None:
        query = query.where(t.item.c.area_id == area_id)
    if only is not None:
        query = query.where(t.item.c.id.in_(only))
    names = ["id", *ITEMS.columns]
    frame = pd.DataFrame(fetch_rows(conn, query), columns=names).set_index("id")
    frame = frame.astype({"item": "int64", "area": "str", "token_a": "str", "token_b": "str"})
    return ITEMS.check(frame)


def read_items(store: Store, project_id: str) -> pd.DataFrame:
    """The project's items (schema ITEMS), indexed by item id."""
    with store.read() as conn:
        return items_of(conn, project_id)


def n_items_of(conn: sa.Connection, project_id: str, area_id: int | None = None) -> int:
    """How many items the project has, or one of its areas."""
    query = sa.select(sa.func.count()).select_from(t.item).where(t.item.c.project_id == project_id)
    if area_id is not None:
        query = query.where(t.item.c.area_id == area_id)
    return int(conn.execute(query).scalar_one())


def correct_spelling(store: Store, project_id: str, area: str, old: str, new: str) -> Renamed:
    """Correct a token's spelling in an area, also once ballot 1 is drawn; what was changed, and what to look at again.

    The token stays the same one: items, ballots and votes keep it, files with the old spelling are still taken
    (`former_spellings_of`), the log has both. Raises `InputError` as `tokens.files.renamed` does.
    """
    with command(store, project_id, "correct spelling") as change:
        conn = change.conn
        done = renamed(areas_of(conn, project_id), {old: new}, area=area)
        if not done.changes:
            raise InputError(f"{old!r} is spelled so already. Nothing was changed.")
        ((_, _, spelling),) = done.changes
        change.detail = {"area": area, "old": old, "new": spelling}
        of_area = sa.select(t.area.c.id).where(t.area.c.project_id == project_id, t.area.c.name == area)
        token = sa.update(t.token).where(t.token.c.area_id == of_area.scalar_subquery(), t.token.c.text == old)
        conn.execute(token.values(text=spelling))
        rules = ItemRules.of(change.project.item_rules).respelled(area, old, spelling)
        if rules != ItemRules():
            row = sa.update(t.project).where(t.project.c.id == project_id)
            conn.execute(row.values(item_rules=rules.stored()))
    return done


def former_spellings_of(conn: sa.Connection, project_id: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """What tokens (area, text) were spelled before they were corrected, by the log."""
    query = sa.select(t.log.c.detail).where(t.log.c.project_id == project_id, t.log.c.action == "correct spelling")
    former: dict[tuple[str, str], tuple[str, ...]] = {}
    for detail in conn.execute(query.order_by(t.log.c.id)).scalars():
        area, old, new = detail["area"], detail["old"], detail["new"]
        former[area, new] = (*former.pop((area, old), ()), old)
    return former
