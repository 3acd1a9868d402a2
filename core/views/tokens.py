"""What the tokens page shows: the areas, and which embedding lacks which token."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import sqlalchemy as sa

from ..embeddings import Embedding
from ..errors import RunoffError
from ..frequencies import rare, rare_by_area
from ..items import near_duplicates, shared_pairs
from ..spellings import near_spellings
from ..store import Store
from ..store.areas import areas_of, items_of
from ..store.ballots import ballots_of
from ..store.command import project_row
from ..store.frequencies import FrequencySource, frequencies_of, source_of
from ..store.item_rules import ItemRules, make_items
from ..store.library import embeddings_of, open_library
from ..tokens import AreaTokens, invisible_characters

MAX_SPELLED = 100  # missing tokens that near spellings are looked for


@dataclass(frozen=True)
class Coverage:
    """An embedding and the project's tokens it has no usable vector for, with the reason of each.

    `problem` says why the embedding can't be opened, and is empty where it can.
    """

    embedding_id: str
    name: str
    n_tokens: int
    missing: pd.DataFrame  # area, token, reason, near (spellings of the vocabulary)
    problem: str = ""

    @property
    def covered(self) -> int:
        return self.n_tokens - len(self.missing)


@dataclass(frozen=True)
class RareTokens:
    """Which tokens are rare by the project's source: a row an area with advice, a row a token with the reason."""

    source: FrequencySource
    is_proxy: bool
    by_area: pd.DataFrame
    tokens: pd.DataFrame
    notes: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class TokensView:
    """Areas, items and coverage of a project; `locked` once ballot 1 is drawn.

    `rules` say which of the `n_pairs` became items; `rare` is None where no frequencies were chosen.
    """

    areas: tuple[AreaTokens, ...]
    items: pd.DataFrame
    coverage: tuple[Coverage, ...]
    shared: tuple[tuple[str, str, tuple[str, ...]], ...]
    hidden: tuple[tuple[str, str, tuple[str, ...]], ...]
    locked: bool
    rules: ItemRules
    rare: RareTokens | None
    near: pd.DataFrame  # pairs of tokens that hardly differ: proposals to exclude
    unknown: tuple[str, ...] = ()  # exclusions of pairs that aren't there
    without: tuple[tuple[str, str], ...] = ()  # (area, token) that a sample leaves without an item

    @property
    def n_tokens(self) -> int:
        return sum(len(area.tokens) for area in self.areas)


def _near(embedding: Embedding, tokens: list[str]) -> dict[str, str]:
    """Near spellings of missing tokens, for as many tokens as a page can wait for."""
    found = near_spellings(tokens[:MAX_SPELLED], embedding.vocabulary, n=3)
    return {str(token): ", ".join(words) for token, words in found.groupby("token")["word"]}


def load(store: Store, project_id: str) -> TokensView:
    """The tokens view of a project."""
    with store.read() as conn:
        areas = areas_of(conn, project_id)
        embeddings = embeddings_of(conn, project_id)
        locked = bool(ballots_of(conn, project_id))
        items = items_of(conn, project_id)
        project = project_row(conn, project_id)
        rules = ItemRules.of(project.item_rules)
        rare_tokens = _rare(store, conn, project_id, areas)
    rows = [(area.name, token) for area in areas for token in area.tokens]
    coverage = []
    for imported in embeddings:
        reasons: dict[str, str] = {}
        problem = ""
        near: dict[str, str] = {}
        try:
            embedding = open_library(store, imported)
            reasons = dict(embedding.reasons(list(dict.fromkeys(token for _, token in rows))))
            near = _near(embedding, list(reasons))
        except RunoffError as error:
            problem = str(error)
        missing = [(area, token, reasons[token], near.get(token, "")) for area, token in rows if token in reasons]
        frame = pd.DataFrame(missing, columns=["area", "token", "reason", "near"])
        coverage.append(Coverage(imported.id, imported.name, len(rows), frame, problem))
    hidden = [(area, token, tuple(names)) for area, token in rows if (names := invisible_characters(token))]
    return TokensView(
        tuple(areas),
        items,
        tuple(coverage),
        tuple(shared_pairs(areas)),
        tuple(hidden),
        locked,
        rules,
        rare_tokens,
        near_duplicates(areas),
        *_said_of(areas, rules, project.seed),
    )


def _said_of(
    areas: list[AreaTokens], rules: ItemRules, seed: int
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """What making the items by the rules has to report."""
    if rules == ItemRules():
        return (), ()
    made = make_items(areas, rules, seed)
    return tuple(map(str, made.unknown)), made.without


def _rare(store: Store, conn: sa.Connection, project_id: str, areas: list[AreaTokens]) -> RareTokens | None:
    source = source_of(conn, project_id)
    if source is None:
        return None
    tokens = list(dict.fromkeys(token for area in areas for token in area.tokens))
    try:
        frequencies = frequencies_of(store, conn, project_id, source)
        judged = rare(tokens, frequencies, source.share, lower=source.lower)
        by_area = rare_by_area(areas, judged, frequencies)
    except RunoffError as error:
        return RareTokens(source, False, pd.DataFrame(), pd.DataFrame(), (), str(error))
    notes = tuple(str(note) for note in frequencies.notes[:3])
    return RareTokens(source, frequencies.is_proxy, by_area, judged, notes)
